//! Flowpipes on a page: the sets that runs reach, over time at first, and over any two variables by the page's script.

use certus_documents::state_sets::Flowpipe;
use serde_json::{Value, json};

use super::html::{Page, data, escaped, script_data, select, thinned};
use super::read::{Malformed, Read};
use crate::flowpipe::{
    BAR, Dimension, LINE_WIDTH, SHADES, Shown, axis, draw, draw_within, in_time, in_words, is_sampled, last, level,
    shade,
};
use crate::scale::Plot;
use crate::state_sets::{Drawn, Sets, class, in_words as told};
use crate::svg::Drawing;

/// Whether every box and every run has as many numbers as there are axes.
fn fitting(pipe: &Flowpipe) -> Read<()> {
    let wrong =
        |place: String| Err(Malformed::new("as many numbers as there are axes are needed, in order").within(&place));
    for (index, own) in pipe.boxes.iter().enumerate() {
        let in_order = own.ends.iter().all(|[low, high]| low.0 <= high.0) && own.from.0 <= own.to.0;
        if own.ends.len() != pipe.axes.len() || !in_order {
            return wrong(format!(".boxes[{index}]"));
        }
    }
    for (index, run) in pipe.runs.iter().enumerate() {
        if run.iter().any(|state| state.len() != pipe.axes.len()) {
            return wrong(format!(".runs[{index}]"));
        }
    }
    Ok(())
}

/// A number of the page's script: pictures need no more digits.
fn brief(value: f64) -> Value {
    format!("{value:.6e}").parse::<f64>().map_or(Value::Null, Value::from)
}

/// The figure with its controls and data.
pub(crate) fn section(page: &mut Page, system: &str, property: &str, pipe: &Flowpipe, sets: Sets<'_>) -> Read<String> {
    fitting(pipe)?;
    let stem = format!("{system} {property} reachable sets");
    let title = format!("{system}: reachable sets ({property})");
    let shown = Shown { title: &title, pipe, sets };
    let (across, up) = (Dimension::Time, Dimension::Element(0));
    let ends = pipe.axes.iter().enumerate().all(|(place, _)| axis(pipe, Dimension::Element(place)).is_some());
    let (Some(right), Some(above), true) = (axis(pipe, across), pipe.axes.first().and_then(|_| axis(pipe, up)), ends)
    else {
        return Ok(thinned("The reachable sets have no ends, so there is no picture of them."));
    };
    // What is saved has its legend in it.
    if let Some(picture) = draw(&shown, across, up) {
        page.keep(&stem, &picture);
    }
    let plot = Plot { rectangle: [66.0, 10.0, 402.0, 330.0], across: right, up: above };
    let mut drawing = Drawing::new(480.0, 384.0);
    let visible = draw_within(&mut drawing, &plot, &shown, across, up);
    drawing.line_of("<g class=\"axes\">");
    plot.frame(&mut drawing);
    drawing.line_of("</g>");
    let picture = drawing.finish(Some(plot.geometry()));
    let dimensions: Vec<Dimension> =
        std::iter::once(Dimension::Time).chain((0..pipe.axes.len()).map(Dimension::Element)).collect();
    let names: Vec<String> = dimensions.iter().map(|own| own.name(pipe)).collect();
    let id = page.name("flowpipe");
    let boxes = pipe.boxes.len();
    let several =
        if pipe.sets > boxes { format!(", drawn as {} boxes around them", data(boxes as f64)) } else { String::new() };
    let initially = match in_words(pipe) {
        words if words.is_empty() => String::new(),
        words => format!(" Initially {}.", escaped(&words)),
    };
    let mut html = format!(
        "<figure class=\"flowpipe\" data-flowpipe=\"{id}\"><div class=\"controls\">{} {}</div>{}{}<figcaption>{} sets{several}. Runs are \
         straight between their samples.{initially}</figcaption><output class=\"pointed\" aria-live=\"polite\">Point at a \
         box.</output></figure>\n",
        select("across", "across", &names, 0),
        select("up", "up", &names, 1),
        picture.inline(&format!("{title}, over time")),
        legend(&shown, &visible),
        data(pipe.sets as f64),
    );
    let ordered = in_time(pipe);
    let latest = last(pipe);
    let column =
        |read: &dyn Fn(usize) -> f64| -> Vec<Value> { (0..ordered.len()).map(|own| brief(read(own))).collect() };
    let end = |axis: usize, side: usize| column(&|own| ordered[own].ends[axis][side].0);
    let axes = 0..pipe.axes.len();
    let runs: Vec<Vec<Vec<Value>>> = pipe
        .runs
        .iter()
        .map(|run| run.iter().map(|state| state.iter().map(|own| brief(own.0)).collect()).collect())
        .collect();
    html += &script_data(
        &id,
        &json!({
            "names": names, "axes": pipe.axes, "seconds": crate::flowpipe::seconds(pipe),
            "from": column(&|own| ordered[own].from.0), "to": column(&|own| ordered[own].to.0),
            "lower": axes.clone().map(|axis| end(axis, 0)).collect::<Vec<_>>(),
            "upper": axes.map(|axis| end(axis, 1)).collect::<Vec<_>>(),
            "levels": ordered.iter().map(|own| level(own, latest)).collect::<Vec<_>>(),
            "colours": (0..SHADES).map(shade).collect::<Vec<_>>(),
            "thinnest": if is_sampled(pipe) { BAR } else { LINE_WIDTH }, "runs": runs, "states": sets.data(),
        }),
    );
    Ok(format!("<div class=\"figures\">{html}</div>\n"))
}

