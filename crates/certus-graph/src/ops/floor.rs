//! The largest integer not above x.

use crate::ops::Unary;
use crate::ops::activation::{ActivationFunction, Family};
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

impl ActivationFunction for Floor {
    fn new(_: &[f64]) -> Self {
        Floor
    }

    fn derivative(&self, _: f64) -> f64 {
        0.0
    }

    /// Following the identity from afar points to the next integer.
    fn slope<T: Real>(&self, _: T, _: T) -> T {
        T::ONE
    }

    fn derivative_range(&self, x: Interval) -> Option<Interval> {
        let values = x.floor();
        (values.lo == values.hi).then_some(Interval::ZERO)
    }

    fn family(&self) -> Family {
        Family::Floor
    }
}
