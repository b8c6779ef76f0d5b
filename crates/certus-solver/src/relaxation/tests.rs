//! Every curve under random ranges and alphas: lines enclose, and are as tight as their families promise.

use std::f64::consts::PI;

use certus_graph::ops::{self, Activation, Compare, Curvature, Op};
use certus_graph::{Graph, Interval, Tensor};
use proptest::prelude::*;
use proptest::sample::select;

use super::{Alpha, Curve, Relaxation};

const COMPARISONS: [Compare; 6] =
    [Compare::Less, Compare::LessEqual, Compare::Greater, Compare::GreaterEqual, Compare::Equal, Compare::NotEqual];

fn step(compare: Compare) -> Curve {
    super::curve::step(compare, |x| (x, 0.0))
}

fn any_curve() -> impl Strategy<Value = Curve> {
    let fixed = vec![
        Curve::from(ops::Relu),
        Curve::from(ops::Tanh),
        Curve::from(ops::Sigmoid),
        Curve::from(ops::Softplus),
        Curve::from(ops::Abs),
        Curve::from(ops::Sqrt),
        Curve::from(ops::Exp),
        Curve::from(ops::Log),
        Curve::from(ops::Sin),
        Curve::from(ops::Cos),
        Curve::from(ops::Floor),
        Curve::Reciprocal,
    ];
    let exponents = vec![-3.0, -2.0, -1.5, -1.0, 0.0, 0.3, 0.5, 1.0, 1.5, 2.0, 2.7, 3.0, 4.0, 5.0, 7.0];
    prop_oneof![
        12 => select(fixed),
        1 => prop_oneof![Just(0.01), -2.0f64..3.0].prop_map(|alpha| Curve::from(ops::LeakyRelu { alpha })),
        2 => (-3.0f64..3.0, -1.0f64..6.0).prop_map(|(lower, width)| Curve::from(ops::Clip { lower, upper: lower + width })),
        2 => prop_oneof![Just(1.0), Just(1.67), -1.0f64..3.0].prop_map(|alpha| Curve::from(ops::Elu { alpha })),
        4 => select(exponents).prop_map(Curve::Power),
        2 => select(COMPARISONS.to_vec()).prop_map(step),
    ]
}

/// Ranges about zero, breakpoints, multiples of π/2 and anywhere, from tiny to huge; about a third of them of positive
/// numbers.
fn any_range() -> impl Strategy<Value = Interval> {
    let about = prop_oneof![
        3 => Just(0.0),
        2 => (-8i32..8).prop_map(|k| f64::from(k) * PI / 2.0),
        2 => -8.0f64..8.0,
        1 => (-5i32..5).prop_map(f64::from),
        1 => -1e5f64..1e5,
    ];
    let width = prop_oneof![4 => -2.0f64..1.2, 2 => -12.0f64..6.0, 1 => Just(f64::NEG_INFINITY)];
    let share = prop_oneof![3 => 0.0f64..=1.0, 1 => Just(0.0), 1 => Just(1.0)];
    (about, width, share, 0u8..3).prop_map(|(about, exponent, share, sign)| {
        let width = 10.0f64.powf(exponent);
        let (lo, hi) = (about - share * width, about + (1.0 - share) * width);
        match (sign, lo < 0.0) {
            (0, true) => Interval::new(0.0f64.max(lo), hi.abs().max(1e-12)),
            _ => Interval::new(lo, hi),
        }
    })
}

fn any_lean() -> impl Strategy<Value = Alpha> {
    let number = || prop_oneof![2 => 0.0f64..=1.0, 1 => Just(0.0), 1 => Just(1.0), 1 => Just(0.5)];
    (number(), number()).prop_map(|(lower, upper)| Alpha { lower, upper })
}

