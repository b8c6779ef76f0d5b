//! Sound intervals for maxima: no sample lies above, the lower end is attained, the gap is reached on small problems, and
//! constraints count.

use crate::support::{Numbers, at_most, below, layer, linear, outputs_at, truth};
use certus_graph::ops::{Abs, Affine, Mul, Op, Relu, Sigmoid, Sin, Tanh};
use certus_graph::{Graph, Interval};
use certus_solver::formula::{Formula, Linear};
use certus_solver::vnnlib::Variable;
use certus_solver::{Budget, Maximum, Progress, Query, Region, optimise};
use proptest::prelude::*;

fn network(numbers: &mut Numbers) -> Graph {
    let mut graph = Graph::new();
    let mut x = graph.input("x", &[2]);
    let curves: [Op; 4] = [Relu.into(), Tanh.into(), Sigmoid.into(), Sin.into()];
    for _ in 0..1 + numbers.below(2) {
        let rows = 2 + numbers.below(3);
        let y = layer(&mut graph, x, rows, 1.5, numbers);
        x = graph.apply(curves[numbers.below(4)].clone(), &[y]).unwrap();
        if numbers.chance(0.2) {
            let other = layer(&mut graph, x, rows, 1.0, numbers);
            x = graph.apply(Mul, &[x, other]).unwrap();
        }
    }
    let y = layer(&mut graph, x, 2, 1.0, numbers);
    graph.output("y", y);
    graph
}

/// The identity on two inputs.
fn identity() -> Graph {
    let mut graph = Graph::new();
    let x = graph.input("x", &[2]);
    graph.output("y", x);
    graph
}

fn maximum(query: &Query, objective: &Linear<Variable>, gap: f64, budget: &Budget<'_>) -> Maximum {
    let mut watcher = |_: Progress| {};
    optimise(query, objective, gap, budget, &mut watcher).unwrap()
}

fn square(graph: &Graph, formula: Formula<Variable>) -> Query {
    Query::new(graph, Region::new(vec![-1.0; 2], vec![1.0; 2]), formula).unwrap()
}

fn value(graph: &Graph, objective: &Linear<Variable>, x: &[f64]) -> Interval {
    let outputs = outputs_at(graph, x);
    objective.enclose(|variable| match *variable {
        Variable::Input(index) => Interval::point(x[index]),
        Variable::Output(index) => outputs[index],
    })
}

const Y: [Variable; 2] = [Variable::Output(0), Variable::Output(1)];
const X: [Variable; 2] = [Variable::Input(0), Variable::Input(1)];

