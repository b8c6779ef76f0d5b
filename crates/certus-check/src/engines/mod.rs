//! The engines of this crate, as peers of a portfolio.
//!
//! [`Bmc`] looks for violations, [`Induction`] and [`EveryState`] for proofs, [`Convergence`] for runs that violate a property by where
//! they converge to, and [`Explicit`] visits the states of a finite system. All of them are about every run: a property that asks for a
//! probability is for others.

mod bmc;
mod convergence;
mod explicit;
mod induction;

use certus_engine::portfolio::Exercise;
use certus_engine::{Budget, Engine, Finished, Progress, Support, Task, Watch, run_portfolio};
use certus_model::{CheckError, Outcome, Property, Verdict, formula_of, usual_steps};

pub use self::bmc::Bmc;
pub use self::convergence::Convergence;
pub use self::explicit::Explicit;
pub use self::induction::{EveryState, Induction};
use crate::errors::Errors;
use crate::vacuity;

/// Refuses what is not about every run.
fn about_every_run(property: &Property) -> Support {
    formula_of(property).map_or_else(|error| Support::No(error.to_string()), |_| Support::Yes)
}

/// Adds to a verdict that a property holds what shows that it does not hold vacuously.
pub fn exercised(
    outcome: Outcome,
    task: &Task<'_>,
    budget: &Budget<'_>,
    watch: &mut Watch<'_>,
) -> Result<Outcome, CheckError> {
    // An engine that visits all states has seen for itself.
    if outcome.vacuous || outcome.exercised.is_some() || outcome.engine == crate::explicit::NAME {
        return Ok(outcome);
    }
    let steps = task.steps.unwrap_or_else(|| usual_steps(task.property));
    let formula = formula_of(task.property)?;
    vacuity::exercised(outcome, task.system, formula, steps, budget, &mut |depth| watch(Progress::Queries(depth)))
}

/// The engines of this crate in turns; none of them visits states one by one.
pub fn auto(
    task: &Task<'_>,
    errors: &Errors<'_>,
    budget: &Budget<'_>,
    watch: &mut Watch<'_>,
) -> Result<Outcome, CheckError> {
    let own = errors.of_property(formula_of(task.property)?)?;
    let errors = own.as_ref().unwrap_or(errors);
    let engines: Vec<Box<dyn Engine + '_>> = vec![
        Box::new(EveryState { errors }),
        Box::new(Convergence),
        Box::new(Bmc { errors }),
        Box::new(Induction { errors, every_state: false }),
    ];
    let mut exercise = |outcome: Outcome, watch: &mut Watch<'_>| exercised(outcome, task, budget, watch);
    let exercise: &mut Exercise<'_> = &mut exercise;
    let Finished { outcome, .. } = run_portfolio(&engines, task, budget, watch, exercise)?;
    debug_assert!(!matches!(outcome.verdict, Verdict::Probability(_)), "every engine here is about runs");
    Ok(outcome)
}
