//! One search with one strategy: open subproblems, waves of batches, and what became of them.
//!
//! Depth first without an objective (the stack stays small), best first with one. Batches of a wave are bounded by threads
//! that take the next one as they become free, and merged in order. Now and then PGD gets a share of the effort.

use std::sync::atomic::Ordering;

use certus_graph::GraphError;
use certus_numerics::parallel;

use super::batch::{BatchResult, Context};
use super::proof::{Proof, Tree};
use super::saved::Saved;
use super::strategy::Strategy;
use super::subproblem::Subproblem;
use super::{Budget, Search, Watcher};
use crate::answer::{Progress, Refutation, UnknownReason, Witness};
use crate::attack::Starts;

/// How a run ended.
pub(super) enum Ended {
    Sat(Witness),
    Refuted,
    Open(UnknownReason),
}

/// One search with one strategy.
pub(super) struct Run {
    pub(super) strategy: Strategy,
    pub(super) open: Vec<Subproblem>,
    open_bytes: usize,
    pub(super) proof: Option<Proof>,
    pub(super) state: Progress,
    pub(super) bounded: u64,
    pub(super) stuck: bool,
    batch: usize,
    steps: usize,
    /// The row that bounds an objective: subproblems where it may be large come first.
    pub(super) objective: Option<usize>,
    /// How many multiplications bounds took, and when the next attack is due.
    effort: u64,
    next_attack: u64,
    /// Points that bounds suggested while there is an objective, by batches.
    pub(super) points: Vec<(Vec<f64>, usize)>,
}

/// How many subproblems a thread bounds at once: no more than the first, and no fewer than the second where there are enough.
const BATCH: usize = 32;
const SMALL_BATCH: usize = 16;

/// How many batches a wave is split into. Neither a wave nor a batch may depend on the number of threads, since points, splits and
/// answers depend on them. With an objective, waves are short: what they find decides what comes next.
const BATCHES: usize = 4;
const BATCHES_TO_OBJECTIVE: usize = 2;

/// PGD runs that share what may be spent on an attack, half of them from open subproblems; as many whatever the threads.
const PGD_RUNS: usize = 4;

/// The first attack costs about as many multiplications as this, and evaluates no more points than that; afterwards attacks
/// get a share of the effort that bounds took, each time that has doubled.
const FIRST_ATTACK: usize = 200_000_000;
const FIRST_EVALUATIONS: (usize, usize) = (64, 8192);
const ATTACK_SHARE: f64 = 0.3;

/// A restart has at most so many steps, and usually gives up after that many.
const PGD_STEPS: usize = 100;
const USUAL_STEPS: usize = 20;

/// Open boxes from which PGD starts.
const STARTING_BOXES: usize = 64;

impl Run {
    pub(super) fn new(search: &Search<'_>, strategy: Strategy, budget: &Budget<'_>) -> Self {
        let region = &search.query.region;
        let mut proof = budget.certify.then(Proof::default);
        let place = proof.as_mut().map_or(0, Proof::open);
        let root = Subproblem {
            lower: region.lower.clone(),
            upper: region.upper.clone(),
            refine: true,
            share: 1.0,
            bound: f64::NEG_INFINITY,
            proof: place,
            ..Subproblem::default()
        };
        Run::from_subproblems(search, strategy, vec![root], proof)
    }

    /// A run that goes on with some open subproblems.
    pub(super) fn from_subproblems(
        search: &Search<'_>,
        strategy: Strategy,
        open: Vec<Subproblem>,
        proof: Option<Proof>,
    ) -> Self {
        let values: usize = search.program.sizes.iter().sum();
        let batch = ((1 << 20) / values.max(1)).clamp(1, BATCH);
        let steps = match strategy {
            Strategy::InputSplits => 6,
            Strategy::NeuronSplits => 16,
            // What an LP says, gradient steps need not find.
            Strategy::StrongBranching => 6,
        };
        let open_bytes = open.iter().map(Subproblem::bytes).sum();
        let state = Progress { open: open.len() as u64, ..Progress::default() };
        Run {
            strategy,
            open,
            open_bytes,
            proof,
            state,
            bounded: 0,
            stuck: false,
            batch,
            steps,
            objective: None,
            effort: 0,
            next_attack: 1,
            points: Vec::new(),
        }
    }

    /// What a run without open subproblems has shown.
    pub(super) fn refutation(&self) -> Refutation {
        Refutation { progress: self.state, tree: self.proof.as_ref().and_then(Proof::text) }
    }

