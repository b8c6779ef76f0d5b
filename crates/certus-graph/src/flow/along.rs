//! A condition along one solution in doubles: for simulation. Nothing is concluded from it.
//!
//! The condition is evaluated at evenly spaced instants. Between two of them it can fail unseen in two ways: its margin dips below
//! zero, or a `!=` is false for an instant, when its two sides cross. Where the samples leave room for either, the instants around
//! the least margin are sampled again, ever closer. By the intermediate value theorem two sides whose difference changes its sign
//! are equal in between; if the margin has no room left there, the condition is false at that instant, which need not be a double.

use super::float::followed;
use super::{Condition, Field};
use crate::eval::{Evaluator, Workspace};
use crate::ops::{Compare, Op, Sub};
use crate::{Graph, GraphError};

/// How many instants a condition is evaluated at, beside the first.
const SAMPLES: usize = 32;
/// How often the neighbourhood of the least margin is sampled again: each time it is a sixteenth as long.
const REFINEMENTS: usize = 12;
/// A margin below this is none where two sides cross.
const NO_MARGIN: f64 = 1e-9;

/// The graph of a condition with the differences of both sides of every equation as further outputs.
pub(super) fn with_differences(condition: &Graph) -> Result<Graph, GraphError> {
    let mut graph = condition.clone();
    for id in condition.ids() {
        let node = condition.node(id);
        if matches!(node.op, Op::Compare(Compare::Equal | Compare::NotEqual)) {
            let difference = graph.apply(Sub, &node.inputs)?;
            graph.output("difference", difference);
        }
    }
    Ok(graph)
}

/// What was seen at some instants.
struct Samples {
    instants: Vec<f64>,
    states: Vec<Vec<f64>>,
    truth: Vec<f64>,
    margin: Vec<f64>,
    differences: Vec<Vec<f64>>,
}

impl Samples {
    /// The instant with the least margin, if the condition is true at all of them.
    fn least_margin(&self) -> Option<usize> {
        let all = self.truth.iter().all(|&own| own == 1.0) && self.margin.iter().all(|own| !own.is_nan());
        (0..self.margin.len()).filter(|_| all).min_by(|&a, &b| self.margin[a].total_cmp(&self.margin[b]))
    }

    /// The instants beside one.
    fn beside(&self, place: usize) -> (usize, usize) {
        (place.saturating_sub(1), (place + 1).min(self.instants.len() - 1))
    }

    /// Whether the margin may reach zero between the neighbours of an instant with a local minimum of it.
    fn may_fail(&self, place: usize) -> bool {
        let (before, after) = self.beside(place);
        let drop = |beside: usize| self.margin[beside] - self.margin[place];
        let most = drop(before).max(drop(after));
        drop(before) >= 0.0 && drop(after) >= 0.0 && most > 0.0 && self.margin[place] <= most
    }

    /// Whether two sides cross between two instants.
    fn cross(&self, from: usize, to: usize) -> bool {
        let opposite = |own: &Vec<f64>| own[from..=to].windows(2).any(|pair| pair[0] * pair[1] < 0.0);
        self.differences.iter().any(opposite)
    }
}

impl Condition {
    /// Truth at all instants of a part of the period along one solution, and the least margin.
    pub fn sampled(&self, field: &Field, state: &[f64], held: &[f64], from: f64, to: f64) -> (f64, f64) {
        // A solution that cannot be followed to the end has nothing throughout.
        let nowhere = (0.0, f64::NEG_INFINITY);
        let Some(samples) = self.samples(field, state, held, (0.0, from, to)) else { return nowhere };
        let Some(least) = samples.least_margin() else {
            let worst = samples.margin.iter().fold(f64::INFINITY, |a, &b| if b.is_nan() { b } else { a.min(b) });
            return (0.0, worst);
        };
        let mut margin = samples.margin[least];
        for place in (0..samples.instants.len()).filter(|&place| samples.may_fail(place)) {
            let (fails, closer) = self.refined(field, held, &samples, place);
            margin = margin.min(closer);
            if fails {
                return (0.0, margin);
            }
        }
        (1.0, margin)
    }

    /// Whether the condition fails near a local minimum of its margin, and the least margin there.
    fn refined(&self, field: &Field, held: &[f64], samples: &Samples, place: usize) -> (bool, f64) {
        let mut closer: Option<Samples> = None;
        let (mut place, mut margin) = (place, samples.margin[place]);
        for _ in 0..REFINEMENTS {
            let around = closer.as_ref().unwrap_or(samples);
            let (before, after) = around.beside(place);
            let part = (around.instants[before], around.instants[before], around.instants[after]);
            let Some(next) = self.samples(field, &around.states[before], held, part) else { break };
            let Some(least) = next.least_margin() else {
                return (true, next.margin.iter().fold(margin, |a, &b| a.min(b)));
            };
            margin = margin.min(next.margin[least]);
            let (before, after) = next.beside(least);
            if margin <= NO_MARGIN && next.cross(before, after) {
                return (true, 0.0);
            }
            if !next.may_fail(least) {
                break;
            }
            place = least;
            closer = Some(next);
        }
        (false, margin)
    }

    /// The condition at evenly spaced instants between two, from a state at an earlier one.
    fn samples(
        &self,
        field: &Field,
        state: &[f64],
        held: &[f64],
        (start, from, to): (f64, f64, f64),
    ) -> Option<Samples> {
        let (own, varying) = held.split_at(field.held().min(held.len()));
        let count = if from < to { SAMPLES } else { 0 };
        let instant = |place: usize| match place {
            SAMPLES => to,
            _ => from + (to - from) * (place as f64 / SAMPLES as f64),
        };
        let instants: Vec<f64> = (0..=count).map(instant).collect();
        let since: Vec<f64> = instants.iter().map(|own| own - start).collect();
        let states = followed(field, state, own, varying, &since)?;
        let batch = states.len();
        let rows: Vec<f64> = (0..state.len()).flat_map(|i| states.iter().map(move |own| own[i])).collect();
        let constants: Vec<f64> = held.iter().flat_map(|&value| std::iter::repeat_n(value, batch)).collect();
        let evaluator = Evaluator::new(&self.watched);
        let mut workspace = Workspace::default();
        let inputs: [&[f64]; 2] = [&rows, &constants];
        if evaluator.run(&mut workspace, &inputs, batch).is_err() || rows.iter().any(|own| own.is_nan()) {
            return None;
        }
        let output = |place: usize| evaluator.output(&workspace, &inputs, place).to_vec();
        let further = (2..self.watched.outputs().len()).flat_map(|place| {
            let rows = output(place);
            rows.chunks(batch).map(<[f64]>::to_vec).collect::<Vec<_>>()
        });
        let differences = further.collect();
        let (truth, margin) = (output(0), output(1));
        Some(Samples { instants, states, truth, margin, differences })
    }
}
