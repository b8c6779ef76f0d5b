//! A box that no run leaves.
//!
//! Declared ranges are often far wider than what is ever reached: a window of measurements holds only what the environment can
//! measure. Intervals are carried through the step from the box of initial states until nothing is added any more; ends that
//! keep moving are given up to the declared range. A proof that begins anywhere need only begin in this box.

use certus_graph::canonical::simplified;
use certus_graph::eval::enclose;
use certus_graph::{GraphError, Interval};
use certus_lang::system::System;

/// Steps after which an end that still moves is given up.
const PATIENCE: usize = 16;

/// The same for differential equations: over boxes that keep growing their enclosures take ever longer.
const PATIENCE_WITH_FLOWS: usize = 2;

/// The least and the largest value of each element of the state on any run, at most.
pub fn reachable(system: &System) -> Result<(Vec<f64>, Vec<f64>), GraphError> {
    let declared: Vec<Interval> = system
        .states
        .iter()
        .flat_map(|state| state.lower.iter().zip(&state.upper).map(|(&lo, &hi)| Interval { lo, hi }))
        .collect();
    let init = system.init_box.0.iter().zip(&system.init_box.1);
    let mut reached: Vec<Interval> =
        init.zip(&declared).map(|((lo, hi), range)| Interval { lo: lo.max(range.lo), hi: hi.min(range.hi) }).collect();
    let ends = |ranges: Vec<Interval>| ranges.into_iter().map(|range| (range.lo, range.hi)).unzip();
    // Without initial states there are no runs to speak of; that is somebody else's to say.
    if reached.iter().any(|range| range.lo.is_nan() || range.hi.is_nan() || range.lo > range.hi) {
        return Ok(ends(declared));
    }
    let ports: Vec<usize> = system.roles.next.iter().map(|next| next.port).collect();
    let step = simplified(&system.step.keep_outputs(&ports))?;
    let inputs = system
        .inputs
        .iter()
        .map(|input| input.lower.iter().zip(&input.upper).map(|(&lo, &hi)| Interval { lo, hi }).collect::<Vec<_>>());
    let others: Vec<Vec<Interval>> = inputs.collect();
    let patience = if system.is_exact() { PATIENCE_WITH_FLOWS } else { PATIENCE };
    let mut step_number = 0;
    loop {
        let mut arguments: Vec<&[Interval]> = Vec::new();
        let mut rest = reached.as_slice();
        for state in &system.states {
            let (own, after) = rest.split_at(state.len);
            arguments.push(own);
            rest = after;
        }
        arguments.extend(others.iter().map(Vec::as_slice));
        // What is left are labels, one-hot.
        let labels: Vec<Vec<Interval>> = step.inputs()[arguments.len()..]
            .iter()
            .map(|port| vec![Interval { lo: 0.0, hi: 1.0 }; step.elements(port.node)])
            .collect();
        arguments.extend(labels.iter().map(Vec::as_slice));
        let next = enclose(&step, &arguments)?;
        let mut moved = false;
        let grown: Vec<Interval> = next
            .iter()
            .flatten()
            .zip(&reached)
            .zip(&declared)
            .map(|((next, before), range)| {
                let give_up = step_number >= patience;
                let lo = if next.lo >= before.lo {
                    before.lo
                } else if give_up || next.lo.is_nan() {
                    range.lo
                } else {
                    next.lo.max(range.lo)
                };
                let hi = if next.hi <= before.hi {
                    before.hi
                } else if give_up || next.hi.is_nan() {
                    range.hi
                } else {
                    next.hi.min(range.hi)
                };
                moved |= lo != before.lo || hi != before.hi;
                Interval { lo, hi }
            })
            .collect();
        if !moved {
            return Ok(ends(reached));
        }
        reached = grown;
        step_number += 1;
    }
}

/// The elements of the state that this box confines to less than their declared ranges, with their ends.
pub fn confined(system: &System) -> Result<Vec<(usize, Interval)>, GraphError> {
    let (lowest, highest) = reachable(system)?;
    let declared = system.states.iter().flat_map(|state| state.lower.iter().zip(&state.upper));
    let ends = lowest.into_iter().zip(highest).zip(declared).enumerate();
    let narrower = ends.filter(|(_, ((lo, hi), (from, to)))| lo > from || hi < to);
    Ok(narrower.map(|(element, ((lo, hi), _))| (element, Interval { lo, hi })).collect())
}

#[cfg(test)]
mod tests {
    use certus_lang::{FileNetworks, LowerOptions, load_str};

    use super::*;

    fn of(text: &str) -> (Vec<f64>, Vec<f64>) {
        let system = load_str(text, &mut FileNetworks::new("."), &LowerOptions::default()).unwrap();
        reachable(&system).unwrap()
    }

    #[test]
    fn a_window_holds_what_is_measured() {
        let text = "system window\nstate w[3] in [0, 1000]\ninput m in [2, 10]\nnext w = shift(w, m)\ninit all(w <= 4)\n\
                    property p = G (w[0] <= 10)\n";
        assert_eq!(of(text), (vec![0.0; 3], vec![10.0; 3]));
    }

    #[test]
    fn what_keeps_growing_is_given_up_on_its_side() {
        let text = "system counter\nstate x in [-5, 1000]\nstate y in [-8, 8]\nnext x = x + 1\nnext y = y / 2\n\
                    init x in [0, 1] & y in [-1, 1]\nproperty p = G (x <= 10)\n";
        assert_eq!(of(text), (vec![0.0, -1.0], vec![1000.0, 1.0]));
        let system = load_str(text, &mut FileNetworks::new("."), &LowerOptions::default()).unwrap();
        let interval = |lo, hi| Interval { lo, hi };
        assert_eq!(confined(&system).unwrap(), [(0, interval(0.0, 1000.0)), (1, interval(-1.0, 1.0))]);
    }
}
