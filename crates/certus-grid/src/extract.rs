//! Extraction of a policy on a grid (Jin, Wang, Zhang, Algorithm 1): one action for each unit.
//!
//! Some states of a unit are drawn, and the network is asked in each. A number is the mean of the answers. A label is the most
//! frequent one, if a binomial test against the second most frequent says that this is no accident; otherwise more states are
//! drawn. What is drawn depends on the seed and the unit alone, so a policy is the same whatever the order in which its units are asked for,
//! and whoever asks.

use std::sync::Arc;

use certus_graph::eval::{Evaluator, Workspace};
use certus_graph::{Graph, GraphError};
use certus_lang::system::{System, Variable};
use certus_numerics::Random;

use crate::lattice::{Lattice, Unit};
use crate::moves::Moves;

/// How a policy is extracted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ExtractOptions {
    /// How many states of a unit are drawn at a time.
    pub samples: usize,
    /// A label is taken when an accident is at most this likely.
    pub significance: f64,
    /// Names the random numbers.
    pub seed: u64,
}

impl Default for ExtractOptions {
    fn default() -> Self {
        ExtractOptions { samples: 5, significance: 0.2, seed: 0 }
    }
}

/// So often states are drawn at most: where two labels share a unit evenly, no number of states settles it.
const MOST_ROUNDS: usize = 8;

/// What an extracted policy does in a unit.
#[derive(Clone, Debug, PartialEq)]
pub struct Given {
    /// The policies' outputs.
    pub outputs: Vec<f64>,
    /// The label of each action by the largest score.
    pub labels: Vec<usize>,
    /// How many states were asked.
    pub asked: usize,
}

/// A network that is asked for the actions of units.
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

