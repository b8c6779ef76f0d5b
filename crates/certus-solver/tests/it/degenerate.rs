//! Questions at the edge of what can be asked: points, infinite and empty regions, formulas without atoms, graphs without
//! work, numbers of extreme size. None may panic, and none may be answered wrongly.

use crate::support::{Asked, at_most, below, dense};
use certus_graph::ops::{Add, Exp, Log, Mul, Relu, Tanh};
use certus_graph::{Graph, Tensor};
use certus_solver::formula::Formula;
use certus_solver::vnnlib::Variable;
use certus_solver::{Answer, Budget, Query, Region, UnknownReason, solve};

const X: Variable = Variable::Input(0);
const Y: Variable = Variable::Output(0);

fn identity(inputs: usize) -> Graph {
    let mut graph = Graph::new();
    let x = graph.input("x", &[inputs]);
    graph.output("y", x);
    graph
}

/// w₂ · relu(w₁ x + b).
fn scaled(first: f64, bias: f64, second: f64) -> Graph {
    let mut graph = Graph::new();
    let x = graph.input("x", &[1]);
    let h = dense(&mut graph, x, &[first], &[bias]);
    let r = graph.apply(Relu, &[h]).unwrap();
    let y = dense(&mut graph, r, &[second], &[0.0]);
    graph.output("y", y);
    graph
}

/// One word for the answer; witnesses are replayed and certificates audited.
fn verdict(graph: &Graph, lower: &[f64], upper: &[f64], formula: Formula<Variable>) -> &'static str {
    let asked = Asked { graph: graph.clone(), lower: lower.to_vec(), upper: upper.to_vec(), formula };
    let budget = Budget { subproblems: 300, certify: true, ..Budget::default() };
    match solve(&asked.query(), &budget, &mut |_| {}).unwrap() {
        Answer::Sat(witness) => {
            assert_eq!(asked.fault(&witness), None);
            "sat"
        }
        Answer::Unsat(refutation) => {
            let tree = refutation.tree.expect("a certificate was asked for");
            assert_eq!(asked.audit(&tree).err(), None, "{tree}");
            "unsat"
        }
        Answer::Unknown(..) => "unknown",
    }
}

#[test]
fn formulas_without_atoms() {
    let (yes, no) = (Formula::And(Vec::new()), Formula::Or(Vec::new()));
    let cases = [
        (yes.clone(), "sat"),
        (no.clone(), "unsat"),
        (Formula::Or(vec![yes.clone()]), "sat"),
        (Formula::Or(vec![no.clone(), yes.clone()]), "sat"),
        (Formula::And(vec![yes.clone(), no.clone()]), "unsat"),
        (at_most(&[], 0.0), "sat"),
        (at_most(&[], 1e-300), "unsat"),
        (below(&[], 0.0), "unsat"),
        (below(&[], -1e-300), "sat"),
        (at_most(&[(Y, 0.0)], 1.0), "unsat"),
    ];
    for (formula, expected) in cases {
        assert_eq!(verdict(&scaled(1.0, 0.0, 1.0), &[-1.0], &[1.0], formula.clone()), expected, "{formula:?}");
        assert_eq!(verdict(&identity(1), &[0.5], &[0.5], formula.clone()), expected, "{formula:?} at a point");
    }
    // Impossible only further inside: a search may run out of parts first.
    let nested = [
        Formula::Or(vec![no.clone(), no.clone()]),
        Formula::And(vec![Formula::Or(vec![no.clone(), Formula::And(vec![no.clone()])])]),
        Formula::Or(vec![Formula::And(vec![yes, no]), at_most(&[(Y, 1.0)], 9.0)]),
    ];
    for formula in nested {
        assert_ne!(verdict(&scaled(1.0, 0.0, 1.0), &[-1.0], &[1.0], formula.clone()), "sat", "{formula:?}");
        assert_eq!(verdict(&identity(1), &[0.5], &[0.5], formula.clone()), "unsat", "{formula:?} at a point");
    }
}

#[test]
fn contradictions_are_found() {
    let graph = scaled(1.0, 0.0, 1.0);
    let between = |low: f64, high: f64, v: Variable| vec![at_most(&[(v, 1.0)], -high), at_most(&[(v, -1.0)], low)];
    for variable in [X, Y] {
        assert_eq!(verdict(&graph, &[-1.0], &[1.0], Formula::And(between(0.5, 0.4, variable))), "unsat");
        assert_eq!(verdict(&graph, &[-1.0], &[1.0], Formula::And(between(0.4, 0.5, variable))), "sat");
    }
    // Each disjunct contradicts the rest.
    let outside = Formula::Or(vec![at_most(&[(X, 1.0)], 0.5), at_most(&[(X, -1.0)], 0.5)]);
    let inside = [between(-0.25, 0.25, X), vec![outside]].concat();
    assert_eq!(verdict(&graph, &[-1.0], &[1.0], Formula::And(inside)), "unsat");
}

