//! Bounded model checking: is there a run of so many steps that violates a property?
//!
//! Biere, Cimatti, Clarke, Zhu: "Symbolic model checking without BDDs", TACAS 1999. For each number of steps the loop is unrolled
//! and a query asks for a violation: first by a prefix, whatever follows it; then, if only an infinite run can violate the
//! property, by a lasso, with every position as the one that the run returns to. The completeness check after each step asks whether any run of
//! that length can still turn into a violation; if none can, the property holds for all time.
//!
//! Sound: `violated` comes with a run that the system itself has replayed ([`crate::replay`]), `holds` with queries that are unsatisfiable
//! over the reals. 'No violation up to k' says: none that a prefix of k steps, or a lasso within k steps, can show.
//!
//! Departures from the paper: states are reals and the step is a graph with networks in it, so queries go to branch and bound, not to
//! a SAT solver; a query that is not decided leaves the depth open instead of failing; each period of a lasso is first asked about
//! alone, wherever the cycle might begin, which serves every prefix that could lead to it; bad prefixes that unfolding does not
//! show come from the automaton of the property (`bad_prefix`).

use std::borrow::Cow;

use certus_engine::Depth;
use certus_graph::Interval;
use certus_lang::system::{Formula as Ltl, Property, System};
use certus_model::{
    CheckError, Nnf, NoErrors, Outcome, Proof, Run, Scope, Unknown, Verdict, formula_of, nnf, usual_steps,
};
use certus_solver::formula::{Atom, Formula, Linear};
use certus_solver::{Answer, Budget, UnknownReason, solve};

use crate::bad_prefix::BadPrefixes;
use crate::condition::always;
use crate::confirm::with_allowed_end;
use crate::errors::{Errors, Met};
use crate::loops::proved_loop;
use crate::ltl_encoding::{Beyond, Shape, encode};
use crate::proof::{beyond, cycle, possible, shapes, shown};
use crate::query::RunQuery;
use crate::replay::{Drive, replay};
use crate::unroll::Unroller;
use crate::vacuity::exercised;

/// What the engine is called.
pub const NAME: &str = "bmc";

/// What laying out a step once more for a query takes, in multiplications for each of its parameters.
const EFFORT_OF_STEP: u64 = 100;

/// Parts that are bounded at most to see whether a violation is out of reach already. It need not be seen: the query itself is
/// asked later.
pub(crate) const GLANCE: u64 = 512;

/// Steps for which boxes are carried along before anything is asked about all states.
const FEW_STEPS: usize = 64;

/// Checks a property up to the number of steps that is asked for, or the usual one.
pub fn check(
    system: &System,
    property: &Property,
    asked: Option<usize>,
    errors: &Errors<'_>,
    budget: &Budget<'_>,
    watch: &mut dyn FnMut(Depth),
) -> Result<Outcome, CheckError> {
    let formula = formula_of(property)?;
    let own = errors.of_property(formula)?;
    let steps = asked.unwrap_or_else(|| usual_steps(property));
    let outcome =
        Search::new(system, property, asked, own.as_ref().unwrap_or(errors))?.advance(steps, budget, watch)?;
    match outcome.verdict {
        Verdict::Holds(_) => exercised(outcome, system, formula, steps, budget, watch),
        _ => Ok(outcome),
    }
}

/// The answer to the query of one shape.
enum Found {
    Violated(Run),
    None,
    Open(UnknownReason),
    /// A loop of doubles that was not shown to be one over the reals.
    Candidate(Run),
}

/// A search for a violation that can be taken up again.
pub struct Search<'a> {
    system: &'a System,
    unroller: Unroller<'a>,
    formula: &'a Ltl,
    /// The property's negation.
    violation: Nnf,
    /// The finite runs that violate the property.
    bad_prefixes: BadPrefixes,
    /// What holds for ever, in the end, on a run that violates the property.
    tail: Nnf,
    /// For each period, less one: whether no cycle has it, from wherever it might be reached; nothing if that is open.
    cycles: Vec<Option<bool>>,
    /// No violation is shown by so many steps.
    settled: Option<usize>,
    /// Whether loops matter to a property that its own bounds decide: they reach beyond the steps that are asked for.
    loops: bool,
    errors: &'a Errors<'a>,
    /// The first loop of doubles alone.
    candidate: Option<Box<Run>>,
    /// What the queries of this turn, or the last one, have taken, in multiplications.
    effort: u64,
    /// The first number of steps for which a turn had too little effort to tell that a violation is out of reach.
    cut_short: Option<usize>,
    /// No run of so many steps on which the property is open has a model error.
    without_errors: Option<usize>,
    /// The steps that are looked at in the end.
    whole: usize,
}

