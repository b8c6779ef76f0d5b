//! Simulation: many runs at once, as arrays.

use std::sync::{Arc, Mutex, PoisonError};

use certus_lang::system::System;
use certus_sim::{ActionMode, End, InputSource, Options, Progress, RunReport, Simulator, Step, Verdict};
use certus_tasks::simulate::Inputs;
use certus_tasks::{Ended, Failure, Job, deadline_after};
use numpy::{IntoPyArray, PyArrayMethods};
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::calling::Caller;
use crate::errors::{CertusError, SimulationError, failure, simulation};
use crate::system::RawSystem;

/// Recorded runs may take this much.
const MOST_BYTES: f64 = 16e9;

/// Where the environment's choices come from.
pub fn source(system: &System, inputs: &str, property: Option<&str>, candidates: usize) -> PyResult<InputSource> {
    let inputs = Inputs::named(if inputs == "random" { "uniform" } else { inputs });
    inputs.source(system, property, candidates, &mut Vec::new()).map_err(failure)
}

/// Refuses to record more than a machine is likely to have room for.
fn check_memory(system: &System, runs: u64, steps: usize) -> PyResult<()> {
    let len = |variables: &[certus_lang::system::Variable]| variables.iter().map(|v| v.len).sum::<usize>();
    let policies: usize = system.policies.iter().map(|policy| policy.len).sum();
    let labels = system.actions.len() + system.chances.len();
    let width = len(&system.states) + len(&system.inputs) + policies + labels + 1;
    let bytes = runs as f64 * (steps as f64 + 1.0) * width as f64 * 8.0;
    if bytes > MOST_BYTES {
        let message = format!(
            "{runs} runs of {steps} steps would record {:.0} GB; ask for fewer, or for record=False",
            bytes / 1e9
        );
        return Err(SimulationError::new_err(message));
    }
    Ok(())
}

/// How a run ended, as the command line calls it.
pub fn end_name(end: &End) -> &'static str {
    match end {
        End::Completed => "completed",
        End::Terminal => "terminal",
        End::LeftRange { .. } => "left range",
        End::Blocked => "blocked",
        End::NotANumber { .. } => "not a number",
    }
}

/// How a run ended, with the details.
pub fn end_text(end: &End) -> String {
    match end {
        End::LeftRange { variable, value, range } => {
            format!("{variable} = {value} is outside of [{}, {}]", range.0, range.1)
        }
        End::NotANumber { variable } => format!("{variable} is not a number"),
        End::Blocked => "no transition that `assume` allows".to_owned(),
        other => end_name(other).to_owned(),
    }
}

/// Everything that runs leave behind, run after run.
#[derive(Default)]
struct Table {
    positions: usize,
    states: Vec<f64>,
    inputs: Vec<f64>,
    policies: Vec<f64>,
    rewards: Vec<f64>,
    actions: Vec<i64>,
    chances: Vec<i64>,
    steps: Vec<i64>,
    totals: Vec<f64>,
    ends: Vec<String>,
    faults: Vec<Option<String>>,
    /// Property after property within each run.
    verdicts: Vec<i8>,
    margins: Vec<f64>,
    broken_at: Vec<i64>,
}

impl Table {
    fn add(&mut self, report: &RunReport) {
        self.steps.push(report.steps as i64);
        self.totals.push(report.total_reward.unwrap_or(f64::NAN));
        self.ends.push(end_name(&report.end).to_owned());
        let is_fault = !matches!(report.end, End::Completed | End::Terminal);
        self.faults.push(is_fault.then(|| end_text(&report.end)));
        for property in &report.properties {
            self.verdicts.push(match property.verdict {
                Verdict::Open => 0,
                Verdict::Violated => 1,
                Verdict::Satisfied => 2,
            });
            self.margins.push(property.margin);
            self.broken_at.push(property.broken_at.map_or(-1, |step| step as i64));
        }
    }

    fn record(&mut self, report: &RunReport, system: &System) {
        let Some(trace) = &report.trace else { return };
        let widths = |step: Option<&Step>| step.map_or(0, |step| step.policies.len());
        let policies = widths(trace.first());
        let len = |variables: &[certus_lang::system::Variable]| variables.iter().map(|v| v.len).sum::<usize>();
        let (states, inputs) = (len(&system.states), len(&system.inputs));
        for position in 0..self.positions {
            let step = trace.get(position);
            let put = |table: &mut Vec<f64>, values: Option<&Vec<f64>>, width: usize| match values {
                Some(values) => table.extend_from_slice(values),
                None => table.extend(std::iter::repeat_n(f64::NAN, width)),
            };
            put(&mut self.states, step.map(|step| &step.state), states);
            put(&mut self.inputs, step.map(|step| &step.input), inputs);
            put(&mut self.policies, step.map(|step| &step.policies), policies);
            let labels = |table: &mut Vec<i64>, values: Option<&Vec<usize>>, width: usize| match values {
                Some(values) => table.extend(values.iter().map(|&label| label as i64)),
                None => table.extend(std::iter::repeat_n(-1, width)),
            };
            labels(&mut self.actions, step.map(|step| &step.actions), system.actions.len());
            labels(&mut self.chances, step.map(|step| &step.chances), system.chances.len());
            // The reward belongs to the step taken from here; none is taken from the last position.
            if position + 1 < self.positions {
                let taken = position < report.steps;
                let reward = step.filter(|_| taken).and_then(|step| step.reward);
                self.rewards.push(reward.unwrap_or(f64::NAN));
            }
        }
    }
}

