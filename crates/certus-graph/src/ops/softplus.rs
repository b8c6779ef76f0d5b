//! ln(1 + eˣ), a smooth max(x, 0).

use crate::ops::Sigmoid;
use crate::ops::Unary;
use crate::ops::activation::{ActivationFunction, Curvature, Side, Smooth};
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

impl ActivationFunction for Softplus {
    const EXAMPLE_RANGE: (f64, f64) = (-20.0, 20.0);
    const ONNX_DEFAULTS: Option<&'static [f64]> = Some(&[]);

    fn new(_: &[f64]) -> Self {
        Softplus
    }

    fn derivative(&self, x: f64) -> f64 {
        Sigmoid.real(x)
    }

    fn apply<T: Real>(&self, xs: &mut [T]) {
        certus_kernels::softplus(xs);
    }

    fn derivative_range(&self, x: Interval) -> Option<Interval> {
        Some(x.sigmoid())
    }

    fn smooth(&self) -> Option<&dyn Smooth> {
        Some(self)
    }

    fn curvature(&self, _: Interval) -> Option<Curvature> {
        Some(Curvature::Convex)
    }
}

impl Smooth for Softplus {
    fn floats(&self, x: f64) -> [f64; 3] {
        let [slope, curvature, _] = Sigmoid.floats(x);
        [self.real(x), slope, curvature]
    }

    fn enclosures(&self, x: f64, _: Side) -> (Interval, Interval) {
        let x = Interval::point(x);
        (x.softplus(), x.sigmoid())
    }
}
