//! `certus check`: properties of a closed loop.

use std::io::Write;

use certus_lang::system::{Expect, Property, System, in_words};
use certus_model::proof::{Invariant, Method};
use certus_model::{Outcome, Proof, Run, Scope, Verdict, short, short_range};
use certus_tasks::check::{
    Check, Checked, Conclusion, Found, PROBABILITIES, PropertyResult, names_of, policy_names, proof_names, why,
};
use certus_tasks::commands::check::{compared, task, work, write};

use super::write_brief;
use crate::Finding;
use crate::call::Call;
use crate::failure::Failure;
use crate::output::Output;
use crate::terminal::painted;

/// Checks properties.
pub fn run(call: &Call) -> Result<Finding, Failure> {
    let request = &call.request;
    if !request.ranges("region").is_empty() {
        return super::region::run(call);
    }
    if request.flag("reachable_sets") && !request.flag("json") {
        return Err(Failure::message(
            "⟨reachable_sets⟩ adds to the JSON document: add ⟨json⟩, or draw one picture with ⟨flowpipe⟩",
        ));
    }
    let task = task(request)?;
    let checked = call.live(|session| work(&task, session))?;
    let Some(system) = &checked.system else {
        call.note(&format!("{} before the system was loaded", call.ended_by()));
        return Ok(Finding::Undecided);
    };
    let expects = request.flag("expect");
    call.print(|| compared(request, system, &checked), |output| report(expects, &task, system, &checked, output))?;
    for note in write(request, &task, system, &checked)? {
        call.note(&note);
    }
    Ok(finding(expects, system, &checked.results))
}

/// What one property came to.
fn finding_of(expects: bool, system: &System, result: &PropertyResult) -> Finding {
    let conclusion = result.outcome.as_ref().map(Found::conclusion);
    match (conclusion, system.properties[result.property].expect) {
        (Err(_), _) => Finding::ModelError,
        (Ok(Conclusion::Violated), Some(Expect::Violated)) if expects => Finding::Good,
        (Ok(Conclusion::Violated), _) => Finding::Violated,
        (Ok(Conclusion::Holds), Some(Expect::Violated)) if expects => Finding::Violated,
        (Ok(Conclusion::Holds | Conclusion::Measured), _) => Finding::Good,
        (Ok(Conclusion::ModelError), _) => Finding::ModelError,
        (Ok(Conclusion::Unknown), _) => Finding::Undecided,
    }
}

/// The worst of what the properties came to.
fn finding(expects: bool, system: &System, results: &[PropertyResult]) -> Finding {
    let rank = |finding: &Finding| match finding {
        Finding::Good => 0,
        Finding::Undecided => 1,
        Finding::ModelError => 2,
        Finding::Violated => 3,
    };
    results.iter().map(|result| finding_of(expects, system, result)).max_by_key(rank).unwrap_or(Finding::Good)
}

/// A verdict in words.
fn words(found: &Result<Found, String>) -> String {
    match found {
        Err(message) => format!("cannot be checked: {message}"),
        Ok(Found::Probability(outcome, _)) => super::prob::words(outcome),
        Ok(Found::Runs(outcome)) => match &outcome.verdict {
            Verdict::Holds(Scope::Unbounded) => "holds for all time".to_owned(),
            Verdict::Holds(Scope::Bounded(steps)) => format!("holds up to {}", certus_model::steps(*steps)),
            Verdict::Holds(Scope::Horizon(step)) => format!("holds up to step {step}"),
            Verdict::ModelError(error) => format!("model error at step {}: {}", error.run.states.len() - 1, error.kind),
            Verdict::Violated(run) => match run.loop_to {
                None => format!("violated at step {}", run.states.len() - 1),
                Some(start) if run.converges => {
                    format!("violated for ever: converges to an equilibrium after step {start}")
                }
                Some(start) => format!("violated for ever: from step {} back to {start}", run.states.len() - 1),
            },
            Verdict::Probability(own) => format!("probability in {}", short_range(own.lower, own.upper)),
            Verdict::Unknown(unknown) => {
                let settled = match unknown.settled {
                    Some(0) => "; no violation in an initial state".to_owned(),
                    Some(steps) => format!("; no violation up to {}", certus_model::steps(steps)),
                    None => String::new(),
                };
                let open = match unknown.holds_if.as_slice() {
                    [] => String::new(),
                    conditions => format!("; holds if {}", conditions.join(", and if ")),
                };
                format!("unknown: {}, at {}{settled}{open}", why(unknown.reason), unknown.place)
            }
        },
    }
}

