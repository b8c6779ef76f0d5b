//! Bounds against points: whatever graph, subproblem, combination and alphas, a point of the subproblem has its values inside the bounds.

use certus_graph::canonical::canonicalize;
use certus_graph::eval::enclose_nodes;
use certus_graph::lower::lower;
use certus_graph::ops::{Affine, Gather, Mul, Relu};
use certus_graph::{Graph, Interval};
use certus_testing::graphs;
use proptest::prelude::*;

use super::goal::{Goal, Row};
use super::optimise_slopes::{Ascent, OptimisedBound, certify, optimise};
use super::program::{Program, Role};
use super::refine::{InheritedBounds, Subdomain, bound_subdomains};
use super::table::{Bounds, Range};
use crate::relaxation::Alpha;

/// Numbers in [0, 1) from a seed.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }

    fn below(&mut self, count: usize) -> usize {
        (self.next() * count as f64) as usize
    }
}

/// A subproblem with a point in it, and the values of all nodes there.
struct Sample {
    point: Vec<f64>,
    values: Vec<Vec<Interval>>,
    lower: Vec<f64>,
    upper: Vec<f64>,
    ranges: Vec<Range>,
}

fn values_at(program: &Program, point: &[f64]) -> Vec<Vec<Interval>> {
    let point: Vec<Interval> = point.iter().map(|&x| Interval::point(x)).collect();
    let mut rest = point.as_slice();
    let inputs: Vec<&[Interval]> = program
        .graph
        .inputs()
        .iter()
        .map(|port| {
            let (own, after) = rest.split_at(program.graph.elements(port.node));
            rest = after;
            own
        })
        .collect();
    enclose_nodes(&program.graph, &inputs).unwrap()
}

/// A subproblem around a random point, with ranges of some elements that hold there.
fn sample(program: &Program, numbers: &mut Numbers) -> Sample {
    let point: Vec<f64> = (0..program.inputs).map(|_| 3.0 * numbers.next() - 1.5).collect();
    let values = values_at(program, &point);
    let size = [0.0, 1e-3, 0.3, 1.0][numbers.below(4)];
    let mut reach = |x: f64, sign: f64| if numbers.next() < 0.2 { x } else { x + sign * size * numbers.next() };
    let lower = point.iter().map(|&x| reach(x, -1.0)).collect();
    let upper = point.iter().map(|&x| reach(x, 1.0)).collect();
    let mut ranges = Vec::new();
    for _ in 0..numbers.below(6) {
        let node = numbers.below(program.sizes.len());
        if program.sizes[node] == 0 {
            continue;
        }
        let element = numbers.below(program.sizes[node]);
        let value = values[node][element];
        let end = |near: f64, sign: f64, share: f64| match (share * 3.0) as usize {
            0 => sign * f64::INFINITY,
            1 => near,
            _ => near + sign * share,
        };
        let (lo, hi) = (end(value.lo, -1.0, numbers.next()), end(value.hi, 1.0, numbers.next()));
        let other = ranges.iter().any(|range: &Range| (range.node, range.element) == (node, element));
        if value.lo.is_finite() && value.hi.is_finite() && !other {
            ranges.push(Range { node, element, lo, hi });
        }
    }
    Sample { point, values, lower, upper, ranges }
}

fn subdomain<'a>(sample: &'a Sample, known: Option<&'a InheritedBounds>) -> Subdomain<'a> {
    Subdomain { lower: &sample.lower, upper: &sample.upper, ranges: sample.ranges.clone(), inherited: known }
}

/// The first element whose bounds leave a sample's value out.
fn outside(bounds: &Bounds, index: usize, values: &[Vec<Interval>]) -> Option<String> {
    for (node, values) in values.iter().enumerate() {
        for (element, value) in values.iter().enumerate() {
            let range = bounds.interval(node, element, index);
            if range.lo > value.hi || range.hi < value.lo {
                return Some(format!("node {node} element {element}: {value} outside {range}"));
            }
        }
    }
    bounds.empty[index].then(|| "a subproblem with a point in it is called empty".to_string())
}

