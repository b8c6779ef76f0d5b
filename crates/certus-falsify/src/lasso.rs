//! Where a run returns to an earlier state.
//!
//! Nothing but the state matters for what can follow, so a run that is in the same state at two positions may repeat what it did in between
//! for ever, with the same choices. Which of these lassos violates a property is asked of the semantics on lassos, shortest first;
//! whether the loop is one over the reals is asked elsewhere.

use std::collections::HashMap;

use certus_check::lasso_semantics;
use certus_model::{Formula, Run};

/// Positions that are looked at, counted for each operator of a formula, before the search is given up.
const MOST_WORK: usize = 20_000_000;

/// Lassos within a run that violate a formula: the positions of each and the one that it returns to, shortest first.
pub(crate) fn violating(formula: &Formula, run: &Run, most: usize) -> Vec<(usize, usize)> {
    let mut seen: HashMap<Vec<u64>, (usize, usize)> = HashMap::new();
    let mut found = Vec::new();
    let mut work = 0;
    for (position, state) in run.states.iter().enumerate() {
        // Adding zero makes both zeros one.
        let key: Vec<u64> = state.iter().map(|value| (value + 0.0).to_bits()).collect();
        let Some((first, last)) = seen.get_mut(&key) else {
            seen.insert(key, (position, position));
            continue;
        };
        let mut starts = vec![*last, *first];
        starts.dedup();
        *last = position;
        for start in starts {
            work += position * position;
            if work > MOST_WORK || found.len() >= most {
                return found;
            }
            let atom = |id: certus_model::AtomId, at: usize| run.atoms[at][id.0];
            if !lasso_semantics::holds(formula, position, start, &atom)[0] {
                found.push((position, start));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use certus_model::{AtomId, Bounds};

    use super::*;

    /// A run through states, with an atom that is true in state 2.
    fn run(states: &[f64]) -> Run {
        Run {
            states: states.iter().map(|&state| vec![state]).collect(),
            atoms: states.iter().map(|&state| vec![state == 2.0]).collect(),
            ..Run::default()
        }
    }

    #[test]
    fn the_shortest_loop_that_violates_is_first() {
        let infinitely_often = Formula::Globally(
            Bounds::default(),
            Box::new(Formula::Finally(Bounds::default(), Box::new(Formula::Atom(AtomId(0))))),
        );
        let found = violating(&infinitely_often, &run(&[0.0, 1.0, 2.0, 1.0, 3.0, 1.0, 9.0]), 4);
        // From 1 by 2 back to 1 the atom is true again and again; by 3 it is not.
        assert_eq!(found, [(5, 3)]);
        assert!(violating(&infinitely_often, &run(&[0.0, 1.0, 2.0, 3.0]), 4).is_empty());
        assert_eq!(violating(&infinitely_often, &run(&[0.0, -0.0]), 4), [(1, 0)]);
    }
}
