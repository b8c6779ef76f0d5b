//! Points near a solution, and what the rows are there.

use crate::bound::program::{Program, Role};
use crate::bound::table::Bounds;
use crate::bound::tune::{Goal, Row};

/// The largest of the goal's rows (its objective, if it has one) at a point, in floats, and the size of that row's terms. Infinite where an element
/// is known only by its enclosure.
pub(super) fn value(
    program: &Program,
    bounds: &Bounds,
    rows: &[Row],
    goal: &Goal,
    point: &[f64],
    last: usize,
) -> (f64, f64) {
    let Some(values) = values(program, bounds, point, last) else { return (f64::INFINITY, 0.0) };
    let wanted = goal.rows.iter().filter(|(row, _)| goal.fixed.is_none_or(|fixed| fixed == *row));
    let row = |row: &Row| {
        row.terms.iter().fold((row.constant, row.constant.abs()), |(sum, size), &(node, element, coefficient, _)| {
            let term = coefficient * values[node][element];
            (sum + term, size + term.abs().max(coefficient.abs() * bounds.interval(node, element, 0).magnitude()))
        })
    };
    let each = wanted.map(|&(number, _)| row(&rows[number]));
    each.fold((f64::NEG_INFINITY, 0.0), |(largest, size), (own, terms)| (largest.max(own), size.max(terms)))
}

/// Every element's value at a point.
fn values(program: &Program, bounds: &Bounds, point: &[f64], last: usize) -> Option<Vec<Vec<f64>>> {
    let mut values: Vec<Vec<f64>> = Vec::with_capacity(last + 1);
    let mut scratch = Vec::new();
    for node in 0..=last {
        let own = match &program.roles[node] {
            Role::Input(offset) => point[*offset..offset + program.sizes[node]].to_vec(),
            Role::Affine(layer) => {
                let mut own = layer.bias.clone();
                for term in &layer.terms {
                    term.weights.mul_acc(&values[term.argument], &mut own, 1, &mut scratch);
                }
                own
            }
            Role::Movement(sources) => {
                sources.iter().map(|&(argument, element)| values[argument][element]).collect()
            }
            Role::Curve(curve, argument) => values[*argument].iter().map(|&x| curve.value(x)).collect(),
            Role::Product(left, right) => values[*left].iter().zip(&values[*right]).map(|(x, y)| x * y).collect(),
            Role::Opaque if bounds.lower[node] == bounds.upper[node] => bounds.lower[node].clone(),
            Role::Opaque => return None,
        };
        values.push(own);
    }
    Some(values)
}

/// Decimal and binary places that coordinates are rounded to.
const DECIMALS: [f64; 4] = [1e1, 1e2, 1e3, 1e5];
const BINARY: [f64; 4] = [1.0, 16.0, 1024.0, 65536.0];

/// A point, and the same with coordinates that are short numbers: where rows only just hold, that is often at such a point.
/// All lie in the box.
pub(super) fn around(point: &[f64], bounds: &Bounds, program: &Program) -> Vec<Vec<f64>> {
    let mut points = vec![point.to_vec()];
    for unit in DECIMALS.into_iter().chain(BINARY) {
        let mut rounded: Vec<f64> = point.iter().map(|value| (value * unit).round() / unit).collect();
        for (node, role) in program.roles.iter().enumerate() {
            let Role::Input(offset) = role else { continue };
            for element in 0..program.sizes[node] {
                let range = bounds.interval(node, element, 0);
                let value = &mut rounded[offset + element];
                *value = value.max(range.lo).min(range.hi);
            }
        }
        if !points.contains(&rounded) {
            points.push(rounded);
        }
    }
    points
}
