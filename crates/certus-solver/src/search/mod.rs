//! Branch and bound.
//!
//! The region is cut into parts. A part is closed when bounds show that the formula holds nowhere in it; otherwise
//! points that the bounds suggest are tried, and it is made smaller by what the formula's rows forbid, or cut in two: at an input, at the
//! value of an element that a curve reads, or by the disjuncts of the formula. Parts are taken in waves of a few batches, and the
//! results of a wave are merged in order, so the same query gives the same answer whatever the number of threads.

mod clip;
mod examine;
mod logic;
mod optimise;
mod part;
mod proof;
mod run;
mod sample;
mod saved;
#[cfg(test)]
mod tests;

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use certus_graph::GraphError;
use certus_graph::reads::elements_read;

use self::examine::{LARGE_PROGRAM, Strategy};
use self::logic::Logic;
use self::run::{Ended, Run};
use crate::answer::{Answer, Progress, Refutation, UnknownReason};
use crate::attack::Attack;
use crate::bound::program::{Program, Role};
use crate::linear_program::has_only_kinks;
use crate::query::{Query, visit};
use crate::vnnlib::Variable;

pub use optimise::{Maximum, optimise};
pub use saved::{Saved, SavedError};

/// What a search may spend.
#[derive(Clone, Copy, Debug)]
pub struct Budget<'a> {
    /// When to stop.
    pub deadline: Option<Instant>,
    /// Set by somebody else to stop.
    pub stop: Option<&'a AtomicBool>,
    /// How many threads; at least one.
    pub threads: usize,
    /// Names the random points.
    pub seed: u64,
    /// How many bytes the open parts may take.
    pub memory: usize,
    /// How many parts may be bounded in all.
    pub boxes: u64,
    /// Whether to keep what an unsatisfiable query's certificate needs.
    pub certify: bool,
}

impl Default for Budget<'_> {
    fn default() -> Self {
        Budget { deadline: None, stop: None, threads: 1, seed: 0, memory: 4 << 30, boxes: u64::MAX, certify: false }
    }
}

impl Budget<'_> {
    /// Whether it is time to stop.
    pub fn stopped(&self) -> bool {
        self.stop.is_some_and(|stop| stop.load(Ordering::Relaxed))
            || self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }
}

/// Somebody who watches a search.
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
pub fn solve_from(
    query: &Query,
    saved: Option<Saved>,
    budget: &Budget<'_>,
    watcher: &mut dyn Watcher,
) -> Result<Answer, GraphError> {
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
            all.extend((all.contains(&Strategy::Nodes) && fits_programs(&search)).then_some(Strategy::Programs));
            all.into_iter().map(|strategy| Run::new(&search, strategy, budget)).collect()
        }
    };
    race(&search, runs, budget, watcher)
}

/// With so many inputs that have any width, only inputs are cut.
const FEW_INPUTS: usize = 5;

/// With more than so many, only elements are.
const MANY_INPUTS: usize = 40;

/// Parts that a strategy bounds before it is another's turn; then four times as many.
const FIRST_TURN: u64 = 128;

/// Linear programs begin with turns of so many parts: what is easy is easier without.
const FIRST_PROGRAMS: u64 = 4 * FIRST_TURN;

/// Whether everything that bends has only kinks, and linear programs of all of it are not too large.
fn fits_programs(search: &Search<'_>) -> bool {
    let mut bends = 0;
    for (role, size) in search.program.roles.iter().zip(&search.program.sizes) {
        match role {
            Role::Curve(curve, _) if has_only_kinks(curve) => bends += size,
            Role::Curve(..) | Role::Product(..) => return false,
            _ => {}
        }
    }
    bends + search.program.inputs <= LARGE_PROGRAM
}

/// The strategies worth trying: few inputs are best cut themselves, many cannot be.
fn strategies(search: &Search<'_>) -> Vec<Strategy> {
    let region = &search.query.region;
    // What no operator and no atom reads need not be cut.
    let mut read = elements_read(&search.query.original);
    visit(&search.query.formula, &mut |variable| {
        if let Variable::Input(index) = variable {
            read[*index] = true;
        }
    });
    let ends = region.lower.iter().zip(&region.upper).zip(&read);
    let free = ends.filter(|((low, high), read)| low < high && **read).count();
    let curved = search.program.roles.iter().any(|role| matches!(role, Role::Curve(..) | Role::Product(..)));
    match free {
        _ if !curved => vec![Strategy::Inputs],
        0..=FEW_INPUTS => vec![Strategy::Inputs],
        count if count > MANY_INPUTS => vec![Strategy::Nodes],
        _ => vec![Strategy::Nodes, Strategy::Inputs],
    }
}

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
            let parts = match run.strategy {
                _ if alone => u64::MAX,
                Strategy::Programs if turn < FIRST_PROGRAMS => continue,
                _ => turn,
            };
            match run.advance(search, budget, parts, watcher)? {
                Some(Ended::Sat(witness)) => return Ok(Answer::Sat(witness)),
                Some(Ended::Closed) => return Ok(Answer::Unsat(run.refutation())),
                // What stops one strategy need not stop another.
                Some(Ended::Open(reason @ (UnknownReason::Numerics | UnknownReason::Boxes))) if !alone => {
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
                        // Another one might have come further with more parts.
                        UnknownReason::Numerics if retired.iter().any(|(_, own)| *own == UnknownReason::Boxes) => {
                            UnknownReason::Boxes
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
            // One that is far behind will not come first. Linear programs close few parts and know it late.
            let furthest = runs.iter().map(|run| run.state.done).fold(0.0, f64::max);
            runs.retain(|run| run.strategy == Strategy::Programs || run.state.done >= 0.1 * furthest);
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
}

impl<'q> Search<'q> {
    fn new(query: &'q Query) -> Self {
        let program = Program::new(query.lowered.clone());
        let logic = Logic::new(&program.graph, &query.formula);
        Search { query, program, logic, attack: Attack::new(query) }
    }
}
