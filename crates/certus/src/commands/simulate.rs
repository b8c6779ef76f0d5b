//! `certus simulate`: the closed loop run forward.

use std::io::Write;

use certus_lang::system::System;
use certus_model::{counted, short, short_range};
use certus_sim::{End, Summary};
use certus_tasks::commands::simulate::{note, task, work};
use certus_tasks::simulate::{Format, Simulate, Simulated, Written, document, estimate};

use super::write_brief;
use crate::Finding;
use crate::call::{Call, show_warnings};
use crate::failure::Failure;

/// Simulates a system.
pub fn run(call: &Call) -> Result<Finding, Failure> {
    let request = &call.request;
    let format = match request.text("format") {
        Some("csv") if !request.flag("json") => Some(Format::Csv),
        Some("jsonl") if !request.flag("json") => Some(Format::Jsonl),
        _ => None,
    };
    let mut task = task(request)?;
    task.written = format.map(|format| Written { format, file: request.output() });
    let simulated = call.live(|session| work(&task, session))?;
    show_warnings(&simulated.system, request.flag("quiet"));
    if format.is_none() {
        call.print(|| document(&task, &simulated), |output| write_table(&task, &simulated, output))?;
    }
    if let Some(note) = note(&task, &simulated) {
        call.note(&note);
    }
    Ok(finding(&simulated.system, &simulated.summary))
}

fn finding(system: &System, summary: &Summary) -> Finding {
    let broken = |(property, seen): (&certus_lang::system::Property, &certus_sim::PropertySummary)| {
        property.is_over_runs() && seen.violated > 0
    };
    if system.properties.iter().zip(&summary.properties).any(broken) {
        Finding::Violated
    } else if summary.has_model_error() {
        Finding::ModelError
    } else if summary.interrupted {
        Finding::Undecided
    } else {
        Finding::Good
    }
}

fn write_table(task: &Simulate, simulated: &Simulated, output: &mut impl Write) -> Result<(), Failure> {
    let Simulated { system, summary, provenance, seconds } = simulated;
    let (runs, seed) = (summary.runs, task.effort.seed);
    writeln!(
        output,
        "{}: {} of at most {}, seed {seed}, {seconds:.2} s",
        system.name,
        counted(runs, "run"),
        certus_model::steps(task.steps)
    )?;
    write_brief(provenance, output)?;
    writeln!(output)?;
    let ends = [
        (summary.completed, "made all their steps"),
        (summary.terminal, "reached a terminal state"),
        (summary.left_range, "LEFT A DECLARED RANGE"),
        (summary.blocked, "FOUND NO TRANSITION that `assume` allows"),
        (summary.not_a_number, "MET A VALUE THAT IS NOT A NUMBER"),
    ];
    for (count, what) in ends.iter().filter(|(count, _)| *count > 0) {
        writeln!(output, "  {count:>8} {what}")?;
    }
    if let Some(report) = &summary.first_fault {
        let (run, step) = (report.run, report.steps);
        match &report.end {
            End::LeftRange { variable, value, range: (low, high) } if low <= value && value <= high => writeln!(
                output,
                "           run {run}, step {step}: {variable} = {} is none of its integers",
                short(*value)
            )?,
            End::LeftRange { variable, value, range } => writeln!(
                output,
                "           run {run}, step {step}: {variable} = {} is outside of [{}, {}]",
                short(*value),
                short(range.0),
                short(range.1)
            )?,
            End::NotANumber { variable } => writeln!(output, "           run {run}, step {step}: {variable}")?,
            _ => writeln!(output, "           run {run}, step {step}")?,
        }
    }
    if let Some(reward) = summary.reward {
        let (mean, least, greatest) = (short(reward.mean), short(reward.least), short(reward.greatest));
        writeln!(output, "  reward per run: mean {mean}, from {least} to {greatest}")?;
    }
    if !system.properties.is_empty() {
        let width = system.properties.iter().map(|property| property.name.chars().count()).max().unwrap_or(0).max(8);
        writeln!(
            output,
            "\n  {:<width$}  {:>8}  {:>8}  {:>8}  {:>12}  worst run",
            "property", "broken", "kept", "open", "margin"
        )?;
        for (property, seen) in system.properties.iter().zip(&summary.properties) {
            let name = &property.name;
            let (broken, kept, open) = (seen.violated, seen.satisfied, seen.open);
            let margin = short(seen.worst_margin);
            let run = match (seen.worst_run, seen.worst_broken_at) {
                (Some(run), Some(step)) => format!("{run}, broken at step {step}"),
                (Some(run), None) => run.to_string(),
                (None, _) => "–".to_owned(),
            };
            match property.probability() {
                None => {
                    writeln!(output, "  {name:<width$}  {broken:>8}  {kept:>8}  {open:>8}  {margin:>12}  {run}")?;
                }
                Some(_) => {
                    let (low, high) = estimate(seen);
                    writeln!(
                        output,
                        "  {name:<width$}  probability in {} with 95 % confidence ({kept} of {runs} runs, {open} open)",
                        short_range(low, high)
                    )?;
                }
            }
        }
    }
    Ok(())
}
