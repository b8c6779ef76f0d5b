//! Interval arithmetic with outward rounding (Moore, *Interval Analysis*, 1966).
//!
//! An [`Interval`] `[lo, hi]` stands for every real between its ends. Each operation returns an interval that
//! contains the exact real result for every choice of arguments, so a bound proved with intervals survives the
//! rounding of the computer that found it.
//!
//! *How.* Sums, products, quotients and square roots are computed to nearest and then moved outwards by one step
//! only when the exact residual (by Knuth's two-sum or by a fused multiply-add) says that the result was rounded
//! in the wrong direction; so exact results stay exact. The elementary functions come from the platform's
//! mathematical library, whose documented errors are at most 2 units in the last place for the functions used
//! here; results are moved outwards by [`LIBRARY_ULPS`] units. This is the one assumption that soundness rests on,
//! and a test compares the library with double-double series.
//!
//! *Partial functions.* Where an argument range leaves the domain of a function (division by a range with zero, a
//! root or logarithm of negative numbers), the result is [`Interval::ENTIRE`]: nothing can be concluded from it.
//!
//! Invariant: `lo <= hi`, neither is NaN, `lo < +∞`, `hi > −∞`.

use std::f64::consts::{FRAC_PI_2, PI};
use std::fmt;

/// How many units in the last place results of the mathematical library are widened by.
pub const LIBRARY_ULPS: u32 = 4;

/// A closed interval of reals; an infinite end means that there is no bound on that side.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Interval {
    /// The lower end.
    pub lo: f64,
    /// The upper end.
    pub hi: f64,
}

impl Default for Interval {
    fn default() -> Self {
        Interval::ENTIRE
    }
}

impl fmt::Display for Interval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{}, {}]", self.lo, self.hi)
    }
}

impl Interval {
    /// All reals.
    pub const ENTIRE: Interval = Interval { lo: f64::NEG_INFINITY, hi: f64::INFINITY };
    /// Exactly zero; also 'certainly false'.
    pub const ZERO: Interval = Interval { lo: 0.0, hi: 0.0 };
    /// Exactly one; also 'certainly true'.
    pub const ONE: Interval = Interval { lo: 1.0, hi: 1.0 };
    /// Either truth value.
    pub const UNKNOWN_TRUTH: Interval = Interval { lo: 0.0, hi: 1.0 };

    /// The interval between two ends, or [`Interval::ENTIRE`] when they are not ordered numbers.
    pub fn new(lo: f64, hi: f64) -> Self {
        if lo <= hi && lo < f64::INFINITY && hi > f64::NEG_INFINITY { Interval { lo, hi } } else { Interval::ENTIRE }
    }

    /// The interval of one number; a number that is not finite gives what contains no information.
    pub fn point(value: f64) -> Self {
        Interval::new(value, value)
    }

    /// A truth value that is certain.
    pub fn truth(value: bool) -> Self {
        if value { Interval::ONE } else { Interval::ZERO }
    }

    /// A truth value from what is certain of it: `Some(b)` or not known.
    pub fn from_certainty(value: Option<bool>) -> Self {
        value.map_or(Interval::UNKNOWN_TRUTH, Interval::truth)
    }

    /// What is certain of this truth value: no zero in it means true, only zero means false.
    pub fn certainty(self) -> Option<bool> {
        if self.lo > 0.0 || self.hi < 0.0 {
            Some(true)
        } else if self == Interval::ZERO {
            Some(false)
        } else {
            None
        }
    }

    /// Whether the invariant holds: ordered ends that are numbers, and some real between them.
    pub fn is_well_formed(self) -> bool {
        self.lo <= self.hi && self.lo < f64::INFINITY && self.hi > f64::NEG_INFINITY
    }

    fn has_nan(self) -> bool {
        self.lo.is_nan() || self.hi.is_nan()
    }

    /// Whether the number lies in the interval.
    pub fn contains(self, value: f64) -> bool {
        self.lo <= value && value <= self.hi
    }

    /// Whether every number of `other` lies in this interval.
    pub fn encloses(self, other: Interval) -> bool {
        self.lo <= other.lo && other.hi <= self.hi
    }

    /// An upper bound of the width.
    pub fn width(self) -> f64 {
        sub_up(self.hi, self.lo)
    }

    /// The largest magnitude in the interval.
    pub fn magnitude(self) -> f64 {
        self.lo.abs().max(self.hi.abs())
    }

    /// The smallest interval that encloses both.
    pub fn hull(self, other: Interval) -> Interval {
        debug_assert!(!self.has_nan() && !other.has_nan(), "an end of {self} or {other} is no number");
        Interval { lo: self.lo.min(other.lo), hi: self.hi.max(other.hi) }
    }

