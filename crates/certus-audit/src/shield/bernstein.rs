//! An upper bound of a polynomial over a box: its largest Bernstein coefficient (J. Garloff, 'Convergent bounds for the range of multivariate
//! polynomials', 1985), in rational arithmetic. A polynomial is a convex combination of its Bernstein coefficients over the box.

use super::polynomial::{Polynomial, Rational};

/// Most coefficients that are computed.
const MAX_COEFFICIENTS: usize = 1 << 16;

/// An upper bound over a box; none if there would be too many coefficients.
pub fn upper(polynomial: &Polynomial, region: &[(Rational, Rational)]) -> Option<Rational> {
    let variables = polynomial.variables();
    let mut degrees = vec![0usize; variables];
    for (monomial, _) in polynomial.terms() {
        for (degree, &exponent) in degrees.iter_mut().zip(monomial) {
            *degree = (*degree).max(usize::from(exponent));
        }
    }
    let count = degrees.iter().try_fold(1usize, |product, d| product.checked_mul(d + 1))?;
    if count > MAX_COEFFICIENTS {
        return None;
    }
    // Coefficients over the unit box, as a dense tensor with the last variable fastest.
    let unit: Vec<Polynomial> = region
        .iter()
        .enumerate()
        .map(|(i, (lower, upper))| {
            let width = upper - lower;
            let mut scaled = Polynomial::variable(variables, i).scaled(&width);
            scaled.add_term(vec![0; variables], lower.clone());
            scaled
        })
        .collect();
    let mapped = polynomial.compose(&unit)?;
    let mut strides = vec![1usize; variables];
    for i in (0..variables.saturating_sub(1)).rev() {
        strides[i] = strides[i + 1] * (degrees[i + 1] + 1);
    }
    let mut tensor = vec![Rational::ZERO; count];
    for (monomial, coefficient) in mapped.terms() {
        let place: usize = monomial.iter().zip(&strides).map(|(&e, stride)| usize::from(e) * stride).sum();
        tensor[place] = coefficient.clone();
    }
    // Along each axis: b_i = Σ_{k ≤ i} C(i, k) / C(d, k) a_k.
    for axis in 0..variables {
        let (degree, stride) = (degrees[axis], strides[axis]);
        if degree == 0 {
            continue;
        }
        let old = tensor.clone();
        for (place, entry) in tensor.iter_mut().enumerate() {
            let i = place / stride % (degree + 1);
            let base = place - i * stride;
            *entry = Rational::ZERO;
            for k in 0..=i {
                let share = Rational::from(binomial(i, k)) / Rational::from(binomial(degree, k));
                *entry += &old[base + k * stride] * share;
            }
        }
    }
    tensor.into_iter().max()
}

fn binomial(n: usize, k: usize) -> u64 {
    (0..k).fold(1u64, |product, i| product * (n - i) as u64 / (i + 1) as u64)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn no_point_of_the_box_is_above(
            terms in proptest::collection::vec((proptest::collection::vec(0u8..4, 2), -9i32..9), 1..6),
            ends in proptest::collection::vec((-4i32..4, 0i32..4), 2),
            shares in proptest::collection::vec(0i32..=4, 2),
        ) {
            let mut polynomial = Polynomial::zero(2);
            terms.into_iter().for_each(|(m, c)| polynomial.add_term(m, Rational::from(c)));
            let region: Vec<_> = ends.iter().map(|&(a, w)| (Rational::from(a), Rational::from(a + w))).collect();
            let point: Vec<Rational> =
                ends.iter().zip(&shares).map(|(&(a, w), &s)| Rational::from(a) + Rational::from(w * s) / Rational::from(4)).collect();
            prop_assert!(polynomial.value(&point) <= upper(&polynomial, &region).unwrap());
        }
    }
}
