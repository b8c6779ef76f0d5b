//! a / b, elementwise; undefined where b is zero.

use crate::ops::Binary;
use crate::ops::binary::binary_operator;
use crate::{Interval, Real};

/// a / b, elementwise; undefined where b is zero.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Div;

impl Binary for Div {
    fn label(&self) -> &'static str {
        "Div"
    }

    fn real<T: Real>(&self, a: T, b: T) -> T {
        a / b
    }

    fn interval(&self, a: Interval, b: Interval) -> Interval {
        a / b
    }
}

binary_operator!(Div);
