//! Numbers with their nouns, for texts that people read.

/// `1 step`, `2 steps`.
pub fn counted(count: impl Into<u128>, noun: &str) -> String {
    match count.into() {
        1 => format!("1 {noun}"),
        count => format!("{count} {noun}s"),
    }
}

/// `1 step`, `2 steps`, of a length.
pub fn steps(count: usize) -> String {
    counted(count as u128, "step")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_singular() {
        assert_eq!([steps(0), steps(1), steps(2)], ["0 steps", "1 step", "2 steps"]);
        assert_eq!(counted(1_u64, "region"), "1 region");
    }
}
