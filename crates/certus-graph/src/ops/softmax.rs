//! Normalised exponentials along an axis.
//!
//! *Enclosure.* softmaxᵢ(x) = 1 / Σⱼ exp(xⱼ − xᵢ) falls in every xⱼ, j ≠ i, and grows in xᵢ, so its extremes over a box
//! are at corners that are known in advance; each is evaluated with outward rounding.

use super::{Arg, Arity, Operator};
use crate::{GraphError, Interval, Real, Shape};

/// exp(xᵢ) / Σⱼ exp(xⱼ) along an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Softmax {
    /// The axis along which the results sum to one.
    pub axis: usize,
}

/// The starts, the stride and the length of the lines of `shape` along `axis`.
pub(super) fn lines(shape: &[usize], axis: usize) -> (Vec<usize>, usize, usize) {
    let stride: usize = shape[axis + 1..].iter().product();
    let outer: usize = shape[..axis].iter().product();
    let length = shape[axis];
    let starts = (0..outer).flat_map(|block| (0..stride).map(move |i| block * stride * length + i));
    (starts.collect(), stride, length)
}

impl Operator for Softmax {
    fn name(&self) -> &'static str {
        "Softmax"
    }

    fn arity(&self) -> Arity {
        Arity::Exactly(1)
    }

    fn infer(&self, shapes: &[&[usize]]) -> Result<Shape, GraphError> {
        if self.axis < shapes[0].len() {
            Ok(shapes[0].to_vec())
        } else {
            let message = format!("axis {} is outside of shape {:?}", self.axis, shapes[0]);
            Err(GraphError::shape("Softmax", message))
        }
    }

    fn eval<T: Real>(&self, args: &[Arg<'_, T>], shape: &[usize], batch: usize, out: &mut [T]) {
        let source = args[0].values;
        let (starts, stride, length) = lines(shape, self.axis);
        let mut shifted = vec![T::ZERO; length * batch];
        for start in starts {
            let row = |i: usize| (start + i * stride) * batch;
            for point in 0..batch {
                let largest =
                    (0..length).map(|i| source[row(i) + point]).fold(T::from_f64(f64::NEG_INFINITY), T::maximum);
                (0..length).for_each(|i| shifted[i * batch + point] = source[row(i) + point] - largest);
            }
            certus_kernels::exp(&mut shifted);
            for point in 0..batch {
                let total = (0..length).fold(T::ZERO, |sum, i| sum + shifted[i * batch + point]);
                (0..length).for_each(|i| out[row(i) + point] = shifted[i * batch + point] / total);
            }
        }
    }

    fn enclose(&self, args: &[Arg<'_, Interval>], shape: &[usize], out: &mut [Interval]) {
        let source = args[0].values;
        let (starts, stride, length) = lines(shape, self.axis);
        for start in starts {
            for i in 0..length {
                let corner = |own: f64, other: fn(Interval) -> f64| {
                    let total = (0..length).filter(|&j| j != i).fold(Interval::ONE, |sum, j| {
                        let distance = Interval::point(other(source[start + j * stride])) - Interval::point(own);
                        sum + distance.exp()
                    });
                    Interval::ONE / total
                };
                let x = source[start + i * stride];
                let lower = corner(x.lo, |other| other.hi).lo.max(0.0);
                let upper = corner(x.hi, |other| other.lo).hi.min(1.0);
                out[start + i * stride] = Interval::new(lower, upper);
            }
        }
    }
}
