//! What several tests share.
#![allow(dead_code)]

use certus_automata::automaton::Automaton;
use certus_automata::emptiness::emptiness;
use certus_automata::formula::{Bounds, Formula, Formulas};
use certus_automata::graph::never;
use certus_automata::system::Product;
use certus_automata::word::Word;
use proptest::prelude::*;

/// All distinct infinite words over letters `0..letters` with prefix and cycle of at most `length` letters together.
pub fn words(letters: u64, length: u32) -> Vec<Word> {
    let mut words: Vec<Word> = Vec::new();
    let mut seen = std::collections::HashSet::new();
    for n in 1..=length {
        for code in 0..letters.pow(n) {
            let all: Vec<u64> = (0..n).map(|i| code / letters.pow(i) % letters).collect();
            for cycle in 0..n as usize {
                let word = Word::new(&all[..cycle], &all[cycle..]).unwrap();
                // Words that agree on this many letters are equal.
                let start: Vec<u64> = (0..24).map(|i| word.letters()[word.after(0, i)]).collect();
                if seen.insert(start) {
                    words.push(word);
                }
            }
        }
    }
    words
}

pub fn accepts(automaton: &mut Automaton, word: &Word) -> bool {
    !emptiness(&mut Product::new(word.clone(), automaton), &mut never).is_empty()
}

/// A formula without a store.
#[derive(Clone, Debug)]
pub enum Tree {
    Constant(bool),
    Atom(u32),
    Unary(u8, Box<Tree>),
    Binary(u8, Box<Tree>, Box<Tree>),
}

impl Tree {
    pub fn build(&self, store: &mut Formulas) -> Formula {
        match self {
            Tree::Constant(value) => store.constant(*value),
            Tree::Atom(atom) => store.atom(*atom),
            Tree::Unary(operator, a) => {
                let a = a.build(store);
                unary(store, *operator, a)
            }
            Tree::Binary(operator, a, b) => {
                let (a, b) = (a.build(store), b.build(store));
                binary(store, *operator, a, b)
            }
        }
    }
}

pub const UNARY: u8 = 4;
pub const UNARY_BOUNDED: u8 = 7;
pub const BINARY: u8 = 8;
pub const BINARY_BOUNDED: u8 = 12;

pub fn unary(store: &mut Formulas, operator: u8, a: Formula) -> Formula {
    let some = Bounds { lower: 1, upper: Some(2) };
    match operator {
        0 => store.not(a),
        1 => store.next(a),
        2 => store.finally(Bounds::ALL, a),
        3 => store.globally(Bounds::ALL, a),
        4 => store.finally(some, a),
        5 => store.globally(some, a),
        _ => store.finally(Bounds { lower: 2, upper: None }, a),
    }
}

pub fn binary(store: &mut Formulas, operator: u8, a: Formula, b: Formula) -> Formula {
    let some = Bounds { lower: 1, upper: Some(3) };
    match operator {
        0 => store.and(&[a, b]),
        1 => store.or(&[a, b]),
        2 => store.implies(a, b),
        3 => store.iff(a, b),
        4 => store.until(Bounds::ALL, a, b),
        5 => store.weak_until(Bounds::ALL, a, b),
        6 => store.release(Bounds::ALL, a, b),
        7 => store.strong_release(Bounds::ALL, a, b),
        8 => store.until(some, a, b),
        9 => store.weak_until(some, a, b),
        10 => store.release(some, a, b),
        _ => store.strong_release(some, a, b),
    }
}

/// Random formulas.
pub fn trees(atoms: u32, size: u32) -> impl Strategy<Value = Tree> {
    let leaf = prop_oneof![8 => (0..atoms).prop_map(Tree::Atom), 1 => any::<bool>().prop_map(Tree::Constant)];
    leaf.prop_recursive(5, size, 2, |inner| {
        prop_oneof![
            (0..UNARY_BOUNDED, inner.clone()).prop_map(|(o, a)| Tree::Unary(o, Box::new(a))),
            (0..BINARY_BOUNDED, inner.clone(), inner).prop_map(|(o, a, b)| Tree::Binary(o, Box::new(a), Box::new(b))),
        ]
    })
}
