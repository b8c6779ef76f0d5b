//! −x.

use crate::ops::Unary;
use crate::ops::unary::unary_operator;
use crate::{Interval, Real};

/// −x.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Neg;

impl Unary for Neg {
    const NAME: &'static str = "Neg";

    fn real<T: Real>(&self, x: T) -> T {
        -x
    }

    fn interval(&self, x: Interval) -> Interval {
        -x
    }
}

unary_operator!(Neg);
