//! Proofs for all time as peers: [`EveryState`] asks once whether the property holds in every state, [`Induction`] for more with each
//! turn.
//!
//! A proof may be found before the absence of model errors is shown. Then it is shared, other proofs are no longer looked for, and each
//! further turn tries to exclude model errors with more work.

use certus_engine::{
    Budget, Depth, Engine, FIRST_WORK, Next, Progress, Session, Shared, Support, Task, Turn, WORK_FACTOR, Watch,
    is_worth_more_work, of_turn, spent,
};
use certus_model::{
    CheckError, NoErrors, Outcome, Proof, Property, Scope, System, Unknown, UnknownReason, Verdict, formula_of,
};

use super::about_every_run;
use crate::errors::Errors;
use crate::induction::{NAME, Prover, Round};

/// k-induction with inferred invariants, and ranking functions.
pub struct Induction<'e> {
    /// The model errors that matter to the property.
    pub errors: &'e Errors<'e>,
    /// Whether to ask first whether the property holds in every state; no if [`EveryState`] is a peer.
    pub every_state: bool,
}

/// Whether the property holds in every state, reached or not: one query about one step.
pub struct EveryState<'e> {
    /// The model errors that matter to the property.
    pub errors: &'e Errors<'e>,
}

/// Work per query with which the absence of model errors is tried at most where the engine is alone.
const MOST_WORK_FOR_ERRORS: u64 = 32_000;

fn can_prove(system: &System, property: &Property) -> Support {
    match about_every_run(property) {
        Support::Yes => {
            Prover::new(system, property).map_or_else(|error| Support::No(error.to_string()), |_| Support::Yes)
        }
        no => no,
    }
}

impl Engine for EveryState<'_> {
    fn name(&self) -> &'static str {
        NAME
    }

    fn supports(&self, system: &System, property: &Property) -> Support {
        can_prove(system, property)
    }

    fn start<'t>(&'t self, task: &Task<'t>) -> Result<Box<dyn Session + 't>, CheckError> {
        let prover = Prover::new(task.system, task.property)?;
        Ok(Box::new(OneQuery(Proving {
            task: *task,
            errors: self.errors,
            prover,
            work: FIRST_WORK,
            every_state: true,
        })))
    }
}

impl Engine for Induction<'_> {
    fn name(&self) -> &'static str {
        NAME
    }

    fn supports(&self, system: &System, property: &Property) -> Support {
        can_prove(system, property)
    }

    fn start<'t>(&'t self, task: &Task<'t>) -> Result<Box<dyn Session + 't>, CheckError> {
        let prover = Prover::new(task.system, task.property)?;
        let every_state = self.every_state;
        Ok(Box::new(Proving { task: *task, errors: self.errors, prover, work: FIRST_WORK, every_state }))
    }
}

struct Proving<'t> {
    task: Task<'t>,
    errors: &'t Errors<'t>,
    prover: Prover<'t>,
    /// Work per query of the next round.
    work: u64,
    /// Whether it is still to be asked whether the property holds in every state.
    every_state: bool,
}

struct OneQuery<'t>(Proving<'t>);

impl Proving<'_> {
    /// The verdict, if there is a proof and model errors are excluded.
    fn conclude(
        &self,
        shared: &Shared,
        budget: &Budget<'_>,
        watch: &mut dyn FnMut(Depth),
    ) -> Result<Option<Outcome>, CheckError> {
        let Some(proof) = &shared.proof else { return Ok(None) };
        let no_errors = self.errors.for_all_time(formula_of(self.task.property)?, proof, budget, watch)?;
        Ok(no_errors.map(|no_errors| proved(proof.clone(), no_errors)))
    }

    /// What is missing, where there is no verdict.
    fn unknown(&self, shared: &Shared, reason: Option<UnknownReason>) -> Result<Box<Outcome>, CheckError> {
        let unknown = match &shared.proof {
            Some(_) => {
                Unknown { holds_if: self.errors.conditions()?, ..Unknown::at(reason, "the absence of model errors") }
            }
            None => Unknown::at(reason, "the search for an invariant or a ranking function"),
        };
        Ok(Box::new(Outcome::new(NAME, Verdict::Unknown(unknown))))
    }
}

