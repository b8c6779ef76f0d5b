//! The little linear algebra that Lohner's method needs: products of interval matrices, and an orthogonal frame with an
//! enclosure of its inverse.

use super::arithmetic::middle;
use crate::Interval;
use crate::interval::{add_up, div_up, mul_up, sub_down};

/// A matrix by its rows.
pub(super) type Rows<T> = Vec<Vec<T>>;

/// Enclosures of doubles.
pub(super) fn enclosed(rows: &Rows<f64>) -> Rows<Interval> {
    rows.iter().map(|row| row.iter().map(|&x| Interval::point(x)).collect()).collect()
}

/// The middles of the entries.
pub(super) fn middles(rows: &Rows<Interval>) -> Rows<f64> {
    rows.iter().map(|row| row.iter().map(|&x| middle(x)).collect()).collect()
}

/// A·B.
pub(super) fn product(a: &Rows<Interval>, b: &Rows<Interval>) -> Rows<Interval> {
    let columns = b.first().map_or(0, Vec::len);
    let entry = |row: &Vec<Interval>, column: usize| {
        row.iter().zip(b).fold(Interval::ZERO, |sum, (&x, other)| match other[column] {
            Interval::ZERO => sum,
            y => sum + x * y,
        })
    };
    a.iter().map(|row| (0..columns).map(|column| entry(row, column)).collect()).collect()
}

/// A·x.
pub(super) fn applied(a: &Rows<Interval>, x: &[Interval]) -> Vec<Interval> {
    a.iter().map(|row| dot(row, x)).collect()
}

/// Σ aᵢ·xᵢ.
pub(super) fn dot(a: &[Interval], x: &[Interval]) -> Interval {
    a.iter().zip(x).fold(Interval::ZERO, |sum, (&a, &x)| sum + a * x)
}

/// The identity.
pub(super) fn identity(size: usize) -> Rows<f64> {
    (0..size).map(|i| (0..size).map(|j| f64::from(u8::from(i == j))).collect()).collect()
}

/// A matrix with nearly orthonormal columns that span the columns of `a` in the order of their importance (Gram-Schmidt, twice),
/// and an enclosure of its inverse; the identity where that does not work out. `weights` are the sizes of what the columns carry.
pub(super) fn frame(a: &Rows<f64>, weights: &[f64]) -> (Rows<f64>, Rows<Interval>) {
    let size = a.len();
    let column = |j: usize| -> Vec<f64> { a.iter().map(|row| row[j]).collect() };
    let length = |x: &[f64]| x.iter().map(|v| v * v).sum::<f64>().sqrt();
    let mut order: Vec<(f64, usize)> = (0..size).map(|j| (length(&column(j)) * weights[j], j)).collect();
    order.sort_by(|x, y| y.0.total_cmp(&x.0).then(x.1.cmp(&y.1)));
    let mut basis: Vec<Vec<f64>> = Vec::with_capacity(size);
    let units = (0..size).map(|j| (0..size).map(|i| f64::from(u8::from(i == j))).collect::<Vec<f64>>());
    for candidate in order.iter().map(|&(_, j)| column(j)).chain(units) {
        if basis.len() == size {
            break;
        }
        let before = length(&candidate);
        let mut rest = candidate;
        for _ in 0..2 {
            for own in &basis {
                let along: f64 = own.iter().zip(&rest).map(|(x, y)| x * y).sum();
                rest.iter_mut().zip(own).for_each(|(x, y)| *x -= along * y);
            }
        }
        let after = length(&rest);
        if after > 1e-8 * before && after.is_normal() {
            basis.push(rest.into_iter().map(|x| x / after).collect());
        }
    }
    let rows: Rows<f64> = (0..size).map(|i| basis.iter().map(|own| own[i]).collect()).collect();
    match (basis.len() == size).then(|| inverse_of_orthogonal(&rows)).flatten() {
        Some(inverse) => (rows, inverse),
        None => (identity(size), enclosed(&identity(size))),
    }
}

/// An enclosure of Q⁻¹ for nearly orthogonal Q: with QᵀQ = I + E and row sums of |E| at most ε < 1, (I + E)⁻¹ differs from I by at
/// most ε / (1 − ε) in each entry, and Q⁻¹ = (I + E)⁻¹ Qᵀ.
fn inverse_of_orthogonal(rows: &Rows<f64>) -> Option<Rows<Interval>> {
    let size = rows.len();
    let transposed: Rows<Interval> =
        (0..size).map(|j| rows.iter().map(|row| Interval::point(row[j])).collect()).collect();
    let square = product(&transposed, &enclosed(rows));
    let mut defect = 0.0f64;
    for (i, row) in square.iter().enumerate() {
        let sum = row.iter().enumerate().fold(0.0, |sum, (j, &own)| {
            let identity = Interval::truth(i == j);
            add_up(sum, (own - identity).magnitude())
        });
        if sum.is_nan() {
            return None;
        }
        defect = defect.max(sum);
    }
    if defect >= 0.5 {
        return None;
    }
    let slack = div_up(defect, sub_down(1.0, defect));
    let correction: Rows<Interval> =
        (0..size).map(|i| (0..size).map(|j| Interval::truth(i == j).widen(mul_up(slack, 1.0))).collect()).collect();
    Some(product(&correction, &transposed))
}
