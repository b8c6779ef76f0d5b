//! The values of all nodes where a relaxed bound is attained.
//!
//! A backward bound is a linear function of the inputs, and its minimum over the box is attained at a corner. A forward
//! pass along the lines and planes that the bound used gives every node's value there. By the envelope theorem
//! (Danskin), these values are the derivatives of the bound by the multipliers of its terms, which is what
//! `optimise_slopes.rs` ascends by; where they are far from the true functions, the relaxation is loose, which is what
//! `branching_scores.rs` measures. Plain floats: nothing sound depends on these values.

use super::backward::LowerBounds;
use super::program::{Program, Role};
use super::table::Bounds;

/// The value of every node up to `last` where each column's bound is attained: the corner of the box, carried forward along the
/// lines that were used.
pub(super) fn relaxed_values(
    program: &Program,
    bounds: &Bounds,
    lower: &LowerBounds,
    last: usize,
    scratch: &mut Vec<f64>,
) -> Vec<Vec<f64>> {
    let columns = bounds.boxes;
    let mut values: Vec<Vec<f64>> = Vec::with_capacity(last + 1);
    for node in 0..=last {
        let cells = program.sizes[node] * columns;
        let kept = lower.kept[node].as_slice();
        let coefficient = |at: usize| kept.get(at).copied().unwrap_or(0.0);
        let table = &bounds.relaxations[node];
        let own = match &program.roles[node] {
            Role::Input(offset) => {
                let slopes = &lower.inputs[offset * columns..];
                (0..cells)
                    .map(|at| {
                        let (low, high) = (bounds.lower[node][at], bounds.upper[node][at]);
                        finite(if slopes[at] > 0.0 {
                            low
                        } else if slopes[at] < 0.0 {
                            high
                        } else {
                            low / 2.0 + high / 2.0
                        })
                    })
                    .collect()
            }
            Role::Affine(layer) => {
                let mut own = vec![0.0; cells];
                for (row, &bias) in layer.bias.iter().enumerate() {
                    own[row * columns..(row + 1) * columns].fill(bias);
                }
                for term in &layer.terms {
                    term.weights.mul_acc(&values[term.argument], &mut own, columns, scratch);
                }
                own
            }
            Role::Movement(sources) => {
                let rows = sources
                    .iter()
                    .flat_map(|&(argument, element)| &values[argument][element * columns..(element + 1) * columns]);
                rows.copied().collect()
            }
            Role::Curve(_, argument) => {
                let line = |at: usize| {
                    let x = values[*argument][at];
                    let low = table.lower_slope[at] * x + table.lower_offset[at];
                    let high = table.upper_slope[at] * x + table.upper_offset[at];
                    pick(coefficient(at), low, high)
                };
                (0..cells).map(line).collect()
            }
            Role::Product(left, right) => {
                let plane = |at: usize| {
                    let (x, y) = (values[*left][at], values[*right][at]);
                    let low = table.lower_slope[at] * x + table.lower_second[at] * y + table.lower_offset[at];
                    let high = table.upper_slope[at] * x + table.upper_second[at] * y + table.upper_offset[at];
                    pick(coefficient(at), low, high)
                };
                (0..cells).map(plane).collect()
            }
            Role::Opaque => {
                (0..cells).map(|at| pick(coefficient(at), bounds.lower[node][at], bounds.upper[node][at])).collect()
            }
        };
        values.push(own);
    }
    values
}

pub(super) fn finite(value: f64) -> f64 {
    if value.is_finite() { value } else { 0.0 }
}

/// The line that a coefficient's sign asks for; in between where it does not matter.
fn pick(coefficient: f64, low: f64, high: f64) -> f64 {
    finite(if coefficient > 0.0 {
        low
    } else if coefficient < 0.0 {
        high
    } else {
        low / 2.0 + high / 2.0
    })
}
