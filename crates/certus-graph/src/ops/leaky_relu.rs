//! x above zero, a multiple of it below.

use crate::ops::Unary;
use crate::ops::activation::{ActivationFunction, Family, breakpoint_slopes, by_sign};
use crate::ops::unary::unary_operator;
use crate::{Interval, Real};

/// x for x ≥ 0, `alpha`·x below.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LeakyRelu {
    /// The slope below zero.
    pub alpha: f64,
}

impl Unary for LeakyRelu {
    const NAME: &'static str = "LeakyRelu";

    fn real<T: Real>(&self, x: T) -> T {
        if x < T::ZERO { T::from_f64(self.alpha) * x } else { x }
    }

    fn interval(&self, x: Interval) -> Interval {
        let below = (x.lo < 0.0).then(|| Interval::point(self.alpha) * Interval::new(x.lo, x.hi.min(0.0)));
        let above = (x.hi >= 0.0).then(|| Interval::new(x.lo.max(0.0), x.hi));
        match (below, above) {
            (Some(below), Some(above)) => below.hull(above),
            (below, above) => below.or(above).unwrap_or(Interval::ENTIRE),
        }
    }
}

unary_operator!(LeakyRelu);

impl ActivationFunction for LeakyRelu {
    const PARAMETERS: &'static [&'static str] = &["alpha"];
    const EXAMPLE: &'static [f64] = &[0.1];
    const ONNX_DEFAULTS: Option<&'static [f64]> = Some(&[0.01f32 as f64]);

    fn new(parameters: &[f64]) -> Self {
        LeakyRelu { alpha: parameters[0] }
    }

    fn parameters(&self) -> Vec<f64> {
        vec![self.alpha]
    }

    fn derivative(&self, x: f64) -> f64 {
        by_sign(x, self.alpha, 1.0, 1.0)
    }

    fn derivative_range(&self, x: Interval) -> Option<Interval> {
        Some(breakpoint_slopes(self.alpha, x))
    }

    fn family(&self) -> Family {
        Family::Breakpoint { negative_slope: self.alpha }
    }
}
