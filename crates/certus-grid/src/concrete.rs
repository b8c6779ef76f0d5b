//! Runs of the system itself, tried where an abstract run suggests them.
//!
//! A run that repeats a state exactly can be repeated for ever, since doubles are finite: a loop that comes to rest does
//! so after some hundred steps. What is found counts only after it was made again: by `certus-check` for the network, and
//! for an extracted policy by the evaluation that defines it.

use std::collections::HashMap;

use certus_check::replay::{Drive, replay};
use certus_check::{CheckError, Run, lasso};
use certus_graph::eval::{Evaluator, Workspace};
use certus_lang::system::{ActionRole, AtomId, Formula, Output, System, Variable};
use certus_sim::Random;
use certus_sim::semantics::{self, Tail};

use crate::extract::{Extraction, Given};
use crate::lattice::{Lattice, Unit};
use crate::moves::{Choice, Moves};
use crate::relevant::Part;

/// A system with a policy, to be run.
pub struct Concrete<'a> {
    system: &'a System,
    formula: &'a Formula,
    policy: Policy<'a>,
}

enum Policy<'a> {
    Network(Box<Evaluator<f64>>),
    Extracted(Box<Table<'a>>),
}

/// An extracted policy and the steps that its actions make.
struct Table<'a> {
    lattice: &'a Lattice,
    /// What the grid is over.
    part: &'a Part,
    extraction: Extraction,
    moves: Moves,
    steps: Vec<Evaluator<f64>>,
    known: HashMap<Vec<u64>, Given>,
}

/// What a step of a run was.
struct Made {
    next: Vec<f64>,
    policies: Vec<f64>,
    actions: Vec<usize>,
    atoms: Vec<bool>,
    allowed: bool,
    initial: bool,
}

/// Choices that are tried to follow a guide.
const ATTEMPTS: usize = 24;

/// Boxes that a run should pass, one after the other; after the last one comes the one at `loop_to` again.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Guide {
    /// The boxes; none if any run will do.
    pub boxes: Vec<Vec<(f64, f64)>>,
    /// Where it repeats itself, if it does.
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

/// How many steps a run may have.
#[derive(Clone, Copy, Debug)]
pub struct Lengths {
    /// How many runs are tried.
    pub runs: usize,
    /// How many steps each has at most.
    pub steps: usize,
}

