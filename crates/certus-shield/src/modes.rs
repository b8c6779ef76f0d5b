//! The eigenmodes of a linear loop, and invariant half-spaces from them.
//!
//! A left eigenvector w of x → A x with eigenvalue μ sees its own motion only: w · A x = μ w · x. Write a normal as a sum of
//! such vectors, the slowest first. If every partial sum is at most h in a state, with 0 ≤ μ < 1, then so it is after a step:
//! with S for the partial sums, Σ μᵢ (Sᵢ − Sᵢ₋₁) = Σ (μᵢ − μᵢ₊₁) Sᵢ ≤ μ₁ h (summation by parts). So a half-space becomes invariant by as many
//! more as there are modes, where the maximal admissible set has a facet for every step that its loop takes to converge.

use crate::linear_algebra::{Matrix, multiply, plus, solve, transposed};

/// More states than this: eigenvalues are not sought.
const MOST_STATES: usize = 8;

/// Eigenvalues closer than this, relative to the largest one, are taken for the same.
const APART: f64 = 1e-7;

/// How far an eigenvector may be off.
const OFF: f64 = 1e-6;

/// Eigenvalues, falling, with their left eigenvectors; none unless they are real, different, and in [0, 1).
pub fn modes(a: &Matrix) -> Option<Vec<(f64, Vec<f64>)>> {
    let n = a.len();
    if n == 0 || n > MOST_STATES {
        return None;
    }
    // Loops of small steps have eigenvalues near one: what differs is A − 1.
    let identity: Matrix = (0..n).map(|i| (0..n).map(|j| f64::from(u8::from(i == j))).collect()).collect();
    let moved = plus(a, &identity, -1.0);
    let size = moved.iter().flatten().fold(0.0f64, |m, x| m.max(x.abs()));
    if size == 0.0 || !size.is_finite() {
        return None;
    }
    let moved: Matrix = moved.iter().map(|row| row.iter().map(|x| x / size).collect()).collect();
    let mut values = real_roots(&characteristic(&moved))?;
    values.sort_by(|a, b| b.total_cmp(a));
    if values.windows(2).any(|pair| pair[0] - pair[1] < APART) {
        return None;
    }
    let across = transposed(&moved);
    let mut all = Vec::with_capacity(n);
    for value in values {
        let shifted = plus(&across, &identity, -(value + 1e-10));
        let mut vector: Matrix = (0..n).map(|i| vec![1.0 + 0.1 * i as f64]).collect();
        for _ in 0..4 {
            vector = solve(&shifted, &vector)?;
            let length = vector.iter().flatten().map(|x| x * x).sum::<f64>().sqrt();
            vector.iter_mut().flatten().for_each(|x| *x /= length);
        }
        let off = plus(&multiply(&across, &vector), &vector, -value);
        let eigenvalue = 1.0 + size * value;
        if off.iter().flatten().any(|x| x.abs() > OFF || x.is_nan()) || !(0.0..1.0).contains(&eigenvalue) {
            return None;
        }
        all.push((eigenvalue, vector.into_iter().flatten().collect()));
    }
    Some(all)
}

/// The partial sums of a normal over modes, each with the eigenvalue of the mode that came last; the last sum is the normal
/// itself.
pub fn partial_sums(modes: &[(f64, Vec<f64>)], normal: &[f64]) -> Option<Vec<(f64, Vec<f64>)>> {
    let vectors: Matrix = modes.iter().map(|(_, vector)| vector.clone()).collect();
    let weights = solve(&transposed(&vectors), &normal.iter().map(|&x| vec![x]).collect())?;
    let mut sum = vec![0.0; normal.len()];
    let mut all = Vec::new();
    for ((value, vector), weight) in modes.iter().zip(&weights) {
        if weight[0].abs() * size(vector) <= 1e-9 * size(normal) {
            continue;
        }
        sum.iter_mut().zip(vector).for_each(|(sum, x)| *sum += weight[0] * x);
        all.push((*value, sum.clone()));
    }
    if let Some((_, last)) = all.last_mut() {
        last.copy_from_slice(normal);
    }
    Some(all)
}

fn size(vector: &[f64]) -> f64 {
    vector.iter().fold(0.0f64, |m, x| m.max(x.abs()))
}

/// The coefficients of det(λ − A), the highest first (Faddeev and LeVerrier).
fn characteristic(a: &Matrix) -> Vec<f64> {
    let n = a.len();
    let mut coefficients = vec![1.0];
    let mut power: Matrix = vec![vec![0.0; n]; n];
    for k in 1..=n {
        let last = coefficients[k - 1];
        (0..n).for_each(|i| power[i][i] += last);
        power = multiply(a, &power);
        let trace: f64 = (0..n).map(|i| power[i][i]).sum();
        coefficients.push(-trace / k as f64);
    }
    coefficients
}