/// Rows over random elements.
fn random_rows(program: &Program, numbers: &mut Numbers) -> Vec<Row> {
    let mut row = || {
        let mut terms: Vec<(usize, usize, f64, f64)> = Vec::new();
        for _ in 0..1 + numbers.below(3) {
            let node = program.sizes.len() - 1 - numbers.below(program.sizes.len().min(6));
            if program.sizes[node] == 0 {
                continue;
            }
            let element = numbers.below(program.sizes[node]);
            let radius = if numbers.next() < 0.3 { 1e-3 * numbers.next() } else { 0.0 };
            if terms.iter().all(|term| (term.0, term.1) != (node, element)) {
                terms.push((node, element, 4.0 * numbers.next() - 2.0, radius));
            }
        }
        Row { terms, constant: 2.0 * numbers.next() - 1.0, strict: false }
    };
    (0..3).map(|_| row()).collect()
}

/// The most that a optimised combination can be at a sample.
fn combination_at(optimised: &OptimisedBound, rows: &[Row], sample: &Sample) -> f64 {
    let mut sum = Interval::ZERO;
    for &(row, weight) in &optimised.rows {
        let start = Interval::point(rows[row].constant);
        let value = rows[row].terms.iter().fold(start, |sum, &(node, element, coefficient, _)| {
            sum + Interval::point(coefficient) * sample.values[node][element]
        });
        sum = sum + Interval::point(weight) * value;
    }
    for m in &optimised.multipliers {
        let sign = if m.from_below { -1.0 } else { 1.0 };
        let distance = sample.values[m.node][m.element] - Interval::point(m.end);
        sum = sum + Interval::point(sign * m.weight) * distance;
    }
    sum.hi
}

/// What is wrong with a optimised bound, if a sample tells.
fn refuted(optimised: &OptimisedBound, rows: &[Row], sample: &Sample) -> Option<String> {
    let most = combination_at(optimised, rows, sample);
    let start = Interval::point(optimised.constant);
    let line = optimised.slopes.iter().zip(&sample.point);
    let line = line.fold(start, |sum, (&slope, &x)| sum + Interval::point(slope) * Interval::point(x)).lo;
    let wrong = optimised.bound > most || (optimised.constant.is_finite() && line > most);
    wrong.then(|| format!("bound {} and line {line} above {most}", optimised.bound))
}

/// Whether the noted size of every line covers what is added up where it is used.
fn sizes_cover_lines(program: &Program, bounds: &Bounds) -> bool {
    program.roles.iter().enumerate().all(|(node, role)| {
        let Role::Curve(_, argument) = role else { return true };
        let table = &bounds.relaxations[node];
        (0..table.size.len()).all(|at| {
            let reach = bounds.lower[*argument][at].abs().max(bounds.upper[*argument][at].abs());
            let subproblem = |slope: f64| if slope == 0.0 { 0.0 } else { slope.abs() * reach };
            let (below, above) = (subproblem(table.lower_slope[at]), subproblem(table.upper_slope[at]));
            let needed = (below + table.lower_offset[at].abs()).max(above + table.upper_offset[at].abs());
            // Empty boxes may hold anything; where nothing is known nothing is claimed.
            needed <= table.size[at] || needed.is_nan() || !table.size[at].is_finite()
        })
    })
}

