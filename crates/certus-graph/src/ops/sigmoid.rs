//! The logistic function 1 / (1 + e⁻ˣ).

use crate::ops::Unary;
use crate::ops::unary::unary_operator;
use crate::{Interval, Real};

/// The logistic function 1 / (1 + e⁻ˣ).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sigmoid;

impl Unary for Sigmoid {
    const NAME: &'static str = "Sigmoid";

    fn real<T: Real>(&self, x: T) -> T {
        let mut y = [x];
        certus_kernels::sigmoid(&mut y);
        y[0]
    }

    fn interval(&self, x: Interval) -> Interval {
        x.sigmoid()
    }

    fn slice<T: Real>(&self, source: &[T], target: &mut [T]) {
        target.copy_from_slice(source);
        certus_kernels::sigmoid(target);
    }
}

unary_operator!(Sigmoid);
