//! |x|.

use crate::ops::Unary;
use crate::ops::unary::unary_operator;
use crate::{Interval, Real};

/// |x|.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Abs;

impl Unary for Abs {
    const NAME: &'static str = "Abs";

    fn real<T: Real>(&self, x: T) -> T {
        x.abs()
    }

    fn interval(&self, x: Interval) -> Interval {
        x.abs()
    }
}

unary_operator!(Abs);
