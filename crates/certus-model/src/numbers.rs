//! Numbers as people read them: few digits, and on the safe side where that matters.
//!
//! Documents and certificates keep every digit. A number that bounds something from above is written rounded upwards and one that bounds it
//! from below downwards, so that what is written was proved too.

/// Significant digits of a number in a text.
const DIGITS: usize = 6;

/// At most six significant digits, to nearest, without trailing zeros.
pub fn short(value: f64) -> String {
    written(value, DIGITS)
}

/// Six significant digits, rounded up: for what is at most so large.
pub fn short_up(value: f64) -> String {
    outward(value, true)
}

/// Six significant digits, rounded down: for what is at least so large.
pub fn short_down(value: f64) -> String {
    outward(value, false)
}

/// An interval, no narrower than it is: `[0.2198, 0.2201]`.
pub fn short_range(lower: f64, upper: f64) -> String {
    format!("[{}, {}]", short_down(lower), short_up(upper))
}

fn outward(value: f64, up: bool) -> String {
    let nearest = written(value, DIGITS);
    let Ok(read) = nearest.parse::<f64>() else { return nearest };
    if !value.is_finite() || if up { read >= value } else { read <= value } {
        return nearest;
    }
    // The next decimal of as many digits, away from the value.
    let (mut digits, mut exponent) = mantissa(read);
    // Next to a power of ten, on the side of zero, decimals are ten times as dense.
    if digits.abs() == 10i64.pow(DIGITS as u32 - 1) && up == (digits < 0) {
        (digits, exponent) = (10 * digits, exponent - 1);
    }
    let next = format!("{}e{exponent}", if up { digits + 1 } else { digits - 1 });
    next.parse().map_or_else(|_| format!("{value}"), |next| written(next, DIGITS))
}

/// A decimal of [`DIGITS`] digits as a whole number and the exponent of its last digit.
fn mantissa(value: f64) -> (i64, i32) {
    let text = format!("{value:.*e}", DIGITS - 1);
    let (digits, exponent) = text.split_once('e').expect("a number with an exponent");
    let whole = digits.replace('.', "").parse().expect("the digits of a number");
    (whole, exponent.parse::<i32>().expect("an exponent") - (DIGITS as i32 - 1))
}

fn written(value: f64, digits: usize) -> String {
    if value == 0.0 || !value.is_finite() {
        return match value {
            v if v == f64::INFINITY => "∞".to_owned(),
            v if v == f64::NEG_INFINITY => "−∞".to_owned(),
            v if v.is_nan() => "not a number".to_owned(),
            _ => "0".to_owned(),
        };
    }
    let trimmed = |text: &str| match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text.to_owned(),
    };
    let scientific = format!("{value:.*e}", digits - 1);
    let (mantissa, exponent) = scientific.split_once('e').expect("a number with an exponent");
    let magnitude: i32 = exponent.parse().expect("an exponent");
    match magnitude {
        -4..6 => trimmed(&format!("{value:.*}", (digits as i32 - 1 - magnitude).max(0) as usize)),
        _ => format!("{}e{exponent}", trimmed(mantissa)),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn numbers_are_short() {
        assert_eq!(short(0.21980000000000002), "0.2198");
        assert_eq!(short(-1234.5678), "-1234.57");
        assert_eq!(short(1e-9), "1e-9");
        assert_eq!(short(2.928_678e-7), "2.92868e-7");
        assert_eq!(short(0.0), "0");
        assert_eq!(short(100000.0), "100000");
        assert_eq!(short(999_999.9), "1e6");
        assert_eq!(short(0.999_999_9), "1");
    }

    #[test]
    fn ends_of_intervals_are_no_wider_than_a_digit() {
        assert_eq!(short_range(0.2198, 0.25), "[0.2198, 0.25]");
        assert_eq!(short_range(1.0 / 3.0, 2.0 / 3.0), "[0.333333, 0.666667]");
        assert_eq!(short_range(-2.0 / 3.0, -1.0 / 3.0), "[-0.666667, -0.333333]");
        assert_eq!(short_range(f64::NEG_INFINITY, 0.0), "[−∞, 0]");
        assert_eq!(short_up(0.999_999_9), "1");
        assert_eq!(short_down(1.000_000_01), "1");
        assert_eq!(short_down(0.999_999_9), "0.999999");
    }

    proptest! {
        #[test]
        fn what_is_written_was_proved(value in proptest::num::f64::NORMAL) {
            let read = |text: String| text.replace('∞', "inf").replace('−', "-").parse::<f64>().unwrap();
            let (low, high) = (read(short_down(value)), read(short_up(value)));
            prop_assert!(low <= value && value <= high, "{value}: {low}, {high}");
            prop_assert!(high - low <= 2.1e-5 * value.abs() || high.is_infinite() || low.is_infinite(), "{value}: {low}, {high}");
        }
    }
}