    /// Goes on until the run ends or so many subproblems were bounded.
    pub(super) fn advance(
        &mut self,
        search: &Search<'_>,
        budget: &Budget<'_>,
        subproblems: u64,
        watcher: &mut dyn Watcher,
    ) -> Result<Option<Ended>, GraphError> {
        let until = self.bounded.saturating_add(subproblems);
        while !self.open.is_empty() {
            if let Some(reason) = self.exhausted(search, budget) {
                return Ok(Some(Ended::Open(reason)));
            }
            if self.bounded >= until {
                return Ok(None);
            }
            if let Some(witness) = self.wave(search, budget, until.min(budget.subproblems))? {
                return Ok(Some(Ended::Sat(witness)));
            }
            if self.effort >= self.next_attack
                && self.objective.is_none()
                && !self.open.is_empty()
                && let Some(witness) = self.attack(search, budget)?
            {
                return Ok(Some(Ended::Sat(witness)));
            }
            watcher.progress(self.state);
            // With an objective, subproblems are pruned by what was found so far: no state of a search for the query alone.
            if self.objective.is_none() && watcher.wants_state() {
                watcher.state(Saved::of(self));
            }
        }
        Ok(Some(if self.stuck { Ended::Open(UnknownReason::Numerics) } else { Ended::Refuted }))
    }

    fn exhausted(&self, search: &Search<'_>, budget: &Budget<'_>) -> Option<UnknownReason> {
        if budget.stop.is_some_and(|stop| stop.load(Ordering::Relaxed)) {
            Some(UnknownReason::Stopped)
        } else if budget.stopped() {
            Some(UnknownReason::Deadline)
        } else if self.open_bytes > budget.memory {
            Some(UnknownReason::Memory)
        } else if self.bounded >= budget.subproblems || search.effort.load(Ordering::Relaxed) >= budget.effort {
            Some(UnknownReason::Subproblems)
        } else {
            None
        }
    }

    /// How many subproblems can be bounded with the effort that is left, if each takes as much as those so far.
    fn affordable(&self, search: &Search<'_>, budget: &Budget<'_>) -> usize {
        let left = budget.effort.saturating_sub(search.effort.load(Ordering::Relaxed));
        let each = search.effort.load(Ordering::Relaxed) / self.bounded.max(1);
        usize::try_from(left.checked_div(each).unwrap_or(u64::MAX)).unwrap_or(usize::MAX)
    }

    /// Looks for a witness by PGD, half of the runs from open subproblems: where bounds fail there may be one.
    #[tracing::instrument(level = "debug", name = "PGD attack", skip_all)]
    fn attack(&mut self, search: &Search<'_>, budget: &Budget<'_>) -> Result<Option<Witness>, GraphError> {
        let weights = search.program.graph.parameters().max(1);
        let (fewest, most) = FIRST_EVALUATIONS;
        let first = (FIRST_ATTACK / (3 * weights)).clamp(fewest, most);
        let share = ATTACK_SHARE * self.effort as f64 / (3 * weights) as f64;
        let evaluations = (share as usize).max(first);
        self.next_attack = self.effort.saturating_mul(2).max((4 * first * weights) as u64);
        let restarts = (evaluations / USUAL_STEPS).max(1);
        tracing::trace!(target: "certus::count", pgd_restarts = (restarts / PGD_RUNS).max(1) * PGD_RUNS);
        let boxes: Vec<(Vec<f64>, Vec<f64>)> = self
            .open
            .iter()
            .rev()
            .take(STARTING_BOXES)
            .map(|subproblem| (subproblem.lower.clone(), subproblem.upper.clone()))
            .collect();
        let stop = || budget.stopped();
        let attack = |number: usize| -> Result<Option<Witness>, GraphError> {
            let seed = budget.seed.wrapping_add(self.effort).wrapping_add(number as u64);
            let starts = match number % 2 {
                0 => Starts::Region,
                _ => Starts::Boxes { boxes: &boxes, confined: false },
            };
            let share = (restarts / PGD_RUNS).max(1);
            Ok(search.attack.run_pgd(starts, share, PGD_STEPS, seed, &stop)?.witness)
        };
        let found = |result: &Result<Option<Witness>, GraphError>| !matches!(result, Ok(None));
        for result in parallel::map_until((0..PGD_RUNS).collect(), budget.threads, attack, found) {
            if let Some(witness) = result? {
                return Ok(Some(witness));
            }
        }
        Ok(None)
    }

