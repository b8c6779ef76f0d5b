//! Projected gradient descent (PGD) from many points at once: the attack that looks for witnesses.
//!
//! PGD is the standard attack on networks (Madry, Makelov, Schmidt, Tsipras, Vladu, *Towards Deep Learning Models Resistant
//! to Adversarial Attacks*, ICLR 2018): steps against the gradient of a distance from the goal (`objective.rs`), each
//! projected back onto the region, restarted from many points (`starts.rs`).
//!
//! A batch of *slots* is stepped together; each slot holds one restart. A step evaluates the graph at all slots, hands the
//! points at which the formula seems to hold to a replay, and moves every point by Adam (Kingma and Ba, *Adam: A Method for
//! Stochastic Optimization*, ICLR 2015) with steps that are measured in widths of the region, shrink with age, and end at
//! its borders. A slot whose restart is over (too old, or no progress for too long) begins the next one at once.
//!
//! *Departures.* Adam instead of the sign of the gradient: sign steps do as well on property 8 of ACAS Xu but found nothing
//! on property 7, where points slide along a border and need different lengths in different directions. Restarts end
//! early: on both properties the evaluations before a witness fell by a factor of five when restarts ended after ten steps
//! without progress. Some restarts begin beside near misses (`pool.rs`).
//!
//! *Soundness.* Nothing here is trusted: a point is a witness only after its replay in `attack/mod.rs`.

use certus_graph::{Graph, GraphError};

use super::gradient::{Gradient, Tape};
use super::objective::{Aim, Objective};
use super::pool::Pool;
use super::starts::{Limits, Start, Starts, within};
use crate::Witness;
use crate::query::Query;
use certus_numerics::Random;

/// Descents in one batch.
const BATCH: usize = 256;

/// Values that the nodes of a batch may have together; wide graphs get smaller batches.
const MOST_VALUES: usize = 1 << 22;

/// The last step's length as a share of the first one's.
const LAST_STEP: f64 = 0.01;

/// How much of the mean of the gradient, and of its square, a step keeps.
const MEAN_KEPT: f64 = 0.9;
const SQUARE_KEPT: f64 = 0.999;

/// Points are replayed from this distance on: single precision cannot tell it from zero.
const NEAR: f64 = 1e-5;

/// A distance that is smaller by this share counts as progress.
const PROGRESS: f64 = 1e-4;

/// A query prepared for PGD.
pub(crate) struct Pgd {
    gradient: Gradient<f32>,
    objective: Objective,
    limits: Limits,
    batch: usize,
}

/// How much to try.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Effort {
    /// How many restarts.
    pub(crate) restarts: usize,
    /// How many steps each of them has at most.
    pub(crate) steps: usize,
    /// The seed of all random numbers.
    pub(crate) seed: u64,
}

/// What an attack found.
#[derive(Clone, Debug, PartialEq)]
pub struct Falsification {
    /// A point at which the formula holds, if one was found.
    pub witness: Option<Witness>,
    /// The smallest distance of the formula from true that was seen; infinite if there was no step.
    pub distance: f64,
    /// Where that was.
    pub nearest: Vec<f64>,
    /// How many restarts ended.
    pub restarts: usize,
    /// How many points were evaluated.
    pub evaluations: u64,
}

/// Decides about a point at which the formula seems to hold, or nearly so; gets its distance too.
pub(crate) type Replay<'a> = dyn FnMut(&[f64], f64) -> Result<Option<Witness>, GraphError> + 'a;

impl Pgd {
    /// Prepares a query; `graph` is its graph, or another one for the same function.
    pub(crate) fn new(query: &Query, graph: &Graph) -> Self {
        let graph = graph.without_dead_nodes();
        let gradient = Gradient::new(&graph);
        let values: usize = (0..graph.len()).map(|node| gradient.elements(node)).sum();
        Pgd {
            objective: Objective::new(&graph, &query.formula),
            limits: Limits::new(&query.region),
            batch: (MOST_VALUES / values.max(1)).clamp(1, BATCH),
            gradient,
        }
    }

    /// Runs until a replay succeeds, `effort.restarts` restarts have ended, or `should_stop` says so.
    pub(crate) fn run(
        &self,
        starts: Starts<'_>,
        effort: Effort,
        should_stop: &dyn Fn() -> bool,
        replay: &mut Replay<'_>,
    ) -> Result<Falsification, GraphError> {
        let mut result =
            Falsification { witness: None, distance: f64::INFINITY, nearest: Vec::new(), restarts: 0, evaluations: 0 };
        let batch = self.batch.min(effort.restarts);
        if batch == 0 || effort.steps == 0 {
            return Ok(result);
        }
        let mut tape = self.gradient.tape(batch);
        let mut slots = Slots::new(self.limits.inputs(), batch);
        let mut values = vec![0.0; self.objective.atoms() * batch];
        let mut weights = vec![0.0; self.objective.atoms() * batch];
        let mut started = 0;
        let mut pool = Pool::default();
        let mut numbers = Random::with_state(effort.seed);
        let mut next = |pool: &Pool| {
            let mut start = self.limits.start(starts, effort.seed, started);
            if !matches!(starts, Starts::Boxes { confined: true, .. }) {
                pool.attract(&mut start, &mut numbers);
            }
            started += 1;
            start
        };
        (0..batch).for_each(|slot| slots.place(slot, &next(&pool)));
        while !should_stop() {
            slots.write(&self.gradient, &mut tape);
            self.gradient.forward(&mut tape);
            result.evaluations += batch as u64;
            self.objective.evaluate(&tape, batch, &mut values);
            weights.fill(0.0);
            for slot in 0..batch {
                let value = |atom: usize| values[atom * batch + slot];
                let distance = self.objective.distance(&value);
                if distance < result.distance {
                    result.distance = distance;
                    result.nearest = slots.point(slot);
                }
                if slots.note(slot, distance) && distance <= NEAR {
                    result.witness = replay(&slots.point(slot), distance)?;
                    if result.witness.is_some() {
                        return Ok(result);
                    }
                }
                let aim = slots.restarts[slot].aim;
                self.objective.weigh(aim, &value, &mut |atom| weights[atom * batch + slot] += 1.0);
            }
            self.gradient.clear(&mut tape);
            self.objective.seed(&mut tape, batch, &weights);
            self.gradient.backward(&mut tape);
            slots.advance(&self.gradient, &tape, effort.steps);
            for slot in 0..batch {
                if slots.restarts[slot].is_over(effort.steps) {
                    result.restarts += 1;
                    let ended = &slots.restarts[slot];
                    pool.add(ended.best, &ended.best_point);
                    slots.place(slot, &next(&pool));
                }
            }
            if result.restarts >= effort.restarts {
                break;
            }
        }
        Ok(result)
    }
}

