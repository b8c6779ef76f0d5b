//! a · b, elementwise.

use crate::ops::Binary;
use crate::ops::binary::binary_operator;
use crate::{Interval, Real};

/// a · b, elementwise.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mul;

impl Binary for Mul {
    fn label(&self) -> &'static str {
        "Mul"
    }

    fn real<T: Real>(&self, a: T, b: T) -> T {
        a * b
    }

    fn interval(&self, a: Interval, b: Interval) -> Interval {
        a * b
    }
}

binary_operator!(Mul);
