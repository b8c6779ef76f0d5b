//! One step of the concrete system, with the network or with a policy extracted from it: in doubles, and enclosed by intervals.

use std::collections::HashMap;

use certus_graph::eval::{Evaluator, Workspace, enclose};
use certus_graph::{GraphError, Interval};
use certus_lang::system::{ActionRole, AtomId, Output, System, Truth, Variable};
use certus_model::CheckError;

use crate::cone_of_influence::ConeOfInfluence;
use crate::expand::truth;
use crate::extract::{ExtractedAction, Extraction};
use crate::grid::{Cell, Grid};
use crate::transition_relation::{Choice, TransitionRelation, definedness};

/// Evaluates steps of a system with a policy.
pub(crate) struct Stepper<'a> {
    system: &'a System,
    policy: Policy<'a>,
    /// What must be true for operations to be defined.
    checks: Vec<Output>,
    /// The atoms of the property, in the order of their checks.
    atoms: Vec<AtomId>,
    workspace: Workspace<f64>,
}

enum Policy<'a> {
    Network(Box<Evaluator<f64>>),
    Extracted(Box<Table<'a>>),
}

/// An extracted policy and the transitions that its actions take.
struct Table<'a> {
    grid: &'a Grid,
    /// The cone of influence that the grid is over.
    cone: &'a ConeOfInfluence,
    extraction: Extraction,
    relation: TransitionRelation,
    steps: Vec<Evaluator<f64>>,
    known: HashMap<Vec<u64>, ExtractedAction>,
}

/// The labels of chances and of softmax actions.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Labels {
    pub chances: Vec<usize>,
    pub actions: Vec<usize>,
}

/// The values of a step.
pub(crate) struct StepValues {
    pub next: Vec<f64>,
    pub policies: Vec<f64>,
    pub actions: Vec<usize>,
    pub atoms: Vec<bool>,
    pub allowed: bool,
    pub defined: bool,
    pub initial: bool,
}

/// What is certain of a step from all states of a box.
pub(crate) struct Enclosed {
    pub next: Vec<Interval>,
    pub atoms: Vec<Option<bool>>,
    pub allowed: Option<bool>,
    pub defined: Option<bool>,
    /// Whether each atom surely has no value, because of itself or of what is chosen.
    pub valueless: Vec<bool>,
    pub initial: Option<bool>,
    pub ended: Option<bool>,
}

impl<'a> Stepper<'a> {
    /// The network itself; `atoms` are those of the property.
    pub fn network(system: &'a System, atoms: &[AtomId]) -> Stepper<'a> {
        Stepper {
            system,
            policy: Policy::Network(Box::new(Evaluator::new(&system.step))),
            checks: definedness(system, atoms),
            atoms: atoms.to_vec(),
            workspace: Workspace::default(),
        }
    }

    /// A policy that was extracted on a grid.
    pub fn extracted(
        system: &'a System,
        atoms: &[AtomId],
        (grid, cone): (&'a Grid, &'a ConeOfInfluence),
        extraction: Extraction,
    ) -> Result<Stepper<'a>, CheckError> {
        let checks = definedness(system, atoms);
        let relation =
            TransitionRelation::with(system, &wanted(system, &checks), true).map_err(CheckError::Unsupported)?;
        let steps = relation.transitions.iter().map(|own| Evaluator::new(&own.step)).collect();
        let table = Table { grid, cone, extraction, relation, steps, known: HashMap::new() };
        let policy = Policy::Extracted(Box::new(table));
        Ok(Stepper { system, policy, checks, atoms: atoms.to_vec(), workspace: Workspace::default() })
    }

    /// Whether the policy is the network itself.
    pub fn is_network(&self) -> bool {
        matches!(self.policy, Policy::Network(_))
    }

