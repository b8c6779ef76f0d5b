//! Elementary functions over slices, in place.
//!
//! Each function is a straight line of arithmetic on one number, without branches or table lookups, so that the compiler
//! turns the loop over a slice into vector code for whatever instruction set surrounds it. The scalar loop that finishes
//! a slice executes the same operations, and Rust never reorders floating-point arithmetic, so a value's image does not
//! depend on where in the slice it stands.
//!
//! The formulas stand in [`formulas`] once for both number types; `f32` and `f64` differ in constants and in the degree
//! of their polynomials.

mod coefficients;
mod formulas;

use crate::float::Float;
use crate::level::Level;

/// The functions there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Map {
    /// `max(x, 0)`.
    Relu,
    /// The exponential function.
    Exp,
    /// The hyperbolic tangent.
    Tanh,
    /// `1 / (1 + exp(-x))`.
    Sigmoid,
    /// `ln(1 + exp(x))`.
    Softplus,
}

/// Replaces every `x` by `max(x, 0)`; NaN stays NaN and `-0` stays `-0`.
pub fn relu<T: Float>(xs: &mut [T]) {
    T::map(Level::best(), Map::Relu, xs);
}

/// Replaces every `x` by `exp(x)`, within 1 ulp; subnormal results included.
pub fn exp<T: Float>(xs: &mut [T]) {
    T::map(Level::best(), Map::Exp, xs);
}

/// Replaces every `x` by `tanh(x)`, within 3 ulp.
pub fn tanh<T: Float>(xs: &mut [T]) {
    T::map(Level::best(), Map::Tanh, xs);
}

/// Replaces every `x` by `1 / (1 + exp(-x))`, within 3 ulp.
pub fn sigmoid<T: Float>(xs: &mut [T]) {
    T::map(Level::best(), Map::Sigmoid, xs);
}

/// Replaces every `x` by `ln(1 + exp(x))`, within 3 ulp.
pub fn softplus<T: Float>(xs: &mut [T]) {
    T::map(Level::best(), Map::Softplus, xs);
}

/// Sets element `r` of every point of a batch to `values[r]`: how a bias gets into an output before
/// [`PackedMatrix::mul_acc`](crate::PackedMatrix::mul_acc) adds to it.
///
/// # Panics
/// If `ys` does not hold `values.len() * batch` elements.
pub fn fill_rows<T: Float>(values: &[T], ys: &mut [T], batch: usize) {
    assert!(
        values.len().checked_mul(batch) == Some(ys.len()),
        "output of {} elements for {} rows and a batch of {batch}",
        ys.len(),
        values.len()
    );
    if batch == 1 {
        ys.copy_from_slice(values);
    } else {
        for (row, &value) in ys.chunks_exact_mut(batch.max(1)).zip(values) {
            row.fill(value);
        }
    }
}

/// The formulas in single precision.
pub(crate) mod f32 {
    super::formulas::formulas!(f32, u32, 23);
}

/// The formulas in double precision.
pub(crate) mod f64 {
    super::formulas::formulas!(f64, u64, 52);
}

#[cfg(test)]
mod tests;
