//! The monomials of Taylor models: products of powers of the initial variables, up to a total degree.

/// Stands for a product whose degree is too high.
const NONE: u32 = u32::MAX;

/// All monomials in some variables up to a degree, the constant first, then the variables themselves.
#[derive(Debug)]
pub(crate) struct Basis {
    pub(crate) variables: usize,
    pub(crate) exponents: Vec<Vec<u8>>,
    /// Whether every exponent is even, so that the monomial is never negative.
    pub(crate) even: Vec<bool>,
    /// Where the product of two monomials is, row by row.
    products: Vec<u32>,
}

/// More monomials than this are refused: the table of products would be large.
const MOST_MONOMIALS: usize = 1000;

impl Basis {
    /// The monomials; none if there are too many.
    pub(crate) fn new(variables: usize, degree: usize) -> Option<Basis> {
        let mut exponents: Vec<Vec<u8>> = vec![vec![0; variables]];
        let mut last = vec![vec![0u8; variables]];
        for _ in 0..degree {
            let mut next: Vec<Vec<u8>> = Vec::new();
            for own in &last {
                // Each monomial is made once: by the variable that is not before any other in it.
                let from = own.iter().rposition(|&power| power > 0).unwrap_or(0);
                for variable in from..variables {
                    let mut own = own.clone();
                    own[variable] += 1;
                    next.push(own);
                }
            }
            if exponents.len() + next.len() > MOST_MONOMIALS {
                return None;
            }
            exponents.extend(next.iter().cloned());
            last = next;
        }
        let place: std::collections::HashMap<&Vec<u8>, u32> = exponents.iter().zip(0u32..).collect();
        let mut products = Vec::with_capacity(exponents.len() * exponents.len());
        for a in &exponents {
            for b in &exponents {
                let sum: Vec<u8> = a.iter().zip(b).map(|(a, b)| a + b).collect();
                products.push(place.get(&sum).copied().unwrap_or(NONE));
            }
        }
        let even = exponents.iter().map(|own| own.iter().all(|power| power % 2 == 0)).collect();
        Some(Basis { variables, even, products, exponents })
    }

    pub(crate) fn len(&self) -> usize {
        self.exponents.len()
    }

    /// Where the product of two monomials is; none if its degree is too high.
    pub(crate) fn product(&self, a: usize, b: usize) -> Option<usize> {
        match self.products[a * self.exponents.len() + b] {
            NONE => None,
            place => Some(place as usize),
        }
    }

    /// Where a monomial is.
    pub(crate) fn place(&self, exponents: &[u8]) -> Option<usize> {
        self.exponents.iter().position(|own| own == exponents)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn monomials_are_counted_and_multiplied() {
        let basis = Basis::new(3, 2).unwrap();
        assert_eq!(basis.len(), 10);
        assert_eq!(basis.exponents[1..4], [vec![1, 0, 0], vec![0, 1, 0], vec![0, 0, 1]]);
        let square = basis.product(1, 1).unwrap();
        assert_eq!(basis.exponents[square], [2, 0, 0]);
        assert!(basis.even[square] && basis.even[0] && !basis.even[1]);
        assert_eq!(basis.product(square, 1), None);
        assert_eq!(Basis::new(0, 3).unwrap().len(), 1);
        assert!(Basis::new(12, 6).is_none());
    }
}
