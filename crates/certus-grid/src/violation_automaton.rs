//! The Büchi automaton of a property's violations, with its transitions by what is known of the atoms.
//!
//! The negated formula is translated by `certus-automata` (tableau after Couvreur, FM 1999). Atoms may be unknown in a cell; then every transition that some value of
//! them allows is taken, so the automaton accepts at least the violations of the runs that the cells stand for. Very many cells share what is known of their atoms, so a cell
//! stores the number of its *class*, and what each automaton state can do on a class is computed once.

use std::collections::HashMap;

use certus_automata::automaton::{Automaton, Marks};
use certus_automata::formula::{Formulas, Names};
use certus_automata::normal::TooLarge;
use certus_automata::system::Truths;
use certus_automata::translate::{Options, translate};
use certus_check::monitor::converted;
use certus_lang::system::{AtomId, Formula as Ltl, System};

pub use crate::universality::Universal;
use crate::universality::universality;

/// What the automaton can do where the atoms are known so far.
#[derive(Clone, Debug)]
pub struct Class {
    /// What is known.
    pub truths: Truths,
    /// For each state, the states it can go to, as bits of `words` words.
    pub targets: Vec<u64>,
    /// For each state, its edges.
    pub edges: Vec<Vec<(u32, Marks)>>,
}

/// The automaton of a property's violations.
#[derive(Clone, Debug)]
pub struct ViolationAutomaton {
    /// The Büchi automaton.
    pub automaton: Automaton,
    /// The system's atoms, in the order of the automaton's.
    pub atoms: Vec<AtomId>,
    /// What each state accepts.
    pub universal: Vec<Universal>,
    /// Words of a set of states.
    pub words: usize,
    classes: Vec<Class>,
    numbers: HashMap<Truths, u16>,
    /// The class that was looked up last: mostly it is looked up again.
    last: Option<(Truths, u16)>,
}

/// The most states of an automaton.
const MOST_STATES: usize = 4096;

/// The most acceptance sets: searches pack them beside a state.
pub const MOST_SETS: u32 = 16;

impl ViolationAutomaton {
    /// The automaton of all runs that violate a formula.
    pub fn new(system: &System, formula: &Ltl) -> Result<ViolationAutomaton, String> {
        let mut atoms = Vec::new();
        atoms_of(formula, &mut atoms);
        atoms.sort_unstable();
        atoms.dedup();
        if atoms.len() > 64 {
            return Err(format!("a property with {} atoms is beyond this engine: at most 64", atoms.len()));
        }
        let mut store = Formulas::new();
        let own = converted(&mut store, formula, &atoms);
        let violation = store.not(own);
        let names = Names(atoms.iter().map(|atom| system.atoms[atom.0].text.clone()).collect());
        let options = Options { most_states: MOST_STATES, ..Options::default() };
        let automaton = translate(&mut store, violation, &names, &options).map_err(too_large)?;
        if automaton.sets > MOST_SETS {
            return Err(format!("an automaton with {} acceptance sets is beyond this engine", automaton.sets));
        }
        Ok(ViolationAutomaton::of(automaton, atoms))
    }

    fn of(automaton: Automaton, atoms: Vec<AtomId>) -> ViolationAutomaton {
        let universal = universality(&automaton);
        let words = automaton.states().div_ceil(64).max(1);
        ViolationAutomaton {
            universal,
            words,
            automaton,
            atoms,
            classes: Vec::new(),
            numbers: HashMap::new(),
            last: None,
        }
    }

    /// The class of cells of which so much is known; nothing if there are too many classes.
    pub fn class(&mut self, truths: Truths) -> Option<u16> {
        if let Some((_, number)) = self.last.filter(|(known, _)| *known == truths) {
            return Some(number);
        }
        if let Some(&number) = self.numbers.get(&truths) {
            self.last = Some((truths, number));
            return Some(number);
        }
        let number = u16::try_from(self.classes.len()).ok().filter(|&number| number < u16::MAX)?;
        let states = self.automaton.states();
        let mut class = Class { truths, targets: vec![0; states * self.words], edges: Vec::with_capacity(states) };
        for (state, edges) in self.automaton.edges.iter().enumerate() {
            let mut enabled = Vec::new();
            for edge in edges.iter().filter(|edge| truths.may_satisfy(&edge.label)) {
                class.targets[state * self.words + edge.target as usize / 64] |= 1 << (edge.target % 64);
                enabled.push((edge.target, edge.marks));
            }
            class.edges.push(enabled);
        }
        self.classes.push(class);
        self.numbers.insert(truths, number);
        Some(number)
    }

