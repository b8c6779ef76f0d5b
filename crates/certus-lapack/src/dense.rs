//! Dense linear algebra over column-major slices.
//!
//! The textbook methods of G. H. Golub and C. F. Van Loan, 'Matrix Computations' (4th edition, 2013): Cholesky factorisation; the cyclic Jacobi method for
//! eigenvectors; Householder's tridiagonal form and implicit QL steps for eigenvalues alone; one-sided Jacobi rotations (M. R. Hestenes, 1958) for
//! singular values. Jacobi's methods are slow for hundreds of rows and accurate always.

/// A column-major view: element (i, j) at `i + j * stride`.
#[derive(Clone, Copy)]
pub struct View<'a> {
    /// The numbers.
    pub data: &'a [f64],
    /// The distance between columns.
    pub stride: usize,
    /// Whether rows and columns change places.
    pub transposed: bool,
}

impl View<'_> {
    fn at(&self, row: usize, column: usize) -> f64 {
        match self.transposed {
            false => self.data[row + column * self.stride],
            true => self.data[column + row * self.stride],
        }
    }
}

/// `c = alpha * a * b + beta * c`, with `a` of `rows` × `inner` and `b` of `inner` × `columns`.
#[allow(clippy::too_many_arguments)]
pub fn multiply(
    (rows, columns, inner): (usize, usize, usize),
    alpha: f64,
    a: View<'_>,
    b: View<'_>,
    beta: f64,
    c: &mut [f64],
    c_stride: usize,
) {
    let mut row = vec![0.0; inner];
    // Rows of `a` are gathered once, so that the innermost loop runs over contiguous numbers of `b` where it can.
    for i in 0..rows {
        for (k, value) in row.iter_mut().enumerate() {
            *value = a.at(i, k);
        }
        for j in 0..columns {
            let sum: f64 = if b.transposed {
                row.iter().enumerate().map(|(k, value)| value * b.at(k, j)).sum()
            } else {
                row.iter().zip(&b.data[j * b.stride..]).map(|(x, y)| x * y).sum()
            };
            let target = &mut c[i + j * c_stride];
            *target = alpha * sum + if beta == 0.0 { 0.0 } else { beta * *target };
        }
    }
}

/// The Cholesky factor of a symmetric matrix in place: `a = l lᵀ` in the lower triangle, or `a = uᵀ u` in the upper one.
/// An error is the number of the first leading minor that is not positive.
pub fn cholesky(n: usize, a: &mut [f64], stride: usize, upper: bool) -> Result<(), usize> {
    let place = |i: usize, j: usize| if upper { j + i * stride } else { i + j * stride };
    for j in 0..n {
        let mut diagonal = a[place(j, j)];
        for k in 0..j {
            diagonal -= a[place(j, k)] * a[place(j, k)];
        }
        if diagonal.is_nan() || diagonal <= 0.0 {
            return Err(j + 1);
        }
        let root = diagonal.sqrt();
        a[place(j, j)] = root;
        for i in j + 1..n {
            let mut sum = a[place(i, j)];
            for k in 0..j {
                sum -= a[place(i, k)] * a[place(j, k)];
            }
            a[place(i, j)] = sum / root;
        }
    }
    Ok(())
}

/// Solves with a factor of [`cholesky`], in place, for one right-hand side.
pub fn cholesky_solve(n: usize, a: &[f64], stride: usize, upper: bool, b: &mut [f64]) {
    let factor = |i: usize, j: usize| if upper { a[j + i * stride] } else { a[i + j * stride] };
    for i in 0..n {
        let known: f64 = (0..i).map(|k| factor(i, k) * b[k]).sum();
        b[i] = (b[i] - known) / factor(i, i);
    }
    for i in (0..n).rev() {
        let known: f64 = (i + 1..n).map(|k| factor(k, i) * b[k]).sum();
        b[i] = (b[i] - known) / factor(i, i);
    }
}

/// Eigenvalues of a symmetric matrix (all of it given, column-major, stride `n`), ascending. The matrix is overwritten by
/// its eigenvectors, one per column in the same order. Cyclic Jacobi rotations: slow for hundreds of rows, accurate always.
pub fn symmetric_eigen(n: usize, a: &mut [f64]) -> Vec<f64> {
    let mut vectors = vec![0.0; n * n];
    for i in 0..n {
        vectors[i + i * n] = 1.0;
    }
    for _sweep in 0..60 {
        let mut moved = false;
        for p in 0..n {
            for q in p + 1..n {
                let (app, aqq, apq) = (a[p + p * n], a[q + q * n], a[p + q * n]);
                if apq.abs() <= f64::EPSILON * 0.1 * (app.abs() * aqq.abs()).sqrt() || apq.abs() < 1e-300 {
                    continue;
                }
                moved = true;
                let (cosine, sine) = rotation(app, aqq, apq);
                for k in 0..n {
                    let (x, y) = (a[k + p * n], a[k + q * n]);
                    a[k + p * n] = cosine * x - sine * y;
                    a[k + q * n] = sine * x + cosine * y;
                }
                for k in 0..n {
                    let (x, y) = (a[p + k * n], a[q + k * n]);
                    a[p + k * n] = cosine * x - sine * y;
                    a[q + k * n] = sine * x + cosine * y;
                }
                for k in 0..n {
                    let (x, y) = (vectors[k + p * n], vectors[k + q * n]);
                    vectors[k + p * n] = cosine * x - sine * y;
                    vectors[k + q * n] = sine * x + cosine * y;
                }
            }
        }
        if !moved {
            break;
        }
    }
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|&i, &j| a[i + i * n].total_cmp(&a[j + j * n]));
    let values = order.iter().map(|&i| a[i + i * n]).collect();
    for (target, &source) in order.iter().enumerate() {
        a[target * n..(target + 1) * n].copy_from_slice(&vectors[source * n..(source + 1) * n]);
    }
    values
}

