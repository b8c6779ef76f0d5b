//! Linear programs against gradient steps, and searches near ties against the enumeration of all activation patterns.

use certus_graph::ops::{Affine, Relu};
use certus_graph::{Graph, Interval};
use proptest::prelude::*;

use super::expressions::Expressions;
use super::problem::Problem;
use super::relax;
use crate::bound::goal::{Goal, Row};
use crate::bound::optimise_slopes::{Ascent, optimise};
use crate::bound::program::Program;
use crate::bound::refine::{Subdomain, bound_subdomains};
use crate::bound::table::{Bounds, Range};
use crate::formula::{Atom, Formula, Linear};
use crate::vnnlib::Variable;
use crate::{Answer, Budget, Query, Region, UnknownReason, solve};

/// Rows of weights and a bias for each layer; ReLU between layers.
type Layers = Vec<(Vec<Vec<f64>>, Vec<f64>)>;

/// A polygon of inputs, and the affine functions there: slopes and constant.
type Piece = (Vec<[f64; 2]>, Vec<([f64; 2], f64)>);

/// Weights are eighths, so that nothing but the search is put to the test.
fn layers(sizes: Vec<usize>) -> impl Strategy<Value = Layers> {
    let eighths = || (-16i32..=16).prop_map(|n| f64::from(n) / 8.0);
    let pairs: Vec<_> = sizes
        .windows(2)
        .map(|pair| {
            let rows = prop::collection::vec(prop::collection::vec(eighths(), pair[0]), pair[1]);
            (rows, prop::collection::vec(eighths(), pair[1]))
        })
        .collect();
    pairs
}

/// The network, and its nodes before each ReLU.
fn network(layers: &Layers) -> (Graph, Vec<usize>) {
    let mut graph = Graph::new();
    let mut x = graph.input("x", &[layers[0].0[0].len()]);
    let mut hidden = Vec::new();
    for (number, (weights, bias)) in layers.iter().enumerate() {
        let (rows, columns) = (weights.len(), weights[0].len());
        x = graph.apply(Affine::dense(weights.concat(), rows, columns, bias.clone()).unwrap(), &[x]).unwrap();
        if number + 1 < layers.len() {
            hidden.push(x.index());
            x = graph.apply(Relu, &[x]).unwrap();
        }
    }
    graph.output("y", x);
    (graph, hidden)
}

fn evaluate(layers: &Layers, x: &[f64]) -> Vec<f64> {
    let mut x = x.to_vec();
    for (number, (weights, bias)) in layers.iter().enumerate() {
        let affine = weights.iter().zip(bias).map(|(w, b)| b + w.iter().zip(&x).map(|(w, x)| w * x).sum::<f64>());
        x = if number + 1 < layers.len() { affine.map(|v| v.max(0.0)).collect() } else { affine.collect() };
    }
    x
}