    /// The common part, or `None` when there is none.
    pub fn intersection(self, other: Interval) -> Option<Interval> {
        // `max` and `min` pass over what is no number, so that the common part would be too small.
        debug_assert!(!self.has_nan() && !other.has_nan(), "an end of {self} or {other} is no number");
        let (lo, hi) = (self.lo.max(other.lo), self.hi.min(other.hi));
        (lo <= hi).then_some(Interval { lo, hi })
    }

    /// Both ends moved outwards by a non-negative amount.
    pub fn widen(self, amount: f64) -> Interval {
        debug_assert!(amount >= 0.0 || amount.is_nan(), "ends would be moved inwards, by {amount}");
        outward(sub_down(self.lo, amount), add_up(self.hi, amount))
    }

    /// |x|.
    pub fn abs(self) -> Interval {
        if self.lo >= 0.0 {
            self
        } else if self.hi <= 0.0 {
            -self
        } else {
            Interval { lo: 0.0, hi: self.magnitude() }
        }
    }

    /// The pointwise smaller value.
    pub fn min(self, other: Interval) -> Interval {
        Interval { lo: self.lo.min(other.lo), hi: self.hi.min(other.hi) }
    }

    /// The pointwise larger value.
    pub fn max(self, other: Interval) -> Interval {
        Interval { lo: self.lo.max(other.lo), hi: self.hi.max(other.hi) }
    }

    /// √x.
    pub fn sqrt(self) -> Interval {
        if self.lo < 0.0 {
            return Interval::ENTIRE;
        }
        outward(sqrt_down(self.lo), sqrt_up(self.hi))
    }

    /// eˣ.
    pub fn exp(self) -> Interval {
        outward(library_down(self.lo.exp()).max(0.0), library_up(self.hi.exp()))
    }

    /// eˣ − 1.
    pub fn exp_m1(self) -> Interval {
        outward(library_down(self.lo.exp_m1()).max(-1.0), library_up(self.hi.exp_m1()))
    }

    /// Natural logarithm.
    pub fn ln(self) -> Interval {
        if self.lo < 0.0 || self.hi <= 0.0 {
            return Interval::ENTIRE;
        }
        outward(library_down(self.lo.ln()), library_up(self.hi.ln()))
    }

    /// ln(1 + x).
    pub fn ln_1p(self) -> Interval {
        if self.lo < -1.0 || self.hi <= -1.0 {
            return Interval::ENTIRE;
        }
        outward(library_down(self.lo.ln_1p()), library_up(self.hi.ln_1p()))
    }

    /// Hyperbolic tangent.
    pub fn tanh(self) -> Interval {
        outward(library_down(self.lo.tanh()).max(-1.0), library_up(self.hi.tanh()).min(1.0))
    }

    /// The logistic function 1 / (1 + e⁻ˣ), by its ends since it grows everywhere.
    pub fn sigmoid(self) -> Interval {
        let at = |x: f64| {
            if x == f64::NEG_INFINITY {
                Interval::ZERO
            } else if x == f64::INFINITY {
                Interval::ONE
            } else if x >= 0.0 {
                Interval::ONE / (Interval::ONE + Interval::point(-x).exp())
            } else {
                let e = Interval::point(x).exp();
                e / (Interval::ONE + e)
            }
        };
        Interval { lo: at(self.lo).lo.max(0.0), hi: at(self.hi).hi.min(1.0) }
    }

    /// ln(1 + eˣ), by its ends since it grows everywhere.
    pub fn softplus(self) -> Interval {
        let at = |x: f64| {
            let tail = (-Interval::point(x.abs())).exp().ln_1p();
            Interval::point(x.max(0.0)) + tail
        };
        let lo = if self.lo == f64::NEG_INFINITY { 0.0 } else { at(self.lo).lo.max(0.0) };
        let hi = if self.hi == f64::INFINITY { f64::INFINITY } else { at(self.hi).hi };
        outward(lo, hi)
    }

    /// Sine.
    pub fn sin(self) -> Interval {
        if self.width() >= 2.0 * PI || self.magnitude() > 1e9 {
            return Interval { lo: -1.0, hi: 1.0 };
        }
        let (a, b) = (self.lo.sin(), self.hi.sin());
        let lo = if reaches(self, -FRAC_PI_2) { -1.0 } else { library_down(a.min(b)).max(-1.0) };
        let hi = if reaches(self, FRAC_PI_2) { 1.0 } else { library_up(a.max(b)).min(1.0) };
        Interval { lo, hi }
    }

    /// Cosine.
    pub fn cos(self) -> Interval {
        if self.width() >= 2.0 * PI || self.magnitude() > 1e9 {
            return Interval { lo: -1.0, hi: 1.0 };
        }
        let (a, b) = (self.lo.cos(), self.hi.cos());
        let lo = if reaches(self, PI) { -1.0 } else { library_down(a.min(b)).max(-1.0) };
        let hi = if reaches(self, 0.0) { 1.0 } else { library_up(a.max(b)).min(1.0) };
        Interval { lo, hi }
    }

