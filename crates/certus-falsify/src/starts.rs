//! Initial states that draws do not meet: asked of the solver.
//!
//! `init x == y` or `init x == 0 | x == 3` has no volume, and rejection sampling never meets it. Then the solver is asked for a state that
//! satisfies the condition, in the boxes around the initial set and in halves of them, so that several parts of a union are found.

use std::collections::VecDeque;

use certus_check::condition::condition;
use certus_engine::Budget;
use certus_graph::ops::Slice;
use certus_graph::{Graph, Tensor};
use certus_lang::system::System;
use certus_model::CheckError;
use certus_solver::{Answer, Place, Query, Region, solve};

/// Boxes that are asked about, and the work for each.
const MOST_BOXES: usize = 15;
const WORK: u64 = 2_000;

/// Some initial states.
pub(crate) fn initial_states(system: &System, budget: &Budget<'_>) -> Result<Vec<Vec<f64>>, CheckError> {
    let Some(init) = system.roles.init else { return Ok(Vec::new()) };
    let condition_graph = system.step.keep_outputs(&[init.truth.port]);
    let mut graph = Graph::new();
    let free = graph.input("free", &[system.state_len()]);
    let mut offset = 0;
    let mut arguments = Vec::new();
    for (place, port) in condition_graph.inputs().iter().enumerate() {
        let count = condition_graph.elements(port.node);
        arguments.push(match place < system.states.len() {
            true => {
                offset += count;
                graph.apply(Slice::of_vector(offset - count, count), &[free])?
            }
            // The condition is about the state alone.
            false => graph.constant(Tensor::new(condition_graph.shape(port.node), vec![0.0; count])?),
        });
    }
    let outputs = graph.inline(&condition_graph, &arguments)?;
    let place = Place { node: outputs[0], element: 0 };
    let formula = condition(&graph, place, true);
    let mut found: Vec<Vec<f64>> = Vec::new();
    let mut boxes = match system.init_boxes.len() <= MOST_BOXES {
        true => VecDeque::from(system.init_boxes.clone()),
        false => VecDeque::from([system.init_box.clone()]),
    };
    let own = Budget { subproblems: WORK.min(budget.subproblems), ..*budget };
    for _ in 0..MOST_BOXES {
        let Some((lower, upper)) = boxes.pop_front() else { break };
        let query = Query::over_nodes(&graph, Region::new(lower.clone(), upper.clone()), &formula)?;
        let Answer::Sat(witness) = solve(&query, &own, &mut |_| {})? else { continue };
        if !found.contains(&witness.inputs) {
            found.push(witness.inputs);
        }
        let width = |element: &usize| upper[*element] - lower[*element];
        let widest = (0..lower.len()).max_by(|a, b| width(a).total_cmp(&width(b)).then(b.cmp(a)));
        if let Some(widest) = widest.filter(|widest| width(widest) > 0.0) {
            let middle = lower[widest] / 2.0 + upper[widest] / 2.0;
            let (mut below, mut above) = ((lower.clone(), upper.clone()), (lower, upper));
            (below.1[widest], above.0[widest]) = (middle, middle);
            boxes.extend([below, above]);
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use certus_lang::{FileNetworks, LowerOptions, load_str};

    use super::*;

    #[test]
    fn the_parts_of_a_union_are_found() {
        let text = "system s\nstate x in [0, 9]\nstate y in [0, 9]\ninput u in [0, 1]\ninit (x == 1 | x == 6) & y == x + 2\n\
                    next x = x\nnext y = y + 0 * u\nproperty p = G x >= 0\n";
        let system = load_str(text, &mut FileNetworks::default(), &LowerOptions::default()).unwrap();
        let mut found = initial_states(&system, &Budget::default()).unwrap();
        found.sort_by(|a, b| a[0].total_cmp(&b[0]));
        assert_eq!(found, [[1.0, 3.0], [6.0, 8.0]]);
    }
}
