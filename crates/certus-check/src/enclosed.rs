//! Runs of which some numbers are only known to lie in intervals.
//!
//! One violating run is a point. Whether its neighbours violate the property too, with another value of a parameter or
//! another choice of the environment, is asked here by carrying intervals through the step: if every condition of being a
//! run is certain and the atoms that are certain make the property false, then *every* run in the box violates it, over the
//! reals. If not, nothing is said.
//!
//! The property's negation has no negations but those of atoms, so taking an atom that is not certain for false, in
//! either polarity, can only lose.

use certus_graph::eval::enclose;
use certus_graph::{GraphError, Interval, NodeId};
use certus_lang::system::{AtomId, Formula, System, Truth, Variable};
use certus_model::{CheckError, Outcome, Run, Unknown, Verdict, nnf};
use certus_solver::Place;

use crate::condition::{always, never, source};
use crate::equalities::{knowing, violates_by_equalities};
use crate::ltl_encoding::{Beyond, Shape, encode};
use crate::replay::{Drive, split};

/// What drives a run, as far as it is known.
#[derive(Clone, Debug, PartialEq)]
pub struct Enclosed {
    /// The first state, flattened.
    pub state: Vec<Interval>,
    /// The environment's choices at each position, flattened.
    pub inputs: Vec<Vec<Interval>>,
}

impl Enclosed {
    /// Exactly what drives one run.
    pub fn point(drive: &Drive) -> Enclosed {
        let points = |values: &[f64]| values.iter().map(|&value| Interval::point(value)).collect::<Vec<_>>();
        Enclosed { state: points(&drive.state), inputs: drive.inputs.iter().map(|own| points(own)).collect() }
    }
}

/// How it is known that a run returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Returns {
    /// Every number of the state is the very same again.
    Exactly,
    /// Somebody else has shown that some run in the box does.
    IsShown,
}

/// Whether every run in a box violates a property; labels, the loop and the rest are those of `drive`.
pub fn violates_throughout(
    system: &System,
    formula: &Formula,
    drive: &Drive,
    enclosed: &Enclosed,
    returns: Returns,
) -> Result<bool, GraphError> {
    violates_where(system, formula, drive, enclosed, returns, &[])
}

/// A truth value of the step that is known at a position.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Given {
    pub(crate) position: usize,
    pub(crate) node: NodeId,
    pub(crate) truth: bool,
}

/// The same of those runs in the box on which some truth values are given.
pub(crate) fn violates_where(
    system: &System,
    formula: &Formula,
    drive: &Drive,
    enclosed: &Enclosed,
    returns: Returns,
    given: &[Given],
) -> Result<bool, GraphError> {
    let roles = &system.roles;
    let positions = enclosed.inputs.len();
    let asked = nnf(formula, false).atoms();
    let mut states: Vec<Vec<Interval>> = vec![enclosed.state.clone()];
    let mut atoms: Vec<Vec<Option<bool>>> = Vec::with_capacity(positions);
    for position in 0..positions {
        let state = &states[position];
        if !in_ranges(&system.states, state) || !in_ranges(&system.inputs, &enclosed.inputs[position]) {
            return Ok(false);
        }
        let labels = drive.one_hots(system, position);
        let labels = labels.iter().map(|own| own.iter().map(|&value| Interval::point(value)).collect::<Vec<_>>());
        let parts = split(&system.states, state).chain(split(&system.inputs, &enclosed.inputs[position]));
        let arguments: Vec<Vec<Interval>> = parts.map(<[Interval]>::to_vec).chain(labels).collect();
        let slices: Vec<&[Interval]> = arguments.iter().map(Vec::as_slice).collect();
        let here: Vec<(NodeId, bool)> =
            given.iter().filter(|own| own.position == position).map(|own| (own.node, own.truth)).collect();
        let outputs = match here.is_empty() {
            true => enclose(&system.step, &slices)?,
            false => enclose(&knowing(&system.step, &here)?, &slices)?,
        };
        let certain = |port: usize| outputs[port].first().and_then(|value| value.certainty());
        if position == 0 && roles.init.is_some_and(|init| certain(init.truth.port) != Some(true)) {
            return Ok(false);
        }
        let next: Vec<Interval> = roles.next.iter().flat_map(|next| outputs[next.port].iter().copied()).collect();
        let holds = |own: Option<Truth>| own.is_none_or(|own| certain(own.truth.port) == Some(true));
        let chosen = holds(roles.choice_defined);
        let allowed = chosen && holds(roles.assume);
        let goes_on = allowed && holds(roles.defined) && in_ranges(&system.states, &next);
        let has_value = |id: usize| {
            let atom = &system.atoms[id];
            let read = match (atom.uses_next, atom.uses_choice) {
                (true, _) => goes_on,
                (_, true) => allowed,
                _ => atom.state_only || chosen,
            };
            read && holds(roles.atoms_defined[id])
        };
        if drive.is_followed(position) && (!goes_on || !asked.iter().all(|id| has_value(id.0))) {
            return Ok(false);
        }
        let known = roles.atoms.iter().enumerate();
        atoms.push(known.map(|(id, atom)| certain(atom.truth.port).filter(|_| has_value(id))).collect());
        states.push(next);
    }
    if let (Some(start), Returns::Exactly) = (drive.loop_to, returns) {
        let kept = kept_elements(system);
        let returns = states[start].iter().zip(&states[positions]).zip(kept);
        let mut same = returns.map(|((before, after), kept)| kept || (before == after && before.lo == before.hi));
        if !same.all(|same| same) {
            return Ok(false);
        }
    }
    let shape = Shape { positions, loop_to: drive.loop_to };
    let mut atom = |id: AtomId, position: usize, wanted: bool| match atoms[position][id.0] {
        Some(truth) if truth == wanted => always(),
        _ => never(),
    };
    Ok(encode(&nnf(formula, false), 0, shape, Beyond::Anything, &mut atom) == always())
}

