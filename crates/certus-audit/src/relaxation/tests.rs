//! Lines and planes against samples of what they enclose.

use certus_graph::Interval;
use proptest::prelude::*;

use super::functions::Smooth;
use super::piecewise_linear::PiecewiseLinear;
use super::*;

/// A curve, where its argument may lie, and its value in floats.
type Example = (Curve, f64, f64, fn(f64) -> f64);

fn curves() -> Vec<Example> {
    const FAR: f64 = 50.0;
    let piecewise =
        |piecewise, value: fn(f64) -> f64| -> Example { (Curve::PiecewiseLinear(piecewise), -FAR, FAR, value) };
    let smooth = |curve, lo: f64, hi: f64, value: fn(f64) -> f64| -> Example { (Curve::Smooth(curve), lo, hi, value) };
    vec![
        piecewise(PiecewiseLinear::Relu, |x| x.max(0.0)),
        piecewise(PiecewiseLinear::LeakyRelu(0.1), |x| if x < 0.0 { 0.1 * x } else { x }),
        piecewise(PiecewiseLinear::LeakyRelu(1.7), |x| if x < 0.0 { 1.7 * x } else { x }),
        piecewise(PiecewiseLinear::LeakyRelu(-0.5), |x| if x < 0.0 { -0.5 * x } else { x }),
        piecewise(PiecewiseLinear::Abs, f64::abs),
        piecewise(PiecewiseLinear::Clip { lower: -0.7, upper: 1.1 }, |x| x.clamp(-0.7, 1.1)),
        piecewise(PiecewiseLinear::Clip { lower: f64::NEG_INFINITY, upper: 0.3 }, |x| x.min(0.3)),
        piecewise(PiecewiseLinear::Clip { lower: 0.2, upper: f64::INFINITY }, |x| x.max(0.2)),
        piecewise(PiecewiseLinear::Floor, f64::floor),
        piecewise(PiecewiseLinear::Step { below: 0.0, at: 0.0, above: 1.0 }, |x| f64::from(x > 0.0)),
        piecewise(PiecewiseLinear::Step { below: 1.0, at: 1.0, above: 0.0 }, |x| f64::from(x <= 0.0)),
        piecewise(PiecewiseLinear::Step { below: 0.0, at: 1.0, above: 0.0 }, |x| f64::from(x == 0.0)),
        smooth(Smooth::Tanh, -FAR, FAR, f64::tanh),
        smooth(Smooth::Sigmoid, -FAR, FAR, |x| 1.0 / (1.0 + (-x).exp())),
        smooth(Smooth::Elu(1.0), -FAR, FAR, |x| if x < 0.0 { x.exp_m1() } else { x }),
        smooth(Smooth::Elu(2.5), -FAR, FAR, |x| if x < 0.0 { 2.5 * x.exp_m1() } else { x }),
        smooth(Smooth::Elu(-0.5), -FAR, FAR, |x| if x < 0.0 { -0.5 * x.exp_m1() } else { x }),
        smooth(Smooth::Softplus, -FAR, FAR, |x| x.max(0.0) + (-x.abs()).exp().ln_1p()),
        smooth(Smooth::Sqrt, 0.0, FAR, f64::sqrt),
        smooth(Smooth::Exp, -FAR, 10.0, f64::exp),
        smooth(Smooth::Log, 1e-3, FAR, f64::ln),
        smooth(Smooth::Sin, -FAR, FAR, f64::sin),
        smooth(Smooth::Cos, -FAR, FAR, f64::cos),
        smooth(Smooth::Power(2.0), -FAR, FAR, |x| x * x),
        smooth(Smooth::Power(3.0), -FAR, FAR, |x| x * x * x),
        smooth(Smooth::Power(-2.0), -FAR, -1e-2, |x| 1.0 / (x * x)),
        smooth(Smooth::Power(1.5), 0.0, FAR, |x| x.powf(1.5)),
        smooth(Smooth::Power(0.3), 0.0, FAR, |x| x.powf(0.3)),
        smooth(Smooth::Power(-0.3), 1e-3, FAR, |x| x.powf(-0.3)),
        smooth(Smooth::Reciprocal, 1e-2, FAR, |x| 1.0 / x),
        smooth(Smooth::Reciprocal, -FAR, -1e-2, |x| 1.0 / x),
    ]
}

