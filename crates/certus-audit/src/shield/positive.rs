//! Is a symmetric matrix of doubles positive semidefinite, exactly?
//!
//! Fraction-free elimination: E. H. Bareiss, 'Sylvester's identity and multistep integer-preserving Gaussian elimination', Mathematics of
//! Computation 22 (1968). The doubles are integers times a power of two, so every division is exact, and the pivots have the signs of
//! those of LDLᵀ.

use dashu_base::Sign;
use dashu_int::IBig;

use super::polynomial::Rational;

/// Whether a symmetric matrix (rows of its lower triangle) less a diagonal is positive semidefinite.
// Elimination reads best with indices.
#[allow(clippy::needless_range_loop)]
pub fn is_positive_semidefinite(lower: &[Vec<Rational>]) -> bool {
    let size = lower.len();
    // One common denominator for all: the product would do, the largest power of two mostly does.
    let mut denominator = dashu_int::UBig::ONE;
    for entry in lower.iter().flatten() {
        let own = entry.denominator();
        if !(&denominator % own).is_zero() {
            let common = dashu_base::Gcd::gcd(&denominator, own);
            denominator = denominator / common * own;
        }
    }
    let mut matrix = vec![vec![IBig::ZERO; size]; size];
    for (i, row) in lower.iter().enumerate() {
        for (j, entry) in row.iter().enumerate() {
            let scaled = entry.numerator() * IBig::from(&denominator / entry.denominator());
            matrix[i][j] = scaled.clone();
            matrix[j][i] = scaled;
        }
    }
    let mut previous = IBig::ONE;
    for k in 0..size {
        let pivot = matrix[k][k].clone();
        if pivot.is_zero() {
            // A zero on the diagonal needs zeros beside it; then it changes nothing below.
            if (k + 1..size).any(|j| !matrix[k][j].is_zero()) {
                return false;
            }
            continue;
        }
        if pivot.sign() == Sign::Negative {
            return false;
        }
        for i in k + 1..size {
            for j in k + 1..=i {
                let reduced = (&pivot * &matrix[i][j] - &matrix[i][k] * &matrix[k][j]) / &previous;
                matrix[i][j] = reduced;
            }
        }
        for i in k + 1..size {
            for j in i + 1..size {
                matrix[i][j] = matrix[j][i].clone();
            }
        }
        previous = pivot;
    }
    true
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn lower(matrix: &[Vec<i32>]) -> Vec<Vec<Rational>> {
        matrix.iter().enumerate().map(|(i, row)| row[..=i].iter().map(|&x| Rational::from(x)).collect()).collect()
    }

    #[test]
    fn singular_matrices_are_accepted_and_indefinite_ones_are_not() {
        assert!(is_positive_semidefinite(&lower(&[vec![1, 1], vec![1, 1]])));
        assert!(is_positive_semidefinite(&lower(&[vec![0, 0], vec![0, 3]])));
        assert!(!is_positive_semidefinite(&lower(&[vec![0, 1], vec![1, 3]])));
        assert!(!is_positive_semidefinite(&lower(&[vec![1, 2], vec![2, 1]])));
        assert!(is_positive_semidefinite(&[]));
    }

    proptest! {
        /// A product with its transpose is accepted; less a little more than its smallest direction it is not.
        #[test]
        fn products_are_positive(rows in proptest::collection::vec(proptest::collection::vec(-5i32..5, 4), 4)) {
            let product: Vec<Vec<i32>> = rows
                .iter()
                .map(|a| rows.iter().map(|b| a.iter().zip(b).map(|(x, y)| x * y).sum()).collect())
                .collect();
            prop_assert!(is_positive_semidefinite(&lower(&product)));
            let mut worse = product.clone();
            worse[2][2] = -1;
            prop_assert!(!is_positive_semidefinite(&lower(&worse)));
        }
    }
}
