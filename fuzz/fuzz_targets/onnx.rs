//! Any bytes as an ONNX file: import must not panic, and what it accepts must be sound.
//!
//! A small accepted network is evaluated at a point and enclosed over that point and over a box around it, before and
//! after it was brought into canonical form. All four enclosures contain the exact value at the point, so any two of
//! them must meet.

#![no_main]

use certus_graph::canonical::canonicalize;
use certus_graph::eval::{enclose, evaluate};
use certus_graph::import::load_onnx;
use certus_graph::ops::Op;
use certus_graph::{Graph, Interval};
use libfuzzer_sys::fuzz_target;

/// Larger networks are imported but not evaluated.
const MAX_COST: usize = 200_000;

fuzz_target!(|bytes: &[u8]| {
    let Ok(graph) = load_onnx(bytes, None) else { return };
    if cost(&graph) > MAX_COST {
        return;
    }
    let sizes: Vec<usize> = graph.inputs().iter().map(|port| graph.elements(port.node)).collect();
    let point: Vec<Vec<f64>> =
        sizes.iter().map(|&size| (0..size).map(|i| 0.25 - (i % 5) as f64 / 8.0).collect()).collect();
    let narrow: Vec<Vec<f32>> = point.iter().map(|input| input.iter().map(|&x| x as f32).collect()).collect();
    evaluate(&graph, &slices(&point)).expect("the inputs fit");
    evaluate(&graph, &slices(&narrow)).expect("the inputs fit");
    let at_point: Vec<Vec<Interval>> =
        point.iter().map(|input| input.iter().map(|&x| Interval::point(x)).collect()).collect();
    let around: Vec<Vec<Interval>> =
        point.iter().map(|input| input.iter().map(|&x| Interval::new(x - 0.5, x + 1.0)).collect()).collect();
    let mut enclosures = Vec::new();
    enclosures.push(enclose(&graph, &slices(&at_point)).expect("the inputs fit"));
    enclosures.push(enclose(&graph, &slices(&around)).expect("the inputs fit"));
    if let Ok(canonical) = canonicalize(&graph)
        && cost(&canonical) <= MAX_COST
    {
        evaluate(&canonical, &slices(&point)).expect("the inputs fit");
        enclosures.push(enclose(&canonical, &slices(&at_point)).expect("the inputs fit"));
        enclosures.push(enclose(&canonical, &slices(&around)).expect("the inputs fit"));
    }
    for other in &enclosures[1..] {
        for (a, b) in enclosures[0].iter().flatten().zip(other.iter().flatten()) {
            assert!(a.lo <= b.hi && b.lo <= a.hi, "{a} and {b} should contain the same value");
        }
    }
});

fn slices<T>(values: &[Vec<T>]) -> Vec<&[T]> {
    values.iter().map(Vec::as_slice).collect()
}

/// Roughly the operations of one evaluation.
fn cost(graph: &Graph) -> usize {
    let of_node = |id| {
        let elements: usize = graph.elements(id);
        let per_element = match &graph.node(id).op {
            Op::Conv(conv) => conv.weight().len() / conv.weight().shape()[0].max(1),
            Op::MaxPool(pool) => pool.window.size(),
            Op::AveragePool(pool) => pool.window.size(),
            Op::Affine(affine) => affine.matrices().iter().map(|matrix| matrix.columns()).sum(),
            Op::Softmax(_) | Op::ArgMax(_) => elements,
            _ => 1,
        };
        elements.saturating_mul(per_element.max(1))
    };
    graph.ids().map(of_node).fold(0, usize::saturating_add)
}
