//! Cosine.

use crate::ops::Unary;
use crate::ops::activation::{ActivationFunction, Curvature, Side, Smooth};
use crate::ops::periodic::{Wave, curvature};
use crate::ops::unary::unary_operator;
use crate::{Interval, Real};

/// Cosine.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cos;

impl Unary for Cos {
    const NAME: &'static str = "Cos";

    fn real<T: Real>(&self, x: T) -> T {
        x.cos()
    }

    fn interval(&self, x: Interval) -> Interval {
        x.cos()
    }
}

unary_operator!(Cos);

impl ActivationFunction for Cos {
    const EXAMPLE_RANGE: (f64, f64) = (-9.0, 9.0);

    fn new(_: &[f64]) -> Self {
        Cos
    }

    fn derivative(&self, x: f64) -> f64 {
        -x.sin()
    }

    fn derivative_range(&self, x: Interval) -> Option<Interval> {
        Some(-x.sin())
    }

    fn smooth(&self) -> Option<&dyn Smooth> {
        Some(self)
    }

    fn curvature(&self, x: Interval) -> Option<Curvature> {
        curvature(Wave::Cosine, x)
    }

    fn is_nonexpansive(&self) -> bool {
        true
    }

    fn taylor(&self, m: f64, _: f64) -> Option<(f64, Interval, f64)> {
        Some((1.0, Interval::point(m).cos(), -m.sin()))
    }
}

impl Smooth for Cos {
    fn floats(&self, x: f64) -> [f64; 3] {
        let (sine, cosine) = x.sin_cos();
        [cosine, -sine, -cosine]
    }

    fn enclosures(&self, x: f64, _: Side) -> (Interval, Interval) {
        let x = Interval::point(x);
        (x.cos(), -x.sin())
    }
}
