//! What simulation costs, in scalar operations.
//!
//! Runs are stepped in blocks: each step of a block visits every node of the graph once, whatever the number of runs, and each run of it
//! takes the operations of the nodes. So a few long runs cost much more than as many steps of many runs.

use certus_graph::ops::Op;
use certus_lang::system::System;

/// What a step of a run costs beside its operations, and how many operations of matrix products take as long as one other.
const OVERHEAD: u64 = 2048;
const PRODUCTS: usize = 16;

/// What it costs to visit a node, and an element of it.
const VISIT: u64 = 256;
const VISIT_OF_ELEMENT: usize = 2;

/// What a flow costs: Taylor series over some sub-steps.
const COST_OF_FLOW: u64 = 1 << 16;

/// Runs that are stepped together, about.
const BLOCK: u64 = 192;

/// The cost of the steps of a system.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cost {
    /// What a step of a block takes, however many runs it has.
    block: u64,
    /// What a step of each run takes.
    run: u64,
}

impl Cost {
    pub(crate) fn of(system: &System) -> Cost {
        let step = &system.step;
        let flows = step.nodes().iter().filter(|node| matches!(node.op, Op::Flow(_) | Op::Throughout(_))).count();
        let elements: usize = step.ids().map(|id| step.elements(id)).sum();
        Cost {
            block: VISIT * step.len() as u64,
            run: OVERHEAD
                + (step.parameters() / PRODUCTS + VISIT_OF_ELEMENT * elements) as u64
                + COST_OF_FLOW * flows as u64,
        }
    }

    /// The cost of so many runs of so many steps.
    pub(crate) fn of_runs(&self, runs: u64, steps: usize) -> u64 {
        let step = runs.div_ceil(BLOCK).saturating_mul(self.block).saturating_add(runs.saturating_mul(self.run));
        step.saturating_mul(steps as u64 + 1)
    }

    /// How many runs of so many steps so many operations are worth.
    pub(crate) fn runs_worth(&self, operations: u64, steps: usize) -> u64 {
        let each = operations / (steps as u64 + 1);
        let whole_blocks = each / (self.block + BLOCK * self.run);
        let rest = each % (self.block + BLOCK * self.run);
        whole_blocks * BLOCK + rest.saturating_sub(self.block) / self.run
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_runs_as_operations_are_worth_cost_no_more_and_one_more_does() {
        for (block, run) in [(0, 1), (1000, 3), (50, 700)] {
            let cost = Cost { block, run };
            for steps in [0, 7, 1000] {
                for operations in [0, 1, 999, 123_456, 7_654_321_000] {
                    let runs = cost.runs_worth(operations, steps);
                    assert!(runs == 0 || cost.of_runs(runs, steps) <= operations);
                    assert!(cost.of_runs(runs + 1, steps) > operations, "{cost:?} {steps} {operations} {runs}");
                }
            }
        }
    }
}
