//! Flowpipes: boxes of states over time or over two variables, with initial states and simulated runs on top.

use crate::cells::{Axis, Cell, HEIGHT, LEFT, TOP, WIDTH, frame, shade};
use crate::svg::{Anchor, Drawing, Picture, text_width};

/// A flowpipe to draw.
#[derive(Clone, Debug, PartialEq)]
pub struct Flowpipe {
    /// The first line.
    pub title: String,
    /// What runs to the right.
    pub across: Axis,
    /// What runs upwards.
    pub up: Axis,
    /// The boxes, with the step that each is at or after.
    pub boxes: Vec<Cell>,
    /// The initial states, to the right and upwards.
    pub initial: ((f64, f64), (f64, f64)),
    /// Simulated runs.
    pub runs: Vec<Vec<(f64, f64)>>,
    /// The last line.
    pub caption: String,
}

/// A picture of a flowpipe. Nothing if an axis has no extent.
pub fn draw(own: &Flowpipe) -> Option<Picture> {
    let extent = |axis: &Axis| axis.upper - axis.lower;
    if !(extent(&own.across) > 0.0 && extent(&own.up) > 0.0) {
        return None;
    }
    let width = (LEFT + WIDTH + 30.0).max(text_width(&own.title) * 1.3 + 40.0).max(text_width(&own.caption) + 40.0);
    let mut drawing = Drawing::new(width, TOP + HEIGHT + 80.0);
    drawing.heading(16.0, 26.0, &own.title);
    let right = |value: f64| LEFT + WIDTH * (value - own.across.lower) / extent(&own.across);
    let above = |value: f64| TOP + HEIGHT * (1.0 - (value - own.up.lower) / extent(&own.up));
    let outline = |across: (f64, f64), up: (f64, f64)| {
        let (x, top) = (right(across.0), above(up.1));
        // A box that is thinner than a line is drawn as one.
        let (wide, high) = ((right(across.1) - x).max(0.7), (above(up.0) - top).max(0.7));
        format!("M{x:.1} {top:.1}h{wide:.1}v{high:.1}h-{wide:.1}z")
    };
    let last = own.boxes.iter().map(|cell| cell.step).max().unwrap_or(0).max(1);
    for cell in &own.boxes {
        drawing.path(&outline(cell.across, cell.up), "heat", &shade(cell.step as f64 / last as f64), "");
    }
    for run in &own.runs {
        let points: Vec<(f64, f64)> = run.iter().map(|&(x, y)| (right(x), above(y))).collect();
        drawing.polyline(&points, "second");
    }
    drawing.path(&outline(own.initial.0, own.initial.1), "start", "", "initial states");
    frame(&mut drawing, &own.across, &own.up, right, above);
    drawing.text(16.0, TOP + HEIGHT + 64.0, Anchor::Start, &own.caption);
    Some(drawing.finish(None))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boxes_runs_and_initial_states_are_drawn() {
        let axis = |name: &str| Axis { name: name.to_owned(), lower: 0.0, upper: 2.0 };
        let own = Flowpipe {
            title: "a & b".to_owned(),
            across: axis("time (s)"),
            up: axis("x"),
            boxes: vec![Cell { across: (0.0, 1.0), up: (0.0, 1.0), step: 0 }],
            initial: ((0.0, 0.0), (0.0, 1.0)),
            runs: vec![vec![(0.0, 0.5), (1.0, 0.25), (2.0, 0.5)]],
            caption: String::new(),
        };
        let picture = draw(&own).unwrap();
        let text = picture.standalone();
        assert!(text.contains("M90.0 234.0h280.0v190.0h-280.0z") && text.contains("time (s)"), "{text}");
        assert_eq!(text.matches(r#"class="second""#).count(), 1, "{text}");
        assert_eq!(text.matches(r#"class="start""#).count(), 1, "{text}");
        assert!(picture.png().starts_with(b"\x89PNG"));
        assert!(draw(&Flowpipe { up: Axis { upper: 0.0, ..axis("x") }, ..own }).is_none());
    }
}
