//! Affine forms against samples, and where they must be exact.

use certus_graph::canonical::canonicalize;
use certus_graph::eval::enclose;
use certus_graph::lower::lower;
use certus_graph::ops::{
    Abs, Add, Affine, Clip, Compare, Concat, Cos, Div, Elu, Exp, Floor, LeakyRelu, Log, Mul, Op, Pow, Relu, Sigmoid,
    Sin, Slice, SliceRange, Softplus, Sqrt, Sub, Tanh,
};
use certus_graph::{Graph, NodeId};
use proptest::prelude::*;

use super::*;
use crate::bound::forward::enclose_node;
use crate::bound::refine::{Refinement, Subdomain, bound_subdomains};

/// Numbers in [-1, 1) from a seed.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }

    fn below(&mut self, count: usize) -> usize {
        ((self.next() + 1.0) / 2.0 * count as f64) as usize
    }
}

const INPUTS: usize = 3;

fn dense(graph: &mut Graph, x: NodeId, rows: usize, numbers: &mut Numbers) -> NodeId {
    let columns = graph.elements(x);
    let weights = (0..rows * columns).map(|_| numbers.next()).collect();
    let bias = (0..rows).map(|_| numbers.next()).collect();
    graph.apply(Affine::dense(weights, rows, columns, bias).unwrap(), &[x]).unwrap()
}

/// One node more: a layer, a curve, a product, a sum or a movement of two nodes that there are.
fn grow(graph: &mut Graph, nodes: &[NodeId], numbers: &mut Numbers) -> NodeId {
    let x = nodes[nodes.len() - 1 - numbers.below(nodes.len().min(3))];
    let y = nodes[numbers.below(nodes.len())];
    let curves: [Op; 16] = [
        Relu.into(),
        LeakyRelu { alpha: 0.1 }.into(),
        LeakyRelu { alpha: 1.5 }.into(),
        Clip { lower: -0.5, upper: 0.5 }.into(),
        Tanh.into(),
        Sigmoid.into(),
        Elu { alpha: 1.0 }.into(),
        Softplus.into(),
        Abs.into(),
        Sqrt.into(),
        Exp.into(),
        Log.into(),
        Sin.into(),
        Cos.into(),
        Floor.into(),
        Relu.into(),
    ];
    match numbers.below(12) {
        0..=3 => {
            let rows = 1 + numbers.below(5);
            dense(graph, x, rows, numbers)
        }
        4..=7 => graph.apply(curves[numbers.below(curves.len())].clone(), &[x]).unwrap(),
        8 => {
            let rows = graph.elements(x);
            let y = if numbers.below(4) == 0 { x } else { dense(graph, y, rows, numbers) };
            graph.apply(Mul, &[x, y]).unwrap()
        }
        9 => {
            let rows = graph.elements(x);
            let y = dense(graph, y, rows, numbers);
            let op: Op = if numbers.below(2) == 0 { Add.into() } else { Sub.into() };
            graph.apply(op, &[x, y]).unwrap()
        }
        10 => {
            let joined = graph.apply(Concat { axis: 0 }, &[x, y]).unwrap();
            let len = 1 + numbers.below(graph.elements(joined));
            graph.apply(Slice::new(vec![SliceRange { axis: 0, start: 0, step: 1, len }]), &[joined]).unwrap()
        }
        _ => {
            let constant = graph.scalar([2.0, 3.0, -1.0, 0.0, 1.0][numbers.below(5)]);
            match numbers.below(3) {
                0 => graph.apply(Pow, &[x, constant]).unwrap(),
                1 => {
                    let one = graph.scalar(1.0);
                    graph.apply(Div, &[one, x]).unwrap()
                }
                _ => {
                    let zero = graph.scalar(0.0);
                    graph.apply(Compare::Less, &[x, zero]).unwrap()
                }
            }
        }
    }
}

/// A graph of which every node is an output.
fn any_graph(numbers: &mut Numbers, size: usize) -> Graph {
    let mut graph = Graph::new();
    let mut nodes = vec![graph.input("x", &[INPUTS])];
    for place in 0..size {
        let node = grow(&mut graph, &nodes, numbers);
        graph.output(&format!("y{place}"), node);
        nodes.push(node);
    }
    graph
}

fn program_of(graph: &Graph) -> Program {
    Program::new(lower(&canonicalize(graph).unwrap()).unwrap())
}

/// Boxes with sides from 1e-12 to 10, some of no width.
fn any_boxes(numbers: &mut Numbers, count: usize) -> Vec<(Vec<f64>, Vec<f64>)> {
    let mut side = || {
        let centre = 2.0 * numbers.next();
        let width = if numbers.below(8) == 0 { 0.0 } else { 10f64.powf(6.5 * numbers.next() - 5.5) };
        (centre - width / 2.0, centre + width / 2.0)
    };
    (0..count).map(|_| (0..INPUTS).map(|_| side()).unzip()).collect()
}