fn prepared(graph: &Graph) -> Program {
    Program::new(lower(&canonicalize(graph).unwrap()).unwrap())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn bounds_and_combinations_hold_at_points(graph in graphs::graphs(), seed: u64, refine: bool) {
        let program = prepared(&graph);
        let mut numbers = Numbers(seed);
        let samples: Vec<Sample> = (0..3).map(|_| sample(&program, &mut numbers)).collect();
        let go_on = || false;
        let subdomains: Vec<Subdomain<'_>> = samples.iter().map(|sample| subdomain(sample, None)).collect();
        let bounds = bound_subdomains(&program, &subdomains, refine, &go_on).unwrap();
        for (index, sample) in samples.iter().enumerate() {
            prop_assert_eq!(outside(&bounds, index, &sample.values), None);
        }
        let rows = random_rows(&program, &mut numbers);
        let mut goal = |sample: &Sample| {
            let mut multipliers = Goal::multipliers_of(&sample.ranges, &[]);
            multipliers.iter_mut().for_each(|m| m.weight = numbers.next() * [0.0, 0.1, 1.0][numbers.below(3)]);
            let weights = [0, 1, 2].map(|row| (row, numbers.next()));
            let fixed = (numbers.next() < 0.3).then_some(0);
            Goal { rows: weights.to_vec(), multipliers, fixed }
        };
        let goals: Vec<Goal> = samples.iter().map(&mut goal).collect();
        let mut tuned_bounds = bounds.pick(&[0, 1, 2]);
        let ascent = Ascent { steps: 4, keep_alphas: true, splits: 2 };
        for (optimised, sample) in optimise(&program, &mut tuned_bounds, &rows, goals.clone(), ascent, &go_on).iter().zip(&samples) {
            prop_assert_eq!(refuted(optimised, &rows, sample), None);
        }
        prop_assert!(sizes_cover_lines(&program, &tuned_bounds));
        // Any alphas at all, for each subproblem alone.
        for (index, (goal, sample)) in goals.into_iter().zip(&samples).enumerate() {
            let mut alphas = Vec::new();
            for (node, &size) in program.sizes.iter().enumerate() {
                alphas.extend((0..size).map(|e| (node, e, Alpha { lower: numbers.next(), upper: numbers.next() })));
            }
            let optimised = certify(&program, &mut bounds.pick(&[index]), &rows, goal, &alphas, false);
            prop_assert_eq!(refuted(&optimised, &rows, sample), None);
        }
    }

    #[test]
    fn bounds_of_a_larger_part_hold_in_a_smaller_one(graph in graphs::graphs(), seed: u64, refine: bool) {
        let program = prepared(&graph);
        let mut numbers = Numbers(seed);
        let sample = sample(&program, &mut numbers);
        let larger = bound_subdomains(&program, &[subdomain(&sample, None)], true, &|| false).unwrap();
        let known = InheritedBounds::of(&program, &larger, 0);
        // Smaller on every side, still around the point.
        let mut towards = |end: &f64, x: &f64| if numbers.next() < 0.5 { *end } else { end / 2.0 + x / 2.0 };
        let smaller = Sample {
            lower: sample.lower.iter().zip(&sample.point).map(|(low, x)| towards(low, x).min(*x)).collect(),
            upper: sample.upper.iter().zip(&sample.point).map(|(high, x)| towards(high, x).max(*x)).collect(),
            ..sample
        };
        let bounds = bound_subdomains(&program, &[subdomain(&smaller, Some(&known))], refine, &|| false).unwrap();
        prop_assert_eq!(outside(&bounds, 0, &smaller.values), None);
        for (node, low, high) in &known.nodes {
            for (element, (low, high)) in low.iter().zip(high).enumerate() {
                let range = bounds.interval(*node, element, 0);
                prop_assert!(*low <= range.lo && range.hi <= *high, "node {node} forgot what it inherited");
            }
        }
    }
}

/// What rounding may change grows with the number of sums that meet in one coefficient, and with what is there already.
#[test]
fn many_small_sums_on_a_large_coefficient_are_accounted_for() {
    let mut graph = Graph::new();
    let x = graph.input("x", &[1]);
    let copies = graph.apply(Gather { axis: 0, indices: vec![0; 1000], index_shape: vec![1000] }, &[x]).unwrap();
    // Folded first, so that the copies are summed up on the way back and not beforehand.
    let folded = graph.apply(Relu, &[copies]).unwrap();
    let tiny: Vec<f64> = (0..1000).map(|k| 1e-9 * (1.0 + f64::from(k) / 7.0)).collect();
    let sum = graph.apply(Affine::dense(tiny.clone(), 1, 1000, vec![0.0]).unwrap(), &[folded]).unwrap();
    graph.output("sum", sum);
    graph.output("x", x);
    let program = Program::new(graph);
    let sample = Sample {
        point: vec![1.0],
        values: values_at(&program, &[1.0]),
        lower: vec![1.0],
        upper: vec![1.0 + 1e-3],
        ranges: Vec::new(),
    };
    let bounds = bound_subdomains(&program, &[subdomain(&sample, None)], true, &|| false).unwrap();
    let row = Row { terms: vec![(0, 0, 1e7 / 3.0, 0.0), (3, 0, 1.0, 0.0)], constant: 0.0, strict: false };
    let goal = Goal { rows: vec![(0, 1.0)], ..Goal::default() };
    let optimised = certify(&program, &mut bounds.pick(&[0]), &[row], goal, &[], false);
    // At x = 1, which is the minimum; every partial sum may have been rounded by half a unit of the large one.
    let most = optimised.slopes[0] + optimised.constant;
    let unit = (1e7f64 / 3.0) * f64::EPSILON / 2.0;
    assert!(optimised.slopes[0] - most > 1000.0 * unit, "{} {most}", optimised.slopes[0]);
}

