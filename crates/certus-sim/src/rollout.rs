//! Rollouts: a batch of states that are stepped together, with the choices that are sampled for them. Simulation and environments share it.
//!
//! Every column has a random stream, and everything sampled for it comes from that stream, in an order that does not depend on the other columns: initial state; then,
//! step by step, chance variables, random actions, inputs, and inputs again where `assume` refuses the transition (rejection sampling).

use std::ops::Range;

use certus_numerics::Random;

use crate::choices::{Buffers, Outcome, Points};
use crate::compiled::Machine;
use crate::elements::{Element, Starts};
use crate::options::{InputSource, Plan, element_names};
use crate::report::End;
use crate::surrogate;
use crate::{ActionMode, SimulationError};

/// How many states are drawn from the initial box before giving up.
const MAX_INITIAL_TRIES: usize = 1000;

/// How many points an adversary may evaluate at once.
pub(crate) const MOST_POINTS: usize = 1 << 16;

/// How often other inputs are tried when the system's `assume` refuses a transition.
const ASSUME_TRIES: usize = 64;

/// For a plan, corners are tried after so many draws.
const PLANNED_TRIES: usize = 4;

/// At most this many corners of the inputs' box are tried after that.
const MOST_CORNERS: usize = 1 << 8;

/// Buffers that a thread keeps.
#[derive(Default)]
pub(crate) struct Scratch {
    pub(crate) buffers: Buffers,
    pub(crate) outcome: Outcome,
    second: Outcome,
}

/// How choices are made in a rollout.
#[derive(Clone, Copy)]
pub(crate) struct Rules<'a> {
    pub(crate) machine: Machine<'a>,
    pub(crate) inputs: &'a InputSource,
    pub(crate) actions: ActionMode,
    /// Whether policies and actions are wanted too.
    pub(crate) record: bool,
}

impl Rules<'_> {
    /// Whether anything can be drawn by these rules.
    pub(crate) fn check(&self) -> Result<(), SimulationError> {
        let system = self.machine.system;
        let (lower, upper) = &system.init_box;
        let names = element_names(system.states.iter().map(|s| (&*s.name, s.len, s.is_vector)));
        for ((low, high), name) in lower.iter().zip(upper).zip(names) {
            if !low.is_finite() || !high.is_finite() {
                return Err(SimulationError::UnboundedInitialState { variable: name });
            }
        }
        match self.inputs {
            InputSource::Adversary { property, candidates } => {
                if *property >= system.properties.len() {
                    return Err(SimulationError::Adversary("the adversary needs a property to break".to_owned()));
                }
                if *candidates == 0 || *candidates > MOST_POINTS {
                    let message = format!("the adversary takes from 1 to {MOST_POINTS} candidates, not {candidates}");
                    return Err(SimulationError::Adversary(message));
                }
                if system.inputs.is_empty() {
                    let message = "the system has no `input` for an adversary to choose";
                    return Err(SimulationError::Adversary(message.to_owned()));
                }
            }
            InputSource::Script(script) => {
                script.row(0, 0).map(|_| ())?;
            }
            InputSource::Plans(plans) => {
                let inputs = system.inputs.iter().map(|input| input.len).sum();
                let draws = system.chances.len() + self.machine.compiled.random_actions.len();
                if !plans.fit(system.state_len(), inputs, draws) {
                    let message = "a plan has another number of states, inputs or draws than the system";
                    return Err(SimulationError::Options(message.to_owned()));
                }
            }
            InputSource::Uniform => {}
        }
        Ok(())
    }

    /// The plan of a run, if its choices were made in advance.
    fn plan(&self, run: u64) -> Option<&Plan> {
        match self.inputs {
            InputSource::Plans(plans) => plans.of(run),
            _ => None,
        }
    }
}

/// A batch of states under way.
pub(crate) struct Rollout {
    pub(crate) points: Points,
    pub(crate) randoms: Vec<Random>,
    numbers: Vec<u64>,
    inputs: Vec<Element>,
    states: Vec<Element>,
}

impl Rollout {
    /// One column for each run number, at the origin until initial states are drawn.
    pub(crate) fn new(machine: Machine<'_>, seed: u64, numbers: Range<u64>) -> Rollout {
        let system = machine.system;
        let numbers: Vec<u64> = numbers.collect();
        let randoms: Vec<Random> = numbers.iter().map(|&number| Random::new(seed, number)).collect();
        let (inputs, states) = (Element::of(&system.inputs), Element::of(&system.states));
        let count = numbers.len();
        let points = Points {
            count,
            state: vec![0.0; system.state_len() * count],
            input: vec![0.0; inputs.len() * count],
            chances: system.chances.iter().map(|chance| vec![0.0; chance.labels.len() * count]).collect(),
            action_draws: machine.compiled.random_actions.iter().map(|_| vec![0.0; count]).collect(),
            results: system.networks.iter().map(|network| vec![0.0; network.results * count]).collect(),
        };
        Rollout { points, randoms, numbers, inputs, states }
    }