impl Session for OneQuery<'_> {
    fn advance(&mut self, budget: &Budget<'_>, shared: &mut Shared, watch: &mut Watch<'_>) -> Result<Turn, CheckError> {
        let watch = &mut |depth| watch(Progress::Queries(depth));
        if shared.proof.is_none() {
            // It would end where the last turn did.
            if budget.effort <= self.0.prover.effort() && is_worth_more_work(budget) {
                let so_far = self.0.unknown(shared, Some(UnknownReason::Subproblems))?;
                return Ok(Turn::Open { so_far, next: Next::MoreWork });
            }
            match self.0.prover.everywhere(budget, watch)? {
                Round::Proved(proof) => shared.proof = Some(proof),
                Round::Short if is_worth_more_work(budget) => {
                    let so_far = self.0.unknown(shared, Some(UnknownReason::Subproblems))?;
                    return Ok(Turn::Open { so_far, next: Next::MoreWork });
                }
                Round::Short | Round::Exhausted => {}
            }
        }
        Ok(match self.0.conclude(shared, budget, watch)? {
            Some(outcome) => Turn::Decided(Box::new(outcome)),
            None => Turn::Open { so_far: self.0.unknown(shared, spent(budget))?, next: Next::Never },
        })
    }
}

impl Session for Proving<'_> {
    /// One round for each amount of work from the next one up to that of the budget: a portfolio grants them one by one, and an engine
    /// that is alone has all of them in one turn.
    fn advance(&mut self, budget: &Budget<'_>, shared: &mut Shared, watch: &mut Watch<'_>) -> Result<Turn, CheckError> {
        let watch = &mut |depth| watch(Progress::Queries(depth));
        loop {
            let own = of_turn(budget, self.work);
            if std::mem::take(&mut self.every_state)
                && let Round::Proved(proof) = self.prover.everywhere(&own, watch)?
            {
                shared.proof = Some(proof);
            }
            let mut exhausted = false;
            if shared.proof.is_none() {
                match self.prover.round(shared.reached.as_deref(), &own, watch)? {
                    Round::Proved(proof) => shared.proof = Some(proof),
                    Round::Short => {}
                    Round::Exhausted => exhausted = true,
                }
            }
            if let Some(outcome) = self.conclude(shared, &own, watch)? {
                return Ok(Turn::Decided(Box::new(outcome)));
            }
            let last = own.subproblems >= budget.subproblems;
            self.work = self.work.saturating_mul(WORK_FACTOR);
            let reason = spent(budget);
            let given_up = shared.proof.is_some() && own.subproblems >= MOST_WORK_FOR_ERRORS;
            if !(last || exhausted || given_up || reason.is_some()) {
                continue;
            }
            let next = match shared.proof {
                // With model errors alone in the way, the deadline is no reason to go on for ever.
                Some(_) if is_worth_more_work(&Budget { deadline: None, ..own }) => Next::MoreWork,
                None if exhausted && reason.is_none() => Next::Never,
                None if is_worth_more_work(&own) => Next::MoreWork,
                _ => Next::IfOthersDo,
            };
            let short_of_work = shared.proof.is_none() && !exhausted;
            let reason = reason.or(short_of_work.then_some(UnknownReason::Subproblems));
            return Ok(Turn::Open { so_far: self.unknown(shared, reason)?, next });
        }
    }
}

/// The outcome of a proof.
fn proved(proof: Proof, no_errors: NoErrors) -> Outcome {
    let holds = Outcome::new(NAME, Verdict::Holds(Scope::Unbounded));
    Outcome { proof: Some(proof), no_errors: Some(no_errors), ..holds }
}
