//! What the letters seen so far say about a formula: whether any word that begins with them satisfies it, and whether
//! any violates it.

use crate::formula::Formula;
use crate::tableau::Tableau;

/// What is known of a formula after some letters.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Standing {
    /// Nodes of the formula's tableau from which it can still be satisfied.
    satisfiable: Vec<usize>,
    /// Nodes of its negation's tableau from which it can still be violated.
    violable: Vec<usize>,
}

/// What letters show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shown {
    /// Every word that begins with them satisfies the formula.
    Satisfied,
    /// Every word that begins with them violates it.
    Violated,
    /// Neither.
    Open,
}

impl Standing {
    /// What the letters show.
    pub fn shown(&self) -> Shown {
        if self.satisfiable.is_empty() {
            Shown::Violated
        } else if self.violable.is_empty() {
            Shown::Satisfied
        } else {
            Shown::Open
        }
    }
}

/// A formula and its negation, ready to be followed letter by letter.
#[derive(Clone, Debug)]
pub(crate) struct Monitor {
    formula: Tableau,
    pub negation: Tableau,
}

impl Monitor {
    pub fn new(formula: &Formula) -> Result<Monitor, String> {
        Ok(Monitor { formula: Tableau::new(formula)?, negation: Tableau::new(&formula.clone().negated())? })
    }

    /// Before the first letter.
    pub fn beginning(&self) -> Standing {
        Standing { satisfiable: self.formula.beginning(), violable: self.negation.beginning() }
    }

    /// After one more letter, of which some atoms may have no value: these may be anything.
    pub fn after(&self, standing: &Standing, letter: &[Option<bool>]) -> Standing {
        Standing {
            satisfiable: self.formula.behind(&standing.satisfiable, letter),
            violable: self.negation.behind(&standing.violable, letter),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formula::Steps;
    use crate::graph::{self, Edge};
    use crate::word::Word;

    /// All formulas with so many operators over two atoms.
    fn formulas(size: usize) -> Vec<Formula> {
        if size == 0 {
            return vec![Formula::Atom(0), Formula::Atom(1)];
        }
        let bounds = [Steps::ALL, Steps { lower: 0, upper: Some(2) }, Steps { lower: 1, upper: Some(2) }];
        let mut all = Vec::new();
        for inner in formulas(size - 1) {
            all.push(inner.clone().negated());
            all.push(inner.clone().next());
            for steps in bounds {
                all.push(inner.clone().finally(steps));
                all.push(inner.clone().globally(steps));
            }
        }
        for left_size in 0..size {
            for left in formulas(left_size) {
                for right in formulas(size - 1 - left_size) {
                    all.push(left.clone().and(right.clone()));
                    for steps in bounds {
                        all.push(left.clone().until(steps, right.clone()));
                        all.push(left.clone().weak_until(steps, right.clone()));
                        all.push(left.clone().release(steps, right.clone()));
                    }
                }
            }
        }
        all
    }

    fn letters(code: usize, len: usize) -> Vec<Vec<bool>> {
        (0..len).map(|place| vec![code >> (2 * place) & 1 == 1, code >> (2 * place + 1) & 1 == 1]).collect()
    }

    /// Whether a tableau has a fair path for a word: the product of the two.
    fn accepts(tableau: &Tableau, word: Word<'_>) -> bool {
        let (len, nodes) = (word.letters.len(), tableau.ways.len());
        let mut edges = vec![Vec::new(); len * nodes];
        for (place, letter) in word.letters.iter().enumerate() {
            let letter: Vec<Option<bool>> = letter.iter().map(|truth| Some(*truth)).collect();
            let following = if place + 1 < len { place + 1 } else { word.back };
            for (node, ways) in tableau.ways.iter().enumerate() {
                let fitting = ways.iter().filter(|way| way.fits(&letter));
                edges[node * len + place]
                    .extend(fitting.map(|way| Edge { to: way.to * len + following, put_off: way.put_off }));
            }
        }
        graph::live(&edges)[0]
    }

    #[test]
    fn tableaux_accept_what_the_definition_says() {
        let sizes = [formulas(0), formulas(1), formulas(2).into_iter().step_by(5).collect()].concat();
        assert!(sizes.len() > 400, "{}", sizes.len());
        for (number, formula) in sizes.iter().enumerate() {
            let monitor = Monitor::new(formula).unwrap();
            // All words of two letters, and one in so many longer ones, another one for each formula.
            let words = (0..16).map(|code| (code, 2)).chain((number % 7..256).step_by(31).map(|code| (code, 4)));
            for (code, len) in words {
                let letters = letters(code, len);
                for back in 0..len {
                    let word = Word { letters: &letters, back };
                    let expected = word.satisfies(formula);
                    assert_eq!(accepts(&monitor.formula, word), expected, "{formula:?} on {word:?}");
                    assert_eq!(accepts(&monitor.negation, word), !expected, "not {formula:?} on {word:?}");
                }
            }
        }
    }

    #[test]
    fn a_prefix_decides_if_all_words_behind_it_agree() {
        for formula in [formulas(1), formulas(2).into_iter().step_by(23).collect()].concat() {
            let monitor = Monitor::new(&formula).unwrap();
            for code in 0..16 {
                let prefix = letters(code, 2);
                let mut standing = monitor.beginning();
                for letter in &prefix {
                    let letter: Vec<Option<bool>> = letter.iter().map(|truth| Some(*truth)).collect();
                    standing = monitor.after(&standing, &letter);
                }
                // With operators that look no further than this, all words behind the prefix are tried.
                let mut seen = [false, false];
                for rest in 0..256 {
                    let whole = [prefix.clone(), letters(rest, 4)].concat();
                    for back in 2..6 {
                        seen[usize::from(Word { letters: &whole, back }.satisfies(&formula))] = true;
                    }
                }
                let expected = match seen {
                    [false, _] => Shown::Satisfied,
                    [_, false] => Shown::Violated,
                    _ => Shown::Open,
                };
                assert_eq!(standing.shown(), expected, "{formula:?} after {prefix:?}");
            }
        }
    }

    #[test]
    fn atoms_without_a_value_may_be_anything() {
        let always = Formula::Atom(0).and(Formula::Atom(1)).globally(Steps::ALL);
        let monitor = Monitor::new(&always).unwrap();
        let beginning = monitor.beginning();
        assert_eq!(monitor.after(&beginning, &[Some(false), None]).shown(), Shown::Violated);
        assert_eq!(monitor.after(&beginning, &[Some(true), None]).shown(), Shown::Open);
    }
}
