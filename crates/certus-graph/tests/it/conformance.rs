//! One suite that every operator runs: what [`certus_graph::ops::Operator`] promises, on arguments of several shapes.

use certus_graph::eval::{Evaluator, Workspace, enclose};
use certus_graph::flow::{Condition, Field};
use certus_graph::ops::*;
use certus_graph::{Graph, Interval, Op, Real, Tensor};
use proptest::prelude::*;

/// An operator with the shapes of its arguments, and the range that each argument's values are drawn from.
struct Case {
    op: Op,
    args: Vec<(Vec<usize>, f64, f64)>,
}

fn case(op: impl Into<Op>, args: &[(&[usize], f64, f64)]) -> Case {
    Case { op: op.into(), args: args.iter().map(|&(shape, lo, hi)| (shape.to_vec(), lo, hi)).collect() }
}

fn unary(op: impl Into<Op>, lo: f64, hi: f64) -> Case {
    case(op, &[(&[2, 3], lo, hi)])
}

fn ramp(count: usize) -> Vec<f64> {
    (0..count).map(|i| ((i * 37 % 11) as f64 - 5.0) / 4.0).collect()
}

fn window(kernel: &[usize], strides: &[usize], pads: &[usize], dilations: &[usize]) -> Window {
    Window { kernel: kernel.into(), strides: strides.into(), pads: pads.into(), dilations: dilations.into() }
}

fn conv(weight: &[usize], bias: bool, window: Window, group: usize) -> Conv {
    let weights = Tensor::new(weight, ramp(weight.iter().product())).unwrap();
    Conv::new(weights, bias.then(|| ramp(weight[0])), window, group).unwrap()
}

/// x' = u − x over half a second.
fn flow() -> Flow {
    let mut graph = Graph::new();
    let (x, u) = (graph.input("state", &[1]), graph.input("held", &[1]));
    let slope = graph.apply(Sub, &[u, x]).unwrap();
    graph.output("slope", slope);
    Flow { field: Field::new(&graph, &[]).unwrap().into(), duration: 0.5 }
}

/// u > 0, which does not change over a period.
fn throughout(quantity: Quantity) -> Throughout {
    let mut graph = Graph::new();
    graph.input("state", &[1]);
    let u = graph.input("held", &[1]);
    let zero = graph.constant(Tensor::vector(vec![0.0]));
    let truth = graph.apply(Compare::Greater, &[u, zero]).unwrap();
    graph.output("truth", truth);
    graph.output("margin", u);
    let (from, to) = (Interval::ZERO, Interval::point(0.25));
    Throughout { flow: flow(), condition: Condition::new(graph).unwrap(), quantity, from, to }
}