    /// Largest integer not above x.
    pub fn floor(self) -> Interval {
        Interval { lo: self.lo.floor(), hi: self.hi.floor() }
    }

    /// xⁿ for an integer n.
    pub fn powi(self, n: i32) -> Interval {
        if n < 0 {
            return Interval::ONE / self.powi_unsigned(n.unsigned_abs());
        }
        self.powi_unsigned(n.unsigned_abs())
    }

    fn powi_unsigned(self, n: u32) -> Interval {
        if n == 0 {
            return Interval::ONE;
        }
        let power = |x: f64, times: fn(f64, f64) -> f64| {
            let (mut result, mut square, mut rest) = (1.0, x, n);
            while rest > 0 {
                if rest & 1 == 1 {
                    result = times(result, square);
                }
                rest >>= 1;
                if rest > 0 {
                    square = times(square, square);
                }
            }
            result
        };
        // On |x| both roundings are monotone; the sign is put back after.
        let up = |x: f64| power(x, mul_up);
        let down = |x: f64| power(x, mul_down);
        if n.is_multiple_of(2) {
            let base = self.abs();
            return outward(down(base.lo), up(base.hi));
        }
        let lo = if self.lo >= 0.0 { down(self.lo) } else { -up(-self.lo) };
        let hi = if self.hi >= 0.0 { up(self.hi) } else { -down(-self.hi) };
        outward(lo, hi)
    }

    /// xʸ. An exponent that is one integer takes any base; otherwise the base must not be negative.
    pub fn pow(self, exponent: Interval) -> Interval {
        if exponent.lo == exponent.hi && exponent.lo.fract() == 0.0 && exponent.lo.abs() <= 1024.0 {
            return self.powi(exponent.lo as i32);
        }
        if exponent.lo == exponent.hi && self.lo >= 0.0 {
            let (a, b) = (self.lo.powf(exponent.lo), self.hi.powf(exponent.lo));
            if exponent.lo > 0.0 {
                return outward(library_down(a).max(0.0), library_up(b));
            } else if self.lo > 0.0 {
                return outward(library_down(b).max(0.0), library_up(a));
            }
        }
        if self.lo > 0.0 { (exponent * self.ln()).exp() } else { Interval::ENTIRE }
    }
}

/// Whether the interval may contain `offset + 2πk` for some integer k. Errs on the side of yes.
fn reaches(x: Interval, offset: f64) -> bool {
    let turns = |value: f64| (value - offset) / (2.0 * PI);
    let slack = 1e-14 * (1.0 + x.magnitude());
    (turns(x.lo) - slack).ceil() <= turns(x.hi) + slack
}

impl std::ops::Neg for Interval {
    type Output = Interval;
    fn neg(self) -> Interval {
        Interval { lo: -self.hi, hi: -self.lo }
    }
}

impl std::ops::Add for Interval {
    type Output = Interval;
    fn add(self, other: Interval) -> Interval {
        outward(add_down(self.lo, other.lo), add_up(self.hi, other.hi))
    }
}

impl std::ops::Sub for Interval {
    type Output = Interval;
    fn sub(self, other: Interval) -> Interval {
        outward(sub_down(self.lo, other.hi), sub_up(self.hi, other.lo))
    }
}

impl std::ops::Mul for Interval {
    type Output = Interval;
    fn mul(self, other: Interval) -> Interval {
        let pairs = [(self.lo, other.lo), (self.lo, other.hi), (self.hi, other.lo), (self.hi, other.hi)];
        let lo = pairs.iter().map(|&(a, b)| mul_down(a, b)).fold(f64::INFINITY, f64::min);
        let hi = pairs.iter().map(|&(a, b)| mul_up(a, b)).fold(f64::NEG_INFINITY, f64::max);
        outward(lo, hi)
    }
}

impl std::ops::Div for Interval {
    type Output = Interval;
    fn div(self, other: Interval) -> Interval {
        if other.contains(0.0) {
            return Interval::ENTIRE;
        }
        let pairs = [(self.lo, other.lo), (self.lo, other.hi), (self.hi, other.lo), (self.hi, other.hi)];
        let lo = pairs.iter().map(|&(a, b)| div_down(a, b)).fold(f64::INFINITY, f64::min);
        let hi = pairs.iter().map(|&(a, b)| div_up(a, b)).fold(f64::NEG_INFINITY, f64::max);
        outward(lo, hi)
    }
}

