//! The box that invariants lie in.

use certus_audit::shield::{Range, rational};

use crate::plant::Plant;
use crate::program_synthesis::{equilibrium, regulators};
use crate::rollout::{Simulator, TRIAL_STEPS};

/// How much farther than a regulator needs, and than the network goes, the domain reaches where the property leaves it open.
const ROOMY: f64 = 3.0;
const ROOMY_FOR_THE_NETWORK: f64 = 2.5;

/// What the property allows, and where it allows everything, what a regulator needs; and, if it is given, what the network
/// does.
pub fn choose_domain(plant: &Plant, visited: Option<&[Vec<f64>]>, seed: u64) -> Vec<Range> {
    let states = plant.states();
    let mut bounds: Vec<(Option<f64>, Option<f64>)> = vec![(None, None); states];
    for (piece, exact) in plant.pieces.iter().zip(&plant.model.unsafe_pieces) {
        let [only] = piece.as_slice() else { continue };
        let slopes = only.slopes();
        let used: Vec<usize> = (0..states).filter(|&i| slopes[i] != 0.0).collect();
        if let ([i], false, 1) = (used.as_slice(), exact.bounds_domain, only.degree()) {
            let at = -only.coefficient(&vec![0; states]) / slopes[*i];
            let side = if slopes[*i] > 0.0 { &mut bounds[*i].1 } else { &mut bounds[*i].0 };
            *side = Some(at);
        }
    }
    // A first guess, so that the regulators have weights.
    let mut guess = plant.clone();
    for i in 0..states {
        let (a, b) = plant.init[i];
        let start = 4.0 * a.abs().max(b.abs());
        let (lower, upper) = plant.domain[i];
        let otherwise = |declared: f64| if start > 0.0 { start.copysign(declared) } else { declared };
        guess.domain[i] = (bounds[i].0.unwrap_or(otherwise(lower)), bounds[i].1.unwrap_or(otherwise(upper)));
    }
    let simulator = Simulator::new(plant);
    let rests = [vec![0.0; states], plant.init.iter().map(|(a, b)| 0.5 * (a + b)).collect()];
    let programs = rests.iter().filter_map(|near| equilibrium(plant, near)).flat_map(|rest| regulators(&guess, &rest));
    let reach = programs.map(|p| simulator.survives(&p, &plant.init, TRIAL_STEPS, seed)).find(|shown| shown.good);
    (0..states)
        .map(|i| {
            let (a, b) = plant.init[i];
            let (lower, upper) = plant.domain[i];
            // A state that hardly moves in a trial may move more later: a thousandth of what was declared is left to it.
            let least = 1e-3 * lower.abs().min(upper.abs()).min(1e3);
            let farthest = visited.iter().copied().flatten().fold(0.0f64, |m, state| m.max(state[i].abs()));
            let network = ROOMY_FOR_THE_NETWORK * farthest;
            let needed = reach
                .as_ref()
                .map(|shown| (ROOMY * shown.reach[i].max(a.abs()).max(b.abs())).max(network).max(least).max(1e-6));
            let wide = needed.map_or(f64::INFINITY, round_up);
            let lower = bounds[i].0.unwrap_or(lower.max(-wide));
            let upper = bounds[i].1.unwrap_or(upper.min(wide));
            Range { lower: rational(lower), upper: rational(upper) }
        })
        .collect()
}

/// A number of two digits that is not smaller.
fn round_up(value: f64) -> f64 {
    let short: f64 = format!("{value:.1e}").parse().unwrap_or(value);
    if short >= value { short } else { format!("{:.1e}", short * 1.05).parse().unwrap_or(value) }
}
