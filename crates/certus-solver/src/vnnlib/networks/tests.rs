//! Texts of version 2: what they mean, and what is refused.

use certus_graph::eval::evaluate;
use certus_graph::ops::{Add, Affine, Mul, Relu};
use certus_graph::{Graph, Interval};
use proptest::prelude::*;

use super::*;
use crate::Query;

const TWO: &str = "(vnnlib-version <2.0>)
(declare-network f
    (declare-input  X float32 [1,2])
    (declare-output Y float32 [2]))
(declare-network g
    (isomorphic-to f)
    (declare-input  U float32 [1, 2])
    (declare-output V float32 [2]))
";

/// relu(W x + b) on a vector of two, with weights from a seed.
fn network(seed: f64) -> Graph {
    let mut graph = Graph::new();
    let x = graph.input("in", &[1, 2]);
    let map = Affine::dense(vec![seed, -1.0, 0.5, seed + 1.0], 2, 2, vec![0.25, -seed]).unwrap();
    let mapped = graph.apply(map, &[x]).unwrap();
    let y = graph.apply(Relu, &[mapped]).unwrap();
    graph.output("out", y);
    graph
}

fn with(assertions: &str) -> NetworkSpecification {
    parse(&format!("{TWO}{assertions}")).unwrap()
}

fn holds(formula: &Formula<Variable>, inputs: &[f64], outputs: &[f64]) -> Option<bool> {
    formula.certainty(&|variable| match *variable {
        Variable::Input(index) => Interval::point(inputs[index]),
        Variable::Output(index) => Interval::point(outputs[index]),
    })
}

#[track_caller]
fn refused(text: &str, expected: &str) {
    assert_eq!(parse(text).unwrap_err().to_string(), expected, "{text}");
}

#[test]
fn elements_are_numbered_across_networks() {
    let read = with("(assert (<= (+ X[0,1] (* 2 U[0,0]) (- V [ 1 ])) Y[0]))");
    let Formula::Atom(atom) = &read.assertion else { panic!("{:?}", read.assertion) };
    let point = Interval::point;
    let expected = [
        (Variable::Input(1), point(1.0)),
        (Variable::Input(2), point(2.0)),
        (Variable::Output(0), point(-1.0)),
        (Variable::Output(3), point(-1.0)),
    ];
    assert_eq!(atom.linear.terms, expected);
    assert_eq!((read.inputs, read.outputs), (4, 4));
    assert_eq!(read.networks[1].likeness, Some(Likeness::IsomorphicTo(0)));
}

#[test]
fn comparisons_are_those_of_the_standard() {
    for (operator, expected) in [
        ("<", [true, false, false]),
        ("<=", [true, true, false]),
        (">", [false, false, true]),
        (">=", [false, true, true]),
        ("==", [false, true, false]),
        ("!=", [true, false, true]),
    ] {
        let read = with(&format!("(assert (or ({operator} X[0,0] 2.0) (> Y[0] 100)))"));
        for (x, truth) in [1.0, 2.0, 3.0].into_iter().zip(expected) {
            assert_eq!(holds(&read.assertion, &[x, 0.0, 0.0, 0.0], &[0.0; 4]), Some(truth), "{x} {operator} 2");
        }
    }
}

#[test]
fn scalars_have_no_indices() {
    let text = "(vnnlib-version <2.1>) ; a comment
        (declare-network f (declare-input X real []) (declare-output Y Real [])) (assert (<= Y X))";
    assert!(parse(text).unwrap().networks[0].tensors[0].shape.is_empty());
    refused(&text.replace("X))", "X[0]))"), "line 2, column 96: `X` has shape [] and no element [0]");
}

#[test]
fn either_version_is_recognised() {
    assert!(matches!(parse_any(TWO), Ok(AnySpecification::Two(_))));
    assert!(matches!(parse_any("(declare-const X_0 Real)"), Ok(AnySpecification::One(_))));
    let error = crate::vnnlib::parse(TWO).unwrap_err().to_string();
    assert_eq!(error, "line 1, column 2: the text is of a later version, which declares networks");
}

