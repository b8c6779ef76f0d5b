//! Mean over windows.

use super::max_pool::{for_each_covered, pooled_shape};
use super::{Arg, Arity, Operator, Window};
use crate::{GraphError, Interval, Real, Shape};

/// The mean of each window of `[N, C, …]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AveragePool {
    /// The windows.
    pub window: Window,
    /// Whether padding counts as zeros in the mean, or not at all.
    pub count_include_pad: bool,
}

impl AveragePool {
    /// By how many elements each window's sum is divided.
    pub fn divisors(&self, shape: &[usize], result: &[usize]) -> Vec<usize> {
        let mut counts = vec![0; result.iter().product()];
        for_each_covered(&self.window, shape, result, |row, _| counts[row] += 1);
        if self.count_include_pad {
            counts.fill(self.window.size());
        }
        counts
    }

    /// Calls `visit(result element, argument element)` for every element that a window covers.
    pub fn for_each_covered(&self, shape: &[usize], result: &[usize], visit: impl FnMut(usize, usize)) {
        for_each_covered(&self.window, shape, result, visit);
    }
}

impl Operator for AveragePool {
    fn name(&self) -> &'static str {
        "AveragePool"
    }

    fn arity(&self) -> Arity {
        Arity::Exactly(1)
    }

    fn infer(&self, shapes: &[&[usize]]) -> Result<Shape, GraphError> {
        pooled_shape("AveragePool", &self.window, shapes[0])
    }

    fn eval<T: Real>(&self, args: &[Arg<'_, T>], shape: &[usize], batch: usize, out: &mut [T]) {
        out.fill(T::ZERO);
        self.for_each_covered(args[0].shape, shape, |row, source| {
            let source = &args[0].values[source * batch..][..batch];
            for (y, &x) in out[row * batch..][..batch].iter_mut().zip(source) {
                *y = *y + x;
            }
        });
        for (row, count) in out.chunks_exact_mut(batch).zip(self.divisors(args[0].shape, shape)) {
            let count = T::from_f64(count as f64);
            row.iter_mut().for_each(|y| *y = *y / count);
        }
    }

    fn enclose(&self, args: &[Arg<'_, Interval>], shape: &[usize], out: &mut [Interval]) {
        out.fill(Interval::ZERO);
        self.for_each_covered(args[0].shape, shape, |row, source| out[row] = out[row] + args[0].values[source]);
        for (y, count) in out.iter_mut().zip(self.divisors(args[0].shape, shape)) {
            *y = *y / Interval::point(count as f64);
        }
    }
}
