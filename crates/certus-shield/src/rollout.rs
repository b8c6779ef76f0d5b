//! Runs of the model in floating point: many at once, under the network or under a program.

use certus_numerics::Random;

use crate::network::{Network, Scratch};
use crate::plant::{Plant, Policy};
use crate::polynomial::Fast;

/// Steps that a candidate must survive in simulation before a proof is tried.
pub const TRIAL_STEPS: usize = 1000;

/// A plant laid out for many evaluations.
pub struct Simulator<'p> {
    plant: &'p Plant,
    next: Vec<Fast>,
    pieces: Vec<Vec<Fast>>,
}

/// What a run under a program showed.
#[derive(Clone, Debug, Default)]
pub struct Shown {
    /// Whether every state was safe and every action within its limits.
    pub good: bool,
    /// How many steps were made before something was not.
    pub steps: usize,
    /// The largest magnitude of each state.
    pub reach: Vec<f64>,
}

impl<'p> Simulator<'p> {
    /// For a plant.
    pub fn new(plant: &'p Plant) -> Simulator<'p> {
        Simulator {
            plant,
            next: plant.next.iter().map(Fast::new).collect(),
            pieces: plant.pieces.iter().map(|piece| piece.iter().map(Fast::new).collect()).collect(),
        }
    }

    /// Whether a state is unsafe.
    pub fn is_unsafe(&self, state: &[f64]) -> bool {
        self.pieces.iter().any(|piece| piece.iter().all(|constraint| constraint.value(state) > 0.0))
    }

    /// The next state for a point of states, actions and choices.
    pub fn step(&self, point: &[f64]) -> Vec<f64> {
        self.next.iter().map(|next| next.value(point)).collect()
    }

    /// A run under a program from a state, with choices at the ends of their ranges or between.
    pub fn run(&self, policy: &[Fast], start: &[f64], steps: usize, random: &mut Random) -> Shown {
        let mut state = start.to_vec();
        let mut shown = Shown { good: true, steps: 0, reach: vec![0.0; state.len()] };
        for _ in 0..steps {
            if self.is_unsafe(&state) || state.iter().any(|x| !x.is_finite()) {
                shown.good = false;
                return shown;
            }
            shown.reach.iter_mut().zip(&state).for_each(|(reach, x)| *reach = reach.max(x.abs()));
            let mut point = state.clone();
            for (action, &(lower, upper)) in policy.iter().zip(&self.plant.limits) {
                let value = action.value(&state);
                if value < lower || value > upper {
                    shown.good = false;
                    return shown;
                }
                point.push(value);
            }
            point.extend(self.plant.choices.iter().map(|&(lower, upper)| match random.bits() % 3 {
                0 => lower,
                1 => upper,
                _ => random.between(lower, upper),
            }));
            state = self.step(&point);
            shown.steps += 1;
        }
        shown
    }

    /// Whether runs under a program from corners and points of a box are good.
    pub fn survives(&self, policy: &Policy, region: &[(f64, f64)], steps: usize, seed: u64) -> Shown {
        let policy: Vec<Fast> = policy.iter().map(Fast::new).collect();
        let mut all = Shown { good: true, steps, reach: vec![0.0; region.len()] };
        for run in 0..40u64 {
            let mut random = Random::new(seed, run);
            let start: Vec<f64> = region
                .iter()
                .map(|&(lower, upper)| match run {
                    0..24 => {
                        if random.bits().is_multiple_of(2) {
                            lower
                        } else {
                            upper
                        }
                    }
                    _ => random.between(lower, upper),
                })
                .collect();
            let shown = self.run(&policy, &start, steps, &mut random);
            all.reach.iter_mut().zip(&shown.reach).for_each(|(all, x)| *all = all.max(*x));
            if !shown.good {
                return Shown { good: false, steps: shown.steps, ..all };
            }
        }
        all
    }

    /// States that the network visits, with its actions there, as long as they are safe.
    pub fn visited(&self, network: &Network, runs: usize, steps: usize, seed: u64) -> (Vec<Vec<f64>>, Vec<Vec<f64>>) {
        let states = self.plant.states();
        let mut random = Random::new(seed, 1 << 40);
        let mut current: Vec<Vec<f64>> = (0..runs)
            .map(|_| self.plant.init.iter().map(|&(lower, upper)| random.between(lower, upper)).collect())
            .collect();
        let (mut points, mut actions) = (Vec::new(), Vec::new());
        let mut scratch = Scratch::default();
        for _ in 0..steps {
            current.retain(|state| !self.is_unsafe(state) && state.iter().all(|x| x.is_finite()));
            let batch = current.len();
            if batch == 0 {
                break;
            }
            let flat: Vec<f64> = (0..states).flat_map(|i| current.iter().map(move |state| state[i])).collect();
            let Ok(answers) = network.act(&flat, batch, &mut scratch) else { break };
            for (b, state) in current.iter_mut().enumerate() {
                let action: Vec<f64> = (0..self.plant.actions()).map(|i| answers[i * batch + b]).collect();
                let mut point: Vec<f64> = state.iter().chain(&action).copied().collect();
                point.extend(self.plant.choices.iter().map(|&(lower, upper)| random.between(lower, upper)));
                let next = self.step(&point);
                points.push(std::mem::replace(state, next));
                actions.push(action);
            }
        }
        (points, actions)
    }
}
