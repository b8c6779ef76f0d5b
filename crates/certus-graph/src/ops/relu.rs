//! max(x, 0).

use crate::ops::Unary;
use crate::ops::activation::{ActivationFunction, Family, breakpoint_slopes, by_sign};
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

impl ActivationFunction for Relu {
    fn new(_: &[f64]) -> Self {
        Relu
    }

    fn derivative(&self, x: f64) -> f64 {
        by_sign(x, 0.0, 0.0, 1.0)
    }

    fn apply<T: Real>(&self, xs: &mut [T]) {
        certus_kernels::relu(xs);
    }

    fn derivative_range(&self, x: Interval) -> Option<Interval> {
        Some(breakpoint_slopes(0.0, x))
    }

    fn family(&self) -> Family {
        Family::Breakpoint { negative_slope: 0.0 }
    }

    fn is_nonexpansive(&self) -> bool {
        true
    }
}
