//! Files at the edges: empty tensors, numbers without axes, divisions by zero in shapes, crossed bounds; and whatever
//! fuzzing found. Each must be refused or load, and what loads must evaluate.

use crate::cases::data_folder;
use certus_graph::canonical::canonicalize;
use certus_graph::eval::{enclose, evaluate};
use certus_graph::import::load_onnx;
use certus_graph::{Graph, Interval};

#[test]
fn regressions_stay_fixed() {
    let folder = data_folder().join("regressions");
    let mut accepted = 0;
    for entry in std::fs::read_dir(&folder).expect("the folder is there") {
        let path = entry.expect("the folder can be listed").path();
        let bytes = std::fs::read(&path).expect("the file can be read");
        if let Ok(graph) = load_onnx(&bytes, None) {
            evaluate_small(&graph);
            if let Ok(canonical) = canonicalize(&graph) {
                evaluate_small(&canonical);
            }
            accepted += 1;
        }
    }
    assert!(accepted >= 4, "nearly all are refused, so evaluation is not tried");
}

/// Evaluates a graph at zero and encloses it around, unless it is too large for a test.
fn evaluate_small(graph: &Graph) {
    let elements: usize = graph.ids().map(|id| graph.elements(id)).sum();
    if elements > 100_000 {
        return;
    }
    let sizes: Vec<usize> = graph.inputs().iter().map(|port| graph.elements(port.node)).collect();
    let zeros: Vec<Vec<f64>> = sizes.iter().map(|&size| vec![0.0; size]).collect();
    let boxes: Vec<Vec<Interval>> = sizes.iter().map(|&size| vec![Interval::new(-1.0, 1.0); size]).collect();
    let values = evaluate::<f64>(graph, &zeros.iter().map(Vec::as_slice).collect::<Vec<_>>()).expect("sizes fit");
    let bounds = enclose(graph, &boxes.iter().map(Vec::as_slice).collect::<Vec<_>>()).expect("sizes fit");
    assert_eq!(values.iter().map(Vec::len).sum::<usize>(), bounds.iter().map(Vec::len).sum::<usize>());
}
