//! Powers.

use crate::ops::Binary;
use crate::ops::binary::binary_operator;
use crate::{Interval, Real};

/// aᵇ, elementwise. A negative base is defined for integer exponents only.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pow;

impl Binary for Pow {
    fn label(&self) -> &'static str {
        "Pow"
    }

    fn real<T: Real>(&self, a: T, b: T) -> T {
        // The small exponents of plants and exported networks, without the library call.
        let exponent = b.to_f64();
        if exponent == 2.0 {
            a * a
        } else if exponent == 3.0 {
            a * a * a
        } else if exponent == 1.0 {
            a
        } else {
            a.powf(b)
        }
    }

    fn interval(&self, a: Interval, b: Interval) -> Interval {
        a.pow(b)
    }
}

binary_operator!(Pow);
