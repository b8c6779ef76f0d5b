//! Whether no state of a box that no run leaves has a model error.
//!
//! Intervals are asked first, then the solver about one position anywhere in the box. The answer is about more states than are reached, so
//! `true` is a proof for all runs, and `false` says nothing.

use std::rc::Rc;

use certus_engine::{Depth, FIRST_WORK, spent};
use certus_graph::eval::enclose;
use certus_graph::{GraphError, Interval};
use certus_model::{CheckError, Nnf};
use certus_solver::formula::Formula;
use certus_solver::{Answer, Budget, Place, solve};

use super::witness_choices::MORE_WITNESSES;
use super::{Errors, ONE};
use crate::interval_check::IntervalCheck;
use crate::ltl_encoding::Beyond;
use crate::query::{RunQuery, Wanted};
use crate::unroll::{Start, Unrolled, Unroller};

impl Errors<'_> {
    /// Whether no state of a box that no run leaves has an error.
    pub fn none_anywhere(&self, budget: &Budget<'_>, watch: &mut dyn FnMut(Depth)) -> Result<bool, CheckError> {
        if self.assumed {
            return Ok(true);
        }
        if let Some(known) = self.everywhere.get() {
            return Ok(known);
        }
        let own = Budget { subproblems: FIRST_WORK.min(budget.subproblems), ..*budget };
        let none = self.none_by_intervals()? || self.none_within(&[], &|_| Vec::new(), &own, watch)?;
        let cut_short = spent(budget).is_some();
        if none || !cut_short {
            self.everywhere.set(Some(none));
        }
        Ok(none)
    }

    /// Whether intervals show that no state of a box has an error.
    pub(super) fn none_in_box(&self, state: &[Interval]) -> Result<bool, CheckError> {
        let intervals = self.intervals()?;
        Ok(intervals.as_ref().as_ref().map_or(Ok(None), |intervals| intervals.successors(state))?.is_some())
    }

    pub(super) fn intervals(&self) -> Result<Rc<Option<IntervalCheck>>, CheckError> {
        if let Some(known) = &*self.intervals.borrow() {
            return Ok(Rc::clone(known));
        }
        let new = Rc::new(IntervalCheck::new(&*self.guarded()?)?);
        *self.intervals.borrow_mut() = Some(Rc::clone(&new));
        Ok(new)
    }

    /// Whether boxes that are carried along from the initial states show that no run of so many steps has an error.
    pub fn none_along(&self, steps: usize) -> Result<bool, CheckError> {
        if self.assumed || self.initial_is_defined()? != Some(true) {
            return Ok(self.assumed);
        }
        let intervals = self.intervals()?;
        let Some(intervals) = intervals.as_ref() else { return Ok(false) };
        let mut state = Vec::new();
        let ranges = self.system.states.iter().flat_map(|own| own.lower.iter().zip(&own.upper));
        for ((low, high), (&lo, &hi)) in self.system.init_box.0.iter().zip(&self.system.init_box.1).zip(ranges) {
            let initial = Interval { lo: low.max(lo), hi: high.min(hi) };
            if !initial.is_well_formed() {
                return Ok(false);
            }
            state.push(initial);
        }
        for _ in 0..=steps {
            match intervals.successors(&state)? {
                Some(next) => state = next,
                None => return Ok(false),
            }
        }
        Ok(true)
    }

    /// Whether intervals alone show that. Asked once, and before any solver is.
    pub(super) fn none_by_intervals(&self) -> Result<bool, CheckError> {
        if self.assumed || self.everywhere.get() == Some(true) {
            return Ok(true);
        }
        if let Some(known) = self.by_intervals.get() {
            return Ok(known);
        }
        let none = self.initial_is_defined()? == Some(true) && self.none_in_box(self.reach()?)?;
        self.by_intervals.set(Some(none));
        if none {
            self.everywhere.set(Some(true));
        }
        Ok(none)
    }

    /// Whether no state of that box in which some formulas hold, and some more, has an error.
    pub(super) fn none_within(
        &self,
        formulas: &[Nnf],
        more: &dyn Fn(&Unrolled) -> Vec<Formula<Place>>,
        budget: &Budget<'_>,
        watch: &mut dyn FnMut(Depth),
    ) -> Result<bool, CheckError> {
        if let Some(false) = self.initial_is_defined()? {
            return Ok(false);
        }
        for _ in 0..=MORE_WITNESSES {
            let guarded = self.guarded()?;
            let bad = Nnf::Literal(guarded.ok, false);
            let mut wanted: Vec<(&Nnf, usize)> = formulas.iter().map(|formula| (formula, 0)).collect();
            wanted.push((&bad, 0));
            let wanted = Wanted {
                start: Start::Anywhere,
                shape: ONE,
                formulas: &wanted,
                beyond: Beyond::Anything,
                ends_in_error: true,
            };
            let query = RunQuery::new(&Unroller::new(&guarded.system), wanted, more)?;
            let answer = solve(&query.query()?, budget, &mut |progress| {
                watch(Depth { steps: 0, loop_to: None, settled: None, progress });
            })?;
            match answer {
                Answer::Unsat(_) => return Ok(true),
                Answer::Unknown(..) => return Ok(false),
                Answer::Sat(witness) => {
                    if !self.learns(&query.drive(&witness).state, budget)? {
                        return Ok(false);
                    }
                }
            }
        }
        Ok(false)
    }

    /// Whether the initial conditions have a value in every state of the declared ranges; nothing if intervals cannot tell.
    pub(super) fn initial_is_defined(&self) -> Result<Option<bool>, GraphError> {
        let Some(defined) = self.system.roles.init_defined else { return Ok(Some(true)) };
        let graph = self.system.step.keep_outputs(&[defined.truth.port]);
        let whole: Vec<Vec<Interval>> = graph
            .inputs()
            .iter()
            .enumerate()
            .map(|(place, port)| match self.system.states.get(place) {
                Some(state) => state.lower.iter().zip(&state.upper).map(|(&lo, &hi)| Interval { lo, hi }).collect(),
                None => vec![Interval::ENTIRE; graph.elements(port.node)],
            })
            .collect();
        let slices: Vec<&[Interval]> = whole.iter().map(Vec::as_slice).collect();
        let found = enclose(&graph, &slices)?;
        Ok(found[0].first().and_then(|value| value.certainty()).or(Some(false)))
    }
}
