//! Descents find what was planted, stay where they may be, and repeat themselves.

use std::cell::Cell;

use certus_graph::eval::evaluate;
use certus_graph::ops::{Affine, Compare, Concat, Mul, Relu, Tanh};
use certus_graph::{Graph, Tensor};
use proptest::prelude::*;

use super::{around, atom, layer, signed};
use certus_numerics::Random;

use crate::attack::pgd::{Effort, Pgd};
use crate::attack::starts::Starts;
use crate::attack::{Attack, Falsification, falsify};
use crate::formula::Formula;
use crate::query::{Query, Region};
use crate::vnnlib::Variable;

fn identity(inputs: usize) -> Graph {
    let mut graph = Graph::new();
    let x = graph.input("x", &[inputs]);
    graph.output("y", x);
    graph
}

fn network(numbers: &mut Random, inputs: usize) -> Graph {
    let mut graph = Graph::new();
    let x = graph.input("x", &[inputs]);
    let y = layer(&mut graph, x, 12, numbers);
    let y = graph.apply(Relu, &[y]).unwrap();
    let y = layer(&mut graph, y, 8, numbers);
    let y = graph.apply(Tanh, &[y]).unwrap();
    let z = layer(&mut graph, y, 2, numbers);
    graph.output("z", z);
    graph
}

fn search(graph: &Graph, region: Region, formula: Formula<Variable>, seed: u64) -> Falsification {
    let query = Query::new(graph, region, formula).unwrap();
    falsify(&query, 2000, 100, seed, &|| false).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn planted_witnesses_are_found(seed: u64) {
        let mut numbers = Random::with_state(seed);
        let graph = network(&mut numbers, 6);
        let planted: Vec<f64> = (0..6).map(|_| signed(&mut numbers)).collect();
        let z = evaluate(&graph, &[&planted]).unwrap().remove(0);
        let goal = |index: usize| around(Variable::Output(index), z[index], 1e-4);
        let out_of_reach = atom(&[(Variable::Output(0), 1.0)], 1e3);
        let formula = Formula::Or(vec![out_of_reach, Formula::And(vec![goal(0), goal(1)])]);
        let region = Region::new(vec![-1.0; 6], vec![1.0; 6]);
        let found = search(&graph, region.clone(), formula.clone(), seed);
        let witness = found.witness.clone().expect("a witness");
        let there = evaluate(&graph, &[&witness.inputs]).unwrap().remove(0);
        prop_assert!((there[0] - z[0]).abs() <= 1e-4 && (there[1] - z[1]).abs() <= 1e-4);
        prop_assert!(witness.inputs.iter().all(|x| (-1.0..=1.0).contains(x)));
        prop_assert_eq!(found, search(&graph, region, formula, seed));
    }

    #[test]
    fn points_stay_in_the_region(seed: u64, confined: bool) {
        let mut numbers = Random::with_state(seed);
        let infinity = f64::INFINITY;
        let lower = vec![-1.0, 0.25, 2.0, -infinity, -infinity, 1e12];
        let upper = vec![1.0, 0.25, infinity, -3.0, infinity, infinity];
        let coefficients: Vec<(Variable, f64)> = (0..6).map(|i| (Variable::Input(i), signed(&mut numbers))).collect();
        // Below zero everywhere in reach, so that every step that makes progress is replayed.
        let query = Query::new(&identity(6), Region::new(lower.clone(), upper.clone()), atom(&coefficients, -1e15)).unwrap();
        let boxes = [(vec![0.0, -9.0, 2.5, -5.0, 1.0, 1e12], vec![0.5, 9.0, 3.0, infinity, 2.0, 1.1e12])];
        let starts = if confined { Starts::Boxes { boxes: &boxes, confined } } else { Starts::Region };
        let replayed = Cell::new(0);
        let mut outside = Vec::new();
        let effort = Effort { restarts: 300, steps: 20, seed };
        let result = Pgd::new(&query, &query.lowered).run(starts, effort, &|| false, &mut |point, _| {
            replayed.set(replayed.get() + 1);
            let mut inside = (0..6).all(|i| point[i].is_finite() && lower[i] <= point[i] && point[i] <= upper[i]);
            if confined {
                inside &= [0, 2, 4].iter().all(|&i| boxes[0].0[i] <= point[i] && point[i] <= boxes[0].1[i]);
            }
            if !inside {
                outside.push(point.to_vec());
            }
            Ok(None)
        }).unwrap();
        prop_assert!(replayed.get() > 300);
        prop_assert!(outside.is_empty(), "{outside:?}");
        prop_assert!(result.restarts >= 300 && result.nearest.len() == 6);
    }
}

