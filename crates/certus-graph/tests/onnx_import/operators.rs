//! Every operator of ONNX that can be imported, against onnxruntime: `data/onnx_ops/cases.json` holds small models over
//! operators, operator sets and attributes with what onnxruntime computes for them (`generate.py` beside it made them).

use certus_graph::canonical::canonicalize;

use crate::cases::{Case, check_points, load_case};

const CASES: &str = include_str!("../data/onnx_ops/cases.json");

/// Checks every case with `check` and reports all that fail.
fn check_all(check: impl Fn(&Case) -> Result<(), String>) {
    let cases: Vec<Case> = serde_json::from_str(CASES).expect("the cases are valid JSON");
    assert!(cases.len() >= 400, "only {} cases", cases.len());
    let failures: Vec<String> =
        cases.iter().filter_map(|case| check(case).err().map(|error| format!("{}: {error}", case.name))).collect();
    assert!(failures.is_empty(), "{} of {} cases:\n{}", failures.len(), cases.len(), failures.join("\n"));
}

#[test]
fn operators_agree_with_onnxruntime() {
    check_all(|case| check_points(&load_case(case)?, &case.shapes, &case.points));
}

#[test]
fn canonical_forms_agree_with_onnxruntime() {
    check_all(|case| {
        let canonical = canonicalize(&load_case(case)?).map_err(|error| error.to_string())?;
        check_points(&canonical, &case.shapes, &case.points)
    });
}

#[test]
fn a_wrong_expectation_is_noticed() {
    let mut cases: Vec<Case> = serde_json::from_str(CASES).expect("the cases are valid JSON");
    for case in &mut cases {
        let graph = load_case(case).expect("the case loads");
        let value = &mut case.points[0].outputs[0][0];
        *value += 3e-5 * value.abs().max(1.0);
        assert!(check_points(&graph, &case.shapes, &case.points).is_err(), "{}", case.name);
    }
}
