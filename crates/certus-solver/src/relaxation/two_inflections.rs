//! Lines below functions with two inflection points over a range (a sine over more than half a period).
//!
//! * Concave, convex, concave: tangents of the convex part. The one whose tangent meets the function at the lower end
//!   (t = 0) and the one that meets it at the upper end (t = 1) limit the useful ones; if they are in the wrong order,
//!   the chord lies below.
//! * Convex, concave, convex: the chord, unless the function dips below it at once at one end; then tangents of the
//!   convex part there, from its end (t = 0) to the one that meets the function at the opposite end (t = 1).
//!
//! Offsets are the least over the ends and, on each convex part, what a tangent proves; concave parts have their
//! extremes where one of those stands. So every slope is sound.

use certus_graph::Interval;
use certus_graph::ops::{Side, Smooth};

use super::smooth::{View, falling_root, share_nearest};
use super::{Line, between};

/// The points of the convex part of a concave, convex, concave function whose tangents meet the function at the lower
/// and at the upper end.
fn hollow_limits<F: Smooth + ?Sized>(view: &View<'_, F>, from: f64, to: f64) -> (f64, f64) {
    let guess = (from + to) / 2.0;
    (-falling_root(view.mirror().miss(), -to, -from, -guess), falling_root(view.miss(), from, to, guess))
}

/// The part between two inflections, as far as it is certain.
fn inner_part<F: ?Sized>(view: &View<'_, F>, first: Interval, second: Interval) -> (f64, f64) {
    let Interval { lo: start, hi: end } = view.range;
    (first.hi.clamp(start, end), second.lo.clamp(start, end))
}

pub(super) fn hollow_share<F: Smooth + ?Sized>(view: &View<'_, F>, first: Interval, second: Interval) -> f64 {
    let (from, to) = inner_part(view, first, second);
    let (low, high) = hollow_limits(view, from, to);
    share_nearest(low, high, view.range.lo / 2.0 + view.range.hi / 2.0)
}

/// The line below a concave, convex, concave function.
pub(super) fn below_hollow<F: Smooth + ?Sized>(view: &View<'_, F>, first: Interval, second: Interval, t: f64) -> Line {
    let Interval { lo: start, hi: end } = view.range;
    let (from, to) = inner_part(view, first, second);
    let (low, high) = hollow_limits(view, from, to);
    let (slope, touch) = if low <= high {
        let t = if t.is_nan() { share_nearest(low, high, start / 2.0 + end / 2.0) } else { t };
        let touch = between(low, high, t);
        (view.floats(touch)[1], touch)
    } else {
        let slope = view.chord_slope();
        // The slope grows through the convex part: where it is the chord's, the function is farthest below.
        let excess = |x: f64| {
            let [_, here, curvature] = view.floats(x);
            (slope - here, -curvature)
        };
        (slope, falling_root(excess, from, to, (from + to) / 2.0))
    };
    let convex = (first.lo.clamp(start, end), second.hi.clamp(start, end));
    let tangent = view.offset_by_tangent(slope, touch, Side::Left, convex);
    Line { slope, offset: tangent.min(view.offset_at_ends(slope)) }
}

/// The end where a convex, concave, convex function dips below its chord, and the point near it whose tangent meets the
/// function at the opposite end; nothing where it does not dip.
fn dip<F: Smooth + ?Sized>(view: &View<'_, F>, first: Interval, second: Interval) -> Option<(f64, f64)> {
    let Interval { lo: start, hi: end } = view.range;
    let chord = view.chord_slope();
    if view.floats(start)[1] < chord {
        let last = first.lo.clamp(start, end);
        Some((start, falling_root(view.miss(), start, last, last)))
    } else if view.floats(end)[1] > chord {
        let last = second.hi.clamp(start, end);
        Some((end, -falling_root(view.mirror().miss(), -end, -last, -last)))
    } else {
        None
    }
}

pub(super) fn humped_share<F: Smooth + ?Sized>(view: &View<'_, F>, first: Interval, second: Interval) -> f64 {
    let middle = view.range.lo / 2.0 + view.range.hi / 2.0;
    dip(view, first, second).map_or(1.0, |(from, to)| share_nearest(from, to, middle))
}

/// The line below a convex, concave, convex function.
pub(super) fn below_humped<F: Smooth + ?Sized>(view: &View<'_, F>, first: Interval, second: Interval, t: f64) -> Line {
    let Interval { lo: start, hi: end } = view.range;
    let mut touches = (start, end);
    let slope = match dip(view, first, second) {
        Some((from, to)) => {
            let t = if t.is_nan() { share_nearest(from, to, start / 2.0 + end / 2.0) } else { t };
            let touch = between(from, to, t);
            *(if from == start { &mut touches.0 } else { &mut touches.1 }) = touch;
            view.floats(touch)[1]
        }
        None => view.chord_slope(),
    };
    let left = (start, first.hi.clamp(start, end));
    let right = (second.lo.clamp(start, end), end);
    let on_left = view.offset_by_tangent(slope, touches.0, Side::Right, left);
    let on_right = view.offset_by_tangent(slope, touches.1, Side::Left, right);
    Line { slope, offset: on_left.min(on_right).min(view.offset_at_ends(slope)) }
}
