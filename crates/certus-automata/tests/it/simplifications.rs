//! Rules of the simplification, one by one: what they give, and that it says the same.

use certus_automata::formula::{Formulas, Names};
use certus_automata::normal::normal;
use certus_automata::parse::parse;
use certus_automata::print::print;
use certus_automata::simplify::simplify;
use certus_automata::word::eval_lasso;

#[test]
fn rules() {
    let words = crate::common::words(8, 4);
    for (text, expected) in [
        // Only the far end of a word counts.
        ("G F(a | X X b)", "G F (a | b)"),
        ("G F(a U (b U c))", "G F c"),
        ("G F(a & X F(b & F c))", "G (F a & F b & F c)"),
        ("G(a & X F(b & X F c))", "G (a & F b & F c)"),
        ("F G(a | X G(b | G c))", "F (G a | G b | G c)"),
        ("G F(a & F G b)", "G F a & F G b"),
        // A state that waits, waits for everything that does not change.
        ("F G a | G F b", "G F (b | G a)"),
        ("F a | (G F b & G F c)", "F (a | G (F b & F c))"),
        // The first time of an event.
        ("G !a | F(a & F b)", "a R (!a | F b)"),
        ("G !a | (!a U (a & F b))", "a R (!a | F b)"),
        ("(c R !a) | (!c U (a & F b))", "(a | c) R (!a | F b)"),
        ("F a & G(!a | G b)", "!a U (a & G b)"),
        // What is known always is known then.
        ("G(a & F(b & a))", "G (a & F b)"),
        ("G(a U (a & b))", "G (a & F b)"),
    ] {
        let (mut store, mut names) = (Formulas::new(), Names(vec!["a".into(), "b".into(), "c".into()]));
        let formula = parse(text, &mut store, &mut names).unwrap();
        let core = normal(&mut store, formula, false).unwrap();
        let simple = simplify(&mut store, core);
        let expected = parse(expected, &mut store, &mut names).unwrap();
        let expected = normal(&mut store, expected, false).unwrap();
        assert_eq!(simple, expected, "{text} became {}", print(&store, simple, &names));
        for word in &words {
            assert_eq!(eval_lasso(&store, simple, word), eval_lasso(&store, formula, word), "{text} on {word:?}");
        }
    }
}

#[test]
fn long_waits_need_no_deep_stack() {
    for text in ["G X[9000] a", "G F (a | X[9000] b)", "X[9000] a | X[9000] b", "(X[9000] a) U (X[9000] b)"] {
        let (mut store, mut names) = (Formulas::new(), Names::default());
        let formula = parse(text, &mut store, &mut names).unwrap();
        let core = normal(&mut store, formula, false).unwrap();
        simplify(&mut store, core);
    }
}
