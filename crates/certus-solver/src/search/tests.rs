//! The pieces of the search that no bound checks again: clips, combinations of lines, ranges of single atoms, and what a subproblem must
//! satisfy.

use certus_graph::ops::Relu;
use certus_graph::{Graph, Interval};
use proptest::prelude::*;

use super::clip::{LinearBound, combine};
use super::logic::Logic;
use super::subproblem::Subproblem;
use crate::formula::{Atom, Formula, Linear};
use crate::vnnlib::Variable;

/// The line's value at a point, for certain.
fn value(line: &LinearBound, x: &[f64]) -> Interval {
    let start = Interval::point(line.constant);
    line.slopes.iter().zip(x).fold(start, |sum, (&slope, &x)| sum + Interval::point(slope) * Interval::point(x))
}

fn number() -> impl Strategy<Value = f64> {
    let whole = (-8i32..8).prop_map(f64::from);
    prop_oneof![4 => -2.0f64..2.0, 1 => Just(0.0), 1 => -1e-9f64..1e-9, 1 => -1e9f64..1e9, 1 => whole]
}

fn line(inputs: usize) -> impl Strategy<Value = LinearBound> {
    (prop::collection::vec(number(), inputs), number()).prop_map(|(slopes, constant)| LinearBound { slopes, constant })
}

