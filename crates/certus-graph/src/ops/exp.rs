//! eˣ.

use crate::ops::Unary;
use crate::ops::activation::{ActivationFunction, Curvature, Side, Smooth};
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

impl ActivationFunction for Exp {
    fn new(_: &[f64]) -> Self {
        Exp
    }

    fn derivative(&self, x: f64) -> f64 {
        x.exp()
    }

    fn slope<T: Real>(&self, _: T, y: T) -> T {
        y
    }

    fn apply<T: Real>(&self, xs: &mut [T]) {
        certus_kernels::exp(xs);
    }

    fn derivative_range(&self, x: Interval) -> Option<Interval> {
        Some(x.exp())
    }

    fn smooth(&self) -> Option<&dyn Smooth> {
        Some(self)
    }

    fn curvature(&self, _: Interval) -> Option<Curvature> {
        Some(Curvature::Convex)
    }
}

impl Smooth for Exp {
    fn floats(&self, x: f64) -> [f64; 3] {
        [x.exp(); 3]
    }

    fn enclosures(&self, x: f64, _: Side) -> (Interval, Interval) {
        let y = Interval::point(x).exp();
        (y, y)
    }
}
