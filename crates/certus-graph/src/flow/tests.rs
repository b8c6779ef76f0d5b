//! Enclosures against closed forms, and against solutions followed in doubles.

use std::sync::Arc;

use proptest::prelude::*;

use super::*;
use crate::ops::{
    Abs, Add, Compare, Concat, Cos, Div, Exp, Flow, Gather, Mul, Neg, Operator, Quantity, Sin, Throughout,
};
use crate::{Graph, Interval, NodeId};

fn interval(lo: f64, hi: f64) -> Interval {
    Interval::new(lo, hi)
}

/// A field over n states and m held numbers, from what makes its derivatives.
fn field(
    n: usize,
    m: usize,
    varying: &[Interval],
    make: impl Fn(&mut Graph, &[NodeId], &[NodeId], &[NodeId]) -> Vec<NodeId>,
) -> Field {
    let mut graph = Graph::new();
    let mut inputs = vec![graph.input("state", &[n]), graph.input("held", &[m])];
    if !varying.is_empty() {
        inputs.push(graph.input("varying", &[varying.len()]));
    }
    let pick = |graph: &mut Graph, node: NodeId, count: usize| -> Vec<NodeId> {
        let one = |i| Gather { axis: 0, indices: vec![i], index_shape: vec![1] };
        (0..count).map(|i| graph.apply(one(i), &[node]).unwrap()).collect()
    };
    let (x, u) = (pick(&mut graph, inputs[0], n), pick(&mut graph, inputs[1], m));
    let w = if varying.is_empty() { Vec::new() } else { pick(&mut graph, inputs[2], varying.len()) };
    let slopes = make(&mut graph, &x, &u, &w);
    let all = graph.apply(Concat { axis: 0 }, &slopes).unwrap();
    graph.output("slopes", all);
    Field::new(&graph, varying).unwrap()
}

/// x' = −x + u.
fn decay() -> Field {
    field(1, 1, &[], |g, x, u, _| {
        let minus = g.apply(Neg, &[x[0]]).unwrap();
        vec![g.apply(Add, &[minus, u[0]]).unwrap()]
    })
}

/// θ' = ω, ω' = sin θ + u.
fn pendulum() -> Field {
    field(2, 1, &[], |g, x, u, _| {
        let sine = g.apply(Sin, &[x[0]]).unwrap();
        vec![x[1], g.apply(Add, &[sine, u[0]]).unwrap()]
    })
}

#[test]
fn a_linear_equation_is_enclosed_tightly() {
    let field = decay();
    assert!(field.smooth() && field.complete());
    let pipe = FlowPipe::new(&field, &[interval(1.0, 2.0)], &[interval(0.5, 0.5)], 1.0).unwrap();
    let e = (-1.0f64).exp();
    let (low, high) = (0.5 + 0.5 * e, 0.5 + 1.5 * e);
    let end = pipe.end()[0];
    assert!(end.lo <= low && high <= end.hi);
    assert!(low - end.lo < 1e-5 && end.hi - high < 1e-5, "{end} around [{low}, {high}]");
    // From a point nearly all digits are right.
    let pipe = FlowPipe::new(&field, &[interval(1.0, 1.0)], &[interval(0.5, 0.5)], 1.0).unwrap();
    assert!(pipe.end()[0].contains(low) && pipe.end()[0].width() < 1e-12, "{}", pipe.end()[0]);
    let middle = pipe.over(0.25, 0.5)[0];
    let at = |t: f64| 0.5 + 0.5 * (-t).exp();
    assert!(middle.contains(at(0.25)) && middle.contains(at(0.5)) && middle.width() < 0.2, "{middle}");
}

