//! Cells of a state space that can be reached, darker the later, and box plots beside one another.

pub use crate::scale::Axis;
use crate::scale::{self, number};
use crate::state_sets::{Along, Sets};
use crate::svg::{Anchor, Drawing, text_width};

/// A cell.
#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    /// Its ends to the right.
    pub across: (f64, f64),
    /// Its ends upwards.
    pub up: (f64, f64),
    /// The step after which it was met.
    pub step: usize,
}

/// Cells to draw.
#[derive(Clone, Debug)]
pub struct Cells<'d> {
    /// The first line.
    pub title: String,
    /// What runs to the right.
    pub across: Axis,
    /// What runs upwards.
    pub up: Axis,
    /// The cells.
    pub cells: Vec<Cell>,
    /// Sets of states that are drawn over them, and the elements of the state that the axes show.
    pub sets: Option<(Sets<'d>, [Along<'d>; 2])>,
    /// The last line.
    pub caption: String,
}

pub(crate) const LEFT: f64 = 90.0;
pub(crate) const TOP: f64 = 44.0;
pub(crate) const WIDTH: f64 = 560.0;
pub(crate) const HEIGHT: f64 = 380.0;

/// A picture of cells. Nothing if an axis has no extent.
pub fn draw(own: &Cells<'_>) -> Option<String> {
    let extent = |axis: &Axis| axis.upper - axis.lower;
    if !(extent(&own.across) > 0.0 && extent(&own.up) > 0.0) {
        return None;
    }
    let width = (LEFT + WIDTH + 30.0).max(text_width(&own.title) * 1.3 + 40.0).max(text_width(&own.caption) + 40.0);
    let mut drawing = Drawing::new(width, TOP + HEIGHT + 80.0);
    drawing.heading(16.0, 26.0, &own.title);
    let right = |value: f64| LEFT + WIDTH * (value - own.across.lower) / extent(&own.across);
    let above = |value: f64| TOP + HEIGHT * (1.0 - (value - own.up.lower) / extent(&own.up));
    let last = own.cells.iter().map(|cell| cell.step).max().unwrap_or(0).max(1);
    for cell in &own.cells {
        let (x, end) = (right(cell.across.0), right(cell.across.1));
        let (top, bottom) = (above(cell.up.1), above(cell.up.0));
        let fill = shade(cell.step as f64 / last as f64);
        // A cell that is thinner than a line is drawn as one.
        let (wide, high) = ((end - x).max(0.7), (bottom - top).max(0.7));
        drawing.path(&format!("M{x:.1} {top:.1}h{wide:.1}v{high:.1}h-{wide:.1}z"), "heat", &fill, "");
    }
    if let Some((sets, [across, up])) = &own.sets {
        let plot =
            scale::Plot { rectangle: [LEFT, TOP, WIDTH, HEIGHT], across: own.across.clone(), up: own.up.clone() };
        sets.draw(&mut drawing, &plot, *across, *up);
        sets.draw_initial(&mut drawing, &plot, *across, *up);
    }
    frame(&mut drawing, &own.across, &own.up, right, above);
    drawing.text(16.0, TOP + HEIGHT + 64.0, Anchor::Start, &own.caption);
    Some(drawing.finish(None).standalone())
}

/// From light to dark as time goes on, in lightness alone, so grey is enough.
pub(crate) fn shade(share: f64) -> String {
    let level = |light: f64, dark: f64| (light + (dark - light) * share).round() as u8;
    format!("#{:02x}{:02x}{:02x}", level(178.0, 23.0), level(213.0, 55.0), level(235.0, 94.0))
}

pub(crate) fn frame(
    drawing: &mut Drawing,
    across: &Axis,
    up: &Axis,
    right: impl Fn(f64) -> f64,
    above: impl Fn(f64) -> f64,
) {
    drawing.rectangle([LEFT, TOP, WIDTH, HEIGHT], "frame", "");
    for tick in across.ticks(5.0) {
        let x = right(tick);
        drawing.line([x, TOP + HEIGHT, x, TOP + HEIGHT + 5.0], "tick");
        drawing.text(x, TOP + HEIGHT + 19.0, Anchor::Middle, &number(tick));
    }
    for tick in up.ticks(5.0) {
        let y = above(tick);
        drawing.line([LEFT - 5.0, y, LEFT, y], "tick");
        drawing.text(LEFT - 9.0, y + 4.0, Anchor::End, &number(tick));
    }
    drawing.text(LEFT + WIDTH / 2.0, TOP + HEIGHT + 38.0, Anchor::Middle, &across.name);
    drawing.upright_text(20.0, TOP + HEIGHT / 2.0, &up.name);
}

