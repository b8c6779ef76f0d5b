//! LTL on ultimately periodic words: the semantics itself, by brute force (path checking as in Markey and Schnoebelen, "Model
//! Checking a Path", CONCUR 2003).
//!
//! A [`Word`] is a finite sequence of letters, the last of which is followed by the one at `cycle` again. There are only
//! as many suffixes as letters, so a formula's truth is a vector of Booleans, computed part by part straight from the
//! definitions: for `U` one looks ahead for at most as many steps as there are letters. Nothing here knows of normal
//! forms or automata; the tests compare them with this.

use crate::formula::{Bounds, Formula, Formulas, Node};
use std::collections::HashMap;

/// An infinite word: letters (bit `n` of a letter says whether atom `n` holds), of which those from `cycle` on repeat.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    letters: Vec<u64>,
    cycle: usize,
}

impl Word {
    /// The word `prefix cycle cycle …`; none where the cycle is empty.
    pub fn new(prefix: &[u64], cycle: &[u64]) -> Option<Word> {
        let letters = [prefix, cycle].concat();
        (!cycle.is_empty()).then_some(Word { letters, cycle: prefix.len() })
    }

    /// The letters, each once.
    pub fn letters(&self) -> &[u64] {
        &self.letters
    }

    /// Where the cycle begins.
    pub fn cycle(&self) -> usize {
        self.cycle
    }

    /// The place `steps` steps after a place.
    pub fn after(&self, place: usize, steps: u64) -> usize {
        let (len, period) = (self.letters.len() as u64, (self.letters.len() - self.cycle) as u64);
        let to = (place as u64).saturating_add(steps);
        if to < len { to as usize } else { self.cycle + ((to - self.cycle as u64) % period) as usize }
    }
}

/// Whether the word satisfies the formula.
pub fn eval_lasso(store: &Formulas, formula: Formula, word: &Word) -> bool {
    let mut truth: HashMap<Formula, Vec<bool>> = HashMap::new();
    for part in store.below(formula) {
        let places = 0..word.letters.len();
        let values: Vec<bool> = match store.node(part) {
            Node::True => places.map(|_| true).collect(),
            Node::False => places.map(|_| false).collect(),
            Node::Atom(n) => places.map(|i| *n < 64 && word.letters[i] >> n & 1 == 1).collect(),
            Node::Not(a) => places.map(|i| !truth[a][i]).collect(),
            Node::And(all) => places.map(|i| all.iter().all(|a| truth[a][i])).collect(),
            Node::Or(all) => places.map(|i| all.iter().any(|a| truth[a][i])).collect(),
            Node::Implies(a, b) => places.map(|i| !truth[a][i] || truth[b][i]).collect(),
            Node::Iff(a, b) => places.map(|i| truth[a][i] == truth[b][i]).collect(),
            Node::Next(a) => places.map(|i| truth[a][word.after(i, 1)]).collect(),
            Node::Finally(bounds, a) => places.map(|i| until(word, *bounds, i, |_| true, |j| truth[a][j])).collect(),
            Node::Globally(bounds, a) => places.map(|i| !until(word, *bounds, i, |_| true, |j| !truth[a][j])).collect(),
            Node::Until(bounds, a, b) => {
                places.map(|i| until(word, *bounds, i, |j| truth[a][j], |j| truth[b][j])).collect()
            }
            Node::Release(bounds, a, b) => {
                places.map(|i| !until(word, *bounds, i, |j| !truth[a][j], |j| !truth[b][j])).collect()
            }
            Node::WeakUntil(bounds, a, b) => {
                places.map(|i| weak(word, *bounds, i, |j| truth[a][j], |j| truth[b][j])).collect()
            }
            Node::StrongRelease(bounds, a, b) => {
                places.map(|i| !weak(word, *bounds, i, |j| !truth[a][j], |j| !truth[b][j])).collect()
            }
        };
        truth.insert(part, values);
    }
    truth[&formula][0]
}

/// `a U[bounds] b` at a place. All letters are seen within as many steps as there are letters, from any place on.
fn until(word: &Word, bounds: Bounds, place: usize, a: impl Fn(usize) -> bool, b: impl Fn(usize) -> bool) -> bool {
    let all = word.letters.len() as u64;
    if (0..bounds.lower.min(all)).any(|step| !a(word.after(place, step))) {
        return false;
    }
    let first = word.after(place, bounds.lower);
    for step in 0..=bounds.upper.map_or(all, |upper| upper.saturating_sub(bounds.lower).min(all)) {
        let now = word.after(first, step);
        if b(now) {
            return true;
        }
        if !a(now) {
            return false;
        }
    }
    false
}

/// `a W[bounds] b` at a place.
fn weak(word: &Word, bounds: Bounds, place: usize, a: impl Fn(usize) -> bool, b: impl Fn(usize) -> bool) -> bool {
    let always = Bounds { lower: 0, upper: bounds.upper };
    !until(word, always, place, |_| true, |j| !a(j)) || until(word, bounds, place, a, b)
}
