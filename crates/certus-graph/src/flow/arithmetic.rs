//! What Taylor coefficients are computed with.

use super::Function;
use crate::Interval;

/// The operations that Taylor coefficients are computed with: floats and intervals here, Taylor models elsewhere.
pub trait Arithmetic {
    /// A number, or an enclosure of one.
    type Value: Clone;

    /// A number that lies in an interval.
    fn constant(&mut self, value: Interval) -> Self::Value;

    /// a + b.
    fn add(&mut self, a: &Self::Value, b: &Self::Value) -> Self::Value;

    /// a − b.
    fn sub(&mut self, a: &Self::Value, b: &Self::Value) -> Self::Value;

    /// a · b; where both are the same object, a square.
    fn mul(&mut self, a: &Self::Value, b: &Self::Value) -> Self::Value;

    /// a times a number that lies in an interval.
    fn scale(&mut self, a: &Self::Value, factor: Interval) -> Self::Value;

    /// Σ wᵢ·xᵢ + bias, all weights enclosed.
    fn combine(&mut self, terms: &[(Interval, &Self::Value)], bias: Interval) -> Self::Value;

    /// An elementary function; `None` where it is not defined on the whole value.
    fn apply(&mut self, function: Function, a: &Self::Value) -> Option<Self::Value>;

    /// What the value certainly lies in; asked only of arguments of functions that are not smooth, and of conditions.
    fn range(&self, _a: &Self::Value) -> Interval {
        Interval::ENTIRE
    }

    /// One of two values by a truth value (0 or 1) that is not certain.
    fn select(&mut self, condition: &Self::Value, yes: &Self::Value, no: &Self::Value) -> Self::Value {
        let difference = self.sub(yes, no);
        let chosen = self.mul(condition, &difference);
        self.add(no, &chosen)
    }
}

/// Plain doubles: nothing is concluded from them.
#[derive(Clone, Copy, Debug, Default)]
pub struct Floats;

/// The double in the middle of an interval; 0 where there is none.
pub(super) fn middle(x: Interval) -> f64 {
    if x.lo == x.hi {
        return x.lo;
    }
    let middle = x.lo / 2.0 + x.hi / 2.0;
    if middle.is_finite() { middle.clamp(x.lo, x.hi) } else { 0.0 }
}

impl Arithmetic for Floats {
    type Value = f64;

    fn constant(&mut self, value: Interval) -> f64 {
        middle(value)
    }

    fn add(&mut self, a: &f64, b: &f64) -> f64 {
        a + b
    }

    fn sub(&mut self, a: &f64, b: &f64) -> f64 {
        a - b
    }

    fn mul(&mut self, a: &f64, b: &f64) -> f64 {
        a * b
    }

    fn scale(&mut self, a: &f64, factor: Interval) -> f64 {
        a * middle(factor)
    }

    fn combine(&mut self, terms: &[(Interval, &f64)], bias: Interval) -> f64 {
        terms.iter().fold(middle(bias), |sum, (weight, x)| sum + middle(*weight) * **x)
    }

    fn apply(&mut self, function: Function, a: &f64) -> Option<f64> {
        function.real(*a)
    }

    fn range(&self, a: &f64) -> Interval {
        Interval::point(*a)
    }
}

/// Intervals with outward rounding.
#[derive(Clone, Copy, Debug, Default)]
pub struct Intervals;

impl Arithmetic for Intervals {
    type Value = Interval;

    fn constant(&mut self, value: Interval) -> Interval {
        value
    }

    fn add(&mut self, a: &Interval, b: &Interval) -> Interval {
        *a + *b
    }

    fn sub(&mut self, a: &Interval, b: &Interval) -> Interval {
        *a - *b
    }

    fn mul(&mut self, a: &Interval, b: &Interval) -> Interval {
        if std::ptr::eq(a, b) { a.powi(2) } else { *a * *b }
    }

    fn scale(&mut self, a: &Interval, factor: Interval) -> Interval {
        *a * factor
    }

    fn combine(&mut self, terms: &[(Interval, &Interval)], bias: Interval) -> Interval {
        terms.iter().fold(bias, |sum, (weight, x)| sum + *weight * **x)
    }

    fn apply(&mut self, function: Function, a: &Interval) -> Option<Interval> {
        function.interval(*a)
    }

    fn range(&self, a: &Interval) -> Interval {
        *a
    }

    fn select(&mut self, _condition: &Interval, yes: &Interval, no: &Interval) -> Interval {
        yes.hull(*no)
    }
}
