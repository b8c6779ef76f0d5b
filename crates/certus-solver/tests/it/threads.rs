//! An answer is the same whatever the number of threads: the point, the branch tree, and how much was done.

use crate::support::{Numbers, at_most, layer, linear};
use certus_graph::Graph;
use certus_graph::ops::{Relu, Tanh};
use certus_solver::formula::Formula;
use certus_solver::vnnlib::Variable;
use certus_solver::{Answer, Budget, Query, Region, optimise, solve};

const Y: Variable = Variable::Output(0);

/// Two hidden layers and one output.
fn network(inputs: usize, curved: bool, seed: u64) -> Graph {
    let mut numbers = Numbers(seed);
    let mut graph = Graph::new();
    let mut x = graph.input("x", &[inputs]);
    for width in [12, 12] {
        let h = layer(&mut graph, x, width, 0.8, &mut numbers);
        x = if curved { graph.apply(Tanh, &[h]) } else { graph.apply(Relu, &[h]) }.unwrap();
    }
    let y = layer(&mut graph, x, 1, 0.8, &mut numbers);
    graph.output("y", y);
    graph
}

fn query(graph: &Graph, inputs: usize, formula: Formula<Variable>) -> Query {
    Query::new(graph, Region::new(vec![-1.0; inputs], vec![1.0; inputs]), formula).unwrap()
}

#[test]
fn answers_do_not_depend_on_threads() {
    let (mut witnesses, mut trees, mut open) = (0, 0, 0);
    for seed in 0..6 {
        // Few inputs are cut themselves; with more the strategies take turns.
        let inputs = [3, 8][seed % 2];
        let graph = network(inputs, seed % 4 == 3, seed as u64);
        let zero = query(&graph, inputs, Formula::And(Vec::new()));
        let rough = Budget { subproblems: 40, ..Budget::default() };
        let most = optimise(&zero, &linear(&[(Y, 1.0)], 0.0), 1e-3, &rough, &mut |_| {}).unwrap();
        // Just reached, hardly missed, and in between: y ≥ t.
        for share in [-0.001, 0.05, 0.6, 1.0] {
            let threshold = most.lower + share * (most.upper - most.lower);
            let query = query(&graph, inputs, at_most(&[(Y, -1.0)], threshold));
            let answer = |threads: usize| {
                let budget = Budget { subproblems: 300, certify: share > 0.5, threads, ..Budget::default() };
                solve(&query, &budget, &mut |_| {}).unwrap()
            };
            let first = answer(1);
            match &first {
                Answer::Sat(_) => witnesses += 1,
                Answer::Unsat(_) => trees += 1,
                Answer::Unknown(..) => open += 1,
            }
            for threads in [2, 3] {
                assert_eq!(answer(threads), first, "network {seed}, y ≥ {threshold}, {threads} threads");
            }
        }
    }
    // All kinds of answers were compared.
    assert!(witnesses > 2 && trees > 2 && open > 0, "{witnesses} sat, {trees} unsat, {open} open");
}

#[test]
fn maxima_do_not_depend_on_threads() {
    for seed in 0..3 {
        let graph = network(4, seed == 2, 100 + seed);
        let query = query(&graph, 4, Formula::And(Vec::new()));
        let found = |threads: usize| {
            let budget = Budget { subproblems: 300, threads, ..Budget::default() };
            optimise(&query, &linear(&[(Y, 1.0)], 0.0), 1e-4, &budget, &mut |_| {}).unwrap()
        };
        let first = found(1);
        assert!(first.lower <= first.upper);
        for threads in [2, 3] {
            assert_eq!(found(threads), first, "network {seed}, {threads} threads");
        }
    }
}
