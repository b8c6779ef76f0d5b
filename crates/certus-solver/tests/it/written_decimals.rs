//! A point that answers a question lies in the region as it was written, in exact decimals.

use certus_graph::Graph;
use certus_graph::store::StoreError;
use certus_solver::file::{parse_query, print_query};
use certus_solver::vnnlib::parse;
use certus_solver::{Answer, Budget, Query, solve};

fn identity() -> Graph {
    let mut graph = Graph::new();
    let x = graph.input("x", &[1]);
    graph.output("y", x);
    graph
}

/// The one case of a question about the identity.
fn query(assertions: &str) -> Query {
    let text = format!("(declare-const X_0 Real)(declare-const Y_0 Real){assertions}");
    let specification = parse(&text).unwrap();
    let cases = specification.cases(10).unwrap();
    let mut queries = Query::from_specification(&identity(), &specification, cases).unwrap();
    assert_eq!(queries.len(), 1);
    queries.remove(0)
}

/// The query, after it was a file.
fn stored(query: &Query) -> Query {
    let mut text = Vec::new();
    print_query(&mut text, query).unwrap();
    let read: Result<Query, StoreError> = parse_query(&mut text.as_slice());
    read.unwrap()
}

/// `unsat`, `unknown`, or the point as it is shown.
fn answer(assertions: &str) -> String {
    let query = query(assertions);
    let told =
        |query: &Query| match solve(query, &Budget { subproblems: 200, ..Budget::default() }, &mut |_| {}).unwrap() {
            Answer::Sat(witness) => format!("{:?}", witness.inputs[0]),
            Answer::Unsat(_) => "unsat".to_owned(),
            Answer::Unknown(..) => "unknown".to_owned(),
        };
    let direct = told(&query);
    assert_eq!(told(&stored(&query)), direct, "the stored question is another one: {assertions}");
    direct
}

/// Bounds of the input and what is asked of the output.
fn between(lower: &str, upper: &str, asked: &str) -> String {
    answer(&format!("(assert (>= X_0 {lower}))(assert (<= X_0 {upper}))(assert {asked})"))
}

/// Seam 9: a witness outside of the region as written.
#[test]
fn a_region_without_a_double_has_no_double_for_a_witness() {
    let (lower, upper) = ("1.00000000000000005", "1.00000000000000006");
    assert_eq!(between(lower, upper, "(<= Y_0 1)"), "unknown");
    assert_eq!(between(lower, upper, "(<= Y_0 2)"), "unknown");
    assert_eq!(between(lower, upper, "(<= Y_0 0.99)"), "unsat");
    // The bounds cross, but only in decimals.
    assert_eq!(between(upper, lower, "(<= Y_0 2)"), "unknown");
}

#[test]
fn an_input_that_is_one_decimal_is_that_decimal() {
    for (decimal, shown) in [("0.1", "0.1"), ("-0.3", "-0.3"), ("0.30", "0.3"), ("1e-1", "0.1")] {
        assert_eq!(between(decimal, decimal, "(<= Y_0 2)"), shown, "{decimal}");
    }
    // The double nearest to 0.1 is above 0.1, the one nearest to 0.3 below 0.3: neither says anything about the decimal.
    assert_ne!(between("0.1", "0.1", "(> Y_0 0.1)"), "0.1");
    assert_ne!(between("0.3", "0.3", "(< Y_0 0.3)"), "0.3");
    // 0.1 is written in its gap, but so is another number.
    assert_eq!(between("0.1", "0.1", "(<= Y_0 (+ 2 0.10000000000000000001))"), "unknown");
    // The sum is no literal, though it lies where one might.
    assert_eq!(between("(+ 0.05 0.05)", "(+ 0.05 0.05)", "(<= Y_0 2)"), "unknown");
    assert_eq!(answer("(assert (<= (* 3 X_0) 0.3))(assert (>= (* 3 X_0) 0.3))(assert (<= Y_0 2))"), "unknown");
    // Twenty digits: no double is shown like that.
    assert_eq!(between("0.10000000149011611938", "0.10000000149011611938", "(<= Y_0 2)"), "unknown");
    // A constant of the formula is no bound of the input.
    assert_eq!(between("0.1", "0.1", "(<= Y_0 (+ Y_0 0.1))"), "0.1");
}

#[test]
fn constants_of_the_formula_are_the_decimals() {
    // The largest double of the region is the one below 0.1; the double that is shown as 0.1 is outside.
    let found = between("0", "0.1", "(>= Y_0 0.1)");
    assert!(found == "unknown", "{found}");
    let found: f64 = between("0", "0.1", "(>= Y_0 0.0999)").parse().unwrap();
    assert!(found < 0.1, "{found}");
}
