//! Formulas in negation normal form over linear atoms.

use certus_graph::Interval;

/// Σ coefficient · variable + constant. Numbers are intervals: a decimal that is no double lies between two of them.
#[derive(Clone, Debug, PartialEq)]
pub struct Linear<V> {
    /// The terms; a variable occurs at most once.
    pub terms: Vec<(V, Interval)>,
    /// The constant.
    pub constant: Interval,
}

/// `linear ≤ 0`, or `linear < 0` where strict.
#[derive(Clone, Debug, PartialEq)]
pub struct Atom<V> {
    /// The left side.
    pub linear: Linear<V>,
    /// Whether zero is excluded.
    pub strict: bool,
}

/// A formula without negation: what VNN-LIB, bounded model checking and the other engines ask.
#[derive(Clone, Debug, PartialEq)]
pub enum Formula<V> {
    /// A comparison of a linear expression with zero.
    Atom(Atom<V>),
    /// All of them; true if there is none.
    And(Vec<Formula<V>>),
    /// One of them; false if there is none.
    Or(Vec<Formula<V>>),
}

impl<V: Clone + PartialEq> Linear<V> {
    /// A constant.
    pub fn constant(value: Interval) -> Self {
        Linear { terms: Vec::new(), constant: value }
    }

    /// One variable.
    pub fn variable(variable: V) -> Self {
        Linear { terms: vec![(variable, Interval::ONE)], constant: Interval::ZERO }
    }

    /// self + factor · other, with outward rounding.
    pub fn plus(mut self, factor: Interval, other: &Linear<V>) -> Self {
        for (variable, coefficient) in &other.terms {
            let scaled = factor * *coefficient;
            match self.terms.iter_mut().find(|(own, _)| own == variable) {
                Some((_, own)) => *own = *own + scaled,
                None => self.terms.push((variable.clone(), scaled)),
            }
        }
        self.terms.retain(|(_, coefficient)| *coefficient != Interval::ZERO);
        self.constant = self.constant + factor * other.constant;
        self
    }

    /// An interval that contains the value where each variable lies in its interval.
    pub fn enclose(&self, value: impl Fn(&V) -> Interval) -> Interval {
        self.terms.iter().fold(self.constant, |sum, (variable, coefficient)| sum + *coefficient * value(variable))
    }
}

impl<V: Clone + PartialEq> Formula<V> {
    /// The same formula over other variables.
    pub fn map<W, E>(&self, rename: &mut dyn FnMut(&V) -> Result<W, E>) -> Result<Formula<W>, E> {
        Ok(match self {
            Formula::Atom(atom) => {
                let terms =
                    atom.linear.terms.iter().map(|(variable, coefficient)| Ok((rename(variable)?, *coefficient)));
                let linear = Linear { terms: terms.collect::<Result<_, E>>()?, constant: atom.linear.constant };
                Formula::Atom(Atom { linear, strict: atom.strict })
            }
            Formula::And(parts) => Formula::And(parts.iter().map(|part| part.map(rename)).collect::<Result<_, E>>()?),
            Formula::Or(parts) => Formula::Or(parts.iter().map(|part| part.map(rename)).collect::<Result<_, E>>()?),
        })
    }

    /// Whether the formula holds at a point, in plain doubles: for searches, which conclude nothing from it.
    pub fn holds_nearly(&self, value: &dyn Fn(&V) -> f64) -> bool {
        match self {
            Formula::Atom(Atom { linear, strict }) => {
                let terms = linear.terms.iter().map(|(variable, coefficient)| coefficient.lo * value(variable));
                let sum = terms.sum::<f64>() + linear.constant.lo;
                if *strict { sum < 0.0 } else { sum <= 0.0 }
            }
            Formula::And(parts) => parts.iter().all(|part| part.holds_nearly(value)),
            Formula::Or(parts) => parts.iter().any(|part| part.holds_nearly(value)),
        }
    }

    /// What is certain of the formula where each variable lies in its interval.
    pub fn certainty(&self, value: &dyn Fn(&V) -> Interval) -> Option<bool> {
        match self {
            Formula::Atom(atom) => {
                let range = atom.linear.enclose(value);
                let (holds, fails) = match atom.strict {
                    true => (range.hi < 0.0, range.lo >= 0.0),
                    false => (range.hi <= 0.0, range.lo > 0.0),
                };
                if holds { Some(true) } else { fails.then_some(false) }
            }
            Formula::And(parts) => decide(parts, value, false),
            Formula::Or(parts) => decide(parts, value, true),
        }
    }
}

/// `decisive` as soon as one part is that, its opposite when all are, otherwise not known.
fn decide<V: Clone + PartialEq>(parts: &[Formula<V>], value: &dyn Fn(&V) -> Interval, decisive: bool) -> Option<bool> {
    let mut known = true;
    for part in parts {
        match part.certainty(value) {
            Some(truth) if truth == decisive => return Some(decisive),
            Some(_) => {}
            None => known = false,
        }
    }
    known.then_some(!decisive)
}
