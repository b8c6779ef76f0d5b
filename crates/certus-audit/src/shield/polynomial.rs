//! Polynomials with rational coefficients.

use std::collections::BTreeMap;

use dashu_base::Sign;

/// An exact number. Only common factors of two are cancelled: nearly all coefficients come from doubles.
pub type Rational = dashu_ratio::Relaxed;

/// The exponent of each variable.
pub type Monomial = Vec<u8>;

/// The exact value of a double; none if it is not a finite number.
pub fn rational(value: f64) -> Option<Rational> {
    Rational::try_from(value).ok()
}

/// A double near an exact number.
pub fn rounded(value: &Rational) -> f64 {
    value.to_f64_fast()
}

/// A polynomial over a fixed number of variables; no stored coefficient is zero.
#[derive(Clone, Debug, PartialEq)]
pub struct Polynomial {
    variables: usize,
    terms: BTreeMap<Monomial, Rational>,
}

impl Polynomial {
    /// Zero.
    pub fn zero(variables: usize) -> Self {
        Polynomial { variables, terms: BTreeMap::new() }
    }

    /// A number.
    pub fn constant(variables: usize, value: Rational) -> Self {
        let mut constant = Polynomial::zero(variables);
        constant.add_term(vec![0; variables], value);
        constant
    }

    /// A variable.
    pub fn variable(variables: usize, index: usize) -> Self {
        let mut monomial = vec![0; variables];
        monomial[index] = 1;
        let mut variable = Polynomial::zero(variables);
        variable.add_term(monomial, Rational::ONE);
        variable
    }

    /// The number of variables.
    pub fn variables(&self) -> usize {
        self.variables
    }

    /// The monomials with their coefficients.
    pub fn terms(&self) -> impl Iterator<Item = (&Monomial, &Rational)> {
        self.terms.iter()
    }

    /// Whether it is zero.
    pub fn is_zero(&self) -> bool {
        self.terms.is_empty()
    }

    /// The coefficient of a monomial.
    pub fn coefficient(&self, monomial: &[u8]) -> Rational {
        self.terms.get(monomial).cloned().unwrap_or(Rational::ZERO)
    }

    /// The value of a polynomial without variables in it.
    pub fn as_constant(&self) -> Option<Rational> {
        match self.terms.len() {
            0 => Some(Rational::ZERO),
            1 => self.terms.iter().find(|(monomial, _)| monomial.iter().all(|&e| e == 0)).map(|(_, c)| c.clone()),
            _ => None,
        }
    }

    /// The total degree.
    pub fn degree(&self) -> u32 {
        self.terms.keys().map(|monomial| monomial.iter().map(|&e| u32::from(e)).sum()).max().unwrap_or(0)
    }

    /// Adds a term.
    pub fn add_term(&mut self, monomial: Monomial, coefficient: Rational) {
        if coefficient.is_zero() {
            return;
        }
        let entry = self.terms.entry(monomial);
        match entry {
            std::collections::btree_map::Entry::Vacant(place) => {
                place.insert(coefficient);
            }
            std::collections::btree_map::Entry::Occupied(mut place) => {
                let sum = place.get() + coefficient;
                if sum.is_zero() {
                    place.remove();
                } else {
                    place.insert(sum);
                }
            }
        }
    }

    /// Adds a multiple of another polynomial.
    pub fn add_scaled(&mut self, other: &Polynomial, factor: &Rational) {
        for (monomial, coefficient) in &other.terms {
            self.add_term(monomial.clone(), coefficient * factor);
        }
    }

    /// The sum.
    pub fn plus(&self, other: &Polynomial) -> Polynomial {
        let mut sum = self.clone();
        sum.add_scaled(other, &Rational::ONE);
        sum
    }

    /// The difference.
    pub fn minus(&self, other: &Polynomial) -> Polynomial {
        let mut difference = self.clone();
        difference.add_scaled(other, &-Rational::ONE);
        difference
    }

    /// A multiple.
    pub fn scaled(&self, factor: &Rational) -> Polynomial {
        let mut scaled = Polynomial::zero(self.variables);
        scaled.add_scaled(self, factor);
        scaled
    }

    /// The product; none if an exponent leaves its range.
    pub fn times(&self, other: &Polynomial) -> Option<Polynomial> {
        let mut product = Polynomial::zero(self.variables);
        for (left, a) in &self.terms {
            for (right, b) in &other.terms {
                product.add_term(monomial_product(left, right)?, a * b);
            }
        }
        Some(product)
    }

    /// A power; none if an exponent leaves its range.
    pub fn power(&self, exponent: u32) -> Option<Polynomial> {
        let one = Polynomial::constant(self.variables, Rational::ONE);
        (0..exponent).try_fold(one, |product, _| product.times(self))
    }

