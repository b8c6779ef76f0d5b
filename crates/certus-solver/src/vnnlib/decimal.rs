//! Decimals, exactly: the interval of doubles that a written number lies in.
//!
//! The standard library rounds a decimal to the nearest double. Which side of the decimal that double lies on is told
//! by comparing d · 10^e with m · 2^q in natural numbers, after the negative powers have changed sides.

use std::cmp::Ordering;

use certus_graph::Interval;

use super::error::quoted;
use super::natural::Natural;

/// A number may have this many characters. The longest exact expansion of a double has fewer.
const MAX_LENGTH: usize = 2000;

/// ±digits · 10^exponent, the digits without leading zeros.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Decimal {
    negative: bool,
    digits: Vec<u8>,
    exponent: i64,
}

/// Whether a symbol can only be meant as a number.
pub(super) fn looks_numeric(symbol: &str) -> bool {
    let unsigned = symbol.strip_prefix(['+', '-']).unwrap_or(symbol);
    let name = unsigned.to_ascii_lowercase();
    unsigned.starts_with(|first: char| first.is_ascii_digit() || first == '.')
        || matches!(name.as_str(), "nan" | "inf" | "infinity")
}

/// The number as an interval: one point where it is a double, otherwise the two doubles around it (the upper one
/// infinite beyond the largest double).
pub(super) fn interval(symbol: &str) -> Result<Interval, String> {
    if symbol.len() > MAX_LENGTH {
        return Err(format!("the number {} has more than {MAX_LENGTH} characters", quoted(symbol)));
    }
    if symbol.bytes().all(|byte| byte.is_ascii_alphabetic() || matches!(byte, b'+' | b'-')) {
        return Err(format!("{} is no real number", quoted(symbol)));
    }
    let decimal = Decimal::scan(symbol).ok_or_else(|| format!("malformed number {}", quoted(symbol)))?;
    let magnitude = decimal.magnitude(symbol);
    Ok(if decimal.negative { -magnitude } else { magnitude })
}

impl Decimal {
    /// A number as it is written.
    pub fn scan(symbol: &str) -> Option<Decimal> {
        let unsigned = symbol.strip_prefix(['+', '-']).unwrap_or(symbol);
        let (mantissa, power) = unsigned.split_once(['e', 'E']).unwrap_or((unsigned, "0"));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let power_digits = power.strip_prefix(['+', '-']).unwrap_or(power);
        let all_digits = |piece: &str| piece.bytes().all(|byte| byte.is_ascii_digit());
        if !all_digits(whole) || !all_digits(fraction) || !all_digits(power_digits) {
            return None;
        }
        if whole.len() + fraction.len() == 0 || power_digits.is_empty() {
            return None;
        }
        // Exponents of this size are far outside the doubles whatever the digits: saturation changes nothing.
        let size = power_digits.bytes().fold(0i64, |size, digit| (size * 10 + i64::from(digit - b'0')).min(1 << 40));
        let power = if power.starts_with('-') { -size } else { size };
        let digits = whole.bytes().chain(fraction.bytes()).skip_while(|&digit| digit == b'0').collect();
        Some(Decimal { negative: symbol.starts_with('-'), digits, exponent: power - fraction.len() as i64 })
    }

    /// The absolute value without trailing zeros: equal numbers are equal.
    pub fn magnitude_in_lowest_terms(mut self) -> Decimal {
        self.negative = false;
        while self.digits.last() == Some(&b'0') {
            self.digits.pop();
            self.exponent += 1;
        }
        if self.digits.is_empty() {
            self.exponent = 0;
        }
        self
    }

    /// The absolute value; `symbol` is the text that was scanned.
    fn magnitude(&self, symbol: &str) -> Interval {
        if self.digits.is_empty() {
            return Interval::ZERO;
        }
        // 10^(scale − 1) ≤ value < 10^scale.
        let scale = self.digits.len() as i64 + self.exponent;
        let nearest = match symbol.parse::<f64>() {
            _ if scale > 310 => f64::INFINITY,
            _ if scale < -330 => 0.0,
            parsed => parsed.map_or(f64::INFINITY, f64::abs),
        };
        if nearest == f64::INFINITY {
            return Interval { lo: f64::MAX, hi: f64::INFINITY };
        } else if nearest == 0.0 {
            return Interval { lo: 0.0, hi: 0.0f64.next_up() };
        }
        match self.compare(nearest) {
            Ordering::Less => Interval { lo: nearest.next_down(), hi: nearest },
            Ordering::Equal => Interval::point(nearest),
            Ordering::Greater => Interval { lo: nearest, hi: nearest.next_up() },
        }
    }

