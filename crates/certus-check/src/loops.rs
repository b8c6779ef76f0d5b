//! Loops over the reals.
//!
//! A run that returns to an earlier state goes on for ever; one of doubles may do so by rounding alone. A loop counts if outward-rounded
//! arithmetic shows that some run of the system, over the reals, returns exactly and violates the property.

use certus_graph::GraphError;
use certus_lang::system::{Formula, System};

use crate::enclosed::violates_over_the_reals;
use crate::outcome::Run;

/// Whether a run violates a formula by a loop that is one over the reals; runs without a loop pass.
pub fn proved_loop(system: &System, formula: &Formula, run: &Run) -> Result<bool, GraphError> {
    if run.loop_to.is_none() || run.comes_to_rest {
        return Ok(true);
    }
    violates_over_the_reals(system, formula, run)
}
