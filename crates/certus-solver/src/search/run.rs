//! One search with one strategy: open parts, waves of batches, and what became of them.

use std::sync::atomic::Ordering;

use certus_graph::GraphError;
use certus_numerics::parallel;

use super::examine::{Context, Examined, Strategy};
use super::part::Part;
use super::proof::{Proof, Tree};
use super::saved::Saved;
use super::{Budget, Search, Watcher};
use crate::answer::{Progress, Refutation, UnknownReason, Witness};
use crate::attack::Starts;

/// How a run came to its end.
pub(super) enum Ended {
    Sat(Witness),
    Closed,
    Open(UnknownReason),
}

/// One search with one strategy.
pub(super) struct Run {
    pub(super) strategy: Strategy,
    pub(super) open: Vec<Part>,
    open_bytes: usize,
    pub(super) proof: Option<Proof>,
    pub(super) state: Progress,
    pub(super) bounded: u64,
    pub(super) stuck: bool,
    batch: usize,
    steps: usize,
    /// The row that bounds an objective: parts where it may be large come first.
    pub(super) objective: Option<usize>,
    /// How many multiplications bounds took, and when descents are tried next.
    effort: u64,
    next_descent: u64,
    /// Points that bounds suggested while there is an objective, by batches.
    pub(super) points: Vec<(Vec<f64>, usize)>,
}

/// How many parts a thread bounds at once: no more than the first, and no fewer than the second where there are enough.
const BATCH: usize = 32;
const SMALL_BATCH: usize = 16;

/// How many batches a wave is cut into. Neither a wave nor a batch may depend on the number of threads, since points, cuts and
/// answers depend on them. With an objective, waves are short: what they find decides what comes next.
const BATCHES: usize = 4;
const BATCHES_TO_OBJECTIVE: usize = 2;

/// Searches by descent that are made of what may be spent on them, half of them from open parts; again whatever the threads.
const DESCENTS: usize = 4;

/// The first descents cost about as many multiplications as this, and evaluate no more points than that; afterwards descents
/// get a share of the effort that bounds took, each time that has doubled.
const FIRST_DESCENT: usize = 200_000_000;
const FIRST_EVALUATIONS: (usize, usize) = (64, 8192);
const DESCENT_SHARE: f64 = 0.3;

/// A descent has at most so many steps, and usually gives up after that many.
const DESCENT_STEPS: usize = 100;
const USUAL_STEPS: usize = 20;

/// Open boxes from which descents begin.
const STARTING_BOXES: usize = 64;

impl Run {
    pub(super) fn new(search: &Search<'_>, strategy: Strategy, budget: &Budget<'_>) -> Self {
        let region = &search.query.region;
        let mut proof = budget.certify.then(Proof::default);
        let place = proof.as_mut().map_or(0, Proof::open);
        let root = Part {
            lower: region.lower.clone(),
            upper: region.upper.clone(),
            refine: true,
            share: 1.0,
            bound: f64::NEG_INFINITY,
            proof: place,
            ..Part::default()
        };
        Run::from_parts(search, strategy, vec![root], proof)
    }

