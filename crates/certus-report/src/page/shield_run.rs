//! Runs without and with a shield: how often the program decided over time, and where the first runs went.

use certus_documents::plain;
use certus_documents::shield_run::{History, Runs, SampledRun, ShieldRun};

use super::Row;
use super::html::{Page, data, select, table, thinned};
use super::read::{Malformed, Read};
use crate::scale::{Axis, Plot, short};
use crate::state_sets::{self, Along, Sets};
use crate::svg::{Drawing, Picture};

/// The first runs of one kind, if their members fit together.
pub(super) fn samples(runs: &Runs, states: usize) -> Read<&[SampledRun]> {
    let fits = |own: &SampledRun| {
        let length = own.steps.len();
        let sized = own.states.len() == length && own.overridden.len() == length;
        sized && own.states.iter().all(|state| state.len() == states)
    };
    match runs.samples.iter().position(|own| !fits(own)) {
        None => Ok(&runs.samples),
        Some(index) => {
            let error = Malformed::new("`steps`, `states` and `overridden` do not fit together");
            Err(error.within(&format!(".samples[{index}]")))
        }
    }
}

/// Draws runs over two states: a line each, a green dot where it begins, marks where the program decided, a red one where it is unsafe.
pub(super) fn draw(drawing: &mut Drawing, plot: &Plot, samples: &[SampledRun], x: usize, y: usize, class: &str) {
    for sample in samples {
        let states: Vec<Vec<f64>> = sample.states.iter().map(plain).collect();
        let up = |state: &[f64]| if x == y { 0.5 } else { state[y] };
        let within = |state: &[f64]| {
            let inside = |axis: &Axis, value: f64| (axis.lower..=axis.upper).contains(&value);
            inside(&plot.across, state[x]) && (x == y || inside(&plot.up, state[y]))
        };
        // A line is drawn as far as the frame reaches.
        for stretch in states.split(|state| !within(state)).filter(|stretch| stretch.len() > 1) {
            let points: Vec<(f64, f64)> = stretch.iter().map(|state| plot.at(state[x], up(state))).collect();
            drawing.polyline(&points, class);
        }
        for (index, state) in states.iter().enumerate().filter(|(_, state)| within(state)) {
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
fn over_time(history: &History) -> Picture {
    let width = history.width;
    let shares = history.steps.iter().zip(&history.interventions);
    let shares: Vec<f64> = shares.map(|(&all, &own)| 100.0 * own as f64 / all.max(1) as f64).collect();
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
pub(crate) fn section(page: &mut Page, document: &ShieldRun) -> Read<(Row, String)> {
    let system = &document.system;
    let mut row = Row {
        verdict: document.verdict.to_string(),
        engine: "shield run".to_owned(),
        relative: super::relative_to("simulation").to_owned(),
        reason: document.reason.clone(),
        sections: true,
        ..Row::new(system, "runs with the shield")
    };
    let (Some(alone), Some(shielded)) = (&document.network_alone, &document.with_shield) else {
        return Ok((row, "<p>The runs were not made.</p>\n".to_owned()));
    };
    if let (Some(runs), Some(steps)) = (document.runs, document.steps) {
        row.scope = format!("{runs} runs of {steps} steps");
    }
    row.seconds = Some(alone.seconds.0 + shielded.seconds.0);
    let line =
        |words: &str, read: &dyn Fn(&Runs) -> f64| vec![words.to_owned(), data(read(alone)), data(read(shielded))];
    let mut rows = vec![
        line("runs that became unsafe", &|own| own.unsafe_runs as f64),
        line("steps", &|own| own.steps as f64),
        line("interventions", &|own| own.interventions as f64),
        line("states in no branch", &|own| own.alarms as f64),
        line("steps to settle, on average", &|own| own.steps_to_settle.0),
        line("seconds", &|own| own.seconds.0),
    ];
    let times = [document.network_nanoseconds, document.monitor_nanoseconds];
    let [network, monitor] = times.map(|time| time.map_or("–".to_owned(), |time| data(time.0)));
    rows.push(vec!["nanoseconds a step: network, monitor".to_owned(), network, monitor]);
    let head = ["", "network alone", "with shield"].map(str::to_owned);
    let mut html = table("Runs", &head, &rows);
    let states = document.states.as_deref().unwrap_or_default();
    html += "<div class=\"figures\">";
    let history = &shielded.history;
    if history.steps.len() != history.interventions.len() {
        return Err(Malformed::new("`steps` and `interventions` do not fit together").within(".with_shield.history"));
    }
    if !history.steps.is_empty() {
        let caption = format!("How often the program decided, in stretches of {} steps.", data(history.width as f64));
        let label = format!("{system}: interventions over time");
        html += &page.figure(&format!("{system} interventions"), &over_time(history), &label, &caption);
    }
    let alone = samples(alone, states.len()).map_err(|error| error.within(".network_alone"))?;
    let shielded = samples(shielded, states.len()).map_err(|error| error.within(".with_shield"))?;
    let anything = !alone.is_empty() || !shielded.is_empty();
    if anything && !states.is_empty() {
        if !state_sets::fitting(&document.state_sets) {
            return Err(Malformed::new("parts and their variables do not fit together").within(".state_sets"));
        }
        let sets = Sets { initial: document.initial.as_ref(), sets: &document.state_sets };
        html += &portraits(page, system, states, (alone, shielded), sets);
    }
    Ok((row, html + "</div>\n"))
}

fn portraits(
    page: &mut Page,
    system: &str,
    states: &[String],
    (alone, shielded): (&[SampledRun], &[SampledRun]),
    sets: Sets<'_>,
) -> String {
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
        let axis = |i: usize| Axis::around(&states[i], all().map(|state| state[i].0));
        let up = if x == y { Axis { name: String::new(), lower: 0.0, upper: 1.0 } } else { axis(y) };
        let plot = Plot { rectangle: [66.0, 10.0, 402.0, 330.0], across: axis(x), up };
        let mut drawing = Drawing::new(480.0, 384.0);
        if x != y {
            let (across, up) = (Along::Variable(&states[x]), Along::Variable(&states[y]));
            sets.draw(&mut drawing, &plot, across, up);
            sets.draw_initial(&mut drawing, &plot, across, up);
        }
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
         decides; red dots: unsafe.{}</figcaption></figure>",
        shielded.len(),
        alone.len(),
        if sets.is_empty() || n == 1 { "" } else { " Initial states have a green outline, unsafe states are hatched." }
    );
    if drawn.len() < pairs.len() {
        html += &thinned(&format!("The first {MOST_PAIRS} of {} pairs of states can be looked at.", pairs.len()));
    }
    html
}

#[cfg(test)]
mod tests {
    use certus_documents::shield_run::RunsVerdict;

    use super::*;

    fn document() -> ShieldRun {
        let of = |unsafe_at: Option<usize>, interventions: u64| Runs {
            unsafe_runs: 1,
            steps: 4,
            interventions,
            steps_to_settle: 2.0.into(),
            seconds: 0.5.into(),
            history: History { width: 2, steps: vec![2, 2], interventions: vec![interventions, 0] },
            samples: vec![SampledRun {
                run: 0,
                steps: vec![0, 2, 4],
                states: [[0.0, 1.0], [1.0, 2.0], [3.0, 4.0]].iter().map(certus_documents::numbers).collect(),
                overridden: vec![false, true, false],
                unsafe_at,
            }],
            ..Runs::default()
        };
        ShieldRun {
            system: "s".to_owned(),
            property: Some("safe".to_owned()),
            states: Some(vec!["x".to_owned(), "y".to_owned()]),
            runs: Some(1),
            steps: Some(4),
            verdict: RunsVerdict::Safe,
            network_alone: Some(of(Some(4), 0)),
            with_shield: Some(of(None, 1)),
            ..ShieldRun::default()
        }
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
    fn runs_without_samples_are_tables_and_crooked_ones_refused() {
        let mut plain = document();
        for runs in [&mut plain.network_alone, &mut plain.with_shield].into_iter().flatten() {
            (runs.history, runs.samples) = (History::default(), Vec::new());
        }
        let mut page = Page::default();
        assert!(section(&mut page, &plain).unwrap().1.contains("<table>"));
        assert!(page.figures.is_empty());
        let mut crooked = document();
        if let Some(runs) = &mut crooked.with_shield {
            runs.samples[0].states.pop();
        }
        let told = section(&mut Page::default(), &crooked).unwrap_err().to_string();
        assert!(told.starts_with("with_shield.samples[0]: "), "{told}");
    }

    #[test]
    fn runs_that_were_stopped_say_why() {
        let stopped =
            ShieldRun { network_alone: None, with_shield: None, reason: Some("stopped".to_owned()), ..document() };
        let (row, html) = section(&mut Page::default(), &stopped).unwrap();
        assert_eq!(row.reason.as_deref(), Some("stopped"));
        assert!(html.contains("not made"));
    }
}
