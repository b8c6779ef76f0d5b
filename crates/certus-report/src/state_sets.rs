//! Initial, unsafe and goal states, drawn beside whatever else a picture shows of a state space.
//!
//! A set is drawn where it depends on what the axes show and on nothing else: then every point of the area is in the set. Of a goal that asks of other variables,
//! too, an outline shows what it asks of these. Over time, a set lasts as long as it counts.

use certus_documents::plain;
use certus_documents::state_sets::{InitialStates, SetRole, StatePart, StateSet};
use serde_json::{Value, json};

use crate::scale::Plot;
use crate::svg::{Drawing, place};

/// What an axis shows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Along<'n> {
    /// An element of the state.
    Variable(&'n str),
    /// Time, with the length of a step.
    Time(f64),
}

/// The sets that a picture of states shows beside its own.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sets<'d> {
    /// The initial states.
    pub initial: Option<&'d InitialStates>,
    /// The sets of the property.
    pub sets: &'d [StateSet],
}

/// How a part of a set is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Drawn {
    /// Every point that is drawn is in it.
    Area,
    /// What is drawn is what it asks of these variables.
    Shadow,
}

/// A line of a legend: the class of what it explains, and what it says.
pub(crate) type Told = (&'static str, String);

type Polygon = Vec<(f64, f64)>;

/// How thin an area may be before it is widened to be seen, as a share of the plot.
const THINNEST: f64 = 0.004;

impl Sets<'_> {
    /// Draws the areas; what the legend says of them.
    pub(crate) fn draw(&self, drawing: &mut Drawing, plot: &Plot, across: Along<'_>, up: Along<'_>) -> Vec<Told> {
        let mut told = Vec::new();
        for set in self.sets {
            let (mut area, mut shadow) = (String::new(), String::new());
            for part in &set.parts {
                let Some((polygons, drawn)) = polygons(part, set, plot, across, up) else { continue };
                let d = if drawn == Drawn::Area { &mut area } else { &mut shadow };
                polygons.iter().for_each(|own| *d += &outline(own, plot));
            }
            for (d, drawn) in [(area, Drawn::Area), (shadow, Drawn::Shadow)] {
                if !d.is_empty() {
                    let words = in_words(set, drawn);
                    drawing.path(&d, class(set.role, drawn), "", &words);
                    told.push((class(set.role, drawn), words));
                }
            }
        }
        told
    }

    /// Whether there is nothing to draw.
    pub(crate) fn is_empty(&self) -> bool {
        self.initial.is_none() && self.sets.is_empty()
    }

    /// What the page's script draws them from; `null` if there is nothing to draw.
    pub(crate) fn data(&self) -> Value {
        if self.is_empty() {
            return Value::Null;
        }
        json!({"initial": self.initial, "sets": self.sets})
    }

    /// Draws the box of the initial states; what the legend says of it.
    pub(crate) fn draw_initial(
        &self,
        drawing: &mut Drawing,
        plot: &Plot,
        across: Along<'_>,
        up: Along<'_>,
    ) -> Option<Told> {
        let initial = self.initial?;
        let ends = |along: Along<'_>| match along {
            Along::Variable(name) => {
                initial.ranges.iter().find(|own| own.name == name).map(|own| (own.lower.0, own.upper.0))
            }
            Along::Time(_) => Some((0.0, 0.0)),
        };
        let ((left, right), (low, high)) = (ends(across)?, ends(up)?);
        // A box that is flat is drawn as a line, and one without ends as far as the plot reaches.
        let inside = |axis: &crate::scale::Axis, value: f64| value.clamp(axis.lower, axis.upper);
        let (x, end) = (plot.x(inside(&plot.across, left)), plot.x(inside(&plot.across, right)));
        let (y, bottom) = (plot.y(inside(&plot.up, high)), plot.y(inside(&plot.up, low)));
        let words = if initial.all { "initial states" } else { "a box around the initial states" };
        drawing.rectangle([x, y, (end - x).max(0.7), (bottom - y).max(0.7)], "start", words);
        Some(("start", words.to_owned()))
    }
}

