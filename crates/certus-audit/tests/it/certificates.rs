//! Certificates written by hand: accepted as they are, refused with any fault in them.

use crate::support::questions::{half_magnitude, half_magnitude_tree, many_kinds, square, too_large, too_large_tree};
use crate::support::{atom, audit, canonical_argument, canonical_node, certificate, dense, halving_tree, strictly};
use certus_audit::{Atom, Formula, Problem, Reason, Rejection, Variable, check, read_header};
use certus_graph::ops::{Add, Affine, Clip, Concat, Constant, Op, Relu, RowError};
use certus_graph::{Graph, Interval};

#[test]
fn input_splits_prove_what_the_whole_box_does_not() {
    let graph = half_magnitude();
    // y ≥ 0, so y ≤ −0.26 is impossible.
    let problem = square(&graph, atom(&[1.0], 0.26));
    assert!(matches!(audit(&problem, &certificate("close a0:1.0")).unwrap_err().reason, Reason::NotClosed { .. }));
    let tree = halving_tree(&[-1.0; 2], &[1.0; 2], 4, "close a0:1.0");
    let summary = audit(&problem, &certificate(&tree)).unwrap();
    assert_eq!((summary.cases, summary.leaves, summary.records), (1, 16, 31));
}

#[test]
fn node_splits_are_used_by_their_multipliers() {
    let graph = half_magnitude();
    let p = canonical_argument(&graph, canonical_node(&graph, "Relu", 0));
    let problem = square(&graph, atom(&[1.0], 0.01));
    audit(&problem, &certificate(&half_magnitude_tree(&graph))).unwrap();
    for (tree, line) in [
        // Without the multipliers, with swapped ones, with the side that was not taken.
        (format!("split node {p} 0 0.0\nclose a0:1.0\nclose a0:1.0"), 6),
        (format!("split node {p} 0 0.0\nclose a0:1.0 n{p}.0:-0.5\nclose a0:1.0 n{p}.0:0.5"), 6),
        (format!("split node {p} 0 0.0\nclose a0:1.0 n{p}.0:0.5\nclose a0:1.0 n{p}.0:0.5"), 7),
        (format!("close a0:1.0 n{p}.0:0.5"), 5),
    ] {
        assert_eq!(audit(&problem, &certificate(&tree)).unwrap_err().line, line, "{tree}");
    }
}

#[test]
fn leans_choose_the_line_that_closes() {
    let graph = half_magnitude();
    let r = canonical_node(&graph, "Relu", 0);
    let problem = square(&graph, atom(&[1.0], 0.01));
    audit(&problem, &certificate(&format!("close a0:1.0 t{r}.0:0.5/0.0"))).unwrap();
    let other = certificate(&format!("close a0:1.0 t{r}.0:0.25/0.0"));
    assert!(matches!(audit(&problem, &other).unwrap_err().reason, Reason::NotClosed { .. }));
    let misplaced = certificate("close a0:1.0 t0.0:0.5/0.0");
    assert_eq!(audit(&problem, &misplaced).unwrap_err().reason, Reason::Unknown("curve or product"));
}

#[test]
fn strict_atoms_close_at_zero_and_others_do_not() {
    let mut graph = Graph::new();
    let x = graph.input("x", &[1]);
    let y = graph.apply(Relu, &[x]).unwrap();
    graph.output("y", y);
    let ask = |formula| Problem { graph: &graph, lower: vec![-1.0], upper: vec![1.0], formula };
    let below_zero = atom(&[1.0], 0.0);
    let node = canonical_node(&graph, "Relu", 0);
    let text = certificate(&format!("close a0:1.0 t{node}.0:0.0/0.0"));
    audit(&ask(strictly(below_zero.clone())), &text).unwrap();
    assert_eq!(audit(&ask(below_zero.clone()), &text).unwrap_err().reason, Reason::NotClosed { bound: 0.0 });
    // A strict atom without weight does not make the others strict.
    let mixed = Formula::And(vec![below_zero.clone(), strictly(below_zero)]);
    assert!(audit(&ask(mixed.clone()), &certificate("close a0:1.0 a1:0.0")).is_err());
    audit(&ask(mixed), &certificate("close a1:1.0")).unwrap();
}

