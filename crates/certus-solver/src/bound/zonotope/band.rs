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
    // Lines parallel to the chord, where the family has them.
    let parallel = match curve.family() {
        Some(Family::Breakpoint { negative_slope }) if negative_slope != 1.0 => {
            let alpha = (chord() - negative_slope) / (1.0 - negative_slope);
            Some(Alpha { lower: alpha, upper: alpha })
        }
        Some(Family::Clip { .. }) => {
            // Slopes are shares of the greatest one.
            let greatest = curve.relax(range, Alpha { lower: 1.0, upper: 1.0 });
            let share = |greatest: f64| (chord() / greatest).min(1.0);
            Some(Alpha { lower: share(greatest.lower_slope), upper: share(greatest.upper_slope) })
        }
        _ => None,
    };
    let lines = match parallel {
        Some(alpha) => curve.relax(range, alpha),
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

#[cfg(test)]
mod tests {
    use certus_graph::ops::Clip;

    use super::*;

    #[test]
    fn bands_of_limits_are_as_narrow_as_their_chord_allows() {
        let clip = Curve::from(Clip { lower: -1.0, upper: 1.0 });
        // Beside one limit, beside the other, and beyond both: the distance of the limits from the chord.
        for (lo, hi, width) in [(0.5, 1.5, 0.25), (-3.0, 0.0, 2.0 / 3.0), (-2.0, 2.0, 1.0), (-1.0, 1.0, 0.0)] {
            let (slope, rest) = band(&clip, Interval { lo, hi });
            let chord = (clip.value(hi) - clip.value(lo)) / (hi - lo);
            assert!((slope - chord).abs() < 1e-12, "{lo} {hi}: {slope}");
            assert!((rest.width() - width).abs() < 1e-12, "{lo} {hi}: {rest:?}");
            for step in 0..=100 {
                let x = lo + (hi - lo) * f64::from(step) / 100.0;
                let off = clip.value(x) - slope * x;
                assert!(rest.lo <= off + 1e-15 && off - 1e-15 <= rest.hi, "{x}: {off} in {rest:?}");
            }
        }
    }
}
