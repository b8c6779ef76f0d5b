//! Reduction by direct simulation, forward and backward: merging states and dropping transitions.
//!
//! State `r` *simulates* `q` if every transition of `q` is answered, letter by letter, by transitions of `r` that are in at
//! least the same acceptance sets and lead to states that simulate its target (Etessami, Wilke and Schuller, "Fair
//! Simulation Relations, Parity Games, and State Space Reduction for Büchi Automata", SIAM Journal on Computing 34(5), 2005; for
//! acceptance on transitions and labels as sets of letters Babiak et al., "Compositional Approach to Suspension and Other
//! Improvements to LTL Translation", SPIN 2013). The greatest such relation
//! is found by crossing out pairs. Then:
//!
//! * states that simulate each other become one (any of them: an answering run has at least the marks of the other);
//! * letters of a transition that another transition of the same state answers with more marks, or a better target, are
//!   taken off: a run that used it has an answering run, step by step, among what is left. It makes automata smaller and more
//!   deterministic;
//! * a *transient* state (on no cycle) has meaningless marks on its transitions. If, marks aside, `d` answers to it and it
//!   to `d`, and `d` does not reach it, it is replaced by `d`: no new cycle can come of that, and both read the same words.
//!
//! The same works against the direction of transitions (Somenzi and Bloem, "Efficient Büchi Automata from LTL Formulae", CAV
//! 2000): `r` simulates `q` backward if whatever
//! leads to `q` leads to `r`, with at least the same marks, and `r` is initial if `q` is. Every finite run of the smaller
//! automaton then has a run of the given one that ends alike, with at least its marks; by König's lemma infinite ones have.

use crate::automaton::{Automaton, Edge, Marks};
use crate::components::Components;
use crate::label::{Cube, covered};

/// Larger automata are left as they are: the relation has a bit per pair of states.
pub const MOST_STATES: usize = 600;

struct Relation {
    n: usize,
    bits: Vec<bool>,
}

impl Relation {
    /// Whether `r` simulates `q`.
    fn holds(&self, q: u32, r: u32) -> bool {
        self.bits[q as usize * self.n + r as usize]
    }

    /// For each state the first that simulates it and is simulated by it.
    fn classes(&self) -> Vec<u32> {
        let same = |q, r| self.holds(q, r) && self.holds(r, q);
        (0..self.n as u32).map(|q| (0..q).find(|r| same(q, *r)).unwrap_or(q)).collect()
    }
}

/// Whether the edges answer to an edge, where targets relate.
fn answered(edge: &Edge, edges: &[Edge], grant: Marks, relation: &Relation) -> bool {
    let good = |other: &&Edge| edge.marks & !(other.marks | grant) == 0 && relation.holds(edge.target, other.target);
    let mut cubes: Vec<Cube> = Vec::new();
    for other in edges.iter().filter(good) {
        if other.label == edge.label {
            return true;
        }
        cubes.extend_from_slice(&other.label.0);
    }
    edge.label.0.iter().all(|cube| covered(*cube, &cubes))
}

/// The greatest simulation over transitions, within what `possible` allows. A pair is looked at again when one that it relied on is crossed
/// out, so long chains, which lose their pairs one by one, take time in the number of pairs.
fn greatest(edges: &[Vec<Edge>], possible: impl Fn(usize, usize) -> bool) -> Relation {
    let n = edges.len();
    let bits: Vec<bool> = (0..n * n).map(|pair| possible(pair / n, pair % n)).collect();
    let mut before = vec![Vec::new(); n];
    for (state, edges) in edges.iter().enumerate() {
        for edge in edges {
            let own: &mut Vec<usize> = &mut before[edge.target as usize];
            if own.last() != Some(&state) {
                own.push(state);
            }
        }
    }
    let mut pending: Vec<usize> = (0..n * n).filter(|&pair| pair / n != pair % n && bits[pair]).collect();
    let mut is_pending = vec![false; n * n];
    pending.iter().for_each(|&pair| is_pending[pair] = true);
    let mut relation = Relation { n, bits };
    while let Some(pair) = pending.pop() {
        is_pending[pair] = false;
        let (q, r) = (pair / n, pair % n);
        if edges[q].iter().all(|edge| answered(edge, &edges[r], 0, &relation)) {
            continue;
        }
        relation.bits[pair] = false;
        for (p, s) in before[q].iter().flat_map(|p| before[r].iter().map(move |s| (p, s))) {
            let other = p * n + s;
            if p != s && relation.bits[other] && !is_pending[other] {
                is_pending[other] = true;
                pending.push(other);
            }
        }
    }
    relation
}

