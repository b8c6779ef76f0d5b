//! Natural logarithm; undefined at and below zero.

use crate::ops::Unary;
use crate::ops::activation::{ActivationFunction, Curvature, Side, Smooth};
use crate::ops::unary::unary_operator;
use crate::{Interval, Real};

/// Natural logarithm; undefined at and below zero.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Log;

impl Unary for Log {
    const NAME: &'static str = "Log";

    fn real<T: Real>(&self, x: T) -> T {
        x.ln()
    }

    fn interval(&self, x: Interval) -> Interval {
        x.ln()
    }
}

unary_operator!(Log);

impl ActivationFunction for Log {
    const EXAMPLE_RANGE: (f64, f64) = (0.01, 9.0);

    fn new(_: &[f64]) -> Self {
        Log
    }

    fn derivative(&self, x: f64) -> f64 {
        1.0 / x
    }

    fn derivative_range(&self, _: Interval) -> Option<Interval> {
        None
    }

    fn smooth(&self) -> Option<&dyn Smooth> {
        Some(self)
    }

    fn curvature(&self, x: Interval) -> Option<Curvature> {
        (x.lo >= 0.0 && x.hi > 0.0).then_some(Curvature::Concave)
    }
}

impl Smooth for Log {
    fn floats(&self, x: f64) -> [f64; 3] {
        [x.ln(), 1.0 / x, -1.0 / (x * x)]
    }

    fn enclosures(&self, x: f64, _: Side) -> (Interval, Interval) {
        let x = Interval::point(x);
        (x.ln(), Interval::ONE / x)
    }
}
