//! Polynomials with floating-point coefficients, for searching. What is found is proved elsewhere, in exact arithmetic.

use std::collections::BTreeMap;

use certus_audit::shield::{Monomial, Polynomial, rounded};

/// A polynomial over a fixed number of variables.
#[derive(Clone, Debug, PartialEq)]
pub struct Poly {
    variables: usize,
    terms: BTreeMap<Monomial, f64>,
}

impl Poly {
    /// Zero.
    pub fn zero(variables: usize) -> Poly {
        Poly { variables, terms: BTreeMap::new() }
    }

    /// A number.
    pub fn constant(variables: usize, value: f64) -> Poly {
        Poly::term(vec![0; variables], value)
    }

    /// A variable.
    pub fn variable(variables: usize, index: usize) -> Poly {
        let mut monomial = vec![0; variables];
        monomial[index] = 1;
        Poly::term(monomial, 1.0)
    }

    /// One term.
    pub fn term(monomial: Monomial, coefficient: f64) -> Poly {
        let mut poly = Poly::zero(monomial.len());
        poly.add(monomial, coefficient);
        poly
    }

    /// The rounded coefficients of an exact polynomial.
    pub fn of(exact: &Polynomial) -> Poly {
        let terms = exact.terms().map(|(monomial, coefficient)| (monomial.clone(), rounded(coefficient)));
        Poly { variables: exact.variables(), terms: terms.collect() }
    }

    /// The number of variables.
    pub fn variables(&self) -> usize {
        self.variables
    }

    /// The monomials with their coefficients.
    pub fn terms(&self) -> impl Iterator<Item = (&Monomial, f64)> {
        self.terms.iter().map(|(monomial, &coefficient)| (monomial, coefficient))
    }

    /// The coefficient of a monomial.
    pub fn coefficient(&self, monomial: &[u8]) -> f64 {
        self.terms.get(monomial).copied().unwrap_or(0.0)
    }

    /// The total degree.
    pub fn degree(&self) -> usize {
        self.terms.keys().map(|monomial| degree(monomial)).max().unwrap_or(0)
    }

    /// The largest magnitude of a coefficient.
    pub fn size(&self) -> f64 {
        self.terms.values().fold(0.0, |size, c| c.abs().max(size))
    }

    /// Adds a term.
    pub fn add(&mut self, monomial: Monomial, coefficient: f64) {
        if coefficient != 0.0 {
            *self.terms.entry(monomial).or_insert(0.0) += coefficient;
        }
    }

    /// The sum with a multiple.
    pub fn plus(&self, other: &Poly, factor: f64) -> Poly {
        let mut sum = self.clone();
        for (monomial, coefficient) in &other.terms {
            sum.add(monomial.clone(), coefficient * factor);
        }
        sum
    }

    /// A multiple.
    pub fn scaled(&self, factor: f64) -> Poly {
        Poly::zero(self.variables).plus(self, factor)
    }

    /// The product.
    pub fn times(&self, other: &Poly) -> Poly {
        let mut product = Poly::zero(self.variables);
        for (left, a) in &self.terms {
            for (right, b) in &other.terms {
                product.add(monomial_product(left, right), a * b);
            }
        }
        product
    }

    /// Puts a polynomial in the place of every variable.
    pub fn compose(&self, replacements: &[Poly]) -> Poly {
        let variables = replacements.first().map_or(self.variables, Poly::variables);
        let mut result = Poly::zero(variables);
        let mut powers: Vec<Vec<Poly>> = replacements.iter().map(|_| vec![Poly::constant(variables, 1.0)]).collect();
        for (monomial, &coefficient) in &self.terms {
            let mut product = Poly::constant(variables, coefficient);
            for (index, &exponent) in monomial.iter().enumerate().filter(|&(_, &e)| e > 0) {
                while powers[index].len() <= usize::from(exponent) {
                    let next = powers[index][powers[index].len() - 1].times(&replacements[index]);
                    powers[index].push(next);
                }
                product = product.times(&powers[index][usize::from(exponent)]);
            }
            result = result.plus(&product, 1.0);
        }
        result
    }

    /// The value at a point.
    pub fn value(&self, point: &[f64]) -> f64 {
        self.terms.iter().map(|(monomial, c)| c * monomial_value(monomial, point)).sum()
    }

    /// Each variable `x` replaced by `scale * z`.
    pub fn rescaled(&self, scales: &[f64]) -> Poly {
        let scale = |(monomial, c): (&Monomial, &f64)| (monomial.clone(), c * monomial_value(monomial, scales));
        Poly { variables: self.variables, terms: self.terms.iter().map(scale).collect() }
    }