#[test]
fn regions_without_ends_are_searched_near_zero() {
    let region = Region::new(vec![0.0, f64::NEG_INFINITY, 7.0], vec![f64::INFINITY, f64::INFINITY, 7.0]);
    let formula = Formula::And(vec![
        around(Variable::Output(0), 300.0, 0.01),
        around(Variable::Output(1), -2.0, 0.01),
        atom(&[(Variable::Output(2), 1.0)], -7.0),
    ]);
    let witness = search(&identity(3), region, formula, 5).witness.expect("a witness");
    assert_eq!(witness.inputs[2], 7.0);
}

#[test]
fn steps_are_climbed() {
    // All of six steps at 0.9 have to be up: one point in a million is, and the slope of a step is zero.
    let mut graph = Graph::new();
    let x = graph.input("x", &[6]);
    let threshold = graph.constant(Tensor::vector(vec![0.9; 6]));
    let up = graph.apply(Compare::Greater, &[x, threshold]).unwrap();
    let sum = graph.apply(Affine::dense(vec![1.0; 6], 1, 6, vec![0.0]).unwrap(), &[up]).unwrap();
    graph.output("y", sum);
    let formula = atom(&[(Variable::Output(0), -1.0)], 6.0);
    let found = search(&graph, Region::new(vec![0.0; 6], vec![1.0; 6]), formula, 3);
    assert!(found.witness.is_some(), "{found:?}");
    assert!(found.evaluations < 100_000);
}

#[test]
fn products_are_followed() {
    let mut graph = Graph::new();
    let x = graph.input("x", &[4]);
    let y = graph.apply(Mul, &[x, x]).unwrap();
    let z = graph.apply(Mul, &[y, x]).unwrap();
    let joined = graph.apply(Concat { axis: 0 }, &[y, z]).unwrap();
    graph.output("y", joined);
    let parts = (0..4).map(|i| around(Variable::Output(4 + i), -0.3 - 0.1 * i as f64, 1e-3)).collect();
    let found = search(&graph, Region::new(vec![-1.0; 4], vec![1.0; 4]), Formula::And(parts), 11);
    assert!(found.witness.is_some(), "{found:?}");
}

#[test]
fn an_impossible_formula_gives_the_nearest_point() {
    let formula = atom(&[(Variable::Output(0), -1.0)], 2.0);
    let found = search(&identity(1), Region::new(vec![0.0], vec![1.0]), formula, 0);
    assert_eq!((found.witness, found.distance, found.nearest), (None, 1.0, vec![1.0]));
}

#[test]
fn formulas_without_atoms_are_decided() {
    let region = || Region::new(vec![0.0], vec![1.0]);
    assert!(search(&identity(1), region(), Formula::And(Vec::new()), 0).witness.is_some());
    let none = search(&identity(1), region(), Formula::Or(Vec::new()), 0);
    assert_eq!((none.witness, none.distance), (None, f64::INFINITY));
}

#[test]
fn a_stop_is_honoured_between_steps() {
    let formula = atom(&[(Variable::Output(0), -1.0)], 2.0);
    let query = Query::new(&identity(1), Region::new(vec![0.0], vec![1.0]), formula).unwrap();
    let asked = Cell::new(0);
    let stop = || {
        asked.set(asked.get() + 1);
        asked.get() > 3
    };
    let result = falsify(&query, 10, 1000, 0, &stop).unwrap();
    assert_eq!((asked.get(), result.evaluations), (4, 30));
}

#[test]
fn neighbours_of_a_near_miss_are_tried() {
    // One float32 satisfies the formula; the miss is the float beside it.
    let goal = 0.7f32;
    let query =
        Query::new(&identity(1), Region::new(vec![0.0], vec![1.0]), around(Variable::Output(0), f64::from(goal), 0.0))
            .unwrap();
    let attack = Attack::new(&query);
    let miss = [f64::from(goal.next_up())];
    assert_eq!(attack.replay(&miss).unwrap(), None);
    let witness = attack.try_neighbours(&miss, &mut Random::with_state(1)).unwrap().expect("a witness");
    assert_eq!(witness.inputs, [f64::from(goal)]);
}
