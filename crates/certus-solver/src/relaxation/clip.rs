//! The relaxation of x limited to [a, b] (clamp, hard tanh, ReLU6): two breakpoints.
//!
//! Below, the breakpoint at a is convex: lines through (a, a) with a slope from 0 up to that of the line which meets the
//! function at the upper end of the range. Above, the same is true of the breakpoint at b. Where a breakpoint lies outside the
//! range, its side is bounded by the chord. The function is piecewise linear, so f(x) − s·x has its extremes at ends
//! and breakpoints, and offsets are the extremes over those whatever the slope.

use certus_graph::Interval;
use certus_graph::interval::{mul_down, mul_up, sub_down, sub_up};

use super::{Alpha, Line, Relaxation, between};

/// The limits in force: crossed ones mean the upper, one that is no number means none.
fn limits(lower: f64, upper: f64) -> (f64, f64) {
    let upper = if upper.is_nan() { f64::INFINITY } else { upper };
    let lower = if lower.is_nan() { f64::NEG_INFINITY } else { lower.min(upper) };
    (lower, upper)
}

/// Whether no breakpoint lies strictly inside.
pub(super) fn is_linear(lower: f64, upper: f64, x: Interval) -> bool {
    let (a, b) = limits(lower, upper);
    let inside = |breakpoint: f64| x.lo < breakpoint && breakpoint < x.hi;
    a == b || !(inside(a) || inside(b))
}

/// The relaxation of x limited to [`lower`, `upper`].
pub(super) fn relax(lower: f64, upper: f64, x: Interval, alpha: Alpha) -> Relaxation {
    let (a, b) = limits(lower, upper);
    if x.hi <= a || a == b {
        return Relaxation::both(0.0, a);
    }
    if x.lo >= b {
        return Relaxation::both(0.0, b);
    }
    if a <= x.lo && x.hi <= b {
        return Relaxation::IDENTITY;
    }
    let clip = |value: f64| value.max(a).min(b);
    let points = [x.lo, clip(x.lo), clip(x.hi), x.hi];
    // The slope from the lower breakpoint, or the lower end, to the upper end; and from the lower end to the upper breakpoint or
    // end.
    let from_kink = ((clip(x.hi) - clip(x.lo)) / (x.hi - clip(x.lo))).clamp(0.0, 1.0);
    let to_kink = ((clip(x.hi) - clip(x.lo)) / (clip(x.hi) - x.lo)).clamp(0.0, 1.0);
    let lower_slope = if x.lo < a { between(0.0, from_kink, alpha.lower) } else { from_kink };
    let upper_slope = if x.hi > b { between(0.0, to_kink, alpha.upper) } else { to_kink };
    let below = points.map(|p| sub_down(clip(p), mul_up(lower_slope, p)));
    let above = points.map(|p| sub_up(clip(p), mul_down(upper_slope, p)));
    Relaxation::new(
        Line { slope: lower_slope, offset: below.into_iter().fold(f64::INFINITY, f64::min) },
        Line { slope: upper_slope, offset: above.into_iter().fold(f64::NEG_INFINITY, f64::max) },
    )
}

/// The line through the breakpoint that is closer at the middle of the range.
pub(super) fn default_alpha(lower: f64, upper: f64, x: Interval) -> Alpha {
    let (a, b) = limits(lower, upper);
    let middle = x.lo / 2.0 + x.hi / 2.0;
    Alpha { lower: f64::from(u8::from(middle > a)), upper: f64::from(u8::from(middle < b)) }
}

/// The breakpoint inside the range that is nearer to its middle.
pub(super) fn split_point(lower: f64, upper: f64, x: Interval) -> Option<f64> {
    let (a, b) = limits(lower, upper);
    let middle = x.lo / 2.0 + x.hi / 2.0;
    let inside = [a, b].into_iter().filter(|&breakpoint| x.lo < breakpoint && breakpoint < x.hi && a < b);
    inside.min_by(|p, q| (p - middle).abs().total_cmp(&(q - middle).abs()))
}
