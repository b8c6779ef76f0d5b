//! Runs without and with a shield: how often the program decided over time, and where the first runs went.

use serde_json::Value;

use super::Row;
use super::html::{Page, data, select, table, thinned};
use super::read::{Malformed, Read, count, list, member, number, numbers, optional, text, truth};
use crate::scale::{Axis, Plot, short};
use crate::svg::{Drawing, Picture};

/// A run at some of its steps.
pub(super) struct Sample {
    run: usize,
    steps: Vec<usize>,
    states: Vec<Vec<f64>>,
    overridden: Vec<bool>,
    unsafe_at: Option<usize>,
}

/// The runs that a document has of one kind, `network_alone` or `with_shield`.
pub(super) fn samples(document: &Value, kind: &str, states: usize) -> Read<Vec<Sample>> {
    let sample = |own: &Value| {
        let sample = Sample {
            run: member(own, "run", count)?,
            steps: member(own, "steps", |own| list(own, count))?,
            states: member(own, "states", |own| list(own, numbers))?,
            overridden: member(own, "overridden", |own| list(own, truth))?,
            unsafe_at: optional(own, "unsafe_at", count)?,
        };
        let length = sample.steps.len();
        let fits = sample.states.len() == length && sample.overridden.len() == length;
        if !fits || sample.states.iter().any(|state| state.len() != states) {
            return Err(Malformed::new("`steps`, `states` and `overridden` do not fit together"));
        }
        Ok(sample)
    };
    let read = |own: &Value| Ok(optional(own, "samples", |own| list(own, sample))?.unwrap_or_default());
    member(document, kind, read)
}

/// Draws runs over two states: a line each, a green dot where it begins, marks where the program decided, a red one where it is unsafe.
pub(super) fn draw(drawing: &mut Drawing, plot: &Plot, samples: &[Sample], x: usize, y: usize, class: &str) {
    for sample in samples {
        let up = |state: &[f64]| if x == y { 0.5 } else { state[y] };
        let within = |state: &[f64]| {
            let inside = |axis: &Axis, value: f64| (axis.lower..=axis.upper).contains(&value);
            inside(&plot.across, state[x]) && (x == y || inside(&plot.up, state[y]))
        };
        // A line is drawn as far as the frame reaches.
        for stretch in sample.states.split(|state| !within(state)).filter(|stretch| stretch.len() > 1) {
            let points: Vec<(f64, f64)> = stretch.iter().map(|state| plot.at(state[x], up(state))).collect();
            drawing.polyline(&points, class);
        }
        for (index, state) in sample.states.iter().enumerate().filter(|(_, state)| within(state)) {
            let step = sample.steps[index];
            let label = |what: &str| format!("run {}, step {step}: {what}", sample.run);
            let (size, mark, what) = match index {
                _ if sample.unsafe_at == Some(step) => (4.0, "bad", "unsafe"),
                0 => (3.0, "first", "begins here"),
                _ if sample.overridden[index] => (2.4, "mark", "the program decides"),
                _ => continue,
            };
            drawing.dot(plot.at(state[x], up(state)), size, mark, &label(what));
        }
    }
}

/// Share of the steps that the program decided, over time.
fn over_time(width: usize, steps: &[f64], interventions: &[f64]) -> Picture {
    let shares: Vec<f64> = steps.iter().zip(interventions).map(|(all, own)| 100.0 * own / all.max(1.0)).collect();
    let last = (width * shares.len()).max(1) as f64;
    let mut up = Axis::around("% of steps", shares.iter().copied().chain([0.0]));
    up.lower = 0.0;
    let across = Axis { name: "step".to_owned(), lower: 0.0, upper: last };
    let plot = Plot { rectangle: [66.0, 10.0, 402.0, 180.0], across, up };
    let mut drawing = Drawing::new(480.0, 234.0);
    for (index, share) in shares.iter().enumerate() {
        let (from, to) = ((index * width) as f64, ((index + 1) * width) as f64);
        let (left, right, top) = (plot.x(from), plot.x(to), plot.y(*share));
        let title = format!("steps {from} to {}: {} %", to - 1.0, short(*share));
        drawing.rectangle([left, top, (right - left).max(0.5), plot.y(0.0) - top], "bar", &title);
    }
    plot.frame(&mut drawing);
    drawing.finish(Some(plot.geometry()))
}

/// Pairs of states that are drawn.
const MOST_PAIRS: usize = 15;

