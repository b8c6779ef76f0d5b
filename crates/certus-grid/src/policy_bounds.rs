//! Bounds of an extracted policy over boxes that are wider than its own cells.
//!
//! Coarse-to-fine refinement begins with cells wider than those that the policy was extracted on. The action in a cell of the policy is the mean of the network's outputs at states of that cell, or one
//! of the labels that it chose there. So over a wide box the action at a state is the network's at that state, up to what the network changes within one cell of the policy: the affine
//! form of the network over the box, with an error of the slopes times the share of the box that a cell is. The rounding of the evaluation comes on top (`rounding_error.rs`), since the outputs
//! were computed in doubles.

use certus_graph::{GraphError, Interval};
use certus_lang::system::System;
use certus_solver::{AffineForms, OutputForms, ReducedNetwork, Symbols, middle};

use crate::expand::{fitting, widest_node};
use crate::extract::{ExtractedAction, Extraction};
use crate::grid::Grid;
use crate::rounding_error::RoundingError;
use crate::transition_relation::TransitionRelation;

/// Bounds of an extracted policy over wide boxes.
pub struct PolicyBounds {
    policy: AffineForms,
    /// How many numbers the policies' outputs have.
    outputs: usize,
    /// How far an answer can be from the network's real one.
    rounding: Vec<f64>,
    /// How far differences of scores can be.
    pub(crate) scores: f64,
    /// States and environment's choices.
    numbers: usize,
    /// What the mean of some numbers rounds, as a share of the largest.
    mean: f64,
    /// How many boxes are bounded at once.
    at_once: usize,
}

/// Room for the roundings of a few operations on widths and errors.
const ROOM: f64 = 1.0 + 1e-9;

impl PolicyBounds {
    /// Prepares a policy.
    pub fn new(
        system: &System,
        relation: &TransitionRelation,
        extraction: &Extraction,
    ) -> Result<PolicyBounds, GraphError> {
        let graph = extraction.graph();
        let variables = system.states.iter().chain(&system.inputs);
        let mut ranges: Vec<Vec<Interval>> = variables
            .map(|own| own.lower.iter().zip(&own.upper).map(|(&low, &high)| Interval::new(low, high)).collect())
            .collect();
        let numbers = ranges.iter().map(Vec::len).sum();
        let labels = graph.inputs()[ranges.len()..].iter();
        let labels = labels.map(|port| vec![Interval::new(0.0, 1.0); graph.elements(port.node)]);
        ranges.extend(labels.collect::<Vec<_>>());
        let slices: Vec<&[Interval]> = ranges.iter().map(Vec::as_slice).collect();
        // Where the rounding is not known, nothing can be concluded over wide boxes.
        let rounding = RoundingError::of(graph, &slices)?.unwrap_or_else(|| {
            let numbers = graph.outputs().iter().map(|port| graph.elements(port.node)).sum();
            RoundingError { outputs: vec![f64::INFINITY; numbers], scores: f64::INFINITY }
        });
        let ends = certus_graph::eval::enclose(graph, &slices)?.concat();
        // The mean of some answers rounds as well.
        let mean = (extraction.samples() as f64 + 32.0) * f64::EPSILON;
        let off = rounding.outputs.iter().zip(&ends).map(|(error, range)| (error + mean * range.magnitude()) * ROOM);
        let policies = graph.keep_outputs(&(0..system.policies.len()).collect::<Vec<_>>());
        Ok(PolicyBounds {
            policy: AffineForms::new(&policies)?,
            outputs: relation.outputs,
            rounding: off.take(relation.outputs).collect(),
            scores: rounding.scores,
            mean,
            at_once: fitting(widest_node(&policies), 1 + numbers),
            numbers,
        })
    }

    /// Whether anything can be concluded over wide boxes.
    pub fn is_known(&self) -> bool {
        self.scores.is_finite() && self.rounding.iter().all(|error| error.is_finite())
    }

