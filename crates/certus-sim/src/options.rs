//! Options of a simulation.

use std::collections::HashMap;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use certus_lang::system::System;

use crate::SimulationError;
use crate::semantics::Tail;

/// Where the environment's choices come from.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum InputSource {
    /// Drawn uniformly from their ranges.
    #[default]
    Uniform,
    /// At each step the one of several candidates that leaves the property's margin smallest.
    Adversary {
        /// The property to break, by its place in the system.
        property: usize,
        /// How many candidates are tried at each step.
        candidates: usize,
    },
    /// Read from a table.
    Script(Script),
    /// Made in advance, for each run its own.
    Plans(Plans),
}

/// The choices of one run, made in advance. What a plan does not say is drawn.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plan {
    /// The first state, flattened; empty to draw one, which is also done where it is not initial.
    pub start: Vec<f64>,
    /// The environment's choices, flattened: one row for each period. The last one serves all later steps; none to draw them. A
    /// choice that `assume` refuses is replaced by a drawn one.
    pub inputs: Vec<Vec<f64>>,
    /// For each chance variable, then for each random action, a number in [0, 1) that decides it: in rows, as for the inputs.
    pub draws: Vec<Vec<f64>>,
    /// Steps that a row serves.
    pub period: usize,
}

impl Plan {
    /// The row of a step.
    pub(crate) fn row<'p>(&self, rows: &'p [Vec<f64>], step: usize) -> Option<&'p [f64]> {
        rows.get((step / self.period.max(1)).min(rows.len().checked_sub(1)?)).map(Vec::as_slice)
    }
}

/// Plans for runs with consecutive numbers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plans {
    /// The number of the first of these runs.
    pub first: u64,
    /// One for each run.
    pub plans: Vec<Plan>,
}

impl Plans {
    /// The plan of a run.
    pub(crate) fn of(&self, run: u64) -> Option<&Plan> {
        self.plans.get(usize::try_from(run.checked_sub(self.first)?).ok()?)
    }

    /// Whether all rows have as many numbers as a system asks for.
    pub(crate) fn fit(&self, states: usize, inputs: usize, draws: usize) -> bool {
        let all = |rows: &[Vec<f64>], length: usize| rows.iter().all(|row| row.len() == length);
        self.plans.iter().all(|plan| {
            (plan.start.is_empty() || plan.start.len() == states)
                && all(&plan.inputs, inputs)
                && all(&plan.draws, draws)
        })
    }
}

/// How random actions are chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ActionMode {
    /// Sampled from the policy's probabilities.
    #[default]
    Sampled,
    /// The most likely one, the first on ties.
    MostLikely,
}

/// A table of inputs: for all runs, or for each run its own.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Script {
    shared: Vec<Vec<f64>>,
    by_run: HashMap<u64, Vec<Vec<f64>>>,
}

impl Script {
    /// Reads a table of comma-separated values. The first line names the columns: each input's elements (`u`, `u[0]`, …),
    /// optionally `run` (rows without it serve every run), and anything else, which is ignored, so that a recorded
    /// simulation can be played again. Rows are steps, in order.
    pub fn parse(text: &str, system: &System) -> Result<Script, SimulationError> {
        let mut lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
        let Some((_, header)) = lines.next() else {
            return Err(SimulationError::Script("the table of inputs is empty".to_owned()));
        };
        let names: Vec<&str> = header.split(',').map(str::trim).collect();
        let column = |name: &str| names.iter().position(|other| *other == name);
        let wanted = element_names(system.inputs.iter().map(|input| (&*input.name, input.len, input.is_vector)));
        let columns = wanted
            .iter()
            .map(|name| {
                let missing = || format!("the table of inputs has no column '{name}'; it has {}", names.join(", "));
                column(name).ok_or_else(|| SimulationError::Script(missing()))
            })
            .collect::<Result<Vec<usize>, _>>()?;
        let run_column = column("run");
        let bounds =
            || system.inputs.iter().flat_map(|input| input.lower.iter().copied().zip(input.upper.iter().copied()));
        let mut script = Script::default();
        for (number, line) in lines {
            let cells: Vec<&str> = line.split(',').map(str::trim).collect();
            let cell = |index: usize| {
                let text = cells.get(index).copied().unwrap_or("");
                let wrong = || format!("line {}: '{text}' in column '{}' is no number", number + 1, names[index]);
                text.parse::<f64>().map_err(|_| SimulationError::Script(wrong()))
            };
            let row = columns.iter().map(|&index| cell(index)).collect::<Result<Vec<f64>, _>>()?;
            for ((&value, name), (lower, upper)) in row.iter().zip(&wanted).zip(bounds()) {
                if !(lower <= value && value <= upper) {
                    let message = format!("line {}: {name} = {value} is outside of [{lower}, {upper}]", number + 1);
                    return Err(SimulationError::Script(message));
                }
            }
            match run_column {
                Some(index) => script.by_run.entry(cell(index)? as u64).or_default().push(row),
                None => script.shared.push(row),
            }
        }
        Ok(script)
    }

    /// The inputs of a run at a step.
    pub(crate) fn row(&self, run: u64, step: usize) -> Result<&[f64], SimulationError> {
        let rows = self.by_run.get(&run).unwrap_or(&self.shared);
        rows.get(step).map(Vec::as_slice).ok_or_else(|| {
            let have = rows.len();
            SimulationError::Script(format!(
                "the table of inputs has {have} rows for run {run}, step {step} needs another"
            ))
        })
    }
}

/// The names of all elements: `x` for a scalar, `x[0]`, `x[1]`, … for a vector.
pub fn element_names<'a>(variables: impl Iterator<Item = (&'a str, usize, bool)>) -> Vec<String> {
    let names = |(name, len, vector): (&str, usize, bool)| -> Vec<String> {
        if vector { (0..len).map(|index| format!("{name}[{index}]")).collect() } else { vec![name.to_owned()] }
    };
    variables.flat_map(names).collect()
}

/// What a simulation is asked to do.
#[derive(Clone, Debug)]
pub struct Options<'a> {
    /// The number of the first run.
    pub first_run: u64,
    /// How many runs.
    pub runs: u64,
    /// How many steps each, at most.
    pub steps: usize,
    /// Names the random numbers.
    pub seed: u64,
    /// How many threads; 0 for one per processor.
    pub threads: usize,
    /// Where the environment's choices come from.
    pub inputs: InputSource,
    /// How random actions are chosen.
    pub actions: ActionMode,
    /// Whether runs keep their states and choices.
    pub record: bool,
    /// What follows a run that was cut, as far as its margin is concerned; verdicts take anything for possible.
    pub tail: Tail,
    /// When to stop, with what is done so far.
    pub deadline: Option<Instant>,
    /// Set by somebody else to stop, with what is done so far.
    pub stop: Option<&'a AtomicBool>,
}

impl Default for Options<'_> {
    fn default() -> Self {
        Options {
            first_run: 0,
            runs: 100,
            steps: 100,
            seed: 0,
            threads: 0,
            inputs: InputSource::Uniform,
            actions: ActionMode::Sampled,
            record: false,
            tail: Tail::Unknown,
            deadline: None,
            stop: None,
        }
    }
}
