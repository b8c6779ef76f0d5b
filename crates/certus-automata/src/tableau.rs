//! Tableau translation of LTL to generalised Büchi automata, state by state.
//!
//! A state is a set of formulas that the rest of the word must satisfy. What a set asks of the next letter and of the rest
//! is a list of *terms*, each a cube for the letter, a set of formulas for the rest, and a set of *promises* (Couvreur,
//! "On-the-Fly Verification of Linear Temporal Logic", FM 1999; Gastin and Oddoux, "Fast LTL to Büchi Automata Translation", CAV
//! 2001; Duret-Lutz, "LTL Translation Improvements in Spot", International Journal of Critical Computer-Based Systems 5, 2014):
//!
//! ```text
//!     a U b  =  b  |  a & promise(b) & X(a U b)            a R b  =  b & a  |  b & X(a R b)
//! ```
//!
//! A transition is in the acceptance set of `b` unless it promises `b`. On a word that satisfies a set, the run that
//! fulfils every until as soon as it can never promises `b` forever; conversely, where a set fails on a word, each step
//! hands the failure to a formula of the next set, smaller or the same, so in the end to one until that is put off forever,
//! and its promise is made forever.
//!
//! Three reductions happen as states are made:
//! * a term that asks more than another (stronger cube, more promises, more formulas) is dropped: whatever continues the
//!   one continues the other;
//! * a set with two formulas that exclude each other is no state, and in a set a formula that another one entails is
//!   dropped, with care. An unbounded formula gives way only to one *of at most its size*: the argument above needs failures
//!   to move to formulas that never grow. (Otherwise `G X F b` would drop the `F b` that `G X F b` itself entails, at every
//!   step, and promise nothing.) A *bounded* formula (no until or release in it) gives way only to bounded ones, of any
//!   size. Entailment between those follows their shape, so each term of the one contains a term of the other, with entailed
//!   formulas for the rest: the dropped formula is still met, step by step, and it has finitely many steps. So bounded
//!   formulas never fail on a run, and failures stay among the others. This keeps `G(a -> F[0,k] b)` linear in `k`;
//! * sets with the same terms are one state.

use crate::automaton::{Edge, Marks, Tgba, all_marks};
use crate::formula::{Formula, Formulas, Node};
use crate::implication::Implications;
use crate::intern::Interner;
use crate::label::{Cube, Label};
use crate::normal::TooLarge;
use std::collections::HashMap;
use std::rc::Rc;

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Term {
    rest: Box<[Formula]>,
    promises: Marks,
    cube: Cube,
}

impl Term {
    /// Whether whatever continues the other term continues this one.
    fn covers(&self, other: &Term) -> bool {
        other.cube.implies(self.cube)
            && self.promises & !other.promises == 0
            && self.rest.iter().all(|f| other.rest.binary_search(f).is_ok())
    }

    fn and(&self, other: &Term) -> Option<Term> {
        let cube = self.cube.and(other.cube)?;
        let mut rest = [&*self.rest, &*other.rest].concat();
        rest.sort_unstable();
        rest.dedup();
        Some(Term { rest: rest.into(), promises: self.promises | other.promises, cube })
    }
}

/// Adds a term to a list unless it is covered, and drops what it covers.
fn add(terms: &mut Vec<Term>, term: Term) {
    if !terms.iter().any(|other| other.covers(&term)) {
        terms.retain(|other| !term.covers(other));
        terms.push(term);
    }
}

/// The automaton of a formula, made on demand.
#[derive(Debug)]
pub struct Tableau<'a> {
    store: &'a mut Formulas,
    implications: Implications,
    formula: Formula,
    promises: Vec<Formula>,
    terms: HashMap<Formula, Rc<[Term]>>,
    sets: HashMap<Box<[Formula]>, u32>,
    /// States are told apart by what they ask.
    states: Interner<Vec<Term>>,
    edges: Vec<Option<Vec<Edge>>>,
    limit: usize,
}

