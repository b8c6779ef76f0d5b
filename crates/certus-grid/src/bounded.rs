//! State variables that stay in their ranges whatever happens.
//!
//! Intervals are carried once through the step, from a box that no run leaves. A variable whose successor stays in its declared range there needs no
//! grid to show that it does.

use certus_check::reach::reachable;
use certus_graph::eval::enclose;
use certus_graph::{GraphError, Interval};
use certus_lang::system::{System, Variable};

/// For each state variable, whether intervals show that no choice leads out of its range.
pub(crate) fn stays(system: &System) -> Result<Vec<bool>, GraphError> {
    let (lower, upper) = reachable(system)?;
    let mut ends = lower.iter().zip(&upper).map(|(&low, &high)| Interval::new(low, high));
    let mut arguments: Vec<Vec<Interval>> =
        system.states.iter().map(|state| ends.by_ref().take(state.len).collect()).collect();
    let declared = |own: &Variable| -> Vec<Interval> {
        own.lower.iter().zip(&own.upper).map(|(&low, &high)| Interval::new(low, high)).collect()
    };
    arguments.extend(system.inputs.iter().map(declared));
    // What is left are labels, one-hot.
    let labels = system.step.inputs()[arguments.len()..].iter();
    let labels = labels.map(|port| vec![Interval::UNKNOWN_TRUTH; system.step.elements(port.node)]);
    arguments.extend(labels.collect::<Vec<_>>());
    let slices: Vec<&[Interval]> = arguments.iter().map(Vec::as_slice).collect();
    let outputs = enclose(&system.step, &slices)?;
    let inside = |(own, next): (&Variable, &[Interval])| {
        let mut ranges = next.iter().zip(own.lower.iter().zip(&own.upper));
        ranges.all(|(next, (&low, &high))| low <= next.lo && next.hi <= high)
    };
    let next = system.roles.next.iter().map(|next| outputs[next.port].as_slice());
    Ok(system.states.iter().zip(next).map(inside).collect())
}
