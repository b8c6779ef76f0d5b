//! Enclosures of the functions whose values are not rational.
//!
//! Every series is summed in rationals; what is left of it is bounded by a geometric series. Results are rounded
//! outwards to some eighty binary digits, so that numbers stay short.

use dashu_base::{BitTest, Signed, UnsignedAbs};
use dashu_int::{IBig, UBig};

use crate::real::{AbsValue, Rational, Real, power_of_two, whole};

/// Binary digits that a result keeps.
const DIGITS: i64 = 80;

/// Arguments beyond this are not worth their series: the value is said not to be known.
const LARGEST: i64 = 1 << 12;

/// Rounds outwards to so many digits after the leading one.
fn rounded(value: Real) -> Real {
    let Real::Between(low, high) = value else { return value };
    let size = |r: &Rational| r.numerator().bit_len() as i64 - r.denominator().bit_len() as i64;
    let unit = power_of_two(size(&low).max(size(&high)) - DIGITS);
    Real::between(Rational::from((&low / &unit).floor()) * &unit, Rational::from((&high / &unit).ceil()) * unit)
}

/// `e^x`.
pub fn exp(x: &Rational) -> Option<Real> {
    if x.is_zero() {
        return Some(Real::Exact(Rational::ONE));
    }
    if x.clone().abs_value() > whole(LARGEST) {
        return None;
    }
    // e^x = (e^(x / 2^n))^(2^n), with an argument below a half.
    let mut halvings = 0;
    let mut small = x.clone();
    while small.clone().abs_value() > Rational::from_parts(IBig::ONE, UBig::from(2u8)) {
        small /= whole(2);
        halvings += 1;
    }
    let tiny = power_of_two(-(DIGITS + 20));
    let (mut sum, mut term) = (Rational::ONE, Rational::ONE);
    for n in 1.. {
        term = term * &small / whole(n);
        sum += &term;
        // What follows is at most the last term once more: the ratio of terms is below a half.
        if term.clone().abs_value() < tiny {
            break;
        }
    }
    let rest = term.abs_value();
    let mut value = rounded(Real::between(&sum - &rest, sum + rest));
    for _ in 0..halvings {
        value = rounded(value.power(2));
    }
    Some(value)
}

/// `2 (z + z^3/3 + z^5/5 + …)` for `|z| <= 1/2`, the logarithm of `(1 + z) / (1 - z)`.
fn log_ratio(z: &Rational) -> Real {
    let square = z * z;
    let tiny = power_of_two(-(DIGITS + 20));
    let (mut sum, mut power) = (z.clone(), z.clone());
    for n in 1.. {
        power *= &square;
        sum += &power / whole(2 * n + 1);
        if power.clone().abs_value() < tiny {
            break;
        }
    }
    let rest = power.abs_value();
    rounded(Real::between((&sum - &rest) * whole(2), (sum + rest) * whole(2)))
}

/// The natural logarithm of a positive number.
pub fn log(x: &Rational) -> Option<Real> {
    if !x.is_positive() || x.is_zero() {
        return None;
    }
    if x.is_one() {
        return Some(Real::zero());
    }
    let exponent = x.numerator().bit_len() as i64 - x.denominator().bit_len() as i64;
    let mantissa = x / power_of_two(exponent);
    let z = (&mantissa - Rational::ONE) / (mantissa + Rational::ONE);
    let two = log_ratio(&Rational::from_parts(IBig::ONE, UBig::from(3u8)));
    Some(rounded(log_ratio(&z).plus(&two.times(&Real::Exact(whole(exponent))))))
}

/// The square root of a number that is not negative.
pub fn sqrt(x: &Rational) -> Option<Real> {
    if x.is_negative() {
        return None;
    }
    let root = |n: &UBig| -> (UBig, bool) {
        let root = dashu_base::SquareRoot::sqrt(n);
        let exact = &root * &root == *n;
        (root, exact)
    };
    let ((top, top_exact), (bottom, bottom_exact)) =
        (root(&x.numerator().clone().unsigned_abs()), root(x.denominator()));
    if top_exact && bottom_exact {
        return Some(Real::Exact(Rational::from_parts(IBig::from(top), bottom)));
    }
    // The whole root of x scaled by a power of four, large enough for all digits.
    let size = x.numerator().bit_len() as i64 - x.denominator().bit_len() as i64;
    let shift = DIGITS - size / 2;
    let scaled = (x * power_of_two(2 * shift)).floor().unsigned_abs();
    let low = IBig::from(dashu_base::SquareRoot::sqrt(&scaled));
    let high = &low + IBig::ONE;
    let unit = power_of_two(-shift);
    Some(Real::between(Rational::from(low) * &unit, Rational::from(high) * unit))
}

