//! eˣ.

use crate::ops::Unary;
use crate::ops::unary::unary_operator;
use crate::{Interval, Real};

/// eˣ.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Exp;

impl Unary for Exp {
    const NAME: &'static str = "Exp";

    fn real<T: Real>(&self, x: T) -> T {
        let mut y = [x];
        certus_kernels::exp(&mut y);
        y[0]
    }

    fn interval(&self, x: Interval) -> Interval {
        x.exp()
    }

    fn slice<T: Real>(&self, source: &[T], target: &mut [T]) {
        target.copy_from_slice(source);
        certus_kernels::exp(target);
    }
}

unary_operator!(Exp);
