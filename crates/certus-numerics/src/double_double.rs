//! Double-double arithmetic with an enclosed remainder.
//!
//! A number is the unevaluated sum of two parts, after T. J. Dekker, 'A floating-point technique for extending the available precision',
//! Numerische Mathematik 18 (1971); sums are split exactly by the two-sum of D. E. Knuth, 'The Art of Computer Programming', volume 2, and
//! products by a fused multiply-add.
//!
//! *Departure.* The second part is not a double but an [`Interval`] around what the head misses. So a [`DoubleDouble`] is an enclosure of
//! the real result, about as narrow as 32 digits allow, and comparisons that it decides hold over the reals. Where an operation overflows
//! or underflows, it falls back on intervals between doubles.

use crate::Interval;

/// A real number: `head` and something in `tail` together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DoubleDouble {
    head: f64,
    tail: Interval,
}

/// Products of smaller numbers have errors that are no doubles.
const SMALLEST_PRODUCT: f64 = 1e-250;

impl DoubleDouble {
    /// A double.
    pub fn exact(value: f64) -> DoubleDouble {
        DoubleDouble { head: value, tail: Interval::ZERO }
    }

    /// Any number of an interval.
    pub fn within(range: Interval) -> DoubleDouble {
        let middle = if range.lo == range.hi { range.lo } else { range.lo / 2.0 + range.hi / 2.0 };
        if !middle.is_finite() {
            return DoubleDouble { head: 0.0, tail: range };
        }
        let from = Interval::point(middle);
        let tail = Interval::new((Interval::point(range.lo) - from).lo, (Interval::point(range.hi) - from).hi);
        DoubleDouble { head: middle, tail }
    }

    /// The interval between doubles around it. A certain sign stays certain.
    pub fn interval(self) -> Interval {
        Interval::point(self.head) + self.tail
    }

    /// Its negative.
    pub fn negated(self) -> DoubleDouble {
        DoubleDouble { head: -self.head, tail: -self.tail }
    }

    /// The same number with as much of it in the head as fits.
    fn normalised(self) -> DoubleDouble {
        let middle = self.tail.lo / 2.0 + self.tail.hi / 2.0;
        let (head, missed) = two_sum(self.head, middle);
        if !(head.is_finite() && missed.is_finite()) {
            return self;
        }
        DoubleDouble { head, tail: self.tail - Interval::point(middle) + Interval::point(missed) }
    }

    /// The sum.
    pub fn plus(self, other: DoubleDouble) -> DoubleDouble {
        let (head, missed) = two_sum(self.head, other.head);
        if !(head.is_finite() && missed.is_finite()) {
            return DoubleDouble::within(self.interval() + other.interval());
        }
        DoubleDouble { head, tail: self.tail + other.tail + Interval::point(missed) }.normalised()
    }

    /// The product.
    pub fn times(self, other: DoubleDouble) -> DoubleDouble {
        let head = self.head * other.head;
        if !head.is_finite() || head.abs() < SMALLEST_PRODUCT {
            return DoubleDouble::within(self.interval() * other.interval());
        }
        let missed = Interval::point(self.head.mul_add(other.head, -head));
        let (a, b) = (Interval::point(self.head), Interval::point(other.head));
        DoubleDouble { head, tail: missed + a * other.tail + b * self.tail + self.tail * other.tail }.normalised()
    }

    /// The difference, rounded outwards to an interval between doubles. Its sign is certain whenever that of the enclosure is.
    pub fn difference(self, other: DoubleDouble) -> Interval {
        self.plus(other.negated()).interval()
    }
}

/// The rounded sum and its error, which is a double too (Knuth).
fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let part = sum - a;
    (sum, (a - (sum - part)) + (b - part))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A number as a fraction of a power of two, in integers: exact for doubles of moderate size.
    fn scaled(value: f64) -> i128 {
        let scaled = value * 2f64.powi(60);
        assert!(scaled.fract() == 0.0 && scaled.abs() < 2f64.powi(120), "{value}");
        scaled as i128
    }

    fn holds(number: DoubleDouble, exact: i128) -> bool {
        // head + tail.lo <= exact <= head + tail.hi, in units of 2^-60.
        let unit = |value: f64| (value * 2f64.powi(60)) as i128;
        // Tails are cut to whole units.
        let slack = 1;
        unit(number.head) + unit(number.tail.lo) - slack <= exact
            && exact <= unit(number.head) + unit(number.tail.hi) + slack
    }

    proptest! {
        #[test]
        fn sums_and_products_are_inside_and_narrow(a in -900i32..900, b in -900i32..900, c in -900i32..900) {
            // Tenths are no doubles, so everything here is rounded.
            let [x, y, z] = [a, b, c].map(|own| f64::from(own) * 0.1);
            let sum = DoubleDouble::exact(x).plus(DoubleDouble::exact(y)).plus(DoubleDouble::exact(z));
            prop_assert!(holds(sum, scaled(x) + scaled(y) + scaled(z)));
            prop_assert!(sum.tail.width() < 1e-28);
            let product = DoubleDouble::exact(x).times(DoubleDouble::exact(y));
            let difference = product.plus(DoubleDouble::exact(x * y).negated());
            prop_assert!(difference.interval().contains(x.mul_add(y, -(x * y))));
            prop_assert!(product.tail.width() < 1e-25);
        }
    }

    #[test]
    fn differences_see_what_doubles_round_away() {
        // 0.1 + 0.2 in the reals is less than the double that it is rounded to.
        let sum = DoubleDouble::exact(0.1).plus(DoubleDouble::exact(0.2));
        assert!(sum.difference(DoubleDouble::exact(0.1 + 0.2)).hi < 0.0);
        let vague = DoubleDouble::within(Interval::new(-1e-20, 1e-20));
        assert_eq!(DoubleDouble::exact(0.0).times(vague), DoubleDouble::exact(0.0));
    }
}