    /// Begins the stream of another run in a column.
    pub(crate) fn renumber(&mut self, column: usize, seed: u64, number: u64) {
        self.numbers[column] = number;
        self.randoms[column] = Random::new(seed, number);
    }

    /// Leaves only these columns.
    pub(crate) fn keep(&mut self, columns: &[usize]) {
        self.points = self.points.select(columns);
        self.randoms = columns.iter().map(|&column| self.randoms[column].clone()).collect();
        self.numbers = columns.iter().map(|&column| self.numbers[column]).collect();
    }

    /// Evaluates the step as it is drawn.
    pub(crate) fn evaluate(&self, rules: &Rules<'_>, scratch: &mut Scratch) -> Result<(), SimulationError> {
        let Scratch { buffers, outcome, .. } = scratch;
        rules.machine.evaluate(&self.points, rules.actions, rules.record, buffers, outcome)
    }

    /// Draws initial states for some columns.
    pub(crate) fn draw_initial_states(
        &mut self,
        rules: &Rules<'_>,
        mut missing: Vec<usize>,
        scratch: &mut Scratch,
    ) -> Result<(), SimulationError> {
        let system = rules.machine.system;
        let starts = Starts::of(system);
        let count = self.points.count;
        for attempt in 0..MAX_INITIAL_TRIES {
            for &column in &missing {
                let planned = rules.plan(self.numbers[column]).map(|plan| plan.start.as_slice());
                let planned = planned.filter(|start| attempt == 0 && !start.is_empty());
                let state = &mut self.points.state;
                let set = |element: usize, value: f64| state[element * count + column] = value;
                match planned {
                    Some(start) => starts.nearest(&self.states, start, set),
                    None => starts.draw(&self.states, &mut self.randoms[column], set),
                }
            }
            if system.init_is_union {
                return Ok(());
            }
            let initial = rules.machine.initial(&self.points.select(&missing), &mut scratch.buffers)?;
            let mut initial = initial.into_iter();
            missing.retain(|_| initial.next() != Some(true));
            if missing.is_empty() {
                return Ok(());
            }
        }
        Err(SimulationError::NoInitialState { tried: MAX_INITIAL_TRIES })
    }

    /// Draws chance variables and what decides random actions, for some columns.
    pub(crate) fn draw_choices(&mut self, rules: &Rules<'_>, step: usize, columns: impl IntoIterator<Item = usize>) {
        let count = self.points.count;
        for column in columns {
            let random = &mut self.randoms[column];
            let planned = rules.plan(self.numbers[column]).and_then(|plan| plan.row(&plan.draws, step));
            let mut planned = planned.into_iter().flatten().copied();
            let mut draw = || planned.next().unwrap_or_else(|| random.unit());
            for (chance, one_hot) in rules.machine.system.chances.iter().zip(&mut self.points.chances) {
                let label = Random::pick(chance.probabilities.iter().copied(), draw());
                (0..chance.labels.len()).for_each(|i| one_hot[i * count + column] = f64::from(u8::from(i == label)));
            }
            self.points.action_draws.iter_mut().for_each(|draws| draws[column] = draw());
        }
    }

    /// Chooses the inputs of all columns.
    pub(crate) fn draw_inputs(
        &mut self,
        rules: &Rules<'_>,
        step: usize,
        scratch: &mut Scratch,
    ) -> Result<(), SimulationError> {
        let count = self.points.count;
        match rules.inputs {
            InputSource::Uniform => (0..count).for_each(|column| self.draw_input(column)),
            InputSource::Script(script) => {
                for column in 0..count {
                    let row = script.row(self.numbers[column], step)?;
                    row.iter().enumerate().for_each(|(i, &value)| self.points.input[i * count + column] = value);
                }
            }
            InputSource::Adversary { property, candidates } => {
                self.draw_against(rules, *property, *candidates, scratch)?;
            }
            InputSource::Plans(plans) => {
                for column in 0..count {
                    let plan = plans.of(self.numbers[column]);
                    let Some(row) = plan.and_then(|plan| plan.row(&plan.inputs, step)) else {
                        self.draw_input(column);
                        continue;
                    };
                    for (element, (&value, own)) in row.iter().zip(&self.inputs).enumerate() {
                        self.points.input[element * count + column] = own.nearest(value);
                    }
                }
            }
        }
        Ok(())
    }

    /// Draws the inputs of one column uniformly.
    pub(crate) fn draw_input(&mut self, column: usize) {
        let count = self.points.count;
        for (element, own) in self.inputs.iter().enumerate() {
            self.points.input[element * count + column] = own.draw(&mut self.randoms[column]);
        }
    }

