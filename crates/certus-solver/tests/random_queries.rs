//! Random small queries against brute force: 'unsat' means that no sample satisfies the formula, 'sat' comes with a point
//! that does, and small queries never stay open.

use certus_graph::ops::{Affine, LeakyRelu, Mul, Relu, Sigmoid, Sin, Tanh};
use certus_graph::{Graph, Interval, NodeId, Op};
use certus_solver::formula::{Atom, Formula, Linear};
use certus_solver::vnnlib::Variable;
use certus_solver::{Answer, Budget, Query, Region, solve};
use proptest::prelude::*;

/// Numbers in [-1, 1) from a seed.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }

    fn below(&mut self, count: usize) -> usize {
        ((self.next() + 1.0) / 2.0 * count as f64) as usize
    }
}

fn layer(graph: &mut Graph, x: NodeId, rows: usize, numbers: &mut Numbers) -> NodeId {
    let columns = graph.elements(x);
    let weights = (0..rows * columns).map(|_| f64::from((numbers.next() * 2.0) as f32)).collect();
    let bias = (0..rows).map(|_| f64::from(numbers.next() as f32)).collect();
    graph.apply(Affine::dense(weights, rows, columns, bias).unwrap(), &[x]).unwrap()
}

fn network(numbers: &mut Numbers) -> Graph {
    let mut graph = Graph::new();
    let mut x = graph.input("x", &[2]);
    let activations: [Op; 5] = [Relu.into(), Tanh.into(), Sigmoid.into(), LeakyRelu { alpha: 0.1 }.into(), Sin.into()];
    for _ in 0..1 + numbers.below(2) {
        let rows = 2 + numbers.below(5);
        let y = layer(&mut graph, x, rows, numbers);
        x = graph.apply(activations[numbers.below(5)].clone(), &[y]).unwrap();
        if numbers.below(5) == 0 {
            let other = layer(&mut graph, x, rows, numbers);
            x = graph.apply(Mul, &[x, other]).unwrap();
        }
    }
    let y = layer(&mut graph, x, 2, numbers);
    graph.output("y", y);
    graph
}

/// c₀·y₀ + c₁·y₁ + c₂·x₀ ≤ t.
fn atom(numbers: &mut Numbers, threshold: f64) -> Atom<Variable> {
    let variables = [Variable::Output(0), Variable::Output(1), Variable::Input(0)];
    let terms = variables.into_iter().map(|v| (v, Interval::point((numbers.next() * 4.0).round() / 2.0)));
    let terms = terms.filter(|(_, c)| *c != Interval::ZERO).collect();
    Atom { linear: Linear { terms, constant: Interval::point(-threshold) }, strict: numbers.below(2) == 0 }
}

fn formula(numbers: &mut Numbers, threshold: f64) -> Formula<Variable> {
    let mut atoms = || Formula::Atom(atom(numbers, threshold));
    let (a, b, c) = (atoms(), atoms(), atoms());
    match numbers.below(4) {
        0 => a,
        1 => Formula::And(vec![a, b]),
        2 => Formula::Or(vec![a, b]),
        _ => Formula::Or(vec![Formula::And(vec![a, b]), c]),
    }
}

fn truth(formula: &Formula<Variable>, x: &[f64], y: &[f64]) -> Option<bool> {
    formula.certainty(&|variable| match *variable {
        Variable::Input(index) => Interval::point(x[index]),
        Variable::Output(index) => Interval::point(y[index]),
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn answers_agree_with_samples(seed: u64, threshold in -4.0f64..1.0) {
        let mut numbers = Numbers(seed);
        let graph = network(&mut numbers);
        let formula = formula(&mut numbers, threshold);
        let region = Region::new(vec![-1.0, -0.5], vec![1.0, 0.75]);
        let query = Query::new(&graph, region, formula.clone()).unwrap();
        let budget = Budget { boxes: 4_000, ..Budget::default() };
        let answer = solve(&query, &budget, &mut |_| {}).unwrap();
        match answer {
            Answer::Sat(witness) => {
                let y: Vec<f64> = witness.outputs.iter().map(|&y| f64::from(y)).collect();
                prop_assert_eq!(truth(&formula, &witness.inputs, &y), Some(true));
                prop_assert!((-1.0..=1.0).contains(&witness.inputs[0]) && (-0.5..=0.75).contains(&witness.inputs[1]));
            }
            Answer::Unsat(_) => {
                for _ in 0..3000 {
                    let x = [numbers.next(), numbers.next() * 0.625 + 0.125];
                    let y = certus_graph::eval::evaluate(&graph, &[&x]).unwrap().remove(0);
                    prop_assert_ne!(truth(&formula, &x, &y), Some(true), "{:?} {:?}", x, y);
                }
            }
            // Where the formula's boundary runs through the region without being crossed, cutting never ends.
            Answer::Unknown(..) => {}
        }
    }
}

#[test]
fn an_empty_region_is_unsat_and_a_point_is_decided() {
    let mut numbers = Numbers(3);
    let graph = network(&mut numbers);
    let below = |threshold: f64| {
        let linear =
            Linear { terms: vec![(Variable::Output(0), Interval::ONE)], constant: Interval::point(-threshold) };
        Formula::Atom(Atom { linear, strict: false })
    };
    let ask = |lower: [f64; 2], upper: [f64; 2], threshold: f64| {
        let region = Region::new(lower.to_vec(), upper.to_vec());
        let query = Query::new(&graph, region, below(threshold)).unwrap();
        solve(&query, &Budget::default(), &mut |_| {}).unwrap()
    };
    assert!(matches!(ask([1.0, 0.0], [0.0, 1.0], 0.0), Answer::Unsat(_)));
    let y = certus_graph::eval::evaluate(&graph, &[&[0.25, 0.5]]).unwrap()[0][0];
    assert!(matches!(ask([0.25, 0.5], [0.25, 0.5], y + 0.01), Answer::Sat(_)));
    assert!(matches!(ask([0.25, 0.5], [0.25, 0.5], y - 0.01), Answer::Unsat(_)));
}

#[test]
fn threads_do_not_change_a_verdict() {
    let mut numbers = Numbers(11);
    for _ in 0..20 {
        let graph = network(&mut numbers);
        let formula = formula(&mut numbers, -2.0);
        let query = Query::new(&graph, Region::new(vec![-1.0; 2], vec![1.0; 2]), formula).unwrap();
        let run = |threads| {
            let budget = Budget { threads, boxes: 2_000, ..Budget::default() };
            solve(&query, &budget, &mut |_| {}).unwrap()
        };
        // Either may run out of boxes first, but they never contradict each other.
        let pair = (run(1), run(3));
        let contradiction = matches!(pair, (Answer::Sat(_), Answer::Unsat(_)) | (Answer::Unsat(_), Answer::Sat(_)));
        assert!(!contradiction, "{pair:?}");
    }
}
