//! `certus check`: properties of a closed loop.

use std::io::Write;
use std::path::Path;

use certus_documents::Document;
use certus_grid::Policy;
use certus_grid::extract::ExtractOptions;
use certus_lang::LowerOptions;
use certus_lang::system::{Expect, Property, System};
use certus_model::{Outcome, Run, Scope, Verdict};
use certus_tasks::check::{
    self, Checked, Conclusion, Found, GridOptions, PROBABILITIES, PropertyResult, check, document, names_of,
    policy_names, proof_names, why,
};
use certus_tasks::commands::check::{compare, progress_line, without_certificate, write_cells, write_trace};
use certus_tasks::{Files, Loading};

use super::{ended_by, stop_on_interrupt, write_brief};
use crate::Finding;
use crate::arguments::{Check, PolicyKind};
use crate::failure::{Dialect, Failure};
use crate::output::{Output, short};
use crate::progress::LiveLine;
use crate::terminal::{colourful_messages, painted};

/// Checks properties.
pub fn run(command: &Check) -> Result<Finding, Failure> {
    if !command.regions.region.is_empty() {
        return super::region::run(command);
    }
    refuse(command)?;
    if command.grid.cells.is_some() && !command.engine.has_grid() {
        return Err(Failure::message("--cells draws the cells of a grid: take --engine grid"));
    }
    let task = check::Check {
        system: Loading {
            path: command.file.clone(),
            options: LowerOptions { overrides: command.settings.clone(), ..LowerOptions::default() },
            networks: command.networks.clone(),
            colour: colourful_messages(),
        },
        properties: command.properties.clone(),
        engine: command.engine,
        grid: grid_options(command),
        steps: command.steps,
        assume_no_model_errors: command.assume_no_model_errors,
        certificate: command.certificate.clone(),
        effort: command.effort.with_memory(&command.memory)?,
    };
    let stop = stop_on_interrupt()?;
    Files::new()
        .reads_system(&task.system)
        .writes("-o", &command.common.output)
        .writes("--trace", &command.trace)
        .writes("--certificate", &command.certificate)
        .writes("--cells", &command.grid.cells)
        .ready()?;
    let mut line = LiveLine::new(command.effort.quiet);
    let checked = check(&task, &stop, |place| line.show(|| progress_line(place)))?;
    drop(line);
    let mut output = Output::open(command.common.output.as_deref())?;
    let Checked { system: Some(system), results, provenance } = &checked else {
        output.finish()?;
        eprintln!("note: {} before the system was loaded", ended_by(&stop));
        return Ok(Finding::Undecided);
    };
    match command.common.json {
        true => {
            let mut document = document(system, results, provenance);
            if command.expect {
                compare(system, results, &mut document);
            }
            document.write_indented(&mut output)?;
        }
        false => report(command, &task, system, &checked, &mut output)?,
    }
    output.finish()?;
    let not_written = |path: &Path, reason: Option<String>| match reason {
        Some(reason) if !command.effort.quiet => {
            eprintln!("note: {} was not written: {}", path.display(), Dialect::Flags.word(&reason));
        }
        _ => {}
    };
    if let Some(path) = &command.grid.cells {
        not_written(path, write_cells(path, command.engine, command.grid.axes.as_ref(), system, results)?);
    }
    if let Some(path) = &command.certificate {
        not_written(path, without_certificate(results).map(str::to_owned));
    }
    if let Some(path) = &command.trace {
        not_written(path, write_trace(path, system, &checked)?);
    }
    Ok(finding(command, system, results))
}

/// Refuses flags that would be ignored.
fn refuse(command: &Check) -> Result<(), Failure> {
    let asked = command.grid.sampling.samples.is_some() || command.grid.sampling.significance.is_some();
    if asked && command.grid.policy != PolicyKind::Extracted {
        return Err(Failure::message(
            "--samples and --significance say how a policy is extracted: add --policy extracted, or leave them out",
        ));
    }
    Ok(())
}

/// What the grid engine is asked to do.
fn grid_options(command: &Check) -> GridOptions {
    let own = &command.grid;
    let policy = match own.policy {
        PolicyKind::Network => Policy::Network,
        PolicyKind::Extracted => Policy::Extracted(ExtractOptions {
            samples: own.sampling.samples(),
            significance: own.sampling.significance(),
            seed: command.effort.seed,
        }),
    };
    GridOptions { widths: own.width.clone(), policy, refinements: own.refine, axes: own.axes.clone() }
}

/// What one property came to.
fn finding_of(command: &Check, system: &System, result: &PropertyResult) -> Finding {
    let conclusion = result.outcome.as_ref().map(Found::conclusion);
    match (conclusion, system.properties[result.property].expect) {
        (Err(_), _) => Finding::ModelError,
        (Ok(Conclusion::Violated), Some(Expect::Violated)) if command.expect => Finding::Good,
        (Ok(Conclusion::Violated), _) => Finding::Violated,
        (Ok(Conclusion::Holds), Some(Expect::Violated)) if command.expect => Finding::Violated,
        (Ok(Conclusion::Holds | Conclusion::Measured), _) => Finding::Good,
        (Ok(Conclusion::ModelError), _) => Finding::ModelError,
        (Ok(Conclusion::Unknown), _) => Finding::Undecided,
    }
}

/// The worst of what the properties came to.
fn finding(command: &Check, system: &System, results: &[PropertyResult]) -> Finding {
    let rank = |finding: &Finding| match finding {
        Finding::Good => 0,
        Finding::Undecided => 1,
        Finding::ModelError => 2,
        Finding::Violated => 3,
    };
    results.iter().map(|result| finding_of(command, system, result)).max_by_key(rank).unwrap_or(Finding::Good)
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
            Verdict::Probability(own) => format!("probability in [{}, {}]", short(own.lower), short(own.upper)),
            Verdict::Unknown(unknown) => {
                let settled = match unknown.settled {
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

fn report(
    command: &Check,
    task: &check::Check,
    system: &System,
    checked: &Checked,
    output: &mut Output,
) -> Result<(), Failure> {
    let Checked { results, provenance, .. } = checked;
    let is_probability = |result: &PropertyResult| matches!(result.outcome, Ok(Found::Probability(..)));
    let steps = results.iter().map(|result| task.steps_for(&system.properties[result.property])).max().unwrap_or(0);
    let all_probabilities = !results.is_empty() && results.iter().all(is_probability);
    let how = match command.engine.about(steps) {
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
        let expected = match (command.expect, property(result).expect) {
            (true, Some(Expect::Holds)) => "  (expected to hold)",
            (true, Some(Expect::Violated)) => "  (expected to be violated)",
            _ => "",
        };
        let verdict = painted(&words(&result.outcome), finding_of(command, system, result), output);
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
        for text in proof.texts(&proof_names(system)) {
            writeln!(output, "  {}: {text}", property.name)?;
        }
    }
    for note in &outcome.notes {
        writeln!(output, "  {}: {note}", property.name)?;
    }
    Ok(())
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
        row.extend(numbers(&run.states[position]));
        row.extend(numbers(&run.inputs[position]).into_iter().map(chosen));
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
