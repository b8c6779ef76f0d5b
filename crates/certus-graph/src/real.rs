//! The floating-point types in which a graph is evaluated.

use std::ops::{Add, Div, Mul, Neg, Sub};

/// `f32` or `f64`: what plain evaluation runs in.
pub trait Real:
    certus_kernels::Float
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
{
    /// One.
    const ONE: Self;
    /// The nearest value of this type.
    fn from_f64(value: f64) -> Self;
    /// The same value as a double.
    fn to_f64(self) -> f64;
    /// Whether the value is not a number.
    fn is_nan(self) -> bool;
    /// |x|.
    fn abs(self) -> Self;
    /// √x.
    fn sqrt(self) -> Self;
    /// eˣ.
    fn exp(self) -> Self;
    /// eˣ − 1, accurate near 0.
    fn exp_m1(self) -> Self;
    /// Natural logarithm.
    fn ln(self) -> Self;
    /// ln(1 + x), accurate near 0.
    fn ln_1p(self) -> Self;
    /// Sine.
    fn sin(self) -> Self;
    /// Cosine.
    fn cos(self) -> Self;
    /// Largest integer not above x.
    fn floor(self) -> Self;
    /// xʸ.
    fn powf(self, exponent: Self) -> Self;
    /// The larger value; not a number if either is.
    fn maximum(self, other: Self) -> Self {
        if self.is_nan() || self > other { self } else { other }
    }
    /// The smaller value; not a number if either is.
    fn minimum(self, other: Self) -> Self {
        if self.is_nan() || self < other { self } else { other }
    }
    /// 1 for true, 0 for false: how a graph holds truth values.
    fn from_bool(truth: bool) -> Self {
        if truth { Self::ONE } else { Self::ZERO }
    }
}

macro_rules! real {
    ($type:ty) => {
        impl Real for $type {
            const ONE: Self = 1.0;
            fn from_f64(value: f64) -> Self {
                value as $type
            }
            fn to_f64(self) -> f64 {
                f64::from(self)
            }
            fn is_nan(self) -> bool {
                <$type>::is_nan(self)
            }
            fn abs(self) -> Self {
                <$type>::abs(self)
            }
            fn sqrt(self) -> Self {
                <$type>::sqrt(self)
            }
            fn exp(self) -> Self {
                <$type>::exp(self)
            }
            fn exp_m1(self) -> Self {
                <$type>::exp_m1(self)
            }
            fn ln(self) -> Self {
                <$type>::ln(self)
            }
            fn ln_1p(self) -> Self {
                <$type>::ln_1p(self)
            }
            fn sin(self) -> Self {
                <$type>::sin(self)
            }
            fn cos(self) -> Self {
                <$type>::cos(self)
            }
            fn floor(self) -> Self {
                <$type>::floor(self)
            }
            fn powf(self, exponent: Self) -> Self {
                <$type>::powf(self, exponent)
            }
        }
    };
}

real!(f32);
real!(f64);
