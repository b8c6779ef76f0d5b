//! A search that is stopped again and again, written down and read back, ends as one that was never stopped.

use crate::support::{Asked, Numbers, at_most, floats, layer, random_formula};
use certus_graph::Graph;
use certus_graph::ops::{Mul, Op, Relu, Sin, Tanh};
use certus_solver::formula::Formula;
use certus_solver::vnnlib::Variable;
use certus_solver::{Answer, Budget, Progress, Refutation, Saved, UnknownReason, Watcher, solve, solve_from};
use proptest::prelude::*;

/// Keeps the last state.
#[derive(Default)]
struct Keeper(Option<Saved>);

impl Watcher for Keeper {
    fn progress(&mut self, _: Progress) {}

    fn state(&mut self, saved: Saved) {
        self.0 = Some(saved);
    }
}

fn network(inputs: usize, numbers: &mut Numbers) -> Graph {
    let mut graph = Graph::new();
    let mut x = graph.input("x", &[inputs]);
    let curves: [Op; 3] = [Relu.into(), Tanh.into(), Sin.into()];
    for _ in 0..2 {
        let y = layer(&mut graph, x, 5, 1.0, numbers);
        x = graph.apply(curves[numbers.below(3)].clone(), &[y]).unwrap();
        if numbers.chance(0.2) {
            let other = layer(&mut graph, x, 5, 1.0, numbers);
            x = graph.apply(Mul, &[x, other]).unwrap();
        }
    }
    let y = layer(&mut graph, x, 2, 1.0, numbers);
    graph.output("y", y);
    graph
}

/// A question that takes some parts to answer. Two inputs are cut themselves; with seven, cutting them and cutting elements
/// take turns.
fn question(seed: u64) -> Asked {
    let mut numbers = Numbers(seed);
    let inputs = if numbers.chance(0.5) { 2 } else { 7 };
    let graph = network(inputs, &mut numbers);
    let formula = Formula::And(Vec::new());
    let mut asked = Asked { graph, lower: vec![-1.0; inputs], upper: vec![1.0; inputs], formula };
    let mut sample = || {
        let x = asked.point(&mut numbers);
        let y = floats(&asked.graph, &x);
        (x, y)
    };
    let samples: Vec<(Vec<f64>, Vec<f64>)> = (0..200).map(|_| sample()).collect();
    asked.formula = random_formula(&samples, inputs, 2, &mut numbers);
    asked
}

/// How many disjuncts the disjunctions have, in preorder.
fn disjuncts(formula: &Formula<Variable>, counts: &mut Vec<usize>) {
    match formula {
        Formula::Atom(_) => {}
        Formula::And(parts) => parts.iter().for_each(|part| disjuncts(part, counts)),
        Formula::Or(parts) => {
            counts.push(parts.len());
            parts.iter().for_each(|part| disjuncts(part, counts));
        }
    }
}

/// The number of leaves of a tree in preorder, if it is complete and nothing follows.
fn leaves(tree: &str, formula: &Formula<Variable>) -> Option<usize> {
    let mut counts = Vec::new();
    disjuncts(formula, &mut counts);
    let (mut missing, mut leaves) = (1usize, 0);
    for line in tree.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        let children = match words[0] {
            "split" => 2,
            "either" => *counts.get(words[1].parse::<usize>().ok()?)?,
            "close" | "empty" => 0,
            "open" => return None,
            _ => 1,
        };
        leaves += usize::from(children == 0);
        missing = missing.checked_sub(1)? + children;
    }
    (missing == 0).then_some(leaves)
}

