//! Lines below and above an activation over an interval.
//!
//! For y = σ(x) with x in [l, u] a relaxation is a pair of lines with `a·x + c ≤ σ(x) ≤ b·x + d` for all x in between. Slopes are
//! free choices, made in floats; what makes the lines sound is the intercept, which is computed with outward rounding
//! for the slope as it was rounded:
//! * piecewise linear and convex (ReLU and its leaky form): σ(x) − b·x is convex, so its maximum is at an end;
//! * S-shaped (tanh, sigmoid): where [l, u] lies on one side of zero the function is concave or convex, a chord bounds
//!   it from one side (extremes at the ends) and a tangent from the other; across zero both lines take the slope
//!   min(σ'(l), σ'(u)), which σ' nowhere undercuts;
//! * anything else gets constants from its enclosure.

use certus_graph::Interval;
use certus_graph::interval::{add_up, sub_down};
use certus_graph::ops::{Op, Unary};

/// A line below and a line above.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Lines {
    pub(crate) lower_slope: f64,
    pub(crate) lower_offset: f64,
    pub(crate) upper_slope: f64,
    pub(crate) upper_offset: f64,
}

impl Lines {
    const IDENTITY: Lines = Lines { lower_slope: 1.0, lower_offset: 0.0, upper_slope: 1.0, upper_offset: 0.0 };

    fn constants(range: Interval) -> Lines {
        Lines { lower_slope: 0.0, lower_offset: range.lo, upper_slope: 0.0, upper_offset: range.hi }
    }
}

/// Whether [`lines`] has something better than constants for an operator.
pub(crate) fn is_activation(op: &Op) -> bool {
    matches!(op, Op::Relu(_) | Op::LeakyRelu(_) | Op::Tanh(_) | Op::Sigmoid(_) | Op::Clip(_))
}

/// The enclosure of an activation.
pub(crate) fn enclose(op: &Op, x: Interval) -> Interval {
    match op {
        Op::Relu(relu) => relu.interval(x),
        Op::LeakyRelu(leaky) => leaky.interval(x),
        Op::Tanh(tanh) => tanh.interval(x),
        Op::Sigmoid(sigmoid) => sigmoid.interval(x),
        Op::Clip(clip) => clip.interval(x),
        _ => Interval::ENTIRE,
    }
}

/// Lines below and above an activation over an interval.
pub(crate) fn lines(op: &Op, x: Interval) -> Lines {
    if !x.lo.is_finite() || !x.hi.is_finite() {
        return Lines::constants(enclose(op, x));
    }
    match op {
        Op::Relu(_) => hinge(x, 0.0),
        Op::LeakyRelu(leaky) if (0.0..=1.0).contains(&leaky.alpha) => hinge(x, leaky.alpha),
        Op::Tanh(_) => s_shaped(x, Interval::tanh, |y| Interval::ONE - y.powi(2)),
        Op::Sigmoid(_) => s_shaped(x, Interval::sigmoid, |y| y * (Interval::ONE - y)),
        Op::Clip(clip) if clip.lower <= x.lo && x.hi <= clip.upper => Lines::IDENTITY,
        other => Lines::constants(enclose(other, x)),
    }
}

/// max(x, αx) for α in [0, 1].
fn hinge(x: Interval, alpha: f64) -> Lines {
    if x.lo >= 0.0 {
        return Lines::IDENTITY;
    }
    if x.hi <= 0.0 {
        return Lines { lower_slope: alpha, lower_offset: 0.0, upper_slope: alpha, upper_offset: 0.0 };
    }
    let slope = ((x.hi - alpha * x.lo) / (x.hi - x.lo)).clamp(alpha, 1.0);
    let above = |end: f64, value: Interval| (value - Interval::point(slope) * Interval::point(end)).hi;
    let low = above(x.lo, Interval::point(alpha) * Interval::point(x.lo));
    let high = above(x.hi, Interval::point(x.hi));
    // The smaller area decides the slope below; any slope in [α, 1] is sound.
    let lower_slope = if x.hi > -x.lo { 1.0 } else { alpha };
    Lines { lower_slope, lower_offset: 0.0, upper_slope: slope, upper_offset: low.max(high) }
}

/// An increasing function that is convex below zero and concave above; `slope_at` gives σ' from σ.
fn s_shaped(x: Interval, function: fn(Interval) -> Interval, slope_at: fn(Interval) -> Interval) -> Lines {
    let (at_low, at_high) = (function(Interval::point(x.lo)), function(Interval::point(x.hi)));
    let below = |slope: f64, end: f64, value: Interval| (value - Interval::point(slope) * Interval::point(end)).lo;
    let above = |slope: f64, end: f64, value: Interval| (value - Interval::point(slope) * Interval::point(end)).hi;
    let width = x.hi - x.lo;
    if width > 0.0 && (x.lo >= 0.0 || x.hi <= 0.0) {
        let chord = ((at_high.lo - at_low.lo) / width).max(0.0);
        let middle = x.lo + width / 2.0;
        let (at_middle, exact) = (function(Interval::point(middle)), slope_at(function(Interval::point(middle))));
        let tangent = (exact.lo / 2.0 + exact.hi / 2.0).max(0.0);
        // The tangent's slope is known up to rounding; over the width of the interval that costs this much.
        let slack = ((exact - Interval::point(tangent)).abs() * Interval::point(x.width())).hi;
        if x.lo >= 0.0 {
            return Lines {
                lower_slope: chord,
                lower_offset: below(chord, x.lo, at_low).min(below(chord, x.hi, at_high)),
                upper_slope: tangent,
                upper_offset: add_up(above(tangent, middle, at_middle), slack),
            };
        }
        return Lines {
            lower_slope: tangent,
            lower_offset: sub_down(below(tangent, middle, at_middle), slack),
            upper_slope: chord,
            upper_offset: above(chord, x.lo, at_low).max(above(chord, x.hi, at_high)),
        };
    }
    let slope = slope_at(at_low).lo.min(slope_at(at_high).lo).max(0.0);
    Lines {
        lower_slope: slope,
        lower_offset: below(slope, x.lo, at_low),
        upper_slope: slope,
        upper_offset: above(slope, x.hi, at_high),
    }
}

#[cfg(test)]
mod tests {
    use certus_graph::ops::{Clip, LeakyRelu, Relu, Sigmoid, Tanh};
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn lines_enclose_the_function(a in -6.0f64..6.0, b in -6.0f64..6.0, t in 0.0f64..=1.0, kind in 0usize..5) {
            let op: Op = match kind {
                0 => Relu.into(),
                1 => LeakyRelu { alpha: 0.1 }.into(),
                2 => Tanh.into(),
                3 => Sigmoid.into(),
                _ => Clip { lower: -1.0, upper: 2.0 }.into(),
            };
            let range = Interval::new(a.min(b), a.max(b));
            let lines = lines(&op, range);
            for t in [0.0, 0.5, 1.0, t] {
                let x = (range.lo + t * (range.hi - range.lo)).clamp(range.lo, range.hi);
                let y = enclose(&op, Interval::point(x));
                let line = |slope: f64, offset: f64| Interval::point(slope) * Interval::point(x) + Interval::point(offset);
                prop_assert!(line(lines.lower_slope, lines.lower_offset).lo <= y.hi, "{op:?} {range} at {x}");
                prop_assert!(line(lines.upper_slope, lines.upper_offset).hi >= y.lo, "{op:?} {range} at {x}");
            }
        }
    }
}