impl<'a> Concrete<'a> {
    /// The network itself.
    pub fn network(system: &'a System, formula: &'a Formula) -> Concrete<'a> {
        Concrete { system, formula, policy: Policy::Network(Box::new(Evaluator::new(&system.step))) }
    }

    /// A policy that was extracted on a grid.
    pub(crate) fn extracted(
        system: &'a System,
        formula: &'a Formula,
        (lattice, part): (&'a Lattice, &'a Part),
        extraction: Extraction,
    ) -> Result<Concrete<'a>, CheckError> {
        let truths = system.roles.atoms.iter().chain(&system.roles.assume).map(|own| own.truth);
        let wanted: Vec<Output> = truths.collect();
        let moves = Moves::with(system, &wanted, true).map_err(CheckError::Unsupported)?;
        let steps = moves.moves.iter().map(|own| Evaluator::new(&own.step)).collect();
        let table = Table { lattice, part, extraction, moves, steps, known: HashMap::new() };
        Ok(Concrete { system, formula, policy: Policy::Extracted(Box::new(table)) })
    }

    /// Looks for a violation among runs from a box of initial states, which follow a guide where the environment has a choice. All of them together
    /// have at most so many steps.
    pub fn search(
        &mut self,
        (lower, upper): (&[f64], &[f64]),
        guide: &Guide,
        (lengths, most): (Lengths, usize),
        seed: u64,
        stop: &dyn Fn() -> bool,
    ) -> Result<Option<Run>, CheckError> {
        let mut workspace = Workspace::default();
        let mut left = most;
        for index in 0..lengths.runs {
            if left == 0 || stop() {
                return Ok(None);
            }
            let mut random = Random::new(seed, index as u64);
            // The middle and the ends first.
            let state: Vec<f64> = lower
                .iter()
                .zip(upper)
                .enumerate()
                .map(|(axis, (&low, &high))| match index {
                    0 => (low / 2.0 + high / 2.0).clamp(low, high),
                    1 => low,
                    2 => high,
                    3 | 4 => {
                        if (axis + index) % 2 == 0 {
                            low
                        } else {
                            high
                        }
                    }
                    _ => random.between(low, high),
                })
                .collect();
            let run = self.run(state, guide, lengths.steps.min(left), &mut random, &mut workspace)?;
            left = left.saturating_sub(run.states.len().max(1));
            if let Some(run) = self.judged(run)? {
                return Ok(Some(run));
            }
        }
        Ok(None)
    }

    /// One run, as far as it goes.
    fn run(
        &mut self,
        start: Vec<f64>,
        guide: &Guide,
        steps: usize,
        random: &mut Random,
        workspace: &mut Workspace<f64>,
    ) -> Result<Run, CheckError> {
        let mut run = Run::default();
        let free = self.is_free();
        let mut seen: HashMap<Vec<u64>, usize> = HashMap::new();
        let mut state = start;
        while run.states.len() <= steps && in_ranges(&self.system.states, &state) {
            let bits: Vec<u64> = state.iter().map(|value| (value + 0.0).to_bits()).collect();
            // A guided run may pass a state twice on its way round.
            if !free || guide.begins_again(run.states.len()) {
                if let Some(&first) = seen.get(&bits) {
                    run.loop_to = Some(first);
                    break;
                }
                seen.insert(bits, run.states.len());
            }
            let (inputs, chances, made) = self.chosen(&state, guide, run.states.len(), random, workspace)?;
            if run.states.is_empty() && !made.initial {
                return Ok(run);
            }
            run.inputs.push(inputs);
            run.chances.push(chances);
            run.policies.push(made.policies);
            run.actions.push(made.actions);
            run.atoms.push(made.atoms);
            run.states.push(std::mem::replace(&mut state, made.next));
            if !made.allowed {
                break;
            }
        }
        Ok(run)
    }

    /// How many actions are random.
    fn random_actions(&self) -> usize {
        self.system.roles.actions.iter().filter(|role| matches!(role, ActionRole::Softmax { .. })).count()
    }

    /// Whether anything is chosen along a run.
    fn is_free(&self) -> bool {
        !self.system.inputs.is_empty() || !self.system.chances.is_empty() || self.random_actions() > 0
    }

    /// A step with choices that lead to where the guide says, if some that were tried do.
    fn chosen(
        &mut self,
        state: &[f64],
        guide: &Guide,
        position: usize,
        random: &mut Random,
        workspace: &mut Workspace<f64>,
    ) -> Result<(Vec<f64>, Vec<usize>, Made), CheckError> {
        let system = self.system;
        let target = guide.after(position).filter(|_| self.is_free());
        let mut attempt = 0;
        loop {
            // The ends of ranges first, then numbers between them.
            let mut number = |low: f64, high: f64| match attempt {
                0 if target.is_some() => low,
                1 if target.is_some() => high,
                _ => random.between(low, high),
            };
            let inputs = system.inputs.iter().flat_map(|own| own.lower.iter().zip(&own.upper));
            let inputs: Vec<f64> = inputs.map(|(&low, &high)| number(low, high)).collect();
            let chances = system.chances.iter();
            let chances: Vec<usize> =
                chances.map(|own| Random::pick(own.probabilities.iter().copied(), random.unit())).collect();
            let actions = system.actions.iter().zip(&system.roles.actions);
            let actions = actions.filter(|(_, role)| matches!(role, ActionRole::Softmax { .. }));
            let choices: Vec<usize> =
                actions.map(|(action, _)| (random.bits() % action.labels.len() as u64) as usize).collect();
            let made = self.step(state, &inputs, &chances, &choices, workspace)?;
            attempt += 1;
            let there = target.is_none_or(|ends| {
                let mut values = made.next.iter().zip(ends);
                values.all(|(value, (low, high))| low <= value && value <= high)
            });
            if there || attempt >= ATTEMPTS {
                return Ok((inputs, chances, made));
            }
        }
    }

    /// A run cut to what shows a violation, if it does.
    fn judged(&self, mut run: Run) -> Result<Option<Run>, CheckError> {
        let positions = run.states.len();
        let atom = |id: AtomId, position: usize| run.atoms[position][id.0];
        let shows = |positions: usize| !semantics::evaluate(self.formula, positions, Tail::Unknown, &atom).greatest;
        // The last position may have no successor, of which an atom could speak.
        let speaks = self.system.atoms.iter().any(|atom| atom.uses_next);
        let longest = positions.saturating_sub(usize::from(speaks && run.loop_to.is_none()));
        if longest > 0 && shows(longest) {
            let (mut without, mut with) = (0, longest);
            while with - without > 1 {
                let middle = (with + without) / 2;
                if shows(middle) { with = middle } else { without = middle }
            }
            run.loop_to = None;
            for table in [&mut run.states, &mut run.inputs, &mut run.policies] {
                table.truncate(with);
            }
            run.chances.truncate(with);
            run.actions.truncate(with);
            run.atoms.truncate(with);
        } else {
            let Some(start) = run.loop_to else { return Ok(None) };
            let holds = lasso::holds(self.formula, positions, start, &atom)[0];
            if holds {
                return Ok(None);
            }
        }
        match self.policy {
            Policy::Network(_) => Ok(replay(self.system, self.formula, &Drive::of(self.system, &run))?),
            Policy::Extracted(_) => Ok(Some(run)),
        }
    }

    fn step(
        &mut self,
        state: &[f64],
        inputs: &[f64],
        chances: &[usize],
        choices: &[usize],
        workspace: &mut Workspace<f64>,
    ) -> Result<Made, CheckError> {
        let system = self.system;
        let numbers = split(&system.states, state).chain(split(&system.inputs, inputs));
        let mut arguments: Vec<Vec<f64>> = numbers.map(<[f64]>::to_vec).collect();
        let roles = &system.roles;
        match &mut self.policy {
            Policy::Network(step) => {
                let one_hot = |labels: usize, chosen: usize| -> Vec<f64> {
                    (0..labels).map(|label| f64::from(u8::from(label == chosen))).collect()
                };
                let own = system.chances.iter().zip(chances);
                arguments.extend(own.map(|(chance, &label)| one_hot(chance.labels.len(), label)));
                let random = system.actions.iter().zip(&roles.actions);
                let random = random.filter(|(_, role)| matches!(role, ActionRole::Softmax { .. }));
                arguments.extend(random.zip(choices).map(|((action, _), &label)| one_hot(action.labels.len(), label)));
                let slices: Vec<&[f64]> = arguments.iter().map(Vec::as_slice).collect();
                step.run(workspace, &slices, 1)?;
                let output = |port: usize| step.output(workspace, &slices, port);
                let truth = |port: usize| output(port).first().is_some_and(|&value| value != 0.0);
                let mut sampled = choices.iter();
                let label = |role: &ActionRole| match role {
                    ActionRole::Argmax { choice, .. } => {
                        output(choice.port).iter().position(|&value| value != 0.0).unwrap_or(0)
                    }
                    ActionRole::Softmax { .. } => sampled.next().copied().unwrap_or(0),
                };
                Ok(Made {
                    next: roles.next.iter().flat_map(|next| output(next.port).iter().copied()).collect(),
                    policies: roles.policies.iter().flat_map(|own| output(own.port).iter().copied()).collect(),
                    actions: roles.actions.iter().map(label).collect(),
                    atoms: roles.atoms.iter().map(|atom| truth(atom.truth.port)).collect(),
                    allowed: roles.assume.is_none_or(|assume| truth(assume.truth.port)),
                    initial: roles.init.is_none_or(|init| truth(init.truth.port)),
                })
            }
            Policy::Extracted(table) => {
                let given = table.given(state)?;
                let mut largest = given.labels.iter();
                let mut random = choices.iter();
                let labels: Vec<usize> = table
                    .moves
                    .choices
                    .iter()
                    .map(|choice| match choice {
                        Choice::Chance(place) => chances[*place],
                        Choice::Largest(_) => largest.next().copied().unwrap_or(0),
                        Choice::Random(_) => random.next().copied().unwrap_or(0),
                    })
                    .collect();
                let place = table.moves.moves.iter().position(|own| own.labels == labels).unwrap_or(0);
                let step = &table.steps[place];
                arguments.extend(split_policies(system, &given.outputs).map(<[f64]>::to_vec));
                let slices: Vec<&[f64]> = arguments.iter().map(Vec::as_slice).collect();
                step.run(workspace, &slices, 1)?;
                let outputs = step.graph().outputs().len();
                let output = |place: usize| step.output(workspace, &slices, place);
                let truth = |place: usize| output(place).first().is_some_and(|&value| value != 0.0);
                let states = system.states.len();
                // Whether a state is initial is not among the outputs; boxes of initial states are all that is tried then.
                Ok(Made {
                    next: (0..states).flat_map(|place| output(place).iter().copied()).collect(),
                    policies: given.outputs.clone(),
                    actions: labels[system.chances.len()..].to_vec(),
                    atoms: (states..states + system.atoms.len()).map(truth).collect(),
                    allowed: roles.assume.is_none() || truth(outputs - 1),
                    initial: system.init_is_box || roles.init.is_none(),
                })
            }
        }
    }
}

