//! Truth values over polynomials, in negation normal form.

use crate::shield::polynomial::Polynomial;

/// A combination of comparisons of polynomials with zero.
#[derive(Clone, Debug, PartialEq)]
pub enum Formula {
    /// Always or never.
    Constant(bool),
    /// Where the polynomial is positive, or (unless strict) zero.
    Positive(Polynomial, bool),
    /// All of them.
    And(Vec<Formula>),
    /// One of them.
    Or(Vec<Formula>),
}

impl Formula {
    /// The opposite.
    pub fn negated(self) -> Formula {
        match self {
            Formula::Constant(value) => Formula::Constant(!value),
            Formula::Positive(polynomial, strict) => {
                Formula::Positive(polynomial.scaled(&-crate::shield::polynomial::Rational::ONE), !strict)
            }
            Formula::And(parts) => Formula::Or(parts.into_iter().map(Formula::negated).collect()),
            Formula::Or(parts) => Formula::And(parts.into_iter().map(Formula::negated).collect()),
        }
    }

    /// Its disjuncts, each a list of (polynomial, strict); none if there are more than `most`.
    pub fn disjuncts(self, most: usize) -> Option<Vec<Vec<(Polynomial, bool)>>> {
        let found = match self {
            Formula::Constant(true) => vec![Vec::new()],
            Formula::Constant(false) => Vec::new(),
            Formula::Positive(polynomial, strict) => match polynomial.as_constant() {
                // A comparison of numbers is decided.
                Some(value) => {
                    let negative = super::super::polynomial::is_negative(&value);
                    let holds = !(negative || strict && value.is_zero());
                    if holds { vec![Vec::new()] } else { Vec::new() }
                }
                None => vec![vec![(polynomial, strict)]],
            },
            Formula::Or(parts) => {
                let mut all = Vec::new();
                for part in parts {
                    all.extend(part.disjuncts(most)?);
                    if all.len() > most {
                        return None;
                    }
                }
                all
            }
            Formula::And(parts) => {
                let mut all: Vec<Vec<(Polynomial, bool)>> = vec![Vec::new()];
                for part in parts {
                    let cases = part.disjuncts(most)?;
                    if all.len().saturating_mul(cases.len()) > most {
                        return None;
                    }
                    let joined = |first: &Vec<(Polynomial, bool)>| {
                        cases
                            .iter()
                            .map(|case| first.iter().chain(case).cloned().collect::<Vec<_>>())
                            .collect::<Vec<_>>()
                    };
                    all = all.iter().flat_map(joined).collect();
                }
                all
            }
        };
        Some(found)
    }
}