    /// All combinations of labels that chance can draw.
    pub fn labels(&self) -> Vec<Labels> {
        let system = self.system;
        let chances = system.chances.iter().map(|own| {
            let possible = own.probabilities.iter().enumerate().filter(|(_, probability)| **probability > 0.0);
            (true, possible.map(|(label, _)| label).collect::<Vec<usize>>())
        });
        let random = random_actions(system).map(|labels| (false, (0..labels).collect()));
        chances.chain(random).fold(vec![Labels::default()], |all, (is_chance, labels)| {
            let longer = |own: &Labels, label: usize| {
                let mut own = own.clone();
                if is_chance {
                    own.chances.push(label)
                } else {
                    own.actions.push(label)
                }
                own
            };
            all.iter().flat_map(|own| labels.iter().map(move |&label| longer(own, label))).collect()
        })
    }

    /// A step in doubles.
    pub fn step(&mut self, state: &[f64], inputs: &[f64], labels: &Labels) -> Result<StepValues, CheckError> {
        let system = self.system;
        let numbers = split(&system.states, state).chain(split(&system.inputs, inputs));
        let mut arguments: Vec<Vec<f64>> = numbers.map(<[f64]>::to_vec).collect();
        let roles = &system.roles;
        let workspace = &mut self.workspace;
        match &mut self.policy {
            Policy::Network(step) => {
                arguments.extend(one_hots(system, labels));
                let slices: Vec<&[f64]> = arguments.iter().map(Vec::as_slice).collect();
                step.run(workspace, &slices, 1)?;
                let output = |port: usize| step.output(workspace, &slices, port);
                let truth = |port: usize| output(port).first().is_some_and(|&value| value != 0.0);
                let mut sampled = labels.actions.iter();
                let label = |role: &ActionRole| match role {
                    ActionRole::Argmax { choice, .. } => {
                        output(choice.port).iter().position(|&value| value != 0.0).unwrap_or(0)
                    }
                    ActionRole::Softmax { .. } => sampled.next().copied().unwrap_or(0),
                };
                Ok(StepValues {
                    next: roles.next.iter().flat_map(|next| output(next.port).iter().copied()).collect(),
                    policies: roles.policies.iter().flat_map(|own| output(own.port).iter().copied()).collect(),
                    actions: roles.actions.iter().map(label).collect(),
                    atoms: roles.atoms.iter().map(|atom| truth(atom.truth.port)).collect(),
                    allowed: roles.assume.is_none_or(|assume| truth(assume.truth.port)),
                    defined: self.checks.iter().all(|check| truth(check.port)),
                    initial: roles.init.is_none_or(|init| truth(init.truth.port)),
                })
            }
            Policy::Extracted(table) => {
                let given = table.given(state)?;
                let (labels, place) = table.chosen(&given, labels);
                let step = &table.steps[place];
                arguments.extend(split_policies(system, &given.outputs).map(<[f64]>::to_vec));
                let slices: Vec<&[f64]> = arguments.iter().map(Vec::as_slice).collect();
                step.run(workspace, &slices, 1)?;
                let output = |place: usize| step.output(workspace, &slices, place);
                let truth = |place: usize| output(place).first().is_some_and(|&value| value != 0.0);
                let places = Places::of(system, self.checks.len());
                Ok(StepValues {
                    next: (0..system.states.len()).flat_map(|place| output(place).iter().copied()).collect(),
                    policies: given.outputs.clone(),
                    actions: labels[system.chances.len()..].to_vec(),
                    atoms: places.atoms.clone().map(truth).collect(),
                    allowed: places.assume.is_none_or(truth),
                    defined: places.checks.clone().all(truth),
                    initial: places.init.is_none_or(truth),
                })
            }
        }
    }