fn report(expects: bool, task: &Check, system: &System, checked: &Checked, output: &mut Output) -> Result<(), Failure> {
    let Checked { results, provenance, .. } = checked;
    let is_probability = |result: &PropertyResult| matches!(result.outcome, Ok(Found::Probability(..)));
    let steps = results.iter().map(|result| task.steps_for(&system.properties[result.property])).max().unwrap_or(0);
    let all_probabilities = !results.is_empty() && results.iter().all(is_probability);
    let how = match task.engine.about(steps) {
        Some(about) => about,
        None if all_probabilities => PROBABILITIES.to_owned(),
        None => {
            let also = if results.iter().any(is_probability) { format!("; {PROBABILITIES}") } else { String::new() };
            format!("violations within {}, and proofs for all time{also}", certus_model::steps(steps))
        }
    };
    writeln!(output, "{}: {how}", system.name)?;
    write_brief(provenance, output)?;
    writeln!(output)?;
    let property = |result: &PropertyResult| &system.properties[result.property];
    let width = results.iter().map(|result| property(result).name.len()).max().unwrap_or(0);
    for result in results {
        let name = &property(result).name;
        let expected = match (expects, property(result).expect) {
            (true, Some(Expect::Holds)) => "  (expected to hold)",
            (true, Some(Expect::Violated)) => "  (expected to be violated)",
            _ => "",
        };
        let verdict = painted(&words(&result.outcome), finding_of(expects, system, result), output);
        writeln!(output, "  {name:width$}  {verdict}{expected}  {:.2} s", result.seconds)?;
    }
    for result in results {
        match &result.outcome {
            Ok(Found::Runs(outcome)) => explain(system, property(result), outcome, output)?,
            Ok(Found::Probability(outcome, _)) => super::prob::details(system, result.property, outcome, output)?,
            Err(_) => {}
        }
    }
    Ok(())
}

/// The run that violates a property, and what is to be known of a verdict.
fn explain(system: &System, property: &Property, outcome: &Outcome, output: &mut Output) -> Result<(), Failure> {
    let shown = match &outcome.verdict {
        Verdict::Violated(run) => Some(run),
        Verdict::ModelError(error) => Some(&error.run),
        Verdict::Unknown(unknown) => unknown.candidate.as_deref(),
        Verdict::Holds(_) | Verdict::Probability(_) => None,
    };
    if let Some(run) = shown {
        writeln!(output, "\n{}: {}", property.name, property.source)?;
        let rows = columns(system, run);
        let widths: Vec<usize> = (0..rows[0].len())
            .map(|column| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0))
            .collect();
        let elided = elided(rows.len() - 1, run.loop_to);
        for (index, row) in rows.iter().enumerate() {
            if elided.contains(&index) {
                if index == elided.start {
                    writeln!(output, "  … {} not shown", certus_model::counted(elided.len() as u128, "step"))?;
                }
                continue;
            }
            let cells: Vec<String> = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:>width$}")).collect();
            let mark = match run.loop_to {
                Some(start) if index == start + 1 && run.converges => "  <- the run converges",
                Some(start) if index == start + 1 => "  <- the run returns here",
                _ => "",
            };
            writeln!(output, "  {}{mark}", cells.join("  "))?;
        }
    }
    if let (Verdict::Holds(Scope::Unbounded), Some(proof)) = (&outcome.verdict, &outcome.proof) {
        for line in proof_lines(system, proof) {
            // What belongs to a line is indented already.
            match line.starts_with(' ') {
                true => writeln!(output, "  {line}")?,
                false => writeln!(output, "  {}: {line}", property.name)?,
            }
        }
    }
    for note in &outcome.notes {
        writeln!(output, "  {}: {note}", property.name)?;
    }
    Ok(())
}

