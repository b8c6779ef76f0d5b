//! `certus simulate`: the closed loop run forward.

use std::io::Write;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use certus_documents::simulate::{self as shown, RunEnd, RunVerdict, SimulatedRun};
use certus_documents::{Document, Members, Number, Schema, members};
use certus_lang::system::{PropertyKind, System};
use certus_sim::{
    ActionMode, End, InputSource, Options, PropertyReport, RunReport, Script, Simulator, Step, Summary, Verdict,
    element_names, wilson_interval,
};
use certus_tasks::provenance::About;
use certus_tasks::{Files, Loaded, Provenance, Source, property_named};

use super::{load_system, loading, stop_on_interrupt, write_brief};
use crate::Finding;
use crate::arguments::{Actions, Format, Inputs, Simulate};
use crate::failure::Failure;
use crate::output::{Output, short};
use crate::progress::LiveLine;

/// Simulates a system.
pub fn run(command: &Simulate) -> Result<Finding, Failure> {
    let own = loading(&command.file, &command.settings);
    let table = if let Inputs::Table(path) = &command.inputs { Some(path) } else { None };
    Files::new().reads_system(&own).reads("--inputs", table).writes("-o", &command.common.output).ready()?;
    let Loaded { system, mut sources } = load_system(&own, command.effort.quiet)?;
    let stop = stop_on_interrupt()?;
    let format = if command.common.json { None } else { Some(command.format) };
    let record = matches!(format, Some(Format::Csv | Format::Jsonl));
    let options = options(command, &system, record, &stop, &mut sources)?;
    let provenance = Provenance::of_system("simulation", &own, &system, &sources)
        .with_effort(&command.effort.plain()?)
        .limit("runs", Some(command.runs.into()))
        .limit("first_run", Some(command.first_run.into()))
        .limit("steps", Some(command.steps.into()))
        .limit("inputs", Some(inputs_name(&command.inputs).into()));
    let simulator = Simulator::new(&system).map_err(|error| Failure::message(error.to_string()))?;
    let mut output = Output::open(command.common.output.as_deref())?;
    let mut line = LiveLine::new(command.effort.quiet);
    let mut failed: Result<(), Failure> = Ok(());
    let names = Names::new(&system);
    if let Some(Format::Csv) = format {
        names.csv_header(&system, &mut output)?;
    }
    let mut sink = |report: &RunReport| {
        if failed.is_ok() {
            failed = match format {
                Some(Format::Csv) => names.csv_rows(&system, report, &mut output),
                Some(Format::Jsonl) => names.document_line(&system, report, &mut output),
                _ => Ok(()),
            };
            if failed.is_err() {
                stop.store(true, Ordering::Relaxed);
            }
        }
    };
    let mut show = |progress: certus_sim::Progress| {
        line.show(|| format!("run {} of {}, {} broken", progress.runs, progress.of, progress.violated));
    };
    let result = simulator.run(&options, &mut show, &mut sink);
    failed?;
    let summary = result.map_err(|error| Failure::message(error.to_string()))?;
    let seconds = line.elapsed().as_secs_f64();
    drop(line);
    match format {
        None => document(&system, &summary, command, &provenance, seconds).write_indented(&mut output)?,
        Some(Format::Table) => write_table(&system, &summary, command, &provenance, seconds, &mut output)?,
        Some(_) => {}
    }
    output.finish()?;
    if summary.interrupted && !command.effort.quiet {
        let next = command.first_run + summary.runs;
        let rest = command.runs - summary.runs;
        eprintln!("stopped after {} runs; `--first-run {next} --runs {rest}` goes on from here", summary.runs);
    }
    Ok(finding(&system, &summary))
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

fn options<'a>(
    command: &Simulate,
    system: &System,
    record: bool,
    stop: &'a AtomicBool,
    sources: &mut Vec<Source>,
) -> Result<Options<'a>, Failure> {
    let inputs = match &command.inputs {
        Inputs::Uniform => InputSource::Uniform,
        Inputs::Adversary => {
            InputSource::Adversary { property: target(command, system)?, candidates: command.candidates }
        }
        Inputs::Table(path) => InputSource::Script(script(path, system, sources)?),
    };
    Ok(Options {
        first_run: command.first_run,
        runs: command.runs,
        steps: command.steps,
        seed: command.effort.seed,
        threads: command.effort.threads,
        inputs,
        actions: match command.actions {
            Actions::Sample => ActionMode::Sampled,
            Actions::Argmax => ActionMode::MostLikely,
        },
        record,
        deadline: command.effort.deadline()?,
        stop: Some(stop),
    })
}

