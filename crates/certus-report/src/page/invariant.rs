//! What holds for all time: invariants of an induction, ranking functions.

use certus_documents::check::{Face, Method, Proof};
use certus_documents::{Members, NamedRange, Number};

use super::html::{Page, bound, data, escaped, table};
use crate::scale::{Axis, Plot, short};
use crate::state_sets::{Along, Sets, Told, clipped};
use crate::svg::{Drawing, Picture};

/// Where the values of named variables lie.
pub(crate) type Ranges = Vec<(String, (f64, f64))>;

/// The ranges of the states of a document.
pub(crate) fn ranges(states: &[NamedRange]) -> Ranges {
    states.iter().map(|own| (own.name.clone(), (own.lower.0, own.upper.0))).collect()
}

fn sum(linear: &Members<Number>) -> String {
    let mut shown = String::new();
    for (index, (name, Number(coefficient))) in linear.iter().enumerate() {
        let sign = match (index, *coefficient < 0.0) {
            (0, false) => "",
            (0, true) => "−",
            (_, false) => " + ",
            (_, true) => " − ",
        };
        let size = coefficient.abs();
        let factor = if size == 1.0 { String::new() } else { format!("{} ", data(size)) };
        shown += &format!("{sign}{factor}{}", escaped(name));
    }
    if shown.is_empty() { "0".to_owned() } else { shown }
}

/// What a proof says, in words and pictures.
pub(crate) fn section(page: &mut Page, stem: &str, proof: &Proof, ranges: &Ranges, sets: Sets<'_>) -> String {
    let method = |method: &Method| match method {
        Method::Induction { depth, ahead, different, invariant, within } => {
            let html = induction_section(page, stem, (*depth, *different), invariant, within, ranges, sets);
            html + &looking_ahead(*ahead)
        }
        Method::Ranking { linear, decrease, .. } => format!(
            "<p>The ranking function <span class=\"formula\">{}</span> falls by at least {} in each step, so this cannot go on for ever.</p>\n",
            sum(linear),
            bound(decrease.0, false)
        ),
    };
    match proof {
        Proof::Bounded { steps } => format!(
            "<p>No run of up to {} steps violates it: every question about one was refuted.</p>\n",
            data(*steps as f64)
        ),
        Proof::OutOfReach { steps } => {
            format!("<p>After {} steps no run can violate it any more.</p>\n", data(*steps as f64))
        }
        Proof::ForAllTime(methods) => methods.iter().map(method).collect(),
    }
}

/// How far ahead of a position an induction looks.
fn looking_ahead(ahead: usize) -> String {
    let steps = if ahead == 1 { "step" } else { "steps" };
    match ahead {
        0 => String::new(),
        _ => format!("<p>Whether it holds at a position shows in {} {steps} from there.</p>\n", data(ahead as f64)),
    }
}

fn induction_section(
    page: &mut Page,
    stem: &str,
    (depth, different): (usize, bool),
    faces: &[Face],
    within: &[NamedRange],
    ranges: &Ranges,
    sets: Sets<'_>,
) -> String {
    let between = if different { ", all different" } else { "" };
    let mut html = match depth {
        0 if faces.is_empty() && within.is_empty() => {
            "<p>It holds in every state that the ranges allow.</p>\n".to_owned()
        }
        0 if faces.is_empty() => {
            let end = |own: &NamedRange| {
                format!("{} in [{}, {}]", escaped(&own.name), bound(own.lower.0, false), bound(own.upper.0, true))
            };
            let ends: Vec<String> = within.iter().map(end).collect();
            format!("<p>It holds in every state of a box that no run leaves: {}.</p>\n", ends.join(", "))
        }
        0 => "<p>It holds in every state of the invariant.</p>\n".to_owned(),
        _ => format!(
            "<p>By induction over {} step{}{between}: it holds in the first steps, and wherever it held for {} in a row it holds in the next.</p>\n",
            data(depth as f64),
            if depth == 1 { "" } else { "s" },
            depth
        ),
    };
    if faces.is_empty() {
        return html + "<p>No further invariant was needed.</p>\n";
    }
    if let Some((picture, names, told)) = polygon_picture(faces, ranges, sets) {
        let label = format!("{stem}: invariant over {} and {}", names[0], names[1]);
        html += "<div class=\"figures\">";
        html += &page.figure(&format!("{stem} invariant"), &picture, &label, &caption(&told));
        html += "</div>\n";
    }
    let rows: Vec<Vec<String>> = faces
        .iter()
        .enumerate()
        .map(|(index, face)| {
            vec![
                (index + 1).to_string(),
                format!("<span class=\"formula\">{}</span>", sum(&face.linear)),
                format!("≤ {}", bound(face.at_most.0, true)),
            ]
        })
        .collect();
    html += &table(
        "The invariant: all of these hold in every state of every run",
        &["", "linear form", "at most"].map(str::to_owned),
        &rows,
    );
    html
}