/// Points worth a look in a range: ends, breakpoints and turns with their neighbours, and evenly spread ones.
fn samples(curve: &Curve, x: Interval) -> Vec<f64> {
    let mut points = vec![0.0, x.lo.floor() + 1.0, x.hi.floor(), x.lo / 2.0 + x.hi / 2.0];
    if let Curve::Activation(Activation::Clip(ops::Clip { lower, upper })) = curve {
        points.extend([*lower, *upper]);
    }
    let turns = (-16i32..=16).map(|k| f64::from(k) * PI / 2.0);
    points.extend(turns);
    points.extend(points.clone().into_iter().flat_map(|p| [p.next_down(), p.next_up(), p - 1e-3, p + 1e-3]));
    points.extend((0..=40).map(|i| x.lo + (x.hi - x.lo) * f64::from(i) / 40.0));
    points.extend([x.lo, x.hi]);
    points.retain(|&p| x.contains(p));
    points
}

fn at(slope: f64, offset: f64, x: f64) -> Interval {
    Interval::point(slope) * Interval::point(x) + Interval::new(offset, offset)
}

/// Whether both lines are on their sides of the function at a point, up to what rounding of this very check can hide.
fn encloses(curve: &Curve, lines: &Relaxation, x: f64) -> bool {
    let y = curve.enclose(Interval::point(x));
    let below = lines.lower_offset == f64::NEG_INFINITY || at(lines.lower_slope, lines.lower_offset, x).lo <= y.hi;
    let above = lines.upper_offset == f64::INFINITY || at(lines.upper_slope, lines.upper_offset, x).hi >= y.lo;
    below && above
}

/// f − lower and upper − f at a point, each relative to the size of the numbers in play.
fn gaps(curve: &Curve, lines: &Relaxation, range: Interval, x: f64) -> (f64, f64) {
    let y = curve.value(x);
    let scale = |slope: f64| 1.0 + curve.enclose(range).magnitude().min(1e300) + slope.abs() * range.magnitude();
    let below = (y - (lines.lower_slope * x + lines.lower_offset)) / scale(lines.lower_slope);
    let above = (lines.upper_slope * x + lines.upper_offset - y) / scale(lines.upper_slope);
    (below, above)
}

