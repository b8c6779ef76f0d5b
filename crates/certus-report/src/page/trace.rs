//! Runs: as plots over time, as a phase portrait, as a table, and step by step.

use certus_documents::check::{Position, PropertyResult, Verdict};
use serde_json::{Value, json};

use super::course::{over_time, pair, portrait};
use super::html::{Page, data, escaped, script_data, select, thinned};
use super::read::{Malformed, Read};
use crate::state_sets::Sets;

/// Numbers over the steps of a run.
#[derive(Clone, Debug)]
pub(crate) struct Column {
    pub(crate) name: String,
    pub(crate) group: &'static str,
    pub(crate) values: Vec<f64>,
}

/// A run that was read.
#[derive(Clone, Debug)]
pub(crate) struct Trace {
    pub(crate) steps: usize,
    pub(crate) columns: Vec<Column>,
    /// Labels over the steps: random choices and actions.
    labels: Vec<(String, &'static str, Vec<String>)>,
    pub(crate) atoms: Vec<(String, Vec<bool>)>,
    pub(crate) loop_to: Option<usize>,
    /// What the model did wrong at the last step, if that is what the run shows.
    model_error: Option<String>,
}

pub(super) const STATE: &str = "state";
const ENVIRONMENT: &str = "environment";
const POLICY: &str = "policy";

/// A run with where it loops to.
pub(crate) fn read(trace: &[Position], loop_to: Option<usize>) -> Read<Trace> {
    let mut read: Option<Trace> = None;
    for (step, position) in trace.iter().enumerate() {
        let mut found = Trace {
            steps: 1,
            columns: Vec::new(),
            labels: Vec::new(),
            atoms: position.atoms.iter().map(|(name, truth)| (name.clone(), vec![*truth])).collect(),
            loop_to,
            model_error: None,
        };
        for (numbers, group) in [(&position.state, STATE), (&position.input, ENVIRONMENT), (&position.policy, POLICY)] {
            let columns = numbers.iter();
            found.columns.extend(columns.map(|(name, value)| Column {
                name: name.clone(),
                group,
                values: vec![value.0],
            }));
        }
        for (labels, group) in [(&position.chance, ENVIRONMENT), (&position.action, POLICY)] {
            found.labels.extend(labels.iter().map(|(name, label)| (name.clone(), group, vec![label.clone()])));
        }
        match &mut read {
            None => read = Some(found),
            Some(own) => own.join(found).map_err(|error| error.within(&format!("[{step}]")))?,
        }
    }
    let read = read.ok_or_else(|| Malformed::new("a run has at least one state"))?;
    if read.columns.is_empty() && read.labels.is_empty() {
        return Err(Malformed::new("`state` is empty").within("[0]"));
    }
    match loop_to {
        Some(start) if start >= read.steps => Err(Malformed::new("the loop goes back to a step that is not there")),
        _ => Ok(read),
    }
}

impl Trace {
    fn join(&mut self, next: Trace) -> Read<()> {
        let same = self.columns.len() == next.columns.len()
            && self.columns.iter().zip(&next.columns).all(|(a, b)| a.name == b.name)
            && self.labels.len() == next.labels.len()
            && self.atoms.len() == next.atoms.len();
        if !same {
            return Err(Malformed::new("not the same variables as in the step before"));
        }
        self.steps += 1;
        for (own, more) in self.columns.iter_mut().zip(next.columns) {
            own.values.extend(more.values);
        }
        for (own, more) in self.labels.iter_mut().zip(next.labels) {
            own.2.extend(more.2);
        }
        for (own, more) in self.atoms.iter_mut().zip(next.atoms) {
            own.1.extend(more.1);
        }
        Ok(())
    }

    /// The steps that show the violation: the loop, or the last one.
    pub(super) fn offending(&self) -> (usize, usize) {
        (self.loop_to.unwrap_or(self.steps - 1), self.steps - 1)
    }

