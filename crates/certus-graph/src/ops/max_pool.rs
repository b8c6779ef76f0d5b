//! Maximum over windows.

use super::{Arg, Arity, Operator, Window};
use crate::{GraphError, Interval, Real, Shape};

/// The maximum of each window of `[N, C, …]`; padding never wins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MaxPool {
    /// The windows.
    pub window: Window,
}

/// Calls `visit(result element, argument element)` for every element that a window covers.
pub(super) fn for_each_covered(
    window: &Window,
    shape: &[usize],
    result: &[usize],
    mut visit: impl FnMut(usize, usize),
) {
    let (spatial, positions): (usize, usize) = (shape[2..].iter().product(), result[2..].iter().product());
    for channel in 0..shape[0] * shape[1] {
        window.for_each_tap(&shape[2..], &result[2..], |position, _, offset| {
            visit(channel * positions + position, channel * spatial + offset);
        });
    }
}

pub(super) fn pooled_shape(op: &'static str, window: &Window, shape: &[usize]) -> Result<Shape, GraphError> {
    let positions = window.positions(op, shape)?;
    let axes = window.axes();
    if (0..axes).any(|axis| window.pads[axis].max(window.pads[axes + axis]) >= window.kernel[axis]) {
        return Err(GraphError::shape(op, "padding as large as the window leaves windows without elements"));
    }
    Ok([shape[0], shape[1]].into_iter().chain(positions).collect())
}

impl Operator for MaxPool {
    fn name(&self) -> &'static str {
        "MaxPool"
    }

    fn arity(&self) -> Arity {
        Arity::Exactly(1)
    }

    fn infer(&self, shapes: &[&[usize]]) -> Result<Shape, GraphError> {
        pooled_shape("MaxPool", &self.window, shapes[0])
    }

    fn eval<T: Real>(&self, args: &[Arg<'_, T>], shape: &[usize], batch: usize, out: &mut [T]) {
        out.fill(T::from_f64(f64::NEG_INFINITY));
        for_each_covered(&self.window, args[0].shape, shape, |row, source| {
            let source = &args[0].values[source * batch..][..batch];
            for (y, &x) in out[row * batch..][..batch].iter_mut().zip(source) {
                *y = y.maximum(x);
            }
        });
    }

    fn enclose(&self, args: &[Arg<'_, Interval>], shape: &[usize], out: &mut [Interval]) {
        let mut fresh = vec![true; out.len()];
        for_each_covered(&self.window, args[0].shape, shape, |row, source| {
            let x = args[0].values[source];
            out[row] = if std::mem::replace(&mut fresh[row], false) { x } else { out[row].max(x) };
        });
    }
}
