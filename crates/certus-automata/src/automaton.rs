//! Generalised Büchi automata with acceptance on transitions.
//!
//! A run is accepting when it takes transitions of every acceptance set infinitely often; with no sets, every infinite run
//! is. Sets are bits of a word ([`Marks`]), so there are at most 64. Acceptance on transitions is the natural home: a
//! translation from formulas produces it, it needs fewer states than acceptance on states, and the latter is the special
//! case in which all transitions of a state agree ([`Automaton::is_state_based`]).
//!
//! [`Tgba`] is what searches need to know of an automaton; it is implemented by [`Automaton`], which is stored, and by
//! [`crate::tableau::Tableau`], which makes states as they are asked for.

use crate::label::Label;

/// A set of acceptance sets, one bit each.
pub type Marks = u64;

/// All of the first `sets` acceptance sets.
pub fn all_marks(sets: u32) -> Marks {
    if sets >= 64 { Marks::MAX } else { (1 << sets) - 1 }
}

/// A transition.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Edge {
    /// The state it leads to.
    pub target: u32,
    /// The acceptance sets it is in.
    pub marks: Marks,
    /// The letters it reads.
    pub label: Label,
}

/// An automaton as a search sees it.
pub trait Tgba {
    /// The number of acceptance sets.
    fn sets(&self) -> u32;
    /// The initial states.
    fn initial(&mut self) -> Vec<u32>;
    /// The transitions of a state.
    fn edges(&mut self, state: u32) -> &[Edge];
}

/// A stored automaton: states are numbers.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Automaton {
    /// What it is called.
    pub name: String,
    /// Names of the atoms.
    pub atoms: Vec<String>,
    /// The number of acceptance sets.
    pub sets: u32,
    /// The initial states; a run begins in any of them.
    pub initial: Vec<u32>,
    /// The transitions of each state.
    pub edges: Vec<Vec<Edge>>,
}

impl Tgba for Automaton {
    fn sets(&self) -> u32 {
        self.sets
    }
    fn initial(&mut self) -> Vec<u32> {
        self.initial.clone()
    }
    fn edges(&mut self, state: u32) -> &[Edge] {
        &self.edges[state as usize]
    }
}

impl Automaton {
    /// The number of states.
    pub fn states(&self) -> usize {
        self.edges.len()
    }

    /// The number of transitions; those between the same states in the same sets count once.
    pub fn transitions(&self) -> usize {
        self.edges.iter().map(Vec::len).sum()
    }

    /// All acceptance sets.
    pub fn full(&self) -> Marks {
        all_marks(self.sets)
    }

    /// Whether every state that is named exists, and every set that a transition is in.
    pub fn is_well_formed(&self) -> bool {
        let exists = |state: u32| (state as usize) < self.states();
        self.initial.iter().all(|&state| exists(state))
            && self.edges.iter().flatten().all(|edge| exists(edge.target) && edge.marks & !self.full() == 0)
    }

    /// Whether all transitions of each state are in the same sets.
    pub fn is_state_based(&self) -> bool {
        self.edges.iter().all(|edges| edges.windows(2).all(|pair| pair[0].marks == pair[1].marks))
    }

    /// Whether there is at most one run on every word.
    pub fn is_deterministic(&self) -> bool {
        self.initial.len() <= 1
            && self.edges.iter().all(|edges| {
                (0..edges.len()).all(|i| edges[..i].iter().all(|other| other.label.disjoint(&edges[i].label)))
            })
    }

    /// Gathers transitions between the same states in the same sets, and drops those without letters.
    pub fn gather(&mut self) {
        for edges in &mut self.edges {
            edges.sort_unstable();
            let mut gathered: Vec<Edge> = Vec::with_capacity(edges.len());
            for edge in edges.drain(..) {
                match gathered.last_mut() {
                    Some(last) if (last.target, last.marks) == (edge.target, edge.marks) => {
                        last.label.0.extend(edge.label.0);
                    }
                    _ => gathered.push(edge),
                }
            }
            for edge in &mut gathered {
                edge.label = std::mem::take(&mut edge.label).simplified();
            }
            gathered.retain(|edge| !edge.label.is_empty());
            *edges = gathered;
        }
    }

    /// The same automaton after states were replaced by others (`to[state]`), without states that cannot be reached.
    /// States are renumbered in the order of a breadth-first walk, so equal constructions give equal automata.
    pub fn redirected(&self, to: &[u32]) -> Automaton {
        let mut number = vec![u32::MAX; self.states()];
        let mut order: Vec<u32> = Vec::new();
        let mut visit = |state: u32, order: &mut Vec<u32>| {
            let state = to[state as usize];
            if number[state as usize] == u32::MAX {
                number[state as usize] = order.len() as u32;
                order.push(state);
            }
            number[state as usize]
        };
        let mut result =
            Automaton { name: self.name.clone(), atoms: self.atoms.clone(), sets: self.sets, ..Default::default() };
        result.initial = self.initial.iter().map(|state| visit(*state, &mut order)).collect();
        result.initial.sort_unstable();
        result.initial.dedup();
        let mut next = 0;
        while next < order.len() {
            let edges = self.edges[order[next] as usize].iter();
            let edges = edges.map(|edge| Edge { target: visit(edge.target, &mut order), ..edge.clone() });
            result.edges.push(edges.collect());
            next += 1;
        }
        result.gather();
        debug_assert!(result.is_well_formed(), "{result:?}");
        result
    }

    /// Without states that cannot be reached.
    pub fn reachable(&self) -> Automaton {
        self.redirected(&(0..self.states() as u32).collect::<Vec<_>>())
    }
}
