//! Negation of a truth value: 1 for zero, 0 for anything else.

use crate::ops::Unary;
use crate::ops::unary::unary_operator;
use crate::{Interval, Real};

/// Negation of a truth value: 1 for zero, 0 for anything else.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Not;

impl Unary for Not {
    const NAME: &'static str = "Not";

    fn real<T: Real>(&self, x: T) -> T {
        T::from_bool(x == T::ZERO)
    }

    fn interval(&self, x: Interval) -> Interval {
        Interval::from_certainty(x.certainty().map(|truth| !truth))
    }
}

unary_operator!(Not);
