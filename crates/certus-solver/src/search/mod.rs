//! Branch and bound over subproblems of a query.
//!
//! The framework is that of Bunel, Turkaslan, Torr, Kohli, Kumar (*A Unified View of Piecewise Linear Neural Network
//! Verification*, NeurIPS 2018): a subproblem is a box of inputs with ranges of some neurons and chosen disjuncts. It is
//! *verified* (pruned) when a bound shows that the formula holds nowhere in it; otherwise points that the bounds suggest
//! are tried, and it is clipped by what the formula's rows forbid, or split: at an input, at an unstable neuron, or by the
//! disjuncts of the formula.
//!
//! * [`batch`]: one round for a batch of subproblems: [`dual_bounds`], [`clip`], [`conclude`];
//! * [`branching`]: how an open subproblem is split; [`strategy`]: which kind of split a search prefers;
//! * [`run`]: one search with one strategy: its stack, its waves of batches, its attacks;
//! * [`proof`], [`saved`]: the branch tree as a certificate, and the state of a search as text;
//! * [`optimise`]: the same search for the maximum of a linear function.
//!
//! *Determinism.* Subproblems are taken in waves of a few batches, and the results of a wave are merged in order, so the same
//! query gives the same answer whatever the number of threads.

mod batch;
mod branching;
mod clip;
mod conclude;
mod dual_bounds;
mod logic;
mod optimise;
mod proof;
mod run;
mod sample;
mod saved;
mod strategy;
mod subproblem;
#[cfg(test)]
mod tests;

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

use certus_graph::GraphError;
use certus_graph::ops::Op;

use self::logic::Logic;
use self::run::{Ended, Run};
use self::strategy::{Strategy, fits_strong_branching, strategies};
use crate::answer::{Answer, Progress, Refutation, UnknownReason};
use crate::attack::Attack;
use crate::bound::program::Program;
use crate::query::Query;

pub use optimise::{Maximum, optimise};
pub use saved::{Saved, SavedError};

/// What a search may spend.
#[derive(Clone, Copy, Debug)]
pub struct Budget<'a> {
    /// When to stop.
    pub deadline: Option<Instant>,
    /// Set from outside to cancel the search.
    pub stop: Option<&'a AtomicBool>,
    /// How many threads; at least one.
    pub threads: usize,
    /// The seed of all random points.
    pub seed: u64,
    /// How many bytes the open subproblems may take.
    pub memory: usize,
    /// How many subproblems may be bounded in all.
    pub subproblems: u64,
    /// How many multiplications bounds may take, about: none are begun beyond. Subproblems of large graphs cost more than those of small ones.
    pub effort: u64,
    /// Whether to keep what an unsatisfiable query's certificate needs.
    pub certify: bool,
}

impl Default for Budget<'_> {
    fn default() -> Self {
        Budget {
            deadline: None,
            stop: None,
            threads: 1,
            seed: 0,
            memory: 4 << 30,
            subproblems: u64::MAX,
            effort: u64::MAX,
            certify: false,
        }
    }
}

impl Budget<'_> {
    /// Whether it is time to stop.
    pub fn stopped(&self) -> bool {
        self.stop.is_some_and(|stop| stop.load(Ordering::Relaxed))
            || self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }
}

/// Observes a search.
pub trait Watcher {
    /// How far the search is; called often.
    fn progress(&mut self, progress: Progress);

    /// Whether the state of the search is wanted now.
    fn wants_state(&mut self) -> bool {
        false
    }

    /// The state of the search, when it was wanted and when the search ends without an answer.
    fn state(&mut self, _saved: Saved) {}
}

/// A function of the progress is a watcher.
impl<F: FnMut(Progress)> Watcher for F {
    fn progress(&mut self, progress: Progress) {
        self(progress);
    }
}

/// Answers a query.
pub fn solve(query: &Query, budget: &Budget<'_>, progress: &mut dyn FnMut(Progress)) -> Result<Answer, GraphError> {
    let mut watcher = progress;
    solve_from(query, None, budget, &mut watcher)
}