/// No constraint, a constraint on an input, on an output, or a choice between two.
fn constraint(numbers: &mut Numbers) -> Formula<Variable> {
    match numbers.below(4) {
        0 => Formula::And(Vec::new()),
        1 => at_most(&[(X[0], 1.0), (X[1], numbers.signed())], -0.2),
        2 => at_most(&[(Y[1], 1.0)], numbers.signed()),
        _ => Formula::Or(vec![below(&[(X[0], 1.0)], 0.5), at_most(&[(Y[1], 1.0), (X[1], 1.0)], numbers.signed())]),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn no_sample_lies_above_the_interval_and_its_lower_end_is_attained(
        seed: u64,
        constant in prop::sample::select(vec![0.0, 0.0, 10.0, -7.5]),
        threads in prop::sample::select(vec![1usize, 3]),
    ) {
        let mut numbers = Numbers(seed);
        let graph = network(&mut numbers);
        let formula = constraint(&mut numbers);
        let objective = linear(&[(Y[0], 1.0), (X[1], numbers.signed())], constant);
        let query = square(&graph, formula.clone());
        let gap = 1e-3;
        let found = maximum(&query, &objective, gap, &Budget { subproblems: 2_000, threads, ..Budget::default() });
        for _ in 0..1_500 {
            let x = [numbers.signed(), numbers.signed()];
            if truth(&graph, &formula, &x) == Some(true) {
                prop_assert!(value(&graph, &objective, &x).lo <= found.upper, "{x:?} {found:?}");
            }
        }
        match &found.witness {
            Some(witness) => {
                prop_assert!(value(&graph, &objective, &witness.inputs).hi >= found.lower);
                prop_assert_ne!(truth(&graph, &formula, &witness.inputs), Some(false));
            }
            None => prop_assert_eq!(found.lower, f64::NEG_INFINITY),
        }
        prop_assert!(found.lower <= found.upper);
        if found.open.is_none() && found.witness.is_some() {
            // But for the rounding of the sum of lower end and gap.
            prop_assert!(found.upper - found.lower <= gap * (1.0 + 1e-9), "{:?}", found);
        }
    }
}

#[test]
fn the_objectives_constant_counts() {
    let query = square(&identity(), Formula::And(Vec::new()));
    for constant in [0.0, 10.0, -10.0, 1e6] {
        let found = maximum(&query, &linear(&[(Y[0], 1.0), (Y[1], 1.0)], constant), 1e-3, &Budget::default());
        assert!(found.lower <= 2.0 + constant && 2.0 + constant <= found.upper, "{constant}: {found:?}");
        assert!(found.open.is_none() && found.upper - found.lower <= 1.001e-3, "{constant}: {found:?}");
    }
}

/// A needle of height 1 at (0.3, -0.2), which random points miss.
fn needle() -> Graph {
    let mut graph = Graph::new();
    let x = graph.input("x", &[2]);
    let shifted = graph.apply(Affine::dense(vec![1.0, 0.0, 0.0, 1.0], 2, 2, vec![-0.3, 0.2]).unwrap(), &[x]).unwrap();
    let distances = graph.apply(Abs, &[shifted]).unwrap();
    let height = graph.apply(Affine::dense(vec![-1e3; 2], 1, 2, vec![1.0]).unwrap(), &[distances]).unwrap();
    let y = graph.apply(Relu, &[height]).unwrap();
    graph.output("y", y);
    graph
}

#[test]
fn a_needle_is_found_whatever_the_objectives_constant() {
    let query = square(&needle(), Formula::And(Vec::new()));
    for constant in [0.0, 10.0, -10.0, 1e6] {
        let found = maximum(&query, &linear(&[(Y[0], 1.0)], constant), 1e-3, &Budget::default());
        assert!(found.upper >= 1.0 + constant && found.lower <= 1.0 + constant, "{constant}: {found:?}");
        assert!(found.open.is_none() && found.upper - found.lower <= 1.001e-3, "{constant}: {found:?}");
    }
}

#[test]
fn constraints_are_respected() {
    // x + y with x ≤ 1/4 and, in one of two ways, y ≤ 1/2 or y ≤ -1/2.
    let either = Formula::Or(vec![at_most(&[(X[1], 1.0)], -0.5), at_most(&[(X[1], 1.0)], 0.5)]);
    let query = square(&identity(), Formula::And(vec![at_most(&[(X[0], 1.0)], -0.25), either]));
    let found = maximum(&query, &linear(&[(Y[0], 1.0), (Y[1], 1.0)], 0.0), 1e-4, &Budget::default());
    assert!(found.lower <= 0.75 && 0.75 <= found.upper && found.upper - found.lower <= 1.001e-4, "{found:?}");
}

#[test]
fn an_equality_leaves_only_its_points() {
    // y = x₁ where x₀ + x₁ = 1/2 and x₀ ≥ 0: at most 1/2. Points on the line are rare, so the lower end may stay open.
    let on_the_line = [at_most(&[(X[0], 1.0), (X[1], 1.0)], -0.5), at_most(&[(X[0], -1.0), (X[1], -1.0)], 0.5)];
    let query = square(&identity(), Formula::And([&on_the_line[..], &[at_most(&[(X[0], -1.0)], 0.0)]].concat()));
    let budget = Budget { subproblems: 2_000, ..Budget::default() };
    let found = maximum(&query, &linear(&[(Y[1], 1.0)], 0.0), 1e-3, &budget);
    assert!(found.upper >= 0.5 && found.lower <= 0.5, "{found:?}");
}

#[test]
fn nothing_feasible_gives_minus_infinity() {
    let impossible = Formula::And(vec![at_most(&[(Y[0], 1.0)], 0.5), at_most(&[(Y[0], -1.0)], 0.5)]);
    let cases = [impossible, Formula::Or(Vec::new()), at_most(&[], 1.0)];
    for formula in cases {
        let found =
            maximum(&square(&identity(), formula.clone()), &linear(&[(Y[0], 1.0)], 3.0), 1e-3, &Budget::default());
        assert_eq!((found.lower, found.upper), (f64::NEG_INFINITY, f64::NEG_INFINITY), "{formula:?}");
        assert_eq!((found.witness, found.open), (None, None), "{formula:?}");
    }
    let empty = Query::new(&identity(), Region::new(vec![1.0, 0.0], vec![0.0, 1.0]), Formula::And(Vec::new())).unwrap();
    assert_eq!(maximum(&empty, &linear(&[(Y[0], 1.0)], 0.0), 1e-3, &Budget::default()).upper, f64::NEG_INFINITY);
}

#[test]
fn a_small_budget_gives_a_wide_interval_that_is_still_right() {
    let mut numbers = Numbers(5);
    for _ in 0..20 {
        let graph = network(&mut numbers);
        let objective = linear(&[(Y[0], 1.0), (Y[1], -1.0)], numbers.signed());
        let query = square(&graph, Formula::And(Vec::new()));
        let wide = maximum(&query, &objective, 0.0, &Budget { subproblems: 3, ..Budget::default() });
        let close = maximum(&query, &objective, 1e-3, &Budget { subproblems: 3_000, ..Budget::default() });
        assert!(close.lower <= wide.upper && wide.lower <= close.upper, "{wide:?} {close:?}");
    }
}

#[test]
fn an_objective_without_a_bound_stays_open() {
    let region = Region::new(vec![0.0, 0.0], vec![f64::INFINITY, 1.0]);
    let query = Query::new(&identity(), region, Formula::And(Vec::new())).unwrap();
    let found = maximum(&query, &linear(&[(Y[0], 1.0)], 0.0), 1e-3, &Budget { subproblems: 200, ..Budget::default() });
    assert_eq!(found.upper, f64::INFINITY);
    // The other coordinate is bounded all the same.
    let found = maximum(&query, &linear(&[(Y[1], 1.0)], 0.0), 1e-3, &Budget { subproblems: 200, ..Budget::default() });
    assert!(found.upper >= 1.0, "{found:?}");
}
