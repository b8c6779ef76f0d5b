//! The modes of a linear map: directions along which it only scales, or planes in which it turns and scales.
//!
//! A left eigenvector w of a matrix A with eigenvalue λ has w·(A x) = λ (w·x) for every x: the map scales the coordinate w·x by λ. A complex pair of eigenvalues
//! gives two coordinates that turn into each other. Eigenvalues are found by the QR algorithm with Wilkinson's shifts (Golub, Van Loan, "Matrix Computations",
//! section 7.5), left eigenvectors by inverse iteration (section 7.6.1). In plain floats: nothing follows from a mode but where to look.

use std::ops::{Add, Mul, Sub};

/// Iterations for an eigenvalue, at most.
const MOST_ITERATIONS: usize = 200;

/// Steps of inverse iteration.
const STEPS: usize = 4;

/// What is this much smaller than the matrix is nothing.
const TINY: f64 = 1e-13;

/// A coordinate, or a pair of coordinates, that a linear map turns into a multiple of itself.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Mode {
    /// The first coordinate: its largest coefficient is 1, or −1.
    pub(super) real: Vec<f64>,
    /// The second one of a pair, which turns.
    pub(super) imaginary: Option<Vec<f64>>,
    /// By how much the map scales.
    pub(super) modulus: f64,
    /// By what angle it turns.
    pub(super) angle: f64,
}

/// A complex number.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Complex {
    re: f64,
    im: f64,
}

/// The modes of a square matrix, given row by row; nothing where they are not found.
pub(super) fn modes(matrix: &[f64], dimension: usize) -> Option<Vec<Mode>> {
    let scale = matrix.iter().fold(0.0f64, |most, entry| most.max(entry.abs()));
    if matrix.len() != dimension * dimension || !(scale.is_finite() && scale > 0.0) {
        return None;
    }
    let mut found = Vec::new();
    for value in eigenvalues(matrix, dimension, scale)? {
        // Of a pair one says all.
        if value.im < -TINY.sqrt() * scale {
            continue;
        }
        let is_real = value.im.abs() <= TINY.sqrt() * scale;
        let vector = left_eigenvector(matrix, dimension, value, scale)?;
        let part = |of: fn(&Complex) -> f64| vector.iter().map(of).collect::<Vec<f64>>();
        found.push(Mode {
            real: part(|own| own.re),
            imaginary: (!is_real).then(|| part(|own| own.im)),
            modulus: value.size(),
            angle: if is_real { 0.0 } else { value.im.atan2(value.re).abs() },
        });
    }
    Some(found)
}

/// All eigenvalues, by the QR algorithm: the last row's other entries vanish, then the matrix is one smaller.
fn eigenvalues(matrix: &[f64], dimension: usize, scale: f64) -> Option<Vec<Complex>> {
    let mut rows: Vec<Vec<Complex>> =
        matrix.chunks(dimension).map(|row| row.iter().map(|&re| Complex { re, im: 0.0 }).collect()).collect();
    let mut found = Vec::new();
    while let Some(last) = rows.len().checked_sub(1) {
        let mut left = MOST_ITERATIONS;
        while rows[last][..last].iter().map(|own| own.size()).sum::<f64>() > TINY * scale {
            left = left.checked_sub(1)?;
            // A shift from outside ends a cycle.
            let shift = match left % 11 {
                0 => Complex { re: scale, im: 0.5 * scale },
                _ => wilkinson(&rows),
            };
            turn(&mut rows, shift)?;
        }
        found.push(rows[last][last]);
        rows.truncate(last);
        rows.iter_mut().for_each(|row| row.truncate(last));
    }
    Some(found)
}

/// The eigenvalue of the last two rows and columns that is nearer to the last entry.
fn wilkinson(rows: &[Vec<Complex>]) -> Complex {
    let n = rows.len();
    let (a, b, c, d) = (rows[n - 2][n - 2], rows[n - 2][n - 1], rows[n - 1][n - 2], rows[n - 1][n - 1]);
    let half = (a + d).times(0.5);
    let root = (half * half - (a * d - b * c)).root();
    let (one, other) = (half + root, half - root);
    if (one - d).size() < (other - d).size() { one } else { other }
}

