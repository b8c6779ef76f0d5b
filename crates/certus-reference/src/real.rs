//! Real numbers: rationals where they are known exactly, rational enclosures elsewhere.

use std::cmp::Ordering;

use dashu_base::Signed;
use dashu_int::{IBig, UBig};

/// An exact rational number.
pub type Rational = dashu_ratio::RBig;

/// A real number, as far as it is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Real {
    /// This number.
    Exact(Rational),
    /// Some number between these two, the ends included.
    Between(Rational, Rational),
}

/// The rational that a finite double is.
pub fn rational(value: f64) -> Option<Rational> {
    Rational::try_from(value).ok()
}

/// A whole number.
pub fn whole(value: i64) -> Rational {
    Rational::from(IBig::from(value))
}

/// `2^exponent`.
pub(crate) fn power_of_two(exponent: i64) -> Rational {
    let magnitude = UBig::ONE << usize::try_from(exponent.unsigned_abs()).unwrap_or(usize::MAX);
    match exponent < 0 {
        true => Rational::from_parts(IBig::ONE, magnitude),
        false => Rational::from(IBig::from(magnitude)),
    }
}

impl Real {
    /// The number zero.
    pub fn zero() -> Real {
        Real::Exact(Rational::ZERO)
    }

    /// A number between two others, which may be the same.
    pub fn between(low: Rational, high: Rational) -> Real {
        if low == high { Real::Exact(low) } else { Real::Between(low, high) }
    }

    /// The number that a finite double is.
    pub fn from_double(value: f64) -> Option<Real> {
        rational(value).map(Real::Exact)
    }

    /// It is no less than this.
    pub fn low(&self) -> &Rational {
        match self {
            Real::Exact(value) | Real::Between(value, _) => value,
        }
    }

    /// It is no greater than this.
    pub fn high(&self) -> &Rational {
        match self {
            Real::Exact(value) | Real::Between(_, value) => value,
        }
    }

    /// The number itself, if it is known.
    pub fn exact(&self) -> Option<&Rational> {
        match self {
            Real::Exact(value) => Some(value),
            Real::Between(..) => None,
        }
    }

    /// The nearest double.
    pub fn to_double(&self) -> f64 {
        match self {
            Real::Exact(value) => value.to_f64().value(),
            Real::Between(low, high) => ((low + high) / whole(2)).to_f64().value(),
        }
    }

    /// What a monotone function makes of it.
    pub(crate) fn increasing(&self, f: impl Fn(&Rational) -> Real) -> Real {
        match self {
            Real::Exact(value) => f(value),
            Real::Between(low, high) => Real::between(f(low).low().clone(), f(high).high().clone()),
        }
    }

    /// The sum.
    pub fn plus(&self, other: &Real) -> Real {
        match (self, other) {
            (Real::Exact(a), Real::Exact(b)) => Real::Exact(a + b),
            _ => Real::between(self.low() + other.low(), self.high() + other.high()),
        }
    }

    /// The number with the other sign.
    pub fn negated(&self) -> Real {
        match self {
            Real::Exact(value) => Real::Exact(-value.clone()),
            Real::Between(low, high) => Real::Between(-high.clone(), -low.clone()),
        }
    }

    /// The difference.
    pub fn minus(&self, other: &Real) -> Real {
        match (self, other) {
            (Real::Exact(a), Real::Exact(b)) => Real::Exact(a - b),
            _ => self.plus(&other.negated()),
        }
    }

    /// The product.
    pub fn times(&self, other: &Real) -> Real {
        if let (Real::Exact(a), Real::Exact(b)) = (self, other) {
            return Real::Exact(a * b);
        }
        let ends = [
            self.low() * other.low(),
            self.low() * other.high(),
            self.high() * other.low(),
            self.high() * other.high(),
        ];
        let (mut low, mut high) = (&ends[0], &ends[0]);
        for end in &ends[1..] {
            low = low.min(end);
            high = high.max(end);
        }
        Real::between(low.clone(), high.clone())
    }

