//! max(x, 0).

use crate::ops::Unary;
use crate::ops::unary::unary_operator;
use crate::{Interval, Real};

/// max(x, 0).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Relu;

impl Unary for Relu {
    const NAME: &'static str = "Relu";

    fn real<T: Real>(&self, x: T) -> T {
        x.maximum(T::ZERO)
    }

    fn interval(&self, x: Interval) -> Interval {
        x.max(Interval::ZERO)
    }
}

unary_operator!(Relu);
