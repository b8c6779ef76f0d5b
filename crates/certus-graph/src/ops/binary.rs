//! Elementwise functions of two arguments, with broadcasting as in NumPy and ONNX.

use crate::shape::{broadcast_strides, for_each_offset};
use crate::{Interval, Real};

/// What an elementwise function of two arguments provides; `binary_operator!` makes an operator of it.
pub trait Binary {
    /// The operator's name.
    fn label(&self) -> &'static str;

    /// The function on floats.
    fn real<T: Real>(&self, a: T, b: T) -> T;

    /// An interval that contains the function of every pair of reals.
    fn interval(&self, a: Interval, b: Interval) -> Interval;
}

/// For each element of the result, in order, the element of `shape` that it reads under broadcasting.
pub(crate) fn broadcast_offsets(shape: &[usize], result: &[usize]) -> Vec<usize> {
    let mut offsets = Vec::new();
    for_each_offset(result, &broadcast_strides(shape, result), |offset| offsets.push(offset));
    offsets
}

/// Applies `f` to rows of `a` and `b` (each a shape and its values) broadcast to `result`.
pub(crate) fn zip_broadcast<V: Copy, W>(
    a: (&[usize], &[V]),
    b: (&[usize], &[V]),
    result: &[usize],
    batch: usize,
    out: &mut [W],
    f: impl Fn(V, V) -> W,
) {
    if a.0 == b.0 || a.1.len() == b.1.len() && a.1.len() == out.len() {
        for ((y, &x), &z) in out.iter_mut().zip(a.1).zip(b.1) {
            *y = f(x, z);
        }
        return;
    }
    let rows = broadcast_offsets(a.0, result).into_iter().zip(broadcast_offsets(b.0, result));
    for (target, (i, j)) in out.chunks_exact_mut(batch).zip(rows) {
        let (x, z) = (&a.1[i * batch..][..batch], &b.1[j * batch..][..batch]);
        for ((y, &x), &z) in target.iter_mut().zip(x).zip(z) {
            *y = f(x, z);
        }
    }
}

macro_rules! binary_operator {
    ($name:ident) => {
        impl crate::ops::Operator for $name {
            fn name(&self) -> &'static str {
                crate::ops::Binary::label(self)
            }
            fn arity(&self) -> crate::ops::Arity {
                crate::ops::Arity::Exactly(2)
            }
            fn infer(&self, shapes: &[&[usize]]) -> Result<crate::Shape, crate::GraphError> {
                crate::broadcast_shapes(crate::ops::Binary::label(self), shapes[0], shapes[1])
            }
            fn eval<T: crate::Real>(
                &self,
                args: &[crate::ops::Arg<'_, T>],
                shape: &[usize],
                batch: usize,
                out: &mut [T],
            ) {
                let f = |a, b| crate::ops::Binary::real(self, a, b);
                let (a, b) = (&args[0], &args[1]);
                crate::ops::binary::zip_broadcast((a.shape, a.values), (b.shape, b.values), shape, batch, out, f);
            }
            fn enclose(
                &self,
                args: &[crate::ops::Arg<'_, crate::Interval>],
                shape: &[usize],
                out: &mut [crate::Interval],
            ) {
                let f = |a, b| crate::ops::Binary::interval(self, a, b);
                let (a, b) = (&args[0], &args[1]);
                crate::ops::binary::zip_broadcast((a.shape, a.values), (b.shape, b.values), shape, 1, out, f);
            }
        }
    };
}
pub(crate) use binary_operator;