/// See `certus.System.simulate`.
#[pyfunction]
#[pyo3(signature = (system, runs, steps, seed, first_run, inputs, property, candidates, sampled, record, threads, timeout, progress))]
#[allow(clippy::too_many_arguments)]
pub fn simulate<'py>(
    py: Python<'py>,
    system: &RawSystem,
    runs: u64,
    steps: usize,
    seed: u64,
    first_run: u64,
    inputs: &str,
    property: Option<&str>,
    candidates: usize,
    sampled: bool,
    record: bool,
    threads: usize,
    timeout: Option<f64>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let system = Arc::clone(&system.system);
    if record {
        check_memory(&system, runs, steps)?;
    }
    let inputs = source(&system, inputs, property, candidates)?;
    let deadline = deadline_after(timeout, "timeout").map_err(failure)?;
    let mut caller = Caller::new(progress);
    let stop = Arc::clone(&caller.stop);
    let standing = Arc::new(Mutex::new(Progress { runs: 0, of: runs, violated: 0 }));
    let work = {
        let (system, stop, standing) = (Arc::clone(&system), Arc::clone(&stop), Arc::clone(&standing));
        move || {
            let actions = if sampled { ActionMode::Sampled } else { ActionMode::MostLikely };
            let options = Options {
                first_run,
                runs,
                steps,
                seed,
                threads,
                inputs,
                actions,
                record,
                deadline,
                stop: Some(&stop),
                ..Options::default()
            };
            let mut table = Table { positions: steps.saturating_add(1), ..Table::default() };
            let mut watch = |progress: Progress| {
                *standing.lock().unwrap_or_else(PoisonError::into_inner) = progress;
            };
            let mut sink = |report: &RunReport| {
                table.add(report);
                if record {
                    table.record(report, &system);
                }
            };
            let summary = Simulator::new(&system)?.run(&options, &mut watch, &mut sink)?;
            Ok::<_, certus_sim::SimulationError>((table, summary))
        }
    };
    let tick = || {
        let now = *standing.lock().unwrap_or_else(PoisonError::into_inner);
        caller.tick(|py| {
            let dict = PyDict::new(py);
            dict.set_item("runs", now.runs)?;
            dict.set_item("of", now.of)?;
            dict.set_item("violated", now.violated)?;
            dict.into_py_any(py)
        });
    };
    // Simulation polls its deadline itself, and keeps what it has: nobody gives up on it.
    let waited = py.detach(|| Job::new(None, &stop).run(tick, work));
    caller.finish()?;
    let Ended::Done(done) = waited.map_err(|error| failure(Failure::from(error)))? else {
        return Err(CertusError::new_err("the simulation was stopped"));
    };
    let (table, summary) = done.map_err(simulation)?;
    let made = table.steps.len();
    let result = PyDict::new(py);
    result.set_item("interrupted", summary.interrupted)?;
    result.set_item("lengths", table.steps.into_pyarray(py))?;
    result.set_item("total_rewards", system.roles.reward.map(|_| table.totals.into_pyarray(py)))?;
    result.set_item("ends", table.ends)?;
    result.set_item("faults", table.faults)?;
    let properties = system.properties.len();
    result.set_item("verdicts", table.verdicts.into_pyarray(py).reshape([made, properties])?)?;
    result.set_item("margins", table.margins.into_pyarray(py).reshape([made, properties])?)?;
    result.set_item("broken_at", table.broken_at.into_pyarray(py).reshape([made, properties])?)?;
    if record {
        let positions = table.positions;
        let per = |len: usize| len / (made * positions).max(1);
        let shape = |len: usize| [made, positions, per(len)];
        let (states, inputs, policies) = (table.states.len(), table.inputs.len(), table.policies.len());
        let (actions, chances) = (table.actions.len(), table.chances.len());
        result.set_item("states", table.states.into_pyarray(py).reshape(shape(states))?)?;
        result.set_item("inputs", table.inputs.into_pyarray(py).reshape(shape(inputs))?)?;
        result.set_item("policies", table.policies.into_pyarray(py).reshape(shape(policies))?)?;
        result.set_item("actions", table.actions.into_pyarray(py).reshape(shape(actions))?)?;
        result.set_item("chances", table.chances.into_pyarray(py).reshape(shape(chances))?)?;
        result.set_item("rewards", table.rewards.into_pyarray(py).reshape([made, steps])?)?;
    }
    Ok(result)
}
