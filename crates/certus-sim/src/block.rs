//! A block of runs, stepped together as one batch.

use std::ops::Range;

use certus_lang::system::{ActionRole, AtomId, Formula, PropertyKind};

use crate::choices::{Buffers, Outcome, Points, gather};
use crate::options::{InputSource, Options, element_names};
use crate::report::{End, PropertyReport, RunReport, Step, Trace, Verdict};
use crate::semantics::{self, Tail};
use crate::simulator::{MAX_INITIAL_TRIES, Simulator, stopped};
use crate::surrogate;
use crate::{Random, SimulationError};

/// How often other inputs are tried when the system's `assume` refuses a transition.
const ASSUME_TRIES: usize = 64;

/// At most this many corners of the inputs' box are tried after that.
const MOST_CORNERS: usize = 1 << 8;

/// Buffers that a thread keeps from block to block.
#[derive(Default)]
pub(crate) struct Scratch {
    buffers: Buffers,
    outcome: Outcome,
    second: Outcome,
}

/// A run under way.
struct Run {
    number: u64,
    random: Random,
    truths: Vec<bool>,
    margins: Vec<f64>,
    total_reward: f64,
    trace: Trace,
    positions: usize,
}

pub(crate) struct Block<'a> {
    simulator: &'a Simulator<'a>,
    options: &'a Options<'a>,
    runs: Vec<Run>,
    points: Points,
    finished: Vec<RunReport>,
    input_bounds: Vec<(f64, f64)>,
    state_bounds: Vec<(f64, f64)>,
}

impl<'a> Block<'a> {
    pub(crate) fn new(
        simulator: &'a Simulator<'a>,
        options: &'a Options<'a>,
        numbers: Range<u64>,
    ) -> Result<Self, SimulationError> {
        let system = simulator.system;
        let bounds = |variables: &[certus_lang::system::Variable]| -> Vec<(f64, f64)> {
            variables.iter().flat_map(|v| v.lower.iter().copied().zip(v.upper.iter().copied())).collect()
        };
        let run = |number| Run {
            number,
            random: Random::new(options.seed, number),
            truths: Vec::new(),
            margins: Vec::new(),
            total_reward: 0.0,
            trace: Trace::new(),
            positions: 0,
        };
        let runs: Vec<Run> = numbers.map(run).collect();
        let count = runs.len();
        let points = Points {
            count,
            state: vec![0.0; system.state_len() * count],
            input: vec![0.0; bounds(&system.inputs).len() * count],
            chances: system.chances.iter().map(|chance| vec![0.0; chance.labels.len() * count]).collect(),
            action_draws: simulator.softmax_labels.iter().map(|_| vec![0.0; count]).collect(),
        };
        let (input_bounds, state_bounds) = (bounds(&system.inputs), bounds(&system.states));
        Ok(Block { simulator, options, runs, points, finished: Vec::new(), input_bounds, state_bounds })
    }

    /// Makes all runs of the block; `None` if the simulation was stopped meanwhile.
    pub(crate) fn run(mut self, scratch: &mut Scratch) -> Result<Option<Vec<RunReport>>, SimulationError> {
        self.draw_initial_states(scratch)?;
        for step in 0..=self.options.steps {
            if stopped(self.options) {
                return Ok(None);
            }
            if self.runs.is_empty() {
                break;
            }
            let last = step == self.options.steps;
            self.draw_choices(step, scratch)?;
            let Scratch { buffers, outcome, .. } = scratch;
            let record = self.options.record;
            self.simulator.evaluate(&self.points, self.options.actions, record, buffers, outcome)?;
            if !last {
                self.satisfy_assumption(scratch)?;
            }
            self.record(&scratch.outcome);
            self.advance(&scratch.outcome, last);
        }
        self.finished.sort_by_key(|report| report.run);
        Ok(Some(self.finished))
    }

