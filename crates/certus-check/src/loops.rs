//! Loops over the reals: the Krawczyk test for periodic runs.
//!
//! A run that returns to an earlier state goes on for ever; one of doubles may do so by rounding alone. A loop counts if it is shown, over the
//! reals, that some run of the system returns exactly and violates the property:
//!
//! 1. *exactly*: outward-rounded arithmetic along the run has no rounding, and the state repeats;
//! 2. *by a Krawczyk step* (`krawczyk`): what is free in the run, its first state and the choices, is a vector z, and the loop closes where f(z) = 0
//!    for the difference f of the last successor and the state that it returns to. There is a zero in a box, and intervals over the box show that every run in it
//!    violates the property.
//!
//! A run that converges without ever returning is shown elsewhere ([`crate::convergence`]).

use certus_graph::GraphError;
use certus_lang::system::{Formula, System};
use certus_model::Run;

use crate::enclosed::{Enclosed, Returns, violates_throughout};
use crate::krawczyk::Differences;
use crate::ltl_encoding::Shape;
use crate::replay::Drive;
use crate::unroll::{Start, unroll};

/// Longer runs are not tried with a Krawczyk step.
const MOST_POSITIONS: usize = 64;

/// Whether a run violates a formula by a loop that is one over the reals; runs without a loop pass.
pub fn proved_loop(system: &System, formula: &Formula, run: &Run) -> Result<bool, GraphError> {
    let (Some(start), false) = (run.loop_to, run.converges) else { return Ok(true) };
    let drive = Drive::of(system, run);
    if violates_throughout(system, formula, &drive, &Enclosed::point(&drive), Returns::Exactly)? {
        return Ok(true);
    }
    if run.states.len() > MOST_POSITIONS {
        return Ok(false);
    }
    let shape = Shape { positions: run.states.len(), loop_to: Some(start) };
    let unrolled = unroll(system, shape, Start::Initial, true)?;
    let Some(closing) = Differences::new(&unrolled, unrolled.loop_pairs(shape))? else { return Ok(false) };
    let Some(enclosed) = closing.zero_near(&unrolled, run, &drive) else { return Ok(false) };
    violates_throughout(system, formula, &drive, &enclosed, Returns::IsShown)
}