    /// The actions in some cells, as forms over the symbols of states and environment's choices. Those that are no wider than a policy's own cells
    /// have their actions given; the ends of the others reach over all of the policy's own cells that they are in.
    pub fn actions(
        &self,
        grid: &Grid,
        keys: &[u64],
        (lower, upper): (&[f64], &[f64]),
        given: &[Option<ExtractedAction>],
    ) -> OutputForms {
        let (count, columns) = (given.len(), 1 + self.numbers);
        let cells = self.outputs * count;
        let mut all = OutputForms {
            lower: vec![0.0; cells],
            upper: vec![0.0; cells],
            symbols: self.numbers,
            forms: vec![0.0; cells * columns],
            errors: vec![0.0; cells],
        };
        for (cell, given) in given.iter().enumerate() {
            for (output, &value) in given.iter().flat_map(|given| given.outputs.iter().enumerate()) {
                let at = output * count + cell;
                (all.lower[at], all.upper[at]) = (value, value);
                all.forms[output * columns * count + cell] = value;
            }
        }
        let wide: Vec<usize> = (0..count).filter(|&cell| given[cell].is_none()).collect();
        if wide.is_empty() || self.outputs == 0 {
            return all;
        }
        let (low, high) = (self.boxes(lower, &wide, count, 0.0), self.boxes(upper, &wide, count, 1.0));
        let found = self.policy.enclose(&low, &high, wide.len(), Symbols::Inputs(self.numbers));
        for (place, &cell) in wide.iter().enumerate() {
            let key = &keys[cell * grid.words()..(cell + 1) * grid.words()];
            let shares: Vec<Option<f64>> = (0..self.numbers)
                .map(|input| {
                    let own = grid.axes.get(input).filter(|own| grid.unpack(key, input).1 < own.coarsening)?;
                    let at = input * wide.len() + place;
                    Some(2.0 * own.requested_width() / (high[at] - low[at]) * ROOM).filter(|&share| share < 1.0)
                })
                .collect();
            for output in 0..self.outputs {
                let (at, from) = (output * count + cell, output * wide.len() + place);
                let form = |column: usize| found.forms[(output * columns + column) * wide.len() + place];
                all.forms[output * columns * count + cell] = form(0);
                let mut error = found.errors[from] + self.rounding[output];
                for (input, share) in shares.iter().enumerate() {
                    let slope = form(1 + input);
                    error += share.unwrap_or(1.0) * slope.abs();
                    if share.is_some() {
                        all.forms[(output * columns + 1 + input) * count + cell] = slope;
                    }
                }
                debug_assert!(error >= 0.0 && found.lower[from] <= found.upper[from]);
                all.errors[at] = error * ROOM;
                // Samples lie in the box themselves, so the network's range needs room for rounding alone.
                let range = Interval::new(found.lower[from], found.upper[from]).widen(self.rounding[output]);
                (all.lower[at], all.upper[at]) = (range.lo, range.hi);
            }
        }
        all
    }

    /// Adds the actions' ends over some blocks to those of the state and the environment's choices; `told` gets for each block its actions' ranges, and their forms: the
    /// middle, the error, then how fast the network's answer changes with each number.
    pub fn bound_blocks(
        &self,
        lower: &mut Vec<f64>,
        upper: &mut Vec<f64>,
        count: usize,
        mut told: impl FnMut(usize, Vec<Interval>, Vec<f64>),
    ) {
        let all: Vec<usize> = (0..count).collect();
        let columns = 1 + self.numbers;
        let mut ends: Vec<Vec<Interval>> = vec![Vec::new(); self.outputs];
        for blocks in all.chunks(self.at_once) {
            let (low, high) = (self.boxes(lower, blocks, count, 0.0), self.boxes(upper, blocks, count, 1.0));
            let found = self.policy.enclose(&low, &high, blocks.len(), Symbols::Inputs(self.numbers));
            for (place, &block) in blocks.iter().enumerate() {
                let (mut actions, mut forms) = (Vec::new(), Vec::new());
                for (output, ends) in ends.iter_mut().enumerate() {
                    let from = output * blocks.len() + place;
                    let range = Interval::new(found.lower[from], found.upper[from]).widen(self.rounding[output]);
                    ends.push(range);
                    actions.push(range);
                    let form = |column: usize| found.forms[(output * columns + column) * blocks.len() + place];
                    let reach: f64 = (0..columns).map(|column| form(column).abs()).sum();
                    // What is computed of a cell is off by a share of the sum of magnitudes.
                    let computed = (columns as f64 * f64::EPSILON + self.mean) * reach;
                    forms.extend([form(0), (found.errors[from] + self.rounding[output] + computed) * ROOM]);
                    forms.extend((0..self.numbers).map(|number| {
                        let at = number * blocks.len() + place;
                        let half = middle(low[at], high[at]).1;
                        if half > 0.0 { form(1 + number) / half } else { 0.0 }
                    }));
                }
                told(block, actions, forms);
            }
        }
        for own in ends {
            lower.extend(own.iter().map(|range| range.lo));
            upper.extend(own.iter().map(|range| range.hi));
        }
    }

    /// What is left of the policy over a box of states and environment's choices, if that is little.
    pub fn reduced(&self, lower: &[f64], upper: &[f64]) -> Option<ReducedNetwork> {
        // Labels that it may see are not a part of the box.
        if self.policy.inputs() > self.numbers { None } else { self.policy.reduced(lower, upper) }
    }

    /// How far the answers of the policy can be from the network's real ones.
    pub fn rounding(&self) -> &[f64] {
        &self.rounding
    }

    /// What the mean of the answers of a cell rounds, as a share of the largest.
    pub fn mean_rounding(&self) -> f64 {
        self.mean
    }

    /// The columns of some cells, with ends of labels after them.
    fn boxes(&self, table: &[f64], cells: &[usize], count: usize, label: f64) -> Vec<f64> {
        let rows = table.chunks_exact(count).take(self.numbers);
        let mut own: Vec<f64> = rows.flat_map(|row| cells.iter().map(move |&cell| row[cell])).collect();
        own.resize(self.policy.inputs() * cells.len(), label);
        own
    }
}
