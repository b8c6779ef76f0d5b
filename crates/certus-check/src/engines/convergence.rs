//! Convergence to an equilibrium as a peer: tried once, for what no finite run can show.

use certus_engine::{Budget, Engine, Next, Session, Shared, Support, Task, Turn, Watch, spent};
use certus_model::{CheckError, Outcome, Property, Run, System, Unknown, Verdict, formula_of, nnf};

use super::about_every_run;
use crate::convergence::{self, NAME, OVER_THE_REALS};

/// Runs that converge to an equilibrium, and violate a property thereby.
pub struct Convergence;

impl Engine for Convergence {
    fn name(&self) -> &'static str {
        NAME
    }

    fn supports(&self, _: &System, property: &Property) -> Support {
        match formula_of(property) {
            Ok(formula) if nnf(formula, false).can_end() => {
                Support::No(format!("finite runs violate {}: no run has to converge for that", property.name))
            }
            _ => about_every_run(property),
        }
    }

    fn start<'t>(&'t self, task: &Task<'t>) -> Result<Box<dyn Session + 't>, CheckError> {
        Ok(Box::new(Looking { task: *task }))
    }
}

/// Parts of the initial set from which runs are tried.
const MOST_BOXES: usize = 16;

struct Looking<'t> {
    task: Task<'t>,
}

impl Looking<'_> {
    fn violation(&self, budget: &Budget<'_>) -> Result<Option<Run>, CheckError> {
        let formula = formula_of(self.task.property)?;
        let Some(own) = convergence::Convergence::new(self.task.system)? else { return Ok(None) };
        for (lower, upper) in self.task.system.init_boxes.iter().take(MOST_BOXES) {
            if let Some(run) = own.violation_from(formula, (lower, upper), &|| spent(budget).is_some())? {
                return Ok(Some(run));
            }
        }
        Ok(None)
    }
}

impl Session for Looking<'_> {
    fn advance(&mut self, budget: &Budget<'_>, shared: &mut Shared, _: &mut Watch<'_>) -> Result<Turn, CheckError> {
        // What has a proof has no violation.
        let found = if shared.proof.is_some() { None } else { self.violation(budget)? };
        Ok(match found {
            Some(run) => {
                let violated = Outcome::new(NAME, Verdict::Violated(run));
                Turn::Decided(Box::new(Outcome { notes: vec![OVER_THE_REALS.to_owned()], ..violated }))
            }
            None => {
                let unknown = Unknown::at(spent(budget), "runs that converge to an equilibrium");
                Turn::Open { so_far: Box::new(Outcome::new(NAME, Verdict::Unknown(unknown))), next: Next::Never }
            }
        })
    }
}