/// The rows yᵢ − tᵢ ≤ 0 with a goal over all of them, and bounds over [−1, 1]ⁿ where an element of the last hidden layer is not negative.
fn setting(layers: &Layers, thresholds: &[f64], split: Option<usize>) -> (Program, Bounds, Vec<Row>, Goal) {
    let (graph, hidden) = network(layers);
    let output = graph.outputs()[0].node.index();
    let program = Program::new(graph);
    let last = hidden[hidden.len() - 1];
    let range = |element: usize| Range { node: last, element, lo: 0.0, hi: f64::INFINITY };
    let ranges: Vec<Range> = split.map(|element| range(element % program.sizes[last])).into_iter().collect();
    let ends = (vec![-1.0; program.inputs], vec![1.0; program.inputs]);
    let subdomain = Subdomain { lower: &ends.0, upper: &ends.1, ranges: ranges.clone(), inherited: None };
    let bounds = bound_subdomains(&program, &[subdomain], true, &|| false).unwrap();
    let row =
        |(element, &t): (usize, &f64)| Row { terms: vec![(output, element, 1.0, 0.0)], constant: -t, strict: false };
    let rows: Vec<Row> = thresholds.iter().enumerate().map(row).collect();
    let weights = (0..rows.len()).map(|row| (row, 1.0 / rows.len() as f64)).collect();
    let goal = Goal { rows: weights, multipliers: Goal::multipliers_of(&ranges, &[]), fixed: None };
    (program, bounds, rows, goal)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn no_gradient_steps_beat_the_program(
        layers in layers(vec![3, 6, 5, 2]), t in prop::array::uniform2(-4.0f64..4.0), split in prop::option::of(0usize..5),
        samples in prop::collection::vec(prop::collection::vec(-1.0f64..=1.0, 3), 200),
    ) {
        let (program, bounds, rows, goal) = setting(&layers, &t, split);
        prop_assume!(!bounds.empty[0]);
        let relaxed = relax(&program, &mut bounds.clone(), &rows, &goal, 60, 0, false).unwrap();
        let ascent = Ascent { steps: 40, keep_alphas: false, splits: 0 };
        let optimised = optimise(&program, &mut bounds.clone(), &rows, vec![goal], ascent, &|| false).remove(0);
        let bound = relaxed.optimised.bound;
        // Steps end as soon as a bound is positive, and so may a ray of an infeasible program be of any size.
        if optimised.bound <= 0.0 {
            prop_assert!(bound >= optimised.bound - 1e-6 * (1.0 + optimised.bound.abs()), "{bound} {}", optimised.bound);
        } else {
            prop_assert!(bound > 0.0, "{bound} {}", optimised.bound);
        }
        if split.is_none() {
            for x in samples {
                let y = evaluate(&layers, &x);
                prop_assert!(bound <= (y[0] - t[0]).max(y[1] - t[1]) + 1e-9);
            }
        }
    }

    #[test]
    fn both_methods_find_the_same_optimum(
        layers in layers(vec![3, 7, 6, 3]), t in prop::array::uniform3(-4.0f64..4.0), split in prop::option::of(0usize..6),
    ) {
        let (program, bounds, rows, goal) = setting(&layers, &t, split);
        prop_assume!(!bounds.empty[0]);
        let own = Expressions::new(&program, &bounds, program.roles.len() - 1, 60).unwrap();
        let problem = Problem::new(&program, &bounds, &rows, &goal, &own);
        let (vertex, inside) = (problem.by_dual_simplex(false).unwrap(), problem.by_interior_point().unwrap());
        if vertex.value.is_finite() || inside.value.is_finite() {
            prop_assert!((vertex.value - inside.value).abs() <= 1e-6 * (1.0 + inside.scale), "{} {}", vertex.value, inside.value);
        }
        // Ending early gives a bound that is positive, or the optimum.
        let early = problem.by_dual_simplex(true).unwrap().value;
        prop_assert!(early > 0.0 || (early - vertex.value).abs() <= 1e-9 * (1.0 + vertex.scale));
    }

    #[test]
    fn the_solution_satisfies_the_lines_and_its_dual_is_the_bound(
        layers in layers(vec![3, 6, 5, 2]), t in prop::array::uniform2(-4.0f64..4.0), split in prop::option::of(0usize..5),
    ) {
        let (program, mut bounds, rows, goal) = setting(&layers, &t, split);
        prop_assume!(!bounds.empty[0]);
        let own = Expressions::new(&program, &bounds, program.roles.len() - 1, 60).unwrap();
        let problem = Problem::new(&program, &bounds, &rows, &goal, &own);
        let solution = problem.solve(false).unwrap();
        prop_assume!(solution.value.is_finite());
        prop_assert!(problem.excess(&solution.at) <= 1e-7, "{}", problem.excess(&solution.at));
        let relaxed = relax(&program, &mut bounds, &rows, &goal, 60, 0, false).unwrap();
        // A positive bound is good enough, however large the optimum is.
        if solution.value > 0.0 {
            prop_assert!(relaxed.optimised.bound > 0.0);
            return Ok(());
        }
        let difference = solution.value - relaxed.optimised.bound;
        prop_assert!(difference.abs() <= 1e-6 * (1.0 + solution.value.abs()), "{} {difference}", solution.value);
    }
}

