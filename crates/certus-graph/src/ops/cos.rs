//! Cosine.

use crate::ops::Unary;
use crate::ops::unary::unary_operator;
use crate::{Interval, Real};

/// Cosine.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cos;

impl Unary for Cos {
    const NAME: &'static str = "Cos";

    fn real<T: Real>(&self, x: T) -> T {
        x.cos()
    }

    fn interval(&self, x: Interval) -> Interval {
        x.cos()
    }
}

unary_operator!(Cos);