    /// The same polynomial over more variables, the new ones last.
    pub fn widened(&self, variables: usize) -> Poly {
        let widen = |(monomial, &c): (&Monomial, &f64)| {
            let mut wider = monomial.clone();
            wider.resize(variables, 0);
            (wider, c)
        };
        Poly { variables, terms: self.terms.iter().map(widen).collect() }
    }

    /// The coefficient of each variable alone.
    pub fn slopes(&self) -> Vec<f64> {
        (0..self.variables)
            .map(|i| {
                let mut monomial = vec![0; self.variables];
                monomial[i] = 1;
                self.coefficient(&monomial)
            })
            .collect()
    }

    /// The derivative by a variable.
    pub fn derivative(&self, variable: usize) -> Poly {
        let mut derivative = Poly::zero(self.variables);
        for (monomial, c) in self.terms.iter().filter(|(monomial, _)| monomial[variable] > 0) {
            let mut lower = monomial.clone();
            lower[variable] -= 1;
            derivative.add(lower, c * f64::from(monomial[variable]));
        }
        derivative
    }

    /// Whether it changes its sign (or, if even, stays) with all variables.
    pub fn has_parity(&self, odd: bool) -> bool {
        self.terms.iter().all(|(monomial, &c)| c == 0.0 || (degree(monomial) % 2 == 1) == odd)
    }
}

/// A polynomial laid out for many evaluations: each term a coefficient and its variables, repeated.
#[derive(Clone, Debug)]
pub struct Fast(Vec<(f64, Vec<usize>)>);

impl Fast {
    /// The same polynomial.
    pub fn new(poly: &Poly) -> Fast {
        let factors = |monomial: &Monomial| {
            monomial.iter().enumerate().flat_map(|(i, &e)| std::iter::repeat_n(i, usize::from(e))).collect()
        };
        Fast(poly.terms().map(|(monomial, c)| (c, factors(monomial))).collect())
    }

    /// The value at a point.
    pub fn value(&self, point: &[f64]) -> f64 {
        self.0.iter().map(|(c, factors)| factors.iter().fold(*c, |product, &i| product * point[i])).sum()
    }
}

/// The total degree of a monomial.
pub fn degree(monomial: &[u8]) -> usize {
    monomial.iter().map(|&e| usize::from(e)).sum()
}

/// The product of two monomials; exponents here are far below their limit.
pub fn monomial_product(left: &[u8], right: &[u8]) -> Monomial {
    left.iter().zip(right).map(|(a, b)| a.saturating_add(*b)).collect()
}

/// The value of a monomial.
pub fn monomial_value(monomial: &[u8], point: &[f64]) -> f64 {
    monomial.iter().zip(point).map(|(&e, x)| x.powi(i32::from(e))).product()
}

/// All monomials over some of the variables up to a degree, constants first.
pub fn monomials(variables: usize, among: &[usize], highest: usize) -> Vec<Monomial> {
    let mut all = vec![vec![0u8; variables]];
    let mut last = all.clone();
    for _ in 0..highest {
        let mut next: Vec<Monomial> = Vec::new();
        for monomial in &last {
            let newest = among.iter().position(|&v| monomial[v] > 0);
            // Multiplied only by variables up to the first one in it, each monomial comes up once.
            for &variable in &among[..newest.map_or(among.len(), |place| place + 1)] {
                let mut grown = monomial.clone();
                grown[variable] += 1;
                next.push(grown);
            }
        }
        all.extend(next.iter().cloned());
        last = next;
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn monomials_come_once_each() {
        for (variables, highest, count) in [(2, 4, 15), (4, 4, 70), (3, 2, 10), (15, 2, 136)] {
            let among: Vec<usize> = (0..variables).collect();
            let mut all = monomials(variables, &among, highest);
            assert_eq!(all.len(), count);
            all.sort();
            all.dedup();
            assert_eq!(all.len(), count);
        }
    }

    #[test]
    fn composition_evaluates() {
        let p = Poly::variable(2, 0).times(&Poly::variable(2, 1)).plus(&Poly::constant(2, 3.0), 1.0);
        let q = [Poly::variable(1, 0), Poly::variable(1, 0).plus(&Poly::constant(1, 1.0), 1.0)];
        assert_eq!(p.compose(&q).value(&[2.0]), 9.0);
        assert_eq!(p.rescaled(&[2.0, 4.0]).value(&[1.0, 1.0]), 11.0);
    }
}