    /// The enclosure of a step from a box; nothing if an extracted policy has several actions there.
    pub fn enclosed(
        &mut self,
        state: &[Interval],
        inputs: &[Interval],
        labels: &Labels,
    ) -> Result<Option<Enclosed>, CheckError> {
        let system = self.system;
        let numbers = split(&system.states, state).chain(split(&system.inputs, inputs));
        let mut arguments: Vec<Vec<Interval>> = numbers.map(<[Interval]>::to_vec).collect();
        let points = |values: &[f64]| values.iter().map(|&value| Interval::point(value)).collect::<Vec<_>>();
        let roles = &system.roles;
        let run =
            |graph: &certus_graph::Graph, arguments: &[Vec<Interval>]| -> Result<Vec<Vec<Interval>>, GraphError> {
                let slices: Vec<&[Interval]> = arguments.iter().map(Vec::as_slice).collect();
                enclose(graph, &slices)
            };
        match &mut self.policy {
            Policy::Network(step) => {
                arguments.extend(one_hots(system, labels).iter().map(|own| points(own)));
                let outputs = run(step.graph(), &arguments)?;
                let known = |own: Output| outputs[own.port].first().and_then(|&range| truth(range));
                Ok(Some(Enclosed {
                    next: roles.next.iter().flat_map(|next| outputs[next.port].iter().copied()).collect(),
                    atoms: roles.atoms.iter().map(|atom| known(atom.truth)).collect(),
                    allowed: roles.assume.map_or(Some(true), |assume| known(assume.truth)),
                    defined: all_true(self.checks.iter().map(|&check| known(check))),
                    valueless: {
                        let fails = |own: Option<Truth>| own.is_some_and(|own| known(own.truth) == Some(false));
                        let unchosen = fails(roles.choice_defined);
                        let atoms = system.atoms.iter().zip(&roles.atoms_defined);
                        atoms.map(|(atom, &defined)| fails(defined) || unchosen && !atom.state_only).collect()
                    },
                    initial: roles.init.map_or(Some(true), |init| known(init.truth)),
                    ended: roles.terminal.map_or(Some(false), |terminal| known(terminal.truth)),
                }))
            }
            Policy::Extracted(table) => {
                let Some(given) = table.given_in(state)? else { return Ok(None) };
                let (_, place) = table.chosen(&given, labels);
                arguments.extend(split_policies(system, &given.outputs).map(points));
                let outputs = run(table.steps[place].graph(), &arguments)?;
                let known = |place: usize| outputs[place].first().and_then(|&range| truth(range));
                let places = Places::of(system, self.checks.len());
                Ok(Some(Enclosed {
                    next: outputs[..system.states.len()].concat(),
                    atoms: places.atoms.clone().map(known).collect(),
                    allowed: places.assume.map_or(Some(true), known),
                    defined: all_true(places.checks.clone().map(known)),
                    valueless: {
                        // The first check is that of the step, if it has one; those of the atoms follow.
                        let own = places.checks.clone().skip(usize::from(roles.defined.is_some())).map(known);
                        let with_check = self.atoms.iter().filter(|atom| roles.atoms_defined[atom.0].is_some());
                        let mut valueless = vec![false; system.atoms.len()];
                        with_check.zip(own).for_each(|(atom, own)| valueless[atom.0] = own == Some(false));
                        valueless
                    },
                    initial: places.init.map_or(Some(true), known),
                    ended: places.terminal.map_or(Some(false), known),
                }))
            }
        }
    }
}

/// What is certain of a conjunction.
fn all_true(parts: impl Iterator<Item = Option<bool>>) -> Option<bool> {
    let mut sure = true;
    for part in parts {
        match part {
            Some(false) => return Some(false),
            part => sure &= part == Some(true),
        }
    }
    sure.then_some(true)
}

/// What the steps of an extracted policy say besides the next state: the atoms, whether they are allowed, defined, initial, terminal.
fn wanted(system: &System, checks: &[Output]) -> Vec<Output> {
    let roles = &system.roles;
    let atoms = roles.atoms.iter().map(|own| own.truth).chain(roles.assume.map(|own| own.truth));
    let others = roles.init.into_iter().chain(roles.terminal).map(|own| own.truth);
    atoms.chain(checks.iter().copied()).chain(others).collect()
}

