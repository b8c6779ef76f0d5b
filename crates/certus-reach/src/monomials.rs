//! The monomials of bounded degree in a few variables, and how they multiply.
//!
//! A polynomial is a vector of coefficients over this list. Multiplication up to the degree is a walk over a table of triples that is made
//! once (the "Taylor polynomial multiplication by addresses" of Berz, "Modern Map Methods in Particle Beam Physics", 1999, chapter 2).

use crate::form::magnitude;

/// One product: the coefficient of the first argument, that of the second, and where their product goes.
type Triple = (u16, u16, u16);

/// All monomials up to a degree, the constant first, ordered by degree.
#[derive(Clone, Debug)]
pub(crate) struct Monomials {
    pub(crate) variables: usize,
    pub(crate) degree: usize,
    /// The exponents of each monomial.
    pub(crate) exponents: Vec<Vec<u8>>,
    /// Where the monomials of each degree begin; one more entry for the end.
    starts: Vec<usize>,
    /// Whether all exponents are even, so that the monomial is never negative.
    pub(crate) is_even: Vec<bool>,
    products: Vec<Triple>,
    /// The square of each variable, if the degree allows.
    pub(crate) squares: Vec<Option<usize>>,
}

impl Monomials {
    pub(crate) fn new(variables: usize, degree: usize) -> Monomials {
        let degree = if variables == 0 { 0 } else { degree };
        let mut exponents = vec![vec![0u8; variables]];
        let mut starts = vec![0, 1];
        for total in 1..=degree {
            let mut of_degree = Vec::new();
            extend(&mut vec![0; variables], 0, total as u8, &mut of_degree);
            exponents.extend(of_degree);
            starts.push(exponents.len());
        }
        let place = |wanted: &[u8]| exponents.iter().position(|own| own == wanted);
        let degree_of = |place: usize| exponents[place].iter().map(|&e| usize::from(e)).sum::<usize>();
        let mut products = Vec::new();
        for left in 0..exponents.len() {
            for right in 0..exponents.len() {
                if degree_of(left) + degree_of(right) > degree {
                    break;
                }
                let sum: Vec<u8> = exponents[left].iter().zip(&exponents[right]).map(|(a, b)| a + b).collect();
                let target = place(&sum).unwrap_or(0);
                products.push((left as u16, right as u16, target as u16));
            }
        }
        let squares = (0..variables)
            .map(|variable| {
                let mut wanted = vec![0; variables];
                wanted[variable] = 2;
                place(&wanted)
            })
            .collect();
        let is_even = exponents.iter().map(|own| own.iter().all(|e| e % 2 == 0)).collect();
        Monomials { variables, degree, is_even, products, squares, starts, exponents }
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.exponents.len()
    }

    /// The products that stay within the degree.
    pub(crate) fn products(&self) -> &[Triple] {
        &self.products
    }

    /// The sum of the coefficients' magnitudes for each degree, rounded to nearest.
    pub(crate) fn sizes(&self, coefficients: &[f64]) -> [f64; MOST_DEGREE + 1] {
        let mut sizes = [0.0; MOST_DEGREE + 1];
        for (size, ends) in sizes.iter_mut().zip(self.starts.windows(2)) {
            *size = magnitude(&coefficients[ends[0]..ends[1]]);
        }
        sizes
    }

    /// The place of the monomial with these exponents.
    pub(crate) fn place(&self, exponents: &[u8]) -> Option<usize> {
        let total: usize = exponents.iter().map(|&e| usize::from(e)).sum();
        if total > self.degree {
            return None;
        }
        let range = self.starts[total]..self.starts[total + 1];
        self.exponents[range.clone()].iter().position(|own| own == exponents).map(|found| range.start + found)
    }
}

/// The highest degree of a Taylor model.
pub(crate) const MOST_DEGREE: usize = 6;

fn extend(own: &mut Vec<u8>, variable: usize, left: u8, found: &mut Vec<Vec<u8>>) {
    if variable + 1 == own.len() {
        own[variable] = left;
        found.push(own.clone());
        own[variable] = 0;
        return;
    }
    for exponent in (0..=left).rev() {
        own[variable] = exponent;
        extend(own, variable + 1, left - exponent, found);
    }
    own[variable] = 0;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_as_many_as_combinatorics_says() {
        assert_eq!(Monomials::new(2, 3).len(), 10);
        assert_eq!(Monomials::new(6, 2).len(), 28);
        assert_eq!(Monomials::new(0, 4).len(), 1);
        let own = Monomials::new(3, 4);
        // Pairs of monomials in 3 variables whose degrees add up to at most 4 are monomials in 6 variables up to degree 4.
        assert_eq!(own.products().len(), 210);
        assert!((0..own.len()).all(|place| own.place(&own.exponents[place]) == Some(place)));
    }
}
