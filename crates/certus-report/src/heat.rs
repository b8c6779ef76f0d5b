//! Polygons that cover a part of a plane, each in the colour of its value, with their outlines.

use crate::scale::{Axis, Plot, number};
use crate::style::{LEVELS, heat};
use crate::svg::{Anchor, Drawing, Picture, place, text_width};

/// A polygon with a value.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// Its corners, in order.
    pub corners: Vec<(f64, f64)>,
    /// Its value, at least zero.
    pub value: f64,
}

/// Polygons to draw.
#[derive(Clone, Debug, PartialEq)]
pub struct Heat {
    /// The first line.
    pub title: String,
    /// What runs to the right, and what upwards.
    pub names: [String; 2],
    /// The polygons. Where they hide each other, the largest value is on top.
    pub parts: Vec<Part>,
}

const RECTANGLE: [f64; 4] = [78.0, 44.0, 460.0, 390.0];
const BAR: f64 = 562.0;

/// A picture of polygons, from zero to the largest value.
pub fn draw(own: &Heat) -> Picture {
    let axis = |name: &str, values: &mut dyn Iterator<Item = f64>| {
        let (lower, upper) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), v| (a.min(v), b.max(v)));
        match lower < upper {
            true => Axis { name: name.to_owned(), lower, upper },
            false => Axis::around(name, [lower].into_iter()),
        }
    };
    let corners = || own.parts.iter().flat_map(|part| part.corners.iter());
    let across = axis(&own.names[0], &mut corners().map(|corner| corner.0));
    let up = axis(&own.names[1], &mut corners().map(|corner| corner.1));
    let plot = Plot { rectangle: RECTANGLE, across, up };
    let [_, top, _, height] = RECTANGLE;
    let mut drawing = Drawing::new((BAR + 110.0).max(text_width(&own.title) * 1.3 + 40.0), top + height + 50.0);
    drawing.heading(16.0, 26.0, &own.title);
    let largest = own.parts.iter().map(|part| part.value).fold(0.0, f64::max);
    let scale = if largest > 0.0 { largest } else { 1.0 };
    let mut order: Vec<&Part> = own.parts.iter().filter(|part| part.corners.len() > 1).collect();
    order.sort_by(|a, b| a.value.total_cmp(&b.value));
    for part in order {
        let mut d = String::new();
        for (index, &(x, y)) in part.corners.iter().enumerate() {
            let (x, y) = plot.at(x, y);
            d += &format!("{}{} {}", if index == 0 { 'M' } else { 'L' }, place(x), place(y));
        }
        let level = (part.value / scale * (LEVELS - 1) as f64).round() as usize;
        drawing.path(&(d + "z"), "cell", &heat(level), &format!("at most {:.3e}", part.value));
    }
    plot.frame(&mut drawing);
    let step = height / LEVELS as f64;
    for level in 0..LEVELS {
        let (y, high) = (place(top + height - (level + 1) as f64 * step), place(step + 0.2));
        drawing.path(&format!("M{BAR} {y}h16v{high}h-16z"), "heat", &heat(level), "");
    }
    for share in [0.0, 0.5, 1.0] {
        let y = top + height * (1.0 - share) + 4.0;
        let text = if scale >= 1e-3 { number(share * scale) } else { format!("{:.2e}", share * scale) };
        drawing.text(BAR + 22.0, y, Anchor::Start, if share == 0.0 { "0" } else { &text });
    }
    drawing.finish(Some(plot.geometry()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_is_drawn_and_the_largest_value_is_on_top() {
        let square =
            |at: f64, value: f64| Part { corners: vec![(at, 0.0), (at + 1.0, 0.0), (at + 1.0, 1.0), (at, 1.0)], value };
        let own = Heat {
            title: "T & U".to_owned(),
            names: ["a<b".to_owned(), "c".to_owned()],
            parts: vec![square(1.0, 0.5), square(0.0, 0.25)],
        };
        let picture = draw(&own);
        let text = picture.standalone();
        assert_eq!(text.matches(r#"class="cell""#).count(), 2);
        let (low, high) = (text.find("at most 2.500e-1").unwrap(), text.find("at most 5.000e-1").unwrap());
        assert!(low < high && text.contains("a&lt;b") && text.contains("T &amp; U"));
        assert!(text.contains(r##"M308 434L538 434L538 44L308 44z" class="cell" fill="#fde725""##), "{text}");
        assert_eq!(&picture.png()[1..4], b"PNG");
        // Nothing to draw, or a single point, is no reason to fail.
        draw(&Heat { parts: vec![Part { corners: vec![(1.0, 1.0)], value: 0.0 }], ..own.clone() });
        draw(&Heat { parts: Vec::new(), ..own });
    }
}
