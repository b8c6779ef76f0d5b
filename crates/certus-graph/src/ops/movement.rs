//! Operators that only move values: each element of the result is one element of an argument.

use crate::{GraphError, Shape};

/// What an operator that only moves values provides; `movement_operator!` makes an operator of it.
pub trait Movement {
    /// The operator's name.
    const NAME: &'static str;

    /// How many arguments it takes.
    const ARITY: super::Arity;

    /// The shape rule.
    fn result_shape(&self, shapes: &[&[usize]]) -> Result<Shape, GraphError>;

    /// For each element of the result in order, calls `visit` with (argument, element of it).
    fn sources(&self, shapes: &[&[usize]], result: &[usize], visit: &mut dyn FnMut(usize, usize));
}

/// Moves rows of a batch from the arguments to the result.
pub(crate) fn move_rows<V: Copy>(
    movement: &impl Movement,
    args: &[super::Arg<'_, V>],
    shape: &[usize],
    batch: usize,
    out: &mut [V],
) {
    let shapes: Vec<&[usize]> = args.iter().map(|arg| arg.shape).collect();
    let mut target = out.chunks_exact_mut(batch);
    movement.sources(&shapes, shape, &mut |arg, element| {
        if let Some(row) = target.next() {
            row.copy_from_slice(&args[arg].values[element * batch..][..batch]);
        }
    });
}

macro_rules! movement_operator {
    ($name:ident) => {
        impl crate::ops::Operator for $name {
            fn name(&self) -> &'static str {
                <Self as crate::ops::Movement>::NAME
            }
            fn arity(&self) -> crate::ops::Arity {
                <Self as crate::ops::Movement>::ARITY
            }
            fn infer(&self, shapes: &[&[usize]]) -> Result<crate::Shape, crate::GraphError> {
                crate::ops::Movement::result_shape(self, shapes)
            }
            fn eval<T: crate::Real>(
                &self,
                args: &[crate::ops::Arg<'_, T>],
                shape: &[usize],
                batch: usize,
                out: &mut [T],
            ) {
                crate::ops::movement::move_rows(self, args, shape, batch, out);
            }
            fn enclose(
                &self,
                args: &[crate::ops::Arg<'_, crate::Interval>],
                shape: &[usize],
                out: &mut [crate::Interval],
            ) {
                crate::ops::movement::move_rows(self, args, shape, 1, out);
            }
        }
    };
}
pub(crate) use movement_operator;
