//! Flowpipes: the sets that runs reach, over time or over two variables, with initial, unsafe and goal states and simulated runs.

use certus_documents::state_sets::{Flowpipe, ReachedBox};

use crate::scale::{Axis, Plot, short};
use crate::state_sets::{Along, Sets, Told};
use crate::svg::{Anchor, Drawing, Picture, place, text_width};

/// What a picture of a flowpipe shows.
#[derive(Clone, Copy, Debug)]
pub struct Shown<'d> {
    /// The first line.
    pub title: &'d str,
    /// The flowpipe.
    pub pipe: &'d Flowpipe,
    /// The sets beside it.
    pub sets: Sets<'d>,
}

/// An axis of such a picture: an element of the state by its place, or time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dimension {
    /// An element of the state, by its place.
    Element(usize),
    /// Time.
    Time,
}

/// Colours of boxes, from early to late.
pub(crate) const SHADES: usize = 16;

/// The rectangle of the plot, and what is above it.
const LEFT: f64 = 78.0;
const TOP: f64 = 44.0;
const WIDTH: f64 = 560.0;
const HEIGHT: f64 = 380.0;

/// How thin boxes may be, and those at instants along time where there are no others.
pub(crate) const LINE_WIDTH: f64 = 0.7;
pub(crate) const BAR: f64 = 5.0;

/// How many characters a line of the legend has.
const LINE: usize = 88;

impl Dimension {
    /// What an axis is called.
    pub(crate) fn name(self, pipe: &Flowpipe) -> String {
        match self {
            Dimension::Element(place) => pipe.axes[place].clone(),
            Dimension::Time if pipe.step_seconds.is_some() => "time (s)".to_owned(),
            Dimension::Time => "time (steps)".to_owned(),
        }
    }

    fn along(self, pipe: &Flowpipe) -> Along<'_> {
        match self {
            Dimension::Element(place) => Along::Variable(&pipe.axes[place]),
            Dimension::Time => Along::Time(seconds(pipe)),
        }
    }

    /// Where a box lies along it.
    fn ends(self, pipe: &Flowpipe, own: &ReachedBox) -> (f64, f64) {
        match self {
            Dimension::Element(place) => (own.ends[place][0].0, own.ends[place][1].0),
            Dimension::Time => (own.from.0 * seconds(pipe), own.to.0 * seconds(pipe)),
        }
    }
}

/// How long a step is along an axis of time.
pub(crate) fn seconds(pipe: &Flowpipe) -> f64 {
    pipe.step_seconds.map_or(1.0, |own| own.0)
}

/// Where the boxes lie, and a little more. Nothing if that is nowhere, or has no end.
pub(crate) fn axis(pipe: &Flowpipe, dimension: Dimension) -> Option<Axis> {
    let ends = pipe.boxes.iter().map(|own| dimension.ends(pipe, own));
    let (lower, upper) = ends.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), own| (a.min(own.0), b.max(own.1)));
    let name = dimension.name(pipe);
    match upper - lower {
        room if !room.is_finite() => None,
        room if room > 0.0 => Some(Axis { name, lower: lower - room / 50.0, upper: upper + room / 50.0 }),
        _ => Some(Axis::around(&name, [lower].into_iter())),
    }
}

/// The number of a box's colour: later ones are darker.
pub(crate) fn level(own: &ReachedBox, last: f64) -> usize {
    let share = if last > 0.0 { own.from.0 / last } else { 0.0 };
    (share.clamp(0.0, 1.0) * (SHADES - 1) as f64).round() as usize
}

/// That colour: from light to dark in lightness alone, so grey is enough.
pub(crate) fn shade(level: usize) -> String {
    crate::cells::shade(level as f64 / (SHADES - 1) as f64)
}

/// When the last box begins.
pub(crate) fn last(pipe: &Flowpipe) -> f64 {
    pipe.boxes.iter().map(|own| own.from.0).fold(0.0, f64::max)
}

