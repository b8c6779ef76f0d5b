//! Graphs that are searched without being stored.
//!
//! The searches of this crate need three things: where to begin, what follows a state, and which acceptance sets a step is
//! in. Methods take `&mut self` so that a graph may make its states as it goes. A step's marks are bits, as in automata.

use crate::automaton::Marks;
use std::hash::Hash;

/// A graph with acceptance sets on its steps, made on demand.
pub trait Graph {
    /// What a state is; searches keep one copy of each.
    type State: Clone + Eq + Hash;
    /// The number of acceptance sets.
    fn sets(&self) -> u32;
    /// Appends the initial states.
    fn initial(&mut self, states: &mut Vec<Self::State>);
    /// Appends the steps from a state.
    fn successors(&mut self, state: &Self::State, steps: &mut Vec<(Self::State, Marks)>);
}

/// A path to a cycle whose steps together are in all acceptance sets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lasso<S> {
    /// The states before the cycle; the first is initial. It may be empty.
    pub prefix: Vec<S>,
    /// The states of the cycle, each once; the last is followed by the first. Never empty.
    pub cycle: Vec<S>,
}

/// Whether a graph has an accepting run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome<S> {
    /// It has none.
    Empty,
    /// It has this one.
    Accepting(Lasso<S>),
    /// The search was stopped, or ran out of numbers for states, before it knew.
    Stopped,
}

impl<S> Outcome<S> {
    /// Whether the search finished and found nothing.
    pub fn is_empty(&self) -> bool {
        matches!(self, Outcome::Empty)
    }

    /// The run that was found.
    pub fn lasso(self) -> Option<Lasso<S>> {
        match self {
            Outcome::Accepting(lasso) => Some(lasso),
            _ => None,
        }
    }
}

/// A search asks it now and then, with the number of states seen, whether to stop.
pub type Stop<'a> = &'a mut dyn FnMut(usize) -> bool;

/// Never stops.
pub fn never(_: usize) -> bool {
    false
}

/// How many states are expanded between two questions.
pub(crate) const PATIENCE: usize = 1024;

/// Whether a lasso is what it claims: a path of the graph whose cycle is in all sets.
pub fn is_accepting<G: Graph>(graph: &mut G, lasso: &Lasso<G::State>) -> bool {
    let mut initial = Vec::new();
    graph.initial(&mut initial);
    let path: Vec<_> = lasso.prefix.iter().chain(&lasso.cycle).chain(lasso.cycle.first()).collect();
    if lasso.cycle.is_empty() || !initial.contains(path[0]) {
        return false;
    }
    // Parallel steps differ in marks: each may be taken in turn, so their union counts.
    let (mut seen, mut steps) = (0, Vec::new());
    for (i, pair) in path.windows(2).enumerate() {
        steps.clear();
        graph.successors(pair[0], &mut steps);
        let mut known = false;
        for (_, marks) in steps.iter().filter(|(target, _)| target == pair[1]) {
            known = true;
            if i >= lasso.prefix.len() {
                seen |= marks;
            }
        }
        if !known {
            return false;
        }
    }
    seen == crate::automaton::all_marks(graph.sets())
}
