//! ln(1 + eˣ), a smooth max(x, 0).

use crate::ops::Unary;
use crate::ops::unary::unary_operator;
use crate::{Interval, Real};

/// ln(1 + eˣ), a smooth max(x, 0).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Softplus;

impl Unary for Softplus {
    const NAME: &'static str = "Softplus";

    fn real<T: Real>(&self, x: T) -> T {
        let mut y = [x];
        certus_kernels::softplus(&mut y);
        y[0]
    }

    fn interval(&self, x: Interval) -> Interval {
        x.softplus()
    }

    fn slice<T: Real>(&self, source: &[T], target: &mut [T]) {
        target.copy_from_slice(source);
        certus_kernels::softplus(target);
    }
}

unary_operator!(Softplus);