/// What is drawn, in words; the script hides what other axes do not show.
fn legend(shown: &Shown<'_>, visible: &[(&'static str, String)]) -> String {
    let line = |class: &str, words: &str, more: &str, hidden: bool| {
        format!(
            "<li{more}{}><svg viewBox=\"0 0 24 12\" aria-hidden=\"true\"><rect x=\"1\" y=\"1\" width=\"22\" height=\"10\" class=\"{class}\"/></svg> \
             <span>{}</span></li>",
            if hidden { " hidden" } else { "" },
            escaped(words)
        )
    };
    let mut html = String::from("<ul class=\"legend\">");
    for (own, words) in visible.iter().filter(|(own, _)| ["pipe", "run", "start"].contains(own)) {
        html += &line(if *own == "pipe" { "bar2" } else { own }, words, "", false);
    }
    for (index, set) in shown.sets.sets.iter().enumerate() {
        for (drawn, name) in [(Drawn::Area, "area"), (Drawn::Shadow, "shadow")] {
            let words = told(set, drawn);
            let hidden = visible.iter().all(|(_, own)| *own != words);
            html +=
                &line(class(set.role, drawn), &words, &format!(" data-set=\"{index}\" data-drawn=\"{name}\""), hidden);
        }
    }
    html + "</ul>"
}

#[cfg(test)]
mod tests {
    use super::*;
    use certus_documents::check::Face;
    use certus_documents::state_sets::{ReachedBox, SetRole, StatePart, StateSet};
    use certus_documents::{members, numbers};

    fn pipe() -> Flowpipe {
        let reached = |at: f64| ReachedBox {
            from: at.into(),
            to: (at + 1.0).into(),
            ends: vec![[at.into(), (at + 2.0).into()], [0.0.into(), 1.0.into()]],
        };
        Flowpipe {
            axes: vec!["x".to_owned(), "y".to_owned()],
            boxes: (0..3).map(f64::from).map(reached).collect(),
            complete: true,
            sets: 5,
            runs: vec![[[0.0, 0.5], [1.0, 0.5]].iter().map(numbers).collect()],
            ..Flowpipe::default()
        }
    }

    #[test]
    fn a_first_picture_is_there_and_the_script_has_the_rest() {
        let part = |name: &str, most: f64| StatePart {
            variables: vec![name.to_owned()],
            faces: vec![Face { linear: members([(name, 1.0)]), at_most: most.into() }],
            raster: None,
        };
        let set = |name: &str| StateSet {
            role: SetRole::Unsafe,
            condition: format!("{name} > 0.5"),
            parts: vec![part(name, 0.5)],
            all: true,
            ..StateSet::default()
        };
        let sets = [set("x"), set("y")];
        let mut page = Page::default();
        let own = section(&mut page, "s", "p", &pipe(), Sets { initial: None, sets: &sets }).unwrap();
        assert!(own.contains("time (steps)") && own.contains("drawn as <data value=\"3.0\">3</data> boxes"), "{own}");
        assert!(own.contains("data-set=\"0\" data-drawn=\"area\"><svg"), "over time, x is shown: {own}");
        assert!(own.contains("data-set=\"1\" data-drawn=\"area\" hidden"), "and y is not: {own}");
        assert_eq!(page.figures.len(), 1);
        let text = own.split("<script type=\"application/json\"").nth(1).unwrap();
        let text = text.split_once('>').unwrap().1.split("</script>").next().unwrap();
        let value: Value = serde_json::from_str(text).unwrap();
        assert_eq!(value["lower"], json!([[0.0, 1.0, 2.0], [0.0, 0.0, 0.0]]));
        assert_eq!(value["states"]["sets"][1]["parts"][0]["faces"][0]["linear"]["y"], 1.0);
    }

    #[test]
    fn crooked_boxes_are_refused() {
        let mut own = pipe();
        own.boxes[1].ends.pop();
        let told = section(&mut Page::default(), "s", "p", &own, Sets::default()).unwrap_err().to_string();
        assert!(told.starts_with("boxes[1]: "), "{told}");
        let mut own = pipe();
        own.runs[0][1].pop();
        let told = section(&mut Page::default(), "s", "p", &own, Sets::default()).unwrap_err().to_string();
        assert!(told.starts_with("runs[0]: "), "{told}");
    }

    #[test]
    fn sets_without_ends_are_told() {
        let mut own = pipe();
        own.boxes[1].ends[1][1] = f64::INFINITY.into();
        assert!(section(&mut Page::default(), "s", "p", &own, Sets::default()).unwrap().contains("no ends"));
    }
}
