//! `certus shield`: a verified program beside a network; made, run, exported.

use std::io::Write;
use std::path::Path;
use std::time::Instant;

use certus_documents::shield_run::{self, RunsVerdict, SampledRun};
use certus_documents::shield_synthesis::{ShieldSynthesis, SynthesisVerdict, SynthesisedBranch};
use certus_documents::{Document, Schema, numbers};
use certus_lang::LowerOptions;
use certus_shield::export::{c_header, c_source, identifier, python_module, rust_module};
use certus_shield::history::Sample;
use certus_shield::synthesis::{Failed, Form, Options};
use certus_shield::trial::Trial;
use certus_tasks::provenance::{self, About};
use certus_tasks::shield::{self, Made, Ready, Replay, Shielded, Shielding};
use certus_tasks::{Files, Loading, Provenance, Source, output};

use super::{stop_on_interrupt, write_brief};
use crate::Finding;
use crate::arguments::{Invariant, Language, Shield, ShieldAction, ShieldExport, ShieldRun};
use crate::failure::Failure;
use crate::output::{Output, short};
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
    if let Some(degree) = command.degree.filter(|degree| degree % 2 == 1 || !(2..=12).contains(degree)) {
        return Err(Failure::message(format!("--degree {degree}: expected an even number from 2 to 12")));
    }
    if !(1..=6).contains(&command.program_degree) {
        return Err(Failure::message("--program-degree: expected a number from 1 to 6"));
    }
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
                output::write_whole(path, &text)?;
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
            let (reason, tried) = match &failed {
                Failed::NotFound { branches, tried, uncovered } => {
                    let point: Vec<String> = uncovered.iter().map(|x| short(*x)).collect();
                    let kind = match command.monomials.is_empty() {
                        true => "no program",
                        false => "no program over the given monomials",
                    };
                    let reason =
                        format!("{kind} was proved safe from ({}); {branches} branches were proved", point.join(", "));
                    (reason, *tried)
                }
                Failed::Stopped { branches, tried } => (format!("stopped with {branches} branches proved"), *tried),
                Failed::Unsupported(reason) => (reason.clone(), 0),
            };
            let mut standard = Output::open(None)?;
            match command.common.json {
                true => {
                    let (reason, programs, seconds) = (Some(reason), Some(tried), seconds.into());
                    let document = ShieldSynthesis { reason, programs, seconds, ..ShieldSynthesis::default() };
                    document.write_indented(&mut standard)?;
                }
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

fn made_document(made: &Made, bytes: usize, seconds: f64, path: Option<&Path>) -> ShieldSynthesis {
    let branch = |(own, origin): (&certus_audit::shield::Settled, &&str)| SynthesisedBranch {
        invariant: own.invariant.clone(),
        program: (*origin).to_owned(),
        claims: own.claims,
        tolerance: own.tolerance.into(),
    };
    ShieldSynthesis {
        schema: Schema::default(),
        system: Some(made.system.clone()),
        property: Some(made.property.clone()),
        verdict: SynthesisVerdict::Verified,
        branches: Some(made.accepted.branches.iter().zip(&made.origins).map(branch).collect()),
        parts: Some(made.accepted.boxes),
        steps_to_target: Some(made.accepted.convergence.as_ref().map(|own| own.steps)),
        bytes: Some(bytes),
        improvement_cut_short: Some(made.cut_short),
        file: Some(path.map(|path| path.display().to_string())),
        text: Some(made.program.clone()),
        seconds: seconds.into(),
        relative_to: made.provenance.claim.as_ref().map(|claim| claim.relative_to.clone()),
        provenance: Some(made.provenance.document()),
        ..ShieldSynthesis::default()
    }
}

fn replay(command: &ShieldRun) -> Result<Finding, Failure> {
    let ready = shield::ready(&command.shield, command.system.as_deref(), &command.networks)?;
    let trial = Trial {
        runs: command.runs,
        steps: command.steps,
        seed: command.effort.seed,
        threads: certus_tasks::Effort { threads: command.effort.threads, ..certus_tasks::Effort::default() }.threads(),
    };
    let stop = stop_on_interrupt()?;
    files_of(&ready).writes("-o", &command.common.output).ready()?;
    let mut line = LiveLine::new(command.effort.quiet);
    let total = 2 * command.runs * command.steps as u64;
    let name = ready.system.name.clone();
    let provenance = replayed_from(command, &ready)?;
    let about = shield_run::ShieldRun {
        system: name.clone(),
        property: Some(ready.property.clone()),
        states: Some(ready.runtime.states.clone()),
        relative_to: Some(provenance.relative_to(About::Sampled)),
        provenance: Some(provenance.document()),
        ..Default::default()
    };
    let deadline = command.effort.deadline()?;
    let replayed = shield::replay(ready, trial, deadline, &stop, |steps| {
        line.show(|| format!("{:.0} % of {total} steps", 100.0 * steps as f64 / total.max(1) as f64));
    })?;
    drop(line);
    let mut output = Output::open(command.common.output.as_deref())?;
    let Some(replayed) = replayed else {
        match command.common.json {
            true => {
                let reason = Some("stopped".to_owned());
                let document = shield_run::ShieldRun { system: name, reason, ..Default::default() };
                document.write_indented(&mut output)?;
            }
            false => writeln!(output, "unknown: {name} was stopped before the runs were made")?,
        }
        output.finish()?;
        return Ok(Finding::Undecided);
    };
    match command.common.json {
        true => replay_document(about, command, &replayed).write_indented(&mut output)?,
        false => replay_text(&name, command, &provenance, &replayed, &mut output)?,
    }
    output.finish()?;
    Ok(if replayed.shielded.unsafe_runs == 0 { Finding::Good } else { Finding::Violated })
}

/// The mean of the steps until runs settle.
fn settling(outcome: &certus_shield::trial::Outcome) -> f64 {
    outcome.settling as f64 / (outcome.runs - outcome.unsafe_runs).max(1) as f64
}

/// The files that a shield was read with.
fn files_of(ready: &Ready) -> Files {
    let named = |files: Files, source: &Source| files.reads(&format!("the {}", source.role), [&source.path]);
    ready.sources.iter().fold(Files::new(), named)
}

/// Where the runs of a shield come from.
fn replayed_from(command: &ShieldRun, ready: &Ready) -> Result<Provenance, Failure> {
    let settings = &ready.settings;
    let options = LowerOptions { overrides: settings.clone(), ..LowerOptions::default() };
    let loading = Loading { networks: command.networks.clone(), options, ..Loading::default() };
    Ok(Provenance::of_system("simulation", &loading, &ready.system, &ready.sources)
        .with_effort(&command.effort.plain()?)
        .limit("runs", Some(command.runs.into()))
        .limit("steps", Some(command.steps.into())))
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

fn sampled(sample: &Sample) -> SampledRun {
    SampledRun {
        run: sample.run,
        steps: sample.steps.clone(),
        states: sample.states.iter().map(numbers).collect(),
        overridden: sample.overridden.clone(),
        unsafe_at: sample.unsafe_at,
    }
}

/// What the runs showed, added to what they are about.
fn replay_document(about: shield_run::ShieldRun, command: &ShieldRun, replay: &Replay) -> shield_run::ShieldRun {
    let runs = |own: &certus_shield::trial::Outcome, seconds: f64| shield_run::Runs {
        unsafe_runs: own.unsafe_runs,
        steps: own.steps,
        interventions: own.interventions,
        alarms: own.alarms,
        steps_to_settle: settling(own).into(),
        seconds: seconds.into(),
        history: shield_run::History {
            width: own.history.width,
            steps: own.history.steps.clone(),
            interventions: own.history.interventions.clone(),
        },
        samples: own.history.samples.iter().map(sampled).collect(),
    };
    shield_run::ShieldRun {
        runs: Some(command.runs),
        steps: Some(command.steps),
        seed: Some(command.effort.seed),
        verdict: if replay.shielded.unsafe_runs == 0 { RunsVerdict::Safe } else { RunsVerdict::Unsafe },
        network_alone: Some(runs(&replay.bare, replay.bare_seconds)),
        with_shield: Some(runs(&replay.shielded, replay.shielded_seconds)),
        network_nanoseconds: Some(replay.network_time.into()),
        monitor_nanoseconds: Some(replay.monitor_time.into()),
        ..about
    }
}

/// A comment that says where an exported shield comes from: its files as they are now, and what the shield's own file says.
fn head(ready: &Ready, comment: &str) -> String {
    let exported = Provenance::new("export", ready.sources.clone()).document();
    let exported = serde_json::json!({"certus": exported.certus, "sources": exported.sources});
    let written = [("exported", &exported), ("shield", &ready.origin)].into_iter().flat_map(|(what, own)| {
        provenance::lines(own).into_iter().map(move |line| format!("{comment}{what} {line}\n"))
    });
    written.collect()
}

fn export(command: &ShieldExport) -> Result<Finding, Failure> {
    let ready = shield::ready(&command.shield, command.system.as_deref(), &[])?;
    let name = identifier(command.name.as_deref().unwrap_or(&format!("{}_shield", ready.system.name)));
    let runtime = &ready.runtime;
    let text = match command.lang {
        Language::C => {
            let Some(path) = &command.output else {
                return Err(Failure::message("C has a header and a source: name them with -o, without `.h` and `.c`"));
            };
            let file = path.file_name().and_then(|name| name.to_str()).map(identifier).unwrap_or(name);
            let at = |ending: &str| path.with_file_name(format!("{file}.{ending}"));
            files_of(&ready).writes("-o", [at("h"), at("c")]).ready()?;
            output::write_whole(&at("h"), &(head(&ready, "// ") + &c_header(runtime, &file)))?;
            output::write_whole(&at("c"), &(head(&ready, "// ") + &c_source(runtime, &file)))?;
            return Ok(Finding::Good);
        }
        Language::Rust => head(&ready, "// ") + &rust_module(runtime, &name),
        Language::Python => head(&ready, "# ") + &python_module(runtime, &name),
    };
    files_of(&ready).writes("-o", &command.output).ready()?;
    match &command.output {
        Some(path) => output::write_whole(path, &text)?,
        None => {
            let mut standard = Output::open(None)?;
            standard.write_all(text.as_bytes())?;
            standard.finish()?;
        }
    }
    Ok(Finding::Good)
}