/// Answers a query, from where an earlier search was left. The state must come from a search for the same query.
#[tracing::instrument(level = "debug", name = "solve", skip_all)]
pub fn solve_from(
    query: &Query,
    saved: Option<Saved>,
    budget: &Budget<'_>,
    watcher: &mut dyn Watcher,
) -> Result<Answer, GraphError> {
    tracing::trace!(target: "certus::count", queries = 1_u64);
    let region = &query.region;
    if region.lower.iter().zip(&region.upper).any(|(low, high)| low > high) {
        let progress = Progress { done: 1.0, ..Progress::default() };
        return Ok(Answer::Unsat(Refutation { progress, tree: budget.certify.then(|| "empty\n".to_string()) }));
    }
    let search = Search::new(query);
    if saved.is_none()
        && let Some(witness) = search.sample(budget.seed)?
    {
        return Ok(Answer::Sat(witness));
    }
    let runs = match saved {
        Some(saved) => vec![saved.resume(&search, budget)],
        None => {
            let mut all = strategies(&search);
            all.extend(
                (all.contains(&Strategy::NeuronSplits) && fits_strong_branching(&search))
                    .then_some(Strategy::StrongBranching),
            );
            all.into_iter().map(|strategy| Run::new(&search, strategy, budget)).collect()
        }
    };
    race(&search, runs, budget, watcher)
}

/// Subproblems that a strategy bounds before it is another's turn; then four times as many.
const FIRST_TURN: u64 = 128;

/// Strong branching joins at turns of this many subproblems: easy queries are faster without it.
const FIRST_STRONG_BRANCHING: u64 = 4 * FIRST_TURN;

/// Lets strategies take turns until one of them ends.
fn race(
    search: &Search<'_>,
    mut runs: Vec<Run>,
    budget: &Budget<'_>,
    watcher: &mut dyn Watcher,
) -> Result<Answer, GraphError> {
    let mut turn = FIRST_TURN;
    let mut retired: Vec<(Run, UnknownReason)> = Vec::new();
    loop {
        let alone = runs.len() == 1;
        let mut given_up = None;
        for index in 0..runs.len() {
            let run = &mut runs[index];
            let subproblems = match run.strategy {
                _ if alone => u64::MAX,
                Strategy::StrongBranching if turn < FIRST_STRONG_BRANCHING => continue,
                _ => turn,
            };
            match run.advance(search, budget, subproblems, watcher)? {
                Some(Ended::Sat(witness)) => return Ok(Answer::Sat(witness)),
                Some(Ended::Refuted) => return Ok(Answer::Unsat(run.refutation())),
                // What stops one strategy need not stop another.
                Some(Ended::Open(reason @ (UnknownReason::Numerics | UnknownReason::Subproblems))) if !alone => {
                    given_up = Some((index, reason));
                }
                Some(Ended::Open(reason)) => {
                    let all = runs.iter().chain(retired.iter().map(|(run, _)| run));
                    let furthest = all.max_by(|a, b| a.state.done.total_cmp(&b.state.done));
                    let progress = furthest.map_or_else(Progress::default, |run| run.state);
                    if let Some(run) = furthest {
                        watcher.state(Saved::of(run));
                    }
                    let reason = match reason {
                        // Another one might have come further with more subproblems.
                        UnknownReason::Numerics
                            if retired.iter().any(|(_, own)| *own == UnknownReason::Subproblems) =>
                        {
                            UnknownReason::Subproblems
                        }
                        UnknownReason::Numerics if search.attack.rounded_away() => UnknownReason::Precision,
                        reason => reason,
                    };
                    return Ok(Answer::Unknown(reason, progress));
                }
                None => {}
            }
        }
        if let Some((index, reason)) = given_up {
            retired.push((runs.remove(index), reason));
        } else {
            // One that is far behind will not come first. Strong branching verifies few subproblems, and late.
            let furthest = runs.iter().map(|run| run.state.done).fold(0.0, f64::max);
            runs.retain(|run| run.strategy == Strategy::StrongBranching || run.state.done >= 0.1 * furthest);
        }
        turn = turn.saturating_mul(4);
    }
}

/// What a search works on.
pub(crate) struct Search<'q> {
    query: &'q Query,
    program: Program,
    logic: Logic,
    attack: Attack<'q>,
    /// What a subproblem costs, in those of graphs without flows.
    cost: u64,
    /// The multiplications that the bounds of all strategies have taken.
    effort: AtomicU64,
}

/// Enclosing the solutions of a differential equation takes as long as bounding so many other graphs.
const COST_OF_FLOWS: u64 = 64;

impl<'q> Search<'q> {
    fn new(query: &'q Query) -> Self {
        let program = Program::new(query.lowered.clone());
        let logic = Logic::new(&program.graph, &query.formula);
        let has_flows = program.graph.nodes().iter().any(|node| matches!(node.op, Op::Flow(_) | Op::Throughout(_)));
        let cost = if has_flows { COST_OF_FLOWS } else { 1 };
        Search { query, program, logic, attack: Attack::new(query), cost, effort: AtomicU64::new(0) }
    }
}