#[test]
fn disjunctions_curves_and_products() {
    let graph = many_kinds();
    let problem = square(&graph, too_large(0.52, 0.9));
    let proof = certificate(&too_large_tree(&graph));
    audit(&problem, &proof).unwrap();
    for (tree, reason) in [
        ("either 0\nclose a2:1.0\nclose a2:1.0", Reason::NotRequired("atom")),
        ("close a0:1.0", Reason::NotRequired("atom")),
        ("close a7:1.0", Reason::Unknown("atom")),
        ("either 1", Reason::Unknown("disjunction")),
        ("either 0\nempty", Reason::NotEmpty),
        ("split input 2 0.0", Reason::Unknown("input")),
        ("split node 99 0 0.0", Reason::Unknown("element")),
        ("split node 0 2 0.0", Reason::Unknown("element")),
        ("either 0", Reason::EndsEarly),
        ("either 0\nclip a0:1.0 ; x0 >= 0.99", Reason::NotImplied { input: 0 }),
    ] {
        assert_eq!(audit(&problem, &certificate(tree)).unwrap_err().reason, reason, "{tree}");
    }
    // The same proof does not carry over to a question that has an answer.
    assert!(audit(&square(&graph, too_large(0.5, 0.9)), &proof).is_err());
    assert!(audit(&square(&graph, too_large(0.52, 0.88)), &proof).is_err());
}

#[test]
fn new_bounds_must_follow_and_are_used() {
    // y = 2x, x ≤ limit and x − y + 1.5 ≤ 0, that is x ≥ 1.5.
    let mut graph = Graph::new();
    let x = graph.input("x", &[1]);
    let y = dense(&mut graph, x, &[2.0], &[0.0]);
    graph.output("y", y);
    let ask = |limit: f64| {
        let at_most =
            Atom { terms: vec![(Variable::Input(0), Interval::ONE)], constant: Interval::point(-limit), strict: false };
        let at_least = Atom {
            terms: vec![(Variable::Input(0), Interval::ONE), (Variable::Output(0), -Interval::ONE)],
            constant: Interval::point(1.5),
            strict: false,
        };
        let formula = Formula::And(vec![Formula::Atom(at_most), Formula::Atom(at_least)]);
        Problem { graph: &graph, lower: vec![0.0], upper: vec![4.0], formula }
    };
    audit(&ask(1.0), &certificate("clip a1:1.0 ; x0 >= 1.25\nempty")).unwrap();
    audit(&ask(1.0), &certificate("close a0:1.0 a1:1.0")).unwrap();
    assert_eq!(audit(&ask(1.0), &certificate("empty")).unwrap_err().reason, Reason::NotEmpty);
    for (clip, follows) in [
        ("clip a1:1.0 ; x0 >= 1.25", true),
        ("clip a1:1.0 ; x0 >= -1.0", true),
        ("clip a1:1.0 ; x0 <= 2.5", true),
        ("clip a1:1.0 ; x0 >= 1.25 ; x0 <= 2.0", true),
        ("clip a1:1.0 ; x0 >= 1.75", false),
        ("clip a1:1.0 ; x0 >= 2.5", false),
        ("clip a1:1.0 ; x0 >= 1.25 ; x0 <= 1.75", false),
        ("clip a1:1.0 ; x0 <= -1.0", false),
        ("clip a1:0.0 ; x0 >= 1.25", false),
    ] {
        let reason = audit(&ask(2.0), &certificate(&format!("{clip}\nempty"))).unwrap_err().reason;
        let expected = if follows { Reason::NotEmpty } else { Reason::NotImplied { input: 0 } };
        assert_eq!(reason, expected, "{clip}");
    }
}

#[test]
fn impossible_and_trivial_formulas() {
    let graph = half_magnitude();
    let never = square(&graph, Formula::Or(vec![]));
    audit(&never, &certificate("empty")).unwrap();
    audit(&never, &certificate("either 0")).unwrap();
    let always = square(&graph, Formula::And(vec![]));
    for tree in ["empty", "close", "either 0", "split input 0 0.0\nempty\nempty"] {
        assert!(audit(&always, &certificate(tree)).is_err(), "{tree}");
    }
    // Outside the box there is nothing.
    audit(&always, &certificate("split input 0 2.0\nempty\nempty")).unwrap_err();
    let nowhere = Problem { graph: &graph, lower: vec![1.0; 2], upper: vec![-1.0; 2], formula: Formula::And(vec![]) };
    audit(&nowhere, &certificate("empty")).unwrap();
    let misfit = Problem { graph: &graph, lower: vec![1.0], upper: vec![1.0; 2], formula: Formula::And(vec![]) };
    assert_eq!(audit(&misfit, &certificate("empty")).unwrap_err().line, 0);
}