#[test]
fn what_is_not_understood_is_refused_by_name_and_place() {
    let network = |body: &str| format!("(vnnlib-version <2.0>)\n(declare-network f {body})\n");
    let io = "(declare-input X real [2]) (declare-output Y real [2])";
    let assertion = |body: &str| format!("{}(assert {body})", network(io));
    refused("", "line 1, column 1: the text declares no network");
    refused("(assert true)", "line 1, column 2: expected `vnnlib-version` first");
    refused("(vnnlib-version <3.0>)", "line 1, column 17: expected the version `<2.0>`, found `<3.0>`");
    refused("(vnnlib-version <2.0>)\n(check-sat)", "line 2, column 2: unknown command `check-sat`");
    refused(&network("(declare-input X real [2])"), "line 2, column 18: the network `f` has no output");
    refused(&network("(declare-input X int8 [2])"), "line 2, column 37: the element type `int8` is not supported");
    refused(&network("(declare-input X foo [2])"), "line 2, column 37: unknown element type `foo`");
    refused(&network("(declare-input X real [2 3])"), "line 2, column 45: expected `,` or `]`, found `3`");
    refused(&network("(declare-input X real [-1])"), "line 2, column 43: expected an index, found `-1`");
    refused(&network("(declare-input X real 2)"), "line 2, column 42: expected a shape, found `2`");
    refused(
        &network("(declare-input X@1 real [2])"),
        "line 2, column 35: `X@1` is no name: letters, digits and underscores",
    );
    refused(&network("(declare-state X real [2])"), "line 2, column 21: unknown declaration `declare-state`");
    refused(
        &network("(declare-input X real [99999999999])"),
        "line 2, column 42: tensors have more than 268435456 elements or 32 axes",
    );
    refused(
        &network("(declare-output Y real [2]) (declare-input X real [2])"),
        "line 2, column 49: inputs come before hidden tensors, and these before outputs",
    );
    refused(
        &network("(declare-input X real [2]) (declare-hidden H real [2]) (declare-output Y real [2])"),
        "line 2, column 48: `declare-hidden` needs the ONNX name of the tensor",
    );
    refused(
        &network("(declare-input X real [2] \"x\") (declare-output Y real [2])"),
        "line 2, column 18: either all inputs and outputs of a network have ONNX names, or none has",
    );
    refused(&network("(equal-to g)"), "line 2, column 30: there is no network `g` before");
    refused(&network(&io.replace('Y', "X")), "line 2, column 63: `X` is declared twice");
    refused(
        &format!("{0}{1}", network(io), &network(io)[23..]),
        "line 3, column 18: the network `f` is declared twice",
    );
    refused(&assertion("(<= X 1)"), "line 3, column 13: `X` has shape [2] and no element []");
    refused(&assertion("(<= X[2] 1)"), "line 3, column 13: `X` has shape [2] and no element [2]");
    refused(&assertion("(<= Z[0] 1)"), "line 3, column 13: unknown name `Z`");
    refused(&assertion("(<= X[0 1)"), "line 3, column 17: expected `,` or `]`, found `1`");
    refused(&format!("{}(assert (<= X[0", network(io)), "line 3, column 13: the bracket is not closed");
    refused(&assertion("(<= [0] 1)"), "line 3, column 13: expected a term, found `[`");
    refused(&assertion("(!= X[0] X[1] Y[0])"), "line 3, column 10: `!=` takes two terms");
    refused(
        &assertion("(<= (* X[0] Y[0]) 1)"),
        "line 3, column 14: `*` multiplies two terms with variables: that is not linear",
    );
    refused(
        &format!("{}{}", assertion("(<= X[0] 1)"), &network(io)[23..]),
        "line 3, column 22: networks are declared before the first assertion",
    );
    let mixed = assertion("(<= X[0] Y[0])").replace("Y real", "Y float32");
    refused(&mixed, "line 3, column 10: the comparison mixes the element types real and float32");
    let unlike = TWO.replace("V float32 [2]", "V float32 [3]");
    refused(&unlike, "line 6, column 6: the tensors of `g` and `f` are not the same");
    let unequal = TWO.replace("isomorphic-to", "equal-to").replace("V float32", "V float64");
    refused(&unequal, "line 6, column 6: the tensors of `g` and `f` are not the same");
    parse(&TWO.replace("V float32", "V float64")).unwrap();
}

