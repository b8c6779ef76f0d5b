//! Values of expressions, and why there may be none.

use crate::real::Real;

/// Why an expression has no value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stop {
    /// An operation outside of its domain: a model error.
    Undefined(String),
    /// The enclosures are too wide to tell.
    NotKnown(String),
    /// It reads what there is not: a choice that was not made, a successor that does not exist.
    Missing,
    /// The file is not one that the language allows, or uses what this interpreter has not.
    Malformed(String),
}

/// What an evaluation comes to.
pub type Evaluated<T> = Result<T, Stop>;

/// A file that says something that it must not.
pub(crate) fn malformed<T>(message: impl Into<String>) -> Evaluated<T> {
    Err(Stop::Malformed(message.into()))
}

/// A vector of numbers or of truth values; a single one is a vector of length 1.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Numbers.
    Reals(Vec<Real>),
    /// Truth values.
    Truths(Vec<bool>),
    /// Labels, by their names.
    Labels(Vec<String>),
}

/// A value, and whether it is a constant: constants are computed in doubles.
#[derive(Clone, Debug, PartialEq)]
pub struct Term {
    /// The value.
    pub value: Value,
    /// Whether nothing but numbers of the file went into it.
    pub constant: bool,
}

impl Term {
    /// A constant number.
    pub(crate) fn number(value: f64) -> Evaluated<Term> {
        Term::numbers(vec![value])
    }

    /// Constant numbers, which must be finite.
    pub(crate) fn numbers(values: Vec<f64>) -> Evaluated<Term> {
        let reals: Option<Vec<Real>> = values.into_iter().map(Real::from_double).collect();
        match reals {
            Some(reals) => Ok(Term { value: Value::Reals(reals), constant: true }),
            None => malformed("a constant is not a finite number"),
        }
    }

    /// Numbers that depend on the state.
    pub(crate) fn varying(reals: Vec<Real>) -> Term {
        Term { value: Value::Reals(reals), constant: false }
    }

    /// Truth values.
    pub(crate) fn truths(truths: Vec<bool>, constant: bool) -> Term {
        Term { value: Value::Truths(truths), constant }
    }

    /// Labels.
    pub(crate) fn labels(labels: Vec<String>, constant: bool) -> Term {
        Term { value: Value::Labels(labels), constant }
    }

    /// The one label, if it is one.
    pub(crate) fn label(&self) -> Option<&str> {
        match &self.value {
            Value::Labels(labels) if labels.len() == 1 => Some(&labels[0]),
            _ => None,
        }
    }

    /// How many elements it has.
    pub(crate) fn len(&self) -> usize {
        match &self.value {
            Value::Reals(reals) => reals.len(),
            Value::Truths(truths) => truths.len(),
            Value::Labels(labels) => labels.len(),
        }
    }

    /// The numbers.
    pub(crate) fn reals(&self) -> Evaluated<&[Real]> {
        match &self.value {
            Value::Reals(reals) => Ok(reals),
            _ => malformed("a number is needed"),
        }
    }

    /// The truth values.
    pub(crate) fn booleans(&self) -> Evaluated<&[bool]> {
        match &self.value {
            Value::Truths(truths) => Ok(truths),
            _ => malformed("a truth value is needed"),
        }
    }

    /// The one truth value.
    pub(crate) fn truth(&self) -> Evaluated<bool> {
        match self.booleans()? {
            [truth] => Ok(*truth),
            _ => malformed("a single truth value is needed"),
        }
    }

    /// The numbers of a constant, as doubles.
    pub(crate) fn doubles(&self) -> Evaluated<Vec<f64>> {
        match self.constant {
            true => Ok(self.reals()?.iter().map(Real::to_double).collect()),
            false => malformed("a constant is needed"),
        }
    }

    /// The whole number that a constant is.
    pub(crate) fn integer(&self) -> Evaluated<i64> {
        match self.doubles()?.as_slice() {
            [value] if value.fract() == 0.0 && value.abs() < 9e15 => Ok(*value as i64),
            _ => malformed("a whole number is needed"),
        }
    }

    /// The same value, no longer a constant if something else chose it.
    pub(crate) fn chosen_by(mut self, constant: bool) -> Term {
        self.constant &= constant;
        self
    }
}

/// The common length of vectors, of which those of length 1 go with every length.
pub(crate) fn common_length(lengths: impl IntoIterator<Item = usize>) -> Evaluated<usize> {
    let mut common = 1;
    for length in lengths {
        if common == 1 {
            common = length;
        } else if length != 1 && length != common {
            return malformed("these vectors have different lengths");
        }
    }
    Ok(common)
}

/// An element of a vector, which may be a single value that stands for all.
pub(crate) fn element<T>(values: &[T], index: usize) -> &T {
    if values.len() == 1 { &values[0] } else { &values[index] }
}
