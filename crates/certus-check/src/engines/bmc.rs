//! Bounded model checking as a peer: the more work a turn has, the longer the runs that it looks at.

use certus_engine::{
    Budget, Engine, FIRST_WORK, Next, Progress, Session, Shared, Support, Task, Turn, WORK_FACTOR, Watch,
    is_worth_more_work,
};
use certus_model::{CheckError, Outcome, Property, Scope, System, Unknown, UnknownReason, Verdict, usual_steps};

use super::about_every_run;
use crate::bmc::{NAME, Search};
use crate::errors::Errors;

/// Bounded model checking.
pub struct Bmc<'e> {
    /// The model errors that matter to the property.
    pub errors: &'e Errors<'e>,
}

/// Steps that a turn with [`FIRST_WORK`] looks at. Most violations are near, and a proof should not wait for steps that are far.
const FIRST_STEPS: usize = 2;

/// Each turn looks at least so many times as far as the one before.
const FURTHER: usize = WORK_FACTOR as usize;

/// What a query about one step takes at least to be answered, in multiplications for each parameter of the step.
const LEAST_EFFORT: u64 = 100;

/// The steps that a turn with so much work looks at, at most.
fn reach(work: u64) -> usize {
    let share = usize::try_from(work / FIRST_WORK).unwrap_or(usize::MAX).max(1);
    share.saturating_mul(FIRST_STEPS)
}

impl Engine for Bmc<'_> {
    fn name(&self) -> &'static str {
        NAME
    }

    fn supports(&self, _: &System, property: &Property) -> Support {
        about_every_run(property)
    }

    fn bounds_violations(&self) -> bool {
        true
    }

    fn start<'t>(&'t self, task: &Task<'t>) -> Result<Box<dyn Session + 't>, CheckError> {
        let steps = task.steps.unwrap_or_else(|| usual_steps(task.property));
        let search = Search::new(task.system, task.property, task.steps, self.errors)?;
        let least_effort = LEAST_EFFORT * task.system.step.parameters() as u64;
        Ok(Box::new(Searching { search, steps, last: 0, least_effort }))
    }
}

struct Searching<'t> {
    search: Search<'t>,
    steps: usize,
    /// The steps that the last turn looked at, at most.
    last: usize,
    /// What the smallest query takes.
    least_effort: u64,
}

impl Session for Searching<'_> {
    fn advance(&mut self, budget: &Budget<'_>, _: &mut Shared, watch: &mut Watch<'_>) -> Result<Turn, CheckError> {
        // Nothing is begun that ends where the last turn did, and before the first full one nothing that cannot end.
        let is_worth_a_query = budget.subproblems >= FIRST_WORK || budget.effort >= self.least_effort;
        if !is_worth_a_query || (budget.effort <= self.search.effort() && is_worth_more_work(budget)) {
            let unknown = Unknown::at(Some(UnknownReason::Subproblems), "the first query".to_owned());
            let so_far = Box::new(Outcome::new(NAME, Verdict::Unknown(unknown)));
            return Ok(Turn::Open { so_far, next: Next::MoreWork });
        }
        // Where the work cannot grow any more, the steps still do.
        let further = if budget.subproblems < FIRST_WORK { self.last } else { self.last.saturating_mul(FURTHER) };
        self.last = reach(budget.subproblems).max(further);
        let outcome =
            self.search.advance(self.steps.min(self.last), budget, &mut |depth| watch(Progress::Queries(depth)))?;
        let next = match &outcome.verdict {
            Verdict::Holds(Scope::Bounded(reached)) if *reached < self.steps => Next::Deeper,
            Verdict::Holds(Scope::Bounded(_)) => Next::Never,
            Verdict::Unknown(unknown) if unknown.reason == Some(UnknownReason::Subproblems) => Next::MoreWork,
            Verdict::Unknown(_) => Next::IfOthersDo,
            _ => return Ok(Turn::Decided(Box::new(outcome))),
        };
        Ok(Turn::Open { so_far: Box::new(outcome), next })
    }
}