#[test]
fn the_weights_of_products_that_underflow_are_accounted_for() {
    let mut graph = Graph::new();
    let x = graph.input("x", &[2]);
    let small = graph.apply(Affine::dense(vec![1e-200, 0.0, 0.0, 1e-200], 2, 2, vec![0.0; 2]).unwrap(), &[x]).unwrap();
    let product = graph.apply(Mul, &[small, small]).unwrap();
    graph.output("y", product);
    let program = Program::new(graph);
    let sample = Sample {
        point: vec![1e200, 1e200],
        values: values_at(&program, &[1e200, 1e200]),
        lower: vec![0.0, 0.0],
        upper: vec![1e200, 1e200],
        ranges: Vec::new(),
    };
    let bounds = bound_subdomains(&program, &[subdomain(&sample, None)], true, &|| false).unwrap();
    assert_eq!(outside(&bounds, 0, &sample.values), None);
    let row = Row { terms: vec![(2, 0, -1e-200, 0.0)], constant: 0.0, strict: false };
    let goal = Goal { rows: vec![(0, 1.0)], ..Goal::default() };
    let optimised = certify(&program, &mut bounds.pick(&[0]), std::slice::from_ref(&row), goal, &[], false);
    assert_eq!(refuted(&optimised, &[row], &sample), None);
}

/// A subproblem of a graph with one input between two numbers.
fn between(program: &Program, low: f64, high: f64) -> Bounds {
    let subproblem = Subdomain { lower: &[low], upper: &[high], ranges: Vec::new(), inherited: None };
    bound_subdomains(program, &[subproblem], true, &|| false).unwrap()
}

#[test]
fn sums_whose_terms_cancel_are_accounted_for() {
    // 2⁵³ + 1 + … + 1 − 2⁵³: to nearest every 1 is lost, unless it is added to another first.
    let large = 2f64.powi(53);
    let weights: Vec<f64> = (0..66).map(|k| [large, 1.0, -large][usize::from(k > 0) + usize::from(k == 65)]).collect();
    let mut graph = Graph::new();
    let x = graph.input("x", &[1]);
    let copies = graph.apply(Affine::dense(vec![1.0; 66], 66, 1, vec![0.0; 66]).unwrap(), &[x]).unwrap();
    let folded = graph.apply(Relu, &[copies]).unwrap();
    let rows = weights.iter().copied().cycle().take(66 * 9).collect();
    let sums = graph.apply(Affine::dense(rows, 9, 66, vec![0.0; 9]).unwrap(), &[folded]).unwrap();
    graph.output("y", sums);
    let program = Program::new(graph);
    let bounds = between(&program, 1.0, 1.0);
    for element in 0..9 {
        assert!(bounds.interval(3, element, 0).contains(64.0), "{}", bounds.interval(3, element, 0));
    }
    // The same sum on the way back.
    for sign in [1.0, -1.0] {
        let terms = weights.iter().enumerate().map(|(element, weight)| (2, element, sign * weight, 0.0)).collect();
        let row = Row { terms, constant: 0.0, strict: false };
        let goal = Goal { rows: vec![(0, 1.0)], ..Goal::default() };
        let optimised = certify(&program, &mut bounds.pick(&[0]), &[row], goal, &[], false);
        assert!(optimised.bound <= sign * 64.0, "{}", optimised.bound);
    }
}

#[test]
fn a_slope_that_moves_takes_its_rounding_along() {
    let mut graph = Graph::new();
    let x = graph.input("x", &[1]);
    let y = graph.apply(Relu, &[x]).unwrap();
    graph.output("y", y);
    let program = Program::new(graph);
    let mut bounds = between(&program, -1000.0, 1e-3);
    // relu(x) − 2x is least at the right end, where a steeper line below is better.
    let row = Row { terms: vec![(1, 0, 1.0, 0.0), (0, 0, -2.0, 0.0)], constant: 0.0, strict: false };
    let goal = Goal { rows: vec![(0, 1.0)], ..Goal::default() };
    let ascent = Ascent { steps: 3, keep_alphas: false, splits: 0 };
    optimise(&program, &mut bounds, &[row], vec![goal], ascent, &|| false);
    assert!(bounds.relaxations[1].lower_slope[0] > 0.1);
    assert!(sizes_cover_lines(&program, &bounds));
}