/// The property that the adversary is after.
fn target(command: &Simulate, system: &System) -> Result<usize, Failure> {
    match &command.property {
        None if system.properties.is_empty() => {
            Err(Failure::message("an adversary needs a property, and there is none"))
        }
        None => Ok(0),
        Some(name) => property_named(system, name),
    }
}

/// How the environment's choices are made, in a word.
fn inputs_name(inputs: &Inputs) -> &'static str {
    match inputs {
        Inputs::Uniform => "uniform",
        Inputs::Adversary => "adversary",
        Inputs::Table(_) => "table",
    }
}

fn script(path: &Path, system: &System, sources: &mut Vec<Source>) -> Result<Script, Failure> {
    let text = std::fs::read_to_string(path).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => Failure::message(format!(
            "--inputs takes 'uniform', 'adversary' or a table, and there is no file {}",
            path.display()
        )),
        _ => Failure::reading(path, &error),
    })?;
    let digest = Some(certus_audit::digest(text.as_bytes()));
    sources.push(Source { role: "table", name: None, path: path.to_owned(), digest });
    Script::parse(&text, system).map_err(|error| Failure::message(format!("{}: {error}", path.display())))
}

/// The names of all columns.
struct Names {
    states: Vec<String>,
    inputs: Vec<String>,
    policies: Vec<String>,
}

impl Names {
    fn new(system: &System) -> Names {
        Names {
            states: element_names(system.states.iter().map(|v| (&*v.name, v.len, v.is_vector))),
            inputs: element_names(system.inputs.iter().map(|v| (&*v.name, v.len, v.is_vector))),
            policies: element_names(system.policies.iter().map(|p| (&*p.name, p.len, p.len != 1))),
        }
    }

    fn csv_header(&self, system: &System, output: &mut impl Write) -> Result<(), Failure> {
        let labels = system.chances.iter().map(|c| &c.name).chain(system.actions.iter().map(|a| &a.name));
        let reward = system.roles.reward.map(|_| "reward");
        write!(output, "run,step")?;
        for name in self.states.iter().chain(&self.inputs).chain(&self.policies).chain(labels) {
            write!(output, ",{name}")?;
        }
        writeln!(output, "{}", reward.map_or(String::new(), |name| format!(",{name}")))?;
        Ok(())
    }

    fn csv_rows(&self, system: &System, report: &RunReport, output: &mut impl Write) -> Result<(), Failure> {
        for (index, step) in report.trace.iter().flatten().enumerate() {
            write!(output, "{},{index}", report.run)?;
            for value in step.state.iter().chain(&step.input).chain(&step.policies) {
                write!(output, ",{value}")?;
            }
            for (chance, &label) in system.chances.iter().zip(&step.chances) {
                write!(output, ",{}", chance.labels[label])?;
            }
            for (action, &label) in system.actions.iter().zip(&step.actions) {
                write!(output, ",{}", action.labels[label])?;
            }
            if let Some(reward) = step.reward {
                write!(output, ",{reward}")?;
            }
            writeln!(output)?;
        }
        Ok(())
    }

    fn step(&self, system: &System, step: &Step) -> shown::Step {
        let numbers = |names: &[String], values: &[f64]| -> Members<Number> {
            members(names.iter().cloned().zip(values.iter().copied()))
        };
        let actions = system.actions.iter().zip(&step.actions);
        let actions = actions.map(|(action, &label)| (action.name.clone(), action.labels[label].clone()));
        let chances = system.chances.iter().zip(&step.chances);
        let chances = chances.map(|(chance, &label)| (chance.name.clone(), chance.labels[label].clone()));
        let some = |labels: Members<String>| (!labels.is_empty()).then_some(labels);
        shown::Step {
            state: numbers(&self.states, &step.state),
            input: numbers(&self.inputs, &step.input),
            policy: numbers(&self.policies, &step.policies),
            action: some(actions.collect()),
            chance: some(chances.collect()),
            reward: step.reward.map(Into::into),
        }
    }

