//! Relaxations of piecewise linear curves, ReLU among them.
//!
//! Between two knots such a curve is affine, and so is its distance from a line: the extremes of the distance are at
//! knots. A jump is three knots at one place: the limits from both sides and the value between them.

use certus_graph::Interval;
use certus_graph::interval::{mul_down, mul_up, sub_down, sub_up};

use super::{Alpha, Side, Sides};

/// A piecewise linear curve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum PiecewiseLinear {
    Relu,
    LeakyRelu(f64),
    Clip { lower: f64, upper: f64 },
    Abs,
    Floor,
    Step { below: f64, at: f64, above: f64 },
}

/// A place and the curve's value there.
type Knot = (f64, Interval);

impl PiecewiseLinear {
    /// Whether the curve is affine over the range.
    pub(crate) fn is_linear(&self, x: Interval) -> bool {
        match *self {
            PiecewiseLinear::Relu | PiecewiseLinear::LeakyRelu(_) | PiecewiseLinear::Abs => x.lo >= 0.0 || x.hi <= 0.0,
            PiecewiseLinear::Clip { lower, upper } => {
                x.hi <= lower || x.lo >= upper || (lower <= x.lo && x.hi <= upper) || lower >= upper
            }
            PiecewiseLinear::Floor => x.lo.floor() == x.hi.floor(),
            PiecewiseLinear::Step { at, above, below } => {
                x.lo > 0.0 || x.hi < 0.0 || (x.lo == 0.0 && at == above) || (x.hi == 0.0 && at == below)
            }
        }
    }

    /// The slope of the larger side of a breakpoint, as α; the lines of a jump are flat.
    pub(crate) fn default_alpha(&self, x: Interval) -> Alpha {
        let prefers_right = |breakpoint: f64| if x.hi - breakpoint > breakpoint - x.lo { 1.0 } else { 0.0 };
        match *self {
            PiecewiseLinear::Relu | PiecewiseLinear::LeakyRelu(_) | PiecewiseLinear::Abs => {
                Alpha { lower: prefers_right(0.0), upper: prefers_right(0.0) }
            }
            // Left of the upper breakpoint the curve has the slope 1, so that side is the one to follow.
            PiecewiseLinear::Clip { lower, upper } => {
                Alpha { lower: prefers_right(lower), upper: 1.0 - prefers_right(upper) }
            }
            PiecewiseLinear::Floor | PiecewiseLinear::Step { .. } => Alpha { lower: 0.0, upper: 0.0 },
        }
    }

    /// Lines below and above.
    pub(crate) fn sides(&self, x: Interval, value: Interval, alpha: Alpha) -> Sides {
        if !x.lo.is_finite() || !x.hi.is_finite() {
            return self.unbounded_sides(x, value, alpha);
        }
        match *self {
            PiecewiseLinear::Relu => one_breakpoint(x, 0.0, alpha),
            PiecewiseLinear::LeakyRelu(left) => one_breakpoint(x, left, alpha),
            PiecewiseLinear::Abs => one_breakpoint(x, -1.0, alpha),
            PiecewiseLinear::Clip { lower, upper } => clip_sides(x, value, lower, upper, alpha),
            PiecewiseLinear::Floor => floor_sides(x, value),
            PiecewiseLinear::Step { below, at, above } => step_sides(x, value, [below, at, above], alpha),
        }
    }

    /// Over an unbounded range: what holds for all reals, the line through the breakpoint on its convex side.
    fn unbounded_sides(&self, x: Interval, value: Interval, alpha: Alpha) -> Sides {
        let constants = Sides::constants(value);
        let left = match *self {
            PiecewiseLinear::Relu => 0.0,
            PiecewiseLinear::LeakyRelu(left) => left,
            PiecewiseLinear::Abs => -1.0,
            _ => return constants,
        };
        if x.lo >= 0.0 {
            let side = Side::line(1.0, 0.0);
            Sides { lower: side, upper: side }
        } else if x.hi <= 0.0 {
            let side = Side::line(left, 0.0);
            Sides { lower: side, upper: side }
        } else if left <= 1.0 {
            Sides { lower: Side::line(between(left, 1.0, alpha.lower), 0.0), ..constants }
        } else {
            Sides { upper: Side::line(between(left, 1.0, alpha.upper), 0.0), ..constants }
        }
    }
}

