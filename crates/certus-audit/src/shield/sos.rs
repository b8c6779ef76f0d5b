//! Putinar certificates, checked exactly: a polynomial is a sum of squares plus sums of squares times constraints.
//!
//! M. Putinar, 'Positive polynomials on compact semi-algebraic sets', Indiana University Mathematics Journal 42 (1993); that a nearly feasible
//! Gram matrix becomes an exact one by absorbing the error: H. Peyrl and P. A. Parrilo, 'Computing sum of squares decompositions with rational
//! coefficients', Theoretical Computer Science 409 (2008).
//!
//! *Idea.* The claim minus all products is computed in rational arithmetic. What is missing is put into the Gram matrix of the free sum of
//! squares, which then has to be positive semidefinite (`positive.rs`). So nothing has to be rounded well: it is enough that the candidate is
//! inside of the cone by more than its error.

use std::collections::HashMap;

use super::certificate::{PutinarCertificate, SumOfSquares};
use super::polynomial::{Monomial, Polynomial, Rational, magnitude, monomial_product, rational};
use super::positive::is_positive_semidefinite;

/// The Gram matrix in exact numbers.
fn exact(squares: &SumOfSquares) -> Option<Vec<Vec<Rational>>> {
    squares.gram.iter().map(|row| row.iter().map(|&entry| rational(entry)).collect()).collect()
}

/// bᵀ G b over so many variables.
fn expanded(squares: &SumOfSquares, gram: &[Vec<Rational>], variables: usize) -> Option<Polynomial> {
    if squares.basis.iter().any(|monomial| monomial.len() != variables) {
        return None;
    }
    let mut sum = Polynomial::zero(variables);
    let two = Rational::from(2u8);
    for (i, row) in gram.iter().enumerate() {
        for (j, entry) in row.iter().enumerate() {
            let monomial = monomial_product(&squares.basis[i], &squares.basis[j])?;
            sum.add_term(monomial, if i == j { entry.clone() } else { entry * &two });
        }
    }
    Some(sum)
}

/// Whether the identity shows that the polynomial is nowhere negative where all constraints are not.
pub fn proves(claim: &Polynomial, constraints: &[Polynomial], identity: &PutinarCertificate) -> Result<(), String> {
    let strange = || "a sum of squares over other variables".to_owned();
    let variables = claim.variables();
    let mut rest = claim.clone();
    for multiplier in &identity.multipliers {
        let constraint = constraints.get(multiplier.constraint);
        let constraint = constraint.ok_or_else(|| format!("there is no constraint {}", multiplier.constraint))?;
        let gram = exact(&multiplier.squares).ok_or_else(strange)?;
        if !is_positive_semidefinite(&gram) {
            return Err(format!("the multiplier of constraint {} is not a sum of squares", multiplier.constraint));
        }
        let factor = expanded(&multiplier.squares, &gram, variables).ok_or_else(strange)?;
        rest = rest.minus(&factor.times(constraint).ok_or_else(strange)?);
    }
    let gram = exact(&identity.free).ok_or_else(strange)?;
    rest = rest.minus(&expanded(&identity.free, &gram, variables).ok_or_else(strange)?);
    // What is left goes into the Gram matrix. A symmetric matrix Δ is at least −diag(row sums of |Δ|), so it is
    // enough that the matrix less these row sums is positive semidefinite.
    let mut places: HashMap<Monomial, Vec<(usize, usize)>> = HashMap::new();
    for i in 0..gram.len() {
        for j in 0..=i {
            let monomial = monomial_product(&identity.free.basis[i], &identity.free.basis[j]).ok_or_else(strange)?;
            places.entry(monomial).or_default().push((i, j));
        }
    }
    let mut loss = vec![Rational::ZERO; gram.len()];
    for (monomial, coefficient) in rest.terms() {
        let Some(known) = places.get(monomial) else {
            return Err(format!("the monomial {monomial:?} is left over, and no square can take it"));
        };
        let entries: usize = known.iter().map(|&(i, j)| if i == j { 1 } else { 2 }).sum();
        let share = magnitude(coefficient.clone()) / Rational::from(entries);
        for &(i, j) in known {
            loss[i] += &share;
            if i != j {
                loss[j] += &share;
            }
        }
    }
    let mut reduced = gram;
    for (i, loss) in loss.into_iter().enumerate() {
        reduced[i][i] -= short_above(&loss);
    }
    if !is_positive_semidefinite(&reduced) {
        return Err("the identity does not hold: its error is larger than the Gram matrix can absorb".to_owned());
    }
    Ok(())
}

/// A number of few digits that is not smaller: exact differences have very long ones.
fn short_above(value: &Rational) -> Rational {
    if value.is_zero() {
        return Rational::ZERO;
    }
    let near = value.to_f64_fast().abs();
    let above = f64::from_bits(near.to_bits() + (1 << 20));
    match rational(above) {
        Some(short) if short >= *value => short,
        _ => value.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn polynomial(terms: &[(i32, [u8; 2])]) -> Polynomial {
        let mut sum = Polynomial::zero(2);
        for (coefficient, monomial) in terms {
            sum.add_term(monomial.to_vec(), Rational::from(*coefficient));
        }
        sum
    }

    #[test]
    fn a_square_is_accepted_and_a_little_less_is_not() {
        // (x + y)² + 1
        let claim = polynomial(&[(1, [2, 0]), (2, [1, 1]), (1, [0, 2]), (1, [0, 0])]);
        let basis = vec![vec![0, 0], vec![1, 0], vec![0, 1]];
        let gram = vec![vec![1.0], vec![0.0, 1.0], vec![0.0, 1.0, 1.0]];
        let identity = PutinarCertificate { free: SumOfSquares { basis, gram }, multipliers: Vec::new() };
        assert_eq!(proves(&claim, &[], &identity), Ok(()));
        let worse = claim.minus(&polynomial(&[(1, [0, 2])]));
        assert!(proves(&worse, &[], &identity).is_err());
        let odd = claim.plus(&polynomial(&[(1, [3, 0])]));
        assert!(proves(&odd, &[], &identity).is_err());
    }

    #[test]
    fn constraints_help() {
        // 2 - x - y = (1 - x) + (1 - y) on the square.
        let claim = polynomial(&[(2, [0, 0]), (-1, [1, 0]), (-1, [0, 1])]);
        let one = || SumOfSquares { basis: vec![vec![0, 0]], gram: vec![vec![1.0]] };
        let constraints = [polynomial(&[(1, [0, 0]), (-1, [1, 0])]), polynomial(&[(1, [0, 0]), (-1, [0, 1])])];
        let multipliers = (0..2).map(|constraint| crate::shield::Multiplier { constraint, squares: one() }).collect();
        let identity = PutinarCertificate { free: SumOfSquares::default(), multipliers };
        assert_eq!(proves(&claim, &constraints, &identity), Ok(()));
        assert!(proves(&claim, &constraints[..1], &identity).is_err());
        let mut negative = identity.clone();
        negative.multipliers[0].squares.gram[0][0] = -1.0;
        assert!(proves(&claim, &constraints, &negative).is_err());
    }
}