/// What a picture of an invariant shows.
fn caption(told: &[Told]) -> String {
    let look = |class: &str| match class {
        "danger" => "hatched",
        "start" | "low" => "green outline",
        _ => "green",
    };
    let beside: Vec<String> =
        told.iter().map(|(class, words)| format!("{} ({})", escaped(words), look(class))).collect();
    let beside = if beside.is_empty() { String::new() } else { format!(" Beside it: {}.", beside.join("; ")) };
    format!("The invariant: runs stay in the shaded set.{beside}")
}

/// Where faces over two names leave room, as a polygon, with the sets beside it: nothing if they speak of other numbers of names, or leave it open.
fn polygon_picture(faces: &[Face], ranges: &Ranges, sets: Sets<'_>) -> Option<(Picture, [String; 2], Vec<Told>)> {
    let mut names: Vec<&String> = Vec::new();
    for (name, _) in faces.iter().flat_map(|face| &face.linear) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    // A face over one variable of two still is a picture of two.
    for (name, _) in ranges {
        if ranges.len() == 2 && names.len() == 1 && names[0] != name {
            names.push(name);
        }
    }
    let [x, y] = names.as_slice() else { return None };
    let range = |name: &String| {
        let found = ranges.iter().find(|(own, _)| own == name).map(|(_, range)| *range);
        found.filter(|(low, high)| low.is_finite() && high.is_finite())
    };
    const FAR: f64 = 1e9;
    let (across, up) = (range(x).unwrap_or((-FAR, FAR)), range(y).unwrap_or((-FAR, FAR)));
    let mut shape = vec![(across.0, up.0), (across.1, up.0), (across.1, up.1), (across.0, up.1)];
    for face in faces {
        let of = |name: &String| face.linear.get(name).map_or(0.0, |own| own.0);
        shape = clipped(&shape, of(x), of(y), face.at_most.0);
    }
    if shape.len() < 3 || shape.iter().any(|(a, b)| a.abs() >= FAR / 2.0 || b.abs() >= FAR / 2.0) {
        return None;
    }
    // The picture is about the set: its range may be larger by far.
    let axis = |name: &String, values: &dyn Fn(&(f64, f64)) -> f64| {
        Axis::with_air(name, if sets.is_empty() { 0.05 } else { 0.15 }, shape.iter().map(values))
    };
    let plot = Plot {
        rectangle: [66.0, 10.0, 402.0, 330.0],
        across: axis(x, &|point| point.0),
        up: axis(y, &|point| point.1),
    };
    let mut drawing = Drawing::new(480.0, 384.0);
    let d: String = shape
        .iter()
        .enumerate()
        .map(|(index, (a, b))| {
            let (a, b) = plot.at(*a, *b);
            format!("{}{} {}", if index == 0 { "M" } else { "L" }, crate::svg::place(a), crate::svg::place(b))
        })
        .collect();
    let (along, upwards) = (Along::Variable(x), Along::Variable(y));
    let mut told = sets.draw(&mut drawing, &plot, along, upwards);
    drawing.path(&(d + "z"), "area", "", "runs stay in here");
    told.extend(sets.draw_initial(&mut drawing, &plot, along, upwards));
    plot.frame(&mut drawing);
    for (a, b) in &shape {
        drawing.dot(plot.at(*a, *b), 2.6, "mark", &format!("{x} = {}, {y} = {}", short(*a), short(*b)));
    }
    Some((drawing.finish(Some(plot.geometry())), [(*x).clone(), (*y).clone()], told))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn two_dimensions_are_drawn_and_others_written() {
        let proof = |faces: serde_json::Value| -> Proof {
            let induction = json!({"depth": 2, "different": false, "invariant": faces});
            serde_json::from_value(json!({"for_all_time": [{"induction": induction}]})).unwrap()
        };
        let diamond = json!([
            {"linear": {"x": 1, "y": 1}, "at_most": 1}, {"linear": {"x": -1, "y": 1}, "at_most": 1},
            {"linear": {"x": 1, "y": -1}, "at_most": 1}, {"linear": {"x": -1, "y": -1}, "at_most": 1},
        ]);
        let mut page = Page::default();
        let html = section(&mut page, "s", &proof(diamond), &Vec::new(), Sets::default());
        assert_eq!(page.figures.len(), 1);
        assert_eq!(page.figures[0].1.standalone().matches("class=\"mark\"").count(), 4);
        assert!(html.contains("−x − y"), "{html}");
        let open = json!([{"linear": {"x": 1, "y": 1}, "at_most": 1}]);
        let mut page = Page::default();
        section(&mut page, "s", &proof(open.clone()), &Vec::new(), Sets::default());
        assert!(page.figures.is_empty(), "an open set has no picture without ranges");
        let ranges = vec![("x".to_owned(), (-1.0, 1.0)), ("y".to_owned(), (-1.0, 1.0))];
        section(&mut page, "s", &proof(open), &ranges, Sets::default());
        assert_eq!(page.figures.len(), 1);
    }
}