/// Draws boxes, sets and runs within a plot, without its frame; what the legend says of it.
pub(crate) fn draw_within(
    drawing: &mut Drawing,
    plot: &Plot,
    shown: &Shown<'_>,
    across: Dimension,
    up: Dimension,
) -> Vec<Told> {
    let pipe = shown.pipe;
    let (along, upwards) = (across.along(pipe), up.along(pipe));
    let mut told = Vec::new();
    let last = last(pipe);
    drawing.line_of("<g class=\"parts\">");
    let thinnest =
        |dimension: Dimension| if dimension == Dimension::Time && is_sampled(pipe) { BAR } else { LINE_WIDTH };
    // Boxes of a colour follow each other: one path for them all.
    let mut at: Option<usize> = None;
    let mut d = String::new();
    let flush = |drawing: &mut Drawing, d: &mut String, at: Option<usize>| {
        if let Some(level) = at.filter(|_| !d.is_empty()) {
            drawing.path(d, "heat", &shade(level), "");
        }
        d.clear();
    };
    for own in in_time(pipe) {
        let level = level(own, last);
        if at != Some(level) {
            flush(drawing, &mut d, at);
            at = Some(level);
        }
        let ((left, right), (low, high)) = (across.ends(pipe, own), up.ends(pipe, own));
        // A box that is thinner than a line is drawn as one.
        let (x, wide) = widened(plot.x(left), plot.x(right), thinnest(across));
        let (y, high) = widened(plot.y(high), plot.y(low), thinnest(up));
        d += &format!("M{} {}h{}v{}h-{}z", place(x), place(y), place(wide), place(high), place(wide));
    }
    flush(drawing, &mut d, at);
    drawing.line_of("</g>");
    let end = if pipe.complete { "" } else { "; they end where the property is open" };
    told.push(("pipe", format!("reachable sets, darker the later{end}")));
    drawing.line_of("<g class=\"sets\">");
    told.extend(shown.sets.draw(drawing, plot, along, upwards));
    drawing.line_of("</g><g class=\"runs\">");
    for run in &pipe.runs {
        let at = |dimension: Dimension, step: usize| match dimension {
            Dimension::Element(place) => run[step][place].0,
            Dimension::Time => step as f64 * seconds(pipe),
        };
        let points: Vec<(f64, f64)> = (0..run.len()).map(|step| plot.at(at(across, step), at(up, step))).collect();
        drawing.polyline(&points, "run");
    }
    drawing.line_of("</g><g class=\"initial\">");
    let initial = shown.sets.draw_initial(drawing, plot, along, upwards);
    drawing.line_of("</g>");
    if !pipe.runs.is_empty() {
        let runs = pipe.runs.len();
        told.push(("run", format!("{runs} simulated run{}", if runs == 1 { "" } else { "s" })));
    }
    told.extend(initial);
    told
}

/// Where a box that may be too thin to be seen begins, and how wide it is.
fn widened(from: f64, to: f64, least: f64) -> (f64, f64) {
    let more = (least - (to - from)).max(0.0);
    (from - more / 2.0, to - from + more)
}

/// Whether there are boxes at instants only, as in discrete time.
pub(crate) fn is_sampled(pipe: &Flowpipe) -> bool {
    pipe.boxes.iter().all(|own| own.from == own.to)
}

/// The boxes from the first to the last.
pub(crate) fn in_time(pipe: &Flowpipe) -> Vec<&ReachedBox> {
    let mut boxes: Vec<&ReachedBox> = pipe.boxes.iter().collect();
    boxes.sort_by(|a, b| a.from.0.total_cmp(&b.from.0));
    boxes
}

/// A picture of a flowpipe with its legend. Nothing if there is no box, or one without ends.
pub fn draw(shown: &Shown<'_>, across: Dimension, up: Dimension) -> Option<Picture> {
    let plot =
        Plot { rectangle: [LEFT, TOP, WIDTH, HEIGHT], across: axis(shown.pipe, across)?, up: axis(shown.pipe, up)? };
    let mut own = Drawing::new(0.0, 0.0);
    own.heading(16.0, 26.0, shown.title);
    let told = draw_within(&mut own, &plot, shown, across, up);
    plot.frame(&mut own);
    let told: Vec<Told> = told.into_iter().map(|(class, words)| (class, shortened(&words))).collect();
    let mut y = TOP + HEIGHT + 60.0;
    for (class, words) in &told {
        swatch(&mut own, class, LEFT, y);
        own.text(LEFT + 34.0, y, Anchor::Start, words);
        y += 20.0;
    }
    let longest = told.iter().map(|(_, words)| text_width(words) + LEFT + 34.0).fold(0.0, f64::max);
    let width = (LEFT + WIDTH + 30.0).max(text_width(shown.title) * 1.3 + 40.0).max(longest + 20.0);
    Some(own.sized(width, y).finish(Some(plot.geometry())))
}

