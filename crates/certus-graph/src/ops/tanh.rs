//! Hyperbolic tangent.

use crate::ops::Unary;
use crate::ops::activation::{ActivationFunction, Curvature, Side, Smooth};
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

impl ActivationFunction for Tanh {
    const ONNX_DEFAULTS: Option<&'static [f64]> = Some(&[]);

    fn new(_: &[f64]) -> Self {
        Tanh
    }

    fn derivative(&self, x: f64) -> f64 {
        1.0 - x.tanh().powi(2)
    }

    fn slope<T: Real>(&self, _: T, y: T) -> T {
        T::ONE - y * y
    }

    fn apply<T: Real>(&self, xs: &mut [T]) {
        certus_kernels::tanh(xs);
    }

    fn derivative_range(&self, x: Interval) -> Option<Interval> {
        Some(Interval::ONE - x.tanh().powi(2))
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
        // |f''| is at most 4/√27 < 0.77, and 2|y|(1 − y²) ≤ 2|x|.
        let value = Interval::point(m).tanh();
        Some((f64::min(0.77, 2.0 * farthest), value, 1.0 - value.lo * value.lo))
    }
}

impl Smooth for Tanh {
    fn floats(&self, x: f64) -> [f64; 3] {
        let y = x.tanh();
        let slope = (1.0 - y) * (1.0 + y);
        [y, slope, -2.0 * y * slope]
    }

    fn enclosures(&self, x: f64, _: Side) -> (Interval, Interval) {
        let y = Interval::point(x).tanh();
        (y, (Interval::ONE - y) * (Interval::ONE + y))
    }

    fn reach(&self) -> f64 {
        1.5
    }
}
