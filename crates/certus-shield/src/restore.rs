//! Identities found in scaled coordinates, in the system's own.

use certus_audit::shield::{Multiplier, PutinarCertificate, SumOfSquares};

use crate::plant::short_number;
use crate::polynomial::{degree, monomial_value};

/// Significant digits of the numbers in a certificate.
pub const DIGITS: usize = 13;

/// An identity in the system's own coordinates; `places` has, for each multiplier, the constraint that it belongs to and the
/// factor that the constraint was given; `overall` undoes the factor of the claim.
pub fn restore(
    identity: &PutinarCertificate,
    places: &[(usize, f64)],
    inverse: &[f64],
    overall: f64,
) -> PutinarCertificate {
    let squares = |squares: &SumOfSquares, factor: f64| {
        let factor = factor * overall;
        let weights: Vec<f64> = squares.basis.iter().map(|m| monomial_value(m, inverse)).collect();
        let entry = |i: usize, (j, &g): (usize, &f64)| short_number(g * weights[i] * weights[j] * factor, DIGITS);
        let gram = squares.gram.iter().enumerate();
        let gram = gram.map(|(i, row)| row.iter().enumerate().map(|own| entry(i, own)).collect()).collect();
        SumOfSquares { basis: squares.basis.clone(), gram }
    };
    let multiplier = |(own, &(constraint, factor)): (&Multiplier, &(usize, f64))| Multiplier {
        constraint,
        squares: squares(&own.squares, factor),
    };
    PutinarCertificate {
        free: squares(&identity.free, 1.0),
        multipliers: identity.multipliers.iter().zip(places).map(multiplier).collect(),
    }
}

/// The identity of the mirrored claim.
pub fn turn(identity: &PutinarCertificate) -> PutinarCertificate {
    let squares = |squares: &SumOfSquares| {
        let odd: Vec<bool> = squares.basis.iter().map(|m| degree(m) % 2 == 1).collect();
        let entry = |i: usize, (j, &g): (usize, &f64)| if odd[i] == odd[j] { g } else { -g };
        let gram = squares.gram.iter().enumerate();
        let gram = gram.map(|(i, row)| row.iter().enumerate().map(|own| entry(i, own)).collect()).collect();
        SumOfSquares { basis: squares.basis.clone(), gram }
    };
    let multiplier = |own: &Multiplier| Multiplier { constraint: own.constraint, squares: squares(&own.squares) };
    PutinarCertificate {
        free: squares(&identity.free),
        multipliers: identity.multipliers.iter().map(multiplier).collect(),
    }
}