/// Where those are among the outputs.
struct Places {
    atoms: std::ops::Range<usize>,
    assume: Option<usize>,
    checks: std::ops::Range<usize>,
    init: Option<usize>,
    terminal: Option<usize>,
}

impl Places {
    fn of(system: &System, checks: usize) -> Places {
        let roles = &system.roles;
        let mut at = system.states.len();
        let mut take = |count: usize| {
            at += count;
            at - count..at
        };
        let atoms = take(system.atoms.len());
        let mut one = |is_there: bool| take(usize::from(is_there)).next();
        let assume = one(roles.assume.is_some());
        let checks = take(checks);
        let mut one = |is_there: bool| take(usize::from(is_there)).next();
        Places { atoms, assume, checks, init: one(roles.init.is_some()), terminal: one(roles.terminal.is_some()) }
    }
}

impl Table<'_> {
    /// The label of every choice, and the place of the transition that has them.
    fn chosen(&self, given: &ExtractedAction, labels: &Labels) -> (Vec<usize>, usize) {
        let (mut largest, mut random) = (given.labels.iter(), labels.actions.iter());
        let label = |choice: &Choice| match choice {
            Choice::Chance(place) => labels.chances[*place],
            Choice::Argmax(_) => largest.next().copied().unwrap_or(0),
            Choice::Softmax(_) => random.next().copied().unwrap_or(0),
        };
        let labels: Vec<usize> = self.relation.choices.iter().map(label).collect();
        let place = self.relation.transitions.iter().position(|own| own.labels == labels).unwrap_or(0);
        (labels, place)
    }

    fn given(&mut self, state: &[f64]) -> Result<ExtractedAction, CheckError> {
        self.given_of(self.grid.requested_cell(&self.cone.of_state(state)))
    }

    /// The actions in a box that lies in one cell of the policy.
    fn given_in(&mut self, state: &[Interval]) -> Result<Option<ExtractedAction>, CheckError> {
        let ends: Vec<(f64, f64)> = state.iter().map(|range| (range.lo, range.hi)).collect();
        let ends = self.cone.of_state(&ends);
        let corner =
            |pick: fn(&(f64, f64)) -> f64| self.grid.requested_cell(&ends.iter().map(pick).collect::<Vec<_>>());
        let (first, last) = (corner(|own| own.0), corner(|own| own.1));
        if first != last { Ok(None) } else { self.given_of(first).map(Some) }
    }

    fn given_of(&mut self, cell: Cell) -> Result<ExtractedAction, CheckError> {
        if let Some(given) = self.known.get(&cell.places) {
            return Ok(given.clone());
        }
        let given = self.extraction.actions(self.grid, std::slice::from_ref(&cell))?.remove(0);
        self.known.insert(cell.places, given.clone());
        Ok(given)
    }
}

/// How many labels each random action has.
fn random_actions(system: &System) -> impl Iterator<Item = usize> + '_ {
    let actions = system.actions.iter().zip(&system.roles.actions);
    actions.filter(|(_, role)| matches!(role, ActionRole::Softmax { .. })).map(|(action, _)| action.labels.len())
}

/// Labels of chances and random actions as the step takes them.
fn one_hots(system: &System, labels: &Labels) -> Vec<Vec<f64>> {
    let one_hot = |labels: usize, chosen: usize| -> Vec<f64> {
        (0..labels).map(|label| f64::from(u8::from(label == chosen))).collect()
    };
    let chances = system.chances.iter().map(|own| own.labels.len()).zip(&labels.chances);
    let random = random_actions(system).zip(&labels.actions);
    chances.chain(random).map(|(count, &label)| one_hot(count, label)).collect()
}

fn split<'v, T>(variables: &'v [Variable], flat: &'v [T]) -> impl Iterator<Item = &'v [T]> {
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
