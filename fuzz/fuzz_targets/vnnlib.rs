//! Any text as a VNN-LIB specification of either version: reading must not panic, and its cases must mean what the
//! assertion means.
//!
//! At a few points the assertion is decided with intervals, and so is each case. Where both are certain they must
//! agree: the assertion holds exactly where one of the cases does.

#![no_main]

use certus_graph::ops::{Affine, Relu};
use certus_graph::{Graph, Interval};
use certus_solver::formula::Formula;
use certus_solver::vnnlib::networks::{AnySpecification, Likeness, NetworkDeclaration, Role, parse_any};
use certus_solver::vnnlib::{Case, Specification, Variable};
use libfuzzer_sys::fuzz_target;

/// Larger specifications are read but not looked at.
const MAX_ELEMENTS: usize = 64;

fuzz_target!(|text: &str| match parse_any(text) {
    Err(error) => assert!(!error.to_string().is_empty(), "a refusal needs a message"),
    Ok(AnySpecification::One(specification)) => check_cases(&specification),
    Ok(AnySpecification::Two(specification)) => {
        if specification.inputs > MAX_ELEMENTS || specification.outputs > MAX_ELEMENTS {
            return;
        }
        let named = |network: &&NetworkDeclaration| !matches!(network.likeness, Some(Likeness::EqualTo(_)));
        let graphs: Vec<(&str, Graph)> =
            specification.networks.iter().filter(named).map(|network| (network.name.as_str(), stub(network))).collect();
        let borrowed: Vec<(&str, &Graph)> = graphs.iter().map(|(name, graph)| (*name, graph)).collect();
        match specification.joint(&borrowed) {
            Ok(joint) => {
                let inputs: usize = joint.graph.inputs().iter().map(|port| joint.graph.elements(port.node)).sum();
                assert_eq!(inputs, joint.specification.inputs, "the question is about the joint graph");
                check_cases(&joint.specification);
            }
            Err(error) => assert!(!error.to_string().is_empty(), "a refusal needs a message"),
        }
    }
});

/// A network with the declared tensors.
fn stub(network: &NetworkDeclaration) -> Graph {
    let mut graph = Graph::new();
    let name = |tensor: &Option<String>| tensor.clone().unwrap_or_default();
    let inputs: Vec<_> =
        network.tensors(Role::Input).map(|tensor| graph.input(&name(&tensor.onnx_name), &tensor.shape)).collect();
    let columns = graph.elements(inputs[0]);
    for tensor in network.tensors(Role::Hidden).chain(network.tensors(Role::Output)) {
        let rows = tensor.elements();
        let weights = (0..rows * columns).map(|index| (index % 5) as f64 - 2.0).collect();
        let map = Affine::dense(weights, rows, columns, vec![0.5; rows]).expect("the sizes fit");
        let map = map.reshaped(tensor.shape.clone()).expect("the sizes fit");
        let mapped = graph.apply(map, &inputs[..1]).expect("the shapes fit");
        let result = graph.apply(Relu, &[mapped]).expect("any shape fits");
        graph.output(&name(&tensor.onnx_name), result);
    }
    graph
}

fn check_cases(specification: &Specification) {
    if specification.inputs > MAX_ELEMENTS {
        return;
    }
    let Ok(cases) = specification.cases(64) else { return };
    for shift in [-1.0, 0.0, 0.5, 3.0] {
        let input = |index: usize| shift + (index % 3) as f64 / 4.0;
        let output = |index: usize| 0.75 - shift * (index % 4) as f64;
        let decide = |formula: &Formula<Variable>| {
            formula.certainty(&|variable| match *variable {
                Variable::Input(index) => Interval::point(input(index)),
                Variable::Output(index) => Interval::point(output(index)),
            })
        };
        let certain = |case: &Case| {
            let between = |lower: &[f64], upper: &[f64]| {
                lower.iter().zip(upper).enumerate().all(|(i, (&lo, &hi))| lo <= input(i) && input(i) <= hi)
            };
            if !between(&case.lower, &case.upper) {
                return Some(false);
            }
            let inside = between(&case.inner_lower, &case.inner_upper);
            decide(&case.formula).filter(|&truth| inside || !truth)
        };
        let verdicts: Vec<Option<bool>> = cases.iter().map(certain).collect();
        match decide(&specification.assertion) {
            Some(true) => assert!(!verdicts.iter().all(|verdict| *verdict == Some(false)), "no case is left"),
            Some(false) => assert!(!verdicts.contains(&Some(true)), "a case holds where the assertion does not"),
            None => {}
        }
    }
}
