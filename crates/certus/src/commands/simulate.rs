//! `certus simulate`: the closed loop run forward.

use std::io::Write;

use certus_documents::Document;
use certus_lang::system::{PropertyKind, System};
use certus_sim::{ActionMode, End, Summary};
use certus_tasks::commands::simulate::standing;
use certus_tasks::simulate::{self, Simulated, Written, document, estimate, simulate};
use certus_tasks::{Files, Loading};

use super::{loading, show_warnings, stop_on_interrupt, write_brief};
use crate::Finding;
use crate::arguments::{Actions, Format, Simulate};
use crate::failure::Failure;
use crate::output::{Output, short};
use crate::progress::LiveLine;

/// Simulates a system.
pub fn run(command: &Simulate) -> Result<Finding, Failure> {
    let format = match command.format {
        Format::Csv if !command.common.json => Some(simulate::Format::Csv),
        Format::Jsonl if !command.common.json => Some(simulate::Format::Jsonl),
        _ => None,
    };
    let task = simulate::Simulate {
        system: Loading { networks: command.networks.clone(), ..loading(&command.file, &command.settings) },
        runs: command.runs,
        steps: command.steps,
        first_run: command.first_run,
        inputs: command.inputs.clone(),
        property: command.property.clone(),
        candidates: command.candidates,
        actions: match command.actions {
            Actions::Sample => ActionMode::Sampled,
            Actions::Argmax => ActionMode::MostLikely,
        },
        written: format.map(|format| Written { format, file: command.common.output.clone() }),
        effort: command.effort.plain()?,
    };
    Files::new()
        .reads_system(&task.system)
        .reads("--inputs", task.inputs.table())
        .writes("-o", &command.common.output)
        .ready()?;
    let stop = stop_on_interrupt()?;
    let mut line = LiveLine::new(command.effort.quiet);
    let simulated = simulate(&task, &stop, &mut |progress| {
        line.show(|| standing(progress));
    })?;
    drop(line);
    show_warnings(&simulated.system, command.effort.quiet);
    if format.is_none() {
        let mut output = Output::open(command.common.output.as_deref())?;
        match command.common.json {
            true => document(&task, &simulated).write_indented(&mut output)?,
            false => write_table(command, &simulated, &mut output)?,
        }
        output.finish()?;
    }
    let summary = &simulated.summary;
    if summary.interrupted && !command.effort.quiet {
        let next = command.first_run + summary.runs;
        let rest = command.runs - summary.runs;
        eprintln!("stopped after {} runs; `--first-run {next} --runs {rest}` goes on from here", summary.runs);
    }
    Ok(finding(&simulated.system, summary))
}

fn finding(system: &System, summary: &Summary) -> Finding {
    let broken = |(property, seen): (&certus_lang::system::Property, &certus_sim::PropertySummary)| {
        matches!(property.kind, PropertyKind::Ltl(_)) && seen.violated > 0
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

fn write_table(command: &Simulate, simulated: &Simulated, output: &mut impl Write) -> Result<(), Failure> {
    let Simulated { system, summary, provenance, seconds } = simulated;
    let (runs, seed) = (summary.runs, command.effort.seed);
    writeln!(
        output,
        "{}: {runs} runs of at most {}, seed {seed}, {seconds:.2} s",
        system.name,
        certus_model::steps(command.steps)
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
            match &property.kind {
                PropertyKind::Ltl(_) => {
                    writeln!(output, "  {name:<width$}  {broken:>8}  {kept:>8}  {open:>8}  {margin:>12}  {run}")?;
                }
                PropertyKind::Probability { .. } => {
                    let (low, high) = estimate(seen);
                    writeln!(
                        output,
                        "  {name:<width$}  probability in [{}, {}] with 95 % confidence ({kept} of {runs} runs, {open} open)",
                        short(low),
                        short(high)
                    )?;
                }
            }
        }
    }
    Ok(())
}