/// A box, and points of it.
fn region(inputs: usize) -> impl Strategy<Value = (Vec<f64>, Vec<f64>, Vec<Vec<f64>>)> {
    let side = (number(), prop_oneof![3 => 0.0f64..2.0, 1 => Just(0.0), 1 => 0.0f64..1e-9]);
    let shares = prop::collection::vec(prop_oneof![2 => 0.0f64..=1.0, 1 => Just(0.0), 1 => Just(1.0)], inputs);
    (prop::collection::vec(side, inputs), prop::collection::vec(shares, 40)).prop_map(|(sides, shares)| {
        let lower: Vec<f64> = sides.iter().map(|side| side.0).collect();
        let upper: Vec<f64> = sides.iter().map(|side| side.0 + side.1).collect();
        let place = |share: &Vec<f64>| -> Vec<f64> {
            let ends = lower.iter().zip(&upper).zip(share);
            ends.map(|((&low, &high), t)| (low + t * (high - low)).clamp(low, high)).collect()
        };
        let points = shares.iter().map(place).collect();
        (lower, upper, points)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn clips_keep_every_point_at_which_the_line_is_at_most_zero(
        mut line in line(3),
        (lower, upper, points) in region(3),
        at_a_point: bool,
    ) {
        if at_a_point {
            // The line touches zero at one of the points.
            line.constant = 0.0;
            line.constant = -value(&line, &points[0]).hi;
        }
        let (mut low, mut high) = (lower.clone(), upper.clone());
        let claims = line.clip(&mut low, &mut high);
        prop_assert!(low.iter().zip(&high).all(|(low, high)| low <= high), "{low:?} {high:?}");
        for x in points.iter().filter(|x| value(&line, x).hi <= 0.0) {
            prop_assert!(x.iter().zip(low.iter().zip(&high)).all(|(x, (low, high))| low <= x && x <= high), "{x:?}");
        }
        // Claims say all that changed.
        for (input, upper, bound) in claims {
            prop_assert_eq!(if upper { high[input] } else { low[input] }, bound);
            if upper { high[input] = f64::NAN } else { low[input] = f64::NAN }
        }
        for (now, before) in low.iter().chain(&high).zip(lower.iter().chain(&upper)) {
            prop_assert!(now.is_nan() || now == before);
        }
    }

    #[test]
    fn minima_and_combinations_lie_below_every_point(
        lines in prop::collection::vec(line(3), 1..4),
        (lower, upper, points) in region(3),
    ) {
        for line in &lines {
            let minimum = line.minimum(&lower, &upper);
            for x in &points {
                prop_assert!(minimum <= value(line, x).hi);
            }
        }
        let (weights, bound) = combine(&lines.iter().collect::<Vec<_>>(), &lower, &upper);
        prop_assert!(weights.iter().all(|&weight| weight >= 0.0));
        prop_assert!((weights.iter().sum::<f64>() - 1.0).abs() < 1e-9);
        // Some line is at least the bound wherever the weighted sum is.
        for x in &points {
            let largest = lines.iter().map(|line| value(line, x).hi).fold(f64::NEG_INFINITY, f64::max);
            prop_assert!(bound <= largest + 1e-9 * (1.0 + largest.abs()), "{bound} {largest}");
        }
    }

    #[test]
    fn single_atoms_give_ranges_that_hold_all_their_values(
        coefficient in number(), width in prop_oneof![Just(0.0), 0.0f64..1e-3], constant in number(), v in number(),
    ) {
        let mut graph = Graph::new();
        let x = graph.input("x", &[1]);
        graph.output("y", x);
        let coefficient = Interval::new(coefficient, coefficient + width);
        let linear = Linear { terms: vec![(Variable::Output(0), coefficient)], constant: Interval::point(constant) };
        let logic = Logic::new(&graph, &Formula::Atom(Atom { linear, strict: false }));
        // The atom holds at v for one of the coefficients that may be meant.
        for c in [coefficient.lo, coefficient.hi] {
            if (Interval::point(c) * Interval::point(v) + Interval::point(constant)).hi <= 0.0 {
                for range in logic.ranges(&[0]) {
                    prop_assert!(range.lo <= v && v <= range.hi, "{range:?} {v}");
                }
            }
        }
    }
}

fn atom(index: usize) -> Formula<Variable> {
    let linear = Linear { terms: vec![(Variable::Output(index), Interval::ONE)], constant: Interval::ZERO };
    Formula::Atom(Atom { linear, strict: false })
}

#[test]
fn what_must_hold_follows_the_choices() {
    let mut graph = Graph::new();
    let x = graph.input("x", &[8]);
    let y = graph.apply(Relu, &[x]).unwrap();
    graph.output("y", y);
    // a0 and (a1 or (a2 and (a3 or a4))) and (a5 and (a6 or true))
    let inner = Formula::Or(vec![atom(3), atom(4)]);
    let outer = Formula::Or(vec![atom(1), Formula::And(vec![atom(2), inner])]);
    let last = Formula::And(vec![atom(5), Formula::Or(vec![atom(6), Formula::And(Vec::new())])]);
    let logic = Logic::new(&graph, &Formula::And(vec![atom(0), outer, last]));
    let core = |choices: &[(u32, u32)]| {
        let core = logic.core(choices);
        (core.rows, core.pending)
    };
    assert_eq!(core(&[]), (vec![0, 5], vec![0, 2]));
    assert_eq!(core(&[(0, 0)]), (vec![0, 1, 5], vec![2]));
    assert_eq!(core(&[(0, 1)]), (vec![0, 2, 5], vec![1, 2]));
    assert_eq!(core(&[(0, 1), (1, 1), (2, 1)]), (vec![0, 2, 4, 5], vec![]));
    // A choice inside a disjunct that was not taken says nothing.
    assert_eq!(core(&[(1, 0)]), (vec![0, 5], vec![0, 2]));
}

#[test]
fn cuts_of_one_element_meet() {
    let subproblem =
        Subproblem::default().restricted(3, 1, f64::NEG_INFINITY, 2.0).restricted(3, 1, -1.0, f64::INFINITY);
    let subproblem = subproblem.restricted(3, 0, 0.0, f64::INFINITY).restricted(3, 1, f64::NEG_INFINITY, 5.0);
    let ranges: Vec<_> = subproblem.ranges.iter().map(|range| (range.element, range.lo, range.hi)).collect();
    assert_eq!(ranges, [(1, -1.0, 2.0), (0, 0.0, f64::INFINITY)]);
}