#[test]
fn doubles_follow_solutions_to_twelve_digits() {
    let reached = integrate(&decay(), &[1.0], &[0.5], &[], 1.0)[0];
    assert!((reached - (0.5 + 0.5 * (-1.0f64).exp())).abs() < 1e-14);
    // x' = x², x(0) = 1: 1 / (1 − t).
    let square = field(1, 0, &[], |g, x, _, _| vec![g.apply(Mul, &[x[0], x[0]]).unwrap()]);
    assert!(!square.complete());
    let reached = integrate(&square, &[1.0], &[], &[], 0.9)[0];
    assert!((reached / 10.0 - 1.0).abs() < 1e-12, "{reached}");
    assert!(integrate(&square, &[1.0], &[], &[], 1.5)[0].is_nan());
    // x' = |x| with a kink on the way: nothing happens at it from below.
    let kink = field(1, 0, &[], |g, x, _, _| {
        let size = g.apply(Abs, &[x[0]]).unwrap();
        let one = g.scalar(1.0);
        vec![g.apply(Add, &[size, one]).unwrap()]
    });
    // x' = 1 − x up to 0, then 1 + x: from −1 the kink is met at ln 2, and x(t) = e^(t − ln 2) − 1 after it.
    let reached = integrate(&kink, &[-1.0], &[], &[], 2.0)[0];
    let expected = (2.0 - 2.0f64.ln()).exp() - 1.0;
    assert!((reached - expected).abs() < 1e-9, "{reached} for {expected}");
    let pipe = FlowPipe::new(&kink, &[interval(-1.0, -1.0)], &[], 2.0).unwrap();
    assert!(pipe.end()[0].contains(expected) && pipe.end()[0].width() < 0.2, "{}", pipe.end()[0]);
}

#[test]
fn an_escape_has_no_pipe() {
    let square = field(1, 0, &[], |g, x, _, _| vec![g.apply(Mul, &[x[0], x[0]]).unwrap()]);
    assert!(FlowPipe::new(&square, &[interval(0.9, 1.0)], &[], 1.5).is_none());
    let pipe = FlowPipe::new(&square, &[interval(0.99, 1.0)], &[], 0.5).unwrap();
    assert!(pipe.end()[0].contains(2.0) && pipe.end()[0].contains(0.99 / (1.0 - 0.99 * 0.5)));
    assert!(pipe.end()[0].width() < 0.06, "{}", pipe.end()[0]);
    // A quotient whose divisor meets zero.
    let quotient = field(1, 0, &[], |g, x, _, _| {
        let minus = g.scalar(-1.0);
        vec![g.apply(Div, &[minus, x[0]]).unwrap()]
    });
    assert!(FlowPipe::new(&quotient, &[interval(0.5, 0.6)], &[], 1.0).is_none());
    let flow = Flow { field: Arc::new(quotient), duration: 1.0 };
    let mut out = [Interval::ZERO];
    let args =
        [crate::ops::Arg { shape: &[1], values: &[interval(0.5, 0.6)] }, crate::ops::Arg { shape: &[0], values: &[] }];
    flow.enclose(&args, &[1], &mut out);
    assert_eq!(out[0], Interval::ENTIRE);
}

#[test]
fn rotation_does_not_wrap() {
    // A quarter turn in many steps: the box becomes itself, turned.
    let rotation = field(2, 0, &[], |g, x, _, _| {
        let minus = g.apply(Neg, &[x[1]]).unwrap();
        vec![minus, x[0]]
    });
    let pipe = FlowPipe::new(&rotation, &[interval(0.9, 1.1), interval(-0.1, 0.1)], &[], std::f64::consts::PI * 8.5);
    let end = pipe.unwrap().end().to_vec();
    assert!(end[0].contains(0.0) && end[0].width() < 0.21, "{}", end[0]);
    assert!(end[1].contains(1.0) && end[1].width() < 0.21, "{}", end[1]);
}

#[test]
fn varying_inputs_take_every_signal() {
    // x' = −x + w with w in ±0.1: x lies between the solutions of the constant signals.
    let varying = [interval(-0.1, 0.1)];
    let field = field(1, 0, &varying, |g, x, _, w| {
        let minus = g.apply(Neg, &[x[0]]).unwrap();
        vec![g.apply(Add, &[minus, w[0]]).unwrap()]
    });
    assert!(!field.smooth());
    let pipe = FlowPipe::new(&field, &[interval(1.0, 1.0)], &[], 0.5).unwrap();
    let e = (-0.5f64).exp();
    let end = pipe.end()[0];
    assert!(end.lo <= e - 0.1 * (1.0 - e) && e + 0.1 * (1.0 - e) <= end.hi);
    assert!(end.width() < 0.16, "{end}");
}

