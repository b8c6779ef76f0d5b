//! xᵖ for a constant exponent, and 1/x.
//!
//! Even powers are convex on all reals, odd powers have an inflection point at zero, negative powers are convex or concave on each side of their
//! pole, and exponents that are no integers have non-negative bases only.

use certus_graph::Interval;
use certus_graph::ops::{Curvature, Side, Smooth};

/// Beyond this an integer exponent is treated like any other real (enclosures do the same).
const LARGEST_INTEGER: f64 = 1024.0;

pub(super) struct Power(pub(super) f64);

impl Power {
    fn is_integer(&self) -> bool {
        self.0.fract() == 0.0 && self.0.abs() <= LARGEST_INTEGER
    }

    /// Whether the function is affine: x⁰ and x¹.
    pub(super) fn is_linear(&self) -> bool {
        self.0 == 0.0 || self.0 == 1.0
    }

    /// Where it is convex and where concave, unless the range touches a pole or leaves the domain.
    pub(super) fn curvature(&self, x: Interval) -> Option<Curvature> {
        let p = self.0;
        if !p.is_finite() || self.is_linear() {
            return None;
        }
        if !self.is_integer() {
            let inside = if p > 0.0 { x.lo >= 0.0 } else { x.lo > 0.0 };
            return inside.then_some(if p > 0.0 && p < 1.0 { Curvature::Concave } else { Curvature::Convex });
        }
        let even = p % 2.0 == 0.0;
        if p >= 0.0 && even || x.lo > 0.0 || x.lo == 0.0 && p > 0.0 {
            Some(Curvature::Convex)
        } else if x.hi < 0.0 || x.hi == 0.0 && p > 0.0 {
            Some(if even { Curvature::Convex } else { Curvature::Concave })
        } else if p > 0.0 {
            Some(Curvature::ConcaveConvex(Interval::ZERO))
        } else {
            None
        }
    }
}

impl Smooth for Power {
    fn floats(&self, x: f64) -> [f64; 3] {
        let p = self.0;
        if p == 2.0 {
            return [x * x, 2.0 * x, 2.0];
        }
        [x.powf(p), p * x.powf(p - 1.0), p * (p - 1.0) * x.powf(p - 2.0)]
    }

    fn enclosures(&self, x: f64, _: Side) -> (Interval, Interval) {
        let (base, exponent) = (Interval::point(x), Interval::point(self.0));
        let value = base.pow(exponent);
        let slope = if self.is_integer() {
            exponent * base.pow(Interval::point(self.0 - 1.0))
        } else if x == 0.0 && self.0 > 1.0 {
            Interval::ZERO
        } else {
            exponent * value / base
        };
        (value, slope)
    }
}

/// 1/x on one side of zero: slope −y², curvature 2y³.
pub(super) struct Reciprocal;

impl Reciprocal {
    pub(super) fn curvature(x: Interval) -> Option<Curvature> {
        if x.lo > 0.0 {
            Some(Curvature::Convex)
        } else if x.hi < 0.0 {
            Some(Curvature::Concave)
        } else {
            None
        }
    }
}

impl Smooth for Reciprocal {
    fn floats(&self, x: f64) -> [f64; 3] {
        let y = 1.0 / x;
        [y, -y * y, 2.0 * y * y * y]
    }

    fn enclosures(&self, x: f64, _: Side) -> (Interval, Interval) {
        let y = Interval::ONE / Interval::point(x);
        (y, -(y * y))
    }
}
