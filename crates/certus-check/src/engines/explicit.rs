//! Explicit-state model checking as a peer: tried once, since it is short where it works.

use certus_engine::{Budget, Engine, Next, Session, Shared, Support, Task, Turn, Watch, spent};
use certus_model::{CheckError, Outcome, Property, System, Unknown, Verdict};

use super::about_every_run;
use crate::explicit::{NAME, decide};

/// Visits all states of a finite system.
pub struct Explicit;

impl Engine for Explicit {
    fn name(&self) -> &'static str {
        NAME
    }

    fn supports(&self, _: &System, property: &Property) -> Support {
        about_every_run(property)
    }

    fn start<'t>(&'t self, task: &Task<'t>) -> Result<Box<dyn Session + 't>, CheckError> {
        Ok(Box::new(Visiting { task: *task }))
    }
}

struct Visiting<'t> {
    task: Task<'t>,
}

impl Session for Visiting<'_> {
    fn advance(&mut self, budget: &Budget<'_>, _: &mut Shared, _: &mut Watch<'_>) -> Result<Turn, CheckError> {
        let Task { system, property, steps, assume_no_model_errors } = self.task;
        if let Some(outcome) = decide(system, property, steps, assume_no_model_errors, budget)? {
            return Ok(Turn::Decided(Box::new(outcome)));
        }
        let unknown = Unknown::at(spent(budget), "states that were not found to be finitely many");
        Ok(Turn::Open { so_far: Box::new(Outcome::new(NAME, Verdict::Unknown(unknown))), next: Next::Never })
    }
}
