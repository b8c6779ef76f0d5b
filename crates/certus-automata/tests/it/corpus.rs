//! The formulas of the literature: how large their automata are, and that they accept what they should.
//!
//! `sizes.txt` is a snapshot; `CERTUS_BLESS=1 cargo test` rewrites it. Read the difference: a number that grows is a loss.

use certus_automata::degeneralise::{degeneralise, state_based};
use certus_automata::formula::{Formulas, Names};
use certus_automata::parse::parse;
use certus_automata::translate::{Options, translate};
use certus_automata::word::{Word, eval_lasso};
use std::fmt::Write;

const CORPORA: [(&str, &str); 4] = [
    ("dwyer", include_str!("../corpus/dwyer.ltl")),
    ("somenzi-bloem", include_str!("../corpus/somenzi-bloem.ltl")),
    ("etessami-holzmann", include_str!("../corpus/etessami-holzmann.ltl")),
    ("certus", include_str!("../corpus/certus.ltl")),
];

/// Words that no formula knows, the same in every run.
fn some_words(seed: u64, letters: u64, count: usize) -> Vec<Word> {
    let mut state = seed | 1;
    let mut random = |below: u64| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) % below
    };
    let mut words = Vec::new();
    for _ in 0..count {
        let (prefix, cycle) = (random(5), 1 + random(4));
        let mut take = |n: u64| (0..n).map(|_| random(letters)).collect::<Vec<_>>();
        let (prefix, cycle) = (take(prefix), take(cycle));
        words.extend(Word::new(&prefix, &cycle));
    }
    words
}

#[test]
fn sizes_and_languages() {
    let mut table = String::from("states transitions sets | of the negation | formula\n");
    for (name, corpus) in CORPORA {
        let mut totals = [0; 6];
        for (line, text) in corpus.lines().enumerate().filter(|(_, line)| !line.starts_with('#')) {
            let (mut store, mut names) = (Formulas::new(), Names::default());
            let formula = parse(text, &mut store, &mut names).unwrap_or_else(|error| panic!("{text}: {error}"));
            let negation = store.not(formula);
            let words = some_words(line as u64 * 7919, 1 << names.0.len(), 40);
            let mut numbers = Vec::new();
            for (formula, positive) in [(formula, true), (negation, false)] {
                let mut automaton = translate(&mut store, formula, &names, &Options::default()).unwrap();
                numbers.extend([automaton.states(), automaton.transitions(), automaton.sets as usize]);
                let (mut single, mut on_states) = (degeneralise(&automaton), state_based(&automaton));
                assert!(single.sets <= 1 && on_states.sets <= 1 && on_states.is_state_based());
                for word in &words {
                    let expected = eval_lasso(&store, formula, word);
                    assert_eq!(crate::common::accepts(&mut automaton, word), expected, "{positive} {text} on {word:?}");
                    assert_eq!(
                        crate::common::accepts(&mut single, word),
                        expected,
                        "one set: {positive} {text} on {word:?}"
                    );
                    assert_eq!(
                        crate::common::accepts(&mut on_states, word),
                        expected,
                        "states: {positive} {text} on {word:?}"
                    );
                }
            }
            totals.iter_mut().zip(&numbers).for_each(|(total, number)| *total += number);
            let n = numbers;
            let _ = writeln!(table, "{:3} {:3} {} | {:3} {:3} {} | {text}", n[0], n[1], n[2], n[3], n[4], n[5]);
        }
        let t = totals;
        let _ = writeln!(table, "{:3} {:3} {} | {:3} {:3} {} | total of {name}\n", t[0], t[1], t[2], t[3], t[4], t[5]);
    }
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/corpus/sizes.txt");
    if std::env::var_os("CERTUS_BLESS").is_some() {
        std::fs::write(path, &table).unwrap();
    }
    let known = std::fs::read_to_string(path).unwrap_or_default();
    for (new, old) in table.lines().zip(known.lines()) {
        assert_eq!(new, old, "CERTUS_BLESS=1 rewrites the table");
    }
    assert_eq!(table, known, "CERTUS_BLESS=1 rewrites the table");
}