/// The document of `certus shield run`.
pub(crate) fn section(page: &mut Page, document: &Value) -> Read<(Row, String)> {
    let system = member(document, "system", text)?;
    let mut row = Row::new(&system, "runs with the shield");
    row.verdict = member(document, "verdict", text)?;
    row.engine = "shield run".to_owned();
    row.relative = super::relative_to("simulation").to_owned();
    row.reason = optional(document, "reason", text)?;
    let (runs, steps) = (member(document, "runs", number)?, member(document, "steps", number)?);
    row.scope = format!("{} runs of {} steps", short(runs), short(steps));
    row.sections = true;
    let of = |kind: &str, key: &str| member(document, kind, |own| optional(own, key, number));
    row.seconds = of("network_alone", "seconds")?.zip(of("with_shield", "seconds")?).map(|(a, b)| a + b);
    let mut rows = Vec::new();
    for (words, key) in [
        ("runs that became unsafe", "unsafe_runs"),
        ("steps", "steps"),
        ("interventions", "interventions"),
        ("states in no branch", "alarms"),
        ("steps to settle, on average", "steps_to_settle"),
        ("seconds", "seconds"),
    ] {
        let cell = |kind: &str| Ok(of(kind, key)?.map_or("–".to_owned(), data));
        rows.push(vec![words.to_owned(), cell("network_alone")?, cell("with_shield")?]);
    }
    let time = |key: &str| Ok(optional(document, key, number)?.map_or("–".to_owned(), data));
    let (network, monitor) = (time("network_nanoseconds")?, time("monitor_nanoseconds")?);
    rows.push(vec!["nanoseconds a step: network, monitor".to_owned(), network, monitor]);
    let head = ["", "network alone", "with shield"].map(str::to_owned);
    let mut html = table("Runs", &head, &rows);
    let states = optional(document, "states", |own| list(own, text))?.unwrap_or_default();
    html += "<div class=\"figures\">";
    let read = |own: &Value| {
        let counts = |key: &str| member(own, key, numbers);
        Ok((member(own, "width", count)?, counts("steps")?, counts("interventions")?))
    };
    if let Some((width, made, decided)) = member(document, "with_shield", |own| optional(own, "history", read))?
        && !made.is_empty()
    {
        let caption = format!("How often the program decided, in stretches of {} steps.", data(width as f64));
        let label = format!("{system}: interventions over time");
        html += &page.figure(&format!("{system} interventions"), &over_time(width, &made, &decided), &label, &caption);
    }
    let alone = samples(document, "network_alone", states.len())?;
    let shielded = samples(document, "with_shield", states.len())?;
    let anything = !alone.is_empty() || !shielded.is_empty();
    if anything && !states.is_empty() {
        html += &portraits(page, &system, &states, &alone, &shielded);
    }
    Ok((row, html + "</div>\n"))
}

fn portraits(page: &mut Page, system: &str, states: &[String], alone: &[Sample], shielded: &[Sample]) -> String {
    let n = states.len();
    let pairs: Vec<(usize, usize)> = match n {
        1 => vec![(0, 0)],
        _ => (0..n).flat_map(|x| (x + 1..n).map(move |y| (x, y))).collect(),
    };
    let drawn = &pairs[..pairs.len().min(MOST_PAIRS)];
    let name = |&(x, y): &(usize, usize)| match x == y {
        true => states[x].clone(),
        false => format!("{} and {}", states[x], states[y]),
    };
    let names: Vec<String> = drawn.iter().map(name).collect();
    let mut html = String::from("<figure class=\"variants\">");
    if drawn.len() > 1 {
        html += &format!("<div class=\"controls\">{}</div>", select("states", "variant", &names, 0));
    }
    for (index, (&(x, y), name)) in drawn.iter().zip(&names).enumerate() {
        let all = || alone.iter().chain(shielded).flat_map(|sample| &sample.states);
        let axis = |i: usize| Axis::around(&states[i], all().map(|state| state[i]));
        let up = if x == y { Axis { name: String::new(), lower: 0.0, upper: 1.0 } } else { axis(y) };
        let plot = Plot { rectangle: [66.0, 10.0, 402.0, 330.0], across: axis(x), up };
        let mut drawing = Drawing::new(480.0, 384.0);
        draw(&mut drawing, &plot, alone, x, y, "second");
        draw(&mut drawing, &plot, shielded, x, y, "series");
        plot.frame(&mut drawing);
        let picture = drawing.finish(Some(plot.geometry()));
        page.keep(&format!("{system} runs {name}"), &picture);
        let hidden = if index == 0 { "" } else { " hidden" };
        let label = format!("{system}: runs over {name}");
        html += &format!("<div class=\"variant\"{hidden}>{}</div>", picture.inline(&label));
    }
    html += &format!(
        "<figcaption>The first {} runs with the shield (blue) and {} without it (red). Green: where they begin; dots: the program \
         decides; red dots: unsafe.</figcaption></figure>",
        shielded.len(),
        alone.len()
    );
    if drawn.len() < pairs.len() {
        html += &thinned(&format!("The first {MOST_PAIRS} of {} pairs of states can be looked at.", pairs.len()));
    }
    html
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn document() -> Value {
        let of = |unsafe_at: Value, interventions: usize| {
            json!({
                "unsafe_runs": 1, "steps": 4, "interventions": interventions, "alarms": 0, "steps_to_settle": 2, "seconds": 0.5,
                "history": {"width": 2, "steps": [2, 2], "interventions": [interventions, 0]},
                "samples": [{"run": 0, "steps": [0, 2, 4], "states": [[0, 1], [1, 2], [3, 4]], "overridden": [false, true, false],
                    "unsafe_at": unsafe_at}],
            })
        };
        json!({
            "system": "s", "property": "safe", "states": ["x", "y"], "runs": 1, "steps": 4, "verdict": "safe",
            "network_alone": of(json!(4), 0), "with_shield": of(json!(null), 1),
        })
    }

    #[test]
    fn interventions_and_runs_are_drawn() {
        let mut page = Page::default();
        let (row, html) = section(&mut page, &document()).unwrap();
        assert_eq!((row.verdict.as_str(), row.seconds), ("safe", Some(1.0)));
        assert!(html.contains("steps 0 to 1: 50 %") && html.contains("steps 2 to 3: 0 %"));
        assert!(html.contains("run 0, step 4: unsafe") && html.contains("run 0, step 2: the program decides"));
        assert_eq!(page.figures.len(), 2);
    }

    #[test]
    fn documents_without_pictures_are_tables_and_crooked_ones_refused() {
        let mut plain = document();
        for kind in ["network_alone", "with_shield"] {
            let own = plain[kind].as_object_mut().unwrap();
            own.remove("history");
            own.remove("samples");
        }
        let mut page = Page::default();
        assert!(section(&mut page, &plain).unwrap().1.contains("<table>"));
        assert!(page.figures.is_empty());
        let mut crooked = document();
        crooked["with_shield"]["samples"][0]["states"] = json!([[0, 1]]);
        assert!(section(&mut Page::default(), &crooked).is_err());
    }
}