/// The rotation that makes the off-diagonal element of a symmetric 2 × 2 matrix zero.
fn rotation(app: f64, aqq: f64, apq: f64) -> (f64, f64) {
    let theta = (aqq - app) / (2.0 * apq);
    let tangent = theta.signum() / (theta.abs() + theta.hypot(1.0));
    let cosine = 1.0 / tangent.hypot(1.0);
    (cosine, tangent * cosine)
}

/// Eigenvalues alone, ascending: Householder's tridiagonal form, then implicit QL steps.
pub fn symmetric_eigenvalues(n: usize, a: &mut [f64]) -> Option<Vec<f64>> {
    let mut diagonal = vec![0.0; n];
    let mut beside = vec![0.0; n];
    let mut work = vec![0.0; n];
    for k in 0..n.saturating_sub(2) {
        // The column below the diagonal becomes a multiple of a unit vector.
        let norm = (k + 1..n).map(|i| a[i + k * n] * a[i + k * n]).sum::<f64>().sqrt();
        if norm == 0.0 {
            continue;
        }
        let alpha = if a[k + 1 + k * n] > 0.0 { -norm } else { norm };
        let mut v: Vec<f64> = (k + 1..n).map(|i| a[i + k * n]).collect();
        v[0] -= alpha;
        let size: f64 = v.iter().map(|x| x * x).sum();
        if size == 0.0 {
            continue;
        }
        let m = n - k - 1;
        for i in 0..m {
            work[i] = (0..m).map(|j| a[(k + 1 + j) + (k + 1 + i) * n] * v[j]).sum::<f64>() * 2.0 / size;
        }
        let half = v.iter().zip(&work).map(|(x, y)| x * y).sum::<f64>() / size;
        for (w, x) in work.iter_mut().zip(&v) {
            *w -= half * x;
        }
        for j in 0..m {
            for i in 0..m {
                a[(k + 1 + i) + (k + 1 + j) * n] -= v[i] * work[j] + work[i] * v[j];
            }
        }
        a[k + 1 + k * n] = alpha;
    }
    for i in 0..n {
        diagonal[i] = a[i + i * n];
        beside[i] = if i + 1 < n { a[i + 1 + i * n] } else { 0.0 };
    }
    ql(&mut diagonal, &mut beside)?;
    diagonal.sort_by(f64::total_cmp);
    Some(diagonal)
}

/// Eigenvalues of a symmetric tridiagonal matrix in place of its diagonal.
fn ql(diagonal: &mut [f64], beside: &mut [f64]) -> Option<()> {
    let n = diagonal.len();
    for l in 0..n {
        for round in 0.. {
            let small = |m: usize| beside[m].abs() <= f64::EPSILON * (diagonal[m].abs() + diagonal[m + 1].abs());
            let m = (l..n - 1).find(|&m| small(m)).unwrap_or(n - 1);
            if m == l {
                break;
            }
            if round == 80 {
                return None;
            }
            let mut g = (diagonal[l + 1] - diagonal[l]) / (2.0 * beside[l]);
            let r = g.hypot(1.0);
            g = diagonal[m] - diagonal[l] + beside[l] / (g + if g >= 0.0 { r } else { -r });
            let (mut s, mut c, mut p) = (1.0, 1.0, 0.0);
            let mut split = false;
            for i in (l..m).rev() {
                let f = s * beside[i];
                let b = c * beside[i];
                let r = f.hypot(g);
                beside[i + 1] = r;
                if r == 0.0 {
                    diagonal[i + 1] -= p;
                    beside[m] = 0.0;
                    split = true;
                    break;
                }
                s = f / r;
                c = g / r;
                g = diagonal[i + 1] - p;
                let t = (diagonal[i] - g) * s + 2.0 * c * b;
                p = s * t;
                diagonal[i + 1] = g + p;
                g = c * t - b;
            }
            if !split {
                diagonal[l] -= p;
                beside[l] = g;
                beside[m] = 0.0;
            }
        }
    }
    Some(())
}

