//! Bounded model checking as the judge of checkpoints.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use certus_check::bmc;
use certus_check::enclosed::confirmed;
use certus_check::errors::Errors;
use certus_lang::system::System;
use certus_model::{Scope, Verdict, within_scope};
use certus_solver::Budget;

use super::{Cell, Engine};
use crate::check::why;
use crate::failure::Failure;
use crate::{BudgetOptions, deadline_after};

/// Bounded model checking: violations are runs, and what was not found does not exist up to the number of steps.
#[derive(Clone, Debug)]
pub struct BoundedChecking {
    /// How many steps are looked at; by default ten, or as far as a property's own bounds reach.
    pub steps: Option<usize>,
    /// How many seconds each cell may take.
    pub seconds_per_cell: Option<f64>,
    /// Threads, seed and memory; the deadline is the gate's own.
    pub effort: BudgetOptions,
}

impl Engine for BoundedChecking {
    fn check(
        &self,
        system: &System,
        properties: &[usize],
        deadline: Option<Instant>,
        stop: &AtomicBool,
    ) -> Result<Option<(Vec<Cell>, u64)>, Failure> {
        let (mut cells, mut faults) = (Vec::with_capacity(properties.len()), 0);
        let errors = Errors::new(system, false);
        for &property in properties {
            if stop.load(Ordering::Relaxed) || deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                return Ok(None);
            }
            let own = deadline_after(self.seconds_per_cell, "⟨cell_timeout⟩")?;
            let budget = Budget { deadline: own.into_iter().chain(deadline).min(), ..self.effort.budget(stop) };
            let asked = &system.properties[property];
            let found = bmc::check(system, asked, self.steps, &errors, &budget, &mut |_| {});
            let found = found.and_then(|outcome| match asked.over_runs() {
                Ok(formula) => Ok(confirmed(system, formula, outcome)?),
                Err(_) => Ok(outcome),
            });
            cells.push(match found.map(|outcome| within_scope(asked, outcome, self.steps, None)) {
                Err(error) => Cell::Unknown { reason: error.to_string(), settled: None },
                Ok(outcome) => match outcome.verdict {
                    Verdict::Holds(Scope::Unbounded | Scope::Horizon(_)) => Cell::Holds,
                    Verdict::ModelError(error) => {
                        faults += 1;
                        Cell::Unknown { reason: error.kind.to_string(), settled: None }
                    }
                    Verdict::Holds(Scope::Bounded(steps)) => Cell::HoldsUpTo(steps),
                    Verdict::Violated(run) => Cell::Refuted { steps: run.states.len() - 1, loop_to: run.loop_to },
                    // This engine is about runs.
                    Verdict::Probability(_) => Cell::Open,
                    Verdict::Unknown(unknown) => {
                        Cell::Unknown { reason: why(unknown.reason).to_owned(), settled: unknown.settled }
                    }
                },
            });
        }
        Ok(Some((cells, faults)))
    }
}
