//! The linear-quadratic regulator (LQR).
//!
//! R. E. Kalman, 'Contributions to the theory of optimal control', 1960. The discrete algebraic Riccati equation is solved by the
//! structure-preserving doubling algorithm (E. K.-W. Chu, H.-Y. Fan, W.-W. Lin and C.-S. Wang, 'Structure-preserving algorithms for periodic
//! discrete-time algebraic Riccati equations', International Journal of Control 77, 2004): each round looks twice as far ahead.
//!
//! A regulator is only a candidate program; that it is safe is proved afterwards.

use crate::linear_algebra::{Matrix, multiply, plus, solve, transposed};

/// The gain K of the regulator u = K x that minimises Σ xᵀ Q x + uᵀ R u with diagonal Q and R.
pub fn regulator(a: &Matrix, b: &Matrix, q: &[f64], r: &[f64]) -> Option<Matrix> {
    let n = a.len();
    let diagonal = |d: &[f64]| -> Matrix {
        (0..d.len()).map(|i| (0..d.len()).map(|j| if i == j { d[i] } else { 0.0 }).collect()).collect()
    };
    let identity = diagonal(&vec![1.0; n]);
    let inverse_r: Vec<f64> = r.iter().map(|r| 1.0 / r).collect();
    let mut forward = a.clone();
    let mut reach = multiply(&multiply(b, &diagonal(&inverse_r)), &transposed(b));
    let mut cost = diagonal(q);
    for _ in 0..64 {
        let inner = plus(&identity, &multiply(&reach, &cost), 1.0);
        let solved = solve(&inner, &forward)?;
        let moved = solve(&inner, &reach)?;
        let growth = multiply(&multiply(&transposed(&forward), &cost), &solved);
        reach = plus(&reach, &multiply(&multiply(&forward, &moved), &transposed(&forward)), 1.0);
        forward = multiply(&forward, &solved);
        cost = plus(&cost, &growth, 1.0);
        let size = |m: &Matrix| m.iter().flatten().fold(0.0f64, |m, x| m.max(x.abs()));
        if !size(&cost).is_finite() {
            return None;
        }
        if size(&growth) <= 1e-13 * size(&cost) {
            break;
        }
    }
    let bt = transposed(b);
    let inner = plus(&diagonal(r), &multiply(&multiply(&bt, &cost), b), 1.0);
    let gain = solve(&inner, &multiply(&multiply(&bt, &cost), a))?;
    let finite = gain.iter().flatten().all(|x| x.is_finite());
    finite.then(|| gain.into_iter().map(|row| row.into_iter().map(|x| -x).collect()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linear_algebra::spectral_radius;

    #[test]
    fn the_regulator_stabilises_a_double_integrator() {
        let a = vec![vec![1.0, 1.0], vec![0.0, 1.0]];
        let b = vec![vec![0.0], vec![1.0]];
        let k = regulator(&a, &b, &[1.0, 1.0], &[1.0]).unwrap();
        // The textbook gain of this problem.
        assert!((k[0][0] + 0.4221).abs() < 1e-3 && (k[0][1] + 1.2439).abs() < 1e-3, "{k:?}");
        let closed = plus(&a, &multiply(&b, &k), 1.0);
        assert!(spectral_radius(&closed) < 1.0);
    }
}