/// The number that part of the way from one to another, never outside.
fn between(from: f64, to: f64, part: f64) -> f64 {
    (from + part * (to - from)).clamp(from.min(to), from.max(to))
}

/// The curve with slope `left` below zero and 1 above it, over a bounded range.
fn one_breakpoint(x: Interval, left: f64, alpha: Alpha) -> Sides {
    if x.lo >= 0.0 || x.hi <= 0.0 {
        let side = Side::line(if x.lo >= 0.0 { 1.0 } else { left }, 0.0);
        return Sides { lower: side, upper: side };
    }
    let leftmost = Interval { lo: mul_down(left, x.lo), hi: mul_up(left, x.lo) };
    let knots = [(x.lo, leftmost), (x.hi, Interval::point(x.hi))];
    let slope = (x.hi - left * x.lo) / (x.hi - x.lo);
    // Any slope between those of the two sides gives a line through the breakpoint that stays on one side of the curve.
    if left <= 1.0 {
        Sides { lower: Side::line(between(left, 1.0, alpha.lower), 0.0), upper: above(&knots, slope) }
    } else {
        Sides { lower: below(&knots, slope), upper: Side::line(between(left, 1.0, alpha.upper), 0.0) }
    }
}

/// The best line of this slope below a curve with these knots. A breakpoint at which the slope grows is never where the
/// line above touches, and need not be among the knots for it; nor one at which it shrinks for the line below.
fn below(knots: &[Knot], slope: f64) -> Side {
    let distance = |&(x, value): &Knot| sub_down(value.lo, mul_up(slope, x));
    Side::line(slope, knots.iter().map(distance).fold(f64::INFINITY, f64::min))
}

/// The best line of this slope above a curve with these knots.
fn above(knots: &[Knot], slope: f64) -> Side {
    let distance = |&(x, value): &Knot| sub_up(value.hi, mul_down(slope, x));
    Side::line(slope, knots.iter().map(distance).fold(f64::NEG_INFINITY, f64::max))
}

/// min(max(x, lower), upper) over a bounded range.
fn clip_sides(x: Interval, value: Interval, lower: f64, upper: f64, alpha: Alpha) -> Sides {
    if lower >= upper || x.hi <= lower || x.lo >= upper {
        return Sides::constants(value);
    }
    if lower <= x.lo && x.hi <= upper {
        let side = Side::line(1.0, 0.0);
        return Sides { lower: side, upper: side };
    }
    let clip = |place: f64| (place, Interval::point(place.max(lower).min(upper)));
    // A breakpoint outside the range is replaced by the end that is next to it.
    let knots = [x.lo, lower.clamp(x.lo, x.hi), upper.clamp(x.lo, x.hi), x.hi].map(clip);
    let chord = |from: f64, to: f64| (clip(to).1.lo - clip(from).1.lo) / (to - from);
    // Below: from flat to the line from the lower breakpoint to the right end. Without a breakpoint there, the chord.
    let low = if x.lo < lower { alpha.lower * chord(lower, x.hi) } else { chord(x.lo, x.hi) };
    let high = if x.hi > upper { alpha.upper * chord(x.lo, upper) } else { chord(x.lo, x.hi) };
    Sides { lower: below(&knots, low), upper: above(&knots, high) }
}

/// The integer part: x − 1 ≤ ⌊x⌋ ≤ x, or constants where at most one jump is in the range.
fn floor_sides(x: Interval, value: Interval) -> Sides {
    if x.hi.floor() - x.lo.floor() <= 1.0 {
        return Sides::constants(value);
    }
    Sides { lower: Side::line(1.0, -1.0), upper: Side::line(1.0, 0.0) }
}

/// A jump at zero.
fn step_sides(x: Interval, value: Interval, [left, at, right]: [f64; 3], alpha: Alpha) -> Sides {
    if x.lo >= 0.0 || x.hi <= 0.0 || left == right {
        return Sides::constants(value);
    }
    let knots = [(x.lo, left), (0.0, left), (0.0, at), (0.0, right), (x.hi, right)];
    let knots = knots.map(|(place, value)| (place, Interval::point(value)));
    // The line below reaches the upper level at the end of it, the line above the lower level at the other end.
    let (low, high) = if left < right { (x.hi, -x.lo) } else { (x.lo, -x.hi) };
    Sides { lower: below(&knots, alpha.lower / low), upper: above(&knots, alpha.upper / high) }
}
