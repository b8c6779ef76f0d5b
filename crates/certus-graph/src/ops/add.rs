//! a + b.

use crate::ops::Binary;
use crate::ops::binary::binary_operator;
use crate::{Interval, Real};

/// a + b.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Add;

impl Binary for Add {
    fn label(&self) -> &'static str {
        "Add"
    }

    fn real<T: Real>(&self, a: T, b: T) -> T {
        a + b
    }

    fn interval(&self, a: Interval, b: Interval) -> Interval {
        a + b
    }
}

binary_operator!(Add);
