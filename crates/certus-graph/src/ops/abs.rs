//! |x|.

use crate::ops::Unary;
use crate::ops::activation::{ActivationFunction, Family, breakpoint_slopes, by_sign};
use crate::ops::unary::unary_operator;
use crate::{Interval, Real};

/// |x|.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Abs;

impl Unary for Abs {
    const NAME: &'static str = "Abs";

    fn real<T: Real>(&self, x: T) -> T {
        x.abs()
    }

    fn interval(&self, x: Interval) -> Interval {
        x.abs()
    }
}

unary_operator!(Abs);

impl ActivationFunction for Abs {
    fn new(_: &[f64]) -> Self {
        Abs
    }

    fn derivative(&self, x: f64) -> f64 {
        by_sign(x, -1.0, 0.0, 1.0)
    }

    fn derivative_range(&self, x: Interval) -> Option<Interval> {
        Some(breakpoint_slopes(-1.0, x))
    }

    fn family(&self) -> Family {
        Family::Breakpoint { negative_slope: -1.0 }
    }
}
