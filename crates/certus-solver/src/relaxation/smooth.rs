//! Relaxations of smooth functions by tangents and chords: one convex or concave piece, or one of each; [`two_inflections`]
//! has what is left.
//!
//! Tangent and chord lines of S-shaped activations are those of CROWN (Zhang et al., NeurIPS 2018) and DeepPoly (Singh et
//! al., POPL 2019). *Departures:* any function that knows its curvature has them, tangents are searched by Newton steps,
//! and which tangent is taken is a parameter α that can be optimised.
//!
//! Everything is reduced to *the line below*: the line above f is the mirror image of the line below −f, and a function
//! that is concave first is read from right to left. Three cases are left.
//! * Concave: f(x) − s·x is concave and has its minimum at an end. The slope is the chord's.
//! * Convex: f(x) ≥ f(m) + f'(m)(x − m) for every m. With s the rounded f'(m) this is
//!   f(x) − s·x ≥ (f(m) − s·m) + (f'(m) − s)(x − m), whose last term is enclosed over the piece; it is tiny, since s is
//!   off by rounding only, but the inequality holds for any s.
//! * Convex up to c, concave after: the minimum of f(x) − s·x is over the convex part, bounded as before, or at the end
//!   of the concave part. Tangents at d run from the convex end (t = 0) to the d whose tangent meets the function
//!   at the concave end (t = 1); that d is found by Newton steps in floats, and only tightness depends on it. Where
//!   already the tangent at the convex end passes above the other end, the chord lies below the function.
//!
//! The default is the line closest to the function in the middle of the range: the tangent there, or the nearest useful
//! one.
//!
//! A breakpoint at c (exponential linear units) leaves a gap between the last tangent and the line from (c, f(c)) to the
//! concave end; then the second half of the range of α turns the line about the breakpoint.

use certus_graph::Interval;
use certus_graph::interval::{add_up, mul_up, sub_down, sub_up};
use certus_graph::ops::{Curvature, Side, Smooth};

use super::{Alpha, Line, Relaxation, between, two_inflections};

/// The useful lines below a function that is convex up to an inflection and concave from there.
#[derive(Clone, Copy)]
enum Family {
    Chord,
    /// Tangents, from the convex end to this point.
    Tangents {
        farthest: f64,
    },
    /// Tangents up to the breakpoint, then lines about it between these slopes.
    AboutBreakpoint {
        breakpoint: f64,
        flattest: f64,
        steepest: f64,
    },
}

/// ±f(±x) over a range, with the values at its ends.
pub(super) struct View<'f, F: ?Sized> {
    function: &'f F,
    /// Read from right to left.
    mirrored: bool,
    /// Read upside down.
    negated: bool,
    pub(super) range: Interval,
    at_low: Interval,
    at_high: Interval,
}

impl<'f, F: Smooth + ?Sized> View<'f, F> {
    fn new(function: &'f F, range: Interval) -> Self {
        let (at_low, _) = function.enclosures(range.lo, Side::Right);
        let (at_high, _) = function.enclosures(range.hi, Side::Left);
        View { function, mirrored: false, negated: false, range, at_low, at_high }
    }

    fn negate(&self) -> Self {
        View { negated: !self.negated, at_low: -self.at_low, at_high: -self.at_high, ..*self }
    }

    pub(super) fn mirror(&self) -> Self {
        let (at_low, at_high) = (self.at_high, self.at_low);
        View { mirrored: !self.mirrored, range: -self.range, at_low, at_high, ..*self }
    }

    pub(super) fn floats(&self, x: f64) -> [f64; 3] {
        let [value, slope, curvature] = self.function.floats(if self.mirrored { -x } else { x });
        let sign = if self.negated { -1.0 } else { 1.0 };
        [sign * value, if self.mirrored { -sign * slope } else { sign * slope }, sign * curvature]
    }

