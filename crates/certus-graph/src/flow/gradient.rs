//! Intervals with enclosures of their derivatives: forward automatic differentiation.
//!
//! *Source.* Rall, *Automatic Differentiation*, 1981. Run through the recurrences of Taylor coefficients it gives enclosures of
//! the coefficients' derivatives with respect to the start, which the mean-value form needs.
//!
//! *Soundness.* Slopes enclose every (generalised) derivative over the ranges, so f(x) ∈ f(c) + slopes·(x − c) for x and c in
//! them. Where a function jumps there are none, and the result is `None`.

use super::{Arithmetic, Function};
use crate::Interval;

/// A value and its derivatives with respect to the independent variables; no slopes at all for what depends on none.
#[derive(Clone, Debug, PartialEq)]
pub struct Gradient {
    /// The value.
    pub value: Interval,
    /// One derivative per variable, or none for a constant.
    pub slopes: Vec<Interval>,
}

impl Gradient {
    /// The variable with this place among so many.
    pub fn variable(value: Interval, place: usize, count: usize) -> Gradient {
        let slopes = (0..count).map(|other| Interval::truth(other == place)).collect();
        Gradient { value, slopes }
    }

    /// A number that depends on no variable.
    pub fn constant(value: Interval) -> Gradient {
        Gradient { value, slopes: Vec::new() }
    }

    /// The derivative with respect to a variable.
    pub fn slope(&self, place: usize) -> Interval {
        self.slopes.get(place).copied().unwrap_or(Interval::ZERO)
    }

    fn with(value: Interval, parts: &[(Interval, &Gradient)]) -> Gradient {
        let count = parts.iter().map(|(_, part)| part.slopes.len()).max().unwrap_or(0);
        let mut slopes = vec![Interval::ZERO; count];
        for (weight, part) in parts {
            for (sum, slope) in slopes.iter_mut().zip(&part.slopes) {
                if *slope != Interval::ZERO {
                    *sum = *sum + *weight * *slope;
                }
            }
        }
        Gradient { value, slopes }
    }
}

/// The arithmetic of [`Gradient`].
#[derive(Clone, Copy, Debug, Default)]
pub struct Gradients;

impl Arithmetic for Gradients {
    type Value = Gradient;

    fn constant(&mut self, value: Interval) -> Gradient {
        Gradient::constant(value)
    }

    fn add(&mut self, a: &Gradient, b: &Gradient) -> Gradient {
        Gradient::with(a.value + b.value, &[(Interval::ONE, a), (Interval::ONE, b)])
    }

    fn sub(&mut self, a: &Gradient, b: &Gradient) -> Gradient {
        Gradient::with(a.value - b.value, &[(Interval::ONE, a), (-Interval::ONE, b)])
    }

    fn mul(&mut self, a: &Gradient, b: &Gradient) -> Gradient {
        if std::ptr::eq(a, b) {
            return Gradient::with(a.value.powi(2), &[(a.value + a.value, a)]);
        }
        Gradient::with(a.value * b.value, &[(b.value, a), (a.value, b)])
    }

    fn scale(&mut self, a: &Gradient, factor: Interval) -> Gradient {
        Gradient::with(a.value * factor, &[(factor, a)])
    }

    fn combine(&mut self, terms: &[(Interval, &Gradient)], bias: Interval) -> Gradient {
        let value = terms.iter().fold(bias, |sum, (weight, x)| sum + *weight * x.value);
        Gradient::with(value, terms)
    }

    fn apply(&mut self, function: Function, a: &Gradient) -> Option<Gradient> {
        let value = function.interval(a.value)?;
        if a.slopes.iter().all(|slope| *slope == Interval::ZERO) {
            return Some(Gradient::constant(value));
        }
        let slope = function.derivative(a.value, value)?;
        Some(Gradient::with(value, &[(slope, a)]))
    }

    fn range(&self, a: &Gradient) -> Interval {
        a.value
    }

    fn select(&mut self, condition: &Gradient, yes: &Gradient, no: &Gradient) -> Gradient {
        // The choice may jump, so nothing is known of the slopes.
        let count = condition.slopes.len().max(yes.slopes.len()).max(no.slopes.len());
        Gradient { value: yes.value.hull(no.value), slopes: vec![Interval::ENTIRE; count] }
    }
}
