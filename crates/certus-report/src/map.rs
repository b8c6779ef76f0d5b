//! A box of one or two parameters, partitioned into where a property holds, where it is violated, and what is open.

pub use crate::scale::Axis;
use crate::scale::number;
pub use crate::style::Kind;
use crate::svg::{Anchor, Drawing, Picture, text_width};

/// A cell.
#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    /// Its ends along each axis.
    pub ends: Vec<(f64, f64)>,
    /// What it says.
    pub kind: Kind,
}

/// A map to draw.
#[derive(Clone, Debug, PartialEq)]
pub struct Map {
    /// The first line.
    pub title: String,
    /// One axis or two; the first runs to the right.
    pub axes: Vec<Axis>,
    /// The cells.
    pub cells: Vec<Cell>,
    /// A value on each axis to mark: where the system stands.
    pub mark: Option<Vec<f64>>,
    /// The legend, in its order.
    pub legend: Vec<(Kind, String)>,
}

const LEFT: f64 = 80.0;
const TOP: f64 = 44.0;
const SIDE: f64 = 400.0;
const STRIP: f64 = 60.0;

/// Draws a map as a file. Nothing if it has no axis, or more than two.
pub fn draw(map: &Map) -> Option<String> {
    picture(map).map(|picture| picture.standalone())
}

/// Draws a map. Nothing if it has no axis, or more than two.
pub fn picture(map: &Map) -> Option<Picture> {
    let (across, up) = match map.axes.as_slice() {
        [across] => (across, None),
        [across, up] => (across, Some(up)),
        _ => return None,
    };
    let depth = if up.is_some() { SIDE } else { STRIP };
    let longest = map.legend.iter().map(|(_, text)| text_width(text)).fold(0.0, f64::max);
    let width = (LEFT + SIDE + 30.0).max(LEFT + longest + 40.0).max(text_width(&map.title) * 1.3 + 40.0);
    let height = TOP + depth + 56.0 + 20.0 * map.legend.len() as f64;
    let mut drawing = Drawing::new(width, height);
    drawing.heading(16.0, 26.0, &map.title);
    let right = |value: f64| LEFT + SIDE * across.share(value);
    let above = |value: f64| TOP + depth * (1.0 - up.map_or(0.0, |up| up.share(value)));
    for cell in &map.cells {
        let (x, end) = (right(cell.ends[0].0), right(cell.ends[0].1));
        let (top, bottom) = match (up, cell.ends.get(1)) {
            (Some(_), Some(&(low, high))) => (above(high), above(low)),
            _ => (TOP, TOP + depth),
        };
        let names = map.axes.iter().zip(&cell.ends);
        let parts: Vec<String> = names.map(|(axis, (low, high))| format!("{} in [{low}, {high}]", axis.name)).collect();
        let words = map.legend.iter().find(|(kind, _)| *kind == cell.kind).map_or("", |(_, text)| text.as_str());
        let title = format!("{}: {words}", parts.join(", "));
        drawing.rectangle([x, top, end - x, bottom - top], cell.kind.class(), &title);
    }
    drawing.rectangle([LEFT, TOP, SIDE, depth], "frame", "");
    for tick in across.ticks(5.0) {
        let x = right(tick);
        drawing.line([x, TOP + depth, x, TOP + depth + 5.0], "tick");
        drawing.text(x, TOP + depth + 19.0, Anchor::Middle, &number(tick));
    }
    drawing.text(LEFT + SIDE / 2.0, TOP + depth + 38.0, Anchor::Middle, &across.name);
    if let Some(up) = up {
        for tick in up.ticks(5.0) {
            let y = above(tick);
            drawing.line([LEFT - 5.0, y, LEFT, y], "tick");
            drawing.text(LEFT - 9.0, y + 4.0, Anchor::End, &number(tick));
        }
        drawing.upright_text(20.0, TOP + depth / 2.0, &up.name);
    }
    if let Some(mark) = &map.mark {
        let x = right(mark[0]);
        match (up, mark.get(1)) {
            (Some(_), Some(&value)) => {
                let y = above(value);
                drawing.bold_line([x - 6.0, y, x + 6.0, y]);
                drawing.bold_line([x, y - 6.0, x, y + 6.0]);
            }
            _ => drawing.bold_line([x, TOP - 6.0, x, TOP + depth + 6.0]),
        }
    }
    for (index, (kind, text)) in map.legend.iter().enumerate() {
        let y = TOP + depth + 52.0 + 20.0 * index as f64;
        drawing.rectangle([LEFT, y, 16.0, 12.0], &format!("{} edged", kind.class()), "");
        drawing.text(LEFT + 24.0, y + 10.0, Anchor::Start, text);
    }
    Some(drawing.finish(None))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axis(lower: f64, upper: f64) -> Axis {
        Axis { name: "a<b".to_owned(), lower, upper }
    }

    #[test]
    fn cells_fill_their_part_of_the_picture() {
        let cell = |from: f64, to: f64, kind| Cell { ends: vec![(from, to)], kind };
        let map = Map {
            title: "p & q".to_owned(),
            axes: vec![axis(0.0, 4.0)],
            cells: vec![cell(0.0, 1.0, Kind::Holds), cell(1.0, 4.0, Kind::Violated)],
            mark: Some(vec![2.0]),
            legend: vec![(Kind::Holds, "holds".to_owned()), (Kind::Violated, "violated".to_owned())],
        };
        let picture = draw(&map).unwrap();
        assert!(picture.contains(r##"<rect x="80" y="44" width="100" height="60" class="holds""##), "{picture}");
        assert!(picture.contains(r##"<rect x="180" y="44" width="300" height="60" class="violated""##), "{picture}");
        assert!(picture.contains("a&lt;b in [1, 4]: violated"));
        assert!(picture.contains("p &amp; q") && !picture.contains("p & q"));
        assert!(draw(&Map { axes: vec![axis(0.0, 1.0); 3], ..map }).is_none());
    }
}
