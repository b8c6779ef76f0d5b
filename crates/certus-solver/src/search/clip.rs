//! What linear functions that must be ≤ 0 say of the inputs: joint refutation, and smaller boxes.

use super::proof::Claim;
use crate::bound::{ROOM, gamma};

/// a·x + constant ≤ 0 must hold at every solution in a box.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    pub(crate) slopes: Vec<f64>,
    pub(crate) constant: f64,
}

impl Line {
    /// A lower bound of a·x + constant over a box.
    pub(crate) fn minimum(&self, lower: &[f64], upper: &[f64]) -> f64 {
        let (sum, size) = self.sum(lower, upper);
        let bound = (sum - gamma(lower.len() + 1) * size * ROOM - f64::MIN_POSITIVE).next_down();
        if bound.is_nan() { f64::NEG_INFINITY } else { bound }
    }

    /// The minimum to nearest, and the size of its terms.
    fn sum(&self, lower: &[f64], upper: &[f64]) -> (f64, f64) {
        let mut sum = self.constant;
        let mut size = self.constant.abs();
        for ((&slope, &low), &high) in self.slopes.iter().zip(lower).zip(upper) {
            if slope != 0.0 {
                let term = slope * if slope > 0.0 { low } else { high };
                sum += term;
                size += term.abs();
            }
        }
        (sum, size)
    }

    /// Shrinks a box to where the line can be ≤ 0; the new bounds, a little wider than they must be so that other
    /// arithmetic agrees. The line's minimum over the box is at most zero.
    pub(crate) fn clip(&self, lower: &mut [f64], upper: &mut [f64]) -> Vec<Claim> {
        let (sum, size) = self.sum(lower, upper);
        if !sum.is_finite() || !size.is_finite() {
            return Vec::new();
        }
        // How far a·x may rise above its minimum, with what rounding did. A minimum a hair above zero leaves a sliver, so that
        // the box keeps its corners in order.
        let room = (-sum + 4.0 * gamma(lower.len() + 1) * size + f64::MIN_POSITIVE).max(0.0);
        let mut claims = Vec::new();
        for (input, &slope) in self.slopes.iter().enumerate().filter(|&(_, &slope)| slope != 0.0) {
            let (low, high) = (lower[input], upper[input]);
            let width = high - low;
            let reach = room / slope.abs() * (1.0 + 1e-12) + 1e-6 * width;
            // A bound that hardly moves is not worth a new one.
            if !reach.is_finite() || reach > 0.95 * width {
                continue;
            }
            if slope > 0.0 {
                let bound = (low + reach).next_up();
                if bound < high {
                    upper[input] = bound;
                    claims.push((input, true, bound));
                }
            } else {
                let bound = (high - reach).next_down();
                if bound > low {
                    lower[input] = bound;
                    claims.push((input, false, bound));
                }
            }
        }
        claims
    }
}

/// Weights (summing to one) for which the weighted sum of the lines has a large minimum over a box, and that minimum.
pub(crate) fn combine(lines: &[&Line], lower: &[f64], upper: &[f64]) -> (Vec<f64>, f64) {
    let count = lines.len();
    let inputs = lower.len();
    let single: Vec<f64> = lines.iter().map(|line| line.minimum(lower, upper)).collect();
    let first = (0..count).max_by(|&a, &b| single[a].total_cmp(&single[b])).unwrap_or(0);
    let mut best = vec![0.0; count];
    if let Some(weight) = best.get_mut(first) {
        *weight = 1.0;
    }
    let mut best_bound = single.get(first).copied().unwrap_or(f64::NEG_INFINITY);
    if count < 2 || !best_bound.is_finite() {
        return (best, best_bound);
    }
    let mut weights = vec![1.0 / count as f64; count];
    let mut values = vec![0.0; count];
    for step in 0..24 {
        let slopes: Vec<f64> =
            (0..inputs).map(|i| lines.iter().zip(&weights).map(|(line, w)| w * line.slopes[i]).sum()).collect();
        let constant = lines.iter().zip(&weights).map(|(line, w)| w * line.constant).sum();
        let bound = Line { slopes: slopes.clone(), constant }.minimum(lower, upper);
        if bound > best_bound {
            best_bound = bound;
            best.clone_from(&weights);
        }
        // At the minimiser the lines' values are the derivatives.
        for (line, value) in lines.iter().zip(&mut values) {
            *value = line.constant
                + (0..inputs).map(|i| line.slopes[i] * if slopes[i] > 0.0 { lower[i] } else { upper[i] }).sum::<f64>();
        }
        let largest = values.iter().fold(0.0f64, |largest, value| largest.max(value.abs()));
        if largest == 0.0 || !largest.is_finite() {
            break;
        }
        let length = 1.5 * 0.9f64.powi(step);
        let mut total = 0.0;
        for (weight, value) in weights.iter_mut().zip(&values) {
            *weight = weight.max(1e-6) * (length * value / largest).exp();
            total += *weight;
        }
        weights.iter_mut().for_each(|weight| *weight /= total);
    }
    (best, best_bound)
}
