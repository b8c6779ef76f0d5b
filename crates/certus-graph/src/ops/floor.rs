//! The largest integer not above x.

use crate::ops::Unary;
use crate::ops::unary::unary_operator;
use crate::{Interval, Real};

/// The largest integer not above x.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Floor;

impl Unary for Floor {
    const NAME: &'static str = "Floor";

    fn real<T: Real>(&self, x: T) -> T {
        x.floor()
    }

    fn interval(&self, x: Interval) -> Interval {
        x.floor()
    }
}

unary_operator!(Floor);