impl<'a> Tableau<'a> {
    /// The automaton of a formula in normal form ([`crate::normal::normal`]), best simplified.
    pub fn new(store: &'a mut Formulas, formula: Formula) -> Result<Tableau<'a>, TooLarge> {
        if store.atoms(formula) > 64 {
            return Err(TooLarge::Atoms);
        }
        let untils = store.below(formula).into_iter().filter_map(|part| store.as_until(part));
        let mut promises: Vec<Formula> = untils.map(|(_, b)| b).collect();
        promises.sort_unstable();
        promises.dedup();
        if promises.len() > 64 {
            return Err(TooLarge::Sets);
        }
        Ok(Tableau {
            store,
            implications: Implications::default(),
            formula,
            promises,
            terms: HashMap::new(),
            sets: HashMap::new(),
            states: Interner::default(),
            edges: Vec::new(),
            limit: usize::MAX,
        })
    }

    /// The same with a limit on the number of terms of a state, which can be exponential in the formula.
    pub(crate) fn limited(mut self, limit: usize) -> Self {
        self.limit = limit;
        self
    }

    /// How many states were made so far.
    pub fn known(&self) -> usize {
        self.states.len()
    }

    /// Every pair of terms, combined.
    fn product(&self, left: &[Term], right: &[Term]) -> Result<Vec<Term>, TooLarge> {
        let mut terms = Vec::new();
        for a in left {
            for term in right.iter().filter_map(|b| a.and(b)) {
                add(&mut terms, term);
            }
            if terms.len() > self.limit {
                return Err(TooLarge::Automaton);
            }
        }
        Ok(terms)
    }

    fn terms_of(&mut self, formula: Formula) -> Result<Rc<[Term]>, TooLarge> {
        let mut stack = vec![formula];
        while let Some(&part) = stack.last() {
            let mut ready = true;
            if !matches!(self.store.node(part), Node::Next(_) | Node::Not(_)) {
                self.store.node(part).children(|child| {
                    if !self.terms.contains_key(&child) {
                        stack.push(child);
                        ready = false;
                    }
                });
            }
            if ready {
                stack.pop();
                if !self.terms.contains_key(&part) {
                    let mut terms = self.unfold(part)?;
                    terms.sort_unstable();
                    self.terms.insert(part, terms.into());
                }
            }
        }
        Ok(self.terms[&formula].clone())
    }

    /// The terms of a formula whose parts have theirs.
    fn unfold(&self, part: Formula) -> Result<Vec<Term>, TooLarge> {
        let now = |cube| Term { rest: Box::new([]), promises: 0, cube };
        let later = |rest, promises| Term { rest: Box::new([rest]), promises, cube: Cube::TRUE };
        let mut terms = Vec::new();
        match self.store.node(part) {
            Node::True => terms.push(now(Cube::TRUE)),
            Node::Atom(atom) => terms.push(now(Cube::literal(*atom, true))),
            Node::Not(a) => {
                if let Node::Atom(atom) = self.store.node(*a) {
                    terms.push(now(Cube::literal(*atom, false)));
                }
            }
            Node::And(all) => {
                terms.push(now(Cube::TRUE));
                for a in all {
                    terms = self.product(&terms, &self.terms[a])?;
                }
            }
            Node::Or(all) => all.iter().for_each(|a| self.terms[a].iter().for_each(|t| add(&mut terms, t.clone()))),
            Node::Next(a) => match self.store.node(*a) {
                Node::And(all) => terms.push(Term { rest: all.clone(), promises: 0, cube: Cube::TRUE }),
                _ => terms.push(later(*a, 0)),
            },
            _ => {
                if let Some((a, b)) = self.store.as_until(part) {
                    let promise = self.promises.binary_search(&b).map_or(0, |place| 1 << place);
                    self.terms[&b].iter().for_each(|term| add(&mut terms, term.clone()));
                    let now = if a == Formulas::TRUE { vec![now(Cube::TRUE)] } else { self.terms[&a].to_vec() };
                    let off = self.product(&now, &[later(part, promise)])?;
                    off.into_iter().for_each(|term| add(&mut terms, term));
                } else if let Some((a, b)) = self.store.as_release(part) {
                    let mut either = vec![later(part, 0)];
                    if a != Formulas::FALSE {
                        self.terms[&a].iter().for_each(|term| add(&mut either, term.clone()));
                    }
                    terms = self.product(&self.terms[&b], &either)?;
                }
            }
        }
        Ok(terms)
    }

    /// A set without what others in it entail; none where two exclude each other.
    fn reduced(&mut self, set: &[Formula]) -> Option<Box<[Formula]>> {
        let (store, implications) = (&mut *self.store, &mut self.implications);
        let mut by_size = set.to_vec();
        by_size.sort_unstable_by_key(|f| (store.size(*f), *f));
        let mut kept: Vec<Formula> = Vec::with_capacity(set.len());
        for formula in by_size {
            let bounded = implications.bounded(store, formula);
            let mut entailed = formula == Formulas::TRUE;
            for other in &kept {
                let may = !bounded || implications.bounded(store, *other);
                entailed |= may && implications.implies(store, *other, formula);
            }
            if entailed {
                continue;
            }
            if formula == Formulas::FALSE || kept.iter().any(|other| implications.excludes(store, *other, formula)) {
                return None;
            }
            if bounded {
                kept.retain(|other| {
                    !implications.bounded(store, *other) || !implications.implies(store, formula, *other)
                });
            }
            kept.push(formula);
        }
        kept.sort_unstable();
        Some(kept.into())
    }

    /// The state of a set of formulas.
    fn state(&mut self, set: Box<[Formula]>) -> Result<u32, TooLarge> {
        if let Some(known) = self.sets.get(&set) {
            return Ok(*known);
        }
        let mut terms = vec![Term { rest: Box::new([]), promises: 0, cube: Cube::TRUE }];
        for formula in &set {
            let of = self.terms_of(*formula)?;
            terms = self.product(&terms, &of)?;
        }
        let mut smaller: Vec<Term> = Vec::with_capacity(terms.len());
        for term in terms {
            if let Some(rest) = self.reduced(&term.rest) {
                add(&mut smaller, Term { rest, ..term });
            }
        }
        smaller.sort_unstable();
        let (state, new) = self.states.insert(smaller);
        if new {
            self.edges.push(None);
        }
        self.sets.insert(set, state);
        Ok(state)
    }

    /// The initial state.
    pub(crate) fn start(&mut self) -> Result<u32, TooLarge> {
        let set = match self.store.node(self.formula) {
            Node::And(all) => all.clone(),
            _ => Box::new([self.formula]),
        };
        let set = self.reduced(&set).unwrap_or(Box::new([Formulas::FALSE]));
        self.state(set)
    }

    /// Makes the transitions of a state.
    pub(crate) fn expand(&mut self, state: u32) -> Result<&[Edge], TooLarge> {
        if self.edges[state as usize].is_none() {
            let full = all_marks(self.promises.len() as u32);
            let mut edges: Vec<Edge> = Vec::new();
            for term in self.states.get(state).clone() {
                let target = self.state(term.rest)?;
                let marks = full & !term.promises;
                match edges.iter_mut().find(|edge| (edge.target, edge.marks) == (target, marks)) {
                    Some(edge) => edge.label.0.push(term.cube),
                    None => edges.push(Edge { target, marks, label: Label(vec![term.cube]) }),
                }
            }
            for edge in &mut edges {
                edge.label = std::mem::take(&mut edge.label).simplified();
            }
            self.edges[state as usize] = Some(edges);
        }
        Ok(self.edges[state as usize].as_deref().unwrap_or(&[]))
    }
}

impl Tgba for Tableau<'_> {
    fn sets(&self) -> u32 {
        self.promises.len() as u32
    }

    fn initial(&mut self) -> Vec<u32> {
        // Without a limit nothing is too large.
        self.start().into_iter().collect()
    }

    fn edges(&mut self, state: u32) -> &[Edge] {
        self.expand(state).unwrap_or(&[])
    }
}