    fn enclosures(&self, x: f64, side: Side) -> (Interval, Interval) {
        let (at, side) = match (self.mirrored, side) {
            (false, side) => (x, side),
            (true, Side::Left) => (-x, Side::Right),
            (true, Side::Right) => (-x, Side::Left),
        };
        let (value, slope) = self.function.enclosures(at, side);
        let value = if self.negated { -value } else { value };
        (value, if self.negated != self.mirrored { -slope } else { slope })
    }

    /// The slope between the ends; where their difference drowns in rounding, that of the tangent in the middle.
    pub(super) fn chord_slope(&self) -> f64 {
        let width = self.range.hi - self.range.lo;
        let (low, high) = (middle(self.at_low), middle(self.at_high));
        let scale = low.abs() + high.abs();
        let narrow = width <= 1e-4 * (1.0 + self.range.magnitude());
        if narrow && (high - low).abs() <= 1e-9 * scale {
            return self.floats(middle(self.range))[1];
        }
        (high - low) / width
    }

    /// The smaller offset at the two ends.
    pub(super) fn offset_at_ends(&self, slope: f64) -> f64 {
        let at = |x: f64, value: Interval| sub_down(value.lo, mul_up(slope, x));
        at(self.range.lo, self.at_low).min(at(self.range.hi, self.at_high))
    }

    fn chord(&self) -> Line {
        let slope = self.chord_slope();
        Line { slope, offset: self.offset_at_ends(slope) }
    }

    /// How far the tangent at d passes below the upper end, and how that changes with d: it falls where the function is
    /// convex.
    pub(super) fn miss(&self) -> impl Fn(f64) -> (f64, f64) {
        let target = middle(self.at_high);
        let end = self.range.hi;
        move |d: f64| {
            let [value, slope, curvature] = self.floats(d);
            (target - value - slope * (end - d), -curvature * (end - d))
        }
    }

    /// An offset of a line below a convex part, from the tangent at `touch`.
    pub(super) fn offset_by_tangent(&self, slope: f64, touch: f64, side: Side, part: (f64, f64)) -> f64 {
        offset_by_tangent(self.enclosures(touch, side), slope, touch, part)
    }

    /// The tangent at a share of the way through a convex range.
    fn tangent(&self, t: f64) -> Line {
        let touch = between(self.range.lo, self.range.hi, t);
        let side = if touch > self.range.lo { Side::Left } else { Side::Right };
        let tangent = self.enclosures(touch, side);
        let slope = middle(tangent.1);
        Line { slope, offset: offset_by_tangent(tangent, slope, touch, (self.range.lo, self.range.hi)) }
    }

    /// The lines below a function that is convex up to `inflection` and concave from there.
    fn family(&self, inflection: Interval) -> Family {
        let Interval { lo: start, hi: end } = self.range;
        let last = inflection.lo.clamp(start, end);
        let miss = self.miss();
        let at_start = miss(start).0;
        if at_start.is_nan() || at_start <= 0.0 {
            return Family::Chord;
        }
        if self.function.has_breakpoint() && last < end {
            let (at_kink, exact) = self.enclosures(last, Side::Left);
            let (flattest, steepest) = (middle(exact), (middle(self.at_high) - middle(at_kink)) / (end - last));
            if steepest >= flattest {
                return Family::AboutBreakpoint { breakpoint: last, flattest, steepest };
            }
        }
        // For a cubic the guess is exact.
        let guess = last - ((end - last) / 2.0).min(self.function.reach());
        Family::Tangents { farthest: falling_root(miss, start, last, guess) }
    }

    /// The share of a family whose line is highest in the middle of the range.
    fn best_in_the_middle(&self, family: Family) -> f64 {
        let (start, middle) = (self.range.lo, middle(self.range));
        match family {
            Family::Chord => 1.0,
            Family::Tangents { farthest } => share_nearest(start, farthest, middle),
            Family::AboutBreakpoint { breakpoint, .. } if middle >= breakpoint => 1.0,
            Family::AboutBreakpoint { breakpoint, .. } => share_nearest(start, breakpoint, middle) / 2.0,
        }
    }