    /// Puts a polynomial in the place of every variable. The replacements share their variables.
    pub fn compose(&self, replacements: &[Polynomial]) -> Option<Polynomial> {
        let variables = replacements.first().map_or(self.variables, Polynomial::variables);
        let mut result = Polynomial::zero(variables);
        // Powers of the replacements are made once.
        let mut powers: Vec<Vec<Polynomial>> =
            replacements.iter().map(|_| vec![Polynomial::constant(variables, Rational::ONE)]).collect();
        for (monomial, coefficient) in &self.terms {
            let mut product = Polynomial::constant(variables, coefficient.clone());
            for (index, &exponent) in monomial.iter().enumerate().filter(|&(_, &e)| e > 0) {
                let known = &mut powers[index];
                while known.len() <= usize::from(exponent) {
                    let next = known[known.len() - 1].times(&replacements[index])?;
                    known.push(next);
                }
                product = product.times(&known[usize::from(exponent)])?;
            }
            result.add_scaled(&product, &Rational::ONE);
        }
        Some(result)
    }

    /// The value at a point.
    pub fn value(&self, point: &[Rational]) -> Rational {
        let mut sum = Rational::ZERO;
        for (monomial, coefficient) in &self.terms {
            let mut product = coefficient.clone();
            for (&exponent, x) in monomial.iter().zip(point) {
                for _ in 0..exponent {
                    product *= x;
                }
            }
            sum += product;
        }
        sum
    }

    /// The derivative by a variable.
    pub fn derivative(&self, variable: usize) -> Polynomial {
        let mut derivative = Polynomial::zero(self.variables);
        for (monomial, coefficient) in self.terms.iter().filter(|(monomial, _)| monomial[variable] > 0) {
            let mut lower = monomial.clone();
            lower[variable] -= 1;
            derivative.add_term(lower, coefficient * Rational::from(u32::from(monomial[variable])));
        }
        derivative
    }

    /// The same polynomial over more variables, the new ones last.
    pub fn widened(&self, variables: usize) -> Polynomial {
        let widen = |(monomial, coefficient): (&Monomial, &Rational)| {
            let mut wider = monomial.clone();
            wider.resize(variables, 0);
            (wider, coefficient.clone())
        };
        Polynomial { variables, terms: self.terms.iter().map(widen).collect() }
    }

    /// The constant and the coefficient of each variable, if the degree is at most one.
    pub fn affine(&self) -> Option<(Rational, Vec<Rational>)> {
        let mut slopes = vec![Rational::ZERO; self.variables];
        let mut constant = Rational::ZERO;
        for (monomial, coefficient) in &self.terms {
            let mut used = monomial.iter().enumerate().filter(|&(_, &e)| e > 0);
            match (used.next(), used.next()) {
                (None, _) => constant = coefficient.clone(),
                (Some((index, 1)), None) => slopes[index] = coefficient.clone(),
                _ => return None,
            }
        }
        Some((constant, slopes))
    }
}

/// The product of two monomials.
pub fn monomial_product(left: &[u8], right: &[u8]) -> Option<Monomial> {
    left.iter().zip(right).map(|(a, b)| a.checked_add(*b)).collect()
}

/// Whether a number is below zero.
pub fn is_negative(value: &Rational) -> bool {
    !value.is_zero() && value.sign() == Sign::Negative
}

/// The magnitude of a number.
pub fn magnitude(value: Rational) -> Rational {
    if is_negative(&value) { -value } else { value }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn polynomial() -> impl Strategy<Value = Polynomial> {
        let term = (proptest::collection::vec(0u8..3, 2), -20i32..20);
        proptest::collection::vec(term, 0..6).prop_map(|terms| {
            let mut sum = Polynomial::zero(2);
            for (monomial, coefficient) in terms {
                sum.add_term(monomial, Rational::from(coefficient));
            }
            sum
        })
    }

    fn point() -> impl Strategy<Value = Vec<Rational>> {
        proptest::collection::vec((-9i32..9).prop_map(Rational::from), 2)
    }

    proptest! {
        #[test]
        fn values_follow_the_algebra(p in polynomial(), q in polynomial(), x in point()) {
            prop_assert_eq!(p.plus(&q).value(&x), p.value(&x) + q.value(&x));
            prop_assert_eq!(p.times(&q).unwrap().value(&x), p.value(&x) * q.value(&x));
            prop_assert_eq!(p.minus(&p), Polynomial::zero(2));
        }

        #[test]
        fn composition_is_evaluation(p in polynomial(), q in polynomial(), r in polynomial(), x in point()) {
            let composed = p.compose(&[q.clone(), r.clone()]).unwrap();
            prop_assert_eq!(composed.value(&x), p.value(&[q.value(&x), r.value(&x)]));
        }

        #[test]
        fn derivatives_obey_the_product_rule(p in polynomial(), q in polynomial()) {
            let left = p.times(&q).unwrap().derivative(1);
            let right = p.derivative(1).times(&q).unwrap().plus(&p.times(&q.derivative(1)).unwrap());
            prop_assert_eq!(left, right);
        }
    }
}