fn cases() -> Vec<Case> {
    let mut cases = vec![
        case(Constant::exact(Tensor::vector(ramp(5))), &[]),
        case(Affine::dense(ramp(12), 4, 3, ramp(4)).unwrap(), &[(&[3], -2.0, 2.0)]),
        case(
            Affine::new(
                vec![
                    Matrix::diagonal(&ramp(4)),
                    Matrix::sparse(2, vec![vec![(0, 0.1)], vec![], vec![(1, 3.0)], vec![]]),
                ],
                ramp(4),
                vec![2, 2],
            )
            .unwrap(),
            &[(&[2, 2], -2.0, 2.0), (&[2], -1.0, 1.0)],
        ),
        case(conv(&[3, 2, 2], true, Window::simple(vec![2]), 1), &[(&[1, 2, 5], -2.0, 2.0)]),
        case(
            conv(&[4, 1, 2, 3], false, window(&[2, 3], &[2, 1], &[1, 0, 0, 2], &[1, 2]), 2),
            &[(&[2, 2, 4, 5], -1.0, 1.0)],
        ),
        case(Softmax { axis: 1 }, &[(&[2, 3], -4.0, 4.0)]),
        case(Softmax { axis: 0 }, &[(&[2, 3], -4.0, 4.0)]),
        case(MaxPool { window: window(&[2], &[1], &[1, 0], &[1]) }, &[(&[1, 2, 5], -2.0, 2.0)]),
        case(MaxPool { window: window(&[2, 2], &[2, 1], &[0, 1, 1, 1], &[1, 1]) }, &[(&[1, 2, 4, 3], -2.0, 2.0)]),
        unary(Neg, -2.0, 2.0),
        case(Not, &[(&[4], 0.0, 1.0)]),
        case(Select, &[(&[3], 0.0, 1.0), (&[2, 3], -2.0, 2.0), (&[], -2.0, 2.0)]),
        case(ArgMax, &[(&[2, 4], -1.0, 1.0)]),
        case(Concat { axis: 1 }, &[(&[2, 1], -1.0, 1.0), (&[2, 3], -1.0, 1.0)]),
        case(
            Slice::new(vec![
                SliceRange { axis: 0, start: 2, step: -2, len: 2 },
                SliceRange { axis: 1, start: 1, step: 1, len: 2 },
            ]),
            &[(&[3, 4], -1.0, 1.0)],
        ),
        case(Gather { axis: 1, indices: vec![2, 0, 2, 1], index_shape: vec![2, 2] }, &[(&[2, 3], -1.0, 1.0)]),
        case(Reshape { shape: vec![3, 2] }, &[(&[2, 3], -1.0, 1.0)]),
        case(Transpose { perm: vec![2, 0, 1] }, &[(&[2, 3, 2], -1.0, 1.0)]),
        case(Input, &[]),
        case(flow(), &[(&[1], -2.0, 2.0), (&[1], -1.0, 1.0)]),
        case(throughout(Quantity::Truth), &[(&[1], -2.0, 2.0), (&[1], -1.0, 1.0)]),
        case(throughout(Quantity::Margin), &[(&[1], -2.0, 2.0), (&[1], -1.0, 1.0)]),
    ];
    cases.extend(Activation::examples().into_iter().map(|(activation, lo, hi)| unary(activation, lo, hi)));
    for include in [false, true] {
        let window = window(&[3], &[2], &[1, 1], &[1]);
        cases.push(case(AveragePool { window, count_include_pad: include }, &[(&[1, 2, 5], -2.0, 2.0)]));
    }
    let binaries: [Op; 8] =
        [Add.into(), Sub.into(), Mul.into(), Div.into(), Min.into(), Max.into(), And.into(), Or.into()];
    let comparisons =
        [Compare::Less, Compare::LessEqual, Compare::Greater, Compare::GreaterEqual, Compare::Equal, Compare::NotEqual];
    for op in binaries.into_iter().chain(comparisons.map(Op::Compare)) {
        let (low, high) = if op == Op::Div(Div) { (0.25, 3.0) } else { (-1.5, 2.0) };
        cases.push(case(op.clone(), &[(&[2, 3], -2.0, 2.0), (&[2, 3], low, high)]));
        cases.push(case(op, &[(&[2, 1], -2.0, 2.0), (&[3], low, high)]));
    }
    for (low, high, exponent) in
        [(-2.0, 2.0, 2.0), (-2.0, 2.0, 3.0), (0.5, 3.0, -2.0), (0.0, 3.0, 0.5), (-1.5, 1.5, 5.0)]
    {
        cases.push(case(Pow, &[(&[2, 3], low, high), (&[], exponent, exponent)]));
    }
    cases.push(case(Pow, &[(&[3], 0.2, 3.0), (&[3], -1.0, 2.0)]));
    for kind in [ReduceKind::Sum, ReduceKind::Mean, ReduceKind::Max, ReduceKind::Min, ReduceKind::Product] {
        for (axes, keep_dims) in [(vec![0], true), (vec![1], false), (vec![0, 1], false)] {
            cases.push(case(Reduce { kind, axes, keep_dims }, &[(&[2, 3], -1.5, 1.5)]));
        }
    }
    cases
}

/// The operator alone in a graph, with one input per argument.
fn graph_of(case: &Case) -> Graph {
    let mut graph = Graph::new();
    let args: Vec<_> =
        case.args.iter().enumerate().map(|(i, (shape, ..))| graph.input(&format!("x{i}"), shape)).collect();
    let result = match case.op {
        Op::Input(_) => graph.input("x", &[3]),
        _ => graph.apply(case.op.clone(), &args).unwrap(),
    };
    graph.output("y", result);
    graph
}

/// A stream of numbers in [0, 1) from a seed.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Mostly a number in the range; sometimes one of its ends or a round number, where operators have their corners.
    fn within(&mut self, lo: f64, hi: f64) -> f64 {
        match (self.next() * 8.0) as u32 {
            0 => lo,
            1 => hi,
            2 => (self.next() * (hi - lo) + lo).round().clamp(lo, hi),
            _ => self.next() * (hi - lo) + lo,
        }
    }
}

fn run<T: Real>(graph: &Graph, inputs: &[Vec<f64>], batch: usize) -> Vec<f64> {
    let inputs: Vec<Vec<T>> = inputs.iter().map(|x| x.iter().map(|&v| T::from_f64(v)).collect()).collect();
    let slices: Vec<&[T]> = inputs.iter().map(Vec::as_slice).collect();
    let evaluator = Evaluator::new(graph);
    let mut workspace = Workspace::default();
    evaluator.run(&mut workspace, &slices, batch).unwrap();
    evaluator.output(&workspace, &slices, 0).iter().map(|y| y.to_f64()).collect()
}

fn input_ranges(case: &Case) -> Vec<(usize, f64, f64)> {
    match case.op {
        Op::Input(_) => vec![(3, -1.0, 1.0)],
        _ => case.args.iter().map(|(shape, lo, hi)| (shape.iter().product(), *lo, *hi)).collect(),
    }
}

fn describe(case: &Case) -> String {
    format!("{} on {:?}", case.op.name(), case.args)
}