    /// The line below a function that is convex up to `inflection` and concave from there.
    fn below_inflected(&self, inflection: Interval, t: f64) -> Line {
        let Interval { lo: start, hi: end } = self.range;
        let family = self.family(inflection);
        let t = if t.is_nan() { self.best_in_the_middle(family) } else { t };
        let tangent_at = |touch: f64| {
            let side = if touch > start { Side::Left } else { Side::Right };
            (touch, self.enclosures(touch, side))
        };
        let (slope, (touch, tangent)) = match family {
            Family::Chord => (self.chord_slope(), tangent_at(start)),
            Family::AboutBreakpoint { breakpoint, flattest, steepest } if t > 0.5 => {
                (between(flattest, steepest, 2.0 * t - 1.0), tangent_at(breakpoint))
            }
            Family::AboutBreakpoint { breakpoint, .. } => {
                with_own_slope(tangent_at(between(start, breakpoint, 2.0 * t)))
            }
            Family::Tangents { farthest } => with_own_slope(tangent_at(between(start, farthest, t))),
        };
        let offset = offset_by_tangent(tangent, slope, touch, (start, inflection.hi.clamp(start, end)));
        Line { slope, offset: offset.min(self.offset_at_ends(slope)) }
    }

    /// The share that the line below takes if nothing else is asked for.
    fn default_share(&self, curvature: Curvature) -> f64 {
        match curvature {
            Curvature::Convex | Curvature::Concave => 0.5,
            Curvature::ConvexConcave(inflection) => self.best_in_the_middle(self.family(inflection)),
            Curvature::ConcaveConvex(inflection) => self.mirror().default_share(Curvature::ConvexConcave(-inflection)),
            Curvature::ConvexConcaveConvex(first, second) => two_inflections::humped_share(self, first, second),
            Curvature::ConcaveConvexConcave(first, second) => two_inflections::hollow_share(self, first, second),
        }
    }

    /// The line below; a share that is no number stands for the default.
    fn below(&self, curvature: Curvature, t: f64) -> Line {
        match curvature {
            Curvature::Convex => self.tangent(if t.is_nan() { 0.5 } else { t }),
            Curvature::Concave => self.chord(),
            Curvature::ConvexConcave(inflection) => self.below_inflected(inflection, t),
            Curvature::ConcaveConvex(inflection) => {
                let line = self.mirror().below_inflected(-inflection, t);
                Line { slope: -line.slope, offset: line.offset }
            }
            Curvature::ConvexConcaveConvex(first, second) => two_inflections::below_humped(self, first, second, t),
            Curvature::ConcaveConvexConcave(first, second) => two_inflections::below_hollow(self, first, second, t),
        }
    }
}

/// A point with the value and the slope there, as a tangent.
type Tangent = (f64, (Interval, Interval));

fn with_own_slope(tangent: Tangent) -> (f64, Tangent) {
    (middle(tangent.1.1), tangent)
}

/// An offset of a line with this slope below a convex function, from its value and exact slope at `touch`.
fn offset_by_tangent((value, exact): (Interval, Interval), slope: f64, touch: f64, (start, end): (f64, f64)) -> f64 {
    let steeper = mul_up(sub_up(exact.hi, slope), sub_up(touch, start));
    let flatter = mul_up(sub_up(slope, exact.lo), sub_up(end, touch));
    let slack = steeper.max(flatter).max(0.0);
    sub_down(value.lo, add_up(mul_up(slope, touch), slack))
}

fn middle(x: Interval) -> f64 {
    x.lo / 2.0 + x.hi / 2.0
}

/// Which share of the way from `from` to `to` is nearest to `at`.
pub(super) fn share_nearest(from: f64, to: f64, at: f64) -> f64 {
    let share = (at - from) / (to - from);
    if share.is_nan() { 1.0 } else { share.clamp(0.0, 1.0) }
}

