//! Axes: where their round numbers are, and how numbers are written.

use crate::svg::{Anchor, Drawing, Geometry};

/// An axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// What it shows.
    pub name: String,
    /// Where it begins.
    pub lower: f64,
    /// Where it ends.
    pub upper: f64,
}

impl Axis {
    /// An axis around finite numbers, with a little air, never of width zero.
    pub(crate) fn around(name: &str, values: impl Iterator<Item = f64>) -> Axis {
        Axis::with_air(name, 0.05, values)
    }

    /// The same with so much air at either end, as a share.
    pub(crate) fn with_air(name: &str, share: f64, values: impl Iterator<Item = f64>) -> Axis {
        let (mut lower, mut upper) = (f64::INFINITY, f64::NEG_INFINITY);
        for value in values.filter(|value| value.is_finite()) {
            lower = lower.min(value);
            upper = upper.max(value);
        }
        if lower > upper {
            (lower, upper) = (0.0, 1.0);
        }
        let air = share * (upper - lower);
        let air = if air > 0.0 { air } else { (0.05 * lower.abs()).max(0.5) };
        Axis { name: name.to_owned(), lower: lower - air, upper: upper + air }
    }

    /// How far along the axis a value is: 0 at its beginning, 1 at its end.
    pub(crate) fn share(&self, value: f64) -> f64 {
        let width = self.upper - self.lower;
        if width > 0.0 { (value - self.lower) / width } else { 0.5 }
    }

    /// Round numbers along the axis, about so many.
    pub(crate) fn ticks(&self, wanted: f64) -> Vec<f64> {
        let width = self.upper - self.lower;
        if !(width > 0.0 && width.is_finite()) {
            return vec![self.lower];
        }
        let rough = width / wanted;
        let power = 10f64.powf(rough.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0].into_iter().map(|factor| factor * power).find(|step| *step >= rough);
        let step = step.unwrap_or(rough);
        let first = (self.lower / step - 1e-9).ceil();
        (0..16)
            .map(|count| (first + f64::from(count)) * step)
            .take_while(|tick| *tick <= self.upper + step * 1e-9)
            .collect()
    }
}

/// A tick's number, without the noise of binary fractions.
pub(crate) fn number(value: f64) -> String {
    if value.abs() >= 1e7 {
        return format!("{value:.1e}");
    }
    let rounded = format!("{value:.6}");
    let short = rounded.trim_end_matches('0').trim_end_matches('.');
    if short == "-0" || short.is_empty() || (short == "0" && value != 0.0) {
        if value.abs() < 1e-300 { "0".to_owned() } else { format!("{value:.1e}") }
    } else {
        short.to_owned()
    }
}

/// A number as tables show it: at most six significant digits, without trailing zeros.
pub(crate) fn short(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return match value {
            v if v == f64::INFINITY => "∞".to_owned(),
            v if v == f64::NEG_INFINITY => "−∞".to_owned(),
            v if v.is_nan() => "not a number".to_owned(),
            _ => "0".to_owned(),
        };
    }
    let magnitude = value.abs().log10().floor();
    if !(-4.0..6.0).contains(&magnitude) {
        return format!("{value:.4e}");
    }
    let text = format!("{value:.*}", (5.0 - magnitude) as usize);
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// A rectangle with two axes.
pub(crate) struct Plot {
    pub(crate) rectangle: [f64; 4],
    pub(crate) across: Axis,
    pub(crate) up: Axis,
}

impl Plot {
    pub(crate) fn x(&self, value: f64) -> f64 {
        self.rectangle[0] + self.rectangle[2] * self.across.share(value)
    }

    pub(crate) fn y(&self, value: f64) -> f64 {
        self.rectangle[1] + self.rectangle[3] * (1.0 - self.up.share(value))
    }

    /// A point; what is infinite or far outside stays at the border's neighbourhood, so that paths stay drawable.
    pub(crate) fn at(&self, x: f64, y: f64) -> (f64, f64) {
        let [left, top, width, height] = self.rectangle;
        (self.x(x).clamp(left - width, left + 2.0 * width), self.y(y).clamp(top - height, top + 2.0 * height))
    }

    /// Frame, ticks and names.
    pub(crate) fn frame(&self, drawing: &mut Drawing) {
        let [left, top, width, height] = self.rectangle;
        drawing.rectangle(self.rectangle, "frame", "");
        for tick in self.across.ticks((width / 80.0).clamp(2.0, 6.0)) {
            let x = self.x(tick);
            drawing.line([x, top + height, x, top + height + 5.0], "tick");
            drawing.text(x, top + height + 18.0, Anchor::Middle, &number(tick));
        }
        drawing.text(left + width / 2.0, top + height + 34.0, Anchor::Middle, &self.across.name);
        if self.up.upper <= self.up.lower {
            return;
        }
        for tick in self.up.ticks((height / 40.0).clamp(2.0, 6.0)) {
            let y = self.y(tick);
            drawing.line([left - 5.0, y, left, y], "tick");
            drawing.text(left - 8.0, y + 4.0, Anchor::End, &number(tick));
        }
        drawing.upright_text(14.0, top + height / 2.0, &self.up.name);
    }

    pub(crate) fn geometry(&self) -> Geometry {
        Geometry {
            plot: self.rectangle,
            across: (self.across.lower, self.across.upper),
            up: (self.up.lower, self.up.upper),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axis(lower: f64, upper: f64) -> Axis {
        Axis { name: String::new(), lower, upper }
    }

    #[test]
    fn ticks_are_round_and_inside() {
        assert_eq!(axis(0.0, 1.0).ticks(5.0), [0.0, 0.2, 0.4, 0.6000000000000001, 0.8, 1.0]);
        assert_eq!(axis(1.0, 10.0).ticks(5.0), [2.0, 4.0, 6.0, 8.0, 10.0]);
        assert_eq!(axis(3.0, 3.0).ticks(5.0), [3.0]);
        assert_eq!(number(0.6000000000000001), "0.6");
        assert_eq!(number(1e-9), "1.0e-9");
        assert_eq!(number(-0.0), "0");
    }

    #[test]
    fn axes_are_never_flat() {
        for values in [vec![], vec![2.0], vec![0.0, 0.0], vec![f64::NAN, f64::INFINITY, 1.0]] {
            let own = Axis::around("x", values.iter().copied());
            assert!(own.lower < own.upper && own.lower.is_finite() && own.upper.is_finite(), "{values:?}: {own:?}");
        }
    }
}