    /// Takes subproblems off the stack, examines them, and puts what is left of them back; not many more than may be bounded.
    fn wave(&mut self, search: &Search<'_>, budget: &Budget<'_>, until: u64) -> Result<Option<Witness>, GraphError> {
        if self.objective.is_some() && self.open_bytes < budget.memory / 2 {
            // The largest bound first tightens the result soonest; without memory to spare, the newest first.
            self.open.sort_by(|a, b| b.bound.total_cmp(&a.bound));
        }
        let most = (self.batch / self.strategy.cost() as usize).max(1);
        let cost = self.strategy.cost() * search.cost;
        let most = match self.objective {
            Some(_) => most * BATCHES_TO_OBJECTIVE,
            None => {
                let left = usize::try_from(until.saturating_sub(self.bounded).div_ceil(cost)).unwrap_or(usize::MAX);
                (most * BATCHES).min(left).min(self.affordable(search, budget)).max(1)
            }
        };
        let mut wave = self.open.split_off(self.open.len().saturating_sub(most));
        // A batch is refined as a whole or not at all.
        let refine = wave.last().is_some_and(|subproblem| subproblem.refine);
        let (wave, others): (Vec<Subproblem>, Vec<Subproblem>) =
            wave.drain(..).partition(|subproblem| subproblem.refine == refine);
        self.open.extend(others);
        let (examined, verified) = (wave.len() as u64, self.state.verified);
        let effort_before = search.effort.load(Ordering::Relaxed);
        let taken: usize = wave.iter().map(Subproblem::bytes).sum();
        self.open_bytes = self.open_bytes.saturating_sub(taken);
        self.bounded += wave.len() as u64 * cost;
        // One linear program after the other takes long enough for a thread of its own.
        let least = if self.strategy == Strategy::StrongBranching { 1 } else { SMALL_BATCH.min(self.batch) };
        let size = wave.len().div_ceil(BATCHES).clamp(least, self.batch);
        let batches: Vec<Vec<Subproblem>> = wave.chunks(size).map(<[Subproblem]>::to_vec).collect();
        let context = Context {
            program: &search.program,
            logic: &search.logic,
            region: &search.query.region,
            strategy: self.strategy,
            steps: self.steps,
            certify: budget.certify,
            objective: self.objective,
        };
        let stop = || budget.stopped();
        let bound_batch = |batch: Vec<Subproblem>| -> Result<(Option<BatchResult>, Option<Witness>), GraphError> {
            let Some(bounded_batch) = context.bound_batch(batch, &stop) else { return Ok((None, None)) };
            let witness = match bounded_batch.point_count {
                0 => None,
                _ if context.objective.is_some() => None,
                count => search.attack.try_points(&bounded_batch.points, count)?,
            };
            Ok((Some(bounded_batch), witness))
        };
        let kept: Vec<Vec<Subproblem>> = batches.clone();
        let found =
            |result: &Result<(Option<BatchResult>, Option<Witness>), GraphError>| !matches!(result, Ok((_, None)));
        for (batch, result) in kept.into_iter().zip(parallel::map_until(batches, budget.threads, bound_batch, found)) {
            match result? {
                (_, Some(witness)) => return Ok(Some(witness)),
                (Some(bounded_batch), None) => {
                    self.effort += bounded_batch.effort;
                    search.effort.fetch_add(bounded_batch.whole_effort, Ordering::Relaxed);
                    if self.objective.is_some() && bounded_batch.point_count > 0 {
                        self.points.push((bounded_batch.points, bounded_batch.point_count));
                    }
                    debug_assert_eq!(batch.len(), bounded_batch.trees.len(), "a subproblem of a batch is lost");
                    for (subproblem, tree) in batch.into_iter().zip(bounded_batch.trees) {
                        self.merge(subproblem.proof, subproblem.share, tree);
                    }
                }
                (None, None) => {
                    self.open_bytes += batch.iter().map(Subproblem::bytes).sum::<usize>();
                    self.open.extend(batch);
                }
            }
        }
        let effort = search.effort.load(Ordering::Relaxed);
        let (verified_leaves, multiplications) = (self.state.verified - verified, effort - effort_before);
        tracing::trace!(target: "certus::count", subproblems = examined, verified_leaves, multiplications);
        self.state.effort = effort;
        self.state.open = self.open.len() as u64;
        self.state.bound =
            self.open.iter().map(|subproblem| subproblem.bound).filter(|bound| bound.is_finite()).reduce(f64::min);
        Ok(None)
    }

    /// Enters what became of a subproblem.
    fn merge(&mut self, place: u32, share: f64, tree: Tree<Subproblem>) {
        match tree {
            Tree::Leaf(record) => {
                self.state.verified += 1;
                self.state.done += share;
                if let Some(proof) = &mut self.proof {
                    proof.set(place, record, Vec::new());
                }
            }
            Tree::Then(record, rest) => {
                let child = self.proof.as_mut().map_or(0, Proof::open);
                if let Some(proof) = &mut self.proof {
                    proof.set(place, record, vec![child]);
                }
                self.merge(child, share, *rest);
            }
            Tree::Branch(record, trees) => {
                debug_assert!(
                    !trees.is_empty() || matches!(record, super::proof::Record::Either(_)),
                    "a split into nothing"
                );
                let count = trees.len().max(1) as f64;
                let children: Vec<u32> = trees.iter().map(|_| self.proof.as_mut().map_or(0, Proof::open)).collect();
                if let Some(proof) = &mut self.proof {
                    proof.set(place, record, children.clone());
                }
                for (child, tree) in children.into_iter().zip(trees) {
                    self.merge(child, share / count, tree);
                }
            }
            Tree::Open(mut subproblem) => {
                debug_assert!(subproblem.is_ordered(), "a subproblem has no point: {subproblem:?}");
                subproblem.proof = place;
                subproblem.share = share;
                self.open_bytes += subproblem.bytes();
                self.open.push(subproblem);
            }
            Tree::Stuck => self.stuck = true,
        }
    }
}
