//! Policy extraction on a grid: one action for each cell.
//!
//! Algorithm 1 of Jin, Wang and Zhang, "Efficient LTL Model Checking of Deep Reinforcement Learning Systems using Policy Extraction", SEKE 2022; their *decision-making units* are our cells. Some
//! states of a cell are sampled, and the network is evaluated in each. A numeric action is the mean of the outputs. A label is the most frequent one, if a one-sided binomial test against the second
//! most frequent is significant; otherwise more states are sampled.
//!
//! Departures: the number of rounds is bounded, since no sample settles a cell that two labels share evenly; what is sampled depends on the seed and the cell alone, so a policy is the same in
//! whatever order its cells are visited, and need not be stored to be checked. What is proved of the policy is exact: the sampled action *is* the policy, so no statistical argument enters
//! the proof.

use std::sync::Arc;

use certus_graph::eval::{Evaluator, Workspace};
use certus_graph::{Graph, GraphError};
use certus_lang::system::{System, Variable};
use certus_numerics::Random;

use crate::grid::{Cell, Grid};
use crate::transition_relation::TransitionRelation;

/// Options of an extraction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ExtractOptions {
    /// How many states of a cell are sampled per round.
    pub samples: usize,
    /// The significance level of the binomial test for a label.
    pub significance: f64,
    /// The seed of the random numbers.
    pub seed: u64,
}

impl Default for ExtractOptions {
    fn default() -> Self {
        ExtractOptions { samples: 5, significance: 0.2, seed: 0 }
    }
}

/// The most rounds of sampling.
const MOST_ROUNDS: usize = 8;

/// The action of an extracted policy in a cell.
#[derive(Clone, Debug, PartialEq)]
pub struct ExtractedAction {
    /// The policies' outputs.
    pub outputs: Vec<f64>,
    /// The label of each argmax action.
    pub labels: Vec<usize>,
    /// How many states were sampled.
    pub asked: usize,
}

/// Extracts the actions of cells from a network.
#[derive(Clone)]
pub struct Extraction {
    policy: Arc<Evaluator<f64>>,
    options: ExtractOptions,
    /// Ranges of the environment's choices, which a policy may see.
    inputs: Vec<(f64, f64)>,
    /// Sizes of the one-hot inputs after those.
    one_hots: Vec<usize>,
    outputs: usize,
    /// How many labels each action has.
    labels: Vec<usize>,
}

/// The p-value of the one-sided binomial test: the probability that a fair coin shows at least `first` heads in `first + second` throws.
fn p_value(first: usize, second: usize) -> f64 {
    let throws = first + second;
    let mut probability = 0.5f64.powi(throws as i32);
    let mut sum = 0.0;
    for heads in (0..=throws).rev() {
        // From the term of all heads downwards: C(n, k − 1) = C(n, k) · k / (n − k + 1).
        if heads < throws {
            probability *= (heads + 1) as f64 / (throws - heads) as f64;
        }
        if heads < first {
            break;
        }
        sum += probability;
    }
    sum
}

fn hashed(seed: u64, words: impl Iterator<Item = u64>) -> u64 {
    words.fold(seed, |hash, word| Random::new(hash, word).bits())
}

impl Extraction {
    /// Prepares a system's policy.
    pub fn new(
        system: &System,
        relation: &TransitionRelation,
        options: ExtractOptions,
    ) -> Result<Extraction, GraphError> {
        let graph: Graph = certus_graph::canonical::canonicalize(&relation.policy)?;
        let ends = |variable: &Variable| -> Vec<(f64, f64)> {
            variable.lower.iter().copied().zip(variable.upper.iter().copied()).collect()
        };
        let own = system.states.len() + system.inputs.len();
        Ok(Extraction {
            options: ExtractOptions { samples: options.samples.max(1), ..options },
            inputs: system.inputs.iter().flat_map(ends).collect(),
            one_hots: graph.inputs()[own..].iter().map(|port| graph.elements(port.node)).collect(),
            outputs: relation.outputs,
            labels: relation.argmax.iter().map(|&(choice, _)| relation.labels[choice]).collect(),
            policy: Arc::new(Evaluator::new(&graph)),
        })
    }

    /// The policy's graph, in canonical form.
    pub(crate) fn graph(&self) -> &Graph {
        self.policy.graph()
    }

    /// How many states of a cell are sampled per round.
    pub fn samples(&self) -> usize {
        self.options.samples
    }