/// Bounds by intervals, and by affine forms with so many symbols.
fn bounds_of(program: &Program, boxes: &[(Vec<f64>, Vec<f64>)], symbols: Option<usize>) -> Bounds {
    let free: Vec<bool> =
        (0..program.inputs).map(|input| boxes.iter().any(|(low, high)| low[input] < high[input])).collect();
    let mut forms = symbols.map(|symbols| Zonotopes::new(program, &free, boxes.len(), symbols));
    let mut bounds = Bounds::new(program.roles.len(), boxes.len());
    let mut scratch = Vec::new();
    for node in 0..program.roles.len() {
        if let Role::Input(offset) = program.roles[node] {
            let inputs = offset..offset + program.sizes[node];
            bounds.lower[node] =
                inputs.clone().flat_map(|i| boxes.iter().map(move |subproblem| subproblem.0[i])).collect();
            bounds.upper[node] = inputs.flat_map(|i| boxes.iter().map(move |subproblem| subproblem.1[i])).collect();
        } else {
            enclose_node(program, &mut bounds, node, &mut scratch);
        }
        if let Some(forms) = &mut forms {
            forms.advance(program, &mut bounds, node, &mut scratch);
        }
    }
    bounds
}

/// Checks that bounds contain what a graph's outputs are at points of the boxes.
fn check(graph: &Graph, program: &Program, boxes: &[(Vec<f64>, Vec<f64>)], bounds: &Bounds, numbers: &mut Numbers) {
    for (index, (low, high)) in boxes.iter().enumerate() {
        assert!(!bounds.empty[index], "a box with points in it is not empty");
        for _ in 0..20 {
            let at_corner = numbers.below(2) == 0;
            let ends = low.iter().zip(high);
            let point: Vec<Interval> = ends
                .map(|(&low, &high)| {
                    let share = (numbers.next() + 1.0) / 2.0;
                    let share = if at_corner { share.round() } else { share };
                    Interval::point(if share >= 1.0 { high } else { (low + share * (high - low)).clamp(low, high) })
                })
                .collect();
            let values = enclose(graph, &[&point]).unwrap();
            for (port, values) in program.graph.outputs().iter().zip(values) {
                let node = port.node.index();
                for (element, value) in values.into_iter().enumerate() {
                    let range = bounds.interval(node, element, index);
                    assert!(
                        range.lo <= value.hi && value.lo <= range.hi,
                        "{} element {element}: {value:?} at {point:?} is outside {range:?}",
                        port.name
                    );
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn forms_contain_samples(seed: u64, size in 1usize..14, symbols in prop_oneof![0usize..6, Just(60)]) {
        let mut numbers = Numbers(seed);
        let graph = any_graph(&mut numbers, size);
        let program = program_of(&graph);
        let boxes = any_boxes(&mut numbers, 3);
        let bounds = bounds_of(&program, &boxes, Some(symbols));
        check(&graph, &program, &boxes, &bounds, &mut numbers);
    }

    #[test]
    fn refinement_after_forms_contains_samples(seed: u64, size in 1usize..14) {
        let mut numbers = Numbers(seed);
        let graph = any_graph(&mut numbers, size);
        let program = program_of(&graph);
        let boxes = any_boxes(&mut numbers, 3);
        let subdomains: Vec<Subdomain<'_>> = boxes
            .iter()
            .map(|(lower, upper)| Subdomain { lower, upper, ranges: Vec::new(), inherited: None })
            .collect();
        let bounds = bound_subdomains(&program, &subdomains, Refinement::Forward, &|| false).unwrap();
        check(&graph, &program, &boxes, &bounds, &mut numbers);
    }

    #[test]
    fn affine_graphs_are_bounded_exactly(seed: u64, layers in 2usize..6) {
        let mut numbers = Numbers(seed);
        let mut graph = Graph::new();
        let mut x = graph.input("x", &[INPUTS]);
        let first = x;
        for _ in 0..layers {
            let skip = dense(&mut graph, first, 4, &mut numbers);
            let joined = graph.apply(Concat { axis: 0 }, &[x, skip]).unwrap();
            let far = dense(&mut graph, joined, 4, &mut numbers);
            let shift = graph.scalar(-100.0);
            let shifted = graph.apply(Sub, &[far, shift]).unwrap();
            // Straight over what it reads, and so no reason to lose anything.
            x = graph.apply(Relu, &[shifted]).unwrap();
            let back = graph.scalar(100.0);
            x = graph.apply(Sub, &[x, back]).unwrap();
        }
        graph.output("y", x);
        let program = program_of(&graph);
        let boxes = vec![(vec![-0.5; INPUTS], vec![0.5; INPUTS])];
        let bounds = bounds_of(&program, &boxes, Some(0));
        let value = |point: &[f64]| certus_graph::eval::evaluate::<f64>(&graph, &[point]).unwrap().remove(0);
        let origin = value(&[0.0; INPUTS]);
        let node = program.graph.outputs()[0].node.index();
        for (element, &middle) in origin.iter().enumerate() {
            let reach: f64 = (0..INPUTS)
                .map(|input| {
                    let mut point = [0.0; INPUTS];
                    point[input] = 0.5;
                    (value(&point)[element] - middle).abs()
                })
                .sum();
            let range = bounds.interval(node, element, 0);
            prop_assert!((range.hi - (middle + reach)).abs() < 1e-9, "{range:?} for {middle} + {reach}");
            prop_assert!((range.lo - (middle - reach)).abs() < 1e-9, "{range:?} for {middle} - {reach}");
        }
    }
}

/// The bounds of the only output over [-1, 1], by intervals and by forms with so many symbols.
fn both(build: impl FnOnce(&mut Graph, NodeId) -> NodeId, symbols: usize) -> (Interval, Interval) {
    let mut graph = Graph::new();
    let x = graph.input("x", &[1]);
    let y = build(&mut graph, x);
    graph.output("y", y);
    let program = program_of(&graph);
    let boxes = vec![(vec![-1.0], vec![1.0])];
    let node = program.graph.outputs()[0].node.index();
    let range = |symbols| bounds_of(&program, &boxes, symbols).interval(node, 0, 0);
    (range(None), range(Some(symbols)))
}

fn near(range: Interval, lo: f64, hi: f64) -> bool {
    (range.lo - lo).abs() < 1e-12 && (range.hi - hi).abs() < 1e-12
}

#[test]
fn a_kink_has_the_band_along_its_chord() {
    let build = |graph: &mut Graph, x: NodeId| {
        let y = graph.apply(Relu, &[x]).unwrap();
        let half = graph.scalar(0.5);
        let half_x = graph.apply(Mul, &[x, half]).unwrap();
        graph.apply(Sub, &[y, half_x]).unwrap()
    };
    let (interval, form) = both(build, 4);
    assert!(near(interval, -0.5, 1.5), "{interval:?}");
    assert!(near(form, 0.0, 0.5), "{form:?}");
}

#[test]
fn symbols_of_bands_cancel_and_dissolved_ones_do_not() {
    // relu(x) + tanh(x) - relu(x), with the two uses of relu(x) apart.
    let build = |graph: &mut Graph, x: NodeId| {
        let y = graph.apply(Relu, &[x]).unwrap();
        let z = graph.apply(Tanh, &[x]).unwrap();
        let sum = graph.apply(Add, &[y, z]).unwrap();
        graph.apply(Sub, &[sum, y]).unwrap()
    };
    let (_, with) = both(build, 4);
    let (_, without) = both(build, 0);
    assert!(with.width() <= 2.0 * 1f64.tanh() + 0.2, "{with:?}");
    assert!(without.encloses(with), "{without:?} {with:?}");
}

#[test]
fn a_product_keeps_its_linear_part() {
    // (x + 3)·(x + 3) − 6x = x² + 9.
    let build = |graph: &mut Graph, x: NodeId| {
        let three = graph.scalar(3.0);
        let shifted = graph.apply(Add, &[x, three]).unwrap();
        let square = graph.apply(Mul, &[shifted, shifted]).unwrap();
        let six = graph.scalar(6.0);
        let linear = graph.apply(Mul, &[x, six]).unwrap();
        graph.apply(Sub, &[square, linear]).unwrap()
    };
    let (interval, form) = both(build, 4);
    assert!(interval.width() > 20.0, "{interval:?}");
    // As a square or as a power: within the band of the parabola.
    assert!(form.encloses(Interval::new(9.0, 10.0)) && form.width() < 2.0 + 1e-9, "{form:?}");
}

#[test]
fn infinite_inputs_stay_infinite_and_harm_nobody_else() {
    let mut graph = Graph::new();
    let x = graph.input("x", &[2]);
    let sum = Affine::dense(vec![1.0, 0.0, 1.0, 1.0], 2, 2, vec![0.0, 0.0]).unwrap();
    let y = graph.apply(sum, &[x]).unwrap();
    let y = graph.apply(Tanh, &[y]).unwrap();
    graph.output("y", y);
    let program = program_of(&graph);
    let boxes = vec![(vec![-1.0, f64::NEG_INFINITY], vec![1.0, f64::INFINITY]), (vec![0.0, 0.0], vec![1.0, 1.0])];
    let bounds = bounds_of(&program, &boxes, Some(8));
    let node = program.graph.outputs()[0].node.index();
    assert!(bounds.interval(node, 1, 0).encloses(Interval::new(-1.0, 1.0)));
    assert!(bounds.interval(node, 1, 1).width() < 1.0);
}

#[test]
fn what_rounding_swallows_is_error() {
    // 1e16·x + y − 1e16·z at a point where the sum is 1, which no order of rounded sums from the left gives.
    let mut graph = Graph::new();
    let x = graph.input("x", &[3]);
    let sum = Affine::dense(vec![1e16, 1.0, -1e16], 1, 3, vec![0.0]).unwrap();
    let y = graph.apply(sum, &[x]).unwrap();
    graph.output("y", y);
    let program = program_of(&graph);
    let node = program.graph.outputs()[0].node.index();
    for half in [0.0, 1e-20] {
        let boxes = vec![(vec![1.0, 1.0 - half, 1.0], vec![1.0, 1.0 + half, 1.0])];
        let bounds = bounds_of(&program, &boxes, Some(4));
        assert!(!bounds.empty[0]);
        let range = bounds.interval(node, 0, 0);
        assert!(range.contains(1.0), "{range:?}");
    }
}
