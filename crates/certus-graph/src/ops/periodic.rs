//! The inflection points of sine and cosine.
//!
//! Both have one every half period, at multiples of π or half-way between, which are no doubles and so are enclosed.
//! Ranges with more than two inflection points have no curvature here (constants have to do), and neither have arguments
//! so large that the inflection points cannot be told apart from the ends well.

use std::f64::consts::PI;

use crate::Interval;
use crate::ops::activation::Curvature;

/// Beyond this magnitude constants have to do.
const LARGEST_ARGUMENT: f64 = 1e6;

/// Which of the two.
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
}

/// Where it is convex and where concave over a range with no more than two inflection points.
pub(super) fn curvature(wave: Wave, x: Interval) -> Option<Curvature> {
    if x.magnitude() > LARGEST_ARGUMENT || x.width() >= 2.0 * PI {
        return None;
    }
    // The first inflection that is not certainly at or before the lower end.
    let mut k = (x.lo / PI).floor() - 1.0;
    while wave.inflection(k).hi <= x.lo {
        k += 1.0;
    }
    let inflections = [wave.inflection(k), wave.inflection(k + 1.0), wave.inflection(k + 2.0)];
    let inside = inflections.iter().filter(|inflection| inflection.lo < x.hi).count();
    // Before inflection number 0 the sine is convex and the cosine concave; each inflection changes it.
    let convex = (k % 2.0 == 0.0) == (wave == Wave::Sine);
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
