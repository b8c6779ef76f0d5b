//! Clipping: what linear bounds that must be ≤ 0 say of the inputs. They shrink boxes, and refute jointly.
//!
//! A row's backward bound is a linear function of the inputs that lies below the row over the whole box. Where the row
//! must be ≤ 0, so must that function, and each input is limited by it with all others at their most favourable ends:
//! bound propagation through one linear constraint (feasibility-based bound tightening in mixed-integer programming). It
//! makes input boxes smaller without a split. Several such functions are combined with non-negative weights by
//! multiplicative updates; if the minimum of the combination is positive, they cannot hold together.
//!
//! *Soundness.* Sums are rounded to nearest, what rounding may have changed is bounded a priori, and new ends are moved
//! outwards by a little more, so that a checker with other arithmetic agrees.

use super::batch::{Context, Item, Step, leaf, refutes};
use super::proof::{Claim, Combination, Record};
use super::subproblem::Subproblem;
use crate::bound::program::Role;
use crate::bound::table::Bounds;
use crate::bound::{ROOM, gamma};

/// A box that a clip leaves smaller than this share of itself is bounded again before it is split.
const WORTH_ANOTHER_LOOK: f64 = 0.6;

/// A box with this share of the region's width in every input is too small for input splits to help.
const TINY_WIDTH: f64 = 1e-7;

/// a·x + constant ≤ 0 must hold at every solution in a box.
#[derive(Clone, Debug)]
pub(crate) struct LinearBound {
    pub(crate) slopes: Vec<f64>,
    pub(crate) constant: f64,
}

impl LinearBound {
    /// A lower bound of a·x + constant over a box.
    pub(crate) fn minimum(&self, lower: &[f64], upper: &[f64]) -> f64 {
        let (sum, size) = self.sum(lower, upper);
        let bound = (sum - gamma(lower.len() + 1) * size * ROOM - f64::MIN_POSITIVE).next_down();
        if bound.is_nan() { f64::NEG_INFINITY } else { bound }
    }

    /// The minimum to nearest, and the size of its terms.
    pub(super) fn sum(&self, lower: &[f64], upper: &[f64]) -> (f64, f64) {
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
            debug_assert!(low <= high, "input {input} has no value: [{low}, {high}]");
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
pub(crate) fn combine(lines: &[&LinearBound], lower: &[f64], upper: &[f64]) -> (Vec<f64>, f64) {
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
        let bound = LinearBound { slopes: slopes.clone(), constant }.minimum(lower, upper);
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

impl Context<'_> {
    /// Shrinks the box to where the core rows can hold.
    pub(super) fn clip(&self, item: &mut Item) {
        let (mut lower, mut upper) = (item.subproblem.lower.clone(), item.subproblem.upper.clone());
        for _ in 0..2 {
            let mut moved = false;
            for own in item.rows.iter().filter(|own| item.core.rows.binary_search(&own.row).is_ok()) {
                let minimum = own.linear.minimum(&lower, &upper) - self.margin(own.linear.constant);
                if refutes(&self.logic.rows[own.row], minimum) {
                    item.result = Some(leaf(own.row));
                    (item.subproblem.lower, item.subproblem.upper) = (lower, upper);
                    return;
                }
                let claims = own.linear.clip(&mut lower, &mut upper);
                if !claims.is_empty() {
                    moved = true;
                    item.steps.push(Step::Record(Record::Clip(Combination::row(own.row), claims)));
                }
            }
            if !moved {
                break;
            }
        }
        (item.subproblem.lower, item.subproblem.upper) = (lower, upper);
    }

    /// Whether a subproblem's box is next to nothing.
    pub(super) fn tiny(&self, subproblem: &Subproblem) -> bool {
        let ends = subproblem.lower.iter().zip(&subproblem.upper).zip(self.region.lower.iter().zip(&self.region.upper));
        ends.into_iter().all(|((low, high), (first, last))| high - low <= TINY_WIDTH * (last - first))
    }

    /// Whether a clip left so little of a box that it is bounded again before anything else.
    pub(super) fn shrank(&self, before: &Bounds, index: usize, subproblem: &Subproblem) -> bool {
        self.left(before, index, subproblem) < WORTH_ANOTHER_LOOK && !self.tiny(subproblem)
    }

    /// What share of a box is left, by the side that shrank most.
    pub(super) fn left(&self, before: &Bounds, index: usize, subproblem: &Subproblem) -> f64 {
        let mut left = 1.0;
        for (node, role) in self.program.roles.iter().enumerate() {
            let Role::Input(offset) = role else { continue };
            for element in 0..self.program.sizes[node] {
                let width = before.interval(node, element, index).width();
                let now = subproblem.upper[offset + element] - subproblem.lower[offset + element];
                if width > 0.0 && width.is_finite() {
                    left *= (now / width).min(1.0);
                }
            }
        }
        left
    }
}
