//! Counterexample-guided abstraction refinement of the grid.
//!
//! Clarke, Grumberg, Jha, Lu and Veith, "Counterexample-guided abstraction refinement", CAV 2000 (LNCS 1855; Journal of the ACM 50, 2003). Explore the product; if it has no accepting run, the property holds.
//! Otherwise simulate the system from where the abstract counterexample begins. A concrete run that violates the property is the verdict. If none is found the counterexample may be
//! spurious: the cells that it passes are split, and the exploration starts again.
//!
//! `holds` is sound because every refinement of the grid still simulates the system; `violated` because only validated concrete runs count. Departures: whether a counterexample is
//! spurious is not decided, since over the reals that is as hard as the problem itself, so some splits may be in vain; all cells that could lead to the violation are
//! split, not those of one counterexample alone; bounds of cells that are not split are kept, so only the new parts are bounded and the automaton's states are propagated anew,
//! which is cheap beside the bounds.

use certus_check::convergence::Convergence;
use certus_check::errors::Errors;
use certus_lang::system::{Formula, System};
use certus_model::nnf;
use certus_model::{CheckError, Run, Scope, Unknown, UnknownReason, Verdict};
use certus_solver::Budget;

use crate::concretise::{Concretisation, Guide, Lengths};
use crate::cone_of_influence::ConeOfInfluence;
use crate::counterexample::{lasso, path_by_rounds, path_to};
use crate::emptiness::accepting_components;
use crate::engine::{Options, Progress};
use crate::expand::Expander;
use crate::explore::Exploration;
use crate::parallel::exhausted;
use crate::product::{Product, ProductSet};
use crate::range_invariants::initial_condition_is_defined;
use crate::split::{MOST_AT_ONCE, MOST_SEARCHED};
use crate::validate::Found;

/// Runs before anything is explored.
const FIRST_RUNS: Lengths = Lengths { runs: 3, steps: 50 };

/// Runs from anywhere, after the first abstract counterexample.
const WIDE_RUNS: Lengths = Lengths { runs: 16, steps: 500 };

/// Runs from where an abstract counterexample begins; shorter and fewer in the first refinements.
const LONG_RUNS: Lengths = Lengths { runs: 8, steps: 4000 };

/// Steps that one simulation may always take, over all of its runs.
const LEAST_STEPS: usize = 2048;

/// Steps per bounded cell that one simulation may take, so that simulating costs no more than bounding.
const STEPS_PER_CELL: usize = 8;

/// The most refinements in a row for nothing but model errors that are not excluded.
const MOST_ERROR_ROUNDS: usize = 10;

/// The check of one property.
pub(crate) struct Check<'a> {
    pub(crate) system: &'a System,
    /// The cone of influence of the property.
    pub(crate) cone: &'a ConeOfInfluence,
    pub(crate) formula: &'a Formula,
    /// Finds runs that converge to an equilibrium, for the network itself; prepared on first use.
    pub(crate) convergence: Option<Option<Convergence<'a>>>,
    pub(crate) product: Product<'a>,
    pub(crate) expander: Expander<'a>,
    pub(crate) concretisation: Concretisation<'a>,
    pub(crate) budget: &'a Budget<'a>,
    pub(crate) refinements: usize,
    /// The cells of the last abstract counterexample.
    pub(crate) candidate: Vec<u32>,
    /// Where its loop begins, if it is a lasso.
    pub(crate) loop_to: Option<usize>,
    /// How many refinements in a row were for model errors alone.
    pub(crate) error_rounds: usize,
}

/// The lower and upper ends of a box of states.
type StateBox = (Vec<f64>, Vec<f64>);

