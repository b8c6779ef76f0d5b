//! Invariant ellipsoids of linear loops with many states, by a linear matrix inequality (LMI) in the inverse of their matrix.
//!
//! S. Boyd, L. El Ghaoui, E. Feron and V. Balakrishnan, 'Linear Matrix Inequalities in System and Control Theory', SIAM 1994.
//!
//! {x : xᵀ P x ≤ 1} with Q = P⁻¹ is invariant under x' = A x if A Q Aᵀ ≤ λ Q; its width along c is cᵀ Q c; and it contains the box
//! |xᵢ| ≤ rᵢ if P ≤ D for a diagonal D with Σ dᵢ rᵢ² ≤ 1. All of that is linear in Q and D, with matrices of twice the number
//! of states at most, so that fifteen or eighteen states are cheap. The ellipsoid is then the E for which a barrier certificate is sought.

use std::time::Instant;

use certus_numerics::conic::{Cone, ConicProgram, Matrix, Settings};

use crate::linear_algebra::solve;
use crate::plant::{Plant, Policy};
use crate::polynomial::Poly;
use crate::work_count::{semidefinite_program, spend};

/// What is left between the ellipsoid and what it must not touch, as a part of the square of the distance.
const ROOM: f64 = 0.985;

/// E = xᵀ P x − 1 for a program whose loop is linear around zero, if there is one.
#[tracing::instrument(level = "debug", name = "ellipsoid", skip_all)]
pub fn search(
    plant: &Plant,
    policy: &Policy,
    region: &[(f64, f64)],
    contraction: f64,
    deadline: Option<Instant>,
) -> Option<Poly> {
    let n = plant.states();
    let closed = plant.closed(policy);
    let rests = closed.iter().all(|f| f.degree() <= 1 && f.coefficient(&vec![0; f.variables()]) == 0.0);
    if !rests || !plant.choices.is_empty() {
        return None;
    }
    let scales: Vec<f64> = plant
        .domain
        .iter()
        .map(|&(a, b)| if a.is_finite() && b.is_finite() { a.abs().min(b.abs()).max(1e-12) } else { 1.0 })
        .collect();
    let a: Vec<Vec<f64>> = closed
        .iter()
        .enumerate()
        .map(|(i, f)| f.slopes().iter().take(n).enumerate().map(|(j, s)| s * scales[j] / scales[i]).collect())
        .collect();
    let variable = |i: usize, j: usize| {
        let (i, j) = (i.min(j), i.max(j));
        j * (j + 1) / 2 + i
    };
    let matrix_size = n * (n + 1) / 2;
    let free: Vec<usize> = (0..n).filter(|&i| region[i].0 != 0.0 || region[i].1 != 0.0).collect();
    let columns = matrix_size + free.len();
    let mut rows: Vec<(Vec<(usize, f64)>, f64)> = Vec::new();
    // cᵀ Q c ≤ room h², for every unsafe piece and every limit of an action.
    for (normal, bound) in cuts(plant, policy)? {
        let c: Vec<f64> = normal.iter().zip(&scales).map(|(x, s)| x * s / bound).collect();
        let mut row = Vec::new();
        for j in 0..n {
            for i in 0..=j {
                row.push((variable(i, j), c[i] * c[j] * if i == j { 1.0 } else { 2.0 }));
            }
        }
        rows.push((row, ROOM));
    }
    let reach: Vec<f64> = free.iter().map(|&i| region[i].0.abs().max(region[i].1.abs()) / scales[i]).collect();
    rows.push((reach.iter().enumerate().map(|(k, r)| (matrix_size + k, r * r)).collect(), ROOM));
    let scalars = rows.len();
    let mut cones = vec![Cone::Nonnegative(scalars)];
    // λ Q − A Q Aᵀ ≥ a little.
    for q in 0..n {
        for p in 0..=q {
            let scale = if p == q { 1.0 } else { std::f64::consts::SQRT_2 };
            let mut row = vec![(variable(p, q), -scale * contraction)];
            for i in 0..n {
                for j in 0..n {
                    let factor = a[p][i] * a[q][j];
                    if factor != 0.0 {
                        row.push((variable(i, j), scale * factor));
                    }
                }
            }
            rows.push((row, if p == q { -1e-9 } else { 0.0 }));
        }
    }
    cones.push(Cone::Semidefinite(n));
    // [D I; I Q] ≥ 0.
    let size = free.len() + n;
    for q in 0..size {
        for p in 0..=q {
            let scale = if p == q { 1.0 } else { std::f64::consts::SQRT_2 };
            let k = free.len();
            rows.push(match (p < k, q < k) {
                (true, true) if p == q => (vec![(matrix_size + p, -1.0)], 0.0),
                (true, true) => (Vec::new(), 0.0),
                (true, false) => (Vec::new(), if free[p] == q - k { scale } else { 0.0 }),
                _ => (vec![(variable(p - k, q - k), -scale)], 0.0),
            });
        }
    }
    cones.push(Cone::Semidefinite(size));
    let limits: Vec<f64> = rows.iter().map(|(_, b)| *b).collect();
    let matrix = Matrix::from_rows(columns, rows.iter().map(|(row, _)| row.as_slice()));
    let mut objective = vec![0.0; columns];
    (0..n).for_each(|i| objective[variable(i, i)] = -1.0);
    let program = ConicProgram { objective, matrix, limits, cones };
    let solution = program.solve(Settings { iterations: 100, deadline, ..Settings::default() })?;
    spend(semidefinite_program(solution.iterations, rows.len()));
    let x = &solution.x;
    if x.len() != columns || x.iter().any(|value| !value.is_finite()) {
        return None;
    }
    let q: Vec<Vec<f64>> = (0..n).map(|i| (0..n).map(|j| x[variable(i, j)]).collect()).collect();
    let unit: Vec<Vec<f64>> = (0..n).map(|i| (0..n).map(|j| f64::from(u8::from(i == j))).collect()).collect();
    let p = solve(&q, &unit)?;
    let mut barrier = Poly::constant(n, -1.0);
    for i in 0..n {
        for j in 0..n {
            let mut monomial = vec![0u8; n];
            monomial[i] += 1;
            monomial[j] += 1;
            barrier.add(monomial, 0.5 * (p[i][j] + p[j][i]) / (scales[i] * scales[j]));
        }
    }
    Some(barrier)
}

/// Half-spaces normal · x < bound that the ellipsoid must lie in; none if a piece is no half-space, or holds at zero.
fn cuts(plant: &Plant, policy: &Policy) -> Option<Vec<(Vec<f64>, f64)>> {
    let n = plant.states();
    let mut all: Vec<(Vec<f64>, f64)> = Vec::new();
    for piece in &plant.pieces {
        let [only] = piece.as_slice() else { return None };
        if only.degree() > 1 {
            return None;
        }
        all.push((only.slopes(), -only.coefficient(&vec![0; n])));
    }
    for (action, &(lower, upper)) in policy.iter().zip(&plant.limits) {
        let limit = upper.min(-lower);
        if limit.is_finite() {
            all.push((action.slopes(), limit));
        }
    }
    all.iter().all(|(_, bound)| *bound > 0.0).then_some(all)
}
