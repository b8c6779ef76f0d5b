//! Concretisation: simulation of the system along an abstract counterexample.
//!
//! The step of counterexample-guided abstraction refinement that looks for a real counterexample (Clarke et al., CAV 2000; see `refinement.rs`). Runs begin in the first cell and choose inputs
//! and labels, allowed ones if any is found, that lead along the cells of the counterexample. A run ends where a model error is met, after so many steps, or where it repeats a state exactly: doubles
//! are finite, so a system that converges does so after some hundred steps. What a run shows is decided in `validate.rs`. A run that is not found proves nothing, and refinement goes on.

use std::collections::HashMap;

use certus_lang::system::{ActionRole, AtomId, Formula, System, Variable, in_ranges};
use certus_model::{CheckError, Run};
use certus_numerics::Random;
use certus_sim::semantics::{self, Tail};

use crate::concrete_step::{Labels, StepValues, Stepper};
use crate::cone_of_influence::ConeOfInfluence;
use crate::extract::Extraction;
use crate::grid::Grid;
use crate::monitor::Monitor;
use crate::possible_errors::Valued;
use crate::validate::Found;
use crate::violation_automaton::atoms_of;

/// Simulates the system, and validates what runs show.
pub struct Concretisation<'a> {
    pub(crate) system: &'a System,
    pub(crate) formula: &'a Formula,
    /// The property's atoms.
    pub(crate) atoms: Vec<AtomId>,
    /// Where those have values.
    pub(crate) valued: Valued,
    pub(crate) stepper: Stepper<'a>,
    /// All combinations of labels that chance can draw.
    pub(crate) labels: Vec<Labels>,
    /// Tells which prefixes leave the property open; built on first use.
    pub(crate) monitor: Option<Option<Monitor>>,
    /// Initial states that were found, where these are not a box.
    starts: Vec<Vec<f64>>,
    /// A loop of doubles that violates the property but was not confirmed over the reals.
    pub(crate) candidate: Option<Run>,
    /// Steps of all runs so far.
    pub(crate) steps: u64,
}

/// Why a run ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RunEnd {
    /// It has the requested length.
    Cut,
    /// It repeats a state.
    Repeats,
    /// No allowed choice was found at its last position.
    NothingAllowed,
    /// The successor of its last position is out of a range.
    RangeExit,
    /// An operation at its last position is undefined.
    Undefined,
}

/// The most initial states that are remembered.
const MOST_STARTS: usize = 64;

/// Choices tried at each step to follow a guide.
const ATTEMPTS: usize = 24;

/// The boxes of an abstract counterexample, which a run should pass in order; after the last one comes the one at `loop_to` again.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Guide {
    /// The boxes; none if any run will do.
    pub boxes: Vec<Vec<(f64, f64)>>,
    /// Where its loop begins, if it is a lasso.
    pub loop_to: Option<usize>,
}

impl Guide {
    /// Whether a run comes to where the guide repeats itself; without such a place that is everywhere.
    fn begins_again(&self, position: usize) -> bool {
        match self.loop_to {
            Some(start) if start < self.boxes.len() => {
                position >= start && (position - start).is_multiple_of(self.boxes.len() - start)
            }
            _ => true,
        }
    }

    /// The box after some position.
    fn after(&self, position: usize) -> Option<&[(f64, f64)]> {
        let next = position + 1;
        let place = match self.loop_to {
            Some(start) if next >= self.boxes.len() && start < self.boxes.len() => {
                start + (next - start) % (self.boxes.len() - start)
            }
            _ => next,
        };
        self.boxes.get(place).map(Vec::as_slice)
    }
}

/// The size of a simulation.
#[derive(Clone, Copy, Debug)]
pub struct Lengths {
    /// The number of runs.
    pub runs: usize,
    /// The most steps of each.
    pub steps: usize,
}