#[test]
fn points_and_flat_boxes() {
    let graph = identity(2);
    for (value, expected) in [(0.75, "sat"), (0.7499999, "unsat")] {
        let sum = at_most(&[(Y, 1.0), (Variable::Output(1), 1.0)], -value);
        assert_eq!(verdict(&graph, &[0.25, 0.5], &[0.25, 0.5], sum.clone()), expected);
        assert_eq!(verdict(&graph, &[0.25, 0.5], &[0.25, 0.9], sum), expected);
    }
    let above = f64::from(1.0f32.next_up());
    assert_eq!(verdict(&graph, &[1.0, 0.0], &[above, 0.0], below(&[(Y, -1.0)], 1.0)), "sat");
    assert_eq!(verdict(&graph, &[1.0, 0.0], &[above, 0.0], below(&[(Y, -1.0)], above)), "unsat");
}

#[test]
fn empty_regions_hold_nothing() {
    assert_eq!(verdict(&identity(2), &[0.0, 1.0], &[1.0, 0.5], Formula::And(Vec::new())), "unsat");
}

#[test]
fn infinite_regions() {
    let (below_all, above_all) = ([f64::NEG_INFINITY], [f64::INFINITY]);
    let mut bounded = Graph::new();
    let x = bounded.input("x", &[1]);
    let t = bounded.apply(Tanh, &[x]).unwrap();
    bounded.output("y", t);
    assert_eq!(verdict(&bounded, &below_all, &above_all, at_most(&[(Y, -1.0)], 1.1)), "unsat");
    assert_eq!(verdict(&bounded, &below_all, &above_all, at_most(&[(Y, -1.0)], 0.5)), "sat");
    let relu = scaled(1.0, 0.0, 1.0);
    assert_ne!(verdict(&relu, &below_all, &above_all, below(&[(Y, 1.0)], 0.0)), "sat");
    assert_eq!(verdict(&relu, &below_all, &above_all, at_most(&[(Y, -1.0)], 1e6)), "sat");
    // Beyond what is sampled, but never 'unsat'.
    assert_ne!(verdict(&relu, &below_all, &above_all, at_most(&[(Y, -1.0)], 1e200)), "unsat");
    assert_ne!(verdict(&relu, &[1.0], &above_all, at_most(&[(Y, -1.0)], 1e200)), "unsat");
    assert_ne!(verdict(&relu, &[1.0], &above_all, at_most(&[(Y, 1.0)], -0.5)), "sat");
    assert_ne!(verdict(&relu, &below_all, &[-1.0], at_most(&[(Y, -1.0)], 0.5)), "sat");
    // An infinite input that only the formula limits.
    let limits = [at_most(&[(X, 1.0)], -1.0), at_most(&[(X, -1.0)], -1.0)];
    let with = |threshold: f64| Formula::And([&limits[..], &[at_most(&[(Y, -1.0)], threshold)]].concat());
    assert_eq!(verdict(&relu, &below_all, &above_all, with(2.0)), "unsat");
    assert_ne!(verdict(&relu, &below_all, &above_all, with(0.5)), "unsat");
}

#[test]
fn a_search_in_an_infinite_region_ends_by_itself() {
    let mut graph = Graph::new();
    let x = graph.input("x", &[1]);
    let square = graph.apply(Mul, &[x, x]).unwrap();
    graph.output("y", square);
    let region = Region::new(vec![f64::NEG_INFINITY], vec![f64::INFINITY]);
    // x² ≤ -1: little shows it without a bound of x.
    let query = Query::new(&graph, region, at_most(&[(Y, 1.0)], 1.0)).unwrap();
    let answer = solve(&query, &Budget { subproblems: 100_000, ..Budget::default() }, &mut |_| {}).unwrap();
    assert!(matches!(answer, Answer::Unsat(_) | Answer::Unknown(UnknownReason::Numerics, _)), "{answer:?}");
}

#[test]
fn unused_inputs_do_not_matter() {
    let mut graph = scaled(1.0, 0.0, 1.0);
    graph.input("unused", &[3]);
    let (lower, upper) = ([-1.0, f64::NEG_INFINITY, 0.0, 2.0], [1.0, f64::INFINITY, 0.0, f64::INFINITY]);
    assert_eq!(verdict(&graph, &lower, &upper, at_most(&[(Y, -1.0)], 1.01)), "unsat");
    assert_eq!(verdict(&graph, &lower, &upper, at_most(&[(Y, -1.0)], 0.5)), "sat");
}

