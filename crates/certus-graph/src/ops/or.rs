//! Disjunction of truth values: 1 when one of them is not zero.

use crate::ops::Binary;
use crate::ops::binary::binary_operator;
use crate::{Interval, Real};

/// Disjunction of truth values: 1 when one of them is not zero.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Or;

impl Binary for Or {
    fn label(&self) -> &'static str {
        "Or"
    }

    fn real<T: Real>(&self, a: T, b: T) -> T {
        T::from_bool(a != T::ZERO || b != T::ZERO)
    }

    fn interval(&self, a: Interval, b: Interval) -> Interval {
        Interval::from_certainty(match (a.certainty(), b.certainty()) {
            (Some(true), _) | (_, Some(true)) => Some(true),
            (Some(false), Some(false)) => Some(false),
            _ => None,
        })
    }
}

binary_operator!(Or);