/// The subproblem of a polygon where a·x + b ≥ 0.
fn clipped(polygon: &[[f64; 2]], a: [f64; 2], b: f64) -> Vec<[f64; 2]> {
    let side = |p: &[f64; 2]| a[0] * p[0] + a[1] * p[1] + b;
    let mut result = Vec::new();
    for (place, p) in polygon.iter().enumerate() {
        let q = &polygon[(place + 1) % polygon.len()];
        let (at_p, at_q) = (side(p), side(q));
        if at_p >= 0.0 {
            result.push(*p);
        }
        if at_p * at_q < 0.0 {
            let s = at_p / (at_p - at_q);
            result.push([p[0] + s * (q[0] - p[0]), p[1] + s * (q[1] - p[1])]);
        }
    }
    result
}

/// The smallest first output over a polygon, by taking every ReLU apart: `values` are the current layer's inputs as a·x + b.
fn minimum(layers: &[(Vec<Vec<f64>>, Vec<f64>)], values: &[([f64; 2], f64)], polygon: Vec<[f64; 2]>) -> f64 {
    let Some(((weights, bias), rest)) = layers.split_first() else { return f64::INFINITY };
    let affine = |(row, &bias): (&Vec<f64>, &f64)| {
        row.iter()
            .zip(values)
            .fold(([0.0; 2], bias), |(a, b), (w, (c, d))| ([a[0] + w * c[0], a[1] + w * c[1]], b + w * d))
    };
    let sums: Vec<([f64; 2], f64)> = weights.iter().zip(bias).map(affine).collect();
    if rest.is_empty() {
        let (a, b) = sums[0];
        return polygon.iter().map(|p| a[0] * p[0] + a[1] * p[1] + b).fold(f64::INFINITY, f64::min);
    }
    let mut pieces = vec![(polygon, Vec::new())];
    for (a, b) in sums {
        let halves = pieces.into_iter().flat_map(|(polygon, values): Piece| {
            let on = clipped(&polygon, a, b);
            let off = clipped(&polygon, [-a[0], -a[1]], -b);
            let with = |value| values.iter().copied().chain([value]).collect::<Vec<_>>();
            [(on, with((a, b))), (off, with(([0.0; 2], 0.0)))]
        });
        pieces = halves.filter(|(polygon, _)| !polygon.is_empty()).collect();
    }
    pieces.into_iter().map(|(polygon, values)| minimum(rest, &values, polygon)).fold(f64::INFINITY, f64::min)
}

/// Is the first output somewhere at most (or below) a threshold over [−1, 1]ⁿ?
fn ask(layers: &Layers, threshold: f64, strict: bool) -> Answer {
    let (graph, _) = network(layers);
    let inputs = layers[0].0[0].len();
    let linear = Linear { terms: vec![(Variable::Output(0), Interval::ONE)], constant: Interval::point(-threshold) };
    let region = Region::new(vec![-1.0; inputs], vec![1.0; inputs]);
    let query = Query::new(&graph, region, Formula::Atom(Atom { linear, strict })).unwrap();
    solve(&query, &Budget { subproblems: 20_000, ..Budget::default() }, &mut |_| {}).unwrap()
}

/// Whether a search came to its own end.
fn ended(answer: &Answer) -> bool {
    !matches!(answer, Answer::Unknown(reason, _) if !matches!(reason, UnknownReason::Numerics | UnknownReason::Precision))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn near_ties_agree_with_all_patterns(layers in layers(vec![2, 6, 4, 1])) {
        let square = vec![[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]];
        let least = minimum(&layers, &[([1.0, 0.0], 0.0), ([0.0, 1.0], 0.0)], square);
        let unit = least.abs().max(1.0);
        let answer = ask(&layers, least - 1e-6 * unit, false);
        prop_assert!(matches!(answer, Answer::Unsat(_)), "below {least}: {answer:?}");
        let answer = ask(&layers, least + 1e-4 * unit, false);
        prop_assert!(matches!(answer, Answer::Sat(_)), "above {least}: {answer:?}");
        // So near, single precision may hide every witness, but nothing refutes them.
        let answer = ask(&layers, least + 1e-6 * unit, false);
        prop_assert!(ended(&answer) && !matches!(answer, Answer::Unsat(_)), "just above {least}: {answer:?}");
        for strict in [false, true] {
            let answer = ask(&layers, least, strict);
            prop_assert!(ended(&answer), "at {least}: {answer:?}");
        }
    }
}