#[test]
fn conditions_hold_throughout_or_not() {
    // x(t) = e^(−t): above 0.6 up to −ln 0.6 = 0.5108…
    let mut graph = Graph::new();
    let (x, u) = (graph.input("state", &[1]), graph.input("held", &[1]));
    let _ = u;
    let bound = graph.constant(crate::Tensor::vector(vec![0.6]));
    let truth = graph.apply(Compare::GreaterEqual, &[x, bound]).unwrap();
    let margin = graph.apply(crate::ops::Sub, &[x, bound]).unwrap();
    graph.output("truth", truth);
    graph.output("margin", margin);
    let condition = Condition::new(graph).unwrap();
    let flow = Flow { field: Arc::new(decay()), duration: 1.0 };
    let ask = |quantity, from: f64, to: f64| {
        let (from, to) = (Interval::point(from), Interval::point(to));
        let op = Throughout { flow: flow.clone(), condition: condition.clone(), quantity, from, to };
        let mut enclosed = [Interval::ENTIRE];
        let shape: &[usize] = &[1];
        op.enclose(
            &[
                crate::ops::Arg { shape, values: &[interval(1.0, 1.0)] },
                crate::ops::Arg { shape, values: &[Interval::ZERO] },
            ],
            shape,
            &mut enclosed,
        );
        let mut sampled = [0.0];
        let args = [crate::ops::Arg { shape, values: &[1.0] }, crate::ops::Arg { shape, values: &[0.0] }];
        op.eval(&args, shape, 1, &mut sampled);
        assert!(quantity == Quantity::Margin || enclosed[0].contains(sampled[0]));
        enclosed[0]
    };
    assert_eq!(ask(Quantity::Truth, 0.0, 0.5), Interval::ONE);
    assert_eq!(ask(Quantity::Truth, 0.0, 0.55), Interval::ZERO);
    assert_eq!(ask(Quantity::Truth, 0.55, 0.55), Interval::ZERO);
    assert!(ask(Quantity::Margin, 0.0, 0.5).contains((-0.5f64).exp() - 0.6));
    assert!(ask(Quantity::Margin, 0.0, 1.0).hi < 0.0);
}

/// What simulation says of a condition on x' = v, v' = −8 from (0, 4): x is a parabola with its top, 1, at 0.5.
fn along_a_parabola(compare: Compare, bound: f64) -> (f64, f64) {
    let field = field(2, 0, &[], |g, x, _, _| vec![x[1], g.constant(crate::Tensor::vector(vec![-8.0]))]);
    let mut graph = Graph::new();
    let (x, _) = (graph.input("state", &[2]), graph.input("held", &[0]));
    let place = graph.apply(crate::ops::Slice::of_vector(0, 1), &[x]).unwrap();
    let bound = graph.constant(crate::Tensor::vector(vec![bound]));
    let truth = graph.apply(compare, &[place, bound]).unwrap();
    let difference = graph.apply(crate::ops::Sub, &[bound, place]).unwrap();
    let margin = match compare {
        Compare::NotEqual => graph.apply(crate::ops::Abs, &[difference]).unwrap(),
        _ => difference,
    };
    graph.output("truth", truth);
    graph.output("margin", margin);
    Condition::new(graph).unwrap().sampled(&field, &[0.0, 4.0], &[], 0.0, 0.99)
}

#[test]
fn simulation_sees_what_happens_between_its_samples() {
    // No sample lies at the top, nor where x passes 0.9.
    assert_eq!(along_a_parabola(Compare::Less, 1.0 - 1e-6).0, 0.0);
    assert_eq!(along_a_parabola(Compare::Less, 1.0 + 1e-6).0, 1.0);
    assert!(along_a_parabola(Compare::Less, 1.0 + 1e-6).1 < 2e-6);
    assert_eq!(along_a_parabola(Compare::NotEqual, 0.9), (0.0, 0.0));
    assert_eq!(along_a_parabola(Compare::NotEqual, 1.001).0, 1.0);
}

