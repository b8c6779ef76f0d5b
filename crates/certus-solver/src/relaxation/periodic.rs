//! Sine and cosine: where they inflection.
//!
//! Both have one every half period, at multiples of π or half-way between, which are no doubles and so are enclosed. A
//! range with up to two inflections has lines; a full period is bounded by constants, and so are arguments so large that
//! the inflections cannot be told apart from the ends well.

use std::f64::consts::PI;

use certus_graph::Interval;

use super::smooth::{Curvature, Side, Smooth};

/// Beyond this magnitude constants have to do.
const LARGEST_ARGUMENT: f64 = 1e6;

#[derive(Clone, Copy, PartialEq)]
pub(super) enum Wave {
    Sine,
    Cosine,
}

impl Wave {
    /// The inflection number `k`.
    fn inflection(self, k: f64) -> Interval {
        let phase = if self == Wave::Sine { 0.0 } else { 0.5 };
        Interval::new(PI, PI.next_up()) * Interval::point(k + phase)
    }

    /// How it bends over a range, if that has no more than two inflections.
    pub(super) fn curvature(self, x: Interval) -> Option<Curvature> {
        if x.magnitude() > LARGEST_ARGUMENT || x.width() >= 2.0 * PI {
            return None;
        }
        // The first inflection that is not certainly at or before the lower end.
        let mut k = (x.lo / PI).floor() - 1.0;
        while self.inflection(k).hi <= x.lo {
            k += 1.0;
        }
        let inflections = [self.inflection(k), self.inflection(k + 1.0), self.inflection(k + 2.0)];
        let inside = inflections.iter().filter(|inflection| inflection.lo < x.hi).count();
        // Before inflection number 0 the sine is convex and the cosine concave; each inflection changes it.
        let convex = (k % 2.0 == 0.0) == (self == Wave::Sine);
        match (&inflections[..inside], convex) {
            ([], true) => Some(Curvature::Convex),
            ([], false) => Some(Curvature::Concave),
            (&[inflection], true) => Some(Curvature::ConvexConcave(inflection)),
            (&[inflection], false) => Some(Curvature::ConcaveConvex(inflection)),
            (&[first, second], true) => Some(Curvature::ConvexConcaveConvex(first, second)),
            (&[first, second], false) => Some(Curvature::ConcaveConvexConcave(first, second)),
            _ => None,
        }
    }
}

impl Smooth for Wave {
    fn floats(&self, x: f64) -> [f64; 3] {
        let (sine, cosine) = x.sin_cos();
        match self {
            Wave::Sine => [sine, cosine, -sine],
            Wave::Cosine => [cosine, -sine, -cosine],
        }
    }

    fn enclosures(&self, x: f64, _: Side) -> (Interval, Interval) {
        let x = Interval::point(x);
        match self {
            Wave::Sine => (x.sin(), x.cos()),
            Wave::Cosine => (x.cos(), -x.sin()),
        }
    }
}
