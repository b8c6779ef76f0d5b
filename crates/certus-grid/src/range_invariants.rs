//! Range invariants by interval analysis: variables that never leave their ranges, and initial conditions that are defined.
//!
//! Moore, Kearfott and Cloud, "Introduction to Interval Analysis", SIAM 2009. Intervals are propagated once through the step, from a box that contains all reachable states. A variable whose successor
//! stays in its declared range there needs no grid to show that. Nor does one that is still in it after as many steps as the property is about. An extracted policy may take actions that the network takes nowhere in that box, so for one of these its actions may be anything, and states
//! anywhere in their ranges.

use certus_check::reach::reachable;
use certus_graph::eval::enclose;
use certus_graph::{Graph, GraphError, Interval};
use certus_lang::system::{System, Variable};
use certus_model::CheckError;

use crate::expand::truth;
use crate::transition_relation::TransitionRelation;

/// For each state variable, whether intervals show that no choice leads out of its range.
pub(crate) fn stays_in_range(system: &System, extracted: bool) -> Result<Vec<bool>, CheckError> {
    let inside = |next: &[Vec<Interval>]| -> Vec<bool> {
        let inside = |(own, next): (&Variable, &Vec<Interval>)| {
            let mut ranges = next.iter().zip(own.lower.iter().zip(&own.upper));
            ranges.all(|(next, (&low, &high))| low <= next.lo && next.hi <= high)
        };
        system.states.iter().zip(next).map(inside).collect()
    };
    if extracted {
        let relation = TransitionRelation::with(system, &[], true).map_err(CheckError::Unsupported)?;
        let mut all = vec![true; system.states.len()];
        for own in &relation.transitions {
            let next = over(&own.step, system.states.iter().chain(&system.inputs).map(declared).collect())?;
            all.iter_mut().zip(inside(&next)).for_each(|(all, own)| *all &= own);
        }
        return Ok(all);
    }
    Ok(inside(&successors(system, &by_variable(system, &reachable(system)?))?))
}

/// For each state variable, whether intervals show that no run leaves its range in its first steps, as long as the others are in theirs.
///
/// A box that contains the states after each number of steps, cut to the declared ranges: runs that leave them have ended.
pub(crate) fn stays_in_range_for(system: &System, steps: usize) -> Result<Vec<bool>, CheckError> {
    let declared: Vec<Vec<Interval>> = system.states.iter().map(declared).collect();
    let mut states = by_variable(system, &system.init_box);
    let mut all = vec![true; states.len()];
    for _ in 0..steps {
        let mut next = successors(system, &states)?;
        for ((all, next), declared) in all.iter_mut().zip(&mut next).zip(&declared) {
            for (next, declared) in next.iter_mut().zip(declared) {
                *all &= declared.contains(next.lo) && declared.contains(next.hi);
                // Every successor is outside: no run goes on.
                *next = next.intersection(*declared).unwrap_or(*declared);
            }
        }
        if !all.contains(&true) {
            break;
        }
        states = next;
    }
    Ok(all)
}

fn by_variable(system: &System, (lower, upper): &(Vec<f64>, Vec<f64>)) -> Vec<Vec<Interval>> {
    let mut ends = lower.iter().zip(upper).map(|(&low, &high)| Interval::new(low, high));
    system.states.iter().map(|state| ends.by_ref().take(state.len).collect()).collect()
}

/// Encloses the successors of the states in a box, by variables.
fn successors(system: &System, states: &[Vec<Interval>]) -> Result<Vec<Vec<Interval>>, GraphError> {
    let mut arguments = states.to_vec();
    arguments.extend(system.inputs.iter().map(declared));
    // What is left are labels, one-hot.
    let labels = system.step.inputs()[arguments.len()..].iter();
    let labels = labels.map(|port| vec![Interval::UNKNOWN_TRUTH; system.step.elements(port.node)]);
    arguments.extend(labels.collect::<Vec<_>>());
    let outputs = over(&system.step, arguments)?;
    Ok(system.roles.next.iter().map(|next| outputs[next.port].clone()).collect())
}

/// Whether the initial conditions have a value in every state of the declared ranges.
pub(crate) fn initial_condition_is_defined(system: &System) -> Result<bool, GraphError> {
    let Some(defined) = system.roles.init_defined else { return Ok(true) };
    let graph = system.step.keep_outputs(&[defined.truth.port]);
    let found = over(&graph, system.states.iter().map(declared).collect())?;
    Ok(found[0].first().is_some_and(|&range| truth(range) == Some(true)))
}

fn declared(own: &Variable) -> Vec<Interval> {
    own.lower.iter().zip(&own.upper).map(|(&low, &high)| Interval::new(low, high)).collect()
}

/// Encloses a graph; inputs that are not given may be anything.
fn over(graph: &Graph, mut arguments: Vec<Vec<Interval>>) -> Result<Vec<Vec<Interval>>, GraphError> {
    let others = graph.inputs()[arguments.len()..].iter();
    let others = others.map(|port| vec![Interval::ENTIRE; graph.elements(port.node)]);
    arguments.extend(others.collect::<Vec<_>>());
    let slices: Vec<&[Interval]> = arguments.iter().map(Vec::as_slice).collect();
    enclose(graph, &slices)
}
