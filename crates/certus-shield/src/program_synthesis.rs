//! Candidate programs: fitted to the network, improved by random search, or LQRs of the linearisation.
//!
//! A *sketch* is a list of monomials; a program is a linear combination of them for each action. Fitting is least squares on the network's
//! actions. Random search follows Algorithm 1 of H. Zhu, Z. Xiong, S. Magill and S. Jagannathan (PLDI 2019), in the form of H. Mania, A. Guy and
//! B. Recht, 'Simple random search of static policies is competitive for reinforcement learning', NeurIPS 2018: finite differences along
//! random directions, scaled by the spread of the scores.
//!
//! Candidates prove nothing; each is verified.

use std::sync::atomic::{AtomicBool, Ordering};

use certus_audit::shield::Monomial;
use certus_numerics::{Random, parallel};

use crate::linear_algebra::{Matrix, least_squares, solve};
use crate::lqr::regulator;
use crate::network::{Network, Scratch};
use crate::plant::{Plant, Policy};
use crate::polynomial::{Fast, Poly, monomial_value};
use crate::rollout::Simulator;

/// A program fitted to what the network does in the states that it visits, over the monomials of a sketch.
pub fn fitted(sketch: &[Monomial], points: &[Vec<f64>], actions: &[Vec<f64>]) -> Option<Policy> {
    let features: Vec<Vec<f64>> =
        points.iter().map(|x| sketch.iter().map(|m| monomial_value(m, x)).collect()).collect();
    let count = actions.first()?.len();
    (0..count)
        .map(|i| {
            let targets: Vec<f64> = actions.iter().map(|a| a[i]).collect();
            Some(assembled(sketch, &least_squares(&features, &targets)?))
        })
        .collect()
}

fn assembled(sketch: &[Monomial], weights: &[f64]) -> Poly {
    let mut poly = Poly::zero(sketch.first().map_or(0, Vec::len));
    sketch.iter().zip(weights).for_each(|(m, &w)| poly.add(m.clone(), w));
    poly
}

/// A state and actions at which the system rests, near a state; none if there is none.
pub fn equilibrium(plant: &Plant, near: &[f64]) -> Option<(Vec<f64>, Vec<f64>)> {
    let (n, m) = (plant.states(), plant.actions());
    let (mut x, mut a) = (near.to_vec(), vec![0.0; m]);
    for _ in 0..8 {
        let next = plant.step(&x, &a, &plant.middle());
        let residual: Vec<f64> = next.iter().zip(&x).map(|(y, x)| y - x).collect();
        let (sa, sb) = plant.linearised(&x, &a);
        // The smallest change that removes the residual, of actions rather than of states.
        let weight = |j: usize| if j < n { 1e-4 } else { 1.0 };
        let jacobian: Matrix = (0..n)
            .map(|i| {
                let states = (0..n).map(|j| sa[i][j] - f64::from(u8::from(i == j)));
                states.chain(sb[i].iter().copied()).collect()
            })
            .collect();
        let mut normal: Matrix = vec![vec![0.0; n]; n];
        for i in 0..n {
            for j in 0..n {
                normal[i][j] = (0..n + m).map(|k| weight(k) * jacobian[i][k] * jacobian[j][k]).sum();
            }
            normal[i][i] += 1e-16;
        }
        let right: Matrix = residual.iter().map(|r| vec![-r]).collect();
        let multipliers = solve(&normal, &right)?;
        for j in 0..n + m {
            let change: f64 = weight(j) * (0..n).map(|i| jacobian[i][j] * multipliers[i][0]).sum::<f64>();
            if j < n { x[j] += change } else { a[j - n] += change }
        }
    }
    let next = plant.step(&x, &a, &plant.middle());
    let rests = next.iter().zip(&x).all(|(y, x)| (y - x).abs() <= 1e-6 * (1.0 + x.abs()));
    let tidy = |v: f64| if v.abs() < 1e-9 { 0.0 } else { v };
    rests.then(|| (x.into_iter().map(tidy).collect(), a.into_iter().map(tidy).collect()))
}

/// Regulators around an equilibrium, from the one that spares its actions least to the one that does most.
pub fn regulators(plant: &Plant, rest: &(Vec<f64>, Vec<f64>)) -> Vec<Policy> {
    let (x, a) = rest;
    let n = plant.states();
    let (sa, sb) = plant.linearised(x, a);
    let reach = |&(lower, upper): &(f64, f64)| {
        let size = lower.abs().max(upper.abs());
        if size.is_finite() && size > 0.0 { size } else { 1.0 }
    };
    let q: Vec<f64> = plant.domain.iter().map(|range| reach(range).powi(-2)).collect();
    let mut all = Vec::new();
    for weight in [10.0, 1.0, 100.0, 0.1, 1000.0, 1e4, 0.001, 1e6] {
        let r: Vec<f64> = plant.limits.iter().map(|limits| weight * reach(limits).powi(-2)).collect();
        let Some(gain) = regulator(&sa, &sb, &q, &r) else { continue };
        let policy = gain.iter().zip(a).map(|(row, &a)| {
            let offset = a - row.iter().zip(x).map(|(k, x)| k * x).sum::<f64>();
            let mut poly = Poly::constant(n, offset);
            for (i, &k) in row.iter().enumerate() {
                poly = poly.plus(&Poly::variable(n, i), k);
            }
            poly
        });
        all.push(policy.collect());
    }
    all
}