#[test]
fn every_case_has_its_tree() {
    let graph = half_magnitude();
    let problems = [square(&graph, Formula::Or(vec![])), square(&graph, Formula::Or(vec![]))];
    let verdict = |body: &str| {
        let text = format!("{}{body}", crate::support::HEADER);
        let (_, certificate) = read_header(text.as_bytes()).unwrap();
        check(&problems, certificate, &mut |_| {}).map_err(|rejection| rejection.reason)
    };
    assert_eq!(verdict("case 0\nempty\ncase 1\nempty\nend\n").unwrap().cases, 2);
    assert_eq!(verdict("case 0\nempty\nend\n"), Err(Reason::WrongCase { expected: Some(1) }));
    assert_eq!(verdict("case 1\nempty\ncase 0\nempty\nend\n"), Err(Reason::WrongCase { expected: Some(0) }));
    assert_eq!(verdict("case 0\nempty\ncase 1\nempty\n"), Err(Reason::EndsEarly));
    assert_eq!(verdict("case 0\nempty\ncase 1\nempty\nempty\nend\n"), Err(Reason::WrongCase { expected: None }));
    assert_eq!(verdict("case 0\nempty\ncase 1\nempty\nend\nend\n"), Err(Reason::TrailingRecord));
}

#[test]
fn deep_trees_need_no_recursion() {
    let graph = half_magnitude();
    let problem = square(&graph, atom(&[1.0], 2.0));
    // A chain of splits at ever smaller places; each upper side is a leaf of its own.
    let depth = 20_000u32;
    let mut tree = String::new();
    for step in 0..depth {
        tree.push_str(&format!("split input 0 {:?}\n", 1.0 - f64::from(step) / f64::from(depth)));
    }
    tree.push_str("close a0:1.0\n");
    tree.push_str(&"close a0:1.0\n".repeat(20_000));
    let summary = audit(&problem, &certificate(&tree)).unwrap();
    assert_eq!(summary.leaves, u64::from(depth) + 1);
    assert_eq!(summary.deepest, u64::from(depth) + 1);
}

#[test]
fn numbers_that_were_rounded_are_not_trusted() {
    // y = w·x + b with w within ½ of 1 and b within ¼ of 0, and y = x + c with c between −¾ and ¼.
    let mut rounded = Graph::new();
    let x = rounded.input("x", &[1]);
    let affine = Affine::dense(vec![1.0], 1, 1, vec![0.0]).unwrap();
    let y = rounded.apply(affine.with_error(RowError { weights: vec![0.5], bias: vec![0.25] }), &[x]).unwrap();
    rounded.output("y", y);
    let mut folded = Graph::new();
    let x = folded.input("x", &[1]);
    let constant = Constant::enclosed(&[1], &[Interval::new(-0.75, 0.25)]).unwrap();
    let c = folded.apply(Op::from(constant), &[]).unwrap();
    let y = folded.apply(Add, &[x, c]).unwrap();
    folded.output("y", y);
    // Over 1 ≤ x ≤ 2 both can be as small as ¼; doubtful weights are charged at the largest x. The input in the atom
    // keeps interval bounds from deciding it.
    for (graph, proved) in [(&rounded, -0.3), (&folded, 0.2)] {
        let ask = |most: f64| {
            let terms = vec![(Variable::Output(0), Interval::ONE), (Variable::Input(0), Interval::point(1e-3))];
            let formula = Formula::Atom(Atom { terms, constant: Interval::point(-most - 1e-3), strict: false });
            Problem { graph, lower: vec![1.0], upper: vec![2.0], formula }
        };
        audit(&ask(proved), &certificate("close a0:1.0")).unwrap();
        assert!(audit(&ask(0.3), &certificate("close a0:1.0")).is_err());
        assert!(audit(&ask(0.3), &certificate("refine\nclose a0:1.0")).is_err());
    }
}