#[test]
fn an_output_may_be_an_input_or_a_constant() {
    let mut graph = Graph::new();
    let x = graph.input("x", &[1]);
    let constant = graph.constant(Tensor::vector(vec![0.1, 3e38]));
    let product = graph.apply(Mul, &[x, x]).unwrap();
    graph.output("x", x);
    graph.output("constant", constant);
    graph.output("again", x);
    graph.output("square", product);
    let ask = |formula| verdict(&graph, &[-1.0], &[1.0], formula);
    assert_eq!(ask(below(&[(Variable::Output(1), 1.0)], -0.1)), "unsat");
    assert_eq!(ask(at_most(&[(Variable::Output(2), -1.0)], 2.9e38)), "sat");
    assert_eq!(ask(at_most(&[(Variable::Output(2), -1.0)], 3.1e38)), "unsat");
    // The same element by three names.
    let names = [(Y, 1.0), (Variable::Output(3), 1.0), (X, -2.0)];
    assert_eq!(ask(at_most(&names, 0.25)), "unsat");
    assert_eq!(ask(at_most(&names, 0.0)), "sat");
    assert_eq!(ask(at_most(&[(Variable::Output(4), 1.0)], 0.01)), "unsat");
}

#[test]
fn a_graph_without_inputs_is_one_point() {
    let mut graph = Graph::new();
    let constant = graph.constant(Tensor::vector(vec![0.5, 2.0]));
    let e = graph.apply(Exp, &[constant]).unwrap();
    graph.output("y", e);
    assert_eq!(verdict(&graph, &[], &[], at_most(&[(Y, 1.0)], -1.7)), "sat");
    assert_eq!(verdict(&graph, &[], &[], at_most(&[(Y, 1.0)], -1.6)), "unsat");
}

#[test]
fn huge_numbers() {
    let huge = scaled(1e30, 0.0, 1.0);
    assert_eq!(verdict(&huge, &[-1.0], &[1.0], at_most(&[(Y, -1.0)], 1.001e30)), "unsat");
    assert_eq!(verdict(&huge, &[-1.0], &[1.0], at_most(&[(Y, -1.0)], 0.999e30)), "sat");
    let cancelled = scaled(1e30, 1e30, 1e-30);
    assert_eq!(verdict(&cancelled, &[-1e-3], &[1e-3], at_most(&[(Y, 1.0)], -0.99)), "unsat");
    // Overflow on the way: anything but a wrong answer.
    let beyond = scaled(1e200, 0.0, 1e200);
    assert_ne!(verdict(&beyond, &[0.0], &[1.0], at_most(&[(Y, -1.0)], 1.0)), "unsat");
    assert_ne!(verdict(&beyond, &[0.0], &[1e-300], at_most(&[(Y, -1.0)], 0.9e100)), "unsat");
    let wide = identity(1);
    assert_eq!(verdict(&wide, &[-1e30], &[1e30], at_most(&[(Y, 1.0)], 1.0000001e30)), "unsat");
    assert_eq!(verdict(&wide, &[-f64::MAX], &[f64::MAX], at_most(&[(Y, 1.0)], 1.0)), "sat");
}

#[test]
fn tiny_numbers_are_not_lost() {
    // 1e-100 at x = 1e300, though the product of the weights underflows.
    let tiny = scaled(1e-200, 0.0, 1e-200);
    assert_ne!(verdict(&tiny, &[0.0], &[1e300], at_most(&[(Y, -1.0)], 0.5e-100)), "unsat");
    // The same where the line above the fold is used.
    assert_ne!(verdict(&tiny, &[-1e300], &[1e300], at_most(&[(Y, -1.0)], 0.5e-100)), "unsat");
    let least = f64::from_bits(1);
    assert_ne!(verdict(&identity(1), &[0.0], &[least], at_most(&[(Y, -1.0)], least)), "unsat");
    assert_ne!(verdict(&identity(1), &[0.0], &[1e-310], at_most(&[(Y, -1.0)], 1e-310)), "unsat");
    assert_ne!(verdict(&identity(1), &[0.0], &[least], below(&[(Y, 1.0)], -least)), "unsat");
}

#[test]
fn undefined_values_are_not_excluded() {
    let mut graph = Graph::new();
    let x = graph.input("x", &[1]);
    let log = graph.apply(Log, &[x]).unwrap();
    let y = graph.apply(Add, &[log, x]).unwrap();
    graph.output("y", y);
    // log is defined on half of the region only, where it stays below 1.
    assert_ne!(verdict(&graph, &[-1.0], &[1.0], at_most(&[(Y, -1.0)], 3.0)), "sat");
    assert_eq!(verdict(&graph, &[0.5], &[1.0], at_most(&[(Y, -1.0)], 3.0)), "unsat");
}
