//! Plain evaluation of probabilities and steps at points: no proof, but a guide for splits, templates and searches.

use certus_graph::eval::Workspace;

use super::{Abstraction, Choice};

/// What a behaviour does in a state.
pub struct Behaved {
    /// Whether it has a choice that is allowed.
    pub is_allowed: bool,
    /// The successor for each outcome of the draw.
    pub next: Vec<Vec<f64>>,
    /// Whether the goal is reached.
    pub goal: bool,
    /// Whether the run may go on.
    pub stay: bool,
    /// The probability of each outcome.
    pub probabilities: Vec<f64>,
}

impl Abstraction {
    /// The probability of each move at points over all variables, as plain numbers: for each point one list.
    pub fn sampled_probabilities(&self, points: &[Vec<f64>]) -> Vec<Vec<f64>> {
        let count = points.len();
        let mut workspace = Workspace::default();
        let table = element_major(points);
        let scores: &[f64] = match &self.evaluator {
            Some(evaluator) => match evaluator.run(&mut workspace, &[&table], count) {
                Ok(()) => evaluator.output(&workspace, &[&table], 0),
                Err(_) => &[],
            },
            None => &[],
        };
        (0..count)
            .map(|point| {
                let labels: Vec<Vec<f64>> = self
                    .choices
                    .iter()
                    .map(|choice| match choice {
                        Choice::Chance(probabilities) => probabilities.clone(),
                        Choice::Softmax(start, labels) | Choice::Argmax(start, labels) => {
                            let own: Vec<f64> = (0..*labels).map(|i| scores[(start + i) * count + point]).collect();
                            let largest = own.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                            if matches!(choice, Choice::Argmax(..)) {
                                let first = own.iter().position(|&score| score == largest);
                                return (0..*labels).map(|i| f64::from(u8::from(Some(i) == first))).collect();
                            }
                            let powers: Vec<f64> = own.iter().map(|score| (score - largest).exp()).collect();
                            let sum: f64 = powers.iter().sum();
                            powers.iter().map(|power| power / sum).collect()
                        }
                    })
                    .collect();
                let of = |own: &Vec<usize>| own.iter().zip(&labels).map(|(&label, choice)| choice[label]).product();
                self.moves.iter().map(of).collect()
            })
            .collect()
    }

    /// For points over all variables: the next state of each move, whether the goal holds, and whether what must hold before it does.
    pub fn sampled_steps(&self, points: &[Vec<f64>]) -> Vec<(Vec<Vec<f64>>, bool, bool)> {
        let count = points.len();
        let table = element_major(points);
        let mut workspace = Workspace::default();
        if self.plant.run(&mut workspace, &[&table], count).is_err() {
            return Vec::new();
        }
        let outputs: Vec<&[f64]> =
            (0..self.moves.len() + 2).map(|output| self.plant.output(&workspace, &[&table], output)).collect();
        (0..count)
            .map(|point| {
                let next = (0..self.moves.len())
                    .map(|number| (0..self.states).map(|i| outputs[number][i * count + point]).collect());
                let holds = |output: usize| outputs[output][point] != 0.0;
                (next.collect(), holds(self.moves.len()), holds(self.moves.len() + 1))
            })
            .collect()
    }

    /// What a behaviour does in some states: for each whether a choice is allowed, and else what the middles of the inputs do; the successors,
    /// whether the goal holds and whether the run may go on, and the probabilities.
    pub fn behaved(&self, states: &[Vec<f64>], behaviour: usize) -> impl Iterator<Item = Behaved> + use<> {
        let chosen = self.played(states, behaviour);
        let allowed: Vec<bool> = chosen.iter().map(Option::is_some).collect();
        let chosen = chosen.into_iter().zip(states);
        let points: Vec<Vec<f64>> =
            chosen.map(|(own, state)| own.unwrap_or_else(|| self.with_middles(state))).collect();
        let steps = self.sampled_steps(&points).into_iter().zip(self.sampled_probabilities(&points));
        allowed.into_iter().zip(steps).map(|(is_allowed, ((next, goal, stay), probabilities))| Behaved {
            is_allowed,
            next,
            goal,
            stay,
            probabilities,
        })
    }

    /// A state with the environment's choices and free parameters at the middle of their ranges.
    pub fn with_middles(&self, state: &[f64]) -> Vec<f64> {
        let middles = (self.states..self.range.0.len()).map(|i| (self.range.0[i] + self.range.1[i]) / 2.0);
        state.iter().copied().chain(middles).collect()
    }
}

pub(super) fn element_major(points: &[Vec<f64>]) -> Vec<f64> {
    let elements = points.first().map_or(0, Vec::len);
    (0..elements).flat_map(|i| points.iter().map(move |point| point[i])).collect()
}
