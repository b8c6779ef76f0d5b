//! What a finite run has decided of a property.
//!
//! The positions seen so far give each atom a truth value, or none. The property is decided to hold if every infinite sequence of truth
//! values that begins so satisfies it (docs/semantics.md). That is read off the Büchi automaton of its negation: all of its states accept
//! something, so a violation is still possible exactly if some state can be reached by what was seen.

use certus_automata::automaton::Automaton;
use certus_automata::formula::{Bounds, Formula, Formulas, Names};
use certus_automata::system::Truths;
use certus_automata::translate::{Options, translate};
use certus_lang::system::{AtomId, Formula as Ltl};
use certus_model::nnf;

/// The most states of an automaton; a property with more is taken for undecided.
const MOST_STATES: usize = 4096;

/// Tells whether a property can still be violated.
pub struct Monitor {
    atoms: Vec<AtomId>,
    violations: Option<Automaton>,
}

impl Monitor {
    /// For a property.
    pub fn new(formula: &Ltl) -> Monitor {
        let mut atoms = nnf(formula, false).atoms();
        atoms.sort_unstable();
        atoms.dedup();
        let violations = (atoms.len() <= 64).then(|| {
            let mut store = Formulas::new();
            let own = converted(&mut store, formula, &atoms);
            let violation = store.not(own);
            let options = Options { most_states: MOST_STATES, ..Options::default() };
            translate(&mut store, violation, &Names::default(), &options).ok()
        });
        Monitor { atoms, violations: violations.flatten() }
    }

    /// Whether some continuation of truth values violates the property; `known` has, for each position, the value of each atom that has one.
    pub fn may_be_violated(&self, known: &[Vec<Option<bool>>]) -> bool {
        let Some(automaton) = &self.violations else { return true };
        let mut states: Vec<u32> = automaton.initial.clone();
        for position in known {
            let mut truths = Truths { yes: 0, no: 0 };
            for (place, id) in self.atoms.iter().enumerate() {
                match position[id.0] {
                    Some(true) => truths.yes |= 1 << place,
                    Some(false) => truths.no |= 1 << place,
                    None => {}
                }
            }
            let edges = states.iter().flat_map(|&state| &automaton.edges[state as usize]);
            let mut next: Vec<u32> =
                edges.filter(|edge| truths.may_satisfy(&edge.label)).map(|edge| edge.target).collect();
            next.sort_unstable();
            next.dedup();
            states = next;
        }
        // Of an automaton that accepts nothing, the initial state is left, without a transition.
        states.iter().any(|&state| !automaton.edges[state as usize].is_empty())
    }
}

/// A formula in the terms of automata; an atom is its place in a list.
pub fn converted(store: &mut Formulas, formula: &Ltl, atoms: &[AtomId]) -> Formula {
    let bounds = |own: &certus_lang::system::Bounds| Bounds { lower: own.lower, upper: own.upper };
    let mut of = |inner: &Ltl| converted(store, inner, atoms);
    match formula {
        Ltl::Constant(value) => store.constant(*value),
        Ltl::Atom(id) => {
            let place = atoms.iter().position(|own| own == id).unwrap_or(0);
            store.atom(place as u32)
        }
        Ltl::Not(a) => {
            let a = of(a);
            store.not(a)
        }
        Ltl::And(all) => {
            let parts: Vec<Formula> = all.iter().map(of).collect();
            store.and(&parts)
        }
        Ltl::Or(all) => {
            let parts: Vec<Formula> = all.iter().map(of).collect();
            store.or(&parts)
        }
        Ltl::Implies(a, b) => {
            let (a, b) = (of(a), of(b));
            store.implies(a, b)
        }
        Ltl::Iff(a, b) => {
            let (a, b) = (of(a), of(b));
            store.iff(a, b)
        }
        Ltl::Next(a) => {
            let a = of(a);
            store.next(a)
        }
        Ltl::Finally(own, a) => {
            let a = of(a);
            store.finally(bounds(own), a)
        }
        Ltl::Globally(own, a) => {
            let a = of(a);
            store.globally(bounds(own), a)
        }
        Ltl::Until(own, a, b) => {
            let (a, b) = (of(a), of(b));
            store.until(bounds(own), a, b)
        }
        Ltl::WeakUntil(own, a, b) => {
            let (a, b) = (of(a), of(b));
            store.weak_until(bounds(own), a, b)
        }
        Ltl::Release(own, a, b) => {
            let (a, b) = (of(a), of(b));
            store.release(bounds(own), a, b)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn atom() -> Box<Ltl> {
        Box::new(Ltl::Atom(AtomId(0)))
    }

    fn open(formula: &Ltl, word: &[Option<bool>]) -> bool {
        Monitor::new(formula).may_be_violated(&word.iter().map(|&own| vec![own]).collect::<Vec<_>>())
    }

    #[test]
    fn what_is_decided_stays_so() {
        let finally = Ltl::Finally(Default::default(), atom());
        assert!(open(&finally, &[]) && open(&finally, &[Some(false)]) && open(&finally, &[None]));
        assert!(!open(&finally, &[Some(false), Some(true)]));
        // A tautology is decided before anything was seen, which no look at single positions tells.
        let never = Ltl::Globally(Default::default(), Box::new(Ltl::Not(atom())));
        assert!(!open(&Ltl::Or(vec![finally, never]), &[]));
    }
}
