//! The one assumption that enclosures rest on: the platform's elementary functions are within two units in the last
//! place. Compared here with series in double-double arithmetic (about 32 digits), which share no code with them.

use certus_numerics::Interval;
use certus_numerics::interval::LIBRARY_ULPS;
use proptest::prelude::*;

/// An unevaluated sum of two doubles, the second below the last place of the first.
#[derive(Clone, Copy, Debug)]
struct Double2 {
    hi: f64,
    lo: f64,
}

fn d(x: f64) -> Double2 {
    Double2 { hi: x, lo: 0.0 }
}

fn sum(a: f64, b: f64) -> Double2 {
    let hi = a + b;
    let v = hi - a;
    Double2 { hi, lo: (a - (hi - v)) + (b - v) }
}

impl std::ops::Add for Double2 {
    type Output = Self;
    fn add(self, o: Self) -> Self {
        let (s, t) = (sum(self.hi, o.hi), sum(self.lo, o.lo));
        let s = sum(s.hi, s.lo + t.hi);
        sum(s.hi, s.lo + t.lo)
    }
}

impl std::ops::Neg for Double2 {
    type Output = Self;
    fn neg(self) -> Self {
        Double2 { hi: -self.hi, lo: -self.lo }
    }
}

impl std::ops::Sub for Double2 {
    type Output = Self;
    fn sub(self, o: Self) -> Self {
        self + -o
    }
}

impl std::ops::Mul for Double2 {
    type Output = Self;
    fn mul(self, o: Self) -> Self {
        let p = self.hi * o.hi;
        let e = self.hi.mul_add(o.hi, -p) + (self.hi * o.lo + self.lo * o.hi);
        sum(p, e)
    }
}

impl std::ops::Div for Double2 {
    type Output = Self;
    fn div(self, o: Self) -> Self {
        let q = d(self.hi / o.hi);
        let q = q + d((self - q * o).hi / o.hi);
        q + d((self - q * o).hi / o.hi)
    }
}

const LN_2: Double2 = Double2 { hi: std::f64::consts::LN_2, lo: 2.319_046_813_846_299_6e-17 };
const HALF_PI: Double2 = Double2 { hi: std::f64::consts::FRAC_PI_2, lo: 6.123_233_995_736_766e-17 };

/// Σ xⁿ/n! over n = first, first + step, …, with alternating signs if asked.
fn series(x: Double2, first: u32, step: u32, alternate: bool) -> Double2 {
    let mut term = (1..=first).fold(d(1.0), |t, n| t * x / d(f64::from(n)));
    let (mut total, mut n) = (d(0.0), first);
    while n < 60 {
        total = total + term;
        for _ in 0..step {
            n += 1;
            term = term * x / d(f64::from(n));
        }
        if alternate {
            term = -term;
        }
    }
    total
}

fn exp(x: Double2) -> Double2 {
    let k = (x.hi / LN_2.hi).round();
    let r = (x - d(k) * LN_2) * d(1.0 / 64.0);
    let mut y = series(r, 0, 1, false);
    for _ in 0..6 {
        y = y * y;
    }
    let scale = 2f64.powi((k / 2.0) as i32);
    let rest = 2f64.powi(k as i32 - (k / 2.0) as i32);
    y * d(scale) * d(rest)
}

fn exp_m1(x: Double2) -> Double2 {
    if x.hi.abs() < 0.5 { series(x, 1, 1, false) } else { exp(x) - d(1.0) }
}

fn ln(x: Double2) -> Double2 {
    let mut y = d(x.hi.ln());
    for _ in 0..2 {
        y = y + (x * exp(-y) - d(1.0));
    }
    y
}

fn tanh(x: Double2) -> Double2 {
    if x.hi.abs() > 300.0 {
        // 1 − tanh is below 1e-260: a number just inside of ±1.
        return Double2 { hi: x.hi.signum(), lo: -1e-260 * x.hi.signum() };
    }
    let e = exp_m1(x + x);
    e / (e + d(2.0))
}

fn sin_cos(x: Double2) -> (Double2, Double2) {
    let k = (x.hi / HALF_PI.hi).round();
    let r = x - d(k) * HALF_PI;
    let (s, c) = (series(r, 1, 2, true), series(r, 0, 2, true));
    match k.rem_euclid(4.0) as u8 {
        0 => (s, c),
        1 => (c, -s),
        2 => (-s, -c),
        _ => (-c, s),
    }
}