/// One step: A − shift = QR becomes RQ + shift.
fn turn(rows: &mut [Vec<Complex>], shift: Complex) -> Option<()> {
    let n = rows.len();
    for (place, row) in rows.iter_mut().enumerate() {
        row[place] = row[place] - shift;
    }
    // Columns of Q by Gram and Schmidt, twice, which is as good as orthogonal.
    let mut columns: Vec<Vec<Complex>> = (0..n).map(|column| rows.iter().map(|row| row[column]).collect()).collect();
    let mut upper = vec![vec![Complex::default(); n]; n];
    for column in 0..n {
        for _ in 0..2 {
            for before in 0..column {
                let (done, rest) = columns.split_at_mut(column);
                let factor = inner(&done[before], &rest[0]);
                upper[before][column] = upper[before][column] + factor;
                rest[0].iter_mut().zip(&done[before]).for_each(|(own, other)| *own = *own - factor * *other);
            }
        }
        let length = columns[column].iter().map(|own| own.size().powi(2)).sum::<f64>().sqrt();
        upper[column][column] = Complex { re: length, im: 0.0 };
        // A shift that is an eigenvalue leaves nothing of the last column.
        let inverse = if length > f64::MIN_POSITIVE { 1.0 / length } else { 0.0 };
        columns[column].iter_mut().for_each(|own| *own = own.times(inverse));
    }
    for (row, factors) in rows.iter_mut().zip(&upper) {
        for (place, own) in row.iter_mut().enumerate() {
            *own = (0..n).fold(Complex::default(), |sum, k| sum + factors[k] * columns[place][k]);
        }
    }
    for (place, row) in rows.iter_mut().enumerate() {
        row[place] = row[place] + shift;
    }
    rows.iter().flatten().all(|own| own.re.is_finite() && own.im.is_finite()).then_some(())
}

/// A vector w with w·A = λ w.
fn left_eigenvector(matrix: &[f64], dimension: usize, value: Complex, scale: f64) -> Option<Vec<Complex>> {
    // Next to the eigenvalue, so that the system has a solution.
    let near = value + Complex { re: 1e-10 * scale, im: 1e-10 * scale };
    let mut vector: Vec<Complex> = (0..dimension).map(|k| Complex { re: 1.0 + 0.1 * k as f64, im: 0.3 }).collect();
    for _ in 0..STEPS {
        let mut rows: Vec<Vec<Complex>> = (0..dimension)
            .map(|row| {
                let transposed = (0..dimension).map(|column| Complex { re: matrix[column * dimension + row], im: 0.0 });
                let mut own: Vec<Complex> = transposed.collect();
                own[row] = own[row] - near;
                own.push(vector[row]);
                own
            })
            .collect();
        vector = solved(&mut rows)?;
        let largest = vector.iter().copied().max_by(|a, b| a.size().total_cmp(&b.size()))?;
        if !(largest.size().is_finite() && largest.size() > 0.0) {
            return None;
        }
        let inverse = Complex { re: largest.re, im: -largest.im }.times(1.0 / largest.size().powi(2));
        vector.iter_mut().for_each(|own| *own = *own * inverse);
    }
    Some(vector)
}

/// The solution of a system whose last column is the right-hand side.
fn solved(rows: &mut [Vec<Complex>]) -> Option<Vec<Complex>> {
    let n = rows.len();
    for pivot in 0..n {
        let best = (pivot..n).max_by(|&a, &b| rows[a][pivot].size().total_cmp(&rows[b][pivot].size()))?;
        rows.swap(pivot, best);
        let size = rows[pivot][pivot].size();
        if !(size.is_finite() && size > 0.0) {
            return None;
        }
        let inverse = Complex { re: rows[pivot][pivot].re, im: -rows[pivot][pivot].im }.times(1.0 / (size * size));
        let own: Vec<Complex> = rows[pivot].iter().map(|entry| *entry * inverse).collect();
        for (place, row) in rows.iter_mut().enumerate().filter(|(place, _)| *place != pivot) {
            let factor = row[pivot];
            debug_assert_ne!(place, pivot);
            row.iter_mut().zip(&own).for_each(|(entry, above)| *entry = *entry - factor * *above);
        }
        rows[pivot] = own;
    }
    rows.iter().map(|row| row.last().copied()).collect()
}

/// Σ conj(a)·b.
fn inner(a: &[Complex], b: &[Complex]) -> Complex {
    a.iter().zip(b).fold(Complex::default(), |sum, (a, b)| sum + Complex { re: a.re, im: -a.im } * *b)
}

impl Complex {
    fn size(&self) -> f64 {
        self.re.hypot(self.im)
    }

