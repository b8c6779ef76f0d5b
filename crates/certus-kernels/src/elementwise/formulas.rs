//! The formulas behind the elementary functions, for one number type at a time.
//!
//! **Reduction** (Cody and Waite, *Software Manual for the Elementary Functions*, 1980). With `k` the integer nearest to `x / ln 2`, `x = k ln 2 + r` and `|r| <= ln 2 / 2`. `k` comes from
//! adding `1.5 * 2^p` (`p` bits of fraction): the sum has no room for a fraction, so it is rounded to an integer that
//! stands in its lowest bits, ready to be shifted into an exponent. `ln 2` is split in two parts, the first short enough
//! that its product with `k` is exact.
//!
//! **`exp`** is `2^k (1 + e)` with `e = exp(r) - 1 = r + r^2 (1/2 + r Q(r))`. The power is applied in two halves: one
//! factor `2^k` alone would overflow or vanish before a result at either end of the range does.
//!
//! **`tanh`** is `m / (m + 2)` with `m = exp(2|x|) - 1 = 2^k e + (2^k - 1)`. Near zero `k` is 0 and `m` is `e` itself,
//! so nothing cancels and no second formula is needed; the sign is put back at the end, which also keeps `-0`.
//!
//! **`sigmoid`** divides `1` or `exp(-|x|)` by `1 + exp(-|x|)`: no overflow, and full relative accuracy as it vanishes.
//!
//! **`softplus`** is `max(x, 0) + ln(1 + z)` with `z = exp(-|x|)`. With `t = z / (1 + z/2)`, `ln(1 + z)` is
//! `2 artanh(t/2) = t + t^3 L(t^2)`, a series that converges fast as `t <= 2/3`.
//!
//! `Q` and `L` are minimax polynomials (see `coefficients`). Arguments are clamped where results have reached their
//! limits; comparisons are written so that NaN fails them and passes through.

/// Defines `apply` and the functions it maps, for a float type, its bits, and how many of them are fraction.
macro_rules! formulas {
    ($float:ident, $bits:ident, $fraction:literal) => {
        use super::Map;
        use super::coefficients::$float::*;
        use crate::float::Arithmetic;

        /// `1.5 * 2^p`: numbers of this size have no fraction.
        const ROUNDER: $float = 1.5 * (1u64 << $fraction) as $float;

        /// Replaces every element by its image.
        #[inline(always)]
        pub(crate) fn apply<const FUSED: bool>(map: Map, xs: &mut [$float]) {
            match map {
                Map::Relu => xs.iter_mut().for_each(|x| *x = x.relu()),
                Map::Exp => xs.iter_mut().for_each(|x| *x = exp::<FUSED>(*x)),
                Map::Tanh => xs.iter_mut().for_each(|x| *x = tanh::<FUSED>(*x)),
                Map::Sigmoid => xs.iter_mut().for_each(|x| *x = sigmoid::<FUSED>(*x)),
                Map::Softplus => xs.iter_mut().for_each(|x| *x = softplus::<FUSED>(*x)),
            }
        }

        #[inline(always)]
        fn mul_add<const FUSED: bool>(a: $float, b: $float, c: $float) -> $float {
            if FUSED { a.mul_add(b, c) } else { a * b + c }
        }

        /// Evaluates a polynomial given by ascending coefficients.
        #[inline(always)]
        fn polynomial<const FUSED: bool, const N: usize>(coefficients: &[$float; N], x: $float) -> $float {
            let mut value = coefficients[N - 1];
            for k in (0..N - 1).rev() {
                value = mul_add::<FUSED>(value, x, coefficients[k]);
            }
            value
        }

        /// Two to the power of the integer that stands in the lowest bits of `rounded`, a sum with `ROUNDER`.
        #[inline(always)]
        fn power_of_two(rounded: $float) -> $float {
            $float::from_bits((rounded.to_bits() << $fraction).wrapping_add((1.0 as $float).to_bits()))
        }

        /// Splits `exp(x)` into `2^k (1 + e)`; returns `k + ROUNDER` and `e`.
        #[inline(always)]
        fn reduced_exp<const FUSED: bool>(x: $float) -> ($float, $float) {
            let rounded = mul_add::<FUSED>(x, std::$float::consts::LOG2_E, ROUNDER);
            let k = rounded - ROUNDER;
            let r = mul_add::<FUSED>(k, -LN_2_HIGH, x);
            let r = mul_add::<FUSED>(k, -LN_2_LOW, r);
            let tail = mul_add::<FUSED>(polynomial::<FUSED, _>(&EXP, r), r, 0.5);
            (rounded, mul_add::<FUSED>(tail, r * r, r))
        }

        #[inline(always)]
        fn exp<const FUSED: bool>(x: $float) -> $float {
            let x = if x > EXP_IS_INFINITE { EXP_IS_INFINITE } else { x };
            let x = if x < EXP_IS_ZERO { EXP_IS_ZERO } else { x };
            let (rounded, e) = reduced_exp::<FUSED>(x);
            let k = rounded - ROUNDER;
            let rounded_half = mul_add::<FUSED>(k, 0.5, ROUNDER);
            let rounded_rest = k - (rounded_half - ROUNDER) + ROUNDER;
            (1.0 + e) * power_of_two(rounded_half) * power_of_two(rounded_rest)
        }

        #[inline(always)]
        fn tanh<const FUSED: bool>(x: $float) -> $float {
            let size = x.abs();
            let size = if size > TANH_IS_ONE { TANH_IS_ONE } else { size };
            let (rounded, e) = reduced_exp::<FUSED>(2.0 * size);
            let power = power_of_two(rounded);
            let m = mul_add::<FUSED>(power, e, power - 1.0);
            (m / (m + 2.0)).copysign(x)
        }

        #[inline(always)]
        fn sigmoid<const FUSED: bool>(x: $float) -> $float {
            let z = exp::<FUSED>(-x.abs());
            let numerator = if x < 0.0 { z } else { 1.0 };
            numerator / (1.0 + z)
        }

        #[inline(always)]
        fn softplus<const FUSED: bool>(x: $float) -> $float {
            let z = exp::<FUSED>(-x.abs());
            let t = z / mul_add::<FUSED>(z, 0.5, 1.0);
            let t2 = t * t;
            let logarithm = mul_add::<FUSED>(polynomial::<FUSED, _>(&LOG, t2) * t2, t, t);
            x.relu() + logarithm
        }
    };
}

pub(super) use formulas;