/// The state of one restart.
struct Restart {
    aim: Aim,
    rate: f64,
    patience: usize,
    age: usize,
    /// Steps since the last progress.
    idle: usize,
    /// The smallest distance so far, and where that was.
    best: f64,
    best_point: Vec<f64>,
}

impl Restart {
    fn is_over(&self, steps: usize) -> bool {
        self.age >= steps || self.idle > self.patience
    }
}

/// The points of a batch and what Adam remembers of them, element-major.
struct Slots {
    batch: usize,
    points: Vec<f64>,
    low: Vec<f64>,
    high: Vec<f64>,
    scale: Vec<f64>,
    mean: Vec<f64>,
    square: Vec<f64>,
    restarts: Vec<Restart>,
}

impl Slots {
    fn new(inputs: usize, batch: usize) -> Self {
        let rows = || vec![0.0; inputs * batch];
        Slots {
            batch,
            points: rows(),
            low: rows(),
            high: rows(),
            scale: rows(),
            mean: rows(),
            square: rows(),
            restarts: Vec::with_capacity(batch),
        }
    }

    /// Puts a new restart into a slot; slots are filled in order the first time.
    fn place(&mut self, slot: usize, start: &Start) {
        for (input, &value) in start.point.iter().enumerate() {
            let at = input * self.batch + slot;
            debug_assert!(start.low[input] <= start.high[input], "input {input} has no value");
            self.points[at] = value;
            (self.low[at], self.high[at]) = (start.low[input], start.high[input]);
            self.scale[at] = start.scale[input];
            (self.mean[at], self.square[at]) = (0.0, 0.0);
        }
        let restart = Restart {
            aim: start.aim,
            rate: start.rate,
            patience: start.patience,
            age: 0,
            idle: 0,
            best: f64::INFINITY,
            best_point: Vec::new(),
        };
        match self.restarts.get_mut(slot) {
            Some(place) => *place = restart,
            None => self.restarts.push(restart),
        }
    }

    fn point(&self, slot: usize) -> Vec<f64> {
        self.points.iter().skip(slot).step_by(self.batch).copied().collect()
    }

    /// Takes note of the distance at a point; whether it is progress.
    fn note(&mut self, slot: usize, distance: f64) -> bool {
        let best = self.restarts[slot].best;
        let needed = if best.is_finite() { best - PROGRESS * best.abs() } else { best };
        let progress = distance < needed;
        let point = (distance < best).then(|| self.point(slot));
        let restart = &mut self.restarts[slot];
        restart.idle = if progress { 0 } else { restart.idle + 1 };
        if let Some(point) = point {
            (restart.best, restart.best_point) = (distance, point);
        }
        progress
    }

    /// Writes the points to the inputs of a tape.
    fn write(&self, gradient: &Gradient<f32>, tape: &mut Tape<f32>) {
        let mut rest = self.points.as_slice();
        for &node in gradient.inputs() {
            let target = tape.node_mut(node);
            let (own, after) = rest.split_at(target.len());
            target.iter_mut().zip(own).for_each(|(x, &point)| *x = point as f32);
            rest = after;
        }
    }

    /// Moves every point one step against its gradient.
    fn advance(&mut self, gradient: &Gradient<f32>, tape: &Tape<f32>, steps: usize) {
        let corrections: Vec<(f64, f64)> = self
            .restarts
            .iter_mut()
            .map(|restart| {
                restart.age += 1;
                // The means start at zero; these factors take that bias out.
                let unbiased = |kept: f64| 1.0 / (1.0 - kept.powi(restart.age as i32));
                let rate = restart.rate * LAST_STEP.powf(restart.age as f64 / steps as f64);
                (rate * unbiased(MEAN_KEPT), unbiased(SQUARE_KEPT))
            })
            .collect();
        let slopes = gradient.inputs().iter().flat_map(|&node| tape.node_adjoints(node));
        for (at, &slope) in slopes.enumerate() {
            let slope = f64::from(slope) * self.scale[at];
            let slope = if slope.is_finite() { slope } else { 0.0 };
            let (mean, square) = (&mut self.mean[at], &mut self.square[at]);
            *mean = MEAN_KEPT * *mean + (1.0 - MEAN_KEPT) * slope;
            *square = SQUARE_KEPT * *square + (1.0 - SQUARE_KEPT) * slope * slope;
            let (rate, unbiased) = corrections[at % self.batch];
            let step = rate * *mean / ((*square * unbiased).sqrt() + f64::MIN_POSITIVE);
            let moved = self.points[at] - step * self.scale[at];
            self.points[at] = within(moved, self.low[at], self.high[at]);
        }
    }
}