    fn times(self, factor: f64) -> Complex {
        Complex { re: factor * self.re, im: factor * self.im }
    }

    fn root(self) -> Complex {
        let size = self.size();
        let re = ((size + self.re) / 2.0).max(0.0).sqrt();
        let im = ((size - self.re) / 2.0).max(0.0).sqrt();
        Complex { re, im: im.copysign(self.im) }
    }
}

impl Add for Complex {
    type Output = Complex;

    fn add(self, other: Complex) -> Complex {
        Complex { re: self.re + other.re, im: self.im + other.im }
    }
}

impl Sub for Complex {
    type Output = Complex;

    fn sub(self, other: Complex) -> Complex {
        Complex { re: self.re - other.re, im: self.im - other.im }
    }
}

impl Mul for Complex {
    type Output = Complex;

    fn mul(self, other: Complex) -> Complex {
        Complex { re: self.re * other.re - self.im * other.im, im: self.re * other.im + self.im * other.re }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use certus_numerics::Random;

    /// How far a mode is from being one: w·A − λ w, by its largest entry.
    fn error(matrix: &[f64], dimension: usize, mode: &Mode) -> f64 {
        let zero = vec![0.0; dimension];
        let imaginary = mode.imaginary.as_ref().unwrap_or(&zero);
        let along =
            |w: &[f64], column: usize| (0..dimension).map(|k| w[k] * matrix[k * dimension + column]).sum::<f64>();
        let (re, im) = (mode.modulus * mode.angle.cos(), mode.modulus * mode.angle.sin());
        // A real eigenvalue may be negative.
        let signs = if mode.imaginary.is_none() { [re, -re] } else { [re, re] };
        let errors = signs.map(|re| {
            (0..dimension)
                .map(|k| {
                    let first = along(&mode.real, k) - (re * mode.real[k] - im * imaginary[k]);
                    let second = along(imaginary, k) - (im * mode.real[k] + re * imaginary[k]);
                    first.abs().max(second.abs())
                })
                .fold(0.0, f64::max)
        });
        errors[0].min(errors[1])
    }

    #[test]
    fn a_turn_has_one_pair_and_a_scaling_its_axes() {
        let found = modes(&[0.6, -0.7, 0.7, 0.6], 2).unwrap();
        assert_eq!(found.len(), 1);
        assert!((found[0].modulus - 0.85f64.sqrt()).abs() < 1e-12 && found[0].imaginary.is_some());
        assert!((found[0].angle - 0.7f64.atan2(0.6)).abs() < 1e-9);
        let mut found: Vec<f64> = modes(&[0.5, 1.0, 0.0, -0.25], 2).unwrap().iter().map(|own| own.modulus).collect();
        found.sort_by(f64::total_cmp);
        assert!((found[0] - 0.25).abs() < 1e-12 && (found[1] - 0.5).abs() < 1e-12, "{found:?}");
        assert_eq!(modes(&[0.0; 4], 2), None);
        assert_eq!(modes(&[f64::NAN; 4], 2), None);
    }

    #[test]
    fn modes_of_random_matrices_are_left_eigenvectors() {
        let mut random = Random::new(3, 1);
        for dimension in [1, 2, 3, 4, 7, 12, 20] {
            for _ in 0..20 {
                let matrix: Vec<f64> = (0..dimension * dimension).map(|_| random.between(-1.0, 1.0)).collect();
                let found = modes(&matrix, dimension).unwrap();
                let count: usize = found.iter().map(|own| if own.imaginary.is_some() { 2 } else { 1 }).sum();
                assert_eq!(count, dimension);
                for mode in &found {
                    let error = error(&matrix, dimension, mode);
                    assert!(error < 1e-5, "dimension {dimension}: {error}, {mode:?}");
                }
            }
        }
    }

    #[test]
    fn slow_modes_of_short_steps_are_told_apart() {
        // x'' = -x - 0.5 x', y' = -0.1 y, by a short step.
        let dt = 0.01;
        let matrix = [1.0, dt, 0.0, -dt, 1.0 - 0.5 * dt, 0.0, 0.0, 0.0, 1.0 - 0.1 * dt];
        let found = modes(&matrix, 3).unwrap();
        assert_eq!(found.len(), 2);
        assert!(found.iter().all(|own| error(&matrix, 3, own) < 1e-9 && own.modulus < 1.0), "{found:?}");
    }
}
