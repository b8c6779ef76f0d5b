//! √x; undefined below zero.

use crate::ops::Unary;
use crate::ops::unary::unary_operator;
use crate::{Interval, Real};

/// √x; undefined below zero.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sqrt;

impl Unary for Sqrt {
    const NAME: &'static str = "Sqrt";

    fn real<T: Real>(&self, x: T) -> T {
        x.sqrt()
    }

    fn interval(&self, x: Interval) -> Interval {
        x.sqrt()
    }
}

unary_operator!(Sqrt);
