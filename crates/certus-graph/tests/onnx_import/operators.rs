//! Every operator of ONNX that can be imported, against onnxruntime: `data/onnx_ops/cases.json` holds small models over
//! operators, operator sets and attributes with what onnxruntime computes for them (`generate.py` beside it made them).

use crate::cases::{Case, check_case};

const CASES: &str = include_str!("../data/onnx_ops/cases.json");

#[test]
fn operators_agree_with_onnxruntime() {
    let cases: Vec<Case> = serde_json::from_str(CASES).expect("the cases are valid JSON");
    assert!(cases.len() >= 120, "only {} cases", cases.len());
    let failures: Vec<String> =
        cases.iter().filter_map(|case| check_case(case).err().map(|e| format!("{}: {e}", case.name))).collect();
    assert!(failures.is_empty(), "{} of {} cases:\n{}", failures.len(), cases.len(), failures.join("\n"));
}