/// Searches a few parts at a time, through text; how many legs that took.
fn in_legs(asked: &Asked, budget: &Budget<'_>, legs: usize) -> (Answer, usize) {
    let query = asked.query();
    let mut keeper = Keeper::default();
    let mut answer = solve_from(&query, None, budget, &mut keeper).unwrap();
    for leg in 0..legs {
        let Answer::Unknown(UnknownReason::Subproblems, progress) = answer else { return (answer, leg) };
        let saved = keeper.0.take().expect("a search that ends open hands its state out");
        let text = saved.print();
        let read = Saved::parse(&text).unwrap();
        assert_eq!(read.print(), text);
        assert!(read.fits(&query), "{text}");
        assert_eq!((read.progress().verified, read.progress().open), (progress.verified, progress.open));
        answer = solve_from(&query, Some(read), budget, &mut keeper).unwrap();
    }
    (answer, legs)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn legs_end_where_one_run_ends(seed: u64, subproblems in 1u64..12, certify: bool, threads in 1usize..3) {
        let asked = question(seed);
        let whole = solve(&asked.query(), &Budget { subproblems: 500, certify, ..Budget::default() }, &mut |_| {}).unwrap();
        let (answer, _) = in_legs(&asked, &Budget { subproblems, certify, threads, ..Budget::default() }, 40);
        match (&whole, &answer) {
            (Answer::Sat(_), Answer::Unsat(_)) | (Answer::Unsat(_), Answer::Sat(_)) => {
                prop_assert!(false, "{whole:?} at once, {answer:?} in legs")
            }
            (_, Answer::Sat(witness)) => prop_assert_eq!(asked.fault(witness), None),
            (_, Answer::Unsat(refutation)) => {
                let mut numbers = Numbers(!seed);
                for _ in 0..300 {
                    let x = asked.point(&mut numbers);
                    prop_assert_ne!(asked.truth(&x), Some(true), "{:?}", x);
                }
                let count = refutation.tree.as_ref().map(|tree| leaves(tree, &asked.formula));
                prop_assert!(if certify { matches!(count, Some(Some(1..))) } else { count.is_none() }, "{answer:?}");
                if let Some(tree) = &refutation.tree {
                    prop_assert_eq!(asked.audit(tree).err(), None);
                }
            }
            _ => {}
        }
    }

    #[test]
    fn damaged_states_are_refused(seed in 0u64..16, place in 0.0f64..1.0, kind in 0usize..5, letter in 0u8..128) {
        let query = question(seed).query();
        let mut keeper = Keeper::default();
        let budget = Budget { subproblems: 3, certify: true, ..Budget::default() };
        let answer = solve_from(&query, None, &budget, &mut keeper).unwrap();
        let Some(saved) = keeper.0 else {
            prop_assert!(!matches!(answer, Answer::Unknown(..)));
            return Ok(());
        };
        let text = saved.print();
        let lines: Vec<&str> = text.lines().collect();
        let line = (place * lines.len() as f64) as usize;
        let at = (place * text.len() as f64) as usize;
        let damaged = match kind {
            0 => text[..at].to_string(),
            1 => [&lines[..line], &lines[line + 1..]].concat().join("\n") + "\n",
            2 => [&lines[..line], &lines[line..line + 1], &lines[line..]].concat().join("\n") + "\n",
            3 => [&text[..at], &text[at + 1..]].concat(),
            _ => [&text[..at], &char::from(letter).to_string(), &text[at + 1..]].concat(),
        };
        prop_assert!(damaged == text || Saved::parse(&damaged).is_err(), "{damaged}");
    }
}

#[test]
fn some_questions_take_several_legs() {
    let legs = |seed| in_legs(&question(seed), &Budget { subproblems: 2, certify: true, ..Budget::default() }, 20).1;
    assert!((0..40).filter(|&seed| legs(seed) > 1).count() >= 3);
}

#[test]
fn a_state_of_another_query_does_not_fit() {
    let asked = (0..).map(question).find(|asked| asked.lower.len() == 2).unwrap();
    // A thin line of points that floats hardly hit, and no bound excludes.
    let formula = Formula::And(vec![
        at_most(&[(Variable::Output(0), 1.0), (Variable::Input(0), -0.3)], -0.1),
        at_most(&[(Variable::Output(0), -1.0), (Variable::Input(0), 0.3)], 0.1),
    ]);
    let open = Asked { formula, ..asked };
    let mut keeper = Keeper::default();
    let budget = Budget { subproblems: 1, ..Budget::default() };
    let answer = solve_from(&open.query(), None, &budget, &mut keeper).unwrap();
    let Some(saved) = keeper.0 else { panic!("{answer:?}") };
    assert!(saved.fits(&open.query()));
    let smaller = Asked { lower: vec![0.5; 2], ..open.clone() };
    assert!(!saved.fits(&smaller.query()));
    let graph = network(3, &mut Numbers(1));
    let other = Asked { graph, lower: vec![-1.0; 3], upper: vec![1.0; 3], formula: at_most(&[], 0.0) };
    assert!(!saved.fits(&other.query()));
}

#[test]
fn sines_that_turn_twice_have_certificates() {
    // The checker once knew no lines for them, and rejected what followed from those.
    let asked = question(14934104317755774801);
    let (answer, _) = in_legs(&asked, &Budget { subproblems: 500, certify: true, ..Budget::default() }, 4);
    let Answer::Unsat(Refutation { tree: Some(tree), .. }) = answer else { panic!("{answer:?}") };
    assert_eq!(asked.audit(&tree).err(), None);
}
