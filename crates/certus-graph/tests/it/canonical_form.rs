//! The canonical form computes the same function: on random graphs of all kinds of operators.

use certus_graph::canonical::canonicalize;
use certus_graph::eval::evaluate;
use certus_graph::ops::*;
use certus_graph::{Graph, Op, Tensor};
use certus_testing::sketch::{Sketch, enclose_around};
use proptest::prelude::*;

fn graphs() -> impl Strategy<Value = Graph> {
    prop::collection::vec((0u32..1000, 0u32..1000, 0u32..1000, -3.0f64..3.0), 1..25).prop_map(|steps| {
        let mut sketch = Sketch::new();
        steps.into_iter().for_each(|step| sketch.step(step));
        sketch.finish()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn values_stay_the_same_up_to_rounding(graph in graphs(), point in prop::collection::vec(-2.0f64..2.0, 10)) {
        let canonical = canonicalize(&graph).unwrap();
        let inputs = [&point[..3], &point[3..9], &point[9..]];
        let (before, after) = (evaluate(&graph, &inputs).unwrap(), evaluate(&canonical, &inputs).unwrap());
        let nearby = enclose_around(&graph, &inputs, 1e-11);
        let enclosed = enclose_around(&canonical, &inputs, 1e-11);
        let values = before.iter().flatten().zip(after.iter().flatten());
        for ((&a, &b), (near, interval)) in values.zip(nearby.iter().flatten().zip(enclosed.iter().flatten())) {
            // Next to a jump rounding may put either form on the wrong side; exact values lie in both enclosures.
            let close = (a - b).abs() <= 1e-9 * (1.0 + a.abs());
            prop_assert!(close || near.contains(b) || interval.contains(a), "{a} became {b}");
            prop_assert!(near.intersection(*interval).is_some(), "{near} and {interval} have nothing in common");
            if near.contains(a) && near.width() < 1e-6 {
                prop_assert!(interval.widen(1e-9 * (1.0 + a.abs())).contains(a), "{a} is not in {interval}");
            }
        }
    }

    #[test]
    fn it_is_stable_and_keeps_the_interface(graph in graphs()) {
        let once = canonicalize(&graph).unwrap();
        let twice = canonicalize(&once).unwrap();
        prop_assert!(twice.len() <= once.len(), "{once:?} grew to {twice:?}");
        for (before, after) in graph.inputs().iter().zip(once.inputs()) {
            prop_assert_eq!(&before.name, &after.name);
            prop_assert_eq!(graph.shape(before.node), once.shape(after.node));
        }
        for (before, after) in graph.outputs().iter().zip(once.outputs()) {
            prop_assert_eq!(&before.name, &after.name);
            prop_assert_eq!(graph.shape(before.node), once.shape(after.node));
        }
    }
}

fn operators(graph: &Graph) -> Vec<&'static str> {
    graph.nodes().iter().map(|node| node.op.name()).collect()
}

#[test]
fn a_normalised_linear_network_is_one_map() {
    let mut graph = Graph::new();
    let x = graph.input("x", &[1, 2]);
    let mean = graph.constant(Tensor::new([1, 2], vec![1.0, 2.0]).unwrap());
    let deviation = graph.constant(Tensor::new([1, 2], vec![4.0, 0.5]).unwrap());
    let centred = graph.apply(Sub, &[x, mean]).unwrap();
    let scaled = graph.apply(Div, &[centred, deviation]).unwrap();
    let flat = graph.apply(Reshape { shape: vec![2] }, &[scaled]).unwrap();
    let layer = graph.apply(Affine::dense(vec![1.0, 1.0, 0.0, 2.0], 2, 2, vec![0.0, 1.0]).unwrap(), &[flat]).unwrap();
    let factor = graph.constant(Tensor::vector(vec![2.0, 1.0]));
    let output = graph.apply(Mul, &[layer, factor]).unwrap();
    graph.output("y", output);
    let canonical = canonicalize(&graph).unwrap();
    assert_eq!(operators(&canonical), ["Input", "Affine"]);
    let Op::Affine(affine) = &canonical.nodes()[1].op else { unreachable!() };
    assert_eq!(affine.matrices()[0].to_dense(), [0.5, 4.0, 0.0, 4.0]);
    assert_eq!(affine.bias(), [-8.5, -7.0]);
    assert!(affine.error().is_none(), "every number above is exact");
}

#[test]
fn a_small_convolution_with_batch_normalisation_is_one_map() {
    let mut graph = Graph::new();
    let x = graph.input("x", &[1, 1, 4]);
    let weight = Tensor::new([2, 1, 2], vec![1.0, -1.0, 0.5, 0.25]).unwrap();
    let conv = graph.apply(Conv::new(weight, None, Window::simple(vec![2]), 1).unwrap(), &[x]).unwrap();
    let scale = graph.constant(Tensor::new([1, 2, 1], vec![3.0, -1.0]).unwrap());
    let shift = graph.constant(Tensor::new([1, 2, 1], vec![0.5, 0.0]).unwrap());
    let scaled = graph.apply(Mul, &[conv, scale]).unwrap();
    let shifted = graph.apply(Add, &[scaled, shift]).unwrap();
    let y = graph.apply(Relu, &[shifted]).unwrap();
    graph.output("y", y);
    assert_eq!(operators(&canonicalize(&graph).unwrap()), ["Input", "Affine", "Relu"]);
}

#[test]
fn rounding_of_fused_weights_is_accounted_for() {
    // 0.1 · 0.1 is not a double: the fused weight must carry its error.
    let mut graph = Graph::new();
    let x = graph.input("x", &[1]);
    let tenth = graph.scalar(0.1);
    let once = graph.apply(Mul, &[x, tenth]).unwrap();
    let twice = graph.apply(Mul, &[once, tenth]).unwrap();
    graph.output("y", twice);
    let canonical = canonicalize(&graph).unwrap();
    let Op::Affine(affine) = &canonical.nodes()[1].op else { panic!("{canonical:?}") };
    let error = affine.weight_error(0);
    assert!(error > 0.0 && error < 1e-15, "{error}");
}

#[test]
fn windows_are_absorbed_into_the_layer_that_reads_them() {
    let mut graph = Graph::new();
    let (a, b) = (graph.input("a", &[3]), graph.input("b", &[1]));
    let kept = graph.apply(Slice::of_vector(1, 2), &[a]).unwrap();
    let window = graph.apply(Concat { axis: 0 }, &[kept, b]).unwrap();
    let y = graph.apply(Affine::dense(vec![1.0, 2.0, 3.0], 1, 3, vec![0.0]).unwrap(), &[window]).unwrap();
    graph.output("y", y);
    let canonical = canonicalize(&graph).unwrap();
    assert_eq!(operators(&canonical), ["Input", "Input", "Affine"]);
    assert_eq!(evaluate(&canonical, &[&[9.0, 1.0, 10.0], &[100.0]]).unwrap(), [vec![321.0]]);
}