impl Table<'_> {
    fn given(&mut self, state: &[f64]) -> Result<Given, CheckError> {
        let unit: Unit = self.lattice.whole(&self.part.of_state(state));
        if let Some(given) = self.known.get(&unit.places) {
            return Ok(given.clone());
        }
        let given = self.extraction.actions(self.lattice, std::slice::from_ref(&unit))?.remove(0);
        self.known.insert(unit.places, given.clone());
        Ok(given)
    }
}

fn in_ranges(variables: &[Variable], values: &[f64]) -> bool {
    let ranges = variables.iter().flat_map(|variable| variable.lower.iter().zip(&variable.upper));
    values.iter().zip(ranges).all(|(value, (low, high))| low <= value && value <= high)
}

fn split<'v>(variables: &'v [Variable], flat: &'v [f64]) -> impl Iterator<Item = &'v [f64]> {
    variables.iter().scan(flat, |rest, variable| {
        let (own, after) = rest.split_at_checked(variable.len)?;
        *rest = after;
        Some(own)
    })
}

fn split_policies<'v>(system: &'v System, flat: &'v [f64]) -> impl Iterator<Item = &'v [f64]> {
    system.policies.iter().scan(flat, |rest, policy| {
        let (own, after) = rest.split_at_checked(policy.len)?;
        *rest = after;
        Some(own)
    })
}
