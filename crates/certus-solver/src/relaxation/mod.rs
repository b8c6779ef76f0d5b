//! Linear relaxations: lines below and above a function over an interval, planes below and above a product over a box.
//!
//! For y = f(x) with x in [l, u] a relaxation is a pair of lines with `a·x + c ≤ f(x) ≤ b·x + d` for all x in between
//! (Zhang et al., *Efficient Neural Network Robustness Certification with General Activation Functions*, NeurIPS 2018).
//! *Slopes are free choices, made in floats*; what makes a line sound is its offset, which is computed with outward
//! rounding for the slope as it was rounded. So no search for a good slope has to be exact, and no choice can be wrong.
//!
//! Within a family of sound lines the choice is a pair of numbers in [0, 1], the relaxation slopes [`Alpha`]; every α is
//! sound, and gradient ascent or an LP looks for a good one. (For an unstable ReLU, α is the slope of the lower line, as in
//! α-CROWN.)
//!
//! One file per family: [`relu`] (one breakpoint at zero), [`clip`] (two breakpoints), [`smooth`] (convex, concave and
//! S-shaped functions) with [`two_inflections`] (more than half a wave), [`steps`] (comparisons and rounding), [`product`]
//! (two variables). What the functions themselves are like, activation functions say (`certus_graph::ops::activation`);
//! [`power`] has those that are no activations.

mod clip;
mod curve;
mod power;
mod product;
mod relu;
mod smooth;
mod steps;
#[cfg(test)]
mod tests;
mod two_inflections;

pub use curve::Curve;
pub(crate) use product::product_planes;

use certus_graph::Interval;

/// Which line of a family is taken, below and above; each in [0, 1].
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Alpha {
    pub(crate) lower: f64,
    pub(crate) upper: f64,
}

impl Alpha {
    /// Whether both numbers are in [0, 1].
    pub(crate) fn is_valid(self) -> bool {
        (0.0..=1.0).contains(&self.lower) && (0.0..=1.0).contains(&self.upper)
    }

    /// Within [0, 1]; what is no number becomes the default.
    #[inline]
    fn clamped(self, default: impl Fn() -> Alpha) -> Alpha {
        let clamp = |value: f64, pick: fn(Alpha) -> f64| {
            if value.is_nan() { pick(default()) } else { value.clamp(0.0, 1.0) }
        };
        Alpha { lower: clamp(self.lower, |alpha| alpha.lower), upper: clamp(self.upper, |alpha| alpha.upper) }
    }
}

/// A line below and a line above.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Relaxation {
    pub(crate) lower_slope: f64,
    pub(crate) lower_offset: f64,
    pub(crate) upper_slope: f64,
    pub(crate) upper_offset: f64,
}

impl Relaxation {
    /// Whether a curve is between both lines at the ends and in the middle of a range.
    pub(crate) fn encloses_at_ends(&self, curve: &Curve, range: Interval) -> bool {
        let at =
            |slope: f64, offset: f64, x: f64| Interval::point(slope) * Interval::point(x) + Interval::point(offset);
        [range.lo, range.hi, range.lo / 2.0 + range.hi / 2.0].into_iter().filter(|x| x.is_finite()).all(|x| {
            let y = curve.enclose(Interval::point(x));
            let below = self.lower_offset == f64::NEG_INFINITY || at(self.lower_slope, self.lower_offset, x).lo <= y.hi;
            let above = self.upper_offset == f64::INFINITY || at(self.upper_slope, self.upper_offset, x).hi >= y.lo;
            below && above
        })
    }

    const IDENTITY: Relaxation = Relaxation::both(1.0, 0.0);

    /// One line for both sides, for what is exactly linear.
    const fn both(slope: f64, offset: f64) -> Relaxation {
        Relaxation { lower_slope: slope, lower_offset: offset, upper_slope: slope, upper_offset: offset }
    }

    fn new(lower: Line, upper: Line) -> Relaxation {
        Relaxation {
            lower_slope: lower.slope,
            lower_offset: lower.offset,
            upper_slope: upper.slope,
            upper_offset: upper.offset,
        }
    }

    /// The line below, or the one above.
    fn side(self, below: bool) -> Line {
        match below {
            true => Line { slope: self.lower_slope, offset: self.lower_offset },
            false => Line { slope: self.upper_slope, offset: self.upper_offset },
        }
    }

    fn constants(range: Interval) -> Relaxation {
        Relaxation { lower_slope: 0.0, lower_offset: range.lo, upper_slope: 0.0, upper_offset: range.hi }
    }

    /// The lines, but constants where overflow or a pole has spoilt one of them.
    #[inline]
    fn or_constants(self, range: impl Fn() -> Interval) -> Relaxation {
        let mut lines = self;
        if !(self.lower_slope.is_finite() && self.lower_offset.is_finite()) {
            (lines.lower_slope, lines.lower_offset) = (0.0, range().lo);
        }
        if !(self.upper_slope.is_finite() && self.upper_offset.is_finite()) {
            (lines.upper_slope, lines.upper_offset) = (0.0, range().hi);
        }
        lines
    }
}

/// One line of a pair.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Line {
    pub(crate) slope: f64,
    pub(crate) offset: f64,
}

/// From `a` (t = 0) to `b` (t = 1), both exactly, never outside.
fn between(a: f64, b: f64, t: f64) -> f64 {
    if t >= 1.0 { b } else { (a + t * (b - a)).max(a.min(b)).min(a.max(b)) }
}
