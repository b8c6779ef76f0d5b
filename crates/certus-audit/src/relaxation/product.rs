//! McCormick planes below and above x·y over a box (McCormick, Mathematical Programming 1976).
//!
//! x·y − a·x − b·y is affine in each of x and y, so its extremes over a box are at corners, whatever a and b are.

use certus_graph::Interval;

use super::{Alpha, Side, Sides};

/// The alpha where a certificate names none.
pub(crate) const PRODUCT_ALPHA: Alpha = Alpha { lower: 0.5, upper: 0.5 };

/// Planes below and above x·y, which is known to lie in `value`. Leans mix the two planes of McCormick on each side.
pub(crate) fn product_sides(x: Interval, y: Interval, value: Interval, alpha: Alpha) -> Sides {
    let mix = |first: f64, second: f64, part: f64| (1.0 - part) * first + part * second;
    let lower = [mix(y.lo, y.hi, alpha.lower), mix(x.lo, x.hi, alpha.lower)];
    let upper = [mix(y.hi, y.lo, alpha.upper), mix(x.lo, x.hi, alpha.upper)];
    let corners = [(x.lo, y.lo), (x.lo, y.hi), (x.hi, y.lo), (x.hi, y.hi)];
    let distance = |[a, b]: [f64; 2]| {
        let [a, b] = [Interval::point(a), Interval::point(b)];
        let at = |(x, y): (f64, f64)| {
            let (x, y) = (Interval::point(x), Interval::point(y));
            x * y - a * x - b * y
        };
        corners.into_iter().map(at).reduce(Interval::hull).unwrap_or_default()
    };
    let lower = Side { slope: lower[0], other: lower[1], offset: distance(lower).lo };
    let upper = Side { slope: upper[0], other: upper[1], offset: distance(upper).hi };
    Sides { lower: lower.or_constant(value.lo), upper: upper.or_constant(value.hi) }
}
