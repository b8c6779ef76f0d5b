//! Functions that are not polynomials: their Taylor polynomials around zero, with the Lagrange bound of the remainder.

use crate::shield::polynomial::Rational;

/// A function with a Taylor series around zero whose terms shrink fast.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Function {
    /// The sine.
    Sine,
    /// The cosine.
    Cosine,
    /// The exponential.
    Exponential,
}

/// The highest power that is kept: the degree of everything that follows grows with it, and domains are small.
pub const ORDER: u32 = 3;

impl Function {
    /// The coefficients of the Taylor polynomial, from the constant on.
    pub fn coefficients(self) -> Vec<Rational> {
        let mut factorial = Rational::ONE;
        let mut all = Vec::new();
        for power in 0..=ORDER {
            if power > 0 {
                factorial *= Rational::from(power);
            }
            let sign = match (self, power % 4) {
                (Function::Sine, 1) | (Function::Cosine, 0) | (Function::Exponential, _) => 1,
                (Function::Sine, 3) | (Function::Cosine, 2) => -1,
                _ => 0,
            };
            all.push(Rational::from(sign) / &factorial);
        }
        all
    }

    /// How far the function is at most from the polynomial where the argument's magnitude is at most `reach`.
    pub fn remainder(self, reach: &Rational) -> Rational {
        // Lagrange: the next derivative that the polynomial does not match, times reachⁿ / n!. For sine and cosine the
        // derivatives are at most one; the exponential is at most 3 to the next whole number.
        let order = match self {
            Function::Sine => ORDER + 2,
            Function::Cosine | Function::Exponential => ORDER + 1,
        };
        let mut bound = Rational::ONE;
        for n in 1..=order {
            bound = bound * reach / Rational::from(n);
        }
        if self == Function::Exponential {
            let mut whole = Rational::ZERO;
            while whole < *reach {
                whole += Rational::ONE;
                bound *= Rational::from(3u8);
            }
        }
        bound
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shield::polynomial::{rational, rounded};

    #[test]
    fn remainders_bound_the_error() {
        let real = |function: Function, x: f64| match function {
            Function::Sine => x.sin(),
            Function::Cosine => x.cos(),
            Function::Exponential => x.exp(),
        };
        for function in [Function::Sine, Function::Cosine, Function::Exponential] {
            let coefficients: Vec<f64> = function.coefficients().iter().map(rounded).collect();
            for reach in [0.25, 0.5, 1.0] {
                let bound = rounded(&function.remainder(&rational(reach).unwrap()));
                let worst = (0..=200)
                    .map(|i| -reach + reach * f64::from(i) / 100.0)
                    .map(|x| {
                        let polynomial = coefficients.iter().rev().fold(0.0, |sum, c| sum * x + c);
                        (real(function, x) - polynomial).abs()
                    })
                    .fold(0.0, f64::max);
                assert!(worst <= bound * (1.0 + 1e-9) + 1e-15, "{function:?} {reach} {worst} {bound}");
                assert!(bound <= 20.0 * worst + 1e-12, "{function:?} {reach} {worst} {bound}");
            }
        }
    }
}
