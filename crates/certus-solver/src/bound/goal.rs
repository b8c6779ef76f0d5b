//! What a dual bound is computed for: rows that must be ≤ 0, their weights, and multipliers β of split constraints.

use super::TINY;
use super::backward::Objectives;
use super::program::Program;
use super::table::{Bounds, Range};

/// A linear function of nodes' values that must be ≤ 0.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    /// Node, element, coefficient, and how far the coefficient may be from the one meant.
    pub(crate) terms: Vec<(usize, usize, f64, f64)>,
    /// The lower end of the constant.
    pub(crate) constant: f64,
    /// Whether zero is excluded.
    pub(crate) strict: bool,
}

/// A dual multiplier β of one end of a range: of a split constraint.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Multiplier {
    pub(crate) node: usize,
    pub(crate) element: usize,
    /// The end of the range: value ≤ end, or value ≥ end where `from_below`.
    pub(crate) end: f64,
    pub(crate) from_below: bool,
    /// At least zero.
    pub(crate) weight: f64,
}

/// What a column is to show: that these rows and split constraints cannot hold together.
#[derive(Clone, Debug, Default)]
pub(crate) struct Goal {
    /// Numbers of rows, each with its weight; the weights sum to one.
    pub(crate) rows: Vec<(usize, f64)>,
    /// The ends of the subproblem's ranges.
    pub(crate) multipliers: Vec<Multiplier>,
    /// A row whose weight stays as it is while the others grow freely (an objective to bound).
    pub(crate) fixed: Option<usize>,
}

impl Goal {
    /// Whether all weights and multipliers are non-negative: what soundness rests on.
    pub(crate) fn is_nonnegative(&self) -> bool {
        self.rows.iter().all(|(_, weight)| *weight >= 0.0) && self.multipliers.iter().all(|m| m.weight >= 0.0)
    }

    /// Multipliers of the given ranges, with the weights that a larger subproblem found.
    pub(crate) fn multipliers_of(ranges: &[Range], warm: &[Multiplier]) -> Vec<Multiplier> {
        let ends = ranges.iter().flat_map(|range| {
            let below = range.lo.is_finite().then_some((range.lo, true));
            let above = range.hi.is_finite().then_some((range.hi, false));
            below.into_iter().chain(above).map(|(end, from_below)| (range.node, range.element, end, from_below))
        });
        ends.map(|(node, element, end, from_below)| {
            let same = |m: &&Multiplier| m.node == node && m.element == element && m.from_below == from_below;
            let weight = warm.iter().find(same).map_or(0.0, |m| m.weight);
            Multiplier { node, element, end, from_below, weight }
        })
        .collect()
    }
}

/// Adds weighted rows to one column.
pub(crate) fn add_rows(
    program: &Program,
    bounds: &Bounds,
    objectives: &mut Objectives,
    column: usize,
    rows: &[Row],
    weights: &[(usize, f64)],
) {
    for &(row, weight) in weights.iter().filter(|&&(_, weight)| weight != 0.0) {
        for &(node, element, coefficient, radius) in &rows[row].terms {
            let product = weight * coefficient;
            let error = f64::EPSILON * product.abs() + weight * radius + TINY;
            objectives.add(program, bounds, (node, element, column), product, error);
        }
        let term = weight * rows[row].constant;
        objectives.constants[column] += term;
        objectives.errors[column] += 2.0 * f64::EPSILON * (term.abs() + objectives.constants[column].abs());
    }
}
