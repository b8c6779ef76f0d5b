//! Bad prefixes that unfolding a formula does not show.
//!
//! A finite run violates a property if no continuation of truth values satisfies it (docs/semantics.md). The LTL encoding of
//! [`crate::ltl_encoding`] sees *informative* prefixes only: those along which the formula itself unfolds to `false` (Kupferman, Vardi:
//! Model Checking of Safety Properties, 2001). For nearly every formula that anybody writes the two are the same, which
//! [`certus_automata::informative`] tells. For the others, `(G[1,3] (p -> p)) <-> q` say, the automaton of the formula is asked instead: all
//! of its states accept something, so a prefix is bad exactly if every run of the automaton dies on it. Said of the next n positions
//! that is a temporal formula without untils, and it is encoded like any other.

use std::collections::HashMap;

use certus_automata::automaton::Automaton;
use certus_automata::formula::{Formulas, Names};
use certus_automata::informative::bad_prefixes_are_informative;
use certus_automata::translate::{Options, translate};
use certus_lang::system::{AtomId, Formula as Ltl};

use crate::monitor::{Monitor, converted};
use certus_model::{Nnf, nnf};

/// The most states of an automaton.
const MOST_STATES: usize = 512;

/// The most nodes of a formula that says that a prefix is bad.
const MOST_NODES: u64 = 20_000;

/// How the bad prefixes of a property are found.
pub enum BadPrefixes {
    /// By unfolding its negation.
    Informative,
    /// By the runs of its automaton; atoms are numbered by their place.
    Automaton(Vec<AtomId>, Automaton),
    /// Not all of them are: its automaton is too large.
    Unknown,
}

impl BadPrefixes {
    /// Those of a property.
    pub fn of(formula: &Ltl) -> BadPrefixes {
        if are_informative(formula) {
            return BadPrefixes::Informative;
        }
        let atoms = atoms(formula);
        let mut store = Formulas::new();
        let own = converted(&mut store, formula, &atoms);
        let options = Options { most_states: MOST_STATES, ..Options::default() };
        match translate(&mut store, own, &Names::default(), &options) {
            Ok(automaton) if atoms.len() <= 64 => BadPrefixes::Automaton(atoms, automaton),
            _ => BadPrefixes::Unknown,
        }
    }

    /// What is true of exactly the bad prefixes of so many positions, `informative` being true of the informative ones; nothing if
    /// that is too large to be said.
    pub fn of_length(&self, positions: usize, informative: &Nnf) -> Option<Nnf> {
        match self {
            BadPrefixes::Informative => Some(informative.clone()),
            BadPrefixes::Automaton(atoms, automaton) => {
                let mut known = HashMap::new();
                let initial =
                    automaton.initial.iter().map(|&state| dies(automaton, atoms, state, positions, &mut known));
                let all: Vec<Dies> = initial.collect::<Option<_>>()?;
                Some(Nnf::And(all.into_iter().map(|(formula, _)| formula).collect()))
            }
            BadPrefixes::Unknown => None,
        }
    }
}

/// Whether unfolding a property along a finite run that violates it shows that, as far as a small automaton tells.
pub fn are_informative(formula: &Ltl) -> bool {
    bad_prefixes_are_informative(&numbered(&nnf(formula, true), &atoms(formula)), MOST_STATES)
}

/// A formula and the number of its nodes.
type Dies = (Nnf, u64);

/// That no run of the automaton from a state survives so many positions.
fn dies(
    automaton: &Automaton,
    atoms: &[AtomId],
    state: u32,
    positions: usize,
    known: &mut HashMap<(u32, usize), Dies>,
) -> Option<Dies> {
    let edges = &automaton.edges[state as usize];
    if positions == 0 {
        // Of an automaton that accepts nothing the initial state is left, without a transition.
        return Some((if edges.is_empty() { Nnf::And(Vec::new()) } else { Nnf::Or(Vec::new()) }, 1));
    }
    if let Some(found) = known.get(&(state, positions)) {
        return Some(found.clone());
    }
    let mut all = Vec::new();
    let mut nodes = 1;
    for edge in edges {
        let (after, size) = dies(automaton, atoms, edge.target, positions - 1, known)?;
        for cube in &edge.label.0 {
            let missed = |bits: u64, wanted: bool| {
                let own = atoms.iter().enumerate().filter(move |(place, _)| bits >> place & 1 == 1);
                own.map(move |(_, &id)| Nnf::Literal(id, !wanted))
            };
            let mut any: Vec<Nnf> = missed(cube.yes, true).chain(missed(cube.no, false)).collect();
            if after != Nnf::Or(Vec::new()) {
                any.push(Nnf::Next(Box::new(after.clone())));
                nodes += size;
            }
            nodes += any.len() as u64 + 1;
            all.push(Nnf::Or(any));
        }
        if nodes > MOST_NODES {
            return None;
        }
    }
    let found = (Nnf::And(all), nodes);
    known.insert((state, positions), found.clone());
    Some(found)
}

/// Whether no continuation of truth values satisfies a formula, for what unfolding does not show. `known` has, for each position, the
/// value of each atom that has one.
pub fn is_bad(formula: &Ltl, known: &[Vec<Option<bool>>]) -> bool {
    if are_informative(formula) {
        return false;
    }
    !Monitor::new(&Ltl::Not(Box::new(formula.clone()))).may_be_violated(known)
}

fn atoms(formula: &Ltl) -> Vec<AtomId> {
    let mut atoms = nnf(formula, true).atoms();
    atoms.sort_unstable();
    atoms.dedup();
    atoms
}

/// A formula over the places of its atoms in a list, which is what automata read.
fn numbered(formula: &Nnf, atoms: &[AtomId]) -> certus_automata::nnf::Nnf {
    formula.map(&|id| {
        let place = atoms.iter().position(|own| own == id);
        place.and_then(|place| u32::try_from(place).ok()).unwrap_or(u32::MAX)
    })
}

#[cfg(test)]
mod tests {
    use certus_lang::{FileNetworks, LowerOptions, load_str};
    use certus_solver::Budget;

    use certus_model::{Scope, Verdict};

    use crate::bmc::check;
    use crate::errors::Errors;

    fn verdict(property: &str, steps: usize) -> Verdict {
        let text =
            format!("system s\nstate x in [0, 3]\ninit x == 0\nnext x = min(x + 1, 3)\nproperty p = {property}\n");
        let system = load_str(&text, &mut FileNetworks::default(), &LowerOptions::default()).unwrap();
        let errors = Errors::new(&system, false);
        check(&system, &system.properties[0], Some(steps), &errors, &Budget::default(), &mut |_| {}).unwrap().verdict
    }

    #[test]
    fn violations_that_only_show_later_count_at_once() {
        for property in [
            "(G[1,3] (x < 1 -> x < 1)) <-> x > 1",
            "X X x < 1 & !X X x < 1",
            "(F G x < 1) & !(F G x < 1)",
            "x > 2 | (G[5,9] x < 3) & !(G[5,9] x < 3)",
        ] {
            for steps in [0, 1, 4] {
                assert!(matches!(verdict(property, steps), Verdict::Violated(_)), "{property} by {steps}");
            }
        }
        for steps in [0, 1, 2] {
            let held = verdict("(G[1,3] (x < 1 -> x < 1)) <-> x < 1", steps);
            assert_eq!(held, Verdict::Holds(if steps < 2 { Scope::Bounded(steps) } else { Scope::Bounded(2) }));
        }
    }
}
