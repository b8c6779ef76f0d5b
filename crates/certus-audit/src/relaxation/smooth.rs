//! Smooth curves: lines from tangents and chords.
//!
//! *Choice.* Where the curve is convex, the line below is a tangent and the line above the chord; where it is
//! concave, the other way round. Where it turns once, the line below is a tangent of the convex part: between the one at
//! the far end of that part and the one that passes through the other end of the range; the chord where even the
//! tangent at the far end passes above that end.
//!
//! Where it turns twice and is convex in between, the line below is a tangent of that part, between those that pass through the two ends
//! of the range (the chord if these are in the wrong order). Where it is concave in between, it is the chord, unless the
//! curve dips below that at one end: then it is a tangent of the convex part there, between the one at that end and the one
//! that passes through the other end.
//!
//! *Proof.* On a concave piece f(x) − s·x is least at an end. On a convex piece, f(x) ≥ f(d) + f′(d)·(x − d) for any d
//! in it, so f(x) − s·x ≥ f(d) − s·d + (f′(d) − s)·(x − d), where the last term is tiny as s was f′(d) before it was
//! rounded. Between the two lies the sliver in which the turn is, known to a few units in the last place: there f is
//! enclosed as it is. All of it in intervals. A line above f is one below −f.

use certus_graph::Interval;

use super::functions::Smooth;
use super::shape::Shape;
use super::{Alpha, Side, Sides};

/// No α in the certificate: the tangent nearest to the middle of the range.
const NEAREST: f64 = f64::NAN;

impl Smooth {
    /// Tangents in the middle, or as near to it as they help where the curve turns.
    pub(crate) fn default_alpha(&self, x: Interval) -> Alpha {
        let alpha = if let Some(Shape::Convex | Shape::Concave) | None = self.shape(x) { 0.5 } else { NEAREST };
        Alpha { lower: alpha, upper: alpha }
    }

    /// Lines below and above.
    pub(crate) fn sides(&self, x: Interval, value: Interval, alpha: Alpha) -> Sides {
        let bounded = x.lo.is_finite() && x.hi.is_finite();
        let Some(shape) = bounded.then(|| self.shape(x)).flatten() else { return Sides::constants(value) };
        let upright = View { curve: self, negated: false };
        let mirrored = View { curve: self, negated: true };
        Sides {
            lower: upright.below(x, shape, alpha.lower),
            upper: mirrored.below(x, shape.negated(), alpha.upper).negated(),
        }
    }
}

pub(super) fn middle(x: Interval) -> f64 {
    if x.lo == x.hi { x.lo } else { x.lo / 2.0 + x.hi / 2.0 }
}

/// Where a tangent touches: a share of the way between two places, or as near to the middle of the range as these allow.
fn touching(x: Interval, from: f64, to: f64, alpha: f64) -> f64 {
    match alpha.is_nan() {
        true => (x.lo / 2.0 + x.hi / 2.0).clamp(from.min(to), from.max(to)),
        false => (from + alpha * (to - from)).clamp(from.min(to), from.max(to)),
    }
}

/// A curve, or the curve upside down.
struct View<'a> {
    curve: &'a Smooth,
    negated: bool,
}