/// The chance that a fair coin shows heads at least `first` times in `first + second` throws.
fn accident(first: usize, second: usize) -> f64 {
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
    pub fn new(system: &System, moves: &Moves, options: ExtractOptions) -> Result<Extraction, GraphError> {
        let graph: Graph = certus_graph::canonical::canonicalize(&moves.policy)?;
        let ends = |variable: &Variable| -> Vec<(f64, f64)> {
            variable.lower.iter().copied().zip(variable.upper.iter().copied()).collect()
        };
        let own = system.states.len() + system.inputs.len();
        Ok(Extraction {
            options: ExtractOptions { samples: options.samples.max(1), ..options },
            inputs: system.inputs.iter().flat_map(ends).collect(),
            one_hots: graph.inputs()[own..].iter().map(|port| graph.elements(port.node)).collect(),
            outputs: moves.outputs,
            labels: moves.largest.iter().map(|&(choice, _)| moves.labels[choice]).collect(),
            policy: Arc::new(Evaluator::new(&graph)),
        })
    }

    /// What is asked, in its canonical form.
    pub(crate) fn graph(&self) -> &Graph {
        self.policy.graph()
    }

    /// How many states of a unit are asked at a time.
    pub fn samples(&self) -> usize {
        self.options.samples
    }

    /// What the policy does in some units of the widths that were asked for.
    pub fn actions(&self, lattice: &Lattice, units: &[Unit]) -> Result<Vec<Given>, GraphError> {
        let mut workspace = Workspace::default();
        let mut streams: Vec<Random> = units.iter().map(|unit| self.stream(lattice, unit)).collect();
        let mut tallies: Vec<Vec<Vec<usize>>> =
            units.iter().map(|_| self.labels.iter().map(|&count| vec![0; count]).collect()).collect();
        let mut sums = vec![vec![0.0; self.outputs]; units.len()];
        let mut asked = vec![0usize; units.len()];
        let mut open: Vec<usize> = (0..units.len()).collect();
        for round in 0..MOST_ROUNDS {
            let answers = self.ask(lattice, units, &open, &mut streams, &mut workspace)?;
            let count = open.len() * self.options.samples;
            for (place, &unit) in open.iter().enumerate() {
                for sample in 0..self.options.samples {
                    let at = place * self.options.samples + sample;
                    if round == 0 {
                        let own = sums[unit].iter_mut().enumerate();
                        own.for_each(|(output, sum)| *sum += answers[output * count + at]);
                    }
                    let mut row = self.outputs;
                    for (&labels, tally) in self.labels.iter().zip(&mut tallies[unit]) {
                        let chosen = (0..labels).find(|label| answers[(row + label) * count + at] != 0.0);
                        tally[chosen.unwrap_or(0)] += 1;
                        row += labels;
                    }
                }
                asked[unit] += self.options.samples;
            }
            open.retain(|&unit| !tallies[unit].iter().all(|tally| self.is_settled(tally)));
            if open.is_empty() {
                break;
            }
        }
        let samples = self.options.samples as f64;
        let given = (0..units.len()).map(|unit| Given {
            outputs: sums[unit].iter().map(|sum| sum / samples).collect(),
            labels: tallies[unit].iter().map(|tally| ranked(tally)[0]).collect(),
            asked: asked[unit],
        });
        Ok(given.collect())
    }

    /// The random numbers of a unit.
    fn stream(&self, lattice: &Lattice, unit: &Unit) -> Random {
        let names = unit.places.iter().zip(&lattice.axes).map(|(&place, axis)| axis.own_name(place));
        Random::new(self.options.seed, hashed(self.options.seed, names))
    }

    /// Draws a state of a unit, and the environment's choices.
    fn draw(&self, lattice: &Lattice, unit: &Unit, stream: &mut Random, mut told: impl FnMut(usize, f64)) {
        for (axis, own) in lattice.axes.iter().enumerate() {
            let first = unit.places[axis];
            let (low, high) = (own.cut(first), own.cut(first + unit.extent(axis)));
            told(axis, stream.between(low.max(own.lower), high.min(own.upper)));
        }
        for (input, &(low, high)) in self.inputs.iter().enumerate() {
            told(lattice.axes.len() + input, stream.between(low, high));
        }
    }

    /// The states, with the environment's choices, in which the network is asked for the numbers of a unit.
    pub(crate) fn each_state(
        &self,
        lattice: &Lattice,
        unit: &Unit,
        state: &mut Vec<f64>,
        mut told: impl FnMut(&[f64]),
    ) {
        let mut stream = self.stream(lattice, unit);
        state.resize(lattice.axes.len() + self.inputs.len(), 0.0);
        for _ in 0..self.options.samples {
            self.draw(lattice, unit, &mut stream, |number, value| state[number] = value);
            for _ in &self.one_hots {
                stream.bits();
            }
            told(state);
        }
    }

    fn is_settled(&self, tally: &[usize]) -> bool {
        let order = ranked(tally);
        order.len() < 2 || accident(tally[order[0]], tally[order[1]]) <= self.options.significance
    }

    /// Asks the network in states of some units: its outputs, element-major, samples of a unit together.
    fn ask(
        &self,
        lattice: &Lattice,
        units: &[Unit],
        open: &[usize],
        streams: &mut [Random],
        workspace: &mut Workspace<f64>,
    ) -> Result<Vec<f64>, GraphError> {
        let samples = self.options.samples;
        let count = open.len() * samples;
        let axes = lattice.axes.len();
        let mut numbers = vec![0.0; (axes + self.inputs.len()) * count];
        let mut one_hots: Vec<Vec<f64>> = self.one_hots.iter().map(|&labels| vec![0.0; labels * count]).collect();
        for (place, &unit) in open.iter().enumerate() {
            let stream = &mut streams[unit];
            for at in place * samples..(place + 1) * samples {
                self.draw(lattice, &units[unit], stream, |number, value| numbers[number * count + at] = value);
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
        assert!((accident(5, 0) - 0.03125).abs() < 1e-12);
        assert!((accident(4, 1) - 0.1875).abs() < 1e-12);
        assert!((accident(3, 2) - 0.5).abs() < 1e-12);
        assert!((accident(0, 0) - 1.0).abs() < 1e-12);
        assert!((accident(7, 3) - 0.171875).abs() < 1e-12);
    }

    #[test]
    fn the_first_of_equals_is_taken() {
        assert_eq!(ranked(&[2, 3, 3]), [1, 2, 0]);
    }
}