impl Check<'_> {
    /// Runs the refinement loop.
    #[tracing::instrument(level = "debug", name = "grid", skip_all)]
    pub(crate) fn decide(&mut self, options: &Options, watch: &mut dyn FnMut(Progress)) -> Result<Verdict, CheckError> {
        if let Some(found) = self.simulate(&self.system.init_boxes, &Guide::default(), FIRST_RUNS)? {
            return Ok(self.verdict(found));
        }
        loop {
            let refinements = self.refinements;
            let mut told = |steps: usize, cells: usize| watch(Progress { refinements, steps, cells });
            let explored = self.product.explore(&self.expander, self.budget, &mut told)?;
            self.loop_to = None;
            let (path, suspects) = match explored {
                Exploration::OutOfBudget(reason) => return Ok(self.unknown(Some(reason))),
                Exploration::Reached(here) => {
                    let path = self.abstract_path(here);
                    let leading = self.backward_reachable(&[here.cell], &path);
                    self.error_rounds = 0;
                    (path, leading)
                }
                Exploration::Closed => {
                    let components = match self.product.violations.is_finite() {
                        true => Vec::new(),
                        false => match accepting_components(&mut self.product, self.budget) {
                            Err(reason) => return Ok(self.unknown(Some(reason))),
                            Ok(components) => components,
                        },
                    };
                    // The component that a run can enter first.
                    let nearest = components.iter().min_by_key(|own| own.iter().map(|state| state.0).min());
                    let open = self.product.open_errors.iter().map(|here| here.cell);
                    let open: Vec<u32> = open.take(MOST_AT_ONCE).collect();
                    match (nearest, self.product.open_errors.first()) {
                        (None, None) => return self.proved(),
                        (None, Some(_)) if self.has_no_errors()? => return self.proved(),
                        (None, Some(&here)) => {
                            let path = self.abstract_path(here);
                            let leading = self.backward_reachable(&open, &path);
                            self.error_rounds += 1;
                            (path, leading)
                        }
                        (Some(nearest), _) => {
                            let found = lasso(&mut self.product, self.budget, nearest);
                            self.loop_to = found.as_ref().map(|own| own.prefix.len());
                            let path: Vec<u32> =
                                found.map_or_else(Vec::new, |own| own.prefix.into_iter().chain(own.cycle).collect());
                            // The imprecise cell may be on the way there.
                            let members = components.iter().flatten().map(|state| state.0);
                            let suspects = members.chain(path.iter().copied()).chain(open).collect();
                            self.error_rounds = 0;
                            (path, suspects)
                        }
                    }
                }
            };
            tracing::debug!(
                refinements,
                cells = self.product.cells.len(),
                "abstract counterexample of {} cells",
                path.len()
            );
            self.candidate = path;
            if let Some(run) = self.converging()? {
                return Ok(Verdict::Violated(run));
            }
            if self.refinements == 0
                && let Some(found) = self.simulate(&self.system.init_boxes, &Guide::default(), WIDE_RUNS)?
            {
                return Ok(self.verdict(found));
            }
            if let Some(found) = self.concretised()? {
                return Ok(self.verdict(found));
            }
            // A simulation that was cut short shows nothing, so the budget comes first.
            if let Some(reason) = exhausted(self.budget) {
                return Ok(self.unknown(Some(reason)));
            }
            if self.product.has_looked_enough() {
                return Ok(self.unknown(Some(UnknownReason::Subproblems)));
            }
            if options.refinements.is_some_and(|most| self.refinements >= most) || self.error_rounds > MOST_ERROR_ROUNDS
            {
                return Ok(self.unknown(None));
            }
            if !self.split(suspects) {
                return Ok(self.unknown(None));
            }
            self.refinements += 1;
        }
    }

    /// Simulates the system from boxes, guided by an abstract counterexample.
    fn simulate(&mut self, boxes: &[StateBox], guide: &Guide, lengths: Lengths) -> Result<Option<Found>, CheckError> {
        let (budget, seed) = (self.budget, self.budget.seed);
        let most = (self.product.expansions as usize).saturating_mul(STEPS_PER_CELL).max(LEAST_STEPS);
        let before = self.concretisation.steps;
        let found = self.concretisation.search(boxes, guide, (lengths, most), seed, &|| exhausted(budget).is_some())?;
        self.product.note_simulated(self.concretisation.steps - before);
        // Model errors that are assumed away are no findings.
        Ok(found.filter(|found| !self.product.without_errors || matches!(found, Found::Violation(_))))
    }

    /// The verdict `holds`, with the scope that the property has by itself.
    fn proved(&self) -> Result<Verdict, CheckError> {
        if !self.product.without_errors && !initial_condition_is_defined(self.system)? {
            let Verdict::Unknown(unknown) = self.unknown(None) else { return Ok(self.unknown(None)) };
            let holds_if = vec!["the initial conditions have a value in every state of the declared ranges".to_owned()];
            return Ok(Verdict::Unknown(Unknown { holds_if, ..unknown }));
        }
        let horizon = nnf(self.formula, true).horizon().and_then(|horizon| usize::try_from(horizon).ok());
        Ok(Verdict::Holds(horizon.map_or(Scope::Unbounded, Scope::Horizon)))
    }

    /// Whether the solver proves that the network's system has no model error anywhere; called once, where cells leave that open.
    fn has_no_errors(&self) -> Result<bool, CheckError> {
        if self.expander.extraction.is_some() || self.refinements > 0 {
            return Ok(false);
        }
        let errors = Errors::new(self.system, false);
        let own = errors.of_property(self.formula)?;
        own.as_ref().unwrap_or(&errors).none_anywhere(self.budget, &mut |_| {})
    }

    /// The cells of an abstract path to a set of product states.
    fn abstract_path(&mut self, here: ProductSet) -> Vec<u32> {
        if self.product.cells.len() > MOST_SEARCHED {
            return path_by_rounds(&self.product, here.cell);
        }
        let path = path_to(&mut self.product, self.budget, &|_, state| here.is(state));
        path.unwrap_or_default().iter().map(|state| state.0).collect()
    }

    /// Boxes around the initial states of the cell where the last abstract counterexample begins.
    fn beginning(&self) -> Vec<StateBox> {
        let Some(&first) = self.candidate.first() else { return Vec::new() };
        let ends = self.product.ends(first);
        let inside = |(low, high): &StateBox| {
            let ends = self.cone.lifted(&ends, |place| (low[place], high[place]));
            let lower: Vec<f64> = ends.iter().zip(low).map(|(own, &low)| own.0.max(low)).collect();
            let upper: Vec<f64> = ends.iter().zip(high).map(|(own, &high)| own.1.min(high)).collect();
            lower.iter().zip(&upper).all(|(low, high)| low <= high).then_some((lower, upper))
        };
        self.system.init_boxes.iter().filter_map(inside).collect()
    }

    /// A run that violates the property by converging to an equilibrium, from where the last abstract counterexample begins; only a lasso can do that.
    fn converging(&mut self) -> Result<Option<Run>, CheckError> {
        let (Some(_), Some((lower, upper))) = (self.loop_to, self.beginning().into_iter().next()) else {
            return Ok(None);
        };
        if self.convergence.is_none() {
            self.convergence =
                Some(if self.expander.extraction.is_some() { None } else { Convergence::new(self.system)? });
        }
        let Some(Some(rest)) = &self.convergence else { return Ok(None) };
        Ok(rest.violation_from(self.formula, (&lower, &upper), &|| exhausted(self.budget).is_some())?)
    }

    /// Concretises the last abstract counterexample: simulates from where it begins, along its cells.
    fn concretised(&mut self) -> Result<Option<Found>, CheckError> {
        let starts = self.beginning();
        if starts.is_empty() {
            return Ok(None);
        }
        // Where the environment or chance has choices, a run that has not closed its loop after a few rounds will not.
        let free = !self.system.inputs.is_empty() || !self.system.chances.is_empty();
        let effort = self.refinements.min(4);
        let lengths = Lengths {
            runs: LONG_RUNS.runs >> (2 - effort / 2),
            steps: LONG_RUNS.steps >> 3usize.saturating_sub(effort),
        };
        let steps = if free { 0 } else { lengths.steps }.max(4 * self.candidate.len());
        let anywhere = (f64::NEG_INFINITY, f64::INFINITY);
        let lifted = |&cell: &u32| self.cone.lifted(&self.product.ends(cell), |_| anywhere);
        let boxes = self.candidate.iter().map(lifted).collect();
        let guide = Guide { boxes, loop_to: self.loop_to };
        self.simulate(&starts, &guide, Lengths { steps, ..lengths })
    }
}