impl View<'_> {
    fn signed(&self, value: Interval) -> Interval {
        if self.negated { -value } else { value }
    }

    fn value_near(&self, x: f64) -> f64 {
        let value = self.curve.value_near(x);
        if self.negated { -value } else { value }
    }

    fn derivative_near(&self, piece: Interval, x: f64) -> f64 {
        let derivative = self.curve.derivative_near(piece, x);
        if self.negated { -derivative } else { derivative }
    }

    /// A line below, for a curve of this shape over a bounded range.
    fn below(&self, x: Interval, shape: Shape, alpha: f64) -> Side {
        match shape {
            Shape::Convex => {
                let touch = (x.lo + alpha * (x.hi - x.lo)).clamp(x.lo, x.hi);
                let slope = self.derivative_near(x, touch);
                Side::line(slope, self.least_convex(x, touch, slope))
            }
            Shape::Concave => {
                let slope = self.chord(x);
                Side::line(slope, self.least_at_ends(x, slope))
            }
            Shape::Turn { at, convex_first } => {
                let (before, after) = (at.lo.clamp(x.lo, x.hi), at.hi.clamp(x.lo, x.hi));
                let (first, last) = (Interval { lo: x.lo, hi: before }, Interval { lo: after, hi: x.hi });
                let (convex, concave) = if convex_first { (first, last) } else { (last, first) };
                let (far, turn, end) = if convex_first { (x.lo, before, x.hi) } else { (x.hi, after, x.lo) };
                let (slope, touch) = match self.tangent_through(end, convex, far, turn) {
                    None => (self.chord(x), far),
                    Some(extreme) => {
                        let touch = match alpha.is_nan() {
                            true => (x.lo / 2.0 + x.hi / 2.0).clamp(far.min(extreme), far.max(extreme)),
                            false => far + alpha * (extreme - far),
                        };
                        let touch = touch.clamp(convex.lo, convex.hi);
                        (self.derivative_near(convex, touch), touch)
                    }
                };
                let least_convex = self.least_convex(convex, touch, slope);
                let sliver = self.least_enclosed(Interval { lo: before, hi: after }, slope);
                Side::line(slope, least_convex.min(self.least_at_ends(concave, slope)).min(sliver))
            }
            Shape::Hollow { first, second } => self.below_hollow(x, first, second, alpha),
            Shape::Hump { first, second } => self.below_hump(x, first, second, alpha),
        }
    }

    /// The line below a curve that is convex between two turns.
    fn below_hollow(&self, x: Interval, first: Interval, second: Interval, alpha: f64) -> Side {
        let inner = Interval { lo: first.hi.clamp(x.lo, x.hi), hi: second.lo.clamp(x.lo, x.hi) };
        let low = self.tangent_through(x.lo, inner, inner.hi, inner.lo).unwrap_or(inner.hi);
        let high = self.tangent_through(x.hi, inner, inner.lo, inner.hi).unwrap_or(inner.lo);
        let (slope, touch) = if low <= high {
            let touch = touching(x, low, high, alpha);
            (self.derivative_near(inner, touch), touch)
        } else {
            let chord = self.chord(x);
            (chord, self.where_steep(inner, chord))
        };
        let concave = [
            Interval { lo: x.lo, hi: first.lo.clamp(x.lo, x.hi) },
            Interval { lo: second.hi.clamp(x.lo, x.hi), hi: x.hi },
        ];
        let at_ends = concave.map(|piece| self.least_at_ends(piece, slope));
        let least = at_ends[0].min(at_ends[1]).min(self.least_convex(inner, touch, slope));
        Side::line(slope, least.min(self.least_in_slivers(x, [first, second], slope)))
    }

    /// The line below a curve that is concave between two turns.
    fn below_hump(&self, x: Interval, first: Interval, second: Interval, alpha: f64) -> Side {
        let left = Interval { lo: x.lo, hi: first.lo.clamp(x.lo, x.hi) };
        let right = Interval { lo: second.hi.clamp(x.lo, x.hi), hi: x.hi };
        let chord = self.chord(x);
        let mut touches = (x.lo, x.hi);
        let slope = if self.derivative_near(left, x.lo) < chord {
            let farthest = self.tangent_through(x.hi, left, x.lo, left.hi).unwrap_or(x.lo);
            touches.0 = touching(x, x.lo, farthest, alpha);
            self.derivative_near(left, touches.0)
        } else if self.derivative_near(right, x.hi) > chord {
            let farthest = self.tangent_through(x.lo, right, x.hi, right.lo).unwrap_or(x.hi);
            touches.1 = touching(x, x.hi, farthest, alpha);
            self.derivative_near(right, touches.1)
        } else {
            chord
        };
        let convex = self.least_convex(left, touches.0, slope).min(self.least_convex(right, touches.1, slope));
        let inner = Interval { lo: first.hi.clamp(x.lo, x.hi), hi: second.lo.clamp(x.lo, x.hi) };
        let least = convex.min(self.least_at_ends(inner, slope));
        Side::line(slope, least.min(self.least_in_slivers(x, [first, second], slope)))
    }

    /// A lower bound of f(x) − slope·x over the slivers in which a curve turns, as far as they lie in a range.
    fn least_in_slivers(&self, x: Interval, slivers: [Interval; 2], slope: f64) -> f64 {
        let inside = |sliver: Interval| Interval { lo: sliver.lo.clamp(x.lo, x.hi), hi: sliver.hi.clamp(x.lo, x.hi) };
        slivers.map(|sliver| self.least_enclosed(inside(sliver), slope)).into_iter().fold(f64::INFINITY, f64::min)
    }

    /// About where a convex piece has a slope; anywhere in it will do.
    fn where_steep(&self, piece: Interval, slope: f64) -> f64 {
        let (mut low, mut high) = (piece.lo, piece.hi);
        for _ in 0..60 {
            let at = low / 2.0 + high / 2.0;
            if self.derivative_near(piece, at) < slope { low = at } else { high = at }
        }
        (low / 2.0 + high / 2.0).clamp(piece.lo, piece.hi)
    }

    fn chord(&self, x: Interval) -> f64 {
        (self.value_near(x.hi) - self.value_near(x.lo)) / (x.hi - x.lo)
    }

    /// The place in the convex piece between `far` and `turn` whose tangent passes through the curve at `end`,
    /// approximately and rather nearer to `far`; nothing if the tangent at `far` passes above it already.
    fn tangent_through(&self, end: f64, piece: Interval, far: f64, turn: f64) -> Option<f64> {
        let target = self.value_near(end);
        let excess = |d: f64| self.value_near(d) + self.derivative_near(piece, d) * (end - d) - target;
        let (mut good, mut bad) = (far, turn);
        let (mut good_excess, mut bad_excess) = (excess(good), excess(bad));
        if good_excess.is_nan() || good_excess > 0.0 {
            return None;
        }
        if bad_excess <= 0.0 {
            return Some(turn);
        }
        // False position with halving of the stale end; every third step bisects, for curves that are flat far out.
        for step in 0..60 {
            let aim = match step % 3 {
                2 => good / 2.0 + bad / 2.0,
                _ => (good * bad_excess - bad * good_excess) / (bad_excess - good_excess),
            };
            if !(good.min(bad) < aim && aim < good.max(bad)) {
                break;
            }
            let found = excess(aim);
            if found <= 0.0 {
                (good, good_excess, bad_excess) = (aim, found, bad_excess / 2.0);
                if found > -1e-15 * (1.0 + target.abs()) {
                    break;
                }
            } else {
                (bad, bad_excess, good_excess) = (aim, found, good_excess / 2.0);
            }
        }
        Some(good)
    }

    /// A lower bound of f(x) − slope·x where f is convex, from a supporting line at `touch`.
    fn least_convex(&self, x: Interval, touch: f64, slope: f64) -> f64 {
        let (slope, place) = (Interval::point(slope), Interval::point(touch));
        let at_touch = self.signed(self.curve.value(place)) - slope * place;
        let turned = (self.signed(self.curve.derivative(x, touch)) - slope) * (x - place);
        (at_touch + turned).lo
    }

    /// A lower bound of f(x) − slope·x where f is concave.
    fn least_at_ends(&self, x: Interval, slope: f64) -> f64 {
        let least = |end: f64| self.least_enclosed(Interval::point(end), slope);
        least(x.lo).min(least(x.hi))
    }

    /// A lower bound of f(x) − slope·x, whatever f is like there.
    fn least_enclosed(&self, x: Interval, slope: f64) -> f64 {
        (self.signed(self.curve.value(x)) - Interval::point(slope) * x).lo
    }
}
