//! Linear enclosure: a nearly linear step as a linear one with an error, for which polyhedra are proved.
//!
//! Around the middle of each variable's range, every term of a higher degree is replaced by the nearest linear one: over
//! |t| ≤ r, t² is r²/2 up to r²/2, t³ is 3r²t/4 up to r³/4 (the Chebyshev polynomials T₂ and T₃ are at most one), and any
//! other product is bounded by its largest magnitude. The sum of what is left out is one more choice of the environment for
//! each state that needs one.

use super::model::Model;
use super::polynomial::{Monomial, Polynomial, Rational, is_negative, magnitude};

/// The middle of a range, and half its width.
type Around = (Rational, Rational);

impl Model {
    /// A model with an affine step that has every transition of this one from states of the domain with actions within their
    /// limits; the model itself if it is affine, and none if a variable that is not linear has no bounds.
    pub fn linear_enclosure(&self) -> Option<Model> {
        if self.next.iter().all(|next| next.degree() <= 1) {
            return Some(self.clone());
        }
        let half = Rational::from(2u8);
        let around = |lower: &Rational, upper: &Rational| ((lower + upper) / &half, (upper - lower) / &half);
        let ranges: Vec<Option<Around>> = self
            .domain
            .iter()
            .chain(&self.actions)
            .map(|range| Some(around(range.lower.as_ref()?, range.upper.as_ref()?)))
            .chain(self.choices.iter().map(|(lower, upper)| Some(around(lower, upper))))
            .collect();
        let mut choices = self.choices.clone();
        let mut errors = Vec::with_capacity(self.next.len());
        for next in &self.next {
            let (affine, error) = nearest_affine(next, &ranges)?;
            let place = (!error.is_zero()).then(|| self.variables() + choices.len() - self.choices.len());
            if place.is_some() {
                choices.push((-error.clone(), error));
            }
            errors.push((affine, place));
        }
        let variables = self.states.len() + self.actions.len() + choices.len();
        let next = errors.into_iter().map(|(affine, place)| {
            let affine = affine.widened(variables);
            place.map_or_else(|| affine.clone(), |place| affine.plus(&Polynomial::variable(variables, place)))
        });
        Some(Model { next: next.collect(), choices, ..self.clone() })
    }
}

/// An affine polynomial, and how far it is from the given one at most.
fn nearest_affine(polynomial: &Polynomial, ranges: &[Option<Around>]) -> Option<(Polynomial, Rational)> {
    if polynomial.degree() <= 1 {
        return Some((polynomial.clone(), Rational::ZERO));
    }
    let variables = polynomial.variables();
    // Variables that only occur alone and once stay as they are, bounded or not.
    let curved: Vec<bool> = (0..variables)
        .map(|v| polynomial.terms().any(|(m, _)| m[v] > 0 && m.iter().map(|&e| u32::from(e)).sum::<u32>() > 1))
        .collect();
    let mut halves = vec![Rational::ZERO; variables];
    let (mut there, mut back) = (Vec::with_capacity(variables), Vec::with_capacity(variables));
    for (v, range) in ranges.iter().enumerate() {
        let x = Polynomial::variable(variables, v);
        match (curved[v], range) {
            (false, _) => {
                there.push(x.clone());
                back.push(x);
            }
            (true, Some((middle, half))) => {
                let middle = Polynomial::constant(variables, middle.clone());
                halves[v] = half.clone();
                there.push(x.plus(&middle));
                back.push(x.minus(&middle));
            }
            (true, None) => return None,
        }
    }
    let mut affine = Polynomial::zero(variables);
    let mut error = Rational::ZERO;
    for (monomial, coefficient) in polynomial.compose(&there)?.terms() {
        let (near, off) = nearest_of_monomial(monomial, &halves);
        affine.add_scaled(&near, coefficient);
        error += magnitude(coefficient.clone()) * off;
    }
    debug_assert!(!is_negative(&error));
    Some((affine.compose(&back)?, error))
}

/// The same for one monomial over |xᵥ| ≤ the given halves.
fn nearest_of_monomial(monomial: &Monomial, halves: &[Rational]) -> (Polynomial, Rational) {
    let variables = monomial.len();
    let used: Vec<(usize, u8)> = monomial.iter().copied().enumerate().filter(|&(_, e)| e > 0).collect();
    let number = |value: Rational| Polynomial::constant(variables, value);
    let largest = used.iter().fold(Rational::ONE, |product, &(v, e)| (0..e).fold(product, |p, _| p * &halves[v]));
    match used.as_slice() {
        [] => (number(Rational::ONE), Rational::ZERO),
        [(v, 1)] => (Polynomial::variable(variables, *v), Rational::ZERO),
        [(v, 3)] => {
            let slope = Rational::from(3u8) * &halves[*v] * &halves[*v] / Rational::from(4u8);
            (Polynomial::variable(variables, *v).scaled(&slope), largest / Rational::from(4u8))
        }
        all if all.iter().all(|(_, e)| e % 2 == 0) => {
            // Between zero and the largest.
            let middle = largest / Rational::from(2u8);
            (number(middle.clone()), middle)
        }
        _ => (Polynomial::zero(variables), largest),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// At points of the box the affine polynomial is as near as it says.
        #[test]
        fn the_error_bounds_the_difference(
            terms in proptest::collection::vec((proptest::collection::vec(0u8..5, 2), -9i32..9), 1..6),
            ends in proptest::collection::vec((-4i32..4, 0i32..4), 2),
            shares in proptest::collection::vec(0i32..=8, 2),
        ) {
            let mut polynomial = Polynomial::zero(2);
            terms.into_iter().for_each(|(m, c)| polynomial.add_term(m, Rational::from(c)));
            let half = Rational::from(2);
            let ranges: Vec<Option<Around>> = ends
                .iter()
                .map(|&(a, w)| Some((Rational::from(2 * a + w) / &half, Rational::from(w) / &half)))
                .collect();
            let point: Vec<Rational> = ends
                .iter()
                .zip(&shares)
                .map(|(&(a, w), &s)| Rational::from(a) + Rational::from(w * s) / Rational::from(8))
                .collect();
            let (affine, error) = nearest_affine(&polynomial, &ranges).unwrap();
            prop_assert!(affine.degree() <= 1);
            prop_assert!(magnitude(affine.value(&point) - polynomial.value(&point)) <= error);
        }
    }

    #[test]
    fn a_cube_is_nearly_linear_and_what_is_unbounded_is_refused() {
        // x³ over |x| ≤ 2 is 3x up to 2; y is free.
        let mut polynomial = Polynomial::variable(2, 1);
        polynomial.add_term(vec![3, 0], Rational::ONE);
        let range = Some((Rational::ZERO, Rational::from(2)));
        let (affine, error) = nearest_affine(&polynomial, &[range, None]).unwrap();
        assert_eq!(affine.affine().unwrap().1, [Rational::from(3), Rational::ONE]);
        assert_eq!(error, Rational::from(2));
        assert!(nearest_affine(&polynomial, &[None, None]).is_none());
    }
}