    /// The actions of some cells of the requested widths.
    pub fn actions(&self, grid: &Grid, cells: &[Cell]) -> Result<Vec<ExtractedAction>, GraphError> {
        let mut workspace = Workspace::default();
        let mut streams: Vec<Random> = cells.iter().map(|cell| self.stream(grid, cell)).collect();
        let mut tallies: Vec<Vec<Vec<usize>>> =
            cells.iter().map(|_| self.labels.iter().map(|&count| vec![0; count]).collect()).collect();
        let mut sums = vec![vec![0.0; self.outputs]; cells.len()];
        let mut asked = vec![0usize; cells.len()];
        let mut open: Vec<usize> = (0..cells.len()).collect();
        for round in 0..MOST_ROUNDS {
            let answers = self.ask(grid, cells, &open, &mut streams, &mut workspace)?;
            let count = open.len() * self.options.samples;
            for (place, &cell) in open.iter().enumerate() {
                for sample in 0..self.options.samples {
                    let at = place * self.options.samples + sample;
                    if round == 0 {
                        let own = sums[cell].iter_mut().enumerate();
                        own.for_each(|(output, sum)| *sum += answers[output * count + at]);
                    }
                    let mut row = self.outputs;
                    for (&labels, tally) in self.labels.iter().zip(&mut tallies[cell]) {
                        let chosen = (0..labels).find(|label| answers[(row + label) * count + at] != 0.0);
                        tally[chosen.unwrap_or(0)] += 1;
                        row += labels;
                    }
                }
                asked[cell] += self.options.samples;
            }
            open.retain(|&cell| !tallies[cell].iter().all(|tally| self.is_settled(tally)));
            if open.is_empty() {
                break;
            }
        }
        let samples = self.options.samples as f64;
        let given = (0..cells.len()).map(|cell| ExtractedAction {
            outputs: sums[cell].iter().map(|sum| sum / samples).collect(),
            labels: tallies[cell].iter().map(|tally| ranked(tally)[0]).collect(),
            asked: asked[cell],
        });
        Ok(given.collect())
    }

    /// The random stream of a cell.
    fn stream(&self, grid: &Grid, cell: &Cell) -> Random {
        let names = cell.places.iter().zip(&grid.axes).map(|(&place, axis)| axis.requested_index(place));
        Random::new(self.options.seed, hashed(self.options.seed, names))
    }

    /// Draws a state of a cell, and the environment's choices.
    fn draw(&self, grid: &Grid, cell: &Cell, stream: &mut Random, mut told: impl FnMut(usize, f64)) {
        for (axis, own) in grid.axes.iter().enumerate() {
            let first = cell.places[axis];
            let (low, high) = own.inside(own.cut(first), own.cut(first + cell.extent(axis)));
            let value = stream.between(low, high);
            told(axis, if own.integral { value.round() } else { value });
        }
        for (input, &(low, high)) in self.inputs.iter().enumerate() {
            told(grid.axes.len() + input, stream.between(low, high));
        }
    }

    /// The sampled states of a cell, with the environment's choices.
    pub(crate) fn each_state(&self, grid: &Grid, cell: &Cell, state: &mut Vec<f64>, mut told: impl FnMut(&[f64])) {
        let mut stream = self.stream(grid, cell);
        state.resize(grid.axes.len() + self.inputs.len(), 0.0);
        for _ in 0..self.options.samples {
            self.draw(grid, cell, &mut stream, |number, value| state[number] = value);
            for _ in &self.one_hots {
                stream.bits();
            }
            told(state);
        }
    }

    fn is_settled(&self, tally: &[usize]) -> bool {
        let order = ranked(tally);
        order.len() < 2 || p_value(tally[order[0]], tally[order[1]]) <= self.options.significance
    }

    /// Evaluates the network at sampled states of some cells: its outputs, element-major, samples of a cell together.
    fn ask(
        &self,
        grid: &Grid,
        cells: &[Cell],
        open: &[usize],
        streams: &mut [Random],
        workspace: &mut Workspace<f64>,
    ) -> Result<Vec<f64>, GraphError> {
        let samples = self.options.samples;
        let count = open.len() * samples;
        let axes = grid.axes.len();
        let mut numbers = vec![0.0; (axes + self.inputs.len()) * count];
        let mut one_hots: Vec<Vec<f64>> = self.one_hots.iter().map(|&labels| vec![0.0; labels * count]).collect();
        for (place, &cell) in open.iter().enumerate() {
            let stream = &mut streams[cell];
            for at in place * samples..(place + 1) * samples {
                self.draw(grid, &cells[cell], stream, |number, value| numbers[number * count + at] = value);
                for (table, &labels) in one_hots.iter_mut().zip(&self.one_hots) {
                    table[(stream.bits() % labels.max(1) as u64) as usize * count + at] = 1.0;
                }
            }
        }
        // Rows of a variable's elements stand together, so its slice is a slice of the table.
        let mut slices: Vec<&[f64]> = Vec::new();
        let mut row = 0;
        let own = self.policy.graph().inputs().len() - one_hots.len();
        for port in &self.policy.graph().inputs()[..own] {
            let elements = self.policy.graph().elements(port.node);
            slices.push(&numbers[row * count..(row + elements) * count]);
            row += elements;
        }
        slices.extend(one_hots.iter().map(Vec::as_slice));
        self.policy.run(workspace, &slices, count)?;
        let outputs = self.policy.graph().outputs().len();
        Ok((0..outputs).flat_map(|output| self.policy.output(workspace, &slices, output).iter().copied()).collect())
    }
}

/// Labels, the most frequent first; the first of equals.
fn ranked(tally: &[usize]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..tally.len()).collect();
    order.sort_by_key(|&label| (std::cmp::Reverse(tally[label]), label));
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn four_of_five_are_no_accident_and_three_are() {
        assert!((p_value(5, 0) - 0.03125).abs() < 1e-12);
        assert!((p_value(4, 1) - 0.1875).abs() < 1e-12);
        assert!((p_value(3, 2) - 0.5).abs() < 1e-12);
        assert!((p_value(0, 0) - 1.0).abs() < 1e-12);
        assert!((p_value(7, 3) - 0.171875).abs() < 1e-12);
    }

    #[test]
    fn the_first_of_equals_is_taken() {
        assert_eq!(ranked(&[2, 3, 3]), [1, 2, 0]);
    }
}
