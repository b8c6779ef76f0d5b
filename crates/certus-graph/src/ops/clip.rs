//! x limited to a range.

use crate::ops::Unary;
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