/// All roots of a polynomial, if they are real (all at once, after Durand and Kerner).
fn real_roots(coefficients: &[f64]) -> Option<Vec<f64>> {
    type Complex = (f64, f64);
    let times = |a: Complex, b: Complex| (a.0 * b.0 - a.1 * b.1, a.0 * b.1 + a.1 * b.0);
    let over = |a: Complex, b: Complex| {
        let square = b.0 * b.0 + b.1 * b.1;
        ((a.0 * b.0 + a.1 * b.1) / square, (a.1 * b.0 - a.0 * b.1) / square)
    };
    let n = coefficients.len() - 1;
    let mut roots: Vec<Complex> = Vec::with_capacity(n);
    let mut start = (1.0, 0.0);
    for _ in 0..n {
        start = times(start, (0.4, 0.9));
        roots.push(start);
    }
    for _ in 0..400 {
        for i in 0..n {
            let value = coefficients.iter().fold((0.0, 0.0), |sum, &c| {
                let (re, im) = times(sum, roots[i]);
                (re + c, im)
            });
            let apart = (0..n)
                .filter(|&j| j != i)
                .fold((1.0, 0.0), |all, j| times(all, (roots[i].0 - roots[j].0, roots[i].1 - roots[j].1)));
            let change = over(value, apart);
            roots[i] = (roots[i].0 - change.0, roots[i].1 - change.1);
        }
    }
    let real = |&(re, im): &Complex| (re.is_finite() && im.abs() <= 1e-7 * (1.0 + re.abs())).then_some(re);
    roots.iter().map(real).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn dot(a: &[f64], b: &[f64]) -> f64 {
        a.iter().zip(b).map(|(x, y)| x * y).sum()
    }

    proptest! {
        /// A loop made of given modes gives them back, and where all partial sums are at most one they stay so.
        #[test]
        fn partial_sums_are_kept_by_a_step(
            own in prop::array::uniform3(prop::array::uniform3(-1.0f64..1.0)),
            gaps in prop::array::uniform3(0.02f64..0.3),
            normal in prop::array::uniform3(-1.0f64..1.0),
            state in prop::array::uniform3(-3.0f64..3.0),
        ) {
            let vectors: Matrix = own.iter().map(|row| row.to_vec()).collect();
            let values = [1.0 - gaps[0], 1.0 - gaps[0] - gaps[1], 1.0 - gaps[0] - gaps[1] - gaps[2]];
            let scaled: Matrix = vectors.iter().zip(values).map(|(row, value)| row.iter().map(|x| value * x).collect()).collect();
            // W A = diag(values) W.
            let Some(a) = solve(&vectors, &scaled) else { return Ok(()) };
            prop_assume!(a.iter().flatten().all(|x| x.abs() < 50.0));
            let found = modes(&a);
            prop_assume!(found.is_some());
            let found = found.unwrap();
            for ((value, vector), expected) in found.iter().zip(values) {
                prop_assert!((value - expected).abs() < 1e-5, "{value} {expected}");
                for j in 0..3 {
                    let column: Vec<f64> = a.iter().map(|row| row[j]).collect();
                    prop_assert!((dot(vector, &column) - value * vector[j]).abs() < 1e-4);
                }
            }
            let sums: Vec<Vec<f64>> = partial_sums(&found, &normal).unwrap().into_iter().map(|(_, sum)| sum).collect();
            prop_assert!(sums.last().is_some_and(|last| *last == normal));
            let most = |x: &[f64]| sums.iter().map(|sum| dot(sum, x)).fold(0.0f64, f64::max);
            let next: Vec<f64> = a.iter().map(|row| dot(row, &state)).collect();
            let scale = 1.0 + sums.iter().map(|sum| size(sum)).fold(0.0f64, f64::max);
            prop_assert!(most(&next) <= most(&state) + 1e-3 * scale);
        }
    }

    #[test]
    fn modes_of_a_braked_car_are_real_and_those_of_a_swing_are_not() {
        // v' = −1.2 v − 0.1 x.
        let car = vec![vec![1.0, 0.01], vec![-0.001, 0.988]];
        let own = modes(&car).unwrap();
        assert!((own[0].0 - (1.0 - 0.01 * 0.090098)).abs() < 1e-6 && (own[1].0 - (1.0 - 0.01 * 1.109902)).abs() < 1e-6);
        let swing = vec![vec![1.0, 0.01], vec![-0.01, 0.99]];
        assert_eq!(modes(&swing), None);
        // Two equal ones.
        assert_eq!(modes(&vec![vec![0.5, 0.0], vec![0.0, 0.5]]), None);
        // One that grows.
        assert_eq!(modes(&vec![vec![1.5, 0.0], vec![0.0, 0.5]]), None);
    }
}
