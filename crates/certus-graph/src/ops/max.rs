//! The larger of two values.

use crate::ops::Binary;
use crate::ops::binary::binary_operator;
use crate::{Interval, Real};

/// The larger of two values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Max;

impl Binary for Max {
    fn label(&self) -> &'static str {
        "Max"
    }

    fn real<T: Real>(&self, a: T, b: T) -> T {
        a.maximum(b)
    }

    fn interval(&self, a: Interval, b: Interval) -> Interval {
        a.max(b)
    }
}

binary_operator!(Max);