/// Samples over a range, and what they lie in.
fn sampled(x: Interval, value: &dyn Fn(f64) -> f64) -> (Vec<(f64, f64)>, Interval) {
    let place = |k: usize| (x.lo + (x.hi - x.lo) * k as f64 / 400.0).clamp(x.lo, x.hi);
    let mut samples: Vec<(f64, f64)> = (0..=400).map(|k| (place(k), value(place(k)))).collect();
    let breakpoints = [0.0, -0.7, 1.1, 0.3, 0.2];
    samples.extend([x.lo, x.hi].into_iter().chain(breakpoints).filter(|&at| x.contains(at)).map(|at| (at, value(at))));
    let hull = samples.iter().map(|&(_, y)| Interval::point(y)).reduce(Interval::hull).unwrap();
    (samples, hull)
}

fn at(side: Side, x: f64) -> f64 {
    side.slope * x + side.offset
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn lines_enclose_their_curve(
        which in 0..curves().len(),
        centre in 0.0..1.0f64,
        size in -12.0..1.5f64,
        near_zero in any::<bool>(),
        alphas in (0.0..=1.0f64, 0.0..=1.0f64, 0..4usize),
    ) {
        let (curve, least, greatest, value) = &curves()[which];
        let width = 10f64.powf(size);
        let start = if near_zero { -centre * width } else { least + centre * (greatest - least) };
        let lo = start.max(*least);
        let x = Interval::new(lo, (lo + width).min(*greatest).max(lo));
        prop_assume!(*greatest >= x.hi && x.lo <= x.hi);
        let (samples, hull) = sampled(x, value);
        // Wider than the samples by what they may miss, so that no line is one of these constants by chance.
        let value = hull.widen(1.0 + hull.width());
        let alpha = match alphas.2 {
            0 => curve.default_alpha(x),
            1 => Alpha { lower: alphas.0.round(), upper: alphas.1.round() },
            _ => Alpha { lower: alphas.0, upper: alphas.1 },
        };
        let sides = curve.sides(x, value, alpha);
        for (place, y) in samples {
            // What the floats of this test themselves are off by.
            let size = y.abs() + (sides.lower.slope * place).abs().max((sides.upper.slope * place).abs());
            let doubt = 1e-14 * (1e-3 + size);
            prop_assert!(at(sides.lower, place) <= y + doubt, "below {curve:?} at {place} in {x}: {sides:?}");
            prop_assert!(at(sides.upper, place) >= y - doubt, "above {curve:?} at {place} in {x}: {sides:?}");
        }
    }

    #[test]
    fn planes_enclose_products(
        (a, b, c, d) in (-9.0..9.0f64, -9.0..9.0f64, -9.0..9.0f64, -9.0..9.0f64),
        (lower, upper) in (0.0..=1.0f64, 0.0..=1.0f64),
    ) {
        let (x, y) = (Interval::new(a.min(b), a.max(b)), Interval::new(c.min(d), c.max(d)));
        let sides = product_sides(x, y, x * y, Alpha { lower, upper });
        for i in 0..=8 {
            for j in 0..=8 {
                let p = x.lo + (x.hi - x.lo) * f64::from(i) / 8.0;
                let q = y.lo + (y.hi - y.lo) * f64::from(j) / 8.0;
                let plane = |side: Side| side.slope * p + side.other * q + side.offset;
                prop_assert!(plane(sides.lower) <= p * q + 1e-12);
                prop_assert!(plane(sides.upper) >= p * q - 1e-12);
            }
        }
    }
}

/// The least distances of the two lines from the curve.
fn distances(curve: Curve, x: Interval, value: &dyn Fn(f64) -> f64, alpha: Alpha) -> [f64; 2] {
    let (samples, range) = sampled(x, value);
    let sides = curve.sides(x, range, alpha);
    let below = samples.iter().map(|&(place, y)| y - at(sides.lower, place)).fold(f64::INFINITY, f64::min);
    let above = samples.iter().map(|&(place, y)| at(sides.upper, place) - y).fold(f64::INFINITY, f64::min);
    [below, above]
}

