//! Small dense linear algebra.

/// A matrix by rows.
pub type Matrix = Vec<Vec<f64>>;

/// The product.
pub fn multiply(a: &Matrix, b: &Matrix) -> Matrix {
    let columns = b.first().map_or(0, Vec::len);
    a.iter().map(|row| (0..columns).map(|j| row.iter().zip(b).map(|(x, other)| x * other[j]).sum()).collect()).collect()
}

/// The transpose.
pub fn transposed(a: &Matrix) -> Matrix {
    let columns = a.first().map_or(0, Vec::len);
    (0..columns).map(|j| a.iter().map(|row| row[j]).collect()).collect()
}

/// `a + factor * b`.
pub fn plus(a: &Matrix, b: &Matrix, factor: f64) -> Matrix {
    a.iter().zip(b).map(|(x, y)| x.iter().zip(y).map(|(x, y)| x + factor * y).collect()).collect()
}

/// Solves `a x = b` for several right-hand sides, by elimination with pivots; none if `a` is singular.
pub fn solve(a: &Matrix, b: &Matrix) -> Option<Matrix> {
    let n = a.len();
    let mut work: Matrix = a.iter().zip(b).map(|(x, y)| x.iter().chain(y).copied().collect()).collect();
    for k in 0..n {
        let pivot = (k..n).max_by(|&i, &j| work[i][k].abs().total_cmp(&work[j][k].abs()))?;
        if work[pivot][k].abs() < 1e-300 || !work[pivot][k].is_finite() {
            return None;
        }
        work.swap(k, pivot);
        for i in (0..n).filter(|&i| i != k) {
            let factor = work[i][k] / work[k][k];
            if factor != 0.0 {
                let source = work[k].clone();
                work[i].iter_mut().zip(&source).skip(k).for_each(|(x, y)| *x -= factor * y);
            }
        }
    }
    Some((0..n).map(|i| work[i][n..].iter().map(|x| x / work[i][i]).collect()).collect())
}

/// About the largest magnitude of an eigenvalue: norms of high powers.
pub fn spectral_radius(a: &Matrix) -> f64 {
    let norm = |a: &Matrix| a.iter().flatten().fold(0.0f64, |m, x| m.max(x.abs()));
    let mut power = a.clone();
    let (mut exponent, mut log) = (1.0f64, 0.0f64);
    for _ in 0..24 {
        let size = norm(&power);
        if size == 0.0 || !size.is_finite() {
            return if size == 0.0 { 0.0 } else { f64::INFINITY };
        }
        power.iter_mut().flatten().for_each(|x| *x /= size);
        log = 2.0 * (log + size.ln());
        exponent *= 2.0;
        power = multiply(&power, &power);
    }
    ((log + norm(&power).max(1e-300).ln()) / exponent).exp()
}

/// The weights w that minimise Σ (w · x − y)² with a little damping.
pub fn least_squares(points: &[Vec<f64>], targets: &[f64]) -> Option<Vec<f64>> {
    let n = points.first()?.len();
    let mut normal = vec![vec![0.0; n]; n];
    let mut right = vec![vec![0.0]; n];
    for (x, y) in points.iter().zip(targets) {
        for i in 0..n {
            right[i][0] += x[i] * y;
            for j in 0..n {
                normal[i][j] += x[i] * x[j];
            }
        }
    }
    let trace: f64 = (0..n).map(|i| normal[i][i]).sum();
    (0..n).for_each(|i| normal[i][i] += 1e-9 * trace / n as f64 + 1e-12);
    Some(solve(&normal, &right)?.into_iter().map(|row| row[0]).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn radius_and_solution() {
        assert!((spectral_radius(&vec![vec![0.0, 2.0], vec![0.5, 0.0]]) - 1.0).abs() < 1e-5);
        let x = solve(&vec![vec![0.0, 2.0], vec![1.0, 1.0]], &vec![vec![2.0], vec![3.0]]).unwrap();
        assert_eq!(x, [[2.0], [1.0]]);
        let w = least_squares(&[vec![1.0, 0.0], vec![0.0, 1.0], vec![1.0, 1.0]], &[2.0, 3.0, 5.0]).unwrap();
        assert!((w[0] - 2.0).abs() < 1e-6 && (w[1] - 3.0).abs() < 1e-6);
    }
}