    /// The quotient, where the divisor is known not to be zero.
    pub fn over(&self, other: &Real) -> Option<Real> {
        if other.sign()? == Ordering::Equal {
            return None;
        }
        if let (Real::Exact(a), Real::Exact(b)) = (self, other) {
            return Some(Real::Exact(a / b));
        }
        let one = Rational::ONE;
        Some(self.times(&Real::between(&one / other.high(), &one / other.low())))
    }

    /// How it compares with another number, if that is known.
    pub fn compared(&self, other: &Real) -> Option<Ordering> {
        match (self, other) {
            (Real::Exact(a), Real::Exact(b)) => Some(a.cmp(b)),
            _ if self.high() < other.low() => Some(Ordering::Less),
            _ if self.low() > other.high() => Some(Ordering::Greater),
            _ => None,
        }
    }

    /// How it compares with zero, if that is known.
    pub fn sign(&self) -> Option<Ordering> {
        self.compared(&Real::zero())
    }

    /// The smaller of the two.
    pub fn min(&self, other: &Real) -> Real {
        Real::between(self.low().min(other.low()).clone(), self.high().min(other.high()).clone())
    }

    /// The larger of the two.
    pub fn max(&self, other: &Real) -> Real {
        Real::between(self.low().max(other.low()).clone(), self.high().max(other.high()).clone())
    }

    /// The absolute value.
    pub fn abs(&self) -> Real {
        match self {
            Real::Exact(value) => Real::Exact(value.clone().abs_value()),
            Real::Between(low, high) => {
                let (a, b) = (low.clone().abs_value(), high.clone().abs_value());
                let inner =
                    if low.is_positive() || high.is_negative() { a.clone().min(b.clone()) } else { Rational::ZERO };
                Real::between(inner, a.max(b))
            }
        }
    }

    /// The greatest whole number that is no greater.
    pub fn floor(&self) -> Real {
        self.increasing(|value| Real::Exact(Rational::from(value.floor())))
    }

    /// -1, 0 or 1.
    pub fn signum(&self) -> Real {
        self.increasing(|value| Real::Exact(whole(value.cmp(&Rational::ZERO) as i64)))
    }

    /// A power with a whole exponent that is not negative.
    pub fn power(&self, exponent: u32) -> Real {
        if let Real::Exact(value) = self {
            return Real::Exact(value.pow(exponent as isize));
        }
        if exponent == 0 {
            return Real::Exact(Rational::ONE);
        }
        // Even powers go down and up again.
        let base = if exponent.is_multiple_of(2) { self.abs() } else { self.clone() };
        base.increasing(|value| Real::Exact(value.pow(exponent as isize)))
    }
}

/// The absolute value of a rational.
pub(crate) trait AbsValue {
    fn abs_value(self) -> Self;
}

impl AbsValue for Rational {
    fn abs_value(self) -> Rational {
        if self.is_negative() { -self } else { self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(low: i64, high: i64) -> Real {
        Real::between(whole(low), whole(high))
    }

    #[test]
    fn enclosures_contain_what_their_members_give() {
        let members = |r: &Real| [r.low().clone(), (r.low() + r.high()) / whole(2), r.high().clone()];
        let all = [range(-3, -1), range(-2, 1), range(0, 2), range(1, 4), range(2, 2)];
        let inside = |value: &Rational, r: &Real| value >= r.low() && value <= r.high();
        for a in &all {
            for x in members(a) {
                assert!(inside(&x.clone().abs_value(), &a.abs()) && inside(&(&x * &x), &a.power(2)));
                for b in &all {
                    for y in members(b) {
                        assert!(inside(&(&x + &y), &a.plus(b)) && inside(&(&x - &y), &a.minus(b)));
                        assert!(inside(&(&x * &y), &a.times(b)) && inside((&x).min(&y), &a.min(b)));
                        if let Some(quotient) = a.over(b) {
                            assert!(inside(&(&x / &y), &quotient));
                        }
                        if let Some(order) = a.compared(b) {
                            assert_eq!(order, x.cmp(&y));
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn what_is_not_known_is_not_said() {
        assert_eq!(range(0, 2).compared(&range(1, 3)), None);
        assert_eq!(range(0, 2).compared(&range(2, 2)), None);
        assert_eq!(range(1, 1).over(&range(-1, 1)), None);
        assert_eq!(range(1, 1).over(&range(0, 0)), None);
    }
}
