//! Numbers, intervals and names as text.

use std::io::Write;

use super::StoreError;
use crate::Interval;

/// Writes a number so that it reads back as the same double. There is no text for NaN.
pub fn write_number(out: &mut dyn Write, value: f64) -> Result<(), StoreError> {
    if value.is_nan() {
        return Err(StoreError::unwritable("a number is not a number (NaN)"));
    }
    // Debug is the shortest decimal, with an exponent where that is shorter; whole numbers need no fraction.
    let shown = format!("{value:?}");
    out.write_all(shown.strip_suffix(".0").unwrap_or(&shown).as_bytes())?;
    Ok(())
}

/// Writes an interval: one number where its ends are the same.
pub fn write_interval(out: &mut dyn Write, interval: Interval) -> Result<(), StoreError> {
    if interval.lo.to_bits() == interval.hi.to_bits() {
        return write_number(out, interval.lo);
    }
    write!(out, "[")?;
    write_number(out, interval.lo)?;
    write!(out, ",")?;
    write_number(out, interval.hi)?;
    write!(out, "]")?;
    Ok(())
}

/// Writes a name in quotes.
pub fn write_name(out: &mut dyn Write, name: &str) -> Result<(), StoreError> {
    write!(out, "\"")?;
    for letter in name.chars() {
        match letter {
            '"' | '\\' => write!(out, "\\{letter}")?,
            _ if letter.is_control() => write!(out, "{}", letter.escape_unicode())?,
            _ => write!(out, "{letter}")?,
        }
    }
    write!(out, "\"")?;
    Ok(())
}

/// The double that a word stands for. `inf` and `-inf` are the only words that are no decimals.
pub(super) fn parse_number(word: &str) -> Option<f64> {
    match word {
        "inf" => return Some(f64::INFINITY),
        "-inf" => return Some(f64::NEG_INFINITY),
        _ => {}
    }
    let unsigned = word.strip_prefix('-').unwrap_or(word);
    let decimal = unsigned.starts_with(|first: char| first.is_ascii_digit());
    word.parse().ok().filter(|value: &f64| decimal && value.is_finite())
}

/// The interval that a word stands for.
pub(super) fn parse_interval(word: &str) -> Option<Interval> {
    let Some(ends) = word.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) else {
        return parse_number(word).map(|value| Interval { lo: value, hi: value });
    };
    let (lo, hi) = ends.split_once(',')?;
    let (lo, hi) = (parse_number(lo)?, parse_number(hi)?);
    (lo <= hi && lo < f64::INFINITY && hi > f64::NEG_INFINITY).then_some(Interval { lo, hi })
}

/// A quoted name at the start of a text, and what follows it.
pub(super) fn parse_name(text: &str) -> Option<(String, &str)> {
    let mut name = String::new();
    let mut rest = text.strip_prefix('"')?.chars();
    loop {
        match rest.next()? {
            '"' => return Some((name, rest.as_str())),
            '\\' => match rest.next()? {
                mark @ ('"' | '\\') => name.push(mark),
                'u' => {
                    let (digits, after) = rest.as_str().strip_prefix('{')?.split_once('}')?;
                    name.push(char::from_u32(u32::from_str_radix(digits, 16).ok()?)?);
                    rest = after.chars();
                }
                _ => return None,
            },
            letter if letter.is_control() => return None,
            letter => name.push(letter),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn written(write: impl FnOnce(&mut Vec<u8>) -> Result<(), StoreError>) -> String {
        let mut text = Vec::new();
        write(&mut text).unwrap();
        String::from_utf8(text).unwrap()
    }

    #[test]
    fn numbers_are_short() {
        let number = |value| written(|out| write_number(out, value));
        assert_eq!(number(1.0), "1");
        assert_eq!(number(-0.0), "-0");
        assert_eq!(number(0.1), "0.1");
        assert_eq!(number(1e300), "1e300");
        assert_eq!(number(f64::NEG_INFINITY), "-inf");
        assert!(write_number(&mut Vec::new(), f64::NAN).is_err());
    }

    #[test]
    fn only_decimals_and_infinities_are_numbers() {
        for word in ["nan", "NaN", "infinity", "Inf", "+1", ".5", "1e999", "", "-", "--1", "0x1", "1_0"] {
            assert_eq!(parse_number(word), None, "{word}");
        }
        for word in ["[1]", "[2,1]", "[1,2", "[inf,inf]", "[1,nan]", "[1,2,3]", "[]"] {
            assert_eq!(parse_interval(word), None, "{word}");
        }
    }

    proptest! {
        #[test]
        fn numbers_read_back(bits: u64) {
            let value = f64::from_bits(bits);
            prop_assume!(!value.is_nan());
            let word = written(|out| write_number(out, value));
            prop_assert_eq!(parse_number(&word).map(f64::to_bits), Some(bits));
        }

        #[test]
        fn names_read_back(name: String, after: String) {
            let mut text = written(|out| write_name(out, &name));
            prop_assert!(!text.contains('\n'));
            text.push_str(&after);
            prop_assert_eq!(parse_name(&text), Some((name, after.as_str())));
        }
    }
}
