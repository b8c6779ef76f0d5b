//! A box that no run leaves.

use certus_graph::Interval;
use certus_graph::canonical::simplified;
use certus_graph::eval::enclose;
use certus_lang::system::System;

use crate::Refused;
use crate::run::{Box, chosen};

/// Rounds after which an end that still moves is given up to the declared range.
const PATIENCE: usize = 16;

/// The declared ranges of the state.
pub(crate) fn declared(system: &System) -> Box {
    let ranges = system.states.iter().flat_map(|own| own.lower.iter().copied().zip(own.upper.iter().copied()));
    ranges.collect()
}

/// A box around the initial states.
pub(crate) fn initial(system: &System) -> Box {
    let ends = system.init_box.0.iter().zip(&system.init_box.1).zip(declared(system));
    ends.map(|((&low, &high), range)| (low.max(range.0), high.min(range.1))).collect()
}

/// A box around every state that a run reaches: it contains the initial states, and every step from it that stays in the
/// declared ranges stays in it.
pub(crate) fn reached(system: &System) -> Result<Box, Refused> {
    let declared = declared(system);
    let mut reached = initial(system);
    let is_empty = |(low, high): &(f64, f64)| low.is_nan() || high.is_nan() || low > high;
    if reached.iter().any(is_empty) {
        return Ok(declared);
    }
    let ports: Vec<usize> = system.roles.next.iter().map(|next| next.port).collect();
    let step = simplified(&system.step.keep_outputs(&ports))?;
    let chosen = chosen(system);
    for round in 0.. {
        let free: Vec<Interval> = reached.iter().chain(&chosen).map(|&(lo, hi)| Interval { lo, hi }).collect();
        let mut rest = free.as_slice();
        let mut arguments = Vec::new();
        for port in step.inputs() {
            let elements = step.elements(port.node);
            if elements > rest.len() {
                return Err(Refused::new("the step reads more than a state and its choices"));
            }
            let (own, after) = rest.split_at(elements);
            arguments.push(own);
            rest = after;
        }
        let next: Vec<Interval> = enclose(&step, &arguments)?.into_iter().flatten().collect();
        if next.len() != reached.len() {
            return Err(Refused::new("the step has another number of results than the state has numbers"));
        }
        let grown: Box = (reached.iter().zip(&next).zip(&declared))
            .map(|((&own, next), &range)| match round < PATIENCE {
                true => (own.0.min(next.lo.max(range.0)), own.1.max(next.hi.min(range.1))),
                false => {
                    (if next.lo >= own.0 { own.0 } else { range.0 }, if next.hi <= own.1 { own.1 } else { range.1 })
                }
            })
            .collect();
        if grown == reached {
            break;
        }
        reached = grown;
    }
    Ok(reached)
}
