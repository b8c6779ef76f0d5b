//! Unbounded proofs: k-induction with inferred invariants, and ranking functions.
//!
//! `G φ` is shown by *k-induction* (Sheeran, Singh, Stålmarck: "Checking safety properties using induction and a SAT-solver", FMCAD 2000): no
//! violation within k steps, and from k states in a row in which φ holds no step leads to one in which it does not; if need be the states
//! are pairwise different, or lie in an *invariant*, a polyhedron that all initial states lie in and no step leaves (`infer`). That something holds in the
//! end is shown by a *ranking function* (`ranking`), or because no run avoids it for so many steps.
//!
//! Sound: each proof is a handful of queries that are unsatisfiable over the reals, and nothing but their answers is believed. Samples, simulations
//! and linear programs only suggest. Departure from the paper: k stays small (`DEEPEST`), since unrolled networks are dear, and invariants do the
//! rest.

pub mod infer;
pub mod invariant;
pub mod irredundant;
mod learn;
pub mod ranking;
mod sample;
mod templates;

use certus_engine::{Progress, Task, WORK_FACTOR, run_alone, spent};
use certus_graph::Interval;
use certus_lang::system::{Property, System};
use certus_model::proof::{Invariant, Method};
use certus_model::{CheckError, Nnf, Outcome, Proof, formula_of, nnf};
use certus_solver::{Answer, Budget, UnknownReason, solve};

use self::sample::Sampler;
use crate::engines::Induction;
use crate::errors::Errors;
use crate::ltl_encoding::Shape;
use crate::proof::{conjuncts, initial_outside, lasting, shown, stays, step};
use crate::query::RunQuery;
use crate::unroll::Unroller;
use certus_engine::Depth;

/// What the engine is called.
pub const NAME: &str = "induction";

/// Asks queries within a budget.
pub struct Asker<'a, 'w> {
    budget: &'a Budget<'a>,
    watch: &'w mut dyn FnMut(Depth),
    /// Steps of what is asked about, for those who watch.
    steps: usize,
    /// Whether some query might have an answer with more parts, or more of everything might help.
    short: bool,
    /// Scalar operations that were spent.
    operations: u64,
}

/// A query may take one part in so many of the work of a round: candidates that need more are rarely the ones that lead to a proof.
const QUERIES: u64 = 8;

impl Asker<'_, '_> {
    /// Answers a query.
    pub fn ask(&mut self, query: &RunQuery) -> Result<Answer, CheckError> {
        self.ask_within(query, QUERIES)
    }

    /// Answers a query with one part in so many of the work of the round.
    fn ask_within(&mut self, query: &RunQuery, share: u64) -> Result<Answer, CheckError> {
        let (watch, steps) = (&mut self.watch, self.steps);
        let own = Budget {
            subproblems: (self.budget.subproblems / share).max(1),
            effort: (self.budget.effort / share).min(self.budget.effort.saturating_sub(self.operations)),
            ..*self.budget
        };
        let mut effort = 0;
        let answer = solve(&query.query()?, &own, &mut |progress| {
            effort = progress.effort.max(effort);
            watch(Depth { steps, loop_to: None, settled: None, progress })
        })?;
        self.spend(effort);
        self.short |= matches!(answer, Answer::Unknown(UnknownReason::Subproblems, _));
        Ok(answer)
    }

    /// Whether a query has no answer.
    fn refuted(&mut self, query: &RunQuery) -> Result<bool, CheckError> {
        Ok(matches!(self.ask(query)?, Answer::Unsat(_)))
    }

    /// The scalar operations that one part of a round may take.
    fn share_of_effort(&self, share: u64) -> u64 {
        self.budget.effort / share
    }

    fn seed(&self) -> u64 {
        self.budget.seed
    }

    /// Counts work beside queries: so many scalar operations.
    fn spend(&mut self, operations: u64) {
        self.operations = self.operations.saturating_add(operations);
        self.short |= self.has_worked_enough();
    }