    /// The candidate after which the property's margin is smallest, among those that the system's `assume` allows.
    fn draw_against(
        &mut self,
        rules: &Rules<'_>,
        property: usize,
        candidates: usize,
        scratch: &mut Scratch,
    ) -> Result<(), SimulationError> {
        let formula = rules.machine.system.properties[property].against_the_environment();
        let count = self.points.count;
        let columns: Vec<usize> = (0..count).flat_map(|column| std::iter::repeat_n(column, candidates)).collect();
        let mut tried = self.points.select(&columns);
        for (place, &column) in columns.iter().enumerate() {
            for (element, own) in self.inputs.iter().enumerate() {
                let random = &mut self.randoms[column];
                // Every other candidate is a corner of the box: extremes break things first.
                let value = match place % 2 {
                    0 if random.bits() & 1 == 0 => own.low,
                    0 => own.high,
                    _ => own.draw(random),
                };
                tried.input[element * tried.count + place] = value;
            }
        }
        let Scratch { buffers, outcome, second } = scratch;
        let mode = rules.actions;
        rules.machine.evaluate(&tried, mode, false, buffers, outcome)?;
        let after = Points { state: outcome.next.clone(), ..tried.clone() };
        rules.machine.evaluate(&after, mode, false, buffers, second)?;
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
            for element in 0..self.inputs.len() {
                self.points.input[element * count + column] = tried.input[element * tried.count + best];
            }
        }
        Ok(())
    }

    /// Tries other inputs where the system's `assume` refuses the transition.
    pub(crate) fn satisfy_assumption(
        &mut self,
        rules: &Rules<'_>,
        scratch: &mut Scratch,
    ) -> Result<(), SimulationError> {
        let dimensions = self.inputs.len();
        let scripted = matches!(rules.inputs, InputSource::Script(_));
        if scratch.outcome.assume.is_empty() || dimensions == 0 || scripted {
            return Ok(());
        }
        let count = self.points.count;
        let corners = if dimensions < 32 { (1usize << dimensions).min(MOST_CORNERS) } else { MOST_CORNERS };
        // Plans are at corners often, and then draws fail often: there, corners come after a few draws.
        let draws = if matches!(rules.inputs, InputSource::Plans(_)) { PLANNED_TRIES } else { ASSUME_TRIES };
        for attempt in 0..ASSUME_TRIES + corners {
            let refused: Vec<usize> = (0..count).filter(|&column| scratch.outcome.assume[column] == 0.0).collect();
            if refused.is_empty() {
                return Ok(());
            }
            for &column in &refused {
                match attempt.checked_sub(draws).filter(|&corner| corner < corners) {
                    None => self.draw_input(column),
                    Some(corner) => {
                        for (element, own) in self.inputs.iter().enumerate() {
                            let upper = element < usize::BITS as usize && corner >> element & 1 == 1;
                            self.points.input[element * count + column] = if upper { own.high } else { own.low };
                        }
                    }
                }
            }
            let again = self.points.select(&refused);
            let Scratch { buffers, outcome, second } = scratch;
            rules.machine.evaluate(&again, rules.actions, rules.record, buffers, second)?;
            outcome.overwrite(count, &refused, second);
        }
        Ok(())
    }

    /// Why the model does not allow the step of a column, if it does not.
    pub(crate) fn fault(&self, machine: Machine<'_>, outcome: &Outcome, column: usize) -> Option<End> {
        let count = self.points.count;
        let name = |element: usize| {
            let states = machine.system.states.iter();
            element_names(states.map(|s| (&*s.name, s.len, s.is_vector))).swap_remove(element)
        };
        let undefined = || {
            let unknown = (0..self.states.len()).find(|&element| outcome.next[element * count + column].is_nan());
            let variable = unknown.map_or_else(|| "an operation outside of its domain".to_owned(), name);
            Some(End::NotANumber { variable })
        };
        if outcome.choice_defined.get(column) == Some(&0.0) {
            return undefined();
        }
        if outcome.assume.get(column) == Some(&0.0) {
            return Some(End::Blocked);
        }
        let is_undefined = outcome.defined.get(column) == Some(&0.0);
        let left = self.states.iter().enumerate().find_map(|(element, own)| {
            let value = outcome.next[element * count + column];
            if value.is_nan() {
                Some(End::NotANumber { variable: name(element) })
            } else if !own.contains(value) {
                Some(End::LeftRange { variable: name(element), value, range: (own.low, own.high) })
            } else {
                None
            }
        });
        // That an integer has no integer for successor is one reason why there is none.
        let is_broken = |end: &End| matches!(end, End::LeftRange { value, .. } if value.fract() != 0.0);
        if is_undefined && !left.as_ref().is_some_and(is_broken) { undefined() } else { left }
    }
}