#[test]
fn the_joint_graph_has_all_networks() {
    let (f, g) = (network(1.0), network(2.0));
    let joint = with("(assert (> Y[0] V[1]))").joint(&[("g", &g), ("f", &f)]).unwrap();
    let results = evaluate(&joint.graph, &[&[1.0, 2.0], &[3.0, -1.0]]).unwrap();
    let alone = [evaluate(&f, &[&[1.0, 2.0]]).unwrap(), evaluate(&g, &[&[3.0, -1.0]]).unwrap()];
    assert_eq!(results, alone.concat());
    let names: Vec<&str> = joint.graph.outputs().iter().map(|port| port.name.as_str()).collect();
    assert_eq!(names, ["Y", "V"]);
    assert_eq!((joint.specification.inputs, joint.specification.outputs), (4, 4));
    let cases = joint.specification.cases(1).unwrap();
    assert_eq!(Query::from_specification(&joint.graph, &joint.specification, cases).unwrap().len(), 1);
}

#[test]
fn equal_inputs_are_one() {
    let f = network(1.0);
    let equal = "(assert (and (== X[0,0] U[0,0]) (== U[0,1] X[0,1])))(assert (> Y[0] V[1]))";
    let text = format!("{}{equal}", TWO.replace("isomorphic-to", "equal-to"));
    let read = parse(&text).unwrap();
    let joint = read.joint(&[("f", &f)]).unwrap();
    assert_eq!(joint.specification.inputs, 2);
    let results = evaluate(&joint.graph, &[&[0.5, 2.0]]).unwrap();
    assert_eq!(results[0], results[1]);
    // Nothing is left of the equations.
    assert!(matches!(&joint.specification.assertion, Formula::Atom(atom) if atom.strict));
    let second = &read.networks[1].tensors[0];
    assert_eq!(joint.input_values(second, &[0.5, 2.0]), [0.5, 2.0]);
}

#[test]
fn what_does_not_fit_is_refused() {
    let f = network(1.0);
    let fails = |text: &str, graphs: &[(&str, &Graph)]| parse(text).unwrap().joint(graphs).unwrap_err().to_string();
    assert_eq!(fails(TWO, &[("f", &f)]), "network `g`: its file is missing");
    assert_eq!(fails(TWO, &[("f", &f), ("f", &f)]), "network `f`: it is given twice");
    assert_eq!(fails(TWO, &[("h", &f)]), "network `h`: it is not declared");
    let equal = TWO.replace("isomorphic-to", "equal-to");
    let given = fails(&equal, &[("f", &f), ("g", &f)]);
    assert_eq!(given, "network `g`: it is equal to another one and needs no file");
    let larger = TWO.replace("[2]", "[3]");
    let shape = fails(&larger, &[("f", &f), ("g", &f)]);
    assert_eq!(shape, "network `f`: `Y` is declared with shape [3], the file has [2]");
    let more = TWO.replacen("(declare-output Y", "(declare-input Z float32 [2]) (declare-output Y", 1);
    let more = more.replace("    (isomorphic-to f)\n", "");
    assert_eq!(fails(&more, &[("f", &f), ("g", &f)]), "network `f`: the text declares 2 inputs, the file has 1");
}

