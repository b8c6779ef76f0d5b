//! A free tensor: where the arguments of the graph's function enter.

use super::{Arg, Arity, Operator};
use crate::{GraphError, Interval, Real, Shape};

/// A free tensor. Evaluation fills it in from outside; as an operator it has no arguments and no value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Input;

impl Operator for Input {
    fn name(&self) -> &'static str {
        "Input"
    }

    fn arity(&self) -> Arity {
        Arity::Exactly(0)
    }

    fn infer(&self, _shapes: &[&[usize]]) -> Result<Shape, GraphError> {
        Err(GraphError::shape("Input", "an input's shape is given when it is declared"))
    }

    fn eval<T: Real>(&self, _args: &[Arg<'_, T>], _shape: &[usize], _batch: usize, _out: &mut [T]) {}

    fn enclose(&self, _args: &[Arg<'_, Interval>], _shape: &[usize], _out: &mut [Interval]) {}
}
