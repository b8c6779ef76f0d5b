//! `certus shield`: a verified program beside a network; made, run, exported.

use std::io::Write;
use std::path::Path;
use std::time::Instant;

use certus_documents::Document;
use certus_lang::LowerOptions;
use certus_shield::evaluation::Trial;
use certus_shield::synthesis::{Failed, Form, Options};
use certus_tasks::commands::shield::degrees;
use certus_tasks::shield::document::{
    about, failed_document, made_document, reason, replay_document, replayed_from, settling, stopped_document,
};
use certus_tasks::shield::export::{self, Export, files_of};
use certus_tasks::shield::{self, Made, Replay, Shielded, Shielding};
use certus_tasks::{Files, Loading, Provenance, output};

use super::{stop_on_interrupt, write_brief};
use crate::Finding;
use crate::arguments::{Invariant, Language, Shield, ShieldAction, ShieldExport, ShieldRun};
use crate::failure::Failure;
use crate::output::Output;
use crate::progress::LiveLine;
use crate::terminal::colourful_messages;

/// Makes a shield, or does something with one.
pub fn run(command: &Shield) -> Result<Finding, Failure> {
    match &command.action {
        Some(ShieldAction::Run(own)) => replay(own),
        Some(ShieldAction::Export(own)) => export(own),
        None => make(command),
    }
}

fn make(command: &Shield) -> Result<Finding, Failure> {
    let started = Instant::now();
    let Some(file) = &command.file else { return Err(Failure::message("which system? name a `.certus` file")) };
    degrees(command.degree, command.program_degree)?;
    let task = Shielding {
        loading: Loading {
            path: file.clone(),
            options: LowerOptions { overrides: command.settings.clone(), ..LowerOptions::default() },
            networks: command.networks.clone(),
            colour: colourful_messages(),
        },
        property: command.property.clone(),
        options: Options {
            form: match command.invariant {
                Invariant::Auto => Form::Auto,
                Invariant::Polynomial => Form::Polynomial,
                Invariant::Polyhedron => Form::Polyhedron,
            },
            degree: command.degree,
            sketch_degree: Some(command.program_degree),
            target: command.converge.clone(),
            sketch: command.monomials.iter().map(|exponents| exponents.0.clone()).collect(),
            ..Options::default()
        },
        effort: command.effort.plain()?,
    };
    let stop = stop_on_interrupt()?;
    Files::new().reads_system(&task.loading).writes("-o", &command.common.output).ready()?;
    let mut line = LiveLine::new(command.effort.quiet);
    let shielded = shield::shield(&task, &stop, |doing| line.show(|| doing.to_owned()))?;
    drop(line);
    let seconds = started.elapsed().as_secs_f64();
    match shielded {
        Shielded::Made(made) => {
            let text = made.document.to_line()? + "\n";
            if let Some(path) = &command.common.output {
                output::write_atomically(path, &text)?;
            }
            let mut standard = Output::open(None)?;
            match command.common.json {
                true => made_document(&made, text.len(), seconds, command.common.output.as_deref())
                    .write_indented(&mut standard)?,
                false => made_text(&made, text.len(), seconds, command.common.output.as_deref(), &mut standard)?,
            }
            standard.finish()?;
            Ok(Finding::Good)
        }
        Shielded::Failed(Failed::Unsupported(reason)) => Err(Failure::message(format!("{}: {reason}", file.display()))),
        Shielded::Failed(failed) => {
            let (reason, tried) = reason(&failed, !command.monomials.is_empty());
            let mut standard = Output::open(None)?;
            match command.common.json {
                true => failed_document(reason, tried, seconds).write_indented(&mut standard)?,
                false => writeln!(standard, "unknown: {reason} ({tried} programs tried)")?,
            }
            standard.finish()?;
            Ok(Finding::Undecided)
        }
    }
}

fn made_text(made: &Made, bytes: usize, seconds: f64, path: Option<&Path>, output: &mut Output) -> Result<(), Failure> {
    writeln!(output, "{} {}: verified, {seconds:.2} s", made.system, made.property)?;
    write_brief(&made.provenance, output)?;
    for (index, (branch, origin)) in made.accepted.branches.iter().zip(&made.origins).enumerate() {
        writeln!(
            output,
            "  branch {index}: {}; {origin}; {} claims checked exactly; tolerance {:.1e}",
            branch.invariant, branch.claims, branch.tolerance
        )?;
    }
    writeln!(
        output,
        "  initial states covered in {} parts; certificate {} kB",
        made.accepted.boxes,
        bytes.div_ceil(1024)
    )?;
    if let Some(own) = &made.accepted.convergence {
        writeln!(output, "  {own}")?;
    }
    if made.cut_short {
        writeln!(output, "  improvement was cut short by the deadline: with more time the shield may interfere less")?;
    }
    match path {
        Some(path) => writeln!(output, "  written to {}", path.display())?,
        None => writeln!(output, "  not written: name a file with -o")?,
    }
    writeln!(output, "\n{}", made.program.trim_end())?;
    Ok(())
}

