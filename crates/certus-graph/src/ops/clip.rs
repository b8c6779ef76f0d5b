//! x limited to a range.

use crate::ops::Unary;
use crate::ops::activation::{ActivationFunction, Family};
use crate::ops::unary::unary_operator;
use crate::{Interval, Real};

/// min(max(x, `lower`), `upper`), as ONNX orders it; either bound may be infinite.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Clip {
    /// The least value.
    pub lower: f64,
    /// The greatest value; it wins where the two are crossed.
    pub upper: f64,
}

impl Unary for Clip {
    const NAME: &'static str = "Clip";

    fn real<T: Real>(&self, x: T) -> T {
        x.maximum(T::from_f64(self.lower)).minimum(T::from_f64(self.upper))
    }

    fn interval(&self, x: Interval) -> Interval {
        let clip = |value: f64| value.max(self.lower).min(self.upper);
        Interval::new(clip(x.lo), clip(x.hi))
    }
}

unary_operator!(Clip);

impl ActivationFunction for Clip {
    const PARAMETERS: &'static [&'static str] = &["lower", "upper"];
    const EXAMPLE: &'static [f64] = &[-0.5, 1.25];

    fn new(parameters: &[f64]) -> Self {
        Clip { lower: parameters[0], upper: parameters[1] }
    }

    fn parameters(&self) -> Vec<f64> {
        vec![self.lower, self.upper]
    }

    fn derivative(&self, x: f64) -> f64 {
        f64::from(u8::from(self.lower < x && x < self.upper))
    }

    fn derivative_range(&self, x: Interval) -> Option<Interval> {
        Some(if self.lower <= x.lo && x.hi <= self.upper {
            Interval::ONE
        } else if x.hi <= self.lower || x.lo >= self.upper {
            Interval::ZERO
        } else {
            Interval::new(0.0, 1.0)
        })
    }

    fn family(&self) -> Family {
        Family::Clip { lower: self.lower, upper: self.upper }
    }

    fn is_nonexpansive(&self) -> bool {
        true
    }
}
