//! Hyperbolic tangent.

use crate::ops::Unary;
use crate::ops::unary::unary_operator;
use crate::{Interval, Real};

/// Hyperbolic tangent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tanh;

impl Unary for Tanh {
    const NAME: &'static str = "Tanh";

    fn real<T: Real>(&self, x: T) -> T {
        let mut y = [x];
        certus_kernels::tanh(&mut y);
        y[0]
    }

    fn interval(&self, x: Interval) -> Interval {
        x.tanh()
    }

    fn slice<T: Real>(&self, source: &[T], target: &mut [T]) {
        target.copy_from_slice(source);
        certus_kernels::tanh(target);
    }
}

unary_operator!(Tanh);
