//! Fewer acceptance sets.
//!
//! Only what happens inside accepting components matters, and there:
//! * if every cycle of a component takes a transition of a set, the set is no condition there, and all of the component's
//!   transitions may be in it;
//! * if all transitions in one set are also in another, the other is implied by the one and may hold everywhere there;
//! * a set that holds everywhere in a component can change places with another: components need only agree on how many
//!   sets there are, not on which is which. So a component that has `k` real conditions uses the first `k` sets.
//!
//! The automaton needs as many sets as its neediest component, and one if it has a cycle that does not accept.

use crate::automaton::{Automaton, Edge, Marks, all_marks};
use crate::components::Components;

/// The same language with as few sets as these rules give. The automaton should be trimmed.
pub fn simplify_acceptance(automaton: &Automaton) -> Automaton {
    let components = Components::new(automaton);
    let mut members = vec![Vec::new(); components.accepting.len()];
    for (state, component) in components.of.iter().enumerate() {
        members[*component as usize].push(state as u32);
    }
    // For each component the sets that are conditions, in the order in which they will be numbered.
    let mut conditions: Vec<Vec<u32>> = Vec::with_capacity(members.len());
    for (component, states) in members.iter().enumerate() {
        conditions.push(if components.accepting[component] {
            needed(automaton, &components, states)
        } else {
            Vec::new()
        });
    }
    // Cycles that do not accept need a set that they are not in.
    let refused = (0..members.len()).any(|c| !components.accepting[c] && !components.transient[c]);
    let sets = conditions.iter().map(Vec::len).max().unwrap_or(0).max(usize::from(refused)) as u32;
    let mut result = automaton.clone();
    result.sets = sets;
    for (state, edges) in result.edges.iter_mut().enumerate() {
        let component = components.of[state] as usize;
        let own = &conditions[component];
        for edge in edges {
            let inner = components.inner(state as u32, edge.target) && components.accepting[component];
            edge.marks = if !inner {
                0
            } else {
                let spare = all_marks(sets) & !all_marks(own.len() as u32);
                own.iter().enumerate().fold(spare, |marks, (new, old)| marks | (edge.marks >> old & 1) << new)
            };
        }
    }
    result.gather();
    result
}

/// The sets that are conditions in a component: not met by every cycle, not implied by another.
fn needed(automaton: &Automaton, components: &Components, states: &[u32]) -> Vec<u32> {
    let inner =
        |state: u32| automaton.edges[state as usize].iter().filter(move |edge| components.inner(state, edge.target));
    let real: Vec<u32> = (0..automaton.sets).filter(|set| cycle_without(states, inner, *set)).collect();
    let contains = |small: u32, large: u32| {
        let missing = |edge: &Edge| edge.marks >> small & 1 == 1 && edge.marks >> large & 1 == 0;
        !states.iter().any(|state| inner(*state).any(missing))
    };
    let mut kept = real.clone();
    for &set in real.iter().rev() {
        if kept.iter().any(|other| *other != set && contains(*other, set)) {
            kept.retain(|other| *other != set);
        }
    }
    kept
}

/// Whether the component has a cycle that never takes a transition of the set: peel off states without such successors.
fn cycle_without<'a, I: Iterator<Item = &'a Edge>>(states: &[u32], inner: impl Fn(u32) -> I, set: u32) -> bool {
    let mask: Marks = 1 << set;
    let place: std::collections::HashMap<u32, usize> = states.iter().enumerate().map(|(i, s)| (*s, i)).collect();
    let (mut into, mut out) = (vec![Vec::new(); states.len()], vec![0usize; states.len()]);
    for (i, state) in states.iter().enumerate() {
        for edge in inner(*state).filter(|edge| edge.marks & mask == 0) {
            into[place[&edge.target]].push(i);
            out[i] += 1;
        }
    }
    let mut ends: Vec<usize> = (0..states.len()).filter(|i| out[*i] == 0).collect();
    let mut left = states.len();
    while let Some(end) = ends.pop() {
        left -= 1;
        for &from in &into[end] {
            out[from] -= 1;
            if out[from] == 0 {
                ends.push(from);
            }
        }
    }
    left > 0
}
