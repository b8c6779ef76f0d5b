//! Temporal formulas as text: all of a size, in a fixed order, and larger ones at random.

use certus_numerics::Random;

/// Operators before a formula.
const UNARY: [&str; 12] =
    ["!", "X", "F", "G", "F<=2", "G<=2", "F[1, 2]", "G[1, 3]", "F<=3", "G<=1s", "G[0.75s, 1s]", "F[0.5s, 1.2s]"];

/// Operators between two formulas.
const BINARY: [&str; 11] = ["&", "|", "->", "<->", "U", "W", "R", "U<=2", "W<=2", "R<=2", "U[1, 2]"];

/// The number of formulas with this many operators over so many atoms.
pub fn count(size: usize, atoms: usize) -> usize {
    if size == 0 {
        return atoms;
    }
    let both: usize = (0..size).map(|left| count(left, atoms) * count(size - 1 - left, atoms)).sum();
    UNARY.len() * count(size - 1, atoms) + BINARY.len() * both
}

/// A formula of a size, by its number.
pub fn formula(size: usize, number: usize, atoms: &[String]) -> String {
    if size == 0 {
        return format!("({})", atoms[number % atoms.len()]);
    }
    let inner = count(size - 1, atoms.len());
    if number < UNARY.len() * inner {
        return format!("({} {})", UNARY[number / inner], formula(size - 1, number % inner, atoms));
    }
    let mut rest = number - UNARY.len() * inner;
    for left in 0..size {
        let (lefts, rights) = (count(left, atoms.len()), count(size - 1 - left, atoms.len()));
        let own = BINARY.len() * lefts * rights;
        if rest < own {
            let (op, rest) = (BINARY[rest / (lefts * rights)], rest % (lefts * rights));
            let right = formula(size - 1 - left, rest % rights, atoms);
            return format!("({} {op} {right})", formula(left, rest / rights, atoms));
        }
        rest -= own;
    }
    format!("({})", atoms[0])
}

/// The formula of a number among all with at most two operators; larger numbers give random ones with three or four.
pub fn numbered(number: usize, atoms: &[String], random: &mut Random) -> String {
    let mut rest = number;
    for size in 0..=2 {
        let own = count(size, atoms.len());
        if rest < own {
            return formula(size, rest, atoms);
        }
        rest -= own;
    }
    let size = 3 + random.below(2);
    formula(size, random.below(count(size, atoms.len())), atoms)
}

/// The number of formulas with at most so many operators.
pub fn up_to(size: usize, atoms: usize) -> usize {
    (0..=size).map(|size| count(size, atoms)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::numbers;
    use std::collections::HashSet;

    #[test]
    fn every_number_is_another_formula() {
        let atoms = ["p".to_owned(), "q".to_owned()];
        let mut random = numbers(0, 0);
        let all: HashSet<String> = (0..up_to(2, 2)).map(|number| numbered(number, &atoms, &mut random)).collect();
        assert_eq!(all.len(), up_to(2, 2));
        assert!(all.contains("(G (F (p)))") && all.contains("((p) U (X (q)))"));
    }
}