#[test]
fn lines_touch_their_curve() {
    // Over ranges on which every curve is defined, bends and turns at most once.
    for (curve, least, greatest, value) in curves() {
        for (lo, hi) in [(-1.5, 0.9), (-0.4, 1.7), (0.25, 1.6), (-1.6, -0.25)] {
            // Lines of curves that jump touch at their jumps, where samples do not see it.
            let jumps = matches!(curve, Curve::PiecewiseLinear(PiecewiseLinear::Floor | PiecewiseLinear::Step { .. }));
            if lo < least || hi > greatest || jumps {
                continue;
            }
            let x = Interval::new(lo, hi);
            for alpha in [curve.default_alpha(x), Alpha { lower: 0.3, upper: 0.8 }] {
                let [below, above] = distances(curve, x, &value, alpha);
                // Tangents touch between two samples.
                assert!(below.abs() < 1e-4 && above.abs() < 1e-4, "{curve:?} over {x}: {below} {above}");
            }
        }
    }
}

#[test]
fn leans_run_from_one_end_of_their_family_to_the_other() {
    let x = Interval::new(-1.0, 2.0);
    let slopes = |curve: Curve, value: Interval, t: f64| {
        let sides = curve.sides(x, value, Alpha { lower: t, upper: t });
        (sides.lower.slope, sides.upper.slope)
    };
    let relu = Curve::PiecewiseLinear(PiecewiseLinear::Relu);
    assert_eq!(slopes(relu, Interval::new(0.0, 2.0), 0.0), (0.0, 2.0 / 3.0));
    assert_eq!(slopes(relu, Interval::new(0.0, 2.0), 0.25), (0.25, 2.0 / 3.0));
    let abs = Curve::PiecewiseLinear(PiecewiseLinear::Abs);
    assert_eq!(slopes(abs, Interval::new(0.0, 2.0), 0.25).0, -0.5);
    let step = Curve::PiecewiseLinear(PiecewiseLinear::Step { below: 0.0, at: 0.0, above: 1.0 });
    assert_eq!(slopes(step, Interval::UNKNOWN_TRUTH, 0.5), (0.25, 0.5));
    let exp = Curve::Smooth(Smooth::Exp);
    let wide = Interval::new(0.0, 9.0);
    assert!((slopes(exp, wide, 1.0).0 - 2f64.exp()).abs() < 1e-12);
    // From the tangent at the far end to the one through the other end.
    let tanh = Curve::Smooth(Smooth::Tanh);
    let narrow = Interval::new(-1.0, 1.0);
    // Where even the tangent at the far end passes above the other end, it is the chord, for every alpha.
    let right = Interval::new(-0.2, 2.0);
    let steep = |t: f64| tanh.sides(right, narrow, Alpha { lower: t, upper: t }).lower;
    assert_eq!(steep(0.0), steep(1.0));
    assert!((at(steep(0.0), 2.0) - 2f64.tanh()).abs() < 1e-12);
    let wider = Interval::new(-3.0, 1.0);
    let lower = |t: f64| tanh.sides(wider, narrow, Alpha { lower: t, upper: t }).lower;
    assert!((lower(0.0).slope - (1.0 - 3f64.tanh().powi(2))).abs() < 1e-12);
    assert!((at(lower(1.0), 1.0) - 1f64.tanh()).abs() < 1e-12);
    let mixed = |t: f64| product_sides(x, narrow, wide, Alpha { lower: t, upper: t }).lower;
    assert_eq!((mixed(0.0).slope, mixed(0.0).other), (-1.0, -1.0));
    assert_eq!((mixed(1.0).slope, mixed(1.0).other), (1.0, 2.0));
}

#[test]
fn useless_ranges_give_constants() {
    let half_line = Interval { lo: 0.0, hi: f64::INFINITY };
    let value = Interval::new(-3.0, 7.0);
    let alpha = Alpha { lower: 0.5, upper: 0.5 };
    for (curve, ..) in curves() {
        for x in [Interval::ENTIRE, half_line, Interval::new(-1e308, 1e308), Interval::point(0.5)] {
            let sides = curve.sides(x, value, alpha);
            let finite = |side: Side| side.slope.is_finite() && side.offset.is_finite();
            assert!(finite(sides.lower) && finite(sides.upper), "{curve:?} over {x}: {sides:?}");
        }
    }
    let sides = product_sides(Interval::ENTIRE, Interval::ZERO, Interval::ZERO, alpha);
    assert_eq!(sides, Sides::constants(Interval::ZERO));
    let outside = Interval::new(-1.0, 1.0);
    for curve in [Smooth::Log, Smooth::Sqrt, Smooth::Reciprocal, Smooth::Power(-1.0), Smooth::Power(0.5)] {
        assert_eq!(Curve::Smooth(curve).sides(outside, value, alpha), Sides::constants(value), "{curve:?}");
    }
}