const TIGHT: f64 = 1e-6;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(5000))]

    #[test]
    fn lines_enclose_the_function(curve in any_curve(), range in any_range(), alpha in any_lean()) {
        for alpha in [alpha, curve.default_alpha(range)] {
            let lines = curve.relax(range, alpha);
            for x in samples(&curve, range) {
                prop_assert!(encloses(&curve, &lines, x), "{curve:?} over {range} weighted {alpha:?}: {lines:?} at {x}");
            }
        }
    }

    #[test]
    fn default_leans_are_shares_and_other_numbers_are_clamped(curve in any_curve(), range in any_range(), far in 1.0f64..9.0) {
        let default = curve.default_alpha(range);
        prop_assert!((0.0..=1.0).contains(&default.lower) && (0.0..=1.0).contains(&default.upper));
        let lines = |lower: f64, upper: f64| curve.relax(range, Alpha { lower, upper });
        prop_assert_eq!(lines(far, -far), lines(1.0, 0.0));
        prop_assert_eq!(curve.default_relaxation(range), curve.relax(range, default));
    }

    #[test]
    fn default_lines_are_closer_in_the_middle_than_constants(curve in any_curve(), range in any_range()) {
        let lines = curve.relax(range, curve.default_alpha(range));
        let constants = curve.enclose(range);
        if !constants.width().is_finite() {
            return Ok(());
        }
        let middle = range.lo / 2.0 + range.hi / 2.0;
        let slope = lines.upper_slope - lines.lower_slope;
        let gap = slope * middle + (lines.upper_offset - lines.lower_offset);
        let size = 1.0 + constants.magnitude() + lines.lower_slope.abs().max(lines.upper_slope.abs()) * range.magnitude();
        prop_assert!(gap <= constants.width() + TIGHT * size, "{curve:?} {range} {lines:?} {constants}");
    }

    #[test]
    fn chords_meet_the_ends_and_tangents_their_points(curve in any_curve(), range in any_range(), alpha in any_lean()) {
        let Some(curvature) = curve.curvature(range) else { return Ok(()) };
        let lines = curve.relax(range, alpha);
        // A vertical tangent, or values beyond all doubles.
        if curve.enclose(range).width() > 1e300 || curve.slope(range.lo).abs() > 1e100 {
            return Ok(());
        }
        let touch = |t: f64| if t >= 1.0 { range.hi } else { range.lo + t * (range.hi - range.lo) };
        let gap = |x: f64| gaps(&curve, &lines, range, x);
        match curvature {
            Curvature::Convex => {
                prop_assert!(gap(touch(alpha.lower)).0.abs() <= TIGHT, "{curve:?} {range} {alpha:?} {lines:?}");
                prop_assert!(gap(range.lo).1.max(gap(range.hi).1) <= TIGHT, "{curve:?} {range} {alpha:?} {lines:?}");
            }
            Curvature::Concave => {
                prop_assert!(gap(touch(alpha.upper)).1.abs() <= TIGHT, "{curve:?} {range} {alpha:?} {lines:?}");
                prop_assert!(gap(range.lo).0.max(gap(range.hi).0) <= TIGHT, "{curve:?} {range} {alpha:?} {lines:?}");
            }
            Curvature::ConvexConcave(_) | Curvature::ConcaveConvex(_) => {
                let farthest = curve.relax(range, Alpha { lower: 1.0, upper: 1.0 });
                let gap = |x: f64| gaps(&curve, &farthest, range, x);
                let concave_last = matches!(curvature, Curvature::ConvexConcave(_));
                let (below, above) = if concave_last { (range.hi, range.lo) } else { (range.lo, range.hi) };
                prop_assert!(gap(below).0 <= TIGHT, "{curve:?} {range} {farthest:?}");
                prop_assert!(gap(above).1 <= TIGHT, "{curve:?} {range} {farthest:?}");
            }
            Curvature::ConvexConcaveConvex(..) | Curvature::ConcaveConvexConcave(..) => {
                for alpha in [Alpha { lower: 0.0, upper: 0.0 }, Alpha { lower: 1.0, upper: 1.0 }] {
                    let lines = curve.relax(range, alpha);
                    let gap = |x: f64| gaps(&curve, &lines, range, x);
                    prop_assert!(gap(range.lo).0.min(gap(range.hi).0) <= TIGHT, "{curve:?} {range} {alpha:?} {lines:?}");
                    prop_assert!(gap(range.lo).1.min(gap(range.hi).1) <= TIGHT, "{curve:?} {range} {alpha:?} {lines:?}");
                }
            }
        }
    }

    #[test]
    fn linear_means_that_both_lines_are_the_function(curve in any_curve(), range in any_range(), alpha in any_lean()) {
        if !curve.is_linear(range) || curve.enclose(range).width() > 1e300 {
            return Ok(());
        }
        let lines = curve.relax(range, alpha);
        for x in samples(&curve, range) {
            let (below, above) = gaps(&curve, &lines, range, x);
            prop_assert!(below.max(above) <= TIGHT, "{curve:?} {range} {lines:?} at {x}");
        }
        prop_assert_eq!(curve.split_point(range), None);
    }

    #[test]
    fn cuts_are_inside_and_halves_are_no_worse(curve in any_curve(), range in any_range()) {
        prop_assert!(curve.gap(range) >= 0.0);
        let Some(at) = curve.split_point(range) else { return Ok(()) };
        prop_assert!(range.lo < at && at < range.hi);
        let size = 1.0 + curve.enclose(range).magnitude() + range.magnitude();
        // Near the end of the doubles lines are moved down to stay finite.
        if size > 1e300 {
            return Ok(());
        }
        for half in [Interval::new(range.lo, at), Interval::new(at, range.hi)] {
            // A tangent in the middle of a half may reach farther down at its end than before, not by much.
            prop_assert!(curve.gap(half) <= 2.0 * curve.gap(range) + TIGHT * size, "{curve:?} {range} {at}");
        }
    }

    #[test]
    fn lines_move_little_with_the_lean(
        curve in select(vec![Curve::from(ops::Tanh), Curve::from(ops::Sigmoid), Curve::from(ops::Sin), Curve::from(ops::Cos), Curve::from(ops::Exp), Curve::Power(2.0), Curve::Power(3.0)]),
        lo in -4.0f64..4.0, width in 0.01f64..4.0, t in 0.0f64..0.999,
    ) {
        let range = Interval::new(lo, lo + width);
        let value = |t: f64| {
            let lines = curve.relax(range, Alpha { lower: t, upper: t });
            let x = lo + width / 3.0;
            (lines.lower_slope * x + lines.lower_offset, lines.upper_slope * x + lines.upper_offset)
        };
        let (here, there) = (value(t), value(t + 1e-7));
        let size = 1.0 + curve.enclose(range).magnitude();
        prop_assert!((here.0 - there.0).abs() + (here.1 - there.1).abs() <= 1e-5 * size, "{curve:?} {range} {t}");
    }

    #[test]
    fn slopes_are_derivatives(curve in any_curve(), x in -3.0f64..3.0) {
        let h = 1e-6;
        let near = [x - h, x + h];
        let defined = near.iter().all(|&p| curve.value(p).is_finite() && curve.slope(p).abs() < 1e3);
        let jumps = (curve.value(near[0]) - curve.value(near[1])).abs() > 0.5;
        let bends = (curve.slope(near[0]) - curve.slope(near[1])).abs() > 1e-2;
        if !defined || jumps || bends {
            return Ok(());
        }
        let difference = (curve.value(near[1]) - curve.value(near[0])) / (2.0 * h);
        prop_assert!((difference - curve.slope(x)).abs() < 1e-2, "{curve:?} at {x}: {difference}");
    }
}

