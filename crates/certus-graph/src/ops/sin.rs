//! Sine.

use crate::ops::Unary;
use crate::ops::activation::{ActivationFunction, Curvature, Side, Smooth};
use crate::ops::periodic::{Wave, curvature};
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

impl ActivationFunction for Sin {
    const EXAMPLE_RANGE: (f64, f64) = (-9.0, 9.0);

    fn new(_: &[f64]) -> Self {
        Sin
    }

    fn derivative(&self, x: f64) -> f64 {
        x.cos()
    }

    fn derivative_range(&self, x: Interval) -> Option<Interval> {
        Some(x.cos())
    }

    fn smooth(&self) -> Option<&dyn Smooth> {
        Some(self)
    }

    fn curvature(&self, x: Interval) -> Option<Curvature> {
        curvature(Wave::Sine, x)
    }

    fn is_nonexpansive(&self) -> bool {
        true
    }

    fn taylor(&self, m: f64, farthest: f64) -> Option<(f64, Interval, f64)> {
        Some((f64::min(1.0, farthest), Interval::point(m).sin(), m.cos()))
    }
}

impl Smooth for Sin {
    fn floats(&self, x: f64) -> [f64; 3] {
        let (sine, cosine) = x.sin_cos();
        [sine, cosine, -sine]
    }

    fn enclosures(&self, x: f64, _: Side) -> (Interval, Interval) {
        let x = Interval::point(x);
        (x.sin(), x.cos())
    }
}
