//! The encoding of temporal formulas against two other ways to say what they mean.

use certus_check::condition::{always, never};
use certus_check::lasso_semantics;
use certus_check::ltl_encoding::{Beyond, Shape, encode};
use certus_check::proof::beginning;
use certus_lang::system::{AtomId, Bounds, Formula};
use certus_model::{Nnf, nnf};
use certus_sim::semantics::{self, Tail};
use certus_solver::Place;
use proptest::prelude::*;

type Encoded = certus_solver::formula::Formula<Place>;

fn bounds() -> impl Strategy<Value = Bounds> {
    let bounded = (0u64..3, 0u64..4).prop_map(|(lower, more)| Bounds { lower, upper: Some(lower + more) });
    let open = (0u64..3).prop_map(|lower| Bounds { lower, upper: None });
    prop_oneof![2 => Just(Bounds::default()), 2 => bounded, 1 => open]
}

fn formulas() -> impl Strategy<Value = Formula> {
    let leaf = prop_oneof![
        8 => (0usize..2).prop_map(|id| Formula::Atom(AtomId(id))),
        1 => any::<bool>().prop_map(Formula::Constant),
    ];
    leaf.prop_recursive(3, 12, 2, |inner| {
        let pair = (bounds(), inner.clone(), inner.clone()).prop_map(|(b, x, y)| (b, Box::new(x), Box::new(y))).boxed();
        prop_oneof![
            inner.clone().prop_map(|x| Formula::Not(Box::new(x))),
            inner.clone().prop_map(|x| Formula::Next(Box::new(x))),
            prop::collection::vec(inner.clone(), 0..3).prop_map(Formula::And),
            prop::collection::vec(inner.clone(), 0..3).prop_map(Formula::Or),
            pair.clone().prop_map(|(_, x, y)| Formula::Implies(x, y)),
            pair.clone().prop_map(|(_, x, y)| Formula::Iff(x, y)),
            (bounds(), inner.clone()).prop_map(|(b, x)| Formula::Finally(b, Box::new(x))),
            (bounds(), inner.clone()).prop_map(|(b, x)| Formula::Globally(b, Box::new(x))),
            pair.clone().prop_map(|(b, x, y)| Formula::Until(b, x, y)),
            pair.clone().prop_map(|(b, x, y)| Formula::WeakUntil(b, x, y)),
            pair.prop_map(|(b, x, y)| Formula::Release(b, x, y)),
        ]
    })
}

/// What the encoding says where every atom is known.
fn encoded(formula: &Formula, positive: bool, shape: Shape, word: &[[bool; 2]]) -> bool {
    value(&nnf(formula, positive), 0, shape, Beyond::Anything, word)
}

fn value(formula: &Nnf, position: usize, shape: Shape, beyond: Beyond, word: &[[bool; 2]]) -> bool {
    let mut atom = |id: AtomId, position: usize, wanted: bool| -> Encoded {
        if word[position][id.0] == wanted { always() } else { never() }
    };
    match encode(formula, position, shape, beyond, &mut atom) {
        Encoded::And(parts) if parts.is_empty() => true,
        Encoded::Or(parts) if parts.is_empty() => false,
        other => panic!("known atoms leave nothing open: {other:?}"),
    }
}