/// A root of a falling function between `low` and `high`, by Newton steps that fall back to bisection. It need not be
/// exact.
pub(super) fn falling_root(function: impl Fn(f64) -> (f64, f64), low: f64, high: f64, guess: f64) -> f64 {
    const STEPS: usize = 64;
    // Newton steps square the error: after one of this size there is nothing left to gain.
    const CLOSE: f64 = 1e-5;
    let (mut low, mut high) = (low, high);
    let mut x = guess.max(low).min(high);
    for _ in 0..STEPS {
        let (value, change) = function(x);
        if value > 0.0 {
            low = x;
        } else {
            high = x;
        }
        let step = value / change;
        let next = x - step;
        if next >= low && next <= high {
            x = next;
            if step.abs() <= CLOSE * (high - low).min(1.0 + x.abs()) {
                break;
            }
        } else {
            x = low / 2.0 + high / 2.0;
            if x <= low || x >= high {
                break;
            }
        }
    }
    x
}

/// Lines below and above.
pub(super) fn relax(function: &(impl Smooth + ?Sized), curvature: Curvature, x: Interval, alpha: Alpha) -> Relaxation {
    let view = View::new(function, x);
    let below = view.below(curvature, alpha.lower);
    let above = view.negate().below(curvature.negated(), alpha.upper);
    Relaxation::new(below, Line { slope: -above.slope, offset: -above.offset })
}

/// One of the two lines: below, or above.
pub(super) fn line(
    function: &(impl Smooth + ?Sized),
    curvature: Curvature,
    x: Interval,
    below: bool,
    share: f64,
) -> Line {
    let view = View::new(function, x);
    if below {
        return view.below(curvature, share);
    }
    let above = view.negate().below(curvature.negated(), share);
    Line { slope: -above.slope, offset: -above.offset }
}

/// The alphas whose lines are closest in the middle of the range.
pub(super) fn default_alpha(function: &(impl Smooth + ?Sized), curvature: Curvature, x: Interval) -> Alpha {
    if let Curvature::Convex | Curvature::Concave = curvature {
        return Alpha { lower: 0.5, upper: 0.5 };
    }
    let view = View::new(function, x);
    Alpha { lower: view.default_share(curvature), upper: view.negate().default_share(curvature.negated()) }
}

/// Where to cut a range: at an inflection that is well inside; else where the function is farthest from its chord.
pub(super) fn split_point(function: &(impl Smooth + ?Sized), curvature: Curvature, x: Interval) -> f64 {
    let width = x.hi - x.lo;
    let inner = (x.lo + INNER * width, x.hi - INNER * width);
    let inflections = match curvature {
        Curvature::Convex | Curvature::Concave => {
            let slope = View::new(function, x).chord_slope();
            let sign = if curvature == Curvature::Convex { 1.0 } else { -1.0 };
            let excess = |at: f64| {
                let [_, here, curvature] = function.floats(at);
                (sign * (slope - here), -sign * curvature)
            };
            return falling_root(excess, x.lo, x.hi, middle(x)).max(inner.0).min(inner.1);
        }
        Curvature::ConvexConcave(inflection) | Curvature::ConcaveConvex(inflection) => [inflection, inflection],
        Curvature::ConvexConcaveConvex(first, second) | Curvature::ConcaveConvexConcave(first, second) => {
            [first, second]
        }
    };
    let distance = |inflection: &f64| (inflection - middle(x)).abs();
    let inflections =
        inflections.map(middle).into_iter().filter(|&inflection| inner.0 <= inflection && inflection <= inner.1);
    inflections.min_by(|a, b| distance(a).total_cmp(&distance(b))).unwrap_or(middle(x))
}

/// Splits keep at least this share of the range on each side.
const INNER: f64 = 0.1;
