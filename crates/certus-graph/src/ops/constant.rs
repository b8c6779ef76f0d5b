//! A known tensor.

use std::sync::Arc;

use super::{Arg, Arity, Operator};
use crate::{GraphError, Interval, Real, Shape, Tensor};

/// A known tensor. A constant that was folded with rounding carries, per element, how far the exact real value may
/// lie from the stored double; enclosures include that, so folding never makes a proof unsound.
#[derive(Clone, Debug, PartialEq)]
pub struct Constant {
    value: Arc<Tensor>,
    radius: Option<Arc<[f64]>>,
}

impl Constant {
    /// A constant that is exactly this tensor.
    pub fn exact(value: Tensor) -> Self {
        Constant { value: Arc::new(value), radius: None }
    }

    /// The constant whose elements lie in these intervals; exact where all of them are points.
    pub fn enclosed(shape: &[usize], intervals: &[Interval]) -> Result<Self, GraphError> {
        let middle = |x: &Interval| if x.lo == x.hi { x.lo } else { x.lo / 2.0 + x.hi / 2.0 };
        let value = Tensor::new(shape, intervals.iter().map(middle).collect())?;
        let radius: Vec<f64> = intervals
            .iter()
            .map(|x| {
                let middle = Interval::point(middle(x));
                (Interval::point(x.hi) - middle).hi.max((middle - Interval::point(x.lo)).hi)
            })
            .collect();
        let exact = radius.iter().all(|&r| r == 0.0);
        Ok(Constant { value: Arc::new(value), radius: (!exact).then(|| radius.into()) })
    }

    /// The stored value.
    pub fn value(&self) -> &Tensor {
        &self.value
    }

    /// Whether the stored value is the exact one.
    pub fn is_exact(&self) -> bool {
        self.radius.is_none()
    }

    /// What the exact value of an element lies in.
    pub fn interval(&self, index: usize) -> Interval {
        let point = Interval::point(self.value.data()[index]);
        self.radius.as_ref().map_or(point, |radius| point.widen(radius[index]))
    }

    /// How far the exact value of an element may lie from the stored one.
    pub fn radius(&self, index: usize) -> f64 {
        self.radius.as_ref().map_or(0.0, |radius| radius[index])
    }
}

impl Operator for Constant {
    fn name(&self) -> &'static str {
        "Constant"
    }

    fn arity(&self) -> Arity {
        Arity::Exactly(0)
    }

    fn infer(&self, _shapes: &[&[usize]]) -> Result<Shape, GraphError> {
        Ok(self.value.shape().to_vec())
    }

    fn eval<T: Real>(&self, _args: &[Arg<'_, T>], _shape: &[usize], batch: usize, out: &mut [T]) {
        for (row, &value) in out.chunks_exact_mut(batch).zip(self.value.data()) {
            row.fill(T::from_f64(value));
        }
    }

    fn enclose(&self, _args: &[Arg<'_, Interval>], _shape: &[usize], out: &mut [Interval]) {
        for (index, y) in out.iter_mut().enumerate() {
            *y = self.interval(index);
        }
    }
}
