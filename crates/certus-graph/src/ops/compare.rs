//! Comparisons, valued 1 for true and 0 for false.

use crate::ops::Binary;
use crate::ops::binary::binary_operator;
use crate::{Interval, Real};

/// A comparison of two values. Over reals it is exact: no tolerance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Compare {
    /// a < b.
    Less,
    /// a ≤ b.
    LessEqual,
    /// a > b.
    Greater,
    /// a ≥ b.
    GreaterEqual,
    /// a = b.
    Equal,
    /// a ≠ b.
    NotEqual,
}

impl Compare {
    /// The comparison that is true exactly where this one is false.
    pub fn negated(self) -> Self {
        match self {
            Compare::Less => Compare::GreaterEqual,
            Compare::LessEqual => Compare::Greater,
            Compare::Greater => Compare::LessEqual,
            Compare::GreaterEqual => Compare::Less,
            Compare::Equal => Compare::NotEqual,
            Compare::NotEqual => Compare::Equal,
        }
    }

    /// What is certain of the comparison over intervals.
    pub fn certainty(self, a: Interval, b: Interval) -> Option<bool> {
        let less = if a.hi < b.lo {
            Some(true)
        } else if a.lo >= b.hi {
            Some(false)
        } else {
            None
        };
        let less_equal = if a.hi <= b.lo {
            Some(true)
        } else if a.lo > b.hi {
            Some(false)
        } else {
            None
        };
        let equal = if a.intersection(b).is_none() {
            Some(false)
        } else if a.lo == a.hi && a == b {
            Some(true)
        } else {
            None
        };
        match self {
            Compare::Less => less,
            Compare::LessEqual => less_equal,
            Compare::Greater => less_equal.map(|truth| !truth),
            Compare::GreaterEqual => less.map(|truth| !truth),
            Compare::Equal => equal,
            Compare::NotEqual => equal.map(|truth| !truth),
        }
    }
}

impl Binary for Compare {
    fn label(&self) -> &'static str {
        match self {
            Compare::Less => "Less",
            Compare::LessEqual => "LessEqual",
            Compare::Greater => "Greater",
            Compare::GreaterEqual => "GreaterEqual",
            Compare::Equal => "Equal",
            Compare::NotEqual => "NotEqual",
        }
    }

    fn real<T: Real>(&self, a: T, b: T) -> T {
        T::from_bool(match self {
            Compare::Less => a < b,
            Compare::LessEqual => a <= b,
            Compare::Greater => a > b,
            Compare::GreaterEqual => a >= b,
            Compare::Equal => a == b,
            Compare::NotEqual => a != b,
        })
    }

    fn interval(&self, a: Interval, b: Interval) -> Interval {
        Interval::from_certainty(self.certainty(a, b))
    }
}

binary_operator!(Compare);
