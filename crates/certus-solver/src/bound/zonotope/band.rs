//! Curves as one slope and a band: the parallelogram that an affine form takes of a curve.
//!
//! For ReLU the slope is the chord's, which gives the parallelogram of least area (DeepZ); any slope is sound, since the
//! band is enclosed for the slope as it was rounded.

use certus_graph::Interval;
use certus_graph::ops::Family;

use crate::relaxation::{Alpha, Curve};

/// A slope, and what a curve's value may be beyond slope · x.
pub fn band(curve: &Curve, range: Interval) -> (f64, Interval) {
    let chord = || (curve.value(range.hi) - curve.value(range.lo)) / (range.hi - range.lo);
    // A line parallel to the chord, where the family has one.
    let parallel = match curve.family() {
        Some(Family::Breakpoint { negative_slope }) if negative_slope != 1.0 => {
            Some((chord() - negative_slope) / (1.0 - negative_slope))
        }
        _ => None,
    };
    let lines = match parallel {
        Some(alpha) => curve.relax(range, Alpha { lower: alpha, upper: alpha }),
        None => curve.default_relaxation(range),
    };
    // Between the slopes of both lines every slope gives a band of the same width.
    let slope = if lines.lower_slope == lines.upper_slope {
        lines.lower_slope
    } else {
        lines.lower_slope / 2.0 + lines.upper_slope / 2.0
    };
    let beyond =
        |own: f64, offset: f64| (Interval::point(own) - Interval::point(slope)) * range + Interval::new(offset, offset);
    let rest = Interval::new(
        beyond(lines.lower_slope, lines.lower_offset).lo,
        beyond(lines.upper_slope, lines.upper_offset).hi,
    );
    let values = curve.enclose(range);
    if rest.width() < values.width() { (slope, rest) } else { (0.0, values) }
}