/// The value of a formula on a lasso by its definition: positions are looked at as far as anything can depend on them.
fn defined(formula: &Formula, at: usize, word: &[[bool; 2]], start: usize) -> bool {
    let next = |at: usize| if at + 1 < word.len() { at + 1 } else { start };
    let of = |inner: &Formula, at: usize| defined(inner, at, word, start);
    let until = |bounds: &Bounds, left: &dyn Fn(usize) -> bool, right: &dyn Fn(usize) -> bool| {
        let last = bounds.upper.unwrap_or(bounds.lower + 2 * word.len() as u64);
        let mut at = at;
        for step in 0..=last {
            if step >= bounds.lower && right(at) {
                return true;
            }
            if !left(at) {
                return false;
            }
            at = next(at);
        }
        false
    };
    match formula {
        Formula::Constant(value) => *value,
        Formula::Atom(id) => word[at][id.0],
        Formula::Not(inner) => !of(inner, at),
        Formula::And(parts) => parts.iter().all(|part| of(part, at)),
        Formula::Or(parts) => parts.iter().any(|part| of(part, at)),
        Formula::Implies(left, right) => !of(left, at) || of(right, at),
        Formula::Iff(left, right) => of(left, at) == of(right, at),
        Formula::Next(inner) => of(inner, next(at)),
        Formula::Finally(bounds, inner) => until(bounds, &|_| true, &|at| of(inner, at)),
        Formula::Globally(bounds, inner) => !until(bounds, &|_| true, &|at| !of(inner, at)),
        Formula::Until(bounds, left, right) => until(bounds, &|at| of(left, at), &|at| of(right, at)),
        Formula::Release(bounds, left, right) => !until(bounds, &|at| !of(left, at), &|at| !of(right, at)),
        Formula::WeakUntil(bounds, left, right) => {
            let whole = Bounds { lower: 0, upper: bounds.upper };
            until(bounds, &|at| of(left, at), &|at| of(right, at)) || !until(&whole, &|_| true, &|at| !of(left, at))
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn on_a_lasso_all_agree(formula in formulas(), word in prop::collection::vec(any::<[bool; 2]>(), 1..5), start in 0usize..5) {
        let start = start % word.len();
        let shape = Shape { positions: word.len(), loop_to: Some(start) };
        let truth = defined(&formula, 0, &word, start);
        let atom = |id: AtomId, position: usize| word[position][id.0];
        prop_assert_eq!(lasso_semantics::holds(&formula, word.len(), start, &atom)[0], truth);
        prop_assert_eq!(encoded(&formula, true, shape, &word), truth);
        prop_assert_eq!(encoded(&formula, false, shape, &word), !truth);
    }

    #[test]
    fn what_a_prefix_shows_holds_of_every_continuation(
        formula in formulas(), word in prop::collection::vec(any::<[bool; 2]>(), 1..5),
    ) {
        let shape = Shape { positions: word.len(), loop_to: None };
        let atom = |id: AtomId, position: usize| word[position][id.0];
        let seen = semantics::evaluate(&formula, word.len(), Tail::Unknown, &atom);
        let normal = nnf(&formula, false);
        if encoded(&formula, false, shape, &word) {
            prop_assert!(!seen.greatest);
            prop_assert!(normal.can_end());
        }
        // A formula with a horizon is decided by so many steps.
        if normal.horizon().is_some_and(|horizon| horizon < word.len() as u64) {
            prop_assert_eq!(encoded(&formula, false, shape, &word), !seen.greatest);
            prop_assert_ne!(encoded(&formula, true, shape, &word), encoded(&formula, false, shape, &word));
        }
    }

    #[test]
    fn what_a_prefix_rules_out_no_continuation_brings_back(
        formula in formulas(), word in prop::collection::vec(any::<[bool; 2]>(), 1..6), start in 0usize..6, cut in 1usize..6,
    ) {
        let start = start % word.len();
        let normal = nnf(&formula, true);
        if defined(&formula, 0, &word, start) {
            let cut = cut.min(word.len());
            let prefix = Shape { positions: cut, loop_to: None };
            prop_assert!(value(&normal, 0, prefix, Beyond::TheBest, &word[..cut]));
        }
    }

    #[test]
    fn what_stays_for_ever_holds_all_along_the_loop(
        formula in formulas(), word in prop::collection::vec(any::<[bool; 2]>(), 1..6), start in 0usize..6,
    ) {
        let start = start % word.len();
        let tail = nnf(&formula, true).tail();
        if defined(&formula, 0, &word, start) {
            let shape = Shape { positions: word.len(), loop_to: Some(start) };
            for position in start..word.len() {
                prop_assert!(value(&tail, position, shape, Beyond::Anything, &word));
            }
        }
    }

    #[test]
    fn the_first_steps_of_what_holds_show_what_they_must(
        formula in formulas(), word in prop::collection::vec(any::<[bool; 2]>(), 1..6), start in 0usize..6, steps in 0usize..6,
    ) {
        let start = start % word.len();
        let normal = nnf(&formula, true);
        let near = normal.within(steps as u64);
        prop_assert!(near.horizon().is_some_and(|horizon| horizon <= steps as u64), "{:?}", near);
        let shape = Shape { positions: word.len(), loop_to: Some(start) };
        if defined(&formula, 0, &word, start) {
            prop_assert!(value(&near, 0, shape, Beyond::Anything, &word));
            let at = shape.after(0, steps).unwrap();
            prop_assert!(value(&normal.at(steps as u64), at, shape, Beyond::Anything, &word));
        }
        // A prefix that shows the formula shows what is left of it, and is as long as it must be.
        let prefix = Shape { positions: word.len(), loop_to: None };
        if value(&normal, 0, prefix, Beyond::Anything, &word) {
            prop_assert!(value(&near, 0, prefix, Beyond::Anything, &word));
            prop_assert!(normal.earliest().is_some_and(|earliest| earliest < word.len() as u64));
        }
        // Of a formula that looks no further nothing is lost.
        if normal.horizon().is_some_and(|horizon| horizon <= steps as u64) {
            prop_assert_eq!(&near, &normal);
        }
    }

    #[test]
    fn a_violation_begins_somewhere(
        formula in formulas(), word in prop::collection::vec(any::<[bool; 2]>(), 1..6), start in 0usize..6,
    ) {
        let start = start % word.len();
        let violation = nnf(&formula, false);
        let shape = Shape { positions: word.len(), loop_to: Some(start) };
        if let Some(bad) = beginning(&violation)
            && !defined(&formula, 0, &word, start)
        {
            prop_assert!((0..word.len()).any(|at| value(&bad, at, shape, Beyond::Anything, &word)), "{:?}", bad);
        }
    }
}