    fn draw_initial_states(&mut self, scratch: &mut Scratch) -> Result<(), SimulationError> {
        let (lower, upper) = &self.simulator.system.init_box;
        let count = self.points.count;
        let mut missing: Vec<usize> = (0..count).collect();
        for _ in 0..MAX_INITIAL_TRIES {
            for &column in &missing {
                for (element, (&low, &high)) in lower.iter().zip(upper).enumerate() {
                    self.points.state[element * count + column] = self.runs[column].random.between(low, high);
                }
            }
            if self.simulator.system.init_is_box {
                return Ok(());
            }
            let initial = self.simulator.initial(&self.points.select(&missing), &mut scratch.buffers)?;
            let mut initial = initial.into_iter();
            missing.retain(|_| initial.next() != Some(true));
            if missing.is_empty() {
                return Ok(());
            }
        }
        Err(SimulationError::NoInitialState { tried: MAX_INITIAL_TRIES })
    }

    fn draw_choices(&mut self, step: usize, scratch: &mut Scratch) -> Result<(), SimulationError> {
        let count = self.points.count;
        let system = self.simulator.system;
        for (column, run) in self.runs.iter_mut().enumerate() {
            for (chance, one_hot) in system.chances.iter().zip(&mut self.points.chances) {
                let label = Random::pick(chance.probabilities.iter().copied(), run.random.unit());
                (0..chance.labels.len()).for_each(|i| one_hot[i * count + column] = f64::from(u8::from(i == label)));
            }
            self.points.action_draws.iter_mut().for_each(|draws| draws[column] = run.random.unit());
        }
        match &self.options.inputs {
            InputSource::Uniform => (0..count).for_each(|column| self.draw_input(column)),
            InputSource::Script(script) => {
                for column in 0..count {
                    let row = script.row(self.runs[column].number, step)?;
                    row.iter().enumerate().for_each(|(i, &value)| self.points.input[i * count + column] = value);
                }
            }
            InputSource::Adversary { property, candidates } => {
                self.draw_against(*property, *candidates, scratch)?;
            }
        }
        Ok(())
    }

    fn draw_input(&mut self, column: usize) {
        let count = self.points.count;
        for (element, &(low, high)) in self.input_bounds.iter().enumerate() {
            self.points.input[element * count + column] = self.runs[column].random.between(low, high);
        }
    }

    /// The candidate after which the property's margin is smallest, among those that the system's `assume` allows.
    fn draw_against(
        &mut self,
        property: usize,
        candidates: usize,
        scratch: &mut Scratch,
    ) -> Result<(), SimulationError> {
        let formula = match &self.simulator.system.properties[property].kind {
            PropertyKind::Ltl(formula) => formula.clone(),
            // A path formula is what must not happen.
            PropertyKind::Probability { path, .. } => Formula::Not(Box::new(path.clone())),
        };
        let count = self.points.count;
        let columns: Vec<usize> = (0..count).flat_map(|column| std::iter::repeat_n(column, candidates)).collect();
        let mut tried = self.points.select(&columns);
        for (place, &column) in columns.iter().enumerate() {
            for (element, &(low, high)) in self.input_bounds.iter().enumerate() {
                let random = &mut self.runs[column].random;
                // Every other candidate is a corner of the box: extremes break things first.
                let value = match place % 2 {
                    0 if random.bits() & 1 == 0 => low,
                    0 => high,
                    _ => random.between(low, high),
                };
                tried.input[element * tried.count + place] = value;
            }
        }
        let Scratch { buffers, outcome, second } = scratch;
        let mode = self.options.actions;
        self.simulator.evaluate(&tried, mode, false, buffers, outcome)?;
        let after = Points { state: outcome.next.clone(), ..tried.clone() };
        self.simulator.evaluate(&after, mode, false, buffers, second)?;
        let score = |place: usize| {
            if outcome.assume.get(place) == Some(&0.0) {
                return f64::INFINITY;
            }
            let at = |seen: &Outcome| surrogate::margin(&formula, &|id| seen.margins[id.0 * tried.count + place]);
            let (now, then) = (at(outcome), at(second));
            if then.is_nan() { now } else { now.min(then) }
        };
        for column in 0..count {
            let places = column * candidates..(column + 1) * candidates;
            let best = places.clone().min_by(|&a, &b| score(a).total_cmp(&score(b))).unwrap_or(places.start);
            for element in 0..self.input_bounds.len() {
                self.points.input[element * count + column] = tried.input[element * tried.count + best];
            }
        }
        Ok(())
    }