    /// A run that goes on with some open parts.
    pub(super) fn from_parts(search: &Search<'_>, strategy: Strategy, open: Vec<Part>, proof: Option<Proof>) -> Self {
        let values: usize = search.program.sizes.iter().sum();
        let batch = ((1 << 20) / values.max(1)).clamp(1, BATCH);
        let steps = match strategy {
            Strategy::Inputs => 6,
            Strategy::Nodes => 16,
            // What a linear program says, tuning need not find.
            Strategy::Programs => 6,
        };
        let open_bytes = open.iter().map(Part::bytes).sum();
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
            next_descent: 1,
            points: Vec::new(),
        }
    }

    /// What a closed run has shown.
    pub(super) fn refutation(&self) -> Refutation {
        Refutation { progress: self.state, tree: self.proof.as_ref().and_then(Proof::text) }
    }

    /// Goes on until the run ends or so many parts were bounded.
    pub(super) fn advance(
        &mut self,
        search: &Search<'_>,
        budget: &Budget<'_>,
        parts: u64,
        watcher: &mut dyn Watcher,
    ) -> Result<Option<Ended>, GraphError> {
        let until = self.bounded.saturating_add(parts);
        while !self.open.is_empty() {
            if let Some(reason) = self.exhausted(budget) {
                return Ok(Some(Ended::Open(reason)));
            }
            if self.bounded >= until {
                return Ok(None);
            }
            if let Some(witness) = self.wave(search, budget, until.min(budget.boxes))? {
                return Ok(Some(Ended::Sat(witness)));
            }
            if self.effort >= self.next_descent
                && self.objective.is_none()
                && !self.open.is_empty()
                && let Some(witness) = self.descend(search, budget)?
            {
                return Ok(Some(Ended::Sat(witness)));
            }
            watcher.progress(self.state);
            // With an objective, parts are closed by what was found so far: no state of a search for the query alone.
            if self.objective.is_none() && watcher.wants_state() {
                watcher.state(Saved::of(self));
            }
        }
        Ok(Some(if self.stuck { Ended::Open(UnknownReason::Numerics) } else { Ended::Closed }))
    }

    fn exhausted(&self, budget: &Budget<'_>) -> Option<UnknownReason> {
        if budget.stop.is_some_and(|stop| stop.load(Ordering::Relaxed)) {
            Some(UnknownReason::Stopped)
        } else if budget.stopped() {
            Some(UnknownReason::Deadline)
        } else if self.open_bytes > budget.memory {
            Some(UnknownReason::Memory)
        } else if self.bounded >= budget.boxes {
            Some(UnknownReason::Boxes)
        } else {
            None
        }
    }

    /// Looks for a point by descents, half of them from open parts: what bounds cannot close may hold one.
    fn descend(&mut self, search: &Search<'_>, budget: &Budget<'_>) -> Result<Option<Witness>, GraphError> {
        let weights = search.program.graph.parameters().max(1);
        let (fewest, most) = FIRST_EVALUATIONS;
        let first = (FIRST_DESCENT / (3 * weights)).clamp(fewest, most);
        let share = DESCENT_SHARE * self.effort as f64 / (3 * weights) as f64;
        let evaluations = (share as usize).max(first);
        self.next_descent = self.effort.saturating_mul(2).max((4 * first * weights) as u64);
        let restarts = (evaluations / USUAL_STEPS).max(1);
        let boxes: Vec<(Vec<f64>, Vec<f64>)> =
            self.open.iter().rev().take(STARTING_BOXES).map(|part| (part.lower.clone(), part.upper.clone())).collect();
        let stop = || budget.stopped();
        let descend = |number: usize| -> Result<Option<Witness>, GraphError> {
            let seed = budget.seed.wrapping_add(self.effort).wrapping_add(number as u64);
            let starts = match number % 2 {
                0 => Starts::Region,
                _ => Starts::Boxes { boxes: &boxes, confined: false },
            };
            let share = (restarts / DESCENTS).max(1);
            Ok(search.attack.descend(starts, share, DESCENT_STEPS, seed, &stop)?.witness)
        };
        let found = |result: &Result<Option<Witness>, GraphError>| !matches!(result, Ok(None));
        for result in parallel::map_until((0..DESCENTS).collect(), budget.threads, &descend, &found) {
            if let Some(witness) = result? {
                return Ok(Some(witness));
            }
        }
        Ok(None)
    }

    /// Takes parts off the stack, examines them, and puts what is left of them back; not many more than may be bounded.
    fn wave(&mut self, search: &Search<'_>, budget: &Budget<'_>, until: u64) -> Result<Option<Witness>, GraphError> {
        if self.objective.is_some() && self.open_bytes < budget.memory / 2 {
            // The largest bound first tightens the result soonest; without memory to spare, the newest first.
            self.open.sort_by(|a, b| b.bound.total_cmp(&a.bound));
        }
        let cost = self.strategy.cost();
        let most = (self.batch / cost as usize).max(1);
        let most = match self.objective {
            Some(_) => most * BATCHES_TO_OBJECTIVE,
            None => {
                let left = usize::try_from(until.saturating_sub(self.bounded).div_ceil(cost)).unwrap_or(usize::MAX);
                (most * BATCHES).min(left).max(1)
            }
        };
        let mut wave = self.open.split_off(self.open.len().saturating_sub(most));
        // A batch is refined as a whole or not at all.
        let refine = wave.last().is_some_and(|part| part.refine);
        let (wave, others): (Vec<Part>, Vec<Part>) = wave.drain(..).partition(|part| part.refine == refine);
        self.open.extend(others);
        let taken: usize = wave.iter().map(Part::bytes).sum();
        self.open_bytes = self.open_bytes.saturating_sub(taken);
        self.bounded += wave.len() as u64 * cost;
        // One linear program after the other takes long enough for a thread of its own.
        let least = if self.strategy == Strategy::Programs { 1 } else { SMALL_BATCH.min(self.batch) };
        let size = wave.len().div_ceil(BATCHES).clamp(least, self.batch);
        let batches: Vec<Vec<Part>> = wave.chunks(size).map(<[Part]>::to_vec).collect();
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
        let examine = |batch: Vec<Part>| -> Result<(Option<Examined>, Option<Witness>), GraphError> {
            let Some(examined) = context.examine(batch, &stop) else { return Ok((None, None)) };
            let witness = match examined.point_count {
                0 => None,
                _ if context.objective.is_some() => None,
                count => search.attack.try_points(&examined.points, count)?,
            };
            Ok((Some(examined), witness))
        };
        let kept: Vec<Vec<Part>> = batches.clone();
        let found = |result: &Result<(Option<Examined>, Option<Witness>), GraphError>| !matches!(result, Ok((_, None)));
        for (batch, result) in kept.into_iter().zip(parallel::map_until(batches, budget.threads, &examine, &found)) {
            match result? {
                (_, Some(witness)) => return Ok(Some(witness)),
                (Some(examined), None) => {
                    self.effort += examined.effort;
                    if self.objective.is_some() && examined.point_count > 0 {
                        self.points.push((examined.points, examined.point_count));
                    }
                    for (part, tree) in batch.into_iter().zip(examined.trees) {
                        self.merge(part.proof, part.share, tree);
                    }
                }
                (None, None) => {
                    self.open_bytes += batch.iter().map(Part::bytes).sum::<usize>();
                    self.open.extend(batch);
                }
            }
        }
        self.state.open = self.open.len() as u64;
        self.state.bound = self.open.iter().map(|part| part.bound).filter(|bound| bound.is_finite()).reduce(f64::min);
        Ok(None)
    }

    /// Enters what became of a part.
    fn merge(&mut self, place: u32, share: f64, tree: Tree<Part>) {
        match tree {
            Tree::Leaf(record) => {
                self.state.closed += 1;
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
                let count = trees.len().max(1) as f64;
                let children: Vec<u32> = trees.iter().map(|_| self.proof.as_mut().map_or(0, Proof::open)).collect();
                if let Some(proof) = &mut self.proof {
                    proof.set(place, record, children.clone());
                }
                for (child, tree) in children.into_iter().zip(trees) {
                    self.merge(child, share / count, tree);
                }
            }
            Tree::Open(mut part) => {
                part.proof = place;
                part.share = share;
                self.open_bytes += part.bytes();
                self.open.push(part);
            }
            Tree::Stuck => self.stuck = true,
        }
    }
}
