//! Why no run has a model error, where the property has a proof for all time.
//!
//! In the order of cost: intervals; the states that the proof of the property leaves (its invariant, and that the property is still open
//! there); all states; and k-induction for `G ok` ([`crate::guarded`]) with an invariant of its own.

use certus_engine::Depth;
use certus_graph::Interval;
use certus_lang::system::{Formula as Ltl, Property};
use certus_model::proof::{Invariant, Method};
use certus_model::{CheckError, Nnf, NoErrors, Proof, nnf};
use certus_solver::Budget;

use super::Errors;
use crate::induction::invariant::{self, observed};
use crate::induction::{Prover, Round};
use crate::proof::conjuncts;
use crate::unroll::Unrolled;

impl Errors<'_> {
    /// Why nothing goes wrong for all time where a property has a proof; nothing if that was not shown.
    pub fn for_all_time(
        &self,
        formula: &Ltl,
        proof: &Proof,
        budget: &Budget<'_>,
        watch: &mut dyn FnMut(Depth),
    ) -> Result<Option<NoErrors>, CheckError> {
        if self.none_by_intervals()? {
            return Ok(Some(self.everywhere_words()));
        }
        let within = match proof {
            Proof::ForAllTime(methods) => self.none_within_proof(formula, methods, budget, watch)?,
            Proof::Bounded { .. } | Proof::OutOfReach { .. } => None,
        };
        match within {
            Some(true) => return Ok(Some(NoErrors::Within)),
            // There are fewer states within the proof than anywhere, so that was the easier query.
            Some(false) => {}
            None if self.none_anywhere(budget, watch)? => return Ok(Some(self.everywhere_words())),
            None => {}
        }
        if let Some(method) = &*self.induction.borrow() {
            return Ok(Some(NoErrors::Induction(method.clone())));
        }
        if self.initial_is_defined()? != Some(true) || self.tried.get() >= budget.subproblems {
            return Ok(None);
        }
        let guarded = self.guarded()?;
        let always = Ltl::Globally(Default::default(), Box::new(Ltl::Atom(guarded.ok)));
        let property = Property::of_every_run("no model errors", always);
        let mut prover = Prover::new(&guarded.system, &property)?;
        let round = prover.round(None, budget, watch)?;
        self.tried.set(budget.subproblems);
        if let Round::Proved(Proof::ForAllTime(mut methods)) = round
            && let Some(method) = methods.pop()
        {
            *self.induction.borrow_mut() = Some(method.clone());
            return Ok(Some(NoErrors::Induction(method)));
        }
        Ok(None)
    }

    /// Whether no state that a proof for all time leaves has an error: what it has shown of every position holds there, and the
    /// property is still open. Nothing if it leaves all states.
    fn none_within_proof(
        &self,
        formula: &Ltl,
        methods: &[Method],
        budget: &Budget<'_>,
        watch: &mut dyn FnMut(Depth),
    ) -> Result<Option<bool>, CheckError> {
        let violations: Vec<Nnf> = conjuncts(formula).into_iter().map(|part| nnf(part, false)).collect();
        let mut known = Vec::new();
        let mut invariants = Vec::new();
        // A part that only infinite runs satisfy is open for ever; otherwise some part is, as long as the whole is.
        let mut open: Vec<Nnf> = Vec::new();
        for (violation, method) in violations.iter().zip(methods) {
            if let Method::Induction { invariant, .. } = method {
                known.extend(violation.reached().map(Nnf::negated));
                invariants.push(invariant);
            }
            open.push(violation.throughout());
        }
        known.extend((!open.iter().any(Nnf::is_true)).then_some(Nnf::Or(open)));
        if known.is_empty() && invariants.iter().all(|invariant| invariant.faces.is_empty()) {
            return Ok(None);
        }
        if self.initial_is_defined()? == Some(true) {
            let narrow = |state: Vec<Interval>, invariant: &&Invariant| invariant.narrowed(&state);
            let state = invariants.iter().try_fold(self.reach()?.to_vec(), narrow);
            if let Some(state) = state.filter(|_| !invariants.is_empty())
                && self.none_in_box(&state)?
            {
                return Ok(Some(true));
            }
        }
        let within = |unrolled: &Unrolled| {
            invariants.iter().flat_map(|invariant| invariant::holds(invariant, &observed(unrolled, 0))).collect()
        };
        self.none_within(&known, &within, budget, watch).map(Some)
    }
}
