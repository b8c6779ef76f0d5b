//! Sum, mean, maximum, minimum or product along axes.

use super::{Arg, Arity, Operator};
use crate::shape::{for_each_offset, strides};
use crate::{GraphError, Interval, Real, Shape};

/// What a reduction computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReduceKind {
    /// The sum.
    Sum,
    /// The mean.
    Mean,
    /// The maximum.
    Max,
    /// The minimum.
    Min,
    /// The product.
    Product,
}

/// A reduction along axes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reduce {
    /// What is computed.
    pub kind: ReduceKind,
    /// The axes that are reduced.
    pub axes: Vec<usize>,
    /// Whether reduced axes stay, with extent 1.
    pub keep_dims: bool,
}

impl Reduce {
    /// Reduction of a whole tensor to a scalar.
    pub fn all(kind: ReduceKind, rank: usize) -> Self {
        Reduce { kind, axes: (0..rank).collect(), keep_dims: false }
    }

    /// For each element of the argument, in order, the element of the result that it goes into.
    pub fn targets(&self, shape: &[usize]) -> Vec<usize> {
        let kept: Shape = shape
            .iter()
            .enumerate()
            .map(|(axis, &extent)| if self.axes.contains(&axis) { 1 } else { extent })
            .collect();
        let mut steps = strides(&kept);
        self.axes.iter().for_each(|&axis| steps[axis] = 0);
        let mut targets = Vec::new();
        for_each_offset(shape, &steps, |target| targets.push(target));
        targets
    }

    /// How many elements go into one.
    pub fn count(&self, shape: &[usize]) -> usize {
        self.axes.iter().map(|&axis| shape[axis]).product()
    }
}

impl Operator for Reduce {
    fn name(&self) -> &'static str {
        match self.kind {
            ReduceKind::Sum => "ReduceSum",
            ReduceKind::Mean => "ReduceMean",
            ReduceKind::Max => "ReduceMax",
            ReduceKind::Min => "ReduceMin",
            ReduceKind::Product => "ReduceProduct",
        }
    }

    fn arity(&self) -> Arity {
        Arity::Exactly(1)
    }

    fn infer(&self, shapes: &[&[usize]]) -> Result<Shape, GraphError> {
        let shape = shapes[0];
        if self.axes.iter().any(|&axis| axis >= shape.len()) {
            let message = format!("axes {:?} leave the shape {shape:?}", self.axes);
            return Err(GraphError::shape(self.name(), message));
        }
        let empty = self.axes.iter().any(|&axis| shape[axis] == 0);
        if empty && matches!(self.kind, ReduceKind::Max | ReduceKind::Min | ReduceKind::Mean) {
            let message = format!("nothing to reduce along {:?} of {shape:?}", self.axes);
            return Err(GraphError::shape(self.name(), message));
        }
        let extents = shape.iter().enumerate().filter_map(|(axis, &extent)| match self.axes.contains(&axis) {
            true if self.keep_dims => Some(1),
            true => None,
            false => Some(extent),
        });
        Ok(extents.collect())
    }

    fn eval<T: Real>(&self, args: &[Arg<'_, T>], _shape: &[usize], batch: usize, out: &mut [T]) {
        let (start, combine): (f64, fn(T, T) -> T) = match self.kind {
            ReduceKind::Sum | ReduceKind::Mean => (0.0, |a, b| a + b),
            ReduceKind::Max => (f64::NEG_INFINITY, T::maximum),
            ReduceKind::Min => (f64::INFINITY, T::minimum),
            ReduceKind::Product => (1.0, |a, b| a * b),
        };
        out.fill(T::from_f64(start));
        for (source, target) in args[0].values.chunks_exact(batch).zip(self.targets(args[0].shape)) {
            for (y, &x) in out[target * batch..][..batch].iter_mut().zip(source) {
                *y = combine(*y, x);
            }
        }
        if self.kind == ReduceKind::Mean {
            let count = T::from_f64(self.count(args[0].shape) as f64);
            out.iter_mut().for_each(|y| *y = *y / count);
        }
    }

    fn enclose(&self, args: &[Arg<'_, Interval>], _shape: &[usize], out: &mut [Interval]) {
        let combine: fn(Interval, Interval) -> Interval = match self.kind {
            ReduceKind::Sum | ReduceKind::Mean => |a, b| a + b,
            ReduceKind::Max => Interval::max,
            ReduceKind::Min => Interval::min,
            ReduceKind::Product => |a, b| a * b,
        };
        let neutral = if self.kind == ReduceKind::Product { Interval::ONE } else { Interval::ZERO };
        out.fill(neutral);
        let mut fresh = vec![true; out.len()];
        for (&x, target) in args[0].values.iter().zip(self.targets(args[0].shape)) {
            out[target] = if std::mem::replace(&mut fresh[target], false) { x } else { combine(out[target], x) };
        }
        if self.kind == ReduceKind::Mean {
            let count = Interval::point(self.count(args[0].shape) as f64);
            out.iter_mut().for_each(|y| *y = *y / count);
        }
    }
}
