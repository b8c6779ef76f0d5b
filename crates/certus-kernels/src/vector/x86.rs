//! AVX2 and AVX-512 registers as [`Vector`]s.

use super::Vector;
use std::arch::x86_64::*;

macro_rules! register {
    ($register:ty, $elem:ty, $lanes:expr, $many:expr, $splat:ident, $load:ident, $store:ident, $add:ident, $mul_add:ident, $max:ident) => {
        impl Vector for $register {
            type Elem = $elem;
            const LANES: usize = $lanes;
            const MANY_REGISTERS: bool = $many;
            const FUSED: bool = true;

            #[inline(always)]
            unsafe fn splat(x: $elem) -> Self {
                // SAFETY: the caller vouches for the processor, here and in the other functions.
                unsafe { $splat(x) }
            }

            #[inline(always)]
            unsafe fn load(from: *const $elem) -> Self {
                // SAFETY: the caller vouches for `LANES` readable elements; the load may be unaligned.
                unsafe { $load(from) }
            }

            #[inline(always)]
            unsafe fn store(self, to: *mut $elem) {
                // SAFETY: the caller vouches for `LANES` writable elements; the store may be unaligned.
                unsafe { $store(to, self) }
            }

            #[inline(always)]
            unsafe fn add(self, other: Self) -> Self {
                // SAFETY: see `splat`.
                unsafe { $add(self, other) }
            }

            #[inline(always)]
            unsafe fn mul_add(self, factor: Self, addend: Self) -> Self {
                // SAFETY: see `splat`.
                unsafe { $mul_add(self, factor, addend) }
            }

            #[inline(always)]
            unsafe fn relu(self) -> Self {
                // The instruction returns its second operand if either is NaN or both are zero: NaN and `-0` stay.
                // SAFETY: see `splat`.
                unsafe { $max($splat(0.0), self) }
            }
        }
    };
}

register!(
    __m256,
    f32,
    8,
    false,
    _mm256_set1_ps,
    _mm256_loadu_ps,
    _mm256_storeu_ps,
    _mm256_add_ps,
    _mm256_fmadd_ps,
    _mm256_max_ps
);
register!(
    __m256d,
    f64,
    4,
    false,
    _mm256_set1_pd,
    _mm256_loadu_pd,
    _mm256_storeu_pd,
    _mm256_add_pd,
    _mm256_fmadd_pd,
    _mm256_max_pd
);
register!(
    __m512,
    f32,
    16,
    true,
    _mm512_set1_ps,
    _mm512_loadu_ps,
    _mm512_storeu_ps,
    _mm512_add_ps,
    _mm512_fmadd_ps,
    _mm512_max_ps
);
register!(
    __m512d,
    f64,
    8,
    true,
    _mm512_set1_pd,
    _mm512_loadu_pd,
    _mm512_storeu_pd,
    _mm512_add_pd,
    _mm512_fmadd_pd,
    _mm512_max_pd
);
