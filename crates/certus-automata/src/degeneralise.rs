//! Degeneralisation: one acceptance set instead of many.
//!
//! The sets are awaited in order: a copy of the automaton for each set that is due (a *level*). A transition climbs over all
//! sets it is in, beginning with the one that is due; one that passes the last is accepting and begins again, climbing what
//! it can. A run accepts infinitely often exactly if it meets every set infinitely often. Between components nothing is
//! remembered, so levels begin anew there, which keeps copies of transient parts away; components that do not accept
//! need no levels at all (Giannakopoulou and Lerda, "From
//! States to Transitions: Improving Translation of LTL Formulae to Büchi Automata", FORTE 2002; Babiak, Badie, Duret-Lutz,
//! Křetínský and Strejček, "Compositional Approach to Suspension and Other Improvements to LTL Translation", SPIN 2013).
//!
//! For acceptance on states a run waits one transition longer: level `sets` is the accepting one.

use crate::automaton::{Automaton, Edge};
use crate::components::Components;
use crate::intern::Interner;
use crate::nested::advance;

/// A Büchi automaton with acceptance on transitions: at most one set.
pub fn degeneralise(automaton: &Automaton) -> Automaton {
    if automaton.sets <= 1 {
        return automaton.clone();
    }
    copies(automaton, advance)
}

/// A Büchi automaton with acceptance on states: one set, with all transitions of a state in it or none.
pub fn state_based(automaton: &Automaton) -> Automaton {
    if automaton.sets == 0 || (automaton.sets == 1 && automaton.is_state_based()) {
        return automaton.clone();
    }
    copies(automaton, |level, marks, sets| {
        let mut level = if level == sets { 0 } else { level };
        while level < sets && marks >> level & 1 == 1 {
            level += 1;
        }
        (level, false)
    })
}

/// The states with their levels, where `step` says how marks move a level on and whether that accepts. Whatever leaves a
/// state at level `sets` accepts too.
fn copies(automaton: &Automaton, step: impl Fn(u32, u64, u32) -> (u32, bool)) -> Automaton {
    let (components, sets) = (Components::new(automaton), automaton.sets);
    let mut states: Interner<(u32, u32)> = Interner::default();
    let mut result =
        Automaton { name: automaton.name.clone(), atoms: automaton.atoms.clone(), sets: 1, ..Default::default() };
    result.initial = automaton.initial.iter().map(|state| states.insert((*state, 0)).0).collect();
    while result.edges.len() < states.len() {
        let (state, level) = *states.get(result.edges.len() as u32);
        let mut edges = Vec::with_capacity(automaton.edges[state as usize].len());
        for edge in &automaton.edges[state as usize] {
            let stays =
                components.inner(state, edge.target) && components.accepting[components.of[state as usize] as usize];
            let (next, met) = if stays { step(level, edge.marks, sets) } else { (0, false) };
            debug_assert!(next <= sets, "level {next} of {sets} sets");
            let marks = u64::from(met || level == sets);
            edges.push(Edge { target: states.insert((edge.target, next)).0, marks, label: edge.label.clone() });
        }
        result.edges.push(edges);
    }
    result.gather();
    debug_assert!(result.is_well_formed(), "{result:?}");
    result
}
