//! Conjunction of truth values: 1 when neither is zero.

use crate::ops::Binary;
use crate::ops::binary::binary_operator;
use crate::{Interval, Real};

/// Conjunction of truth values: 1 when neither is zero.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct And;

impl Binary for And {
    fn label(&self) -> &'static str {
        "And"
    }

    fn real<T: Real>(&self, a: T, b: T) -> T {
        T::from_bool(a != T::ZERO && b != T::ZERO)
    }

    fn interval(&self, a: Interval, b: Interval) -> Interval {
        Interval::from_certainty(match (a.certainty(), b.certainty()) {
            (Some(false), _) | (_, Some(false)) => Some(false),
            (Some(true), Some(true)) => Some(true),
            _ => None,
        })
    }
}

binary_operator!(And);