/// Whether the interval contains a double-double number, decided exactly.
fn contains(interval: Interval, y: Double2) -> bool {
    let above = interval.lo < y.hi || interval.lo == y.hi && y.lo >= 0.0;
    let below = interval.hi > y.hi || interval.hi == y.hi && y.lo <= 0.0;
    above && below
}

fn ulps(value: f64, exact: Double2) -> f64 {
    let unit = exact.hi.abs().next_up() - exact.hi.abs();
    ((value - exact.hi) - exact.lo).abs() / unit
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn enclosures_contain_and_the_library_is_within_its_error(
        any in -600.0f64..600.0,
        middle in -18.0f64..18.0,
        small in -0.01f64..0.01,
    ) {
        for x in [any, middle, small] {
            let at = Interval::point(x);
            let positive = x.abs() + 1e-300;
            let base = Interval::point(positive);
            let (sine, cosine) = sin_cos(d(x));
            let cases = [
                ("exp", at.exp(), x.exp(), exp(d(x))),
                ("exp_m1", at.exp_m1(), x.exp_m1(), exp_m1(d(x))),
                ("ln", Interval::point(positive).ln(), positive.ln(), ln(d(positive))),
                ("ln_1p", Interval::point(positive).ln_1p(), positive.ln_1p(), ln(d(1.0) + d(positive))),
                ("pow", base.pow(Interval::point(0.37)), positive.powf(0.37), exp(ln(d(positive)) * d(0.37))),
                ("tanh", at.tanh(), x.tanh(), tanh(d(x))),
                ("sin", at.sin(), x.sin(), sine),
                ("cos", at.cos(), x.cos(), cosine),
            ];
            for (name, interval, library, exact) in cases {
                prop_assert!(contains(interval, exact), "{name}({x}) = {exact:?} is not in {interval:?}");
                let error = ulps(library, exact);
                prop_assert!(error <= f64::from(LIBRARY_ULPS) / 2.0, "{name}({x}): {error} ulps");
            }
            let unit = d(1.0);
            let negative_exp = exp(d(-x.abs()));
            let sigmoid = if x >= 0.0 { unit / (unit + negative_exp) } else { negative_exp / (unit + negative_exp) };
            prop_assert!(contains(at.sigmoid(), sigmoid), "sigmoid({x})");
        }
    }

    #[test]
    fn arithmetic_is_rounded_outwards_and_no_further(
        (m, n) in (-1.0f64..1.0, -1.0f64..1.0),
        (p, q) in (-300i32..300, -300i32..300),
    ) {
        let (a, b) = (m * 2f64.powi(p), n * 2f64.powi(q));
        prop_assume!(m.abs() > 1e-9 && n.abs() > 1e-9);
        let (x, y) = (Interval::point(a), Interval::point(b));
        let product = { let p = a * b; Double2 { hi: p, lo: a.mul_add(b, -p) } };
        for (interval, exact, nearest) in [(x + y, sum(a, b), a + b), (x * y, product, a * b), (x / y, d(a) / d(b), a / b)] {
            prop_assert!(contains(interval, exact), "{exact:?} is not in {interval:?}");
            prop_assert!(interval.lo >= nearest.next_down() && interval.hi <= nearest.next_up());
        }
        let root = x.abs().sqrt();
        prop_assert!(root.lo * root.lo <= a.abs() * (1.0 + 1e-15) && root.hi * root.hi >= a.abs() * (1.0 - 1e-15));
    }

    #[test]
    fn wide_arguments_of_sine_and_cosine_are_covered(lo in -20.0f64..20.0, width in 0.0f64..8.0, t in 0.0f64..1.0) {
        let x = Interval::new(lo, lo + width);
        let point = (lo + t * width).clamp(x.lo, x.hi);
        let (sine, cosine) = sin_cos(d(point));
        prop_assert!(contains(x.sin(), sine), "sin {point} in {x}");
        prop_assert!(contains(x.cos(), cosine), "cos {point} in {x}");
    }

    #[test]
    fn integer_powers_are_covered(lo in -3.0f64..3.0, width in 0.0f64..2.0, t in 0.0f64..1.0, n in 0i32..9) {
        let x = Interval::new(lo, lo + width);
        let point = (lo + t * width).clamp(x.lo, x.hi);
        let exact = (0..n).fold(d(1.0), |power, _| power * d(point));
        prop_assert!(contains(x.powi(n), exact), "{point}^{n} in {x}");
    }
}