impl<'a> Search<'a> {
    /// For a property and the steps that somebody has asked for.
    pub fn new(
        system: &'a System,
        property: &'a Property,
        asked: Option<usize>,
        errors: &'a Errors<'a>,
    ) -> Result<Search<'a>, CheckError> {
        let formula = formula_of(property)?;
        let violation = nnf(formula, false);
        let tail = violation.tail();
        // Whoever asks for all time will look further, where a prefix shows it.
        let loops = asked.is_some_and(|steps| beyond(&violation, steps));
        Ok(Search {
            system,
            unroller: Unroller::new(system),
            formula,
            violation,
            bad_prefixes: BadPrefixes::of(formula),
            tail,
            cycles: Vec::new(),
            settled: None,
            loops,
            errors,
            candidate: None,
            effort: 0,
            cut_short: None,
            without_errors: None,
            whole: asked.unwrap_or_else(|| usual_steps(property)),
        })
    }

    /// What the queries of the last turn took, in multiplications.
    pub fn effort(&self) -> u64 {
        self.effort
    }

    /// Goes on to so many steps, from where it was left. That there is no violation by fewer than are looked at in the end says nothing of
    /// model errors.
    #[tracing::instrument(level = "debug", name = "bmc", skip_all)]
    pub fn advance(
        &mut self,
        steps: usize,
        budget: &Budget<'_>,
        watch: &mut dyn FnMut(Depth),
    ) -> Result<Outcome, CheckError> {
        self.effort = 0;
        // Deeper glances see no more than the first one that had too little effort, if it gets enough now.
        let again = self.cut_short.take().filter(|depth| self.settled.is_some_and(|settled| *depth <= settled));
        if let Some(depth) = again
            && self.out_of_reach(depth, budget, watch)?
        {
            return self.holds(Scope::Unbounded, Proof::OutOfReach { steps: depth }, depth, budget, watch);
        }
        let first = self.settled.map_or(0, |settled| settled + 1);
        for depth in first..=steps {
            // Queries about many steps take their time even if they are answered at once.
            if depth > first && self.effort >= budget.effort {
                return Ok(Outcome::new(NAME, Verdict::Holds(Scope::Bounded(depth - 1))));
            }
            let mut open = None;
            for shape in self.shapes(depth) {
                match self.ask(shape, budget, watch)? {
                    Found::Violated(run) => return Ok(Outcome::new(NAME, Verdict::Violated(run))),
                    Found::None => {}
                    Found::Candidate(run) => {
                        let place = format!(
                            "a loop of doubles by {} that may be none over the reals",
                            certus_model::steps(depth)
                        );
                        let unknown = Unknown::at(Some(UnknownReason::Precision), place);
                        open = open.or(Some(Unknown { settled: self.settled, ..unknown }));
                        self.candidate.get_or_insert_with(|| Box::new(run));
                    }
                    Found::Open(reason) => {
                        let place = match shape.loop_to {
                            None => format!("a prefix of {}", certus_model::steps(depth)),
                            Some(start) => {
                                format!("a run of {} that returns to position {start}", certus_model::steps(depth))
                            }
                        };
                        open = open.or(Some(Unknown { settled: self.settled, ..Unknown::at(Some(reason), place) }));
                        let is_over = matches!(reason, UnknownReason::Deadline | UnknownReason::Stopped);
                        if is_over || self.effort >= budget.effort {
                            break;
                        }
                    }
                }
            }
            // A formula that looks no further is decided, and so is one that no run of so many steps leaves open.
            let horizon = self.violation.horizon().and_then(|horizon| usize::try_from(horizon).ok());
            if let Some(horizon) = horizon.filter(|&horizon| horizon <= depth)
                && open.is_none()
            {
                return self.holds(Scope::Horizon(horizon), self.so_far(depth), depth, budget, watch);
            }
            if self.out_of_reach(depth, budget, watch)? && (open.is_none() || !self.violation.can_end()) {
                return self.holds(Scope::Unbounded, Proof::OutOfReach { steps: depth }, depth, budget, watch);
            }
            if let Some(unknown) = open {
                let unknown = Unknown { candidate: self.candidate.clone(), ..unknown };
                return Ok(Outcome::new(NAME, Verdict::Unknown(unknown)));
            }
            self.settled = Some(depth);
            tracing::debug!(depth, "no violation");
        }
        self.holds(Scope::Bounded(steps), self.so_far(steps), steps, budget, watch)
    }

    /// The shapes of runs of so many steps that can show a violation no shorter one can.
    fn shapes(&self, depth: usize) -> Vec<Shape> {
        let mut found = shapes(&self.violation, depth, self.loops);
        let prefix = Shape { positions: depth + 1, loop_to: None };
        if !matches!(self.bad_prefixes, BadPrefixes::Informative) && !found.contains(&prefix) {
            found.insert(0, prefix);
        }
        found
    }

    /// What was shown of so many steps.
    fn so_far(&self, steps: usize) -> Proof {
        let known = self.cycles.iter().enumerate().filter(|(_, known)| **known == Some(true));
        Proof::Bounded { steps, cycles: known.map(|(index, _)| index + 1).collect() }
    }

    /// What is to be said instead of 'holds': a model error within so many steps, or that one is not excluded. Asked after violations were
    /// looked for, which come first where there are both.
    fn error_within(
        &mut self,
        steps: usize,
        budget: &Budget<'_>,
        watch: &mut dyn FnMut(Depth),
    ) -> Result<Option<Outcome>, CheckError> {
        for depth in self.without_errors.map_or(0, |depth| depth + 1)..=steps {
            match self.errors.at_depth(self.formula, &self.violation, depth, budget, watch)? {
                Met::None => self.without_errors = Some(depth),
                Met::Found(error) => return Ok(Some(Outcome::new(NAME, Verdict::ModelError(error)))),
                Met::Violated(run) => return Ok(Some(Outcome::new(NAME, Verdict::Violated(run)))),
                Met::Open(reason) => {
                    let place = format!("a model error after {}", certus_model::steps(depth));
                    let holds_if = self.errors.conditions()?;
                    let unknown = Unknown { settled: self.settled, holds_if, ..Unknown::at(Some(reason), place) };
                    return Ok(Some(Outcome::new(NAME, Verdict::Unknown(unknown))));
                }
            }
        }
        Ok(None)
    }

    /// That no violation was found, with what a reader must know about it.
    fn holds(
        &mut self,
        scope: Scope,
        proof: Proof,
        steps: usize,
        budget: &Budget<'_>,
        watch: &mut dyn FnMut(Depth),
    ) -> Result<Outcome, CheckError> {
        if let Scope::Bounded(_) = scope
            && steps < self.whole
        {
            // On the way to what was asked for; no verdict rests on it.
            return Ok(Outcome::new(NAME, Verdict::Holds(scope)));
        }
        let errors = self.errors;
        let no_errors = if errors.are_known_to_be_none() {
            errors.everywhere_words()
        } else if steps <= FEW_STEPS && errors.none_along(steps)? {
            NoErrors::Bounded { steps }
        } else if errors.none_anywhere(budget, watch)? {
            errors.everywhere_words()
        } else if let Some(instead) = self.error_within(steps, budget, watch)? {
            return Ok(instead);
        } else {
            NoErrors::Bounded { steps }
        };
        let found = Outcome::new(NAME, Verdict::Holds(scope));
        Ok(Outcome { proof: Some(proof), no_errors: Some(no_errors), ..found })
    }

    fn ask(&mut self, shape: Shape, budget: &Budget<'_>, watch: &mut dyn FnMut(Depth)) -> Result<Found, CheckError> {
        if let Some(start) = shape.loop_to
            && self.no_cycle(shape.positions - start, budget, watch)?
        {
            return Ok(Found::None);
        }
        let violation = match shape.loop_to {
            None if !self.is_decided_within(shape.positions) => {
                let Some(bad) = self.bad_prefixes.of_length(shape.positions, &self.violation) else {
                    return Ok(Found::Open(UnknownReason::Precision));
                };
                Cow::Owned(bad)
            }
            _ => Cow::Borrowed(&self.violation),
        };
        let query = shown(&self.unroller, &violation, shape)?;
        match self.answer(&query, shape, budget, watch)? {
            Answer::Unsat(_) => Ok(Found::None),
            Answer::Unknown(reason, _) => Ok(Found::Open(reason)),
            Answer::Sat(witness) => match self.replayed(&query.drive(&witness), budget)? {
                Some(run) if proved_loop(self.system, self.formula, &run)? => Ok(Found::Violated(run)),
                Some(run) => Ok(Found::Candidate(run)),
                // Rounding of a whole run at once and of one step after the other differ in the last digits.
                None => Ok(Found::Open(UnknownReason::Precision)),
            },
        }
    }

    /// Whether so many positions give every formula a value.
    fn is_decided_within(&self, positions: usize) -> bool {
        self.violation.horizon().is_some_and(|horizon| horizon < positions as u64)
    }

    /// Whether no run has a cycle of some period that a violation could end in. Asked once for each period: what is true of
    /// the cycle alone serves every way to reach it.
    fn no_cycle(
        &mut self,
        period: usize,
        budget: &Budget<'_>,
        watch: &mut dyn FnMut(Depth),
    ) -> Result<bool, CheckError> {
        if self.tail.is_true() {
            return Ok(false);
        }
        if self.cycles.len() < period {
            self.cycles.resize(period, None);
        }
        if self.cycles[period - 1].is_none() {
            let query = cycle(&self.unroller, &self.violation, period)?;
            let shape = Shape { positions: period, loop_to: Some(0) };
            self.cycles[period - 1] = match self.answer(&query, shape, budget, watch)? {
                Answer::Unsat(_) => Some(true),
                Answer::Sat(_) => Some(false),
                Answer::Unknown(..) => None,
            };
        }
        Ok(self.cycles[period - 1] == Some(true))
    }

    /// The run that a solver proposes, if it violates the property.
    fn replayed(&self, drive: &Drive, budget: &Budget<'_>) -> Result<Option<Run>, CheckError> {
        match replay(self.system, self.formula, drive)? {
            Some(run) => with_allowed_end(self.system, self.formula, run, budget),
            None => Ok(None),
        }
    }

    /// Answers a query with what is left of a turn.
    fn answer(
        &mut self,
        query: &RunQuery,
        shape: Shape,
        budget: &Budget<'_>,
        watch: &mut dyn FnMut(Depth),
    ) -> Result<Answer, CheckError> {
        let left = Budget { effort: budget.effort.saturating_sub(self.effort), ..*budget };
        let mut effort = 0;
        let found = answer(query, shape, &left, &mut |depth| {
            effort = depth.progress.effort;
            watch(depth);
        });
        let laid_out = shape.positions as u64 * self.system.step.parameters() as u64;
        self.effort = self.effort.saturating_add(effort).saturating_add(EFFORT_OF_STEP.saturating_mul(laid_out));
        found
    }

    /// Whether no run of so many steps can still turn into a violation, as far as a glance tells. A glance that a turn has not enough effort
    /// left for is taken again in the next one.
    fn out_of_reach(
        &mut self,
        depth: usize,
        budget: &Budget<'_>,
        watch: &mut dyn FnMut(Depth),
    ) -> Result<bool, CheckError> {
        let shape = Shape { positions: depth + 1, loop_to: None };
        // A formula that asks nothing of a prefix is never out of reach.
        let unknown = Atom { linear: Linear::constant(Interval::ENTIRE), strict: false };
        let mut some = |_, _, _| Formula::Atom(unknown.clone());
        if encode(&self.violation, 0, shape, Beyond::TheBest, &mut some) == always() {
            return Ok(false);
        }
        let glance = Budget { subproblems: GLANCE, ..*budget };
        let query = possible(&self.unroller, &self.violation, depth)?;
        let found = self.answer(&query, shape, &glance, watch)?;
        if matches!(found, Answer::Unknown(..)) && self.effort >= budget.effort {
            self.cut_short.get_or_insert(depth);
        }
        Ok(matches!(found, Answer::Unsat(_)))
    }
}

pub(crate) fn answer(
    query: &RunQuery,
    shape: Shape,
    budget: &Budget<'_>,
    watch: &mut dyn FnMut(Depth),
) -> Result<Answer, CheckError> {
    let (steps, loop_to) = (shape.positions - 1, shape.loop_to);
    Ok(solve(&query.query()?, budget, &mut |progress| watch(Depth { steps, loop_to, settled: None, progress }))?)
}
