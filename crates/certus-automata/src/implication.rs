//! Syntactic implication: whether one formula entails another, as far as their shapes show it.
//!
//! The rules are those of Somenzi and Bloem ("Efficient Büchi Automata from LTL Formulae", CAV 2000) and of Babiak, Křetínský,
//! Řehák and Strejček ("LTL to Büchi Automata Translation: Fast and More Deterministic", TACAS 2012), over the normal form. Each is a
//! valid entailment of smaller ones, so 'yes' is always right and 'no' only means 'not seen'. Two classes of formulas make
//! the rules short (Etessami and Holzmann, "Optimizing Büchi Automata", CONCUR 2000): an *eventual* formula holds now whenever it holds later (`F a`,
//! `G F a`, …), a *universal* one holds later whenever it holds now (`G a`, `F G a`, …).
//!
//! Answers are remembered per pair. A rule that needs the answer for a smaller pair finds it remembered or stops until it is
//! there; pairs that wait lie on an explicit stack, so long unrolled operators need no recursion.

use crate::formula::{Formula, Formulas, Node};
use crate::intern::Mix;
use std::collections::HashMap;
use std::hash::BuildHasherDefault;

/// What is known of entailments between formulas of one store.
#[derive(Clone, Debug, Default)]
pub struct Implications {
    known: HashMap<(Formula, Formula), bool, BuildHasherDefault<Mix>>,
    classes: Vec<u8>,
    negations: HashMap<Formula, Formula, BuildHasherDefault<Mix>>,
}

const EVENTUAL: u8 = 1;
const UNIVERSAL: u8 = 2;
const BOUNDED: u8 = 4;

/// An answer, or the pair whose answer is missing.
type Tried = Result<bool, (Formula, Formula)>;

impl Implications {
    fn class(&mut self, store: &Formulas, formula: Formula) -> u8 {
        // Children have smaller numbers: filling in the order of numbers needs no recursion.
        for number in self.classes.len()..=formula.0 as usize {
            let classes = &self.classes;
            let of = |f: Formula| classes[f.0 as usize];
            let class = match store.node(Formula(number as u32)) {
                Node::True | Node::False => EVENTUAL | UNIVERSAL | BOUNDED,
                Node::Atom(_) => BOUNDED,
                Node::Not(a) => of(*a) & BOUNDED,
                Node::And(all) | Node::Or(all) => all.iter().fold(7, |class, a| class & of(*a)),
                Node::Next(a) => of(*a),
                Node::Finally(bounds, a) if bounds.is_all() => EVENTUAL | of(*a) & UNIVERSAL,
                Node::Globally(bounds, a) if bounds.is_all() => UNIVERSAL | of(*a) & EVENTUAL,
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

    /// Whether the formula speaks of finitely many steps only.
    pub fn bounded(&mut self, store: &Formulas, formula: Formula) -> bool {
        self.class(store, formula) & BOUNDED != 0
    }

    /// Whether `a` is seen to entail `b`.
    pub fn implies(&mut self, store: &Formulas, a: Formula, b: Formula) -> bool {
        // Rules that miss the answer for a smaller pair stop; the smaller pair goes first, then they are tried again.
        let mut stack = vec![(a, b)];
        let mut answer = false;
        while let Some(&(f, g)) = stack.last() {
            let tried = match self.at(f, g) {
                Ok(known) => Ok(known),
                Err(_) => self.rules(store, f, g).inspect(|found| {
                    self.known.insert((f, g), *found);
                }),
            };
            match tried {
                Ok(found) => {
                    answer = found;
                    stack.pop();
                }
                Err(missing) => stack.push(missing),
            }
        }
        answer
    }

    /// Whether `a` and `b` are seen to exclude each other.
    pub fn excludes(&mut self, store: &mut Formulas, a: Formula, b: Formula) -> bool {
        let not_b = self.negation(store, b);
        self.implies(store, a, not_b)
    }

    /// What is known of a pair, or the pair.
    fn at(&self, f: Formula, g: Formula) -> Tried {
        if f == g || f == Formulas::FALSE || g == Formulas::TRUE {
            return Ok(true);
        }
        if f == Formulas::TRUE || g == Formulas::FALSE {
            return Ok(false);
        }
        self.known.get(&(f, g)).copied().ok_or((f, g))
    }

    fn all(&self, mut pairs: impl Iterator<Item = (Formula, Formula)>) -> Tried {
        pairs.try_fold(true, |so_far, (f, g)| Ok(so_far && self.at(f, g)?))
    }

    fn any(&self, mut pairs: impl Iterator<Item = (Formula, Formula)>) -> Tried {
        pairs.try_fold(false, |so_far, (f, g)| Ok(so_far || self.at(f, g)?))
    }

    fn rules(&mut self, store: &Formulas, f: Formula, g: Formula) -> Tried {
        let (universal, eventual) = (self.universal(store, f), self.eventual(store, g));
        // Parts that must all entail, or all be entailed, decide alone.
        if let Node::And(all) = store.node(g) {
            return self.all(all.iter().map(|part| (f, *part)));
        }
        if let Node::Or(all) = store.node(f) {
            return self.all(all.iter().map(|part| (*part, g)));
        }
        if let Node::Or(all) = store.node(g)
            && self.any(all.iter().map(|part| (f, *part)))?
        {
            return Ok(true);
        }
        if let Node::And(all) = store.node(f)
            && self.any(all.iter().map(|part| (*part, g)))?
        {
            return Ok(true);
        }
        if let Node::Next(a) = store.node(f) {
            if let Node::Next(b) = store.node(g)
                && self.at(*a, *b)?
            {
                return Ok(true);
            }
            if eventual && self.at(*a, g)? {
                return Ok(true);
            }
        }
        if let Node::Next(b) = store.node(g)
            && universal
            && self.at(f, *b)?
        {
            return Ok(true);
        }
        if let Some((c, d)) = store.as_until(g) {
            if self.at(f, d)? {
                return Ok(true);
            }
            if let Some((a, b)) = store.as_until(f)
                && self.at(a, c)?
                && self.at(b, d)?
            {
                return Ok(true);
            }
        }
        if let Some((c, d)) = store.as_release(g) {
            if universal && self.at(f, d)? {
                return Ok(true);
            }
            if c != Formulas::FALSE && self.at(f, c)? && self.at(f, d)? {
                return Ok(true);
            }
            if let Some((a, b)) = store.as_release(f)
                && self.at(a, c)?
                && self.at(b, d)?
            {
                return Ok(true);
            }
        }
        if let Some((a, b)) = store.as_until(f) {
            if eventual && self.at(b, g)? {
                return Ok(true);
            }
            if a != Formulas::TRUE && self.at(a, g)? && self.at(b, g)? {
                return Ok(true);
            }
        }
        match store.as_release(f) {
            Some((_, b)) => self.at(b, g),
            None => Ok(false),
        }
    }
}
