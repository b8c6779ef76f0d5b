//! Gradients against differences of values.

use certus_graph::canonical::canonicalize;
use certus_graph::eval::evaluate;
use certus_graph::lower::lower;
use certus_graph::ops::*;
use certus_graph::{Graph, NodeId, Tensor};
use proptest::prelude::*;

use super::{layer, signed};
use crate::attack::gradient::Gradient;
use certus_numerics::Random;

/// The gradient of a graph's first output's element at some points (element-major) by the first input.
fn gradient(graph: &Graph, element: usize, points: &[f64], batch: usize) -> Vec<f64> {
    let gradient: Gradient<f64> = Gradient::new(graph);
    let mut tape = gradient.tape(batch);
    tape.node_mut(gradient.inputs()[0]).copy_from_slice(points);
    gradient.forward(&mut tape);
    gradient.clear(&mut tape);
    tape.adjoints_mut(graph.outputs()[0].node.index(), element).fill(1.0);
    gradient.backward(&mut tape);
    tape.node_adjoints(gradient.inputs()[0]).to_vec()
}

/// Compares the gradient at random points with differences; returns how many slopes could be compared, as differences
/// say nothing beside a breakpoint or a jump.
fn compare(graph: &Graph, numbers: &mut Random) -> usize {
    const BATCH: usize = 5;
    const STEP: f64 = 1e-6;
    let inputs = graph.elements(graph.inputs()[0].node);
    let points: Vec<f64> = (0..inputs * BATCH).map(|_| signed(numbers)).collect();
    let elements = graph.elements(graph.outputs()[0].node);
    let element = (numbers.bits() % elements as u64) as usize;
    let slopes = gradient(graph, element, &points, BATCH);
    let mut compared = 0;
    for point in 0..BATCH {
        let x: Vec<f64> = points.iter().skip(point).step_by(BATCH).copied().collect();
        for input in 0..inputs {
            let value = |step: f64| {
                let mut moved = x.clone();
                moved[input] += step;
                evaluate(graph, &[&moved]).unwrap()[0][element]
            };
            let (below, at, above) = (value(-STEP), value(0.0), value(STEP));
            let (left, right) = ((at - below) / STEP, (above - at) / STEP);
            let size = 1.0 + left.abs();
            if (left - right).abs() > 1e-3 * size {
                continue;
            }
            let slope = slopes[input * BATCH + point];
            assert!((slope - (left + right) / 2.0).abs() <= 1e-3 * size, "{slope} against {left} and {right}");
            compared += 1;
        }
    }
    compared
}

/// A graph that applies something to a layer on three inputs; the layer's values are positive.
fn on_positive(numbers: &mut Random, build: impl Fn(&mut Graph, NodeId) -> NodeId) -> Graph {
    let mut graph = Graph::new();
    let x = graph.input("x", &[3]);
    let weights = (0..12).map(|_| signed(numbers) / 4.0).collect();
    let y = graph.apply(Affine::dense(weights, 4, 3, vec![1.25; 4]).unwrap(), &[x]).unwrap();
    let z = build(&mut graph, y);
    let out = layer(&mut graph, z, 2, numbers);
    graph.output("y", out);
    graph
}

fn lowered(graph: &Graph) -> Graph {
    lower(&canonicalize(graph).unwrap()).unwrap()
}

#[test]
fn every_curve_has_its_slope() {
    let curves: Vec<(Op, bool)> = vec![
        (Relu.into(), false),
        (LeakyRelu { alpha: 0.1 }.into(), false),
        (Clip { lower: -0.5, upper: 0.75 }.into(), false),
        (Tanh.into(), false),
        (Sigmoid.into(), false),
        (Elu { alpha: 0.7 }.into(), false),
        (Softplus.into(), false),
        (Abs.into(), false),
        (Exp.into(), false),
        (Sin.into(), false),
        (Cos.into(), false),
        (Sqrt.into(), true),
        (Log.into(), true),
    ];
    let mut numbers = Random::with_state(1);
    for (op, positive) in curves {
        let graph = on_positive(&mut numbers, |graph, y| {
            let shift = graph.scalar(if positive { 0.0 } else { -1.25 });
            let y = graph.apply(Add, &[y, shift]).unwrap();
            graph.apply(op.clone(), &[y]).unwrap()
        });
        assert!(compare(&lowered(&graph), &mut numbers) >= 10, "{op:?}");
    }
    for exponent in [2.0, 3.0, -1.0, 0.5, 2.7] {
        let graph = on_positive(&mut numbers, |graph, y| {
            let exponent = graph.scalar(exponent);
            graph.apply(Pow, &[y, exponent]).unwrap()
        });
        assert!(compare(&lowered(&graph), &mut numbers) >= 10, "power {exponent}");
    }
    let reciprocal = on_positive(&mut numbers, |graph, y| {
        let one = graph.scalar(1.0);
        graph.apply(Div, &[one, y]).unwrap()
    });
    assert!(compare(&lowered(&reciprocal), &mut numbers) >= 10);
}