/// Assembles ends that were computed outwards, and restores the invariant after overflow.
fn outward(lo: f64, hi: f64) -> Interval {
    debug_assert!(lo.is_nan() || hi.is_nan() || lo <= hi, "ends that were rounded outwards cross: {lo} and {hi}");
    let lo = if lo == f64::INFINITY { f64::MAX } else { lo };
    let hi = if hi == f64::NEG_INFINITY { f64::MIN } else { hi };
    Interval::new(lo, hi)
}

/// The residual of a rounded sum: the exact sum is `sum + residual`.
fn two_sum_residual(a: f64, b: f64, sum: f64) -> f64 {
    let virtual_b = sum - a;
    (a - (sum - virtual_b)) + (b - virtual_b)
}

/// a + b rounded downwards.
pub fn add_down(a: f64, b: f64) -> f64 {
    let sum = a + b;
    if !sum.is_finite() {
        // Infinite arguments bound nothing from below unless +∞ is really meant; overflow does not reach +∞.
        return if a.is_finite() && b.is_finite() && sum > 0.0 {
            f64::MAX
        } else {
            sum_of_infinite(a, b, f64::NEG_INFINITY)
        };
    }
    let residual = two_sum_residual(a, b, sum);
    if residual < 0.0 || residual.is_nan() { sum.next_down() } else { sum }
}

/// a + b rounded upwards.
pub fn add_up(a: f64, b: f64) -> f64 {
    -add_down(-a, -b)
}

fn sum_of_infinite(a: f64, b: f64, conflict: f64) -> f64 {
    let sum = a + b;
    if sum.is_nan() { conflict } else { sum }
}

/// a − b rounded downwards.
pub fn sub_down(a: f64, b: f64) -> f64 {
    add_down(a, -b)
}

/// a − b rounded upwards.
pub fn sub_up(a: f64, b: f64) -> f64 {
    add_up(a, -b)
}

/// Below this the residual of a product may itself underflow, so exactness cannot be seen.
const RESIDUAL_SAFE: f64 = 1e-280;

/// a · b rounded downwards, with 0 · ∞ = 0 (the infinite end stands for arbitrarily large reals).
pub fn mul_down(a: f64, b: f64) -> f64 {
    if a == 0.0 || b == 0.0 {
        return 0.0;
    }
    let product = a * b;
    if !product.is_finite() {
        return if a.is_finite() && b.is_finite() && product > 0.0 { f64::MAX } else { product };
    }
    if product.abs() < RESIDUAL_SAFE || a.mul_add(b, -product) < 0.0 { product.next_down() } else { product }
}

/// a · b rounded upwards, with 0 · ∞ = 0.
pub fn mul_up(a: f64, b: f64) -> f64 {
    -mul_down(-a, b)
}

/// a / b rounded downwards; b is not zero.
pub fn div_down(a: f64, b: f64) -> f64 {
    debug_assert!(b != 0.0, "{a} is divided by zero");
    if a == 0.0 {
        return 0.0;
    }
    if b.is_infinite() {
        // The quotient is anything between 0 and a fixed sign; ∞/∞ is bounded by 0 on one side only.
        return if (a > 0.0) == (b > 0.0) {
            0.0
        } else if a.is_infinite() {
            f64::NEG_INFINITY
        } else {
            0.0f64.next_down()
        };
    }
    let quotient = a / b;
    if !quotient.is_finite() {
        return if a.is_finite() && quotient > 0.0 { f64::MAX } else { quotient };
    }
    if quotient.abs() < RESIDUAL_SAFE || a.abs() < RESIDUAL_SAFE {
        return quotient.next_down();
    }
    // exact − quotient has the sign of (a − quotient·b) / b.
    let residual = (-quotient).mul_add(b, a);
    if (residual < 0.0) != (b < 0.0) && residual != 0.0 { quotient.next_down() } else { quotient }
}

/// a / b rounded upwards; b is not zero.
pub fn div_up(a: f64, b: f64) -> f64 {
    -div_down(-a, b)
}

fn sqrt_down(x: f64) -> f64 {
    let root = x.sqrt();
    if x == 0.0 || !root.is_finite() {
        return root;
    }
    if x < RESIDUAL_SAFE || root.mul_add(root, -x) > 0.0 { root.next_down() } else { root }
}

fn sqrt_up(x: f64) -> f64 {
    let root = x.sqrt();
    if x == 0.0 || !root.is_finite() {
        return root;
    }
    if x < RESIDUAL_SAFE || root.mul_add(root, -x) < 0.0 { root.next_up() } else { root }
}

/// A result of the mathematical library moved down by its error.
fn library_down(value: f64) -> f64 {
    (0..LIBRARY_ULPS).fold(value, |v, _| v.next_down())
}

/// A result of the mathematical library moved up by its error.
fn library_up(value: f64) -> f64 {
    (0..LIBRARY_ULPS).fold(value, |v, _| v.next_up())
}
