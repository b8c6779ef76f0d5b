//! Exponential linear unit.

use crate::ops::Unary;
use crate::ops::unary::unary_operator;
use crate::{Interval, Real};

/// x for x ≥ 0, `alpha`·(eˣ − 1) below.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Elu {
    /// The depth that the function approaches for x → −∞.
    pub alpha: f64,
}

impl Unary for Elu {
    const NAME: &'static str = "Elu";

    fn real<T: Real>(&self, x: T) -> T {
        if x < T::ZERO { T::from_f64(self.alpha) * x.exp_m1() } else { x }
    }

    fn interval(&self, x: Interval) -> Interval {
        let below = (x.lo < 0.0).then(|| Interval::point(self.alpha) * Interval::new(x.lo, x.hi.min(0.0)).exp_m1());
        let above = (x.hi >= 0.0).then(|| Interval::new(x.lo.max(0.0), x.hi));
        match (below, above) {
            (Some(below), Some(above)) => below.hull(above),
            (below, above) => below.or(above).unwrap_or(Interval::ENTIRE),
        }
    }
}

unary_operator!(Elu);
