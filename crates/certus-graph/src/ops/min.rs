//! The smaller of two values.

use crate::ops::Binary;
use crate::ops::binary::binary_operator;
use crate::{Interval, Real};

/// The smaller of two values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Min;

impl Binary for Min {
    fn label(&self) -> &'static str {
        "Min"
    }

    fn real<T: Real>(&self, a: T, b: T) -> T {
        a.minimum(b)
    }

    fn interval(&self, a: Interval, b: Interval) -> Interval {
        a.min(b)
    }
}

binary_operator!(Min);
