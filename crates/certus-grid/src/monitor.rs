//! A three-valued monitor: whether a finite prefix leaves the property open.
//!
//! Bauer, Leucker and Schallhart, "Runtime verification for LTL and TLTL", ACM Transactions on Software Engineering and Methodology 20, 2011 (LTL₃). One automaton accepts the violations of the
//! property, one its satisfactions; the property is open exactly if both have a run on the prefix, since the automata have no state from which nothing is accepted. Departure:
//! atoms may be unknown, and then every value of them is read.

use certus_automata::system::Truths;
use certus_lang::system::{Formula, System};

use crate::violation_automaton::ViolationAutomaton;

/// The automata of a property's violations and of its satisfactions: it is open where both have something left to accept.
pub(crate) struct Monitor {
    both: [ViolationAutomaton; 2],
}

impl Monitor {
    pub fn new(system: &System, formula: &Formula) -> Option<Monitor> {
        let opposite = Formula::Not(Box::new(formula.clone()));
        Some(Monitor {
            both: [ViolationAutomaton::new(system, formula).ok()?, ViolationAutomaton::new(system, &opposite).ok()?],
        })
    }

    /// Whether positions with such atoms, in the order of the property's atoms, leave the property open.
    pub fn is_open(&self, letters: &[Truths]) -> bool {
        self.both.iter().all(|violations| {
            let mut states: Vec<u32> = violations.automaton.initial.clone();
            for letter in letters {
                let edges = states.iter().flat_map(|&state| &violations.automaton.edges[state as usize]);
                let mut next: Vec<u32> =
                    edges.filter(|edge| letter.may_satisfy(&edge.label)).map(|edge| edge.target).collect();
                next.sort_unstable();
                next.dedup();
                states = next;
            }
            !states.is_empty()
        })
    }
}