/// How random search is done.
#[derive(Clone, Copy, Debug)]
pub struct Search {
    /// How many times the program is changed.
    pub rounds: usize,
    /// How many directions are tried in each.
    pub directions: usize,
    /// How many steps a run makes.
    pub steps: usize,
    /// The seed of the random numbers.
    pub seed: u64,
    /// How many threads.
    pub threads: usize,
}

/// Random search (Algorithm 1 of the paper): the program is moved along random directions by how much better runs with
/// it become, where a run is good if it does what the network does and stays safe.
pub fn random_search(
    plant: &Plant,
    network: &Network,
    sketch: &[Monomial],
    start: &Policy,
    region: &[(f64, f64)],
    search: Search,
    stop: &AtomicBool,
) -> Policy {
    let simulator = Simulator::new(plant);
    let mut random = Random::new(search.seed, 2 << 40);
    let starts: Vec<Vec<f64>> = (0..8)
        .map(|i| {
            let corner = |(a, b): (f64, f64), bit: u64| if bit == 0 { a } else { b };
            region
                .iter()
                .map(|&(a, b)| if i < 4 { corner((a, b), random.bits() % 2) } else { random.between(a, b) })
                .collect()
        })
        .collect();
    let count = sketch.len() * plant.actions();
    let mut weights: Vec<f64> = start.iter().flat_map(|poly| sketch.iter().map(|m| poly.coefficient(m))).collect();
    let size = weights.iter().fold(0.0f64, |m, w| m.max(w.abs())).max(0.1);
    let policy = |weights: &[f64]| -> Policy { weights.chunks(sketch.len()).map(|w| assembled(sketch, w)).collect() };
    let score = |weights: &[f64]| value(&simulator, plant, network, &policy(weights), &starts, search.steps);
    let mut best = (score(&weights), weights.clone());
    let mut step = 0.2 * size;
    for _ in 0..search.rounds {
        if stop.load(Ordering::Relaxed) {
            break;
        }
        let directions: Vec<Vec<f64>> =
            (0..search.directions).map(|_| (0..count).map(|_| normal(&mut random)).collect()).collect();
        let shifted = |direction: &[f64], sign: f64| -> Vec<f64> {
            weights.iter().zip(direction).map(|(w, d)| w + sign * 0.5 * step * d).collect()
        };
        let trials: Vec<Vec<f64>> = directions.iter().flat_map(|d| [shifted(d, 1.0), shifted(d, -1.0)]).collect();
        let scores = parallel::map(&trials, search.threads, |trial| score(trial));
        let mean = scores.iter().sum::<f64>() / scores.len() as f64;
        let spread = (scores.iter().map(|s| (s - mean).powi(2)).sum::<f64>() / scores.len() as f64).sqrt();
        if spread < 1e-12 {
            step *= 1.5;
            continue;
        }
        for (direction, pair) in directions.iter().zip(scores.chunks(2)) {
            let factor = step * (pair[0] - pair[1]) / (spread * search.directions as f64);
            weights.iter_mut().zip(direction).for_each(|(w, d)| *w += factor * d);
        }
        let own = score(&weights);
        if own > best.0 {
            best = (own, weights.clone());
        } else {
            // Back to the best, with smaller steps.
            weights = best.1.clone();
            step *= 0.8;
        }
    }
    policy(&best.1)
}

/// How good runs under a program are: closeness to the network's actions, and a penalty for every unsafe state.
fn value(
    simulator: &Simulator<'_>,
    plant: &Plant,
    network: &Network,
    policy: &Policy,
    starts: &[Vec<f64>],
    steps: usize,
) -> f64 {
    const PENALTY: f64 = 100.0;
    let fast: Vec<Fast> = policy.iter().map(Fast::new).collect();
    let mut total = 0.0;
    let mut visited: Vec<(Vec<f64>, Vec<f64>)> = Vec::new();
    for start in starts {
        let mut state = start.clone();
        for step in 0..steps {
            if simulator.is_unsafe(&state) || state.iter().any(|x| !x.is_finite()) {
                total -= PENALTY * (steps - step) as f64;
                break;
            }
            let mut point = state.clone();
            let mut actions = Vec::with_capacity(fast.len());
            for (action, &(lower, upper)) in fast.iter().zip(&plant.limits) {
                let wanted = action.value(&state);
                let given = wanted.clamp(lower, upper);
                total -= PENALTY * (wanted - given).abs() / (upper - lower).min(1e9);
                actions.push(given);
            }
            point.extend(&actions);
            point.extend(plant.middle());
            // The network is asked in a few states of each run only: it is by far the most expensive part.
            if step % 16 == 0 {
                visited.push((state.clone(), actions));
            }
            state = simulator.step(&point);
        }
    }
    let batch = visited.len();
    let flat: Vec<f64> = (0..plant.states()).flat_map(|i| visited.iter().map(move |(x, _)| x[i])).collect();
    if let Ok(answers) = network.act(&flat, batch, &mut Scratch::default()) {
        for (b, (_, actions)) in visited.iter().enumerate() {
            for (i, (action, &(lower, upper))) in actions.iter().zip(&plant.limits).enumerate() {
                total -= (action - answers[i * batch + b]).abs() / (upper - lower).clamp(1e-9, 1e3);
            }
        }
    }
    total
}

/// A normally distributed number.
fn normal(random: &mut Random) -> f64 {
    let (u, v) = (random.unit().max(1e-300), random.unit());
    (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos()
}