/// |scale · x − 1| from two ReLUs.
fn valley(scale: f64) -> Layers {
    vec![(vec![vec![scale], vec![-scale]], vec![-1.0, 1.0]), (vec![vec![1.0, 1.0]], vec![0.0])]
}

#[test]
fn exact_ties_are_met_where_a_float_lies_there_and_end_elsewhere() {
    assert!(matches!(ask(&valley(4.0), 0.0, false), Answer::Sat(_)));
    let nowhere = ask(&valley(4.0), 0.0, true);
    assert!(ended(&nowhere) && !matches!(nowhere, Answer::Sat(_)), "{nowhere:?}");
    // A third is no float: there is a solution, but no witness.
    let third = ask(&valley(3.0), 0.0, false);
    assert!(matches!(third, Answer::Unknown(UnknownReason::Precision, _)), "{third:?}");
}

#[test]
fn a_point_that_single_precision_hides_is_told() {
    // |3x − 1| ≤ 1e-12 holds near a third, and no float32 is that near.
    let hidden = ask(&valley(3.0), 1e-12, false);
    assert!(matches!(hidden, Answer::Unknown(UnknownReason::Precision, _)), "{hidden:?}");
}

#[test]
fn kinks_that_all_meet_in_a_point_come_to_an_end() {
    // Σ |aᵢ · (x − c)| with twelve directions: its minimum is zero, at c alone, where 24 ReLUs have their breakpoints.
    let centre = [0.3, -0.7];
    let directions = (0..12).map(|i| [f64::from(i % 5) - 2.0, f64::from(i % 7) - 2.5]);
    let signed: Vec<[f64; 2]> = directions.flat_map(|[a, b]| [[a, b], [-a, -b]]).collect();
    let bias = signed.iter().map(|[a, b]| -(a * centre[0] + b * centre[1])).collect();
    let first = signed.iter().map(|a| a.to_vec()).collect();
    let layers = vec![(first, bias), (vec![vec![1.0; 24]], vec![0.0])];
    assert!(matches!(ask(&layers, -1e-6, false), Answer::Unsat(_)));
    let tie = ask(&layers, 0.0, true);
    assert!(ended(&tie), "{tie:?}");
}

#[test]
fn a_minimum_on_a_whole_plateau_comes_to_an_end() {
    // 1.375 · relu(1 − 0.75 · relu(x − 1.875 y)): zero on a region with an area, found by the test above.
    let layers: Layers = vec![
        (vec![vec![1.0, -1.875], vec![0.0, 0.0]], vec![0.0, 0.125]),
        (vec![vec![-0.5, 0.0], vec![-0.75, 0.0]], vec![0.0, 1.0]),
        (vec![vec![0.75, 1.375]], vec![0.0]),
    ];
    assert!(matches!(ask(&layers, 0.0, false), Answer::Sat(_)));
    let below = ask(&layers, 0.0, true);
    assert!(ended(&below) && !matches!(below, Answer::Sat(_)), "{below:?}");
    // The same at a height that is rounded.
    let raised: Layers = vec![
        layers[0].clone(),
        (vec![vec![-0.5, 0.0], vec![-0.75, 0.0], vec![0.0, 0.0]], vec![0.0, 1.0, 0.3]),
        (vec![vec![0.75, 1.375, 0.7]], vec![0.1]),
    ];
    for strict in [false, true] {
        let tie = ask(&raised, 0.7 * 0.3 + 0.1, strict);
        assert!(ended(&tie), "{strict}: {tie:?}");
    }
}