/// The class of a set's area.
pub(crate) fn class(role: SetRole, drawn: Drawn) -> &'static str {
    match (role, drawn) {
        (SetRole::Unsafe, _) => "danger",
        (SetRole::Goal, Drawn::Area) => "goal",
        (SetRole::Goal, Drawn::Shadow) => "low",
    }
}

/// What a legend says of a set.
pub(crate) fn in_words(set: &StateSet, drawn: Drawn) -> String {
    let condition = &set.condition;
    let mut words = match (set.role, drawn) {
        (SetRole::Unsafe, _) => format!("unsafe: not ({condition})"),
        (SetRole::Goal, Drawn::Area) => format!("goal: {condition}"),
        (SetRole::Goal, Drawn::Shadow) => format!("what the goal asks of these variables: {condition}"),
    };
    match (set.from, set.until) {
        (0, None) => {}
        (from, Some(until)) if from == until => words += &format!(", at step {from}"),
        (from, Some(until)) => words += &format!(", from step {from} to {until}"),
        (from, None) => words += &format!(", from step {from} on"),
    }
    if !set.all {
        words += " (in part)";
    }
    words
}

/// A part of a set over two axes; nothing where it asks for more than they show, or nothing is in the plot.
fn polygons(
    part: &StatePart,
    set: &StateSet,
    plot: &Plot,
    across: Along<'_>,
    up: Along<'_>,
) -> Option<(Vec<Polygon>, Drawn)> {
    let shows = |name: &str| across == Along::Variable(name) || up == Along::Variable(name);
    let is_shown = part.variables.iter().all(|name| shows(name));
    let (left, right) = (plot.across.lower, plot.across.upper);
    let (low, high) = (plot.up.lower, plot.up.upper);
    let mut frame = vec![(left, low), (right, low), (right, high), (left, high)];
    // The window of time.
    for (axis, along, (a, b)) in [(&plot.across, across, (1.0, 0.0)), (&plot.up, up, (0.0, 1.0))] {
        if let Along::Time(seconds) = along {
            let from = set.from as f64 * seconds;
            let until = set.until.map_or(f64::INFINITY, |until| until as f64 * seconds);
            let air = (THINNEST * (axis.upper - axis.lower) - (until - from)).max(0.0) / 2.0;
            frame = clipped(&frame, -a, -b, -(from - air));
            frame = clipped(&frame, a, b, until + air);
        }
    }
    if let Some(raster) = part.raster.as_ref().filter(|_| is_shown) {
        let (lower, upper) = (plain(&raster.lower), plain(&raster.upper));
        let end = |axis: usize, count: usize| {
            lower[axis] + (upper[axis] - lower[axis]) * count as f64 / raster.squares as f64
        };
        let mut found = Vec::new();
        for (row, stretches) in raster.rows.iter().enumerate() {
            for &[from, to] in stretches {
                let mut shape = frame.clone();
                for (place, name) in part.variables.iter().enumerate() {
                    let (least, most) =
                        if place == 0 { (end(0, from), end(0, to)) } else { (end(1, row), end(1, row + 1)) };
                    let (a, b) = if across == Along::Variable(name) { (1.0, 0.0) } else { (0.0, 1.0) };
                    shape = clipped(&clipped(&shape, -a, -b, -least), a, b, most);
                }
                found.extend(Some(shape).filter(|own| own.len() > 2));
            }
        }
        return (!found.is_empty()).then_some((found, Drawn::Area));
    }
    if part.raster.is_some() || !is_shown && set.role == SetRole::Unsafe {
        return None;
    }
    let faces: Vec<_> = part.faces.iter().filter(|face| face.linear.keys().all(|name| shows(name))).collect();
    if faces.is_empty() {
        return None;
    }
    for face in faces {
        let of = |along: Along<'_>| match along {
            Along::Variable(name) => face.linear.get(name).map_or(0.0, |own| own.0),
            Along::Time(_) => 0.0,
        };
        frame = clipped(&frame, of(across), if across == up { 0.0 } else { of(up) }, face.at_most.0);
    }
    let drawn = if is_shown { Drawn::Area } else { Drawn::Shadow };
    (frame.len() > 2).then(|| (vec![frame], drawn))
}