impl<'a> Concretisation<'a> {
    /// The network itself.
    pub fn network(system: &'a System, formula: &'a Formula) -> Concretisation<'a> {
        let atoms = own_atoms(formula);
        let stepper = Stepper::network(system, &atoms);
        Concretisation::new(system, formula, atoms, stepper)
    }

    /// A policy that was extracted on a grid.
    pub(crate) fn extracted(
        system: &'a System,
        formula: &'a Formula,
        grid: (&'a Grid, &'a ConeOfInfluence),
        extraction: Extraction,
    ) -> Result<Concretisation<'a>, CheckError> {
        let atoms = own_atoms(formula);
        let stepper = Stepper::extracted(system, &atoms, grid, extraction)?;
        Ok(Concretisation::new(system, formula, atoms, stepper))
    }

    fn new(system: &'a System, formula: &'a Formula, atoms: Vec<AtomId>, stepper: Stepper<'a>) -> Concretisation<'a> {
        let (valued, labels) = (Valued::of(system, &atoms), stepper.labels());
        Concretisation {
            system,
            formula,
            atoms,
            valued,
            stepper,
            labels,
            monitor: None,
            starts: Vec::new(),
            candidate: None,
            steps: 0,
        }
    }

    /// Looks for a violation, or else a model error, among runs from boxes around initial states in turn, which follow a guide where the environment has a choice.
    /// All of them together have at most so many steps.
    #[tracing::instrument(level = "debug", name = "concretisation", skip_all)]
    pub fn search(
        &mut self,
        starts: &[(Vec<f64>, Vec<f64>)],
        guide: &Guide,
        (lengths, most): (Lengths, usize),
        seed: u64,
        stop: &dyn Fn() -> bool,
    ) -> Result<Option<Found>, CheckError> {
        let mut left = most;
        let mut error = None;
        for index in 0..lengths.runs {
            if left == 0 || stop() {
                break;
            }
            let mut random = Random::new(seed, index as u64);
            let Some((lower, upper)) = starts.get(index % starts.len().max(1)) else { break };
            let turn = index / starts.len();
            // The middle and the ends first.
            let state: Vec<f64> = lower
                .iter()
                .zip(upper)
                .enumerate()
                .map(|(axis, (&low, &high))| match turn {
                    0 => (low / 2.0 + high / 2.0).clamp(low, high),
                    1 => low,
                    2 => high,
                    3 | 4 => {
                        if (axis + turn) % 2 == 0 {
                            low
                        } else {
                            high
                        }
                    }
                    _ => random.between(low, high),
                })
                .collect();
            let state = nearest(&self.system.states, state);
            let steps = lengths.steps.min(left);
            let (mut run, mut end) = self.run(state, guide, steps, &mut random)?;
            if !self.system.init_is_union {
                let inside = |state: &&Vec<f64>| {
                    let mut ends = state.iter().zip(lower.iter().zip(upper));
                    ends.all(|(value, (low, high))| low <= value && value <= high)
                };
                let known: Vec<&Vec<f64>> = self.starts.iter().filter(inside).collect();
                match run.states.first() {
                    Some(first) if !self.starts.contains(first) && self.starts.len() < MOST_STARTS => {
                        self.starts.push(first.clone());
                    }
                    // One that is initial is better than none.
                    None if !known.is_empty() => {
                        let start = known[index % known.len()].clone();
                        (run, end) = self.run(start, guide, steps, &mut random)?;
                    }
                    _ => {}
                }
            }
            left = left.saturating_sub(run.states.len().max(1));
            self.steps += run.states.len() as u64;
            if let Some(run) = self.violation(&run, end)? {
                return Ok(Some(Found::Violation(run)));
            }
            if error.is_none() {
                error = self.error(&run, end)?;
            }
        }
        Ok(error)
    }

    /// One run, as far as it goes.
    fn run(
        &mut self,
        start: Vec<f64>,
        guide: &Guide,
        steps: usize,
        random: &mut Random,
    ) -> Result<(Run, RunEnd), CheckError> {
        let mut run = Run::default();
        let free = self.is_free();
        let mut seen: HashMap<Vec<u64>, usize> = HashMap::new();
        let mut state = start;
        while run.states.len() <= steps {
            let bits: Vec<u64> = state.iter().map(|value| (value + 0.0).to_bits()).collect();
            // A guided run may pass a state twice on its way round.
            if !free || guide.begins_again(run.states.len()) {
                if let Some(&first) = seen.get(&bits) {
                    run.loop_to = Some(first);
                    return Ok((run, RunEnd::Repeats));
                }
                seen.insert(bits, run.states.len());
            }
            let (inputs, labels, made) = self.chosen(&state, guide, &run, random)?;
            if run.states.is_empty() && !made.initial {
                return Ok((run, RunEnd::Cut));
            }
            let end = self.end_at(&made);
            run.inputs.push(inputs);
            run.chances.push(labels.chances);
            run.policies.push(made.policies);
            run.actions.push(made.actions);
            run.atoms.push(made.atoms);
            run.states.push(std::mem::replace(&mut state, made.next));
            if let Some(end) = end {
                return Ok((run, end));
            }
        }
        Ok((run, RunEnd::Cut))
    }

    /// Why a run ends with a step, if it does.
    fn end_at(&self, made: &StepValues) -> Option<RunEnd> {
        match made {
            StepValues { defined: false, .. } => Some(RunEnd::Undefined),
            StepValues { allowed: false, .. } => Some(RunEnd::NothingAllowed),
            made if !in_ranges(&self.system.states, &made.next) => Some(RunEnd::RangeExit),
            _ => None,
        }
    }

    /// Whether anything is chosen along a run.
    fn is_free(&self) -> bool {
        !self.system.inputs.is_empty() || self.labels.len() > 1
    }

    /// A step with choices that are allowed, and lead to where the guide says, if some that were tried do. At the guide's end they are to show
    /// what it was made for.
    fn chosen(
        &mut self,
        state: &[f64],
        guide: &Guide,
        before: &Run,
        random: &mut Random,
    ) -> Result<(Vec<f64>, Labels, StepValues), CheckError> {
        let position = before.states.len();
        let free = self.is_free();
        let target = guide.after(position).filter(|_| free);
        let at_end = free && target.is_none() && position + 1 == guide.boxes.len();
        let guided = target.is_some() || at_end;
        let most = if free { ATTEMPTS.max(3 * self.labels.len()) } else { 1 };
        let mut best: Option<(Vec<f64>, Labels, StepValues)> = None;
        for attempt in 0..most {
            let (inputs, labels) = self.choice(guided.then_some(attempt), random);
            let made = self.stepper.step(state, &inputs, &labels)?;
            let is_wanted = match target {
                _ if at_end => {
                    self.end_at(&made).is_some_and(|end| end != RunEnd::NothingAllowed) || self.shows(before, &made)
                }
                Some(ends) => made.next.iter().zip(ends).all(|(value, (low, high))| low <= value && value <= high),
                None => true,
            };
            // What is undefined is an error whether it is allowed or not.
            let usable = |made: &StepValues| made.allowed || !made.defined;
            let is_found = is_wanted && usable(&made);
            let is_better = best.as_ref().is_none_or(|(.., other)| is_found || (usable(&made) && !usable(other)));
            if is_better {
                best = Some((inputs, labels, made));
            }
            if is_found {
                break;
            }
        }
        best.ok_or_else(|| CheckError::Unsupported("the system has no step to simulate".to_owned()))
    }

    /// Something that can be chosen: in a systematic attempt every label with the ends and the middle of the inputs' ranges first, otherwise at random.
    fn choice(&self, attempt: Option<usize>, random: &mut Random) -> (Vec<f64>, Labels) {
        let system = self.system;
        let round = attempt.map_or(usize::MAX, |attempt| attempt / self.labels.len().max(1));
        let number = |(&low, &high): (&f64, &f64)| match round {
            0 => low,
            1 => high,
            2 => (low / 2.0 + high / 2.0).clamp(low, high),
            _ => random.between(low, high),
        };
        let inputs = system.inputs.iter().flat_map(|own| own.lower.iter().zip(&own.upper));
        let inputs = nearest(&system.inputs, inputs.map(number).collect());
        if let Some(attempt) = attempt {
            return (inputs, self.labels[attempt % self.labels.len().max(1)].clone());
        }
        let chances = system.chances.iter();
        let chances = chances.map(|own| Random::pick(own.probabilities.iter().copied(), random.unit())).collect();
        let actions = system.actions.iter().zip(&system.roles.actions);
        let actions = actions.filter(|(_, role)| matches!(role, ActionRole::Softmax { .. }));
        let actions = actions.map(|(action, _)| (random.bits() % action.labels.len() as u64) as usize).collect();
        (inputs, Labels { chances, actions })
    }

    /// Whether a run with one more step violates the property.
    fn shows(&self, before: &Run, made: &StepValues) -> bool {
        let positions = before.states.len() + 1;
        let atom = |id: AtomId, position: usize| before.atoms.get(position).unwrap_or(&made.atoms)[id.0];
        !semantics::evaluate(self.formula, positions, Tail::Unknown, &atom).greatest
    }
}

fn own_atoms(formula: &Formula) -> Vec<AtomId> {
    let mut atoms = Vec::new();
    atoms_of(formula, &mut atoms);
    atoms.sort_unstable();
    atoms.dedup();
    atoms
}

/// Values with integers in place of those that are to be integers.
fn nearest(variables: &[Variable], mut values: Vec<f64>) -> Vec<f64> {
    let elements = variables.iter().flat_map(|own| (0..own.len).map(move |element| (own, element)));
    for (value, (own, element)) in values.iter_mut().zip(elements).filter(|(_, (own, _))| own.integers.is_some()) {
        *value = own.nearest(element, *value);
    }
    values
}