#[test]
fn every_operator_has_a_case() {
    let covered: Vec<String> = cases().iter().map(|case| format!("{:?}", case.op)).collect();
    for name in OPERATORS {
        let found = covered.iter().any(|shown| shown.split(|c: char| !c.is_alphanumeric()).next() == Some(name));
        assert!(found, "{name} has no case");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn enclosures_contain_samples(seed: u64) {
        let mut numbers = Numbers(seed);
        for case in cases() {
            let graph = graph_of(&case);
            let boxes: Vec<Vec<Interval>> = input_ranges(&case).iter().map(|&(count, lo, hi)| {
                (0..count).map(|_| {
                    let (a, b) = (numbers.within(lo, hi), numbers.within(lo, hi));
                    Interval::new(a.min(b), a.max(b))
                }).collect()
            }).collect();
            let slices: Vec<&[Interval]> = boxes.iter().map(Vec::as_slice).collect();
            let enclosed = enclose(&graph, &slices).unwrap();
            for _ in 0..8 {
                let point: Vec<Vec<f64>> =
                    boxes.iter().map(|b| b.iter().map(|x| numbers.within(x.lo, x.hi)).collect()).collect();
                for (y, interval) in run::<f64>(&graph, &point, 1).into_iter().zip(&enclosed[0]) {
                    // The sample itself is rounded; the interval is not allowed to be wrong by more than that.
                    let rounding = 1e-14 * (1.0 + y.abs());
                    prop_assert!(interval.widen(rounding).contains(y), "{}: {y} is not in {interval}", describe(&case));
                }
            }
        }
    }

    #[test]
    fn enclosure_of_a_point_is_as_wide_as_rounding(seed: u64) {
        let mut numbers = Numbers(seed);
        for case in cases() {
            let graph = graph_of(&case);
            let point: Vec<Vec<Interval>> = input_ranges(&case).iter().map(|&(count, lo, hi)| {
                (0..count).map(|_| Interval::point(numbers.within(lo, hi))).collect()
            }).collect();
            let slices: Vec<&[Interval]> = point.iter().map(Vec::as_slice).collect();
            for y in &enclose(&graph, &slices).unwrap()[0] {
                prop_assert!(y.width() <= 1e-12 * (1.0 + y.magnitude()), "{}: {y}", describe(&case));
            }
        }
    }

    #[test]
    fn single_and_double_precision_agree(seed: u64) {
        let mut numbers = Numbers(seed);
        for case in cases() {
            let graph = graph_of(&case);
            // Values that both precisions hold exactly, so that jumps fall on the same side.
            let point: Vec<Vec<f64>> = input_ranges(&case).iter().map(|&(count, lo, hi)| {
                (0..count).map(|_| f64::from(numbers.within(lo, hi) as f32)).collect()
            }).collect();
            let (single, double) = (run::<f32>(&graph, &point, 1), run::<f64>(&graph, &point, 1));
            for (a, b) in single.iter().zip(&double) {
                prop_assert!((a - b).abs() <= 1e-5 * (1.0 + b.abs()), "{}: {a} and {b}", describe(&case));
            }
        }
    }

    #[test]
    fn a_point_does_not_depend_on_its_batch(seed: u64, batch in 2usize..40) {
        let mut numbers = Numbers(seed);
        for case in cases() {
            let graph = graph_of(&case);
            let ranges = input_ranges(&case);
            let many: Vec<Vec<f64>> = ranges.iter().map(|&(count, lo, hi)| {
                (0..count * batch).map(|_| numbers.within(lo, hi)).collect()
            }).collect();
            let all = run::<f32>(&graph, &many, batch);
            for b in [0, batch / 2, batch - 1] {
                let one: Vec<Vec<f64>> =
                    many.iter().map(|x| x.iter().skip(b).step_by(batch).copied().collect()).collect();
                let alone = run::<f32>(&graph, &one, 1);
                let together: Vec<f64> = all.iter().skip(b).step_by(batch).copied().collect();
                prop_assert_eq!(alone, together, "{} in a batch of {}", describe(&case), batch);
            }
        }
    }
}

#[test]
fn partial_functions_conclude_nothing_outside_of_their_domain() {
    let straddling = Interval::new(-1.0, 1.0);
    assert_eq!(straddling.sqrt(), Interval::ENTIRE);
    assert_eq!(straddling.ln(), Interval::ENTIRE);
    assert_eq!(Interval::ONE / straddling, Interval::ENTIRE);
    assert_eq!(straddling.pow(Interval::point(0.5)), Interval::ENTIRE);
    assert_eq!(straddling.powi(-1), Interval::ENTIRE);
}

#[test]
fn ties_of_argmax_go_to_the_first() {
    let mut graph = Graph::new();
    let x = graph.input("x", &[3]);
    let y = graph.apply(ArgMax, &[x]).unwrap();
    graph.output("y", y);
    assert_eq!(run::<f64>(&graph, &[vec![1.0, 2.0, 2.0]], 1), [0.0, 1.0, 0.0]);
    let point: Vec<Interval> = [1.0, 2.0, 2.0].map(Interval::point).to_vec();
    assert_eq!(enclose(&graph, &[&point]).unwrap()[0], [Interval::ZERO, Interval::ONE, Interval::ZERO]);
}
