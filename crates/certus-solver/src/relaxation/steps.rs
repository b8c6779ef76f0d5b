//! Relaxations of functions with jumps: comparisons with zero, and rounding down.
//!
//! *Comparison.* Three constants, below zero, at it and above. A line below goes through (0, v) with v the least of the
//! values met; its slope is limited by meeting the value of each side at that side's end. f(x) − s·x is linear on each
//! side, so its extremes are at the ends, at zero, or are limits at zero from a side: five numbers give the offset for
//! any slope.
//!
//! *Rounding down.* With k the first integer above l, ⌊x⌋ ≥ k − 1 + t(x − k) for every t in [0, 1]: it holds for t = 0,
//! and for t = 1 it is ⌊x⌋ ≥ x − 1. With k the last integer in the range, ⌊x⌋ ≤ k + t(x − k) in the same way.

use certus_graph::Interval;
use certus_graph::interval::{add_up, mul_down, mul_up, sub_down, sub_up};

use super::{Alpha, Line, Relaxation, between};

/// The values of a step below zero, at it and above.
#[derive(Clone, Copy)]
pub(super) struct Step {
    pub(super) below: f64,
    pub(super) at: f64,
    pub(super) above: f64,
}

impl Step {
    fn negated(self) -> Step {
        Step { below: -self.below, at: -self.at, above: -self.above }
    }

    /// The values met in a range, each with the argument farthest from zero at which it is met.
    fn met(self, x: Interval) -> impl Iterator<Item = (f64, f64)> {
        let sides = [(x.lo < 0.0, x.lo, self.below), (x.contains(0.0), 0.0, self.at), (x.hi > 0.0, x.hi, self.above)];
        sides.into_iter().filter(|(met, ..)| *met).map(|(_, end, value)| (end, value))
    }

    pub(super) fn range(self, x: Interval) -> Interval {
        self.met(x).map(|(_, value)| Interval::point(value)).reduce(Interval::hull).unwrap_or(Interval::ENTIRE)
    }

    /// The least and the greatest slope of lines below that touch the step at zero.
    fn slopes_below(self, x: Interval) -> (f64, f64) {
        let least = self.range(x).lo;
        let falling = if x.lo < 0.0 { (self.below - least) / x.lo } else { 0.0 };
        let rising = if x.hi > 0.0 { (self.above - least) / x.hi } else { 0.0 };
        (falling.min(0.0), rising.max(0.0))
    }

    fn line_below(self, x: Interval, t: f64) -> Line {
        let (falling, rising) = self.slopes_below(x);
        // Where only one direction is open, t = 0 is the constant.
        let slope = if rising == 0.0 { between(0.0, falling, t) } else { between(falling, rising, t) };
        let ends = self.met(x).map(|(end, value)| value.min(sub_down(value, mul_up(slope, end))));
        Line { slope, offset: ends.fold(f64::INFINITY, f64::min) }
    }

    pub(super) fn relax(self, x: Interval, alpha: Alpha) -> Relaxation {
        let below = self.line_below(x, alpha.lower);
        let above = self.negated().line_below(x, alpha.upper);
        Relaxation::new(below, Line { slope: -above.slope, offset: -above.offset })
    }

    /// Constants; where lines can fall to both sides, along the longer one.
    pub(super) fn default_alpha(self, x: Interval) -> Alpha {
        let longer = if x.hi > -x.lo { 1.0 } else { 0.0 };
        let alpha = |step: Step| {
            let (falling, rising) = step.slopes_below(x);
            if falling < 0.0 && rising > 0.0 { longer } else { 0.0 }
        };
        Alpha { lower: alpha(self), upper: alpha(self.negated()) }
    }
}

/// The relaxation of rounding down.
pub(super) fn floor_relaxation(x: Interval, alpha: Alpha) -> Relaxation {
    let (first, last) = (x.lo.floor(), x.hi.floor());
    if first == last {
        return Relaxation::both(0.0, first);
    }
    let (lower, upper) = (alpha.lower, alpha.upper);
    Relaxation::new(
        Line { slope: lower, offset: sub_down(first, mul_up(lower, add_up(first, 1.0))) },
        Line { slope: upper, offset: sub_up(last, mul_down(upper, last)) },
    )
}

/// The line that is closer in the middle of the range.
pub(super) fn floor_alpha(x: Interval) -> Alpha {
    let middle = x.lo / 2.0 + x.hi / 2.0;
    let one_if = |truth: bool| if truth { 1.0 } else { 0.0 };
    Alpha { lower: one_if(middle > x.lo.floor() + 1.0), upper: one_if(middle < x.hi.floor()) }
}