#[test]
fn hostile_ranges_give_sound_constants() {
    let ends = [
        f64::NEG_INFINITY,
        f64::MIN,
        -1e200,
        -1.0,
        -0.0,
        0.0,
        f64::MIN_POSITIVE,
        5e-324,
        1.0,
        1e200,
        f64::MAX,
        f64::INFINITY,
    ];
    let curves = [
        Curve::from(ops::Relu),
        Curve::from(ops::LeakyRelu { alpha: 0.1 }),
        Curve::from(ops::LeakyRelu { alpha: -3.0 }),
        Curve::from(ops::LeakyRelu { alpha: f64::NAN }),
        Curve::from(ops::Abs),
        Curve::from(ops::Clip { lower: -1.0, upper: 1.0 }),
        Curve::from(ops::Clip { lower: f64::NEG_INFINITY, upper: f64::INFINITY }),
        Curve::from(ops::Clip { lower: 2.0, upper: 1.0 }),
        Curve::from(ops::Clip { lower: f64::NAN, upper: f64::NAN }),
        Curve::from(ops::Tanh),
        Curve::from(ops::Sigmoid),
        Curve::from(ops::Elu { alpha: 1.0 }),
        Curve::from(ops::Elu { alpha: 2.0 }),
        Curve::from(ops::Elu { alpha: -1.0 }),
        Curve::from(ops::Elu { alpha: f64::INFINITY }),
        Curve::from(ops::Softplus),
        Curve::from(ops::Sqrt),
        Curve::from(ops::Exp),
        Curve::from(ops::Log),
        Curve::from(ops::Sin),
        Curve::from(ops::Cos),
        Curve::from(ops::Floor),
        Curve::Power(2.0),
        Curve::Power(3.0),
        Curve::Power(-1.0),
        Curve::Power(0.5),
        Curve::Power(2000.0),
        Curve::Power(f64::NAN),
        Curve::Reciprocal,
        step(Compare::Less),
        step(Compare::Equal),
    ];
    for curve in curves {
        for (i, &lo) in ends.iter().enumerate() {
            for &hi in &ends[i..] {
                if lo == f64::INFINITY || hi == f64::NEG_INFINITY {
                    continue;
                }
                let range = Interval { lo, hi };
                for t in [0.0, 0.5, 1.0, f64::NAN] {
                    let lines = curve.relax(range, Alpha { lower: t, upper: t });
                    let context = format!("{curve:?} over {range} weighted {t}: {lines:?}");
                    assert!(lines.lower_slope.is_finite() && lines.upper_slope.is_finite(), "{context}");
                    assert!(!lines.lower_offset.is_nan() && !lines.upper_offset.is_nan(), "{context}");
                    let infinite = lines.lower_offset.is_infinite();
                    assert!(!infinite || lines.lower_slope == 0.0 && lines.lower_offset < 0.0, "{context}");
                    let infinite = lines.upper_offset.is_infinite();
                    assert!(!infinite || lines.upper_slope == 0.0 && lines.upper_offset > 0.0, "{context}");
                    for &x in ends.iter().filter(|x| x.is_finite() && range.contains(**x)) {
                        assert!(encloses(&curve, &lines, x), "{context} at {x}");
                    }
                    if let Some(at) = curve.split_point(range) {
                        assert!(lo < at && at < hi, "{context}: {at}");
                    }
                    assert!(curve.gap(range) >= 0.0, "{context}");
                }
            }
        }
        let disorder = Interval { lo: f64::NAN, hi: 1.0 };
        let lines = curve.relax(disorder, Alpha { lower: 0.5, upper: 0.5 });
        assert_eq!((lines.lower_offset, lines.upper_offset), (f64::NEG_INFINITY, f64::INFINITY));
    }
}

