//! One of two values, by a truth value.

use super::binary::broadcast_offsets;
use super::{Arg, Arity, Operator};
use crate::{GraphError, Interval, Real, Shape, broadcast_shapes};

/// `Select(condition, a, b)`: a where the condition is not zero, b where it is; all three broadcast.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Select;

fn select<V: Copy>(args: &[Arg<'_, V>], shape: &[usize], batch: usize, out: &mut [V], pick: impl Fn(V, V, V) -> V) {
    let rows = |arg: &Arg<'_, V>| broadcast_offsets(arg.shape, shape);
    let (conditions, firsts, seconds) = (rows(&args[0]), rows(&args[1]), rows(&args[2]));
    let row = |arg: usize, index: usize| &args[arg].values[index * batch..][..batch];
    for (index, target) in out.chunks_exact_mut(batch).enumerate() {
        let (c, a, b) = (row(0, conditions[index]), row(1, firsts[index]), row(2, seconds[index]));
        for point in 0..batch {
            target[point] = pick(c[point], a[point], b[point]);
        }
    }
}

impl Operator for Select {
    fn name(&self) -> &'static str {
        "Select"
    }

    fn arity(&self) -> Arity {
        Arity::Exactly(3)
    }

    fn infer(&self, shapes: &[&[usize]]) -> Result<Shape, GraphError> {
        let branches = broadcast_shapes("Select", shapes[1], shapes[2])?;
        broadcast_shapes("Select", shapes[0], &branches)
    }

    fn eval<T: Real>(&self, args: &[Arg<'_, T>], shape: &[usize], batch: usize, out: &mut [T]) {
        select(args, shape, batch, out, |c, a, b| if c != T::ZERO { a } else { b });
    }

    fn enclose(&self, args: &[Arg<'_, Interval>], shape: &[usize], out: &mut [Interval]) {
        select(args, shape, 1, out, |c, a, b| match c.certainty() {
            Some(true) => a,
            Some(false) => b,
            None => a.hull(b),
        });
    }
}
