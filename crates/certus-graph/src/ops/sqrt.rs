//! √x; undefined below zero.

use crate::ops::Unary;
use crate::ops::activation::{ActivationFunction, Curvature, Side, Smooth};
use crate::ops::unary::unary_operator;
use crate::{Interval, Real};

/// √x; undefined below zero.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sqrt;

impl Unary for Sqrt {
    const NAME: &'static str = "Sqrt";

    fn real<T: Real>(&self, x: T) -> T {
        x.sqrt()
    }

    fn interval(&self, x: Interval) -> Interval {
        x.sqrt()
    }
}

unary_operator!(Sqrt);

impl ActivationFunction for Sqrt {
    const EXAMPLE_RANGE: (f64, f64) = (0.0, 5.0);

    fn new(_: &[f64]) -> Self {
        Sqrt
    }

    fn derivative(&self, x: f64) -> f64 {
        0.5 / x.sqrt()
    }

    fn derivative_range(&self, _: Interval) -> Option<Interval> {
        None
    }

    fn smooth(&self) -> Option<&dyn Smooth> {
        Some(self)
    }

    fn curvature(&self, x: Interval) -> Option<Curvature> {
        (x.lo >= 0.0).then_some(Curvature::Concave)
    }
}

impl Smooth for Sqrt {
    fn floats(&self, x: f64) -> [f64; 3] {
        let y = x.sqrt();
        [y, 0.5 / y, -0.25 / (x * y)]
    }

    fn enclosures(&self, x: f64, _: Side) -> (Interval, Interval) {
        let y = Interval::point(x).sqrt();
        (y, Interval::point(0.5) / y)
    }
}
