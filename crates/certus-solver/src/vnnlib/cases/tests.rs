//! What the boxes of an assertion are, and which of its parts stay formulas.

use super::*;
use crate::vnnlib::parse;

/// A specification over two inputs and two outputs.
fn specification(assertions: &[&str]) -> Specification {
    let mut text = String::new();
    for name in ["X_0", "X_1", "Y_0", "Y_1"] {
        text += &format!("(declare-const {name} Real)\n");
    }
    for assertion in assertions {
        text += &format!("(assert {assertion})\n");
    }
    parse(&text).unwrap()
}

/// The outer boxes of the cases.
fn boxes(assertions: &[&str]) -> Vec<([f64; 2], [f64; 2])> {
    let cases = specification(assertions).cases(100).unwrap();
    cases.iter().map(|case| ([case.lower[0], case.lower[1]], [case.upper[0], case.upper[1]])).collect()
}

fn formulas(assertions: &[&str]) -> Vec<Formula<Variable>> {
    specification(assertions).cases(100).unwrap().into_iter().map(|case| case.formula).collect()
}

/// The formula that one assertion stands for.
fn formula(assertion: &str) -> Formula<Variable> {
    specification(&[assertion]).assertion
}

const FREE: (f64, f64) = (f64::NEG_INFINITY, f64::INFINITY);
const UNIT: &str = "(and (>= X_0 0) (<= X_0 1) (>= X_1 0) (<= X_1 1))";
const OUTPUTS: &str = "(or (<= Y_0 Y_1) (and (<= Y_0 0) (>= Y_1 1)))";

#[test]
fn one_box_and_output_alternatives_are_one_case() {
    assert_eq!(boxes(&[UNIT, OUTPUTS]), [([0.0; 2], [1.0; 2])]);
    assert_eq!(formulas(&[UNIT, OUTPUTS]), [formula(OUTPUTS)]);
}

#[test]
fn inputs_without_bounds_are_free() {
    assert_eq!(boxes(&["(<= X_1 2)"]), [([FREE.0; 2], [FREE.1, 2.0])]);
    assert_eq!(boxes(&[]), [([FREE.0; 2], [FREE.1; 2])]);
    assert_eq!(formulas(&[]), [logic::truth(true)]);
}

#[test]
fn alternative_boxes_share_the_outputs() {
    let two = "(or (and (>= X_0 0) (<= X_0 1)) (and (>= X_0 2) (<= X_0 3)))";
    let assertions = [two, "(= X_1 0)", OUTPUTS];
    assert_eq!(boxes(&assertions), [([0.0; 2], [1.0, 0.0]), ([2.0, 0.0], [3.0, 0.0])]);
    assert_eq!(formulas(&assertions), [formula(OUTPUTS), formula(OUTPUTS)]);
}

#[test]
fn mixtures_with_the_same_box_are_one_case() {
    let part = |output: &str| format!("(and {UNIT} {output})");
    let mixture = format!("(or {} {} {})", part("(<= Y_0 0)"), part("(>= Y_1 3)"), "(and (<= X_0 9) (<= Y_0 5))");
    assert_eq!(boxes(&[&mixture]), [([0.0; 2], [1.0; 2]), ([FREE.0; 2], [9.0, FREE.1])]);
    assert_eq!(formulas(&[&mixture]), [formula("(or (<= Y_0 0) (>= Y_1 3))"), formula("(<= Y_0 5)")]);
}

#[test]
fn cases_that_meet_in_the_same_box_are_joined() {
    let nested = "(or (and (<= X_0 1) (<= Y_0 1)) (and (<= X_0 2) (<= Y_0 2)))";
    let other = "(or (and (<= X_0 1) (<= Y_1 1)) (and (<= X_0 2) (<= Y_1 2)))";
    assert_eq!(boxes(&[nested, other]).len(), 2);
}

#[test]
fn conditions_that_are_no_boxes_stay() {
    let diagonal = "(<= (+ X_0 X_1) 1)";
    assert_eq!(boxes(&[UNIT, diagonal]), [([0.0; 2], [1.0; 2])]);
    assert_eq!(formulas(&[UNIT, diagonal]), [formula(diagonal)]);
    // A strict bound is an end of the outer box, and stays to exclude it.
    let strict = specification(&["(< X_0 1)"]).cases(1).unwrap().remove(0);
    assert_eq!((strict.upper[0], strict.inner_upper[0]), (1.0, 1.0f64.next_down()));
    assert_eq!(strict.formula, formula("(< X_0 1)"));
}

#[test]
fn empty_boxes_are_left_out() {
    assert_eq!(boxes(&["(>= X_0 2)", "(<= X_0 1)"]), []);
    assert_eq!(boxes(&["(>= X_0 0.5)", "(or (<= X_0 0.25) (<= X_0 0.75))"]).len(), 1);
    assert_eq!(boxes(&["false"]), []);
}

#[test]
fn a_fixed_input_that_is_no_double_has_an_empty_inner_box() {
    let case = specification(&["(= X_0 0.1)"]).cases(1).unwrap().remove(0);
    let (below, above) = (0.1f64.next_down(), 0.1);
    assert_eq!((case.lower[0], case.upper[0]), (below, above));
    assert_eq!((case.inner_lower[0], case.inner_upper[0]), (above, below));
}

#[test]
fn the_limit_is_kept() {
    let either = ["(or (<= X_0 0) (>= X_0 1))", "(or (<= X_1 0) (>= X_1 1))"];
    assert_eq!(specification(&either).cases(4).unwrap().len(), 4);
    assert_eq!(specification(&either).cases(3).unwrap_err(), CasesError::TooMany { limit: 3 });
    assert_eq!(specification(&[]).cases(0).unwrap_err(), CasesError::TooMany { limit: 0 });
}

#[test]
fn memory_is_bounded() {
    let alternatives = specification(&[OUTPUTS, "(or (<= X_0 0) (<= X_0 1))"]);
    assert_eq!(alternatives.cases_within(10, 100).unwrap().len(), 2);
    assert_eq!(alternatives.cases_within(10, 5).unwrap_err(), CasesError::TooLarge);
    assert_eq!(alternatives.cases_within(10, 25).unwrap_err(), CasesError::TooLarge);
}
