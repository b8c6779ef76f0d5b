//! The Bellman operator of an interval MDP.
//!
//! R. Givan, S. Leach and T. Dean, 'Bounded-parameter Markov decision processes', Artificial Intelligence 122 (2000); in the more general
//! setting of uncertain transition matrices, A. Nilim and L. El Ghaoui, 'Robust control of Markov decision processes with uncertain
//! transition matrices', Operations Research 53 (2005).
//!
//! *Idea.* Nature's best distribution within a choice's intervals is greedy: every transition gets its lower end, and the rest goes to the
//! targets with the largest (or smallest) values first. The scheduler then takes the best choice. Transitions are kept in the order of
//! their targets' values from one iteration to the next, where they are nearly sorted already, so an insertion sort is all it takes.
//!
//! *Rounding.* All terms are non-negative. With n transitions the computed value of a choice differs from the exact one by at most a share
//! γₙ of itself plus γₙ (what `1 − Σ lower` may be off by, times a value of at most one). Callers add this error ([`step_error`]).

use super::Imdp;

/// Who wants what.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Objective {
    /// The smallest value.
    Min,
    /// The largest value.
    Max,
}

/// Both players, the scheduler first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Players {
    /// Who picks choices.
    pub scheduler: Objective,
    /// Who picks probabilities within the intervals.
    pub nature: Objective,
}

impl Players {
    /// All four combinations.
    pub const ALL: [Players; 4] = [
        Players { scheduler: Objective::Max, nature: Objective::Max },
        Players { scheduler: Objective::Max, nature: Objective::Min },
        Players { scheduler: Objective::Min, nature: Objective::Max },
        Players { scheduler: Objective::Min, nature: Objective::Min },
    ];
}

impl Objective {
    /// What no value is worse than.
    pub(crate) fn worst(self) -> f64 {
        match self {
            Objective::Min => f64::INFINITY,
            Objective::Max => f64::NEG_INFINITY,
        }
    }
}

/// A transition on its way through iterations.
#[derive(Clone, Copy, Debug)]
struct Edge {
    target: u32,
    lower: f64,
    room: f64,
}

/// Some states' transitions, in an order that changes.
pub(crate) struct Block {
    /// First state.
    pub(crate) first: usize,
    /// For each state its first choice within the block.
    choices: Vec<u32>,
    /// For each choice its first edge, and what is left beyond the lower ends.
    starts: Vec<u32>,
    rest: Vec<f64>,
    edges: Vec<Edge>,
}

/// What rounding may change in one step: a share of the value, and a number.
pub(crate) fn step_error(model: &Imdp) -> f64 {
    let longest = (0..model.choice_count()).map(|choice| model.places(choice).len()).max().unwrap_or(0);
    (2.0 * longest as f64 + 8.0) * f64::EPSILON
}

impl Block {
    /// The transitions of some states.
    pub(crate) fn new(model: &Imdp, states: std::ops::Range<usize>) -> Block {
        let mut block =
            Block { first: states.start, choices: Vec::new(), starts: Vec::new(), rest: Vec::new(), edges: Vec::new() };
        for state in states {
            block.choices.push(block.starts.len() as u32);
            for choice in model.choices(state) {
                block.starts.push(block.edges.len() as u32);
                let mut sum = 0.0;
                for (target, lower, upper) in model.transitions(choice) {
                    debug_assert!(
                        0.0 <= lower && lower <= upper,
                        "[{lower}, {upper}] is not an interval of probabilities"
                    );
                    sum += lower;
                    block.edges.push(Edge { target: target as u32, lower, room: upper - lower });
                }
                debug_assert!(sum <= 1.0 + 1e-6, "the lower ends of a choice sum to {sum}");
                block.rest.push((1.0 - sum).max(0.0));
            }
        }
        block.choices.push(block.starts.len() as u32);
        block.starts.push(block.edges.len() as u32);
        block
    }

    /// How many states.
    pub(crate) fn states(&self) -> usize {
        self.choices.len() - 1
    }

    /// The value of a choice of the block, and its edges in nature's order.
    fn choice_value(&mut self, choice: usize, values: &[f64], nature: Objective) -> f64 {
        let edges = &mut self.edges[self.starts[choice] as usize..self.starts[choice + 1] as usize];
        match edges {
            [] => return 0.0,
            [only] => return values[only.target as usize],
            _ => {}
        }
        let rest = self.rest[choice];
        if rest > 0.0 {
            let value = |edge: &Edge| values[edge.target as usize];
            for i in 1..edges.len() {
                let own = edges[i];
                let v = value(&own);
                let mut j = i;
                while j > 0 {
                    let other = value(&edges[j - 1]);
                    let stays = if nature == Objective::Max { other >= v } else { other <= v };
                    if stays {
                        break;
                    }
                    edges[j] = edges[j - 1];
                    j -= 1;
                }
                edges[j] = own;
            }
        }
        let mut left = rest;
        let mut sum = 0.0;
        for edge in edges.iter() {
            let taken = left.min(edge.room);
            left -= taken;
            sum += (edge.lower + taken) * values[edge.target as usize];
        }
        sum
    }

    /// The value of a state of the block (by its place), and its best choice within the state.
    pub(crate) fn state_value(&mut self, state: usize, values: &[f64], players: Players) -> (f64, usize) {
        let choices = self.choices[state] as usize..self.choices[state + 1] as usize;
        let mut best = (players.scheduler.worst(), 0);
        for (place, choice) in choices.enumerate() {
            let value = self.choice_value(choice, values, players.nature);
            let better = match players.scheduler {
                Objective::Max => value > best.0,
                Objective::Min => value < best.0,
            };
            if better {
                best = (value, place);
            }
        }
        best
    }

    /// The value of one choice of a state of the block, both by their places.
    pub(crate) fn one_choice(&mut self, state: usize, place: usize, values: &[f64], nature: Objective) -> f64 {
        self.choice_value(self.choices[state] as usize + place, values, nature)
    }
}

/// Blocks for threads: states in equal shares of transitions.
pub(crate) fn blocks(model: &Imdp, threads: usize) -> Vec<Block> {
    let states = model.states();
    let share = model.transition_count() / threads.max(1) + 1;
    let mut cuts = vec![0];
    let mut seen = 0;
    for state in 0..states {
        seen += model.choices(state).map(|choice| model.places(choice).len()).sum::<usize>();
        if seen >= share * cuts.len() && state + 1 < states {
            cuts.push(state + 1);
        }
    }
    cuts.push(states);
    cuts.windows(2).filter(|pair| pair[0] < pair[1]).map(|pair| Block::new(model, pair[0]..pair[1])).collect()
}
