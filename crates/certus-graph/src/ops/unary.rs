//! Elementwise functions of one argument.

use crate::{Interval, Real};

/// What an elementwise function of one argument provides; `unary_operator!` makes an operator of it.
pub trait Unary {
    /// The operator's name.
    const NAME: &'static str;

    /// The function on a float.
    fn real<T: Real>(&self, x: T) -> T;

    /// An interval that contains the function of every real in `x`.
    fn interval(&self, x: Interval) -> Interval;

    /// The function on a whole row; a faster way where there is one.
    fn slice<T: Real>(&self, source: &[T], target: &mut [T]) {
        for (y, &x) in target.iter_mut().zip(source) {
            *y = self.real(x);
        }
    }
}

macro_rules! unary_operator {
    ($name:ident) => {
        impl crate::ops::Operator for $name {
            fn name(&self) -> &'static str {
                <Self as crate::ops::Unary>::NAME
            }
            fn arity(&self) -> crate::ops::Arity {
                crate::ops::Arity::Exactly(1)
            }
            fn infer(&self, shapes: &[&[usize]]) -> Result<crate::Shape, crate::GraphError> {
                Ok(shapes[0].to_vec())
            }
            fn eval<T: crate::Real>(
                &self,
                args: &[crate::ops::Arg<'_, T>],
                _shape: &[usize],
                _batch: usize,
                out: &mut [T],
            ) {
                crate::ops::Unary::slice(self, args[0].values, out);
            }
            fn enclose(
                &self,
                args: &[crate::ops::Arg<'_, crate::Interval>],
                _shape: &[usize],
                out: &mut [crate::Interval],
            ) {
                for (y, &x) in out.iter_mut().zip(args[0].values) {
                    *y = crate::ops::Unary::interval(self, x);
                }
            }
        }
    };
}
pub(crate) use unary_operator;