/// A closed path.
fn outline(shape: &[(f64, f64)], plot: &Plot) -> String {
    let mut d = String::new();
    for (index, &(a, b)) in shape.iter().enumerate() {
        let (x, y) = plot.at(a, b);
        d += &format!("{}{} {}", if index == 0 { "M" } else { "L" }, place(x), place(y));
    }
    d + "z"
}

/// The part of a convex polygon in which `a x + b y ≤ most` (Sutherland and Hodgman, "Reentrant polygon clipping", CACM 17, 1974).
pub(crate) fn clipped(shape: &[(f64, f64)], a: f64, b: f64, most: f64) -> Vec<(f64, f64)> {
    if most == f64::INFINITY {
        return shape.to_vec();
    }
    let excess = |point: (f64, f64)| a * point.0 + b * point.1 - most;
    let mut cut = Vec::with_capacity(shape.len() + 1);
    for (index, &point) in shape.iter().enumerate() {
        let next = shape[(index + 1) % shape.len()];
        let (here, there) = (excess(point), excess(next));
        if here <= 0.0 {
            cut.push(point);
        }
        if (here < 0.0 && there > 0.0) || (here > 0.0 && there < 0.0) {
            let t = here / (here - there);
            cut.push((point.0 + t * (next.0 - point.0), point.1 + t * (next.1 - point.1)));
        }
    }
    cut
}

