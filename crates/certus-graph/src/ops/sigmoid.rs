//! The logistic function 1 / (1 + e⁻ˣ).

use crate::ops::Unary;
use crate::ops::activation::{ActivationFunction, Curvature, Side, Smooth};
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

impl ActivationFunction for Sigmoid {
    const EXAMPLE_RANGE: (f64, f64) = (-8.0, 8.0);
    const ONNX_DEFAULTS: Option<&'static [f64]> = Some(&[]);

    fn new(_: &[f64]) -> Self {
        Sigmoid
    }

    fn derivative(&self, x: f64) -> f64 {
        let y = self.real(x);
        y * (1.0 - y)
    }

    fn slope<T: Real>(&self, _: T, y: T) -> T {
        y * (T::ONE - y)
    }

    fn apply<T: Real>(&self, xs: &mut [T]) {
        certus_kernels::sigmoid(xs);
    }

    fn derivative_range(&self, x: Interval) -> Option<Interval> {
        let value = x.sigmoid();
        Some(value * (Interval::ONE - value))
    }

    fn smooth(&self) -> Option<&dyn Smooth> {
        Some(self)
    }

    fn curvature(&self, x: Interval) -> Option<Curvature> {
        Some(Curvature::sigmoidal(x))
    }

    fn is_nonexpansive(&self) -> bool {
        true
    }

    fn taylor(&self, m: f64, farthest: f64) -> Option<(f64, Interval, f64)> {
        // |f''| is at most 1/(6√3) < 0.0963, and grows no faster than |x|/8.
        let value = Interval::point(m).sigmoid();
        Some((f64::min(0.0963, farthest / 8.0), value, value.lo * (1.0 - value.lo)))
    }
}

impl Smooth for Sigmoid {
    fn floats(&self, x: f64) -> [f64; 3] {
        let y = 1.0 / (1.0 + (-x).exp());
        let slope = y * (1.0 - y);
        [y, slope, slope * (1.0 - 2.0 * y)]
    }

    fn enclosures(&self, x: f64, _: Side) -> (Interval, Interval) {
        let y = Interval::point(x).sigmoid();
        (y, y * (Interval::ONE - y))
    }

    fn reach(&self) -> f64 {
        3.0
    }
}
