//! The smooth functions: values, slopes, curvatures, and which way they curvature where.

use certus_graph::Interval;
use certus_graph::ops::{self, Unary};

use super::smooth::{Curvature, Side, Smooth};

/// An S-shaped function that is convex below zero and concave above.
pub(super) fn sigmoidal_curvature(x: Interval) -> Curvature {
    if x.lo >= 0.0 {
        Curvature::Concave
    } else if x.hi <= 0.0 {
        Curvature::Convex
    } else {
        Curvature::ConvexConcave(Interval::ZERO)
    }
}

/// Hyperbolic tangent: slope 1 − y², curvature −2y(1 − y²).
pub(super) struct Tanh;

impl Smooth for Tanh {
    fn floats(&self, x: f64) -> [f64; 3] {
        let y = x.tanh();
        let slope = (1.0 - y) * (1.0 + y);
        [y, slope, -2.0 * y * slope]
    }

    fn enclosures(&self, x: f64, _: Side) -> (Interval, Interval) {
        let y = Interval::point(x).tanh();
        (y, (Interval::ONE - y) * (Interval::ONE + y))
    }

    fn reach(&self) -> f64 {
        1.5
    }
}

/// The logistic function: slope y(1 − y), curvature y(1 − y)(1 − 2y).
pub(super) struct Sigmoid;

impl Smooth for Sigmoid {
    fn floats(&self, x: f64) -> [f64; 3] {
        let y = 1.0 / (1.0 + (-x).exp());
        let slope = y * (1.0 - y);
        [y, slope, slope * (1.0 - 2.0 * y)]
    }

    fn enclosures(&self, x: f64, _: Side) -> (Interval, Interval) {
        let y = Interval::point(x).sigmoid();
        (y, y * (Interval::ONE - y))
    }

    fn reach(&self) -> f64 {
        3.0
    }
}

/// ln(1 + eˣ), convex; its slope is the logistic function.
pub(super) struct Softplus;

impl Smooth for Softplus {
    fn floats(&self, x: f64) -> [f64; 3] {
        let [slope, curvature, _] = Sigmoid.floats(x);
        [ops::Softplus.real(x), slope, curvature]
    }

    fn enclosures(&self, x: f64, _: Side) -> (Interval, Interval) {
        let x = Interval::point(x);
        (x.softplus(), x.sigmoid())
    }
}

/// eˣ, convex; its own slope.
pub(super) struct Exp;

impl Smooth for Exp {
    fn floats(&self, x: f64) -> [f64; 3] {
        [x.exp(); 3]
    }

    fn enclosures(&self, x: f64, _: Side) -> (Interval, Interval) {
        let y = Interval::point(x).exp();
        (y, y)
    }
}

/// Natural logarithm, concave on its domain.
pub(super) struct Log;

impl Smooth for Log {
    fn floats(&self, x: f64) -> [f64; 3] {
        [x.ln(), 1.0 / x, -1.0 / (x * x)]
    }

    fn enclosures(&self, x: f64, _: Side) -> (Interval, Interval) {
        let x = Interval::point(x);
        (x.ln(), Interval::ONE / x)
    }
}

/// √x, concave on its domain: slope 1 / 2y, without bound at zero.
pub(super) struct Sqrt;

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

/// x above zero, α(eˣ − 1) below.
pub(super) struct Elu(pub(super) f64);

impl Elu {
    /// α in [0, 1]: convex throughout. α > 1: convex, then a breakpoint downwards and a line. α < 0: concave, then a breakpoint
    /// upwards.
    pub(super) fn curvature(&self, x: Interval) -> Curvature {
        if (0.0..=1.0).contains(&self.0) {
            Curvature::Convex
        } else if self.0 > 1.0 {
            if x.hi <= 0.0 { Curvature::Convex } else { Curvature::ConvexConcave(Interval::ZERO) }
        } else if x.hi <= 0.0 {
            Curvature::Concave
        } else {
            Curvature::ConcaveConvex(Interval::ZERO)
        }
    }
}

impl Smooth for Elu {
    fn floats(&self, x: f64) -> [f64; 3] {
        if x < 0.0 { [self.0 * x.exp_m1(), self.0 * x.exp(), self.0 * x.exp()] } else { [x, 1.0, 0.0] }
    }

    fn enclosures(&self, x: f64, side: Side) -> (Interval, Interval) {
        let (alpha, point) = (Interval::point(self.0), Interval::point(x));
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