#[test]
fn hidden_and_named_tensors_are_found() {
    let mut graph = Graph::new();
    let a = graph.input("a", &[1]);
    let b = graph.input("b", &[1]);
    let sum = graph.apply(Add, &[a, b]).unwrap();
    let product = graph.apply(Mul, &[sum, b]).unwrap();
    graph.output("inside", sum);
    graph.output("result", product);
    let text = "(vnnlib-version <2.0>)(declare-network f (declare-input B real [] \"b\")
        (declare-input A real [] \"a\") (declare-hidden H real [1] \"inside\") (declare-output R real [1] \"result\"))
        (assert (<= H[0] R[0]))";
    let read = parse(text).unwrap();
    let joint = read.joint(&[("f", &graph)]).unwrap();
    assert_eq!(evaluate(&joint.graph, &[&[2.0], &[5.0]]).unwrap(), [[7.0], [14.0]]);
    let by_order = parse(&text.replace(" \"b\"", "").replace(" \"a\"", "").replace(" \"result\"", "")).unwrap();
    let joint = by_order.joint(&[("f", &graph)]).unwrap();
    assert_eq!(evaluate(&joint.graph, &[&[2.0], &[5.0]]).unwrap(), [[7.0], [35.0]]);
    let missing = parse(&text.replace("inside", "middle")).unwrap().joint(&[("f", &graph)]).unwrap_err();
    assert_eq!(
        missing.to_string(),
        "network `f`: the hidden tensor `H` is no output of its graph under the name \"middle\""
    );
}

proptest! {
    /// At points that satisfy the equations, the joint question has the answer of the question as written.
    #[test]
    fn the_joint_question_is_the_same(
        equations in prop::collection::vec((0..4usize, 0..4usize), 0..4),
        values in prop::collection::vec(-3..4i32, 4),
        weights in (-2..3i32, -2..3i32),
    ) {
        let names = ["X[0,0]", "X[0,1]", "U[0,0]", "U[0,1]"];
        let mut text = String::new();
        for &(a, b) in &equations {
            text.push_str(&format!("(assert (== {} {}))", names[a], names[b]));
        }
        text.push_str("(assert (or (<= Y[0] (+ V[1] X[0,0])) (< (* 2 U[0,1]) (- Y[1] V[0]))))");
        let read = with(&text);
        let (f, g) = (network(f64::from(weights.0)), network(f64::from(weights.1)));
        let joint = read.joint(&[("f", &f), ("g", &g)]).unwrap();

        let graph = &joint.graph;
        let sizes: Vec<usize> = graph.inputs().iter().map(|port| graph.elements(port.node)).collect();
        let point: Vec<f64> = values.iter().map(|&value| f64::from(value)).take(sizes.iter().sum()).collect();
        prop_assert_eq!(point.len(), joint.specification.inputs);
        let mut rest = point.as_slice();
        let slices: Vec<&[f64]> = sizes.iter().map(|&size| rest.split_off(..size).unwrap()).collect();
        let results = evaluate(graph, &slices).unwrap().concat();

        let tensors: Vec<_> = read.networks.iter().flat_map(|network| network.tensors(Role::Input)).collect();
        let [x, u] = [0, 1].map(|place| joint.input_values(tensors[place], &point));
        let alone = [evaluate(&f, &[&x]).unwrap().concat(), evaluate(&g, &[&u]).unwrap().concat()].concat();
        prop_assert_eq!(&results, &alone);
        let written = holds(&read.assertion, &[x, u].concat(), &alone);
        prop_assert_eq!(holds(&joint.specification.assertion, &point, &results), written);
    }

    #[test]
    fn damage_gives_an_error_or_a_specification(
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0..4u8), 1..6),
    ) {
        let mut bytes = format!("{TWO}(assert (or (<= (* 2.5 X[0,1]) Y[0]) (!= U[0,0] V[1])))").into_bytes();
        for (at, byte, kind) in edits {
            let at = at.index(bytes.len());
            match kind {
                0 => bytes[at] = byte,
                1 => bytes[at] = b"()[],;\"|<>=!0129 \nXYUVfg-."[usize::from(byte) % 26],
                2 => bytes.truncate(at.max(1)),
                _ => bytes.extend_from_within(at..),
            }
        }
        match parse(&String::from_utf8_lossy(&bytes)) {
            Ok(read) => {
                let (f, g) = (network(1.0), network(2.0));
                if let Ok(joint) = read.joint(&[("f", &f), ("g", &g)]) {
                    prop_assert_eq!(joint.graph.outputs().len(), 2);
                }
            }
            Err(error) => prop_assert!(!error.to_string().is_empty()),
        }
    }
}