/// Singular values (descending) with `u` and `v` of a square matrix `a = u diag(s) vᵀ`, by one-sided Jacobi rotations;
/// `a` is overwritten by `u`, and `v` is returned, all column-major with stride `n`.
pub fn singular_values(n: usize, a: &mut [f64]) -> (Vec<f64>, Vec<f64>) {
    let mut v = vec![0.0; n * n];
    for i in 0..n {
        v[i + i * n] = 1.0;
    }
    let dot = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(a, b)| a * b).sum::<f64>();
    for _sweep in 0..60 {
        let mut moved = false;
        for p in 0..n {
            for q in p + 1..n {
                let (left, right) = a.split_at_mut(q * n);
                let (x, y) = (&mut left[p * n..(p + 1) * n], &mut right[..n]);
                let (xx, yy, xy) = (dot(x, x), dot(y, y), dot(x, y));
                if xy.abs() <= f64::EPSILON * (xx * yy).sqrt() || xy.abs() < 1e-300 {
                    continue;
                }
                moved = true;
                let (cosine, sine) = rotation(xx, yy, xy);
                rotate(x, y, cosine, sine);
                let (left, right) = v.split_at_mut(q * n);
                rotate(&mut left[p * n..(p + 1) * n], &mut right[..n], cosine, sine);
            }
        }
        if !moved {
            break;
        }
    }
    let norms: Vec<f64> = (0..n).map(|j| dot(&a[j * n..(j + 1) * n], &a[j * n..(j + 1) * n]).sqrt()).collect();
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|&i, &j| norms[j].total_cmp(&norms[i]));
    let (old_u, old_v) = (a.to_vec(), v.clone());
    for (target, &source) in order.iter().enumerate() {
        let scale = if norms[source] > 0.0 { 1.0 / norms[source] } else { 0.0 };
        for k in 0..n {
            a[k + target * n] = old_u[k + source * n] * scale;
            v[k + target * n] = old_v[k + source * n];
        }
    }
    (order.iter().map(|&j| norms[j]).collect(), v)
}

fn rotate(x: &mut [f64], y: &mut [f64], cosine: f64, sine: f64) {
    for (a, b) in x.iter_mut().zip(y) {
        (*a, *b) = (cosine * *a - sine * *b, sine * *a + cosine * *b);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn product(n: usize, a: &[f64], b: &[f64], transposed: bool) -> Vec<f64> {
        let mut c = vec![0.0; n * n];
        let view = |data| View { data, stride: n, transposed: false };
        multiply((n, n, n), 1.0, view(a), View { data: b, stride: n, transposed }, 0.0, &mut c, n);
        c
    }

    fn close(a: &[f64], b: &[f64]) -> bool {
        a.iter().zip(b).all(|(x, y)| (x - y).abs() < 1e-10)
    }

    fn square() -> impl Strategy<Value = (usize, Vec<f64>)> {
        (1usize..8).prop_flat_map(|n| (Just(n), proptest::collection::vec(-2.0..2.0f64, n * n)))
    }

    proptest! {
        #[test]
        fn singular_vectors_give_the_matrix_back((n, a) in square()) {
            let mut u = a.clone();
            let (s, v) = singular_values(n, &mut u);
            prop_assert!(s.windows(2).all(|pair| pair[0] >= pair[1]));
            let scaled: Vec<f64> = (0..n * n).map(|k| u[k] * s[k / n]).collect();
            prop_assert!(close(&product(n, &scaled, &v, true), &a));
        }

        #[test]
        fn both_ways_find_the_same_eigenvalues((n, a) in square()) {
            let symmetric: Vec<f64> = (0..n * n).map(|k| a[k] + a[(k % n) * n + k / n]).collect();
            let values = symmetric_eigenvalues(n, &mut symmetric.clone()).unwrap();
            let mut vectors = symmetric.clone();
            let others = symmetric_eigen(n, &mut vectors);
            prop_assert!(close(&values, &others), "{values:?} {others:?}");
            let scaled: Vec<f64> = (0..n * n).map(|k| vectors[k] * others[k / n]).collect();
            prop_assert!(close(&product(n, &scaled, &vectors, true), &symmetric));
        }

        #[test]
        fn cholesky_solves((n, a) in square(), upper in any::<bool>()) {
            let mut positive = product(n, &a, &a, true);
            (0..n).for_each(|i| positive[i + i * n] += 1.0);
            let mut factor = positive.clone();
            prop_assert_eq!(cholesky(n, &mut factor, n, upper), Ok(()));
            let mut x: Vec<f64> = (0..n).map(|i| i as f64).collect();
            cholesky_solve(n, &factor, n, upper, &mut x);
            for i in 0..n {
                let sum: f64 = (0..n).map(|j| positive[i + j * n] * x[j]).sum();
                prop_assert!((sum - i as f64).abs() < 1e-9);
            }
        }
    }

    #[test]
    fn a_matrix_that_is_not_positive_is_refused() {
        assert_eq!(cholesky(2, &mut [1.0, 2.0, 2.0, 1.0], 2, false), Err(2));
    }
}