fn replay(command: &ShieldRun) -> Result<Finding, Failure> {
    let ready = shield::ready(&command.shield, command.system.as_deref(), &command.networks)?;
    let trial = Trial {
        runs: command.runs,
        steps: command.steps,
        seed: command.effort.seed,
        threads: certus_tasks::BudgetOptions {
            threads: command.effort.threads,
            ..certus_tasks::BudgetOptions::default()
        }
        .threads(),
    };
    let stop = stop_on_interrupt()?;
    files_of(&ready).writes("-o", &command.common.output).ready()?;
    let mut line = LiveLine::new(command.effort.quiet);
    let total = 2 * command.runs * command.steps as u64;
    let name = ready.system.name.clone();
    let loading = Loading { networks: command.networks.clone(), ..Loading::default() };
    let effort = command.effort.plain()?;
    let provenance = replayed_from(&ready, &trial, &effort, loading);
    let about = about(&ready, &provenance);
    let replayed = shield::replay(ready, trial, effort.deadline, &stop, |steps| {
        line.show(|| format!("{:.0} % of {total} steps", 100.0 * steps as f64 / total.max(1) as f64));
    })?;
    drop(line);
    let mut output = Output::open(command.common.output.as_deref())?;
    let Some(replayed) = replayed else {
        match command.common.json {
            true => stopped_document(about).write_indented(&mut output)?,
            false => writeln!(output, "unknown: {name} was stopped before the runs were made")?,
        }
        output.finish()?;
        return Ok(Finding::Undecided);
    };
    match command.common.json {
        true => replay_document(about, &trial, &replayed).write_indented(&mut output)?,
        false => replay_text(&name, command, &provenance, &replayed, &mut output)?,
    }
    output.finish()?;
    Ok(if replayed.shielded.unsafe_runs == 0 { Finding::Good } else { Finding::Violated })
}

fn replay_text(
    name: &str,
    command: &ShieldRun,
    provenance: &Provenance,
    replay: &Replay,
    output: &mut Output,
) -> Result<(), Failure> {
    let (bare, shielded) = (&replay.bare, &replay.shielded);
    writeln!(output, "{name}: {} runs of {} steps, seed {}", command.runs, command.steps, command.effort.seed)?;
    write_brief(provenance, output)?;
    writeln!(output, "  {:<24} {:>14} {:>14}", "", "network alone", "with shield")?;
    writeln!(output, "  {:<24} {:>14} {:>14}", "runs that became unsafe", bare.unsafe_runs, shielded.unsafe_runs)?;
    writeln!(output, "  {:<24} {:>14} {:>14}", "interventions", "-", shielded.interventions)?;
    writeln!(output, "  {:<24} {:>14} {:>14}", "states in no branch", "-", shielded.alarms)?;
    writeln!(output, "  {:<24} {:>14.1} {:>14.1}", "steps to settle", settling(bare), settling(shielded))?;
    if shielded.unsafe_runs > 0 {
        writeln!(output, "  NOT SAFE: a shielded run entered an unsafe state; the shield is not for this plant")?;
    }
    if !command.effort.quiet {
        let share = 100.0 * replay.monitor_time / replay.network_time;
        eprintln!(
            "note: the network takes {:.0} ns a step, the monitor {:.0} ns ({share:.1} %), one thread",
            replay.network_time, replay.monitor_time
        );
    }
    Ok(())
}

fn export(command: &ShieldExport) -> Result<Finding, Failure> {
    let (text, written) = certus_tasks::shield::export::export(&Export {
        shield: command.shield.clone(),
        language: match command.lang {
            Language::C => export::Language::C,
            Language::Rust => export::Language::Rust,
            Language::Python => export::Language::Python,
        },
        system: command.system.clone(),
        name: command.name.clone(),
        output: command.output.clone(),
    })?;
    if written.is_empty() {
        let mut standard = Output::open(None)?;
        standard.write_all(text.as_bytes())?;
        standard.finish()?;
    }
    Ok(Finding::Good)
}