#[test]
fn operators_that_lowering_rewrites_have_gradients() {
    let mut numbers = Random::with_state(2);
    let softmax = on_positive(&mut numbers, |graph, y| graph.apply(Softmax { axis: 0 }, &[y]).unwrap());
    assert!(compare(&lowered(&softmax), &mut numbers) >= 10);
    let quotient = on_positive(&mut numbers, |graph, y| {
        let turned = graph.apply(Gather { axis: 0, indices: vec![3, 2, 1, 0], index_shape: vec![4] }, &[y]).unwrap();
        let quotient = graph.apply(Div, &[y, turned]).unwrap();
        graph.apply(Max, &[quotient, turned]).unwrap()
    });
    assert!(compare(&lowered(&quotient), &mut numbers) >= 10);
}

#[test]
fn jumps_point_to_their_other_side() {
    for (op, at, sign) in [(Compare::Greater, -2.0, 1.0), (Compare::LessEqual, 3.0, -1.0), (Compare::Less, -1.0, -1.0)]
    {
        let mut graph = Graph::new();
        let x = graph.input("x", &[1]);
        let zero = graph.constant(Tensor::vector(vec![0.0]));
        let y = graph.apply(op, &[x, zero]).unwrap();
        graph.output("y", y);
        let slope = gradient(&graph, 0, &[at], 1)[0];
        assert!(slope * sign > 0.0, "{op:?} at {at}: {slope}");
    }
    let mut graph = Graph::new();
    let x = graph.input("x", &[1]);
    let y = graph.apply(Floor, &[x]).unwrap();
    graph.output("y", y);
    assert_eq!(gradient(&graph, 0, &[0.3], 1), [1.0]);
}

/// One random node on top of one or two of the nodes so far, all of which have six elements.
fn grow(graph: &mut Graph, nodes: &[NodeId], numbers: &mut Random) -> NodeId {
    let mut pick = || nodes[(numbers.bits() % nodes.len() as u64) as usize];
    let (a, b) = (pick(), pick());
    let shaped =
        |graph: &mut Graph, id: NodeId, shape: &[usize]| graph.apply(Reshape { shape: shape.to_vec() }, &[id]).unwrap();
    match numbers.bits() % 9 {
        0 => graph.apply(Mul, &[a, b]).unwrap(),
        1 => graph.apply(Tanh, &[a]).unwrap(),
        2 => {
            let table = shaped(graph, a, &[2, 3]);
            let turned = graph.apply(Transpose { perm: vec![1, 0] }, &[table]).unwrap();
            shaped(graph, turned, &[6])
        }
        3 => graph.apply(Gather { axis: 0, indices: vec![5, 0, 0, 2, 1, 1], index_shape: vec![6] }, &[a]).unwrap(),
        4 => {
            let half = |start: usize| Slice::new(vec![SliceRange { axis: 0, start, step: 2, len: 3 }]);
            let (first, second) = (graph.apply(half(1), &[a]).unwrap(), graph.apply(half(0), &[b]).unwrap());
            graph.apply(Concat { axis: 0 }, &[first, second]).unwrap()
        }
        5 => {
            let rows = (0..6).map(|row| vec![(row, 0.5), ((row * 2 + 1) % 6, -1.5)]);
            let rows = rows.map(|mut row: Vec<(usize, f64)>| {
                row.dedup_by_key(|(column, _)| *column);
                row
            });
            let sparse = Matrix::sparse(6, rows);
            let dense = Matrix::dense(6, 6, (0..36).map(|_| signed(numbers) / 2.0).collect());
            graph.apply(Affine::new(vec![sparse, dense], vec![0.1; 6], vec![6]).unwrap(), &[a, b]).unwrap()
        }
        6 => graph.apply(Sin, &[a]).unwrap(),
        7 => graph.apply(Sigmoid, &[a]).unwrap(),
        _ => layer(graph, a, 6, numbers),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn random_graphs_have_their_gradients(seed: u64) {
        let mut numbers = Random::with_state(seed);
        let mut graph = Graph::new();
        let mut nodes = vec![graph.input("x", &[6])];
        for _ in 0..8 {
            let node = grow(&mut graph, &nodes, &mut numbers);
            nodes.push(node);
        }
        graph.output("y", nodes[8]);
        // As it stands, so that movements and sparse matrices are met as they are, and lowered.
        prop_assert!(compare(&graph, &mut numbers) > 0);
        prop_assert!(compare(&lowered(&graph), &mut numbers) > 0);
    }
}
