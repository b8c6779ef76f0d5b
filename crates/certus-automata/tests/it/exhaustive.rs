//! Every formula of at most four nodes over two atoms, on every word of at most four letters: the automaton accepts
//! exactly the words that satisfy the formula.

use certus_automata::formula::{Formula, Formulas, Names};
use certus_automata::print::print;
use certus_automata::translate::{Options, translate};
use certus_automata::word::eval_lasso;
use std::collections::BTreeSet;

fn formulas(store: &mut Formulas, size: usize) -> Vec<Formula> {
    let mut by_size: Vec<BTreeSet<Formula>> = vec![BTreeSet::new(); size + 1];
    by_size[1] = [Formulas::TRUE, Formulas::FALSE, store.atom(0), store.atom(1)].into();
    for n in 2..=size {
        for a in by_size[n - 1].clone() {
            by_size[n].extend(
                (0..crate::common::UNARY).map(|operator| crate::common::unary(store, operator, a)).collect::<Vec<_>>(),
            );
        }
        for left in 1..n - 1 {
            for a in by_size[left].clone() {
                for b in by_size[n - 1 - left].clone() {
                    let all = (0..crate::common::BINARY).map(|operator| crate::common::binary(store, operator, a, b));
                    let all: Vec<_> = all.collect();
                    by_size[n].extend(all);
                }
            }
        }
    }
    by_size.into_iter().flatten().collect::<BTreeSet<_>>().into_iter().collect()
}

#[test]
fn small_formulas_on_short_words() {
    let (mut store, words) = (Formulas::new(), crate::common::words(4, 4));
    let formulas = formulas(&mut store, 4);
    assert!(formulas.len() > 1000 && words.len() > 500, "{} formulas, {} words", formulas.len(), words.len());
    for formula in formulas {
        let mut automaton = translate(&mut store, formula, &Names::default(), &Options::default()).unwrap();
        for word in &words {
            let (expected, found) = (eval_lasso(&store, formula, word), crate::common::accepts(&mut automaton, word));
            let name = || print(&store, formula, &Names::default());
            assert_eq!(found, expected, "{} on {word:?}\n{automaton:?}", name());
        }
    }
}