#[test]
fn a_coefficient_of_either_sign_is_bounded_by_the_range() {
    let mut graph = Graph::new();
    let x = graph.input("x", &[1]);
    let y = graph.apply(Clip { lower: -1.0, upper: 0.0 }, &[x]).unwrap();
    graph.output("y", y);
    let node = canonical_node(&graph, "Clip", 0);
    // c·y + k ≤ 0 for some c between −1 and 1 and −1 ≤ y ≤ 0: possible for k ≤ 1. The line above y is flat.
    for (constant, holds) in [(1.01, true), (0.99, false), (0.01, false)] {
        let terms = vec![(Variable::Output(0), Interval::new(-1.0, 1.0))];
        let formula = Formula::Atom(Atom { terms, constant: Interval::point(constant), strict: false });
        let problem = Problem { graph: &graph, lower: vec![-2.0], upper: vec![2.0], formula };
        assert_eq!(audit(&problem, &certificate(&format!("close a0:1.0 t{node}.0:0.0/0.0"))).is_ok(), holds);
    }
}

#[test]
fn what_held_in_one_branch_does_not_hold_in_the_next() {
    let graph = half_magnitude();
    let p = canonical_argument(&graph, canonical_node(&graph, "Relu", 0));
    let problem = square(&graph, atom(&[1.0], 0.01));
    let tree = format!("split node {p} 0 0.0\nclose a0:1.0 n{p}.0:0.5\nclose a0:1.0 n{p}.0:-0.5 n{p}.0:0.0001");
    assert_eq!(audit(&problem, &certificate(&tree)).unwrap_err(), Rejection { line: 7, reason: Reason::NoSuchRange });
    let never = || atom(&[1.0], 2.0);
    let inner = Formula::Or(vec![never(), never()]);
    let nested = square(&graph, Formula::Or(vec![Formula::And(vec![inner, never()]), never()]));
    audit(&nested, &certificate("either 0\neither 1\nclose a0:1.0\nclose a1:1.0 a2:1.0\nclose a3:1.0")).unwrap();
    let elsewhere = certificate("either 0\neither 1\nclose a0:1.0\nclose a1:1.0\neither 1");
    assert_eq!(audit(&nested, &elsewhere).unwrap_err().reason, Reason::NotRequired("disjunction"));
    let too_early = certificate("either 1");
    assert_eq!(audit(&nested, &too_early).unwrap_err().reason, Reason::NotRequired("disjunction"));
}

#[test]
fn new_upper_bounds_must_follow() {
    // y = 2x and y − x ≤ limit, that is x ≤ limit, over 0 ≤ x ≤ 4.
    let mut graph = Graph::new();
    let x = graph.input("x", &[1]);
    let y = dense(&mut graph, x, &[2.0], &[0.0]);
    graph.output("y", y);
    for (limit, bound, follows) in
        [(1.5, 1.75, true), (1.5, 1.25, false), (1.5, -1.0, false), (0.0, 0.0, true), (0.0, -1.0, false)]
    {
        let terms = vec![(Variable::Output(0), Interval::ONE), (Variable::Input(0), -Interval::ONE)];
        let formula = Formula::Atom(Atom { terms, constant: Interval::point(-limit), strict: false });
        let problem = Problem { graph: &graph, lower: vec![0.0], upper: vec![4.0], formula };
        let reason =
            audit(&problem, &certificate(&format!("clip a0:1.0 ; x0 <= {bound:?}\nempty"))).unwrap_err().reason;
        let expected = if follows { Reason::NotEmpty } else { Reason::NotImplied { input: 0 } };
        assert_eq!(reason, expected, "{limit} {bound}");
    }
}

#[test]
fn refined_bounds_are_tighter() {
    // relu(p + 2) − relu(p + 3) is −1 for p = x₀ + x₁ in [−2, 2]; intervals only know that it is at most 3.
    let mut graph = Graph::new();
    let x = graph.input("x", &[2]);
    let sums = dense(&mut graph, x, &[1.0, 1.0, 1.0, 1.0], &[2.0, 3.0]);
    let active = graph.apply(Relu, &[sums]).unwrap();
    let difference = dense(&mut graph, active, &[1.0, -1.0], &[0.0]);
    let last = graph.apply(Relu, &[difference]).unwrap();
    let y = dense(&mut graph, last, &[-1.0], &[0.0]);
    let both = graph.apply(Concat { axis: 0 }, &[y, x]).unwrap();
    graph.output("y", both);
    // −relu(difference) + x₀/10 ≤ −½ needs a difference of at least 0.4, where it is −1.
    let problem = square(&graph, atom(&[1.0, 0.1], 0.5));
    assert!(audit(&problem, &certificate("close a0:1.0")).is_err());
    audit(&problem, &certificate("refine\nclose a0:1.0")).unwrap();
}