/// What a proof for all time rests on.
fn proof_lines(system: &System, proof: &Proof) -> Vec<String> {
    match proof {
        Proof::Bounded { .. } => Vec::new(),
        Proof::OutOfReach { steps } => {
            vec![format!("after {} no run can violate it any more", certus_model::steps(*steps))]
        }
        Proof::ForAllTime(methods) => methods.iter().flat_map(|method| method_lines(system, method)).collect(),
    }
}

fn method_lines(system: &System, method: &Method) -> Vec<String> {
    let text = method.text(&proof_names(system));
    match method {
        Method::Induction { invariant, .. } if !invariant.faces.is_empty() => {
            super::invariant::lines(&text, invariant, system)
        }
        Method::Induction { depth: 0, .. } => match certus_tasks::check::confining_box(system).as_slice() {
            [] => vec!["in every state that the ranges allow".to_owned()],
            ends => super::invariant::lines(&format!("{text}:"), &Invariant::of_box(ends), system),
        },
        _ => vec![text],
    }
}

/// Positions of a long run that are shown at its beginning, and as many at its end.
const SHOWN_POSITIONS: usize = 16;

/// The rows of a table (the first is its header) that are left out, so that a run of so many positions fits a terminal.
fn elided(positions: usize, loop_to: Option<usize>) -> std::ops::Range<usize> {
    let middle = SHOWN_POSITIONS + 1..positions.saturating_sub(SHOWN_POSITIONS) + 1;
    // Where a run returns to is shown: what is longer, the way there or the loop, is left out.
    let middle = match loop_to.map(|start| start + 1) {
        Some(row) if middle.contains(&row) && row - middle.start < middle.end - row => row + 1..middle.end,
        Some(row) if middle.contains(&row) => middle.start..row,
        _ => middle,
    };
    if middle.len() > 1 { middle } else { 0..0 }
}

/// Columns beyond this many are left out of a table.
const MOST_COLUMNS: usize = 24;

/// A run as a table: a header, then a row for each position.
fn columns(system: &System, run: &Run) -> Vec<Vec<String>> {
    let mut header = vec!["step".to_owned()];
    header.extend(names_of(&system.states));
    header.extend(names_of(&system.inputs));
    header.extend(system.chances.iter().map(|chance| chance.name.clone()));
    header.extend(policy_names(system));
    header.extend(system.actions.iter().map(|action| action.name.clone()));
    let mut rows = vec![header];
    for position in 0..run.states.len() {
        let mut row = vec![position.to_string()];
        let numbers = |values: &[f64]| values.iter().map(|&value| short(value)).collect::<Vec<String>>();
        // What is chosen at the end does not matter.
        let open = run.open_end && position + 1 == run.states.len();
        let chosen = |text: String| if open { "–".to_owned() } else { text };
        row.extend(in_words(&system.states, &run.states[position], short));
        row.extend(in_words(&system.inputs, &run.inputs[position], short).into_iter().map(chosen));
        let chances = system.chances.iter().zip(&run.chances[position]);
        row.extend(chances.map(|(chance, &label)| chosen(chance.labels[label].clone())));
        row.extend(numbers(&run.policies[position]));
        row.extend(
            system.actions.iter().zip(&run.actions[position]).map(|(action, &label)| action.labels[label].clone()),
        );
        rows.push(row);
    }
    if rows[0].len() > MOST_COLUMNS {
        // What the policy sees and does last matters most: the first columns and the last ones.
        for row in &mut rows {
            let rest = row.split_off(MOST_COLUMNS / 2);
            row.push("…".to_owned());
            row.extend(rest.into_iter().rev().take(MOST_COLUMNS / 2).rev());
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::elided;

    #[test]
    fn long_runs_keep_both_ends_and_the_place_they_return_to() {
        // Short ones are shown whole.
        assert!((0..=33).all(|positions| elided(positions, None).is_empty()));
        assert_eq!(elided(100, None), 17..85);
        for (positions, start) in [(100, 0), (100, 16), (100, 40), (100, 99), (40, 39)] {
            let elided = elided(positions, Some(start));
            // Row 0 is the header.
            assert!(!elided.contains(&0) && !elided.contains(&1) && !elided.contains(&positions), "{elided:?}");
            assert!(!elided.contains(&(start + 1)), "{positions}, {start}: {elided:?}");
        }
    }
}