    pub(super) fn varies(column: &Column) -> bool {
        column.values.iter().any(|value| *value != column.values[0])
    }
}

/// Strips of one picture.
pub(super) const MOST_STRIPS: usize = 12;
/// Rows that a table shows.
const MOST_ROWS: usize = 200;
/// Numbers that the page keeps for its controls.
const MOST_NUMBERS: usize = 120_000;

/// Everything about a run.
pub(crate) fn section(page: &mut Page, stem: &str, trace: &Trace, sets: Sets<'_>) -> String {
    let told = format!("<p>{}</p>\n{}", story(trace), chosen(trace));
    if trace.steps == 1 {
        // One state is no course: its table says all.
        return told + &table(trace);
    }
    let id = page.name("run");
    let mut html = format!("<div class=\"run\" data-run=\"{id}\">\n{told}{}", controls(trace));
    html += &figures(page, stem, trace, sets);
    html += &table(trace);
    let (mut values, note) = page_data(trace);
    if !sets.is_empty() {
        values["states"] = sets.data();
    }
    if let Some(note) = note {
        html += &thinned(&note);
    }
    html += &script_data(&id, &values);
    html + "</div>\n"
}

/// The pictures of a run, and what was left out of them.
fn figures(page: &mut Page, stem: &str, trace: &Trace, sets: Sets<'_>) -> String {
    let (first, last) = trace.offending();
    let mut html = String::new();
    html += "<div class=\"figures\">\n";
    let (picture, remark) = over_time(trace);
    let caption = format!(
        "Over time{}. {}",
        if trace.loop_to.is_some() {
            "; the steps that repeat for ever are shaded"
        } else {
            "; the offending step is shaded"
        },
        "Point at a step, or use the controls."
    );
    let label = format!("{stem}: values over {} steps, the offending ones from {first} to {last}", trace.steps);
    let over_time = page.figure(&format!("{stem} over time"), &picture, &label, &caption);
    html += &over_time.replacen("<figure>", "<figure class=\"over-time\">", 1);
    if let Some((x, y)) = pair(trace) {
        html += &portrait_figure(page, stem, trace, (x, y), sets);
    }
    html += "</div>\n";
    for remark in remark {
        html += &thinned(&remark);
    }
    html
}

fn story(trace: &Trace) -> String {
    let last = trace.steps - 1;
    if let Some(error) = &trace.model_error {
        let error = escaped(error);
        return format!(
            "A run of {} state{} that meets a model error at step <data value=\"{last}\">{last}</data>: {error}.",
            trace.steps,
            if trace.steps == 1 { "" } else { "s" }
        );
    }
    match trace.loop_to {
        // It stays there, or comes to rest: either way no atom changes any more.
        Some(start) if start == last => {
            format!(
                "A run of {} states, which from step <data value=\"{last}\">{last}</data> on goes on like that for ever.",
                trace.steps
            )
        }
        Some(start) => format!(
            "A run of {} states: after step <data value=\"{last}\">{last}</data> it is back at step \
             <data value=\"{start}\">{start}</data>, and may go on like that for ever.",
            trace.steps
        ),
        None => format!(
            "A run of {} state{}: the property is violated at step <data value=\"{last}\">{last}</data>.",
            trace.steps,
            if trace.steps == 1 { "" } else { "s" }
        ),
    }
}

/// What the environment chooses in this run; which of that it must choose is said by the notes.
fn chosen(trace: &Trace) -> String {
    let mut items: Vec<String> = Vec::new();
    for column in trace.columns.iter().filter(|column| column.group == ENVIRONMENT) {
        let name = escaped(&column.name);
        items.push(if Trace::varies(column) {
            let low = column.values.iter().copied().fold(f64::INFINITY, f64::min);
            let high = column.values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            format!("{name} between {} and {}, as in the table", data(low), data(high))
        } else {
            format!("{name} = {} at every step", data(column.values[0]))
        });
    }
    for (name, _, values) in trace.labels.iter().filter(|(_, group, _)| *group == ENVIRONMENT) {
        let name = escaped(name);
        items.push(match values.iter().all(|value| *value == values[0]) {
            true => format!("{name} = {} at every step", escaped(&values[0])),
            false => format!("{name} as in the table"),
        });
    }
    match items.len() {
        0 => "<p>The environment has no choice: the initial state alone decides.</p>\n".to_owned(),
        count if count > MOST_STRIPS => {
            let rest = count - MOST_STRIPS;
            let shown = items[..MOST_STRIPS].join("; ");
            format!("<p>What the environment chooses in this run: {shown}; and {rest} more, in the table.</p>\n")
        }
        _ => format!("<p>What the environment chooses in this run: {}.</p>\n", items.join("; ")),
    }
}

fn controls(trace: &Trace) -> String {
    let last = trace.steps - 1;
    let button = |class: &str, sign: &str, label: &str| {
        format!("<button type=\"button\" class=\"{class}\" aria-label=\"{label}\" title=\"{label}\">{sign}</button>")
    };
    format!(
        "<div class=\"controls\" role=\"group\" aria-label=\"Steps of the run\">{}{}{}{}{}\
         <label>step <input type=\"range\" class=\"step\" min=\"0\" max=\"{last}\" value=\"{last}\" step=\"1\"></label>\
         <output class=\"at\" aria-live=\"polite\">{last} of {last}</output></div>\n\
         <output class=\"values\" aria-live=\"off\"></output>\n",
        button("to-first", "|◀", "first step"),
        button("back", "◀", "one step back"),
        button("play", "▶ play", "play"),
        button("on", "▶", "one step on"),
        button("to-last", "▶|", "last step"),
    )
}

fn portrait_figure(page: &mut Page, stem: &str, trace: &Trace, (x, y): (usize, usize), sets: Sets<'_>) -> String {
    let picture = portrait(trace, x, y, sets);
    page.keep(&format!("{stem} phase portrait"), &picture);
    let names: Vec<String> = trace.columns.iter().map(|column| column.name.clone()).collect();
    format!(
        "<figure class=\"portrait\"><div class=\"controls\">{} {}</div>{}<figcaption>Phase portrait: green where the run \
         begins, red where it offends.{}</figcaption></figure>\n",
        select("across", "across", &names, x),
        select("up", "up", &names, y),
        picture.inline(&format!("{stem}: {} against {}", names[y], names[x])),
        if sets.is_empty() {
            ""
        } else {
            " Initial states have a green outline; of what depends on these variables alone, unsafe states are hatched and goals green."
        }
    )
}

fn table(trace: &Trace) -> String {
    let mut head = vec!["step".to_owned()];
    let marked = |group: &str, name: &str| format!("<span class=\"group\">{group}</span> {}", escaped(name));
    head.extend(trace.columns.iter().map(|column| marked(column.group, &column.name)));
    head.extend(trace.labels.iter().map(|(name, group, _)| marked(group, name)));
    head.extend(trace.atoms.iter().map(|(text, _)| marked("condition", text)));
    let (first, _) = trace.offending();
    let row = |step: usize| {
        let mut cells =
            vec![format!("<span data-step=\"{step}\">{step}{}</span>", if step >= first { " ✗" } else { "" })];
        cells.extend(trace.columns.iter().map(|column| data(column.values[step])));
        cells.extend(trace.labels.iter().map(|(_, _, values)| escaped(&values[step])));
        cells.extend(
            trace.atoms.iter().map(|(_, truths)| if truths[step] { "true" } else { "<b>false</b>" }.to_owned()),
        );
        cells
    };
    let shown: Vec<usize> = match trace.steps <= MOST_ROWS {
        true => (0..trace.steps).collect(),
        false => (0..MOST_ROWS / 2).chain(trace.steps - MOST_ROWS / 2..trace.steps).collect(),
    };
    let rows: Vec<Vec<String>> = shown.iter().map(|&step| row(step)).collect();
    let mut html = String::new();
    if shown.len() < trace.steps {
        html += &thinned(&format!(
            "The table shows the first and the last {} of {} steps; the controls show each.",
            MOST_ROWS / 2,
            trace.steps
        ));
    }
    html += &super::html::table("The run, step by step (✗: offending)", &head, &rows);
    format!(
        "<details{}><summary>Table of the run</summary>{html}</details>\n",
        if trace.steps <= 12 { " open" } else { "" }
    )
}

/// What the script of the page needs: all numbers, or those of every n-th step.
fn page_data(trace: &Trace) -> (Value, Option<String>) {
    let stride = (trace.steps * trace.columns.len().max(1)).div_ceil(MOST_NUMBERS).max(1);
    let mut kept: Vec<usize> = (0..trace.steps).step_by(stride).collect();
    if kept.last() != Some(&(trace.steps - 1)) {
        kept.push(trace.steps - 1);
    }
    let (first, _) = trace.offending();
    let columns: Vec<Value> = trace
        .columns
        .iter()
        .map(|column| {
            let values: Vec<Value> = kept.iter().map(|&step| Value::from(column.values[step])).collect();
            json!({"name": column.name, "group": column.group, "values": values})
        })
        .collect();
    let labels: Vec<Value> = trace
        .labels
        .iter()
        .map(|(name, group, values)| {
            let mut names: Vec<&String> = values.iter().collect();
            names.sort();
            names.dedup();
            let places: Vec<usize> =
                kept.iter().map(|&step| names.partition_point(|own| **own < values[step])).collect();
            json!({"name": name, "group": group, "names": names, "values": places})
        })
        .collect();
    let mut value = json!({"last": trace.steps - 1, "first_offending": first, "loop": trace.loop_to, "columns": columns, "labels": labels});
    let note = (stride > 1).then(|| {
        value["steps"] = kept.iter().copied().collect();
        format!("The controls know every {stride}th of {} steps, to keep the page small.", trace.steps)
    });
    (value, note)
}

/// The run of a result, if it has one.
pub(crate) fn of_result(result: &PropertyResult) -> Read<Option<Trace>> {
    let Some(Some(trace)) = &result.trace else { return Ok(None) };
    let mut own = read(trace, result.loop_to.flatten()).map_err(|error| error.within(".trace"))?;
    if result.verdict == Verdict::ModelError {
        own.model_error = Some(result.reason.clone().unwrap_or_default());
    }
    Ok(Some(own))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_must_fit_together() {
        let at = |name: &str, value: f64| Position {
            state: certus_documents::members([(name, value)]),
            ..Position::default()
        };
        let good = [at("x", 1.0), at("x", 2.0)];
        assert_eq!(read(&good, Some(1)).unwrap().columns[0].values, [1.0, 2.0]);
        assert!(read(&good, Some(2)).is_err());
        assert!(read(&[], None).is_err());
        let error = read(&[at("x", 1.0), at("y", 2.0)], None).unwrap_err();
        assert_eq!(error.to_string(), "[1]: not the same variables as in the step before");
    }
}
