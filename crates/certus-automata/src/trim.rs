//! Trimming: dropping the states and transitions that no accepting run uses.
//!
//! A state is useful if it is reachable and reaches an accepting component; transitions into other states go. Marks on
//! transitions that no run takes infinitely often (between components, and in components that are not accepting) say
//! nothing; they are cleared, which makes more transitions equal.

use crate::automaton::Automaton;
use crate::components::Components;

/// The same language without useless states and meaningless marks.
pub fn trim(automaton: &Automaton) -> Automaton {
    let components = Components::new(automaton);
    // Components are numbered against the direction of transitions: one pass in that order sees targets first.
    let mut useful = components.accepting.clone();
    let mut states: Vec<usize> = (0..automaton.states()).collect();
    states.sort_by_key(|state| components.of[*state]);
    for state in states {
        let own = components.of[state] as usize;
        useful[own] |= automaton.edges[state].iter().any(|edge| useful[components.of[edge.target as usize] as usize]);
    }
    let keeps = |state: u32| useful[components.of[state as usize] as usize];
    let mut result = automaton.clone();
    for (state, edges) in result.edges.iter_mut().enumerate() {
        edges.retain(|edge| keeps(edge.target));
        for edge in edges {
            if !components.inner(state as u32, edge.target) || !components.accepting[components.of[state] as usize] {
                edge.marks = 0;
            }
        }
    }
    result.initial.retain(|state| keeps(*state));
    let mut result = result.reachable();
    if result.initial.is_empty() {
        // The empty language: one state, no transition.
        result.edges = vec![Vec::new()];
        result.initial = vec![0];
        result.sets = 0;
    }
    result
}
