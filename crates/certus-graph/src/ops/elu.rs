//! Exponential linear unit.

use crate::ops::Unary;
use crate::ops::activation::{ActivationFunction, Curvature, Side, Smooth};
use crate::ops::unary::unary_operator;
use crate::{Interval, Real};

/// x for x ≥ 0, `alpha`·(eˣ − 1) below.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Elu {
    /// The depth that the function approaches for x → −∞.
    pub alpha: f64,
}

impl Unary for Elu {
    const NAME: &'static str = "Elu";

    fn real<T: Real>(&self, x: T) -> T {
        if x < T::ZERO { T::from_f64(self.alpha) * x.exp_m1() } else { x }
    }

    fn interval(&self, x: Interval) -> Interval {
        let below = (x.lo < 0.0).then(|| Interval::point(self.alpha) * Interval::new(x.lo, x.hi.min(0.0)).exp_m1());
        let above = (x.hi >= 0.0).then(|| Interval::new(x.lo.max(0.0), x.hi));
        match (below, above) {
            (Some(below), Some(above)) => below.hull(above),
            (below, above) => below.or(above).unwrap_or(Interval::ENTIRE),
        }
    }
}

unary_operator!(Elu);

impl ActivationFunction for Elu {
    const PARAMETERS: &'static [&'static str] = &["alpha"];
    const EXAMPLE: &'static [f64] = &[1.5];
    const ONNX_DEFAULTS: Option<&'static [f64]> = Some(&[1.0]);

    fn new(parameters: &[f64]) -> Self {
        Elu { alpha: parameters[0] }
    }

    fn parameters(&self) -> Vec<f64> {
        vec![self.alpha]
    }

    fn derivative(&self, x: f64) -> f64 {
        if x < 0.0 { self.alpha * x.exp() } else { 1.0 }
    }

    fn derivative_range(&self, _: Interval) -> Option<Interval> {
        None
    }

    fn smooth(&self) -> Option<&dyn Smooth> {
        Some(self)
    }

    /// α in [0, 1]: convex throughout. α > 1: convex, then a breakpoint downwards and a line. α < 0: concave, then a
    /// breakpoint upwards.
    fn curvature(&self, x: Interval) -> Option<Curvature> {
        let alpha = self.alpha;
        if !(alpha.is_finite() && x.lo < 0.0) {
            return None;
        }
        Some(if (0.0..=1.0).contains(&alpha) {
            Curvature::Convex
        } else if alpha > 1.0 {
            if x.hi <= 0.0 { Curvature::Convex } else { Curvature::ConvexConcave(Interval::ZERO) }
        } else if x.hi <= 0.0 {
            Curvature::Concave
        } else {
            Curvature::ConcaveConvex(Interval::ZERO)
        })
    }

    fn is_linear(&self, x: Interval) -> bool {
        x.lo >= 0.0 || self.alpha == 0.0 && x.hi <= 0.0
    }

    fn is_identity(&self, x: Interval) -> bool {
        x.lo >= 0.0
    }
}

impl Smooth for Elu {
    fn floats(&self, x: f64) -> [f64; 3] {
        let alpha = self.alpha;
        if x < 0.0 { [alpha * x.exp_m1(), alpha * x.exp(), alpha * x.exp()] } else { [x, 1.0, 0.0] }
    }

    fn enclosures(&self, x: f64, side: Side) -> (Interval, Interval) {
        let (alpha, point) = (Interval::point(self.alpha), Interval::point(x));
        if x < 0.0 {
            (alpha * point.exp_m1(), alpha * point.exp())
        } else if x == 0.0 && side == Side::Left {
            (Interval::ZERO, alpha)
        } else {
            (point, Interval::ONE)
        }
    }

    fn has_breakpoint(&self) -> bool {
        true
    }
}