/// A sample of what a line of the legend explains.
fn swatch(drawing: &mut Drawing, class: &str, x: f64, y: f64) {
    match class {
        "pipe" => {
            for part in 0..4 {
                let fill = shade(part * (SHADES - 1) / 3);
                drawing.path(
                    &format!("M{} {}h6v10h-6z", place(x + 6.0 * part as f64), place(y - 9.0)),
                    "heat",
                    &fill,
                    "",
                );
            }
        }
        "run" => drawing.line([x, y - 4.0, x + 24.0, y - 4.0], class),
        _ => drawing.rectangle([x, y - 9.0, 24.0, 10.0], class, ""),
    }
}

fn shortened(words: &str) -> String {
    match words.chars().count() > LINE {
        true => words.chars().take(LINE - 1).chain(['…']).collect(),
        false => words.to_owned(),
    }
}

/// A box in words.
pub(crate) fn in_words(pipe: &Flowpipe) -> String {
    let first = pipe.boxes.iter().find(|own| own.to.0 == 0.0).or(pipe.boxes.first());
    let ends = |place: usize| first.map(|own| own.ends[place]);
    let named = pipe.axes.iter().enumerate().filter_map(|(place, name)| Some((name, ends(place)?)));
    let parts: Vec<String> =
        named.map(|(name, [low, high])| format!("{name} in [{}, {}]", short(low.0), short(high.0))).collect();
    parts.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use certus_documents::numbers;

    fn pipe() -> Flowpipe {
        let reached = |from: f64, to: f64, low: f64, high: f64| ReachedBox {
            from: from.into(),
            to: to.into(),
            ends: vec![[low.into(), high.into()], [0.0.into(), 1.0.into()]],
        };
        Flowpipe {
            axes: vec!["x".to_owned(), "y".to_owned()],
            step_seconds: Some(0.5.into()),
            complete: true,
            covered: 2.0.into(),
            sets: 2,
            boxes: vec![reached(0.0, 2.0, 0.0, 1.0), reached(2.0, 2.0, 1.0, 2.0)],
            runs: vec![[[0.0, 0.5], [0.5, 0.5], [1.5, 0.5]].iter().map(numbers).collect()],
        }
    }

    #[test]
    fn boxes_and_runs_are_drawn_over_time_and_over_states() {
        let pipe = pipe();
        let shown = Shown { title: "a & b", pipe: &pipe, sets: Sets::default() };
        let picture = draw(&shown, Dimension::Time, Dimension::Element(0)).unwrap();
        let text = picture.standalone();
        // One second of time and two units upwards, each with a fiftieth of room at either side.
        assert!(text.contains("M88.77 234h538.46v182.69h-538.46z"), "{text}");
        assert!(text.contains("time (s)") && text.contains("1 simulated run<"), "{text}");
        assert_eq!(text.matches(r#"class="run""#).count(), 2, "the run, and its line in the legend: {text}");
        assert!(picture.png().starts_with(b"\x89PNG"));
        let text = draw(&shown, Dimension::Element(0), Dimension::Element(1)).unwrap().standalone();
        assert!(text.contains(">y<") && !text.contains("time"), "{text}");
    }

    #[test]
    fn what_has_no_ends_is_not_drawn() {
        let mut own = pipe();
        own.boxes[0].ends[0][1] = f64::INFINITY.into();
        let shown = Shown { title: "", pipe: &own, sets: Sets::default() };
        assert!(draw(&shown, Dimension::Time, Dimension::Element(0)).is_none());
        assert!(draw(&shown, Dimension::Time, Dimension::Element(1)).is_some());
    }
}