    /// The states to which some of the automaton's can go on a class: those of `bits`, the states of one word.
    pub fn targets(&self, class: u16, word: u16, bits: u64, targets: &mut [u64]) {
        targets.fill(0);
        let class = self.at(class);
        let mut rest = bits;
        while rest != 0 {
            let state = usize::from(word) * 64 + rest.trailing_zeros() as usize;
            rest &= rest - 1;
            let own = &class.targets[state * self.words..(state + 1) * self.words];
            targets.iter_mut().zip(own).for_each(|(all, own)| *all |= own);
        }
    }

    /// What the automaton can do on a class.
    pub fn at(&self, class: u16) -> &Class {
        &self.classes[class as usize]
    }

    /// The states that accept whatever follows, or perhaps do, as bits.
    pub fn states_that(&self, wanted: impl Fn(Universal) -> bool) -> Vec<u64> {
        let mut bits = vec![0; self.words];
        for (state, _) in self.universal.iter().enumerate().filter(|(_, own)| wanted(**own)) {
            bits[state / 64] |= 1 << (state % 64);
        }
        bits
    }

    /// Whether a violation can only be shown by a prefix: the automaton accepts nothing but what ends in a state that accepts everything.
    pub fn is_finite(&self) -> bool {
        // Every cycle outside of such states would be an accepting one, or lacks a mark.
        let full = self.automaton.full();
        let mut missing = 0;
        for (state, edges) in self.automaton.edges.iter().enumerate() {
            if self.universal[state] != Universal::Yes {
                missing |= edges.iter().fold(0, |marks, edge| marks | edge.marks);
            }
        }
        full != 0 && missing & full != full
    }
}

fn too_large(error: TooLarge) -> String {
    format!("the property's automaton is too large for this engine ({error}); shorter bounds make it smaller")
}

/// Adds the atoms of a formula to those that were found.
pub(crate) fn atoms_of(formula: &Ltl, found: &mut Vec<AtomId>) {
    match formula {
        Ltl::Constant(_) => {}
        Ltl::Atom(id) => found.push(*id),
        Ltl::Not(a) | Ltl::Next(a) | Ltl::Finally(_, a) | Ltl::Globally(_, a) => atoms_of(a, found),
        Ltl::And(all) | Ltl::Or(all) => all.iter().for_each(|part| atoms_of(part, found)),
        Ltl::Implies(a, b) | Ltl::Iff(a, b) | Ltl::Until(_, a, b) | Ltl::WeakUntil(_, a, b) | Ltl::Release(_, a, b) => {
            atoms_of(a, found);
            atoms_of(b, found);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn violations(text: &str) -> ViolationAutomaton {
        let (mut store, mut names) = (Formulas::new(), Names::default());
        let formula = certus_automata::parse::parse(text, &mut store, &mut names).unwrap();
        let violation = store.not(formula);
        let automaton = translate(&mut store, violation, &names, &Options::default()).unwrap();
        let atoms = (0..names.0.len()).map(AtomId).collect();
        ViolationAutomaton::of(automaton, atoms)
    }

    #[test]
    fn a_violated_safety_property_stays_violated() {
        let mut own = violations("G a");
        assert!(own.is_finite());
        assert_eq!(own.universal.iter().filter(|state| **state == Universal::Yes).count(), 1);
        let start = own.automaton.initial[0] as usize;
        assert_eq!(own.universal[start], Universal::No);
        let class = own.class(Truths { yes: 0, no: 1 }).unwrap();
        let end = own.at(class).edges[start][0].0 as usize;
        assert_eq!(own.universal[end], Universal::Yes);
        // Where the atom is not known, both are possible.
        let class = own.class(Truths::default()).unwrap();
        assert_eq!(own.at(class).edges[start].len(), 2);
    }

    #[test]
    fn liveness_is_never_violated_by_a_prefix() {
        for text in ["F a", "G (a -> F b)"] {
            let own = violations(text);
            assert!(own.universal.iter().all(|state| *state != Universal::Yes), "{text}");
            assert!(!own.is_finite(), "{text}");
        }
    }
}
