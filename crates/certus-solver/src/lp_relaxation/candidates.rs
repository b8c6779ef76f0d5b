//! Points near a solution, and what bounds say of a single point.

use certus_graph::Interval;

use crate::bound::backward::{Objectives, minimise};
use crate::bound::goal::{Goal, Row, add_rows};
use crate::bound::program::{Program, Role};
use crate::bound::refine::{Subdomain, bound_subdomains};
use crate::bound::table::Bounds;

/// What bounds over a single point say of the rows there.
pub(super) struct Judgement {
    /// Some row cannot hold.
    pub(super) refuted: bool,
    /// No row is larger than this.
    pub(super) largest: f64,
    /// What rounding costs a bound.
    pub(super) rounding: f64,
}

/// Bounds the goal's rows at one point. No subproblem that contains the point has a better bound than the point alone.
pub(super) fn judge(program: &Program, rows: &[Row], goal: &Goal, point: &[f64], last: usize) -> Option<Judgement> {
    let subdomain = Subdomain { lower: point, upper: point, ranges: Vec::new(), inherited: None };
    let bounds = bound_subdomains(program, &[subdomain], false, &|| false)?;
    let mut judgement = Judgement { refuted: false, largest: f64::NEG_INFINITY, rounding: 0.0 };
    let mut objectives = Objectives::new(program.roles.len(), vec![0; goal.rows.len()]);
    for (column, &(row, _)) in goal.rows.iter().enumerate() {
        add_rows(program, &bounds, &mut objectives, column, rows, &[(row, 1.0)]);
    }
    let lower = minimise(program, &bounds, objectives, last, &mut Vec::new());
    for (&(number, _), &bound) in goal.rows.iter().zip(&lower.bounds) {
        let row = &rows[number];
        let terms = row.terms.iter().map(|&(node, element, coefficient, radius)| {
            Interval::point(coefficient).widen(radius) * bounds.interval(node, element, 0)
        });
        let value = terms.fold(Interval::point(row.constant), |sum, term| sum + term);
        let bound = bound.max(value.lo);
        judgement.refuted |= if row.strict { bound >= 0.0 } else { bound > 0.0 };
        judgement.largest = judgement.largest.max(value.hi);
        judgement.rounding = judgement.rounding.max(value.hi - bound);
    }
    Some(judgement)
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