    /// The order of the absolute value and a positive finite double. The exponent is moderate.
    fn compare(&self, double: f64) -> Ordering {
        let (significand, power) = decompose(double);
        let mut own = Natural::from_digits(&self.digits);
        let mut other = Natural::from_u64(significand);
        let fives = self.exponent.unsigned_abs() as usize;
        if self.exponent >= 0 {
            own = own.times_power_of_five(fives);
        } else {
            other = other.times_power_of_five(fives);
        }
        let twos = self.exponent - power;
        if twos >= 0 {
            own = own.times_power_of_two(twos as usize);
        } else {
            other = other.times_power_of_two(twos.unsigned_abs() as usize);
        }
        own.cmp(&other)
    }
}

/// A positive finite double as significand · 2^power.
fn decompose(double: f64) -> (u64, i64) {
    let bits = double.to_bits();
    let (fraction, exponent) = (bits & ((1 << 52) - 1), (bits >> 52) as i64 & 0x7ff);
    if exponent == 0 { (fraction, -1074) } else { (fraction | 1 << 52, exponent - 1075) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(symbol: &str) -> Interval {
        interval(symbol).unwrap()
    }

    #[test]
    fn doubles_are_points() {
        let longest = format!("{:.1074}", 5e-324);
        let cases = [
            ("0", 0.0),
            ("-0.000e99999999999999999999", 0.0),
            ("0.5", 0.5),
            ("-1.25e+1", -12.5),
            ("5.", 5.0),
            (".5E1", 5.0),
            ("+3", 3.0),
            ("9007199254740992", 9007199254740992.0),
            ("1e22", 1e22),
            (longest.as_str(), 5e-324),
        ];
        for (symbol, value) in cases {
            assert_eq!(read(symbol), Interval::point(value), "{symbol}");
        }
    }

    #[test]
    fn other_decimals_lie_between_two_doubles() {
        // 0.1 lies below the double nearest to it, 0.3 above.
        assert_eq!(read("0.1"), Interval { lo: 0.1f64.next_down(), hi: 0.1 });
        assert_eq!(read("-0.1"), Interval { lo: -0.1, hi: (-0.1f64).next_up() });
        assert_eq!(read("0.3"), Interval { lo: 0.3, hi: 0.3f64.next_up() });
        // A tie: the decimal is the middle of two doubles.
        assert_eq!(read("9007199254740993"), Interval { lo: 9007199254740992.0, hi: 9007199254740994.0 });
    }

    #[test]
    fn the_ends_of_the_range() {
        let (tiny, huge) = (Interval { lo: 0.0, hi: f64::from_bits(1) }, Interval { lo: f64::MAX, hi: f64::INFINITY });
        assert_eq!(read("1e-324"), tiny);
        assert_eq!(read("1e-99999999999999999999"), tiny);
        assert_eq!(read("1e309"), huge);
        assert_eq!(read("-1e99999999999999999999"), -huge);
        assert_eq!(read("3e-324"), Interval { lo: 0.0, hi: f64::from_bits(1) });
        // Rounds to the largest double but lies above it.
        assert_eq!(read("1.7976931348623158e308"), huge);
    }

    #[test]
    fn what_is_no_decimal_is_refused() {
        for symbol in ["", ".", "-", "1e", "1e+", "1.2.3", "1x", "0x10", "1_000", "--1", "1e5e5", "1٣", "nan", "-inf"]
        {
            assert!(interval(symbol).is_err(), "{symbol}");
        }
        assert_eq!(interval("-NaN").unwrap_err(), "`-NaN` is no real number");
        assert!(interval(&"1".repeat(MAX_LENGTH + 1)).unwrap_err().contains("characters"));
    }

    proptest! {
        /// Every double has an exact decimal expansion; one unit in its last digit more or less is no double.
        #[test]
        fn exact_expansions_and_their_neighbours(bits in 1u64..(0x7ff << 52)) {
            let value = f64::from_bits(bits);
            let exact = format!("{value:.1100}");
            prop_assert_eq!(read(&exact), Interval::point(value));
            let above = format!("{exact}1");
            let next = value.next_up();
            prop_assert_eq!(read(&above), Interval { lo: value, hi: next });
        }

        /// Cutting digits off makes the decimal smaller; where it still rounds to the double, the double is the upper end.
        #[test]
        fn expansions_that_are_cut(value in 1e-6f64..1e6, kept in 10usize..80) {
            let exact = format!("{value:.100}");
            let (written, removed) = exact.split_at(exact.find('.').unwrap_or(0) + kept);
            let expected = match removed.bytes().all(|digit| digit == b'0') {
                true => Interval::point(value),
                false => Interval { lo: value.next_down(), hi: value },
            };
            let range = read(written);
            prop_assert!(range == expected || range.hi < value);
            prop_assert!(range == expected || kept < 25);
        }

        /// The shortest spelling rounds to the double, so the double is one end of the interval.
        #[test]
        fn shortest_spellings(value in proptest::num::f64::NORMAL | proptest::num::f64::SUBNORMAL) {
            let range = read(&format!("{value:e}"));
            prop_assert!(range.lo == value || range.hi == value);
            prop_assert!(range.lo == range.hi || range.lo.next_up() == range.hi);
        }
    }
}
