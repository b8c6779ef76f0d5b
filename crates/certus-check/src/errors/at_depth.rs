//! Whether a run of a number of steps ends in a model error: bounded model checking of the atom `ok` ([`crate::guarded`]).

use certus_engine::Depth;
use certus_lang::system::Formula as Ltl;
use certus_model::{CheckError, ModelError, Nnf, Run};
use certus_solver::{Answer, Budget, UnknownReason, solve};

use super::Errors;
use super::witness_choices::MORE_WITNESSES;
use crate::confirm::{Confirmed, confirm};
use crate::ltl_encoding::{Beyond, Shape};
use crate::monitor::Monitor;
use crate::query::{RunQuery, Wanted};
use crate::unroll::{Start, Unroller};

/// What the search for a run with a model error found.
pub enum Met {
    /// There is none.
    None,
    /// This one.
    Found(Box<ModelError>),
    /// This one, which violates the property before the error counts.
    Violated(Run),
    /// Neither is known.
    Open(UnknownReason),
}

/// Subproblems that the query for an error at a depth may take: next to a pole some can be split for ever.
const DEPTH_WORK: u64 = 16_000;

impl Errors<'_> {
    /// Whether some run of so many steps on which a property is open ends in an error.
    pub fn at_depth(
        &self,
        formula: &Ltl,
        violation: &Nnf,
        steps: usize,
        budget: &Budget<'_>,
        watch: &mut dyn FnMut(Depth),
    ) -> Result<Met, CheckError> {
        // Where `init` has no value, nobody knows which runs there are.
        if self.initial_is_defined()? != Some(true) {
            return Ok(Met::Open(UnknownReason::Numerics));
        }
        let monitor = Monitor::new(formula);
        for _ in 0..=MORE_WITNESSES {
            let guarded = self.guarded()?;
            let bad = Nnf::Literal(guarded.ok, false);
            let shape = Shape { positions: steps + 1, loop_to: None };
            let formulas = [(violation, 0), (&bad, steps)];
            let wanted = Wanted {
                start: Start::Initial,
                shape,
                formulas: &formulas,
                beyond: Beyond::TheBest,
                ends_in_error: true,
            };
            let query = RunQuery::new(&Unroller::new(&guarded.system), wanted, &|_| Vec::new())?;
            let own = Budget { subproblems: DEPTH_WORK.min(budget.subproblems), ..*budget };
            let answer = solve(&query.query()?, &own, &mut |progress| {
                watch(Depth { steps, loop_to: None, settled: None, progress });
            })?;
            let drive = match answer {
                Answer::Unsat(_) => return Ok(Met::None),
                Answer::Unknown(reason, _) => return Ok(Met::Open(reason)),
                Answer::Sat(witness) => query.drive(&witness),
            };
            match confirm(self.system, formula, &monitor, &drive, budget)? {
                Confirmed::Error(error) => return Ok(Met::Found(Box::new(error))),
                Confirmed::Violated(run) => return Ok(Met::Violated(run)),
                Confirmed::NoDeadlock(state) if self.learns(&state, budget)? => {}
                _ => return Ok(Met::Open(UnknownReason::Precision)),
            }
        }
        Ok(Met::Open(UnknownReason::Subproblems))
    }
}