/// The circle's number, by Machin's formula.
fn pi() -> Real {
    let arctangent = |inverse: i64| {
        let z = Rational::from_parts(IBig::ONE, UBig::from(inverse.unsigned_abs()));
        let square = &z * &z;
        let tiny = power_of_two(-2 * DIGITS);
        let (mut sum, mut power) = (z.clone(), z);
        let mut n = 1;
        while power > tiny {
            power *= &square;
            let term = &power / whole(2 * n + 1);
            sum = if n % 2 == 1 { sum - term } else { sum + term };
            n += 1;
        }
        Real::between(&sum - &power, sum + power)
    };
    let scaled = |k: i64, value: Real| value.times(&Real::Exact(whole(k)));
    scaled(16, arctangent(5)).minus(&scaled(4, arctangent(239)))
}

/// Sine (`odd`) or cosine by their series.
fn circular(x: &Real, odd: bool) -> Option<Real> {
    if x.exact().is_some_and(Rational::is_zero) {
        return Some(if odd { Real::zero() } else { Real::Exact(Rational::ONE) });
    }
    if x.low() < &whole(-LARGEST) || x.high() > &whole(LARGEST) {
        return None;
    }
    // Both are the same after full turns, and change no faster than their argument.
    let middle = (x.low() + x.high()) / whole(2);
    let turn = pi().times(&Real::Exact(whole(2)));
    let turns = (&middle / turn.low()).round();
    let reduced = Real::Exact(middle.clone()).minus(&turn.times(&Real::Exact(Rational::from(turns))));
    let point = rounded_point(&((reduced.low() + reduced.high()) / whole(2)));
    let away = (x.high() - &middle) + (reduced.high() - &point).max(&point - reduced.low());
    let square = &point * &point;
    let tiny = power_of_two(-(DIGITS + 20));
    let mut term = if odd { point } else { Rational::ONE };
    let mut sum = term.clone();
    for n in 1.. {
        let first = if odd { 2 * n } else { 2 * n - 1 };
        term = -(term * &square) / whole(first * (first + 1));
        sum += &term;
        // From here on the terms alternate and become smaller: |x| is below 4.
        if n > 4 && term.clone().abs_value() < tiny {
            break;
        }
    }
    let rest = term.abs_value() + away;
    let value = rounded(Real::between(&sum - &rest, sum + rest));
    Some(value.max(&Real::Exact(whole(-1))).min(&Real::Exact(Rational::ONE)))
}

/// A nearby number with few digits.
fn rounded_point(x: &Rational) -> Rational {
    let unit = power_of_two(-(DIGITS + 30));
    Rational::from((x / &unit).round()) * unit
}

/// The sine.
pub fn sin(x: &Real) -> Option<Real> {
    circular(x, true)
}

/// The cosine.
pub fn cos(x: &Real) -> Option<Real> {
    circular(x, false)
}

/// `1 / (1 + e^-x)`.
pub fn sigmoid(x: &Rational) -> Option<Real> {
    let one = Real::Exact(Rational::ONE);
    one.over(&one.plus(&exp(&-x.clone())?)).map(rounded)
}

/// The hyperbolic tangent: `2 sigmoid(2 x) - 1`.
pub fn tanh(x: &Rational) -> Option<Real> {
    let two = Real::Exact(whole(2));
    Some(sigmoid(&(x * whole(2)))?.times(&two).minus(&Real::Exact(Rational::ONE)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::real::rational;

    /// An enclosure lies around the library's value and is narrow.
    fn encloses(value: &Real, expected: f64) {
        let width = (value.high() - value.low()).to_f64().value();
        assert!(width <= 1e-18 * expected.abs().max(1e-3), "{width} at {expected}");
        let error = (value.to_double() - expected).abs();
        assert!(error <= 4.0 * f64::EPSILON * expected.abs().max(1e-3), "{} instead of {expected}", value.to_double());
    }

    #[test]
    fn series_agree_with_the_library() {
        for step in -40..=40 {
            let x = f64::from(step) * 0.37;
            let exact = rational(x).unwrap();
            encloses(&exp(&exact).unwrap(), x.exp());
            encloses(&sin(&Real::Exact(exact.clone())).unwrap(), x.sin());
            encloses(&cos(&Real::Exact(exact.clone())).unwrap(), x.cos());
            encloses(&tanh(&exact).unwrap(), x.tanh());
            encloses(&sigmoid(&exact).unwrap(), 1.0 / (1.0 + (-x).exp()));
            if x > 0.0 {
                encloses(&log(&exact).unwrap(), x.ln());
                encloses(&sqrt(&exact).unwrap(), x.sqrt());
            }
        }
        encloses(&pi(), std::f64::consts::PI);
        encloses(&log(&whole(1_000_000)).unwrap(), 1e6_f64.ln());
    }

    #[test]
    fn special_values_are_exact() {
        assert_eq!(exp(&Rational::ZERO), Some(Real::Exact(Rational::ONE)));
        assert_eq!(log(&Rational::ONE), Some(Real::zero()));
        assert_eq!(tanh(&Rational::ZERO), Some(Real::zero()));
        assert_eq!(sqrt(&(whole(9) / whole(4))), Some(Real::Exact(whole(3) / whole(2))));
        assert_eq!(log(&Rational::ZERO), None);
        assert_eq!(sqrt(&whole(-1)), None);
    }
}
