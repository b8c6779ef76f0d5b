//! Affine forms against samples.

use certus_graph::ops::{Add, Cos, Mul, Relu, Sigmoid, Sin, Sub, Tanh};
use proptest::prelude::*;

use super::*;

/// relu(x − y) + sin(x)·y − x·x + tanh(2x)·cos(y) + sigmoid(x), in which x occurs again and again.
pub(crate) fn sample() -> Graph {
    let mut graph = Graph::new();
    let x = graph.input("x", &[1]);
    let y = graph.input("y", &[1]);
    let mut apply = |op: certus_graph::Op, arguments: &[certus_graph::NodeId]| graph.apply(op, arguments).unwrap();
    let difference = apply(Sub.into(), &[x, y]);
    let relu = apply(Relu.into(), &[difference]);
    let wave = apply(Sin.into(), &[x]);
    let product = apply(Mul.into(), &[wave, y]);
    let square = apply(Mul.into(), &[x, x]);
    let twice = apply(Add.into(), &[x, x]);
    let (flat, shift) = (apply(Tanh.into(), &[twice]), apply(Cos.into(), &[y]));
    let second = apply(Mul.into(), &[flat, shift]);
    let last = apply(Sigmoid.into(), &[x]);
    let sum = apply(Add.into(), &[relu, product]);
    let sum = apply(Sub.into(), &[sum, square]);
    let sum = apply(Add.into(), &[sum, second]);
    let all = apply(Add.into(), &[sum, last]);
    graph.output("f", all);
    graph
}

pub(crate) fn value(x: f64, y: f64) -> f64 {
    (x - y).max(0.0) + x.sin() * y - x * x + (2.0 * x).tanh() * y.cos() + 1.0 / (1.0 + (-x).exp())
}

proptest! {
    #[test]
    fn ranges_contain_samples(
        corner in prop::array::uniform2(-3.0..3.0f64),
        width in prop::array::uniform2(prop_oneof![0.0..1e-3f64, 0.0..1.0f64]),
    ) {
        let ranges = AffineForms::new(&sample()).unwrap();
        let (low, high) = (corner, [corner[0] + width[0], corner[1] + width[1]]);
        // Two boxes, so that the order of the elements matters.
        let lower = [low[0], 0.0, low[1], 0.0];
        let upper = [high[0], 1.0, high[1], 1.0];
        for forms in [Symbols::None, Symbols::Inputs(1), Symbols::Inputs(2)] {
            let found = ranges.enclose(&lower, &upper, 2, forms);
            for (i, j) in (0..=8).flat_map(|i| (0..=8).map(move |j| (f64::from(i) / 8.0, f64::from(j) / 8.0))) {
                for (index, (x, y)) in
                    [(low[0] + i * (high[0] - low[0]), low[1] + j * (high[1] - low[1])), (i, j)].into_iter().enumerate()
                {
                    let f = value(x, y);
                    let (below, above) = (found.lower[index], found.upper[index]);
                    prop_assert!(below <= f + 1e-13 && f - 1e-13 <= above, "{f} not in {below}..{above}");
                    // The form itself is near the value: symbols are where the point is in its box.
                    let symbols = [2.0 * i - 1.0, 2.0 * j - 1.0];
                    let form: f64 = found.forms[index]
                        + (0..found.symbols).map(|k| found.forms[(1 + k) * 2 + index] * symbols[k]).sum::<f64>();
                    prop_assert!((form - f).abs() <= found.errors[index] * (1.0 + 1e-9) + 1e-12, "{form} for {f}");
                }
            }
        }
    }
}

#[test]
fn forms_see_that_a_number_is_taken_from_itself() {
    let mut graph = Graph::new();
    let x = graph.input("x", &[1]);
    let y = graph.input("y", &[1]);
    let difference = graph.apply(Sub, &[x, y]).unwrap();
    let relu = graph.apply(Relu, &[difference]).unwrap();
    let all = graph.apply(Sub, &[relu, x]).unwrap();
    graph.output("f", all);
    let ranges = AffineForms::new(&graph).unwrap();
    let (lower, upper) = ([1.0, 0.0], [1.1, 0.0]);
    let width = |forms| {
        let found = ranges.enclose(&lower, &upper, 1, forms);
        found.upper[0] - found.lower[0]
    };
    // x − x = 0 for y = 0 and positive x.
    assert!(width(Symbols::None) > 0.19);
    assert!(width(Symbols::Inputs(2)) < 1e-9);
}