    /// Tries other inputs where the system's `assume` refuses the transition.
    fn satisfy_assumption(&mut self, scratch: &mut Scratch) -> Result<(), SimulationError> {
        let dimensions = self.input_bounds.len();
        let scripted = matches!(self.options.inputs, InputSource::Script(_));
        if scratch.outcome.assume.is_empty() || dimensions == 0 || scripted {
            return Ok(());
        }
        let count = self.points.count;
        let corners = if dimensions < 32 { (1usize << dimensions).min(MOST_CORNERS) } else { MOST_CORNERS };
        for attempt in 0..ASSUME_TRIES + corners {
            let refused: Vec<usize> = (0..count).filter(|&column| scratch.outcome.assume[column] == 0.0).collect();
            if refused.is_empty() {
                return Ok(());
            }
            for &column in &refused {
                match attempt.checked_sub(ASSUME_TRIES) {
                    None => self.draw_input(column),
                    Some(corner) => {
                        for (element, &(low, high)) in self.input_bounds.iter().enumerate() {
                            let upper = element < usize::BITS as usize && corner >> element & 1 == 1;
                            self.points.input[element * count + column] = if upper { high } else { low };
                        }
                    }
                }
            }
            let again = self.points.select(&refused);
            let Scratch { buffers, outcome, second } = scratch;
            self.simulator.evaluate(&again, self.options.actions, self.options.record, buffers, second)?;
            outcome.overwrite(count, &refused, second);
        }
        Ok(())
    }

    fn record(&mut self, outcome: &Outcome) {
        let count = self.points.count;
        let column_of = |table: &[f64], column: usize| gather(table, count, &[column]);
        let label = |one_hot: &[f64], column: usize| {
            one_hot.iter().skip(column).step_by(count.max(1)).position(|&x| x != 0.0).unwrap_or(0)
        };
        for (column, run) in self.runs.iter_mut().enumerate() {
            run.positions += 1;
            let atoms = self.simulator.system.atoms.len();
            run.truths.extend((0..atoms).map(|atom| outcome.truths[atom * count + column] != 0.0));
            run.margins.extend((0..atoms).map(|atom| outcome.margins[atom * count + column]));
            if self.options.record {
                run.trace.push(Step {
                    state: column_of(&self.points.state, column),
                    input: column_of(&self.points.input, column),
                    chances: self.points.chances.iter().map(|one_hot| label(one_hot, column)).collect(),
                    policies: column_of(&outcome.policies, column),
                    actions: outcome.actions.iter().map(|one_hot| label(one_hot, column)).collect(),
                    reward: outcome.reward.get(column).copied(),
                    atoms: run.truths[run.truths.len() - atoms..].to_vec(),
                });
            }
        }
    }

    /// Ends the runs that are over, and moves the others to their next state.
    fn advance(&mut self, outcome: &Outcome, last: bool) {
        let count = self.points.count;
        let ends: Vec<Option<End>> = (0..count).map(|column| self.end_of(outcome, column, last)).collect();
        for (column, run) in self.runs.iter_mut().enumerate() {
            let moved = match &ends[column] {
                None | Some(End::LeftRange { .. } | End::NotANumber { .. }) => true,
                Some(End::Completed | End::Terminal | End::Blocked) => false,
            };
            if moved {
                run.total_reward += outcome.reward.get(column).copied().unwrap_or(0.0);
            }
        }
        self.points.state.copy_from_slice(&outcome.next);
        if ends.iter().all(Option::is_none) {
            return;
        }
        let alive: Vec<usize> = (0..count).filter(|&column| ends[column].is_none()).collect();
        self.points = self.points.select(&alive);
        let mut going_on = Vec::with_capacity(alive.len());
        for (run, end) in std::mem::take(&mut self.runs).into_iter().zip(ends) {
            match end {
                None => going_on.push(run),
                Some(end) => {
                    let report = self.report(run, end);
                    self.finished.push(report);
                }
            }
        }
        self.runs = going_on;
    }