/// Five numbers with a name: the smallest, the quartiles, the largest.
pub type Plot = (String, [f64; 5]);

/// Box plots of some samples, beside one another. Nothing if a number is not finite or there is none.
pub fn box_plots(title: &str, quantity: &str, plots: &[Plot]) -> Option<String> {
    let numbers = || plots.iter().flat_map(|(_, five)| five.iter().copied());
    if plots.is_empty() || numbers().any(|number| !number.is_finite()) {
        return None;
    }
    let (lowest, highest) = numbers().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), n| (a.min(n), b.max(n)));
    let room = if highest > lowest { (highest - lowest) / 20.0 } else { 1.0 };
    let up = Axis { name: quantity.to_owned(), lower: lowest - room, upper: highest + room };
    let above = |value: f64| TOP + HEIGHT * (1.0 - (value - up.lower) / (up.upper - up.lower));
    let mut drawing = Drawing::new(LEFT + WIDTH + 30.0, TOP + HEIGHT + 60.0);
    drawing.heading(16.0, 26.0, title);
    let across = Axis { name: String::new(), lower: 0.0, upper: 0.0 };
    let column = WIDTH / plots.len() as f64;
    for (place, (name, [least, first, median, third, most])) in plots.iter().enumerate() {
        let middle = LEFT + column * (place as f64 + 0.5);
        let half = (column / 4.0).min(50.0);
        drawing.line([middle, above(*least), middle, above(*first)], "tick");
        drawing.line([middle, above(*third), middle, above(*most)], "tick");
        for end in [least, most] {
            drawing.line([middle - half / 2.0, above(*end), middle + half / 2.0, above(*end)], "tick");
        }
        let title = format!("{name}: {least}, {first}, {median}, {third}, {most}");
        drawing.rectangle(
            [middle - half, above(*third), 2.0 * half, (above(*first) - above(*third)).max(0.5)],
            "holds edged",
            &title,
        );
        drawing.bold_line([middle - half, above(*median), middle + half, above(*median)]);
        drawing.text(middle, TOP + HEIGHT + 19.0, Anchor::Middle, name);
    }
    frame(&mut drawing, &across, &up, |_| LEFT - 1000.0, above);
    Some(drawing.finish(None).standalone())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn later_cells_are_darker() {
        let axis = |name: &str| Axis { name: name.to_owned(), lower: 0.0, upper: 2.0 };
        let cell = |at: f64, step| Cell { across: (at, at + 1.0), up: (0.0, 1.0), step };
        let own = Cells {
            title: "a & b".to_owned(),
            across: axis("p"),
            up: axis("v"),
            cells: vec![cell(0.0, 0), cell(1.0, 9)],
            sets: None,
            caption: String::new(),
        };
        let picture = draw(&own).unwrap();
        assert!(picture.contains(r##"M90.0 234.0h280.0v190.0h-280.0z" class="heat" fill="#b2d5eb""##), "{picture}");
        assert!(picture.contains(r##"M370.0 234.0h280.0v190.0h-280.0z" class="heat" fill="#17375e""##), "{picture}");
        assert!(picture.contains("a &amp; b"));
        assert!(draw(&Cells { up: Axis { upper: 0.0, ..axis("v") }, ..own }).is_none());
    }

    #[test]
    fn a_box_stands_between_its_quartiles() {
        let picture = box_plots("returns", "return", &[("network".to_owned(), [0.0, 1.0, 2.0, 3.0, 4.0])]).unwrap();
        assert!(picture.contains("network: 0, 1, 2, 3, 4"), "{picture}");
        assert!(box_plots("returns", "return", &[("none".to_owned(), [f64::NAN; 5])]).is_none());
    }
}
