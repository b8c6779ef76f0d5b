//! Unbounded proofs: k-induction with inferred invariants, and ranking functions.
//!
//! `G φ` is shown by *k-induction* (Sheeran, Singh, Stålmarck: "Checking safety properties using induction and a SAT-solver", FMCAD 2000): no
//! violation within k steps, and from k states in a row in which φ holds no step leads to one in which it does not; if need be the states
//! are pairwise different, or lie in an *invariant*, a polyhedron that all initial states lie in and no step leaves (`infer`). Where the
//! violation of φ begins at one position and shows some steps later, or never (`G (p -> F<=5 q)`, `G F q`), the positions after it are laid out
//! too, as many as it takes (`response`). That something holds in the end is shown like this, or by a *ranking function* (`ranking`).
//!
//! Sound: each proof is a handful of queries that are unsatisfiable over the reals, and nothing but their answers is believed. Samples, simulations
//! and linear programs only suggest. Departure from the paper: k stays small (`DEEPEST`), since unrolled networks are dear, and invariants do the
//! rest.

pub mod infer;
pub mod invariant;
pub mod irredundant;
mod learn;
pub mod ranking;
mod response;
mod sample;
mod templates;

use certus_engine::{Progress, Task, WORK_FACTOR, run_alone, spent};
use certus_graph::Interval;
use certus_lang::system::{Property, System};
use certus_model::proof::{Invariant, Method};
use certus_model::{CheckError, Nnf, Outcome, Proof, formula_of, nnf};
use certus_solver::{Answer, Budget, UnknownReason, solve};

use self::sample::Sampler;
use crate::bad_prefix::are_informative;
use crate::engines::Induction;
use crate::errors::Errors;
use crate::proof::{beginning, begun, conjuncts, good_before, initial_outside, seen_ahead, showing, step};
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
        let formula = formula_of(property)?;
        let mut parts = Vec::new();
        for own in conjuncts(formula) {
            let violation = nnf(own, false);
            // A run may end for good in a terminal state that allows no choice; what it has violated then must show by itself.
            let ends = system.roles.terminal.is_some() && system.roles.assume.is_some();
            let is_shown = violation.reached().is_some() || !ends || are_informative(own);
            if beginning(&violation).is_none() || !is_shown {
                let message = format!(
                    "{} is neither 'always' of what some steps decide nor 'in the end', which is what induction proves",
                    property.name
                );
                return Err(CheckError::Unsupported(message));
            }
            parts.push(Part { violation, method: None });
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
            let Some((bad, 0)) = seen_ahead(&part.violation, 0) else { return Ok(Round::Exhausted) };
            let alone = Invariant::default();
            let query = step(&self.unroller, &bad, &alone, (0, 0), false)?;
            let answer = asker.ask_within(&query, 1)?;
            self.effort = asker.operations;
            if !matches!(answer, Answer::Unsat(_)) {
                return Ok(asker.undecided());
            }
            part.method = Some(Method::Induction { depth: 0, ahead: 0, invariant: alone, simple: false });
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
            part.method = match part.violation.reached() {
                Some(bad) => safe(&self.unroller, bad, reached, &mut asker)?,
                None => response::answered(&self.unroller, &part.violation, reached, &mut asker)?,
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
pub(crate) const DEEPEST: usize = 4;

/// Shows that bad states are never reached.
fn safe(
    unroller: &Unroller<'_>,
    bad: &Nnf,
    reached: Option<&[Interval]>,
    asker: &mut Asker<'_, '_>,
) -> Result<Option<Method>, CheckError> {
    for depth in 1..=DEEPEST {
        match by_induction(unroller, bad, (depth, 0), asker)? {
            Induced::Proved(method) => return Ok(Some(method)),
            Induced::Violated => return Ok(None),
            Induced::Open => {}
        }
        if depth == 1 {
            let mut stands = |invariant: &Invariant, asker: &mut Asker<'_, '_>| {
                let method = Method::Induction { depth, ahead: 0, invariant: invariant.clone(), simple: false };
                let is_proved = asker.refuted(&initial_outside(unroller, invariant)?)?
                    && asker.refuted(&step(unroller, bad, invariant, (depth, 0), false)?)?;
                Ok(is_proved.then_some(method))
            };
            let wanted = infer::Wanted { bad, good: &good_before(bad), is_to_avoid: true, reached };
            if let Some(method) = infer::infer(unroller, &wanted, &mut stands, asker)? {
                return Ok(Some(method));
            }
        }
    }
    Ok(None)
}

/// What induction over so many positions came to.
enum Induced {
    Proved(Method),
    Open,
    /// Some run may violate the property before induction begins: deeper ones are in vain.
    Violated,
}

/// k-induction without an invariant: over so many positions, looking so many steps ahead, which is how far what is bad looks.
fn by_induction(
    unroller: &Unroller<'_>,
    bad: &Nnf,
    (depth, ahead): (usize, usize),
    asker: &mut Asker<'_, '_>,
) -> Result<Induced, CheckError> {
    asker.steps = depth + ahead;
    // No violation may begin before induction does; those that begin earlier still were asked about at a smaller depth.
    for later in showing(bad, ahead) {
        if asker.over() || !asker.refuted(&begun(unroller, bad, depth - 1, later)?)? {
            return Ok(Induced::Violated);
        }
    }
    let alone = Invariant::default();
    let method = |simple: bool| Method::Induction { depth, ahead, invariant: Invariant::default(), simple };
    let mut simple = false;
    for later in showing(bad, ahead) {
        let query = step(unroller, bad, &alone, (depth, later), simple)?;
        match asker.ask(&query)? {
            Answer::Unsat(_) => {}
            // One that visits a state twice may be the only kind there is; any other shows that it is not.
            Answer::Sat(witness)
                if !simple
                    && repeats(&query, &witness.inputs, depth, asker.seed())?
                    && asker.refuted(&step(unroller, bad, &alone, (depth, later), true)?)? =>
            {
                simple = true;
            }
            _ => return Ok(Induced::Open),
        }
    }
    Ok(Induced::Proved(method(simple)))
}

/// Whether two of the first positions of a run have the same state.
fn repeats(query: &RunQuery, inputs: &[f64], positions: usize, seed: u64) -> Result<bool, CheckError> {
    let sample = Sampler::new(query, seed).at(query, inputs)?;
    let states = sample.map_or_else(Vec::new, |sample| sample.states);
    let states = &states[..positions.min(states.len())];
    Ok(states.iter().enumerate().any(|(number, state)| states[..number].contains(state)))
}
