//! Natural logarithm; undefined at and below zero.

use crate::ops::Unary;
use crate::ops::unary::unary_operator;
use crate::{Interval, Real};

/// Natural logarithm; undefined at and below zero.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Log;

impl Unary for Log {
    const NAME: &'static str = "Log";

    fn real<T: Real>(&self, x: T) -> T {
        x.ln()
    }

    fn interval(&self, x: Interval) -> Interval {
        x.ln()
    }
}

unary_operator!(Log);