    /// Whether the work of this round is done. What the queries may take one by one says nothing of how many there are.
    fn has_worked_enough(&self) -> bool {
        self.operations >= self.budget.effort
    }

    /// What a round comes to that found no proof.
    fn undecided(&self) -> Round {
        if self.short { Round::Short } else { Round::Exhausted }
    }

    /// Whether the budget is spent.
    fn over(&self) -> bool {
        self.has_worked_enough() || spent(self.budget).is_some()
    }
}

/// Looks for a proof for all time, with more effort each time it is asked.
pub struct Prover<'a> {
    unroller: Unroller<'a>,
    parts: Vec<Part>,
    /// What the last search took, in scalar operations.
    effort: u64,
}

/// A part of a property.
struct Part {
    /// Its negation.
    violation: Nnf,
    /// What stays for ever on a run that violates it, if only that can.
    tail: Option<Nnf>,
    method: Option<Method>,
}

/// What a round came to.
pub enum Round {
    /// A proof.
    Proved(Proof),
    /// More parts per query might help.
    Short,
    /// They would not: everything that is tried was tried.
    Exhausted,
}

impl<'a> Prover<'a> {
    /// For a property; nothing for one of a kind that has no proof here.
    pub fn new(system: &'a System, property: &Property) -> Result<Prover<'a>, CheckError> {
        let part = |violation: Nnf| Part { tail: lasting(&violation), violation, method: None };
        let formulas = conjuncts(formula_of(property)?).into_iter();
        let parts: Vec<Part> = formulas.map(|formula| part(nnf(formula, false))).collect();
        if parts.iter().any(|part| part.tail.is_none() && part.violation.reached().is_none()) {
            let message = format!(
                "{} is neither 'always' nor 'in the end' of conditions of single states, which is what induction proves",
                property.name
            );
            return Err(CheckError::Unsupported(message));
        }
        Ok(Prover { unroller: Unroller::new(system), parts, effort: 0 })
    }

    /// What the last search took, in scalar operations.
    pub fn effort(&self) -> u64 {
        self.effort
    }

    /// Whether the property holds in every state, reached or not: one query about one step, where other proofs take more of both.
    #[tracing::instrument(level = "debug", name = "induction", skip_all)]
    pub fn everywhere(&mut self, budget: &Budget<'_>, watch: &mut dyn FnMut(Depth)) -> Result<Round, CheckError> {
        let mut asker = Asker { budget, watch, steps: 0, short: false, operations: 0 };
        for part in &mut self.parts {
            let Some(bad) = part.violation.reached() else { return Ok(Round::Exhausted) };
            let alone = Invariant::default();
            let query = step(&self.unroller, bad, &alone, 0, false)?;
            let answer = asker.ask_within(&query, 1)?;
            self.effort = asker.operations;
            if !matches!(answer, Answer::Unsat(_)) {
                return Ok(asker.undecided());
            }
            part.method = Some(Method::Induction { depth: 0, invariant: alone, simple: false });
        }
        Ok(self.proof().map_or(Round::Exhausted, Round::Proved))
    }

    /// The proof, once every part has one.
    fn proof(&self) -> Option<Proof> {
        let methods: Option<Vec<Method>> = self.parts.iter().map(|part| part.method.clone()).collect();
        methods.map(Proof::ForAllTime)
    }

    /// Tries everything once; a query may take as many parts as the budget says. A box of states that runs reach is one more candidate for an invariant to
    /// begin with.
    #[tracing::instrument(level = "debug", name = "induction", skip_all)]
    pub fn round(
        &mut self,
        reached: Option<&[Interval]>,
        budget: &Budget<'_>,
        watch: &mut dyn FnMut(Depth),
    ) -> Result<Round, CheckError> {
        let mut asker = Asker { budget, watch, steps: 1, short: false, operations: 0 };
        for part in self.parts.iter_mut().filter(|part| part.method.is_none()) {
            part.method = match &part.tail {
                Some(tail) => live(&self.unroller, tail, &mut asker)?,
                None => safe(&self.unroller, &part.violation, reached, &mut asker)?,
            };
            self.effort = asker.operations;
            if part.method.is_none() {
                return Ok(asker.undecided());
            }
        }
        Ok(self.proof().map_or(Round::Exhausted, Round::Proved))
    }
}

/// Proves a property for all time, or says why not. Violations are not looked for.
pub fn prove(
    system: &System,
    property: &Property,
    errors: &Errors<'_>,
    budget: &Budget<'_>,
    watch: &mut dyn FnMut(Depth),
) -> Result<Outcome, CheckError> {
    let engine = Induction { errors, every_state: true };
    let task = Task { system, property, steps: None, assume_no_model_errors: errors.are_assumed() };
    let mut watch = |progress: Progress| {
        if let Progress::Queries(depth) = progress {
            watch(depth);
        }
    };
    Ok(run_alone(&engine, &task, budget, &mut watch)?.outcome)
}

/// States in a row that induction looks at, at most.
const DEEPEST: usize = 4;

/// Shows that bad states are never reached.
fn safe(
    unroller: &Unroller<'_>,
    violation: &Nnf,
    reached: Option<&[Interval]>,
    asker: &mut Asker<'_, '_>,
) -> Result<Option<Method>, CheckError> {
    let Some(bad) = violation.reached() else { return Ok(None) };
    for depth in 1..=DEEPEST {
        asker.steps = depth;
        // No violation may come before induction begins.
        let before = Shape { positions: depth, loop_to: None };
        if asker.over() || !asker.refuted(&shown(unroller, violation, before)?)? {
            return Ok(None);
        }
        let alone = Invariant::default();
        let query = step(unroller, bad, &alone, depth, false)?;
        match asker.ask(&query)? {
            Answer::Unsat(_) => return Ok(Some(Method::Induction { depth, invariant: alone, simple: false })),
            // One that visits a state twice may be the only kind there is; any other shows that it is not.
            Answer::Sat(witness)
                if repeats(&query, &witness.inputs, depth, asker.seed())?
                    && asker.refuted(&step(unroller, bad, &alone, depth, true)?)? =>
            {
                return Ok(Some(Method::Induction { depth, invariant: alone, simple: true }));
            }
            _ => {}
        }
        if depth == 1
            && let Some(invariant) = infer::infer(unroller, bad, reached, asker)?
            && asker.refuted(&initial_outside(unroller, &invariant)?)?
            && asker.refuted(&step(unroller, bad, &invariant, depth, false)?)?
        {
            return Ok(Some(Method::Induction { depth, invariant, simple: false }));
        }
    }
    Ok(None)
}

/// Whether two of the first positions of a run have the same state.
fn repeats(query: &RunQuery, inputs: &[f64], positions: usize, seed: u64) -> Result<bool, CheckError> {
    let sample = Sampler::new(query, seed).at(query, inputs)?;
    let states = sample.map_or_else(Vec::new, |sample| sample.states);
    let states = &states[..positions.min(states.len())];
    Ok(states.iter().enumerate().any(|(number, state)| states[..number].contains(state)))
}

/// Numbers of positions for which it is asked whether a run can stay for so long where a violation would have to.
const STAYS: [usize; 6] = [1, 2, 3, 4, 6, 8];

/// Shows that no run stays for ever where `tail` holds.
fn live(unroller: &Unroller<'_>, tail: &Nnf, asker: &mut Asker<'_, '_>) -> Result<Option<Method>, CheckError> {
    let mut share = 1;
    for positions in STAYS {
        asker.steps = positions - 1;
        if asker.over() {
            return Ok(None);
        }
        match asker.ask_within(&stays(unroller, tail, positions)?, share)? {
            Answer::Unsat(_) => return Ok(Some(Method::Leaves { steps: positions - 1 })),
            Answer::Sat(_) => {}
            // Longer runs are harder to refute; most of the effort is for the shortest that may not exist.
            Answer::Unknown(..) => share = share.saturating_mul(WORK_FACTOR),
        }
    }
    asker.steps = 1;
    ranking::rank(unroller, tail, asker)
}