    fn end_of(&self, outcome: &Outcome, column: usize, last: bool) -> Option<End> {
        let count = self.points.count;
        if outcome.terminal.get(column).is_some_and(|&terminal| terminal != 0.0) {
            return Some(End::Terminal);
        }
        if last {
            return Some(End::Completed);
        }
        if outcome.assume.get(column) == Some(&0.0) {
            return Some(End::Blocked);
        }
        let name = |element: usize| {
            let states = self.simulator.system.states.iter();
            element_names(states.map(|s| (&*s.name, s.len, s.is_vector))).swap_remove(element)
        };
        self.state_bounds.iter().enumerate().find_map(|(element, &(low, high))| {
            let value = outcome.next[element * count + column];
            if value.is_nan() {
                Some(End::NotANumber { variable: name(element) })
            } else if value < low || value > high {
                Some(End::LeftRange { variable: name(element), value, range: (low, high) })
            } else {
                None
            }
        })
    }

    fn report(&self, run: Run, end: End) -> RunReport {
        let properties = self.simulator.system.properties.iter().map(|property| {
            let formula = match &property.kind {
                PropertyKind::Ltl(formula) | PropertyKind::Probability { path: formula, .. } => formula,
            };
            self.judge(formula, &run, &end)
        });
        RunReport {
            run: run.number,
            steps: run.positions - 1 + usize::from(matches!(end, End::LeftRange { .. } | End::NotANumber { .. })),
            properties: properties.collect(),
            total_reward: self.simulator.ports.reward.map(|_| run.total_reward),
            trace: self.options.record.then_some(run.trace),
            end,
        }
    }

    fn judge(&self, formula: &Formula, run: &Run, end: &End) -> PropertyReport {
        let atoms = self.simulator.system.atoms.len();
        let tail = match end {
            End::Terminal if self.repeats(formula) => Tail::Repeats,
            _ => Tail::Unknown,
        };
        let truth = |id: AtomId, position: usize| run.truths[position * atoms + id.0];
        let margin = |id: AtomId, position: usize| run.margins[position * atoms + id.0];
        let verdict = semantics::verdict(formula, run.positions, tail, &truth);
        let margins = semantics::evaluate(formula, run.positions, tail, &margin);
        let margin = if verdict == Verdict::Satisfied { margins.least } else { margins.greatest };
        // Verdicts of prefixes only ever become more certain, so the first certain one is found by bisection.
        let broken_at = (verdict == Verdict::Violated).then(|| {
            let (mut open, mut broken) = (0, run.positions);
            while broken - open > 1 {
                let middle = open + (broken - open) / 2;
                match semantics::verdict(formula, middle, Tail::Unknown, &truth) {
                    Verdict::Violated => broken = middle,
                    _ => open = middle,
                }
            }
            broken - 1
        });
        PropertyReport { verdict, margin, broken_at }
    }

    /// Whether a terminal state fixes the formula's atoms for ever: not if they depend on choices still to come.
    fn repeats(&self, formula: &Formula) -> bool {
        let system = self.simulator.system;
        let random = system.roles.actions.iter().any(|role| matches!(role, ActionRole::Softmax { .. }));
        if system.inputs.is_empty() && system.chances.is_empty() && !random {
            return true;
        }
        let mut fixed = true;
        visit_atoms(formula, &mut |id| fixed &= system.atoms[id.0].state_only);
        fixed
    }
}

fn visit_atoms(formula: &Formula, visit: &mut dyn FnMut(AtomId)) {
    match formula {
        Formula::Constant(_) => {}
        Formula::Atom(id) => visit(*id),
        Formula::Not(a) | Formula::Next(a) | Formula::Finally(_, a) | Formula::Globally(_, a) => visit_atoms(a, visit),
        Formula::And(parts) | Formula::Or(parts) => parts.iter().for_each(|part| visit_atoms(part, visit)),
        Formula::Implies(a, b)
        | Formula::Iff(a, b)
        | Formula::Until(_, a, b)
        | Formula::WeakUntil(_, a, b)
        | Formula::Release(_, a, b) => {
            visit_atoms(a, visit);
            visit_atoms(b, visit);
        }
    }
}
