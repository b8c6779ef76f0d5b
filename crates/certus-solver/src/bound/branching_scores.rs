//! Branching scores of unstable neurons, at the minimiser of a relaxed bound.
//!
//! A backward bound is attained at a corner of the input box; carried forward along the lines that the bound used, that
//! corner gives every neuron a value. A neuron's score is the absolute backward coefficient at its output times what the
//! relaxation loses there: the distance between the relaxed value and the function's value, plus a quarter of the largest
//! gap between both lines. So it estimates how much the bound improves when the neuron becomes exact.
//!
//! This is the idea of BaBSR (Bunel, Lu, Turkaslan, Torr, Kohli, Kumar, *Branch and Bound for Piecewise Linear Neural
//! Network Verification*, JMLR 2020), which scores a ReLU by its dual coefficient times the intercept of the upper line.
//! *Departures:* the loss is measured at the minimiser of the optimised relaxation, and the score is defined for any curve
//! and for products, not for ReLU alone. Scores only order candidates; nothing sound depends on them.

use certus_graph::Interval;

use super::backward::LowerBounds;
use super::minimiser::finite;
use super::program::{Program, Role};
use super::table::Bounds;

/// A neuron split that promises to help: where the range of an element is split, and how good that looks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Split {
    pub(crate) node: usize,
    pub(crate) element: usize,
    pub(crate) at: f64,
    pub(crate) score: f64,
}

/// The splits of one column with the largest scores, best first. `neurons` are the unstable ones, by node and cell.
pub(super) fn best_splits(
    program: &Program,
    bounds: &Bounds,
    lower: &LowerBounds,
    values: &[Vec<f64>],
    neurons: impl Iterator<Item = (usize, usize)>,
    most: usize,
) -> Vec<Split> {
    let columns = bounds.boxes;
    let mut splits: Vec<Split> = Vec::new();
    for (neuron, at) in neurons {
        let coefficient = lower.kept[neuron].get(at).copied().unwrap_or(0.0);
        let element = at / columns;
        let interval = |node: usize| Interval::new(bounds.lower[node][at], bounds.upper[node][at]);
        match &program.roles[neuron] {
            Role::Curve(curve, argument) if coefficient != 0.0 => {
                let range = interval(*argument);
                let Some(place) = curve.split_point(range) else { continue };
                let loss = (curve.value(values[*argument][at]) - values[neuron][at]).abs();
                let score = coefficient.abs() * (finite(loss) + 0.25 * finite(curve.gap(range)));
                splits.push(Split { node: *argument, element, at: place, score });
            }
            Role::Product(left, right) if coefficient != 0.0 => {
                let (x, y) = (interval(*left), interval(*right));
                let loss = (values[*left][at] * values[*right][at] - values[neuron][at]).abs();
                let score = coefficient.abs() * (finite(loss) + finite(0.0625 * x.width() * y.width()));
                // Both factors matter alike to the planes; the wider one is split first.
                let (node, range) = if x.width() >= y.width() { (*left, x) } else { (*right, y) };
                splits.push(Split { node, element, at: range.lo / 2.0 + range.hi / 2.0, score });
            }
            _ => {}
        }
    }
    splits.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.node.cmp(&b.node)).then(a.element.cmp(&b.element)));
    splits.truncate(most);
    splits
}