#[test]
fn every_curve_comes_from_a_node() {
    let mut graph = Graph::new();
    let x = graph.input("x", &[2]);
    let wide = graph.input("wide", &[1]);
    let (zero, one, two) = (graph.scalar(0.0), graph.scalar(1.0), graph.scalar(2.5));
    let ones = graph.constant(Tensor::vector(vec![1.0, 1.0]));
    let mixed = graph.constant(Tensor::vector(vec![1.0, 2.0]));
    let unary: Vec<(Op, Curve)> = vec![
        (ops::Relu.into(), Curve::from(ops::Relu)),
        (ops::LeakyRelu { alpha: 0.1 }.into(), Curve::from(ops::LeakyRelu { alpha: 0.1 })),
        (ops::Clip { lower: -1.0, upper: 2.0 }.into(), Curve::from(ops::Clip { lower: -1.0, upper: 2.0 })),
        (ops::Tanh.into(), Curve::from(ops::Tanh)),
        (ops::Sigmoid.into(), Curve::from(ops::Sigmoid)),
        (ops::Elu { alpha: 1.5 }.into(), Curve::from(ops::Elu { alpha: 1.5 })),
        (ops::Softplus.into(), Curve::from(ops::Softplus)),
        (ops::Abs.into(), Curve::from(ops::Abs)),
        (ops::Sqrt.into(), Curve::from(ops::Sqrt)),
        (ops::Exp.into(), Curve::from(ops::Exp)),
        (ops::Log.into(), Curve::from(ops::Log)),
        (ops::Sin.into(), Curve::from(ops::Sin)),
        (ops::Cos.into(), Curve::from(ops::Cos)),
        (ops::Floor.into(), Curve::from(ops::Floor)),
    ];
    for (op, curve) in unary {
        let node = graph.apply(op, &[x]).unwrap();
        assert_eq!(Curve::of(&graph, node), Some((curve, x)));
    }
    let less = Curve::Step { below: 1.0, at: 0.0, above: 0.0 };
    let greater = Curve::Step { below: 0.0, at: 0.0, above: 1.0 };
    let binary: Vec<(Op, [_; 2], Option<Curve>)> = vec![
        (ops::Pow.into(), [x, two], Some(Curve::Power(2.5))),
        (ops::Div.into(), [one, x], Some(Curve::Reciprocal)),
        (ops::Div.into(), [ones, x], Some(Curve::Reciprocal)),
        (Compare::Less.into(), [x, zero], Some(less)),
        (Compare::Less.into(), [zero, x], Some(greater)),
        (Compare::Equal.into(), [x, zero], Some(Curve::Step { below: 0.0, at: 1.0, above: 0.0 })),
        (ops::Pow.into(), [x, mixed], None),
        (ops::Div.into(), [two, x], None),
        (ops::Div.into(), [ones, wide], None),
        (Compare::Less.into(), [x, one], None),
        (ops::Add.into(), [x, one], None),
        (ops::Mul.into(), [x, x], None),
    ];
    for (op, arguments, curve) in binary {
        let node = graph.apply(op, &arguments).unwrap();
        assert_eq!(Curve::of(&graph, node), curve.map(|curve| (curve, x)));
    }
    assert_eq!(Curve::of(&graph, x), None);
}