/// What is said of a violation that only doubles show.
pub const IN_DOUBLES: &str =
    "a run of doubles: intervals around it do not tell whether it violates the property over the reals, too";

/// Whether a run that violates a property by its first positions is known to do so over the reals, and not by rounding: it does itself, or one next to it does on
/// which what is equal in doubles is equal.
pub fn violates_over_the_reals(system: &System, formula: &Formula, run: &Run) -> Result<bool, CheckError> {
    let drive = Drive::of(system, run);
    Ok(violates_throughout(system, formula, &drive, &Enclosed::point(&drive), Returns::Exactly)?
        || violates_by_equalities(system, formula, run)?)
}

/// Longer runs are not enclosed by intervals: that takes time, and they say the less the longer a run is.
pub const MOST_ENCLOSED: usize = 1000;

/// An outcome about a system in continuous time, whose flow doubles follow with an error that nobody knows: a violation counts once
/// intervals around its run confirm it, and is a candidate otherwise. Outcomes about other systems stay as they are.
pub fn confirmed(system: &System, formula: &Formula, mut outcome: Outcome) -> Result<Outcome, CheckError> {
    if let Verdict::Violated(run) = &outcome.verdict
        && system.is_exact()
        && !run.converges
        && (run.states.len() > MOST_ENCLOSED || !violates_over_the_reals(system, formula, run)?)
    {
        let place = "a run of doubles that violates the property, which intervals around it do not confirm";
        let candidate = Some(Box::new(run.clone()));
        outcome.verdict = Verdict::Unknown(Unknown { candidate, ..Unknown::at(None, place) });
    }
    Ok(outcome)
}

/// Whether each element of the state is its own successor, whatever happens.
fn kept_elements(system: &System) -> Vec<bool> {
    let mut kept = Vec::with_capacity(system.state_len());
    for ((variable, &before), next) in system.states.iter().zip(&system.roles.states).zip(&system.roles.next) {
        for element in 0..variable.len {
            let from = source(&system.step, Place { node: next.node, element });
            kept.push(from == Place { node: before, element });
        }
    }
    kept
}

/// Whether numbers lie in the ranges of their variables for certain; what may not be a number at all does not.
fn in_ranges(variables: &[Variable], values: &[Interval]) -> bool {
    let ranges = variables.iter().flat_map(|variable| variable.lower.iter().zip(&variable.upper));
    let finite = |value: &Interval| value.lo.is_finite() && value.hi.is_finite();
    values.iter().zip(ranges).all(|(value, (low, high))| finite(value) && *low <= value.lo && value.hi <= *high)
}
