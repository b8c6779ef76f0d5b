//! The ReLU relaxation, for any function with one breakpoint at zero: x above, k·x below (ReLU with k = 0, the magnitude
//! with k = −1, leaky ReLU).
//!
//! The upper line is the chord of the triangle relaxation (Ehlers, *Formal Verification of Piece-Wise Linear Feed-Forward
//! Neural Networks*, ATVA 2017), the lower one a line through zero with a slope of one's choice (Zhang et al., NeurIPS 2018).
//!
//! *Soundness.* For k ≤ 1 the function is max(x, k·x), convex: a line through zero with a slope in [k, 1] lies below it, and
//! above it lies the chord. For k > 1 it is min(x, k·x) and the two change places. A slope from the chord's two ends is
//! rounded; f(x) − s·x takes its extreme on the chord's side at an end whatever s is, and that gives the offset.

use certus_graph::Interval;
use certus_graph::interval::{mul_down, mul_up, sub_down, sub_up};

use super::{Alpha, Line, Relaxation, between};

/// The relaxation of x above zero and `negative_slope`·x below.
#[inline]
pub(super) fn relax(negative_slope: f64, x: Interval, alpha: Alpha) -> Relaxation {
    if x.lo >= 0.0 {
        return Relaxation::IDENTITY;
    }
    if x.hi <= 0.0 {
        return Relaxation::both(negative_slope, 0.0);
    }
    let chord = (x.hi - negative_slope * x.lo) / (x.hi - x.lo);
    if negative_slope <= 1.0 {
        let slope = chord.clamp(negative_slope, 1.0);
        let low = sub_up(mul_up(negative_slope, x.lo), mul_down(slope, x.lo));
        let high = sub_up(x.hi, mul_down(slope, x.hi));
        let lower = Line { slope: between(negative_slope, 1.0, alpha.lower), offset: 0.0 };
        Relaxation::new(lower, Line { slope, offset: low.max(high) })
    } else {
        let slope = chord.clamp(1.0, negative_slope);
        let low = sub_down(mul_down(negative_slope, x.lo), mul_up(slope, x.lo));
        let high = sub_down(x.hi, mul_up(slope, x.hi));
        let upper = Line { slope: between(negative_slope, 1.0, alpha.upper), offset: 0.0 };
        Relaxation::new(Line { slope, offset: low.min(high) }, upper)
    }
}

/// The line that follows the longer side; that is the one with the smaller area between the two lines.
#[inline]
pub(super) fn default_alpha(x: Interval) -> Alpha {
    let alpha = if x.hi > -x.lo { 1.0 } else { 0.0 };
    Alpha { lower: alpha, upper: alpha }
}
