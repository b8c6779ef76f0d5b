//! Simulated start states: the share of independent runs that reaches the goal, and a confidence bound from it.
//!
//! The bound is H. Chernoff's (1952) in its relative-entropy form. Runs from one state share their beginnings: those in the same state are
//! stepped as one, with their number. Each still draws its own random choice, so the count is that of independent runs, at the price of the
//! states that they visit. This is a statistical check of the bounds (`examples/sampled_check.rs`), no part of a proof.

use certus_numerics::Random;

use crate::abstraction::{Abstraction, Behaved};

/// States that are evaluated together.
const AT_ONCE: usize = 4096;

/// How many of so many runs from a state reach the goal within so many steps. Inputs of the environment are at the middle of their
/// ranges where `assume` allows that, and are another allowed choice elsewhere; a run ends where none is found.
pub fn simulated(abstraction: &Abstraction, start: &[f64], steps: usize, runs: usize, random: &mut Random) -> usize {
    let mut reached = 0;
    let mut layer: Vec<(Vec<f64>, usize)> = vec![(start.to_vec(), runs)];
    for step in 0..=steps {
        let mut after: Vec<(Vec<f64>, usize)> = Vec::new();
        for chunk in layer.chunks(AT_ONCE) {
            let states: Vec<Vec<f64>> = chunk.iter().map(|(state, _)| state.clone()).collect();
            for ((_, runs), own) in chunk.iter().zip(abstraction.behaved(&states, 0)) {
                let Behaved { is_allowed, next, goal, stay, probabilities: p } = own;
                if goal || (abstraction.weak() && stay && step == steps) {
                    reached += runs;
                } else if stay && step < steps && is_allowed {
                    let mut counts = vec![0usize; p.len()];
                    (0..*runs).for_each(|_| counts[Random::pick(p.iter().copied(), random.unit())] += 1);
                    let first = after.len();
                    for (state, count) in next.into_iter().zip(counts).filter(|(_, count)| *count > 0) {
                        match after[first..].iter_mut().find(|(other, _)| *other == state) {
                            Some((_, sum)) => *sum += count,
                            None => after.push((state, count)),
                        }
                    }
                }
            }
        }
        layer = after;
    }
    reached
}

/// A number that the probability behind independent runs is no less than, unless something happened that has at most probability
/// `risk`: Chernoff's bound in its relative-entropy form, runs · KL(share ‖ p) = ln(1 / risk).
pub fn confident_lower(reached: usize, runs: usize, risk: f64) -> f64 {
    if reached == 0 || runs == 0 {
        return 0.0;
    }
    let share = reached as f64 / runs as f64;
    let entropy = |p: f64| {
        let missed = if share < 1.0 { (1.0 - share) * ((1.0 - share) / (1.0 - p)).ln() } else { 0.0 };
        share * (share / p).ln() + missed
    };
    let enough = (1.0 / risk).ln() / runs as f64;
    let (mut below, mut above) = (0.0, share);
    for _ in 0..100 {
        let middle = (below + above) / 2.0;
        *(if middle <= 0.0 || entropy(middle) >= enough { &mut below } else { &mut above }) = middle;
    }
    below
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The chance of so many successes or more.
    fn tail(reached: usize, runs: usize, p: f64) -> f64 {
        let mut term = (1.0 - p).powi(runs as i32);
        let mut below = 0.0;
        for successes in 0..reached {
            below += term;
            term *= (runs - successes) as f64 / (successes + 1) as f64 * p / (1.0 - p);
        }
        1.0 - below
    }

    #[test]
    fn a_confident_bound_is_rarely_wrong_and_not_idle() {
        for (reached, runs) in [(1, 10), (5, 10), (10, 10), (3, 400), (200, 400), (17, 1000)] {
            let bound = confident_lower(reached, runs, 1e-3);
            let wrong = tail(reached, runs, bound);
            assert!(wrong <= 1e-3 * (1.0 + 1e-9) && wrong > 1e-5, "{reached} of {runs}: {bound}, wrong with {wrong}");
        }
        assert_eq!(confident_lower(0, 100, 1e-3), 0.0);
    }
}
