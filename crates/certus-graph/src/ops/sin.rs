//! Sine.

use crate::ops::Unary;
use crate::ops::unary::unary_operator;
use crate::{Interval, Real};

/// Sine.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sin;

impl Unary for Sin {
    const NAME: &'static str = "Sin";

    fn real<T: Real>(&self, x: T) -> T {
        x.sin()
    }

    fn interval(&self, x: Interval) -> Interval {
        x.sin()
    }
}

unary_operator!(Sin);