/// Whether every part has what it speaks of, so that a page can rely on it.
pub(crate) fn fitting(sets: &[StateSet]) -> bool {
    let fits = |part: &StatePart| {
        part.faces.iter().flat_map(|face| face.linear.keys()).all(|name| part.variables.contains(name))
            && part.raster.as_ref().is_none_or(|raster| {
                let axes = part.variables.len();
                (1..=2).contains(&axes)
                    && raster.lower.len() == axes
                    && raster.upper.len() == axes
                    && raster.squares > 0
                    && raster.rows.len() == if axes == 1 { 1 } else { raster.squares }
                    && raster.rows.iter().flatten().all(|[from, to]| from < to && *to <= raster.squares)
            })
    };
    sets.iter().flat_map(|set| &set.parts).all(fits)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scale::Axis;
    use certus_documents::check::Face;
    use certus_documents::state_sets::Raster;
    use certus_documents::{NamedRange, members};

    fn plot() -> Plot {
        let axis = || Axis { name: String::new(), lower: 0.0, upper: 10.0 };
        Plot { rectangle: [0.0, 0.0, 100.0, 100.0], across: axis(), up: axis() }
    }

    fn set(role: SetRole, variables: &[&str], faces: Vec<Face>) -> StateSet {
        let variables = variables.iter().map(|own| (*own).to_owned()).collect();
        let part = StatePart { variables, faces, raster: None };
        StateSet { role, condition: "c".to_owned(), from: 0, until: None, parts: vec![part], all: true }
    }

    fn at_most(linear: &[(&str, f64)], at_most: f64) -> Face {
        Face { linear: members(linear.iter().copied()), at_most: at_most.into() }
    }

    fn drawn(set: &StateSet, across: Along<'_>, up: Along<'_>) -> (String, Vec<Told>) {
        let mut drawing = Drawing::new(100.0, 100.0);
        let told = Sets { initial: None, sets: std::slice::from_ref(set) }.draw(&mut drawing, &plot(), across, up);
        (drawing.finish(None).standalone(), told)
    }

    const X: Along<'static> = Along::Variable("x");
    const Y: Along<'static> = Along::Variable("y");

    #[test]
    fn an_area_is_where_all_faces_are() {
        let own = set(SetRole::Unsafe, &["x"], vec![at_most(&[("x", -1.0)], -8.0)]);
        let (text, told) = drawn(&own, X, Y);
        assert!(text.contains(r#"d="M80 100L100 100L100 0L80 0z" class="danger""#), "{text}");
        assert_eq!(told, [("danger", "unsafe: not (c)".to_owned())]);
        let own = StateSet { from: 2, until: Some(4), ..own };
        let (text, told) = drawn(&own, Along::Time(0.5), X);
        assert!(text.contains(r#"d="M20 20L20 0L10 0L10 20z""#), "{text}");
        assert_eq!(told[0].1, "unsafe: not (c), from step 2 to 4");
    }

    #[test]
    fn what_depends_on_more_is_left_out_or_outlined() {
        let faces = vec![at_most(&[("x", 1.0)], 5.0), at_most(&[("z", 1.0)], 1.0)];
        assert!(drawn(&set(SetRole::Unsafe, &["x", "z"], faces.clone()), X, Y).1.is_empty());
        let (_, told) = drawn(&set(SetRole::Goal, &["x", "z"], faces.clone()), X, Y);
        assert_eq!(told, [("low", "what the goal asks of these variables: c".to_owned())]);
        assert!(drawn(&set(SetRole::Goal, &["x", "z"], faces), Y, Along::Time(1.0)).1.is_empty());
        // Outside of the plot there is nothing to draw or to tell.
        assert!(drawn(&set(SetRole::Goal, &["x"], vec![at_most(&[("x", 1.0)], -5.0)]), X, Y).1.is_empty());
    }

    #[test]
    fn an_instant_is_wide_enough_to_be_seen() {
        let mut own = set(SetRole::Goal, &["y"], vec![at_most(&[("y", 1.0)], 5.0)]);
        (own.from, own.until) = (6, Some(6));
        let (text, told) = drawn(&own, Along::Time(1.0), Y);
        assert!(text.contains(r#"d="M59.8 100L60.2 100L60.2 50L59.8 50z" class="goal""#), "{text}");
        assert_eq!(told[0].1, "goal: c, at step 6");
    }

    #[test]
    fn squares_are_drawn_in_either_direction() {
        let mut own = set(SetRole::Unsafe, &["x", "y"], Vec::new());
        let mut rows = vec![Vec::new(); 10];
        rows[1] = vec![[2, 5]];
        let raster = Raster { lower: vec![0.0.into(); 2], upper: vec![10.0.into(); 2], squares: 10, rows };
        own.parts[0].raster = Some(raster);
        assert!(fitting(std::slice::from_ref(&own)));
        assert!(drawn(&own, X, Y).0.contains(r#"d="M50 90L50 80L20 80L20 90z""#), "{}", drawn(&own, X, Y).0);
        assert!(drawn(&own, Y, X).0.contains(r#"d="M20 50L10 50L10 80L20 80z""#), "{}", drawn(&own, Y, X).0);
        assert!(drawn(&own, X, Along::Time(1.0)).1.is_empty());
        own.parts[0].variables.pop();
        assert!(!fitting(&[own]));
    }

    #[test]
    fn initial_states_are_a_box() {
        let range = |name: &str, lower: f64, upper: f64| NamedRange {
            name: name.to_owned(),
            lower: lower.into(),
            upper: upper.into(),
        };
        let initial =
            InitialStates { ranges: vec![range("x", 1.0, 2.0), range("y", f64::NEG_INFINITY, 5.0)], all: true };
        let mut drawing = Drawing::new(100.0, 100.0);
        let own = Sets { initial: Some(&initial), sets: &[] };
        assert!(own.draw_initial(&mut drawing, &plot(), X, Y).is_some());
        assert!(own.draw_initial(&mut drawing, &plot(), Along::Variable("z"), Y).is_none());
        let text = drawing.finish(None).standalone();
        assert!(text.contains(r#"<rect x="10" y="50" width="10" height="50" class="start""#), "{text}");
    }
}