    fn document_line(&self, system: &System, report: &RunReport, output: &mut impl Write) -> Result<(), Failure> {
        let property = |seen: &PropertyReport| shown::RunProperty {
            verdict: match seen.verdict {
                Verdict::Satisfied => RunVerdict::Satisfied,
                Verdict::Violated => RunVerdict::Violated,
                Verdict::Open => RunVerdict::Open,
            },
            margin: seen.margin.into(),
            broken_at: seen.broken_at,
        };
        let properties = system.properties.iter().zip(&report.properties);
        let run = SimulatedRun {
            schema: Schema::default(),
            run: report.run,
            steps: report.steps,
            end: end(&report.end),
            reward: report.total_reward.map(Into::into),
            properties: properties.map(|(own, seen)| (own.name.clone(), property(seen))).collect(),
            trace: report.trace.iter().flatten().map(|step| self.step(system, step)).collect(),
        };
        Ok(writeln!(output, "{}", run.to_line()?)?)
    }
}

fn end(end: &End) -> RunEnd {
    match end {
        End::Completed => RunEnd::Completed,
        End::Terminal => RunEnd::Terminal,
        End::Blocked => RunEnd::Blocked,
        End::NotANumber { variable } => RunEnd::NotANumber { variable: variable.clone() },
        End::LeftRange { variable, value, range } => RunEnd::LeftRange {
            variable: variable.clone(),
            value: (*value).into(),
            range: [range.0.into(), range.1.into()],
        },
    }
}

fn document(
    system: &System,
    summary: &Summary,
    command: &Simulate,
    provenance: &Provenance,
    seconds: f64,
) -> shown::Simulate {
    let property = |(property, seen): (&certus_lang::system::Property, &certus_sim::PropertySummary)| {
        let is_probability = matches!(property.kind, PropertyKind::Probability { .. });
        let (low, high) = estimate(seen);
        let estimate = shown::Estimate { lower: low.into(), upper: high.into(), confidence: 0.95.into() };
        shown::PropertySummary {
            property: property.name.clone(),
            formula: property.source.clone(),
            satisfied: seen.satisfied,
            violated: seen.violated,
            open: seen.open,
            worst_margin: seen.worst_margin.into(),
            worst_run: seen.worst_run,
            worst_broken_at: seen.worst_broken_at,
            estimate: is_probability.then_some(estimate),
        }
    };
    let reward = summary.reward.map(|reward| shown::Rewards {
        mean: reward.mean.into(),
        least: reward.least.into(),
        greatest: reward.greatest.into(),
    });
    let fault = summary.first_fault.as_ref();
    let fault = fault.map(|own| shown::FirstFault { run: own.run, step: own.steps, end: end(&own.end) });
    shown::Simulate {
        schema: Schema::default(),
        system: system.name.clone(),
        runs: summary.runs,
        first_run: command.first_run,
        steps: command.steps,
        seed: command.effort.seed,
        ends: shown::Ends {
            completed: summary.completed,
            terminal: summary.terminal,
            left_range: summary.left_range,
            blocked: summary.blocked,
            not_a_number: summary.not_a_number,
        },
        first_fault: fault,
        reward,
        properties: system.properties.iter().zip(&summary.properties).map(property).collect(),
        interrupted: summary.interrupted,
        seconds: seconds.into(),
        relative_to: provenance.relative_to(About::Sampled),
        provenance: provenance.document(),
    }
}

/// An interval for the probability of a path formula: runs that were too short to tell count against both ends.
fn estimate(seen: &certus_sim::PropertySummary) -> (f64, f64) {
    let runs = seen.satisfied + seen.violated + seen.open;
    (wilson_interval(seen.satisfied, runs).0, wilson_interval(seen.satisfied + seen.open, runs).1)
}

fn write_table(
    system: &System,
    summary: &Summary,
    command: &Simulate,
    provenance: &Provenance,
    seconds: f64,
    output: &mut impl Write,
) -> Result<(), Failure> {
    let (runs, seed) = (summary.runs, command.effort.seed);
    writeln!(output, "{}: {runs} runs of at most {} steps, seed {seed}, {seconds:.2} s", system.name, command.steps)?;
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
