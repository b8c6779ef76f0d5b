//! Every step of the way from a formula to an automaton keeps the language: random formulas with bounds, random words.

use certus_automata::acceptance::simplify_acceptance;
use certus_automata::automaton::Automaton;
use certus_automata::formula::{Formulas, Names};
use certus_automata::implication::Implications;
use certus_automata::normal::normal;
use certus_automata::obligation::minimal_obligation;
use certus_automata::parse::parse;
use certus_automata::print::print;
use certus_automata::simplify::simplify;
use certus_automata::simulation::{absorb_transient, backward_simulation, simulation};
use certus_automata::translate::{Options, reduce, tableau};
use certus_automata::trim::trim;
use certus_automata::word::{Word, eval_lasso};
use proptest::prelude::*;

fn word(letters: u64) -> impl Strategy<Value = Word> {
    (prop::collection::vec(0..letters, 0..5), prop::collection::vec(0..letters, 1..5))
        .prop_map(|(prefix, cycle)| Word::new(&prefix, &cycle).unwrap())
}

fn check(automaton: &Automaton, words: &[(Word, bool)], stage: &str) -> Result<(), TestCaseError> {
    let mut automaton = automaton.clone();
    for (word, expected) in words {
        prop_assert_eq!(
            crate::common::accepts(&mut automaton, word),
            *expected,
            "{} on {:?}\n{:?}",
            stage,
            word,
            &automaton
        );
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, ..ProptestConfig::default() })]

    #[test]
    fn every_step_keeps_the_language(tree in crate::common::trees(3, 12), words in prop::collection::vec(word(8), 12)) {
        let mut store = Formulas::new();
        let formula = tree.build(&mut store);
        let words: Vec<_> = words.into_iter().map(|w| { let truth = eval_lasso(&store, formula, &w); (w, truth) }).collect();
        let core = normal(&mut store, formula, false).unwrap();
        let negated = normal(&mut store, formula, true).unwrap();
        let simple = simplify(&mut store, core);
        for (word, truth) in &words {
            prop_assert_eq!(eval_lasso(&store, core, word), *truth, "normal form");
            prop_assert_eq!(eval_lasso(&store, negated, word), !*truth, "negated normal form");
            prop_assert_eq!(eval_lasso(&store, simple, word), *truth, "simplified");
        }
        let options = Options { most_states: 300, most_transitions: 5000, ..Options::default() };
        for (core, stage) in [(core, "tableau"), (simple, "tableau of simplified")] {
            let Ok(automaton) = tableau(&mut store, core, &options) else { continue };
            check(&automaton, &words, stage)?;
            let trimmed = trim(&automaton);
            check(&trimmed, &words, "trimmed")?;
            let fewer = simplify_acceptance(&trimmed);
            check(&fewer, &words, "acceptance simplified")?;
            check(&simulation(&trimmed), &words, "simulation")?;
            check(&simulation(&fewer), &words, "simulation after acceptance")?;
            check(&backward_simulation(&fewer), &words, "backward simulation")?;
            check(&backward_simulation(&simulation(&fewer)), &words, "simulation and back")?;
            check(&absorb_transient(&fewer), &words, "transient states")?;
            let reduced = reduce(&automaton);
            check(&reduced, &words, "reduced")?;
            prop_assert!(reduced.states() <= trimmed.states());
            if let Ok(negation) = tableau(&mut store, negated, &options)
                && let Some(minimal) = minimal_obligation(&reduced, &reduce(&negation))
            {
                prop_assert!(minimal.is_deterministic());
                check(&minimal, &words, "minimal deterministic")?;
                check(&trim(&minimal), &words, "minimal deterministic, trimmed")?;
            }
        }
    }

    #[test]
    fn printing_and_reading_is_the_identity(tree in crate::common::trees(3, 24)) {
        let mut store = Formulas::new();
        let mut names = Names(vec!["a".into(), "Fx".into(), "x > \"1\"".into()]);
        let formula = tree.build(&mut store);
        let text = print(&store, formula, &names);
        prop_assert_eq!(parse(&text, &mut store, &mut names), Ok(formula), "{}", text);
    }

    #[test]
    fn reading_never_panics(text in "[a-cFGXUWRM!&|()\\[\\]<>0-9,. \"-]{0,40}") {
        let _ = parse(&text, &mut Formulas::new(), &mut Names::default());
    }

    #[test]
    fn entailments_are_true(a in crate::common::trees(2, 6), b in crate::common::trees(2, 6), words in prop::collection::vec(word(4), 16)) {
        let mut store = Formulas::new();
        let (a, b) = (a.build(&mut store), b.build(&mut store));
        let (a, b) = (normal(&mut store, a, false).unwrap(), normal(&mut store, b, false).unwrap());
        let mut known = Implications::default();
        let (implied, excluded) = (known.implies(&store, a, b), known.excludes(&mut store, a, b));
        for word in &words {
            let (a, b) = (eval_lasso(&store, a, word), eval_lasso(&store, b, word));
            prop_assert!(!implied || !a || b);
            prop_assert!(!excluded || !a || !b);
        }
    }
}
