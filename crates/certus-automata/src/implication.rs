//! Whether one formula entails another, as far as their shapes show it.
//!
//! The rules are those of Somenzi and Bloem (CAV 2000) and of Babiak et al. (TACAS 2012), over the normal form. Each is a
//! valid entailment of smaller ones, so 'yes' is always right and 'no' only means 'not seen'. Two classes of formulas make
//! the rules short (Etessami and Holzmann, CONCUR 2000): an *eventual* formula holds now whenever it holds later (`F a`,
//! `G F a`, …), a *universal* one holds later whenever it holds now (`G a`, `F G a`, …).
//!
//! Answers are remembered per pair. The recursion follows the two formulas down and gives up ('no') at a fixed depth, so
//! that long unrolled operators cannot exhaust the stack; they are asked about from the inside out and find the answers
//! of their parts remembered.

use crate::formula::{Formula, Formulas, Node};
use crate::intern::Mix;
use std::collections::HashMap;
use std::hash::BuildHasherDefault;

const DEPTH: usize = 200;

/// What is known of entailments between formulas of one store.
#[derive(Clone, Debug, Default)]
pub struct Implications {
    known: HashMap<(Formula, Formula), bool, BuildHasherDefault<Mix>>,
    classes: Vec<u8>,
    negations: HashMap<Formula, Formula, BuildHasherDefault<Mix>>,
}

const EVENTUAL: u8 = 1;
const UNIVERSAL: u8 = 2;

impl Implications {
    fn class(&mut self, store: &Formulas, formula: Formula) -> u8 {
        // Children have smaller numbers: filling in the order of numbers needs no recursion.
        for number in self.classes.len()..=formula.0 as usize {
            let classes = &self.classes;
            let of = |f: Formula| classes[f.0 as usize];
            let class = match store.node(Formula(number as u32)) {
                Node::True | Node::False => EVENTUAL | UNIVERSAL,
                Node::And(all) | Node::Or(all) => all.iter().fold(3, |class, a| class & of(*a)),
                Node::Next(a) => of(*a),
                Node::Finally(bounds, a) if bounds.is_all() => EVENTUAL | of(*a),
                Node::Globally(bounds, a) if bounds.is_all() => UNIVERSAL | of(*a),
                Node::Until(bounds, a, b) if bounds.is_all() => of(*b) & EVENTUAL | of(*a) & of(*b) & UNIVERSAL,
                Node::Release(bounds, a, b) if bounds.is_all() => of(*b) & UNIVERSAL | of(*a) & of(*b) & EVENTUAL,
                _ => 0,
            };
            self.classes.push(class);
        }
        self.classes[formula.0 as usize]
    }

    /// Whether the formula, if it holds later, holds now.
    pub fn eventual(&mut self, store: &Formulas, formula: Formula) -> bool {
        self.class(store, formula) & EVENTUAL != 0
    }

    /// Whether the formula, if it holds now, holds ever after.
    pub fn universal(&mut self, store: &Formulas, formula: Formula) -> bool {
        self.class(store, formula) & UNIVERSAL != 0
    }

    /// The normal form of a normal form's negation.
    pub fn negation(&mut self, store: &mut Formulas, formula: Formula) -> Formula {
        if let Some(known) = self.negations.get(&formula) {
            return *known;
        }
        let mut stack = vec![formula];
        while let Some(&part) = stack.last() {
            let mut ready = true;
            store.node(part).children(|child| {
                if !self.negations.contains_key(&child) {
                    stack.push(child);
                    ready = false;
                }
            });
            if !ready {
                continue;
            }
            stack.pop();
            let of = |f: &Formula| self.negations[f];
            let negation = match store.node(part).clone() {
                Node::And(all) => store.or(&all.iter().map(of).collect::<Vec<_>>()),
                Node::Or(all) => store.and(&all.iter().map(of).collect::<Vec<_>>()),
                Node::Next(a) => store.next(of(&a)),
                Node::Finally(bounds, a) => store.globally(bounds, of(&a)),
                Node::Globally(bounds, a) => store.finally(bounds, of(&a)),
                Node::Until(bounds, a, b) => store.release(bounds, of(&a), of(&b)),
                Node::Release(bounds, a, b) => store.until(bounds, of(&a), of(&b)),
                _ => store.not(part),
            };
            self.negations.insert(part, negation);
            self.negations.insert(negation, part);
        }
        self.negations[&formula]
    }

    /// Whether `a` is seen to entail `b`.
    pub fn implies(&mut self, store: &Formulas, a: Formula, b: Formula) -> bool {
        self.at(store, a, b, 0)
    }

    /// Whether `a` and `b` are seen to exclude each other.
    pub fn excludes(&mut self, store: &mut Formulas, a: Formula, b: Formula) -> bool {
        let not_b = self.negation(store, b);
        self.implies(store, a, not_b)
    }

    fn at(&mut self, store: &Formulas, f: Formula, g: Formula, depth: usize) -> bool {
        if f == g || f == Formulas::FALSE || g == Formulas::TRUE {
            return true;
        }
        if f == Formulas::TRUE || g == Formulas::FALSE || depth > DEPTH {
            return false;
        }
        if let Some(known) = self.known.get(&(f, g)) {
            return *known;
        }
        let answer = self.rules(store, f, g, depth + 1);
        self.known.insert((f, g), answer);
        answer
    }

    fn rules(&mut self, store: &Formulas, f: Formula, g: Formula, depth: usize) -> bool {
        // Parts that must all entail, or all be entailed, decide alone.
        if let Node::And(all) = store.node(g) {
            return all.iter().all(|part| self.at(store, f, *part, depth));
        }
        if let Node::Or(all) = store.node(f) {
            return all.iter().all(|part| self.at(store, *part, g, depth));
        }
        if let Node::Or(all) = store.node(g)
            && all.iter().any(|part| self.at(store, f, *part, depth))
        {
            return true;
        }
        if let Node::And(all) = store.node(f)
            && all.iter().any(|part| self.at(store, *part, g, depth))
        {
            return true;
        }
        if let (Node::Next(a), Node::Next(b)) = (store.node(f), store.node(g))
            && self.at(store, *a, *b, depth)
        {
            return true;
        }
        if let Node::Next(a) = store.node(f)
            && self.eventual(store, g)
            && self.at(store, *a, g, depth)
        {
            return true;
        }
        if let Node::Next(b) = store.node(g)
            && self.universal(store, f)
            && self.at(store, f, *b, depth)
        {
            return true;
        }
        if let Some((c, d)) = store.as_until(g)
            && (self.at(store, f, d, depth)
                || store.as_until(f).is_some_and(|(a, b)| self.at(store, a, c, depth) && self.at(store, b, d, depth)))
        {
            return true;
        }
        if let Some((c, d)) = store.as_release(g)
            && ((self.universal(store, f) && self.at(store, f, d, depth))
                || (c != Formulas::FALSE && self.at(store, f, c, depth) && self.at(store, f, d, depth))
                || store.as_release(f).is_some_and(|(a, b)| self.at(store, a, c, depth) && self.at(store, b, d, depth)))
        {
            return true;
        }
        if let Some((a, b)) = store.as_until(f)
            && ((self.eventual(store, g) && self.at(store, b, g, depth))
                || (a != Formulas::TRUE && self.at(store, a, g, depth) && self.at(store, b, g, depth)))
        {
            return true;
        }
        store.as_release(f).is_some_and(|(_, b)| self.at(store, b, g, depth))
    }
}