/// A smaller automaton with the same language. It should be trimmed, and should be trimmed afterwards.
pub fn simulation(automaton: &Automaton) -> Automaton {
    let n = automaton.states();
    if n > MOST_STATES {
        return automaton.clone();
    }
    let relation = greatest(&automaton.edges, |_, _| true);
    let to = relation.classes();
    let mut pruned = automaton.clone();
    for edges in &mut pruned.edges {
        prune(edges, &relation, &to);
    }
    // An initial state that another one simulates is not needed.
    let better = |q: u32, r: u32| to[q as usize] != to[r as usize] && relation.holds(q, r);
    pruned.initial.retain(|q| !automaton.initial.iter().any(|r| better(*q, *r)));
    pruned.redirected(&to)
}

/// Backward: a state may stand for another if whatever leads to the one leads to the other. A smaller automaton with the
/// same language; it should be trimmed before and afterwards.
pub fn backward_simulation(automaton: &Automaton) -> Automaton {
    let n = automaton.states();
    if n > MOST_STATES {
        return automaton.clone();
    }
    let turned = |edges: &[Vec<Edge>]| {
        let mut result = vec![Vec::new(); n];
        for (state, edges) in edges.iter().enumerate() {
            for edge in edges {
                result[edge.target as usize].push(Edge { target: state as u32, ..edge.clone() });
            }
        }
        result
    };
    let mut incoming = turned(&automaton.edges);
    let initial = |q: usize| automaton.initial.contains(&(q as u32));
    let relation = greatest(&incoming, |q, r| !initial(q) || initial(r));
    let to = relation.classes();
    for edges in &mut incoming {
        prune(edges, &relation, &to);
    }
    // A class keeps what leads to its first state, and goes wherever one of its states goes.
    let mut result = Automaton { edges: turned(&incoming), ..automaton.clone() };
    for q in (0..n).filter(|q| to[*q] != *q as u32) {
        let edges = std::mem::take(&mut result.edges[q]);
        result.edges[to[q] as usize].extend(edges);
    }
    result.redirected(&to)
}

/// Takes letters off transitions that better ones read too. Targets are compared by the relation, ties by class.
fn prune(edges: &mut Vec<Edge>, relation: &Relation, to: &[u32]) {
    for i in 0..edges.len() {
        let edge = edges[i].clone();
        let mut label = edge.label.clone();
        for (j, other) in edges.iter().enumerate() {
            let same = to[edge.target as usize] == to[other.target as usize] && edge.marks == other.marks;
            // Of two that are as good as each other the later one gives way to the earlier.
            let better =
                edge.marks & !other.marks == 0 && relation.holds(edge.target, other.target) && (!same || j < i);
            if j != i && better {
                label = label.minus(&other.label);
            }
        }
        edges[i].label = label.simplified();
    }
    edges.retain(|edge| !edge.label.is_empty());
}

/// Replaces transient states by others that read the same words. The automaton should be trimmed.
pub fn absorb_transient(automaton: &Automaton) -> Automaton {
    let n = automaton.states();
    let components = Components::new(automaton);
    if n > MOST_STATES || !components.transient.contains(&true) {
        return automaton.clone();
    }
    let relation = greatest(&automaton.edges, |_, _| true);
    let answers = |from: u32, by: u32| {
        let edges = &automaton.edges[by as usize];
        automaton.edges[from as usize].iter().all(|edge| answered(edge, edges, Marks::MAX, &relation))
    };
    let mut to: Vec<u32> = (0..n as u32).collect();
    for q in 0..n as u32 {
        let own = components.of[q as usize];
        if !components.transient[own as usize] {
            continue;
        }
        // Components are numbered against the direction of transitions: a smaller number cannot reach a greater one.
        let below = |d: u32| to[d as usize] == d && components.of[d as usize] < own;
        if let Some(d) = (0..n as u32).find(|&d| below(d) && answers(q, d) && answers(d, q)) {
            for class in to.iter_mut().filter(|class| **class == q) {
                *class = d;
            }
        }
    }
    automaton.redirected(&to)
}
