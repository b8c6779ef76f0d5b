//! Constants of the formulas.
//!
//! Both polynomials were fitted by the Remez exchange in 60 digits: `EXP` to `(exp(r) - 1 - r - r^2/2) / r^3` on
//! `|r| <= ln 2 / 2` and `LOG` to `(2 artanh(t/2) - t) / t^3` as a function of `t^2` on `[0, 4/9]`, each weighted so that
//! the relative error of the whole formula is levelled. The degrees leave that error well below half an ulp.

/// Single precision: relative errors `2^-31` (`EXP`) and `2^-27` (`LOG`).
#[allow(clippy::excessive_precision, reason = "rounded by the compiler, not by hand")]
pub(super) mod f32 {
    /// The upper 15 bits of `ln 2`: its product with an exponent is exact.
    pub const LN_2_HIGH: f32 = 0.693_145_751_953_125;
    /// The rest of `ln 2`.
    pub const LN_2_LOW: f32 = 1.428_606_820_309_417e-6;
    /// From here on `exp` is infinite.
    pub const EXP_IS_INFINITE: f32 = 89.0;
    /// From here down `exp` is zero.
    pub const EXP_IS_ZERO: f32 = -104.0;
    /// From here on `tanh` is one.
    pub const TANH_IS_ONE: f32 = 10.0;

    pub const EXP: [f32; 5] = [0.1666666677, 0.04166648169, 0.008333282072, 0.001393335189, 0.0001990974549];
    pub const LOG: [f32; 4] = [0.08333301574, 0.01250679197, 0.002187383206, 0.0005474190514];
}

/// Double precision: relative errors `2^-61` (`EXP`) and `2^-64` (`LOG`).
#[allow(clippy::excessive_precision, reason = "rounded by the compiler, not by hand")]
pub(super) mod f64 {
    /// The upper 33 bits of `ln 2`: its product with an exponent is exact.
    pub const LN_2_HIGH: f64 = 0.693_147_180_485_539_138_317;
    /// The rest of `ln 2`.
    pub const LN_2_LOW: f64 = 7.440_617_110_012_396_716e-11;
    /// From here on `exp` is infinite.
    pub const EXP_IS_INFINITE: f64 = 710.0;
    /// From here down `exp` is zero.
    pub const EXP_IS_ZERO: f64 = -746.0;
    /// From here on `tanh` is one.
    pub const TANH_IS_ONE: f64 = 20.0;

    pub const EXP: [f64; 10] = [
        0.16666666666666676513,
        0.041666666666666689908,
        0.0083333333333216588323,
        0.0013888888888870163584,
        0.00019841269886091915318,
        0.000024801587356086137565,
        2.7557244217442401947e-6,
        2.7557245593182942734e-7,
        2.5109041279408510578e-8,
        2.0923757097983814193e-9,
    ];
    pub const LOG: [f64; 11] = [
        0.083333333333333347983,
        0.012499999999998108045,
        0.0022321428572277523674,
        0.00043402777587994130997,
        0.000088778433701598630466,
        0.000018779847888467919039,
        4.0700731137852998749e-6,
        8.9384753680217374125e-7,
        2.0930031409002995587e-7,
        3.3335959830291807727e-8,
        1.9637494914841791031e-8,
    ];
}
