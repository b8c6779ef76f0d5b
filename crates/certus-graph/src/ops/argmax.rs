//! The first maximum along the last axis, as a one-hot vector.

use super::softmax::lines;
use super::{Arg, Arity, Operator};
use crate::{GraphError, Interval, Real, Shape};

/// 1 at the first maximum along the last axis, 0 elsewhere: the choice of a deterministic discrete policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArgMax;

impl Operator for ArgMax {
    fn name(&self) -> &'static str {
        "ArgMax"
    }

    fn arity(&self) -> Arity {
        Arity::Exactly(1)
    }

    fn infer(&self, shapes: &[&[usize]]) -> Result<Shape, GraphError> {
        match shapes[0].last() {
            Some(&extent) if extent > 0 => Ok(shapes[0].to_vec()),
            _ => Err(GraphError::shape("ArgMax", format!("shape {:?} has nothing to choose from", shapes[0]))),
        }
    }

    fn eval<T: Real>(&self, args: &[Arg<'_, T>], shape: &[usize], batch: usize, out: &mut [T]) {
        out.fill(T::ZERO);
        let (starts, stride, length) = lines(shape, shape.len() - 1);
        for start in starts {
            for point in 0..batch {
                let value = |i: usize| args[0].values[(start + i * stride) * batch + point];
                let best = (1..length).fold(0, |best, i| if value(i) > value(best) { i } else { best });
                out[(start + best * stride) * batch + point] = T::ONE;
            }
        }
    }

    fn enclose(&self, args: &[Arg<'_, Interval>], shape: &[usize], out: &mut [Interval]) {
        let (starts, stride, length) = lines(shape, shape.len() - 1);
        for start in starts {
            let value = |i: usize| args[0].values[start + i * stride];
            for i in 0..length {
                // An earlier entry wins ties, a later one does not.
                let loses = |j: usize| if j < i { value(i).hi <= value(j).lo } else { value(i).hi < value(j).lo };
                let beats = |j: usize| if j < i { value(i).lo > value(j).hi } else { value(i).lo >= value(j).hi };
                let others = || (0..length).filter(|&j| j != i);
                out[start + i * stride] = if others().all(beats) {
                    Interval::ONE
                } else if others().any(loses) {
                    Interval::ZERO
                } else {
                    Interval::UNKNOWN_TRUTH
                };
            }
        }
    }
}