/// A field of three states with one held number, from random choices of terms.
fn random_field(terms: &[(usize, usize, usize, f64)]) -> Field {
    field(3, 1, &[], |g, x, u, _| {
        let mut slopes = vec![u[0], u[0], u[0]];
        for &(kind, i, j, weight) in terms {
            let (a, b) = (x[i % 3], x[j % 3]);
            let term = match kind % 5 {
                0 => a,
                1 => g.apply(Mul, &[a, b]).unwrap(),
                2 => g.apply(Sin, &[a]).unwrap(),
                3 => g.apply(Cos, &[b]).unwrap(),
                _ => {
                    let half = g.scalar(-0.5);
                    let scaled = g.apply(Mul, &[a, half]).unwrap();
                    g.apply(Exp, &[scaled]).unwrap()
                }
            };
            let weight = g.scalar(weight);
            let scaled = g.apply(Mul, &[term, weight]).unwrap();
            slopes[(i + j) % 3] = g.apply(Add, &[slopes[(i + j) % 3], scaled]).unwrap();
        }
        slopes
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn pipes_contain_solutions(
        terms in prop::collection::vec((0usize..5, 0usize..3, 0usize..3, -1.0f64..1.0), 1..7),
        centre in prop::array::uniform3(-1.0f64..1.0),
        radius in 0.0f64..0.2,
        places in prop::collection::vec(prop::array::uniform4(0.0f64..1.0), 4),
        duration in 0.05f64..0.6,
        share in 0.0f64..1.0,
    ) {
        let field = random_field(&terms);
        let start: Vec<Interval> = centre.iter().map(|c| interval(c - radius, c + radius)).collect();
        let held = [interval(-radius, radius)];
        let Some(pipe) = FlowPipe::new(&field, &start, &held, duration) else { return Ok(()) };
        for place in places {
            let at = |own: Interval, share: f64| (own.lo + share * (own.hi - own.lo)).clamp(own.lo, own.hi);
            let state: Vec<f64> = start.iter().zip(place).map(|(own, share)| at(*own, share)).collect();
            let held = [at(held[0], place[3])];
            let reached = integrate(&field, &state, &held, &[], duration);
            for (own, value) in pipe.end().iter().zip(&reached) {
                prop_assert!(own.widen(1e-11).contains(*value), "{own} has no {value}");
            }
            let instant = share * duration;
            let reached = integrate(&field, &state, &held, &[], instant);
            let slice = pipe.over(instant * 0.9, (instant * 1.05).min(duration));
            for (own, value) in slice.iter().zip(&reached) {
                prop_assert!(own.widen(1e-11).contains(*value), "{own} has no {value} at {instant}");
            }
        }
    }

    #[test]
    fn tables_of_doubles_have_the_coefficients_of_the_series(
        terms in prop::collection::vec((0usize..5, 0usize..3, 0usize..3, -1.0f64..1.0), 1..7),
        state in prop::array::uniform3(-1.0f64..1.0),
        held in -1.0f64..1.0,
    ) {
        let field = random_field(&terms);
        let found = float::coefficients(&field, &state, &[held]).unwrap();
        let expected = field.coefficients(&mut Floats, &state, &[held], found.len() - 1).unwrap();
        for (own, expected) in found.iter().flatten().zip(expected.iter().flatten()) {
            prop_assert!((own - expected).abs() <= 1e-12 * (1.0 + expected.abs()), "{own} instead of {expected}");
        }
    }

    #[test]
    fn series_agree_with_gradients_by_differences(x in -1.0f64..1.0, u in -1.0f64..1.0) {
        let field = pendulum();
        let series = field.coefficients(&mut Floats, &[x, 0.5], &[u], 6).unwrap();
        // θ'' = sin θ + u and θ''' = cos θ·θ'.
        prop_assert!((series[2][0] - (x.sin() + u) / 2.0).abs() < 1e-14);
        prop_assert!((series[3][0] - x.cos() * 0.5 / 6.0).abs() < 1e-14);
        let enclosed = field.coefficients(&mut Intervals, &[interval(x, x), interval(0.5, 0.5)], &[interval(u, u)], 6);
        for (own, exact) in enclosed.unwrap().iter().flatten().zip(series.iter().flatten()) {
            prop_assert!(own.widen(1e-15).contains(*exact));
        }
    }
}

#[test]
fn products_of_what_starts_at_rest_have_a_box() {
    // a' = u, b' = a, c' = u, d' = b·c from zero: each is known only after those before it were widened.
    let field = field(4, 1, &[], |g, x, u, _| vec![u[0], x[0], u[0], g.apply(Mul, &[x[1], x[2]]).unwrap()]);
    let bounds = field.a_priori(&[interval(0.0, 0.0); 4], &[interval(1.0, 1.5)], 0.1).unwrap();
    // The last one reaches u²·t⁴/8 at most.
    assert!(
        bounds[3].contains(0.0) && bounds[3].contains(1.5 * 1.5 * 1e-4 / 8.0) && bounds[3].hi < 1e-3,
        "{}",
        bounds[3]
    );
}
