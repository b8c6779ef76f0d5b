//! Runs the closed loop forward and watches every property.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use certus_documents::simulate::{self as shown, RunEnd, RunVerdict, SimulatedRun};
use certus_documents::{Document, Members, Number, Schema, members};
use certus_lang::system::System;
use certus_sim::{
    ActionMode, End, InputSource, Options, Progress, PropertyReport, RunReport, Script, Simulator, Step, Summary,
    Verdict, element_names, wilson_interval,
};

use crate::failure::Failure;
use crate::output::Output;
use crate::provenance::About;
use crate::{BudgetOptions, Loaded, Loading, Provenance, Source, load, property_named};

/// Where the environment's choices come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Inputs {
    /// Drawn uniformly.
    Uniform,
    /// Chosen against a property.
    Adversary,
    /// A table of comma-separated values.
    Table(PathBuf),
}

impl Inputs {
    /// By its name; every other text is the path of a table.
    pub fn named(text: &str) -> Inputs {
        match text {
            "uniform" => Inputs::Uniform,
            "adversary" => Inputs::Adversary,
            path => Inputs::Table(path.into()),
        }
    }

    /// The table, if there is one.
    pub fn table(&self) -> Option<&PathBuf> {
        if let Inputs::Table(path) = self { Some(path) } else { None }
    }

    fn name(&self) -> &'static str {
        match self {
            Inputs::Uniform => "uniform",
            Inputs::Adversary => "adversary",
            Inputs::Table(_) => "table",
        }
    }

    /// The same for the simulator; a table is read, and noted among the sources.
    pub fn source(
        &self,
        system: &System,
        property: Option<&str>,
        candidates: usize,
        sources: &mut Vec<Source>,
    ) -> Result<InputSource, Failure> {
        match self {
            Inputs::Uniform => Ok(InputSource::Uniform),
            Inputs::Adversary => Ok(InputSource::Adversary { property: target(property, system)?, candidates }),
            Inputs::Table(path) => script(path, system, sources).map(InputSource::Script),
        }
    }
}

/// How runs are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Every step of every run, comma-separated.
    Csv,
    /// Every run as one line of JSON, with its steps.
    Jsonl,
}

/// Where runs are written to, and how; standard output if there is no file.
#[derive(Clone, Debug)]
pub struct Written {
    /// How.
    pub format: Format,
    /// Where.
    pub file: Option<PathBuf>,
}

/// What is asked.
#[derive(Clone, Debug)]
pub struct Simulate {
    /// The system.
    pub system: Loading,
    /// How many runs.
    pub runs: u64,
    /// How many steps each run makes at most.
    pub steps: usize,
    /// The number of the first run.
    pub first_run: u64,
    /// Where the environment's choices come from.
    pub inputs: Inputs,
    /// The property that the adversary wants to break; the first one if none.
    pub property: Option<String>,
    /// How many choices the adversary tries at each step.
    pub candidates: usize,
    /// How the choices of a random policy are made.
    pub actions: ActionMode,
    /// Whether every step of every run is written.
    pub written: Option<Written>,
    /// How much work it is worth.
    pub effort: BudgetOptions,
}

/// What came out.
pub struct Simulated {
    /// The system.
    pub system: System,
    /// What the runs were like.
    pub summary: Summary,
    /// Where all of that comes from.
    pub provenance: Provenance,
    /// How long it took.
    pub seconds: f64,
}

/// Simulates a system. `progress` is told how far it is; `stop` ends it, and what was simulated until then counts.
pub fn simulate(task: &Simulate, stop: &AtomicBool, progress: &mut dyn FnMut(Progress)) -> Result<Simulated, Failure> {
    let Loaded { system, mut sources } = load(&task.system)?;
    let inputs = task.inputs.source(&system, task.property.as_deref(), task.candidates, &mut sources)?;
    let options = Options {
        first_run: task.first_run,
        runs: task.runs,
        steps: task.steps,
        seed: task.effort.seed,
        threads: task.effort.threads,
        inputs,
        actions: task.actions,
        record: task.written.is_some(),
        deadline: task.effort.deadline,
        stop: Some(stop),
        ..Options::default()
    };
    let provenance = Provenance::of_system("simulation", &task.system, &system, &sources)
        .with_effort(&task.effort)
        .limit("runs", Some(task.runs.into()))
        .limit("first_run", Some(task.first_run.into()))
        .limit("steps", Some(task.steps.into()))
        .limit("inputs", Some(task.inputs.name().into()));
    let simulator = Simulator::new(&system).map_err(|error| Failure::message(error.to_string()))?;
    let started = Instant::now();
    let names = Names::new(&system);
    let mut output = match &task.written {
        Some(written) => Some((Output::open(written.file.as_deref())?, written.format)),
        None => None,
    };
    if let Some((output, Format::Csv)) = &mut output {
        names.csv_header(&system, output)?;
    }
    let mut failed: Result<(), Failure> = Ok(());
    let mut sink = |report: &RunReport| {
        let Some((output, format)) = &mut output else { return };
        if failed.is_ok() {
            failed = match format {
                Format::Csv => names.csv_rows(&system, report, output),
                Format::Jsonl => names.document_line(&system, report, output),
            };
            if failed.is_err() {
                stop.store(true, Ordering::Relaxed);
            }
        }
    };
    let result = simulator.run(&options, progress, &mut sink);
    failed?;
    let summary = result.map_err(|error| Failure::message(error.to_string()))?;
    drop(simulator);
    if let Some((output, _)) = output {
        output.finish()?;
    }
    Ok(Simulated { summary, provenance, seconds: started.elapsed().as_secs_f64(), system })
}

/// The property that the adversary is after.
fn target(property: Option<&str>, system: &System) -> Result<usize, Failure> {
    match property {
        None if system.properties.is_empty() => {
            Err(Failure::message("an adversary needs a property, and there is none"))
        }
        None => Ok(0),
        Some(name) => property_named(system, name),
    }
}

fn script(path: &Path, system: &System, sources: &mut Vec<Source>) -> Result<Script, Failure> {
    let text = std::fs::read_to_string(path).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => Failure::message(format!(
            "⟨inputs⟩ takes 'uniform', 'adversary' or a table, and there is no file {}",
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

/// What came out as a document.
pub fn document(task: &Simulate, simulated: &Simulated) -> shown::Simulate {
    let Simulated { system, summary, provenance, seconds } = simulated;
    let property = |(property, seen): (&certus_lang::system::Property, &certus_sim::PropertySummary)| {
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
            estimate: property.probability().map(|_| estimate),
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
        first_run: task.first_run,
        steps: task.steps,
        seed: task.effort.seed,
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
        seconds: (*seconds).into(),
        relative_to: provenance.relative_to(About::Sampled),
        provenance: provenance.document(),
    }
}

/// An interval for the probability of a path formula: runs that were too short to tell count against both ends.
pub fn estimate(seen: &certus_sim::PropertySummary) -> (f64, f64) {
    let runs = seen.satisfied + seen.violated + seen.open;
    (wilson_interval(seen.satisfied, runs).0, wilson_interval(seen.satisfied + seen.open, runs).1)
}
