//! The number types that the kernels work on.

use crate::elementwise::Map;
use crate::gemm::Product;
use crate::level::{Isa, Level};
use crate::{elementwise, gemm, vector};

/// `f32` or `f64`. The trait is sealed: the kernels are written for these two.
pub trait Float: Kernels + Copy + Default + PartialEq + PartialOrd + std::fmt::Debug + Send + Sync + 'static {
    /// The additive unit.
    const ZERO: Self;
}

impl Float for f32 {
    const ZERO: f32 = 0.0;
}

impl Float for f64 {
    const ZERO: f64 = 0.0;
}

/// Arithmetic that the scalar ends of vectorised loops need.
pub trait Arithmetic: Copy {
    /// `self + other`.
    fn plus(self, other: Self) -> Self;
    /// `self * factor + addend`, rounded once if `FUSED`, else twice.
    fn times_plus<const FUSED: bool>(self, factor: Self, addend: Self) -> Self;
    /// `max(self, 0)`, where NaN and `-0` stay as they are.
    fn relu(self) -> Self;
}

/// Entry points that choose the instruction set. Out of reach for other crates: the module is private.
pub trait Kernels: Arithmetic + Sized {
    /// Runs one matrix product at `level`.
    fn product(level: Level, product: Product<'_, Self>);
    /// Replaces every `x` by `map(x)` at `level`.
    fn map(level: Level, map: Map, xs: &mut [Self]);
    /// How many rows the packed panels of `level` interleave.
    fn lanes(level: Level) -> usize;
}

macro_rules! implement {
    ($float:ident, $portable:ty, $avx2:ty, $avx512:ty) => {
        impl Arithmetic for $float {
            #[inline(always)]
            fn plus(self, other: Self) -> Self {
                self + other
            }

            #[inline(always)]
            fn times_plus<const FUSED: bool>(self, factor: Self, addend: Self) -> Self {
                if FUSED { self.mul_add(factor, addend) } else { self * factor + addend }
            }

            #[inline(always)]
            fn relu(self) -> Self {
                if self < 0.0 { 0.0 } else { self }
            }
        }

        impl Kernels for $float {
            fn product(level: Level, product: Product<'_, Self>) {
                #[cfg(target_arch = "x86_64")]
                #[target_feature(enable = "avx2,fma")]
                fn avx2(product: Product<'_, $float>) {
                    // SAFETY: this function runs only where AVX2 and FMA exist.
                    unsafe { gemm::run::<$avx2>(product) }
                }
                #[cfg(target_arch = "x86_64")]
                #[target_feature(enable = "avx2,fma,avx512f,avx512bw,avx512dq,avx512vl")]
                fn avx512(product: Product<'_, $float>) {
                    // SAFETY: this function runs only where AVX-512 exists.
                    unsafe { gemm::run::<$avx512>(product) }
                }
                match level.0 {
                    // SAFETY: portable vectors need no particular processor.
                    Isa::Portable => unsafe { gemm::run::<$portable>(product) },
                    // SAFETY: a `Level` exists only for instructions that the processor has.
                    #[cfg(target_arch = "x86_64")]
                    Isa::Avx2 => unsafe { avx2(product) },
                    // SAFETY: as above.
                    #[cfg(target_arch = "x86_64")]
                    Isa::Avx512 => unsafe { avx512(product) },
                }
            }

            fn map(level: Level, map: Map, xs: &mut [Self]) {
                #[cfg(target_arch = "x86_64")]
                #[target_feature(enable = "avx2,fma")]
                fn avx2(map: Map, xs: &mut [$float]) {
                    elementwise::$float::apply::<true>(map, xs);
                }
                #[cfg(target_arch = "x86_64")]
                #[target_feature(enable = "avx2,fma,avx512f,avx512bw,avx512dq,avx512vl")]
                fn avx512(map: Map, xs: &mut [$float]) {
                    elementwise::$float::apply::<true>(map, xs);
                }
                match level.0 {
                    Isa::Portable => elementwise::$float::apply::<{ vector::PORTABLE_FUSES }>(map, xs),
                    // SAFETY: a `Level` exists only for instructions that the processor has.
                    #[cfg(target_arch = "x86_64")]
                    Isa::Avx2 => unsafe { avx2(map, xs) },
                    // SAFETY: as above.
                    #[cfg(target_arch = "x86_64")]
                    Isa::Avx512 => unsafe { avx512(map, xs) },
                }
            }

            fn lanes(level: Level) -> usize {
                use vector::Vector;
                match level.0 {
                    Isa::Portable => <$portable>::LANES,
                    #[cfg(target_arch = "x86_64")]
                    Isa::Avx2 => <$avx2>::LANES,
                    #[cfg(target_arch = "x86_64")]
                    Isa::Avx512 => <$avx512>::LANES,
                }
            }
        }
    };
}

#[cfg(target_arch = "x86_64")]
mod widths {
    use super::*;
    use std::arch::x86_64::{__m256, __m256d, __m512, __m512d};

    implement!(f32, [f32; 4], __m256, __m512);
    implement!(f64, [f64; 4], __m256d, __m512d);
}

#[cfg(not(target_arch = "x86_64"))]
mod widths {
    use super::*;

    // The vector types of x86 are not named on other architectures.
    implement!(f32, [f32; 4], (), ());
    implement!(f64, [f64; 4], (), ());
}
