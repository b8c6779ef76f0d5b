//! Transition systems, and their product with automata.
//!
//! A [`System`] says where it begins, what follows a state, and which atoms hold in it. An abstraction may not know: an
//! atom can be *definitely true*, *definitely false*, or neither ([`Truths`]). The product lets the automaton read an
//! unknown atom as it likes, at every visit anew; so it has every run that any resolution of the unknowns has, and its
//! emptiness is conclusive, while a run found through unknown atoms may be spurious ([`is_certain`]).
//!
//! This is three-valued model checking (Bruns and Godefroid, "Model Checking Partial State Spaces with 3-Valued Temporal Logics",
//! CAV 1999), of which only the pessimistic side is computed.
//!
//! Only infinite runs count: a state without successors ends no run. Give terminal states a loop if their runs matter.

use crate::automaton::{Automaton, Marks, Tgba};
use crate::graph::{Graph, Lasso};
use crate::label::{Cube, Label};
use crate::word::Word;
use std::hash::Hash;

/// What is known of the atoms in a state: those that hold and those that do not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Truths {
    /// Atoms that definitely hold, one bit each.
    pub yes: u64,
    /// Atoms that definitely do not.
    pub no: u64,
}

impl Truths {
    /// All atoms known: those of the letter hold, all others do not.
    pub fn known(letter: u64) -> Truths {
        Truths { yes: letter, no: !letter }
    }

    /// Whether some resolution of the unknown atoms is in the label.
    pub fn may_satisfy(self, label: &Label) -> bool {
        label.0.iter().any(|cube: &Cube| cube.yes & self.no == 0 && cube.no & self.yes == 0)
    }

    /// Whether every atom below `atoms` is known.
    pub fn decides(self, atoms: u32) -> bool {
        crate::automaton::all_marks(atoms) & !(self.yes | self.no) == 0
    }
}

/// A transition system, made on demand.
pub trait System {
    /// What a state is.
    type State: Clone + Eq + Hash;
    /// Appends the initial states.
    fn initial(&mut self, states: &mut Vec<Self::State>);
    /// Appends the successors of a state.
    fn successors(&mut self, state: &Self::State, states: &mut Vec<Self::State>);
    /// What is known of the atoms in a state. Atoms are numbered as in the automaton that reads them.
    fn truths(&mut self, state: &Self::State) -> Truths;
}

impl<S: System> System for &mut S {
    type State = S::State;
    fn initial(&mut self, states: &mut Vec<Self::State>) {
        (**self).initial(states);
    }
    fn successors(&mut self, state: &Self::State, states: &mut Vec<Self::State>) {
        (**self).successors(state, states);
    }
    fn truths(&mut self, state: &Self::State) -> Truths {
        (**self).truths(state)
    }
}

impl Tgba for &mut Automaton {
    fn sets(&self) -> u32 {
        self.sets
    }
    fn initial(&mut self) -> Vec<u32> {
        self.initial.clone()
    }
    fn edges(&mut self, state: u32) -> &[crate::automaton::Edge] {
        &self.edges[state as usize]
    }
}

/// A system and an automaton that reads its states, in step. The automaton may be made on demand too.
#[derive(Clone, Debug)]
pub struct Product<S: System, A> {
    system: S,
    automaton: A,
    next: Vec<S::State>,
}

impl<S: System, A: Tgba> Product<S, A> {
    /// Both side by side.
    pub fn new(system: S, automaton: A) -> Product<S, A> {
        Product { system, automaton, next: Vec::new() }
    }
}

impl<S: System, A: Tgba> Graph for Product<S, A> {
    type State = (S::State, u32);

    fn sets(&self) -> u32 {
        self.automaton.sets()
    }

    fn initial(&mut self, states: &mut Vec<Self::State>) {
        let starts = self.automaton.initial();
        self.next.clear();
        self.system.initial(&mut self.next);
        for state in self.next.drain(..) {
            states.extend(starts.iter().map(|start| (state.clone(), *start)));
        }
    }

    fn successors(&mut self, (state, reader): &Self::State, steps: &mut Vec<(Self::State, Marks)>) {
        let truths = self.system.truths(state);
        self.next.clear();
        self.system.successors(state, &mut self.next);
        for edge in self.automaton.edges(*reader) {
            if truths.may_satisfy(&edge.label) {
                steps.extend(self.next.iter().map(|next| ((next.clone(), edge.target), edge.marks)));
            }
        }
    }
}

/// The part of a product's run that is the system's. The product repeats states where only the automaton moves on, so the
/// same infinite run is written as briefly as it can be: the cycle once, begun as early as possible.
pub fn system_run<S: Clone + PartialEq>(lasso: &Lasso<(S, u32)>) -> Lasso<S> {
    let part = |states: &[(S, u32)]| states.iter().map(|(state, _)| state.clone()).collect::<Vec<_>>();
    let (mut prefix, mut cycle) = (part(&lasso.prefix), part(&lasso.cycle));
    let repeats = |period: usize| (period..cycle.len()).all(|i| cycle[i] == cycle[i - period]);
    let period = (1..cycle.len()).find(|n| cycle.len().is_multiple_of(*n) && repeats(*n)).unwrap_or(cycle.len());
    cycle.truncate(period);
    let mut turns = 0;
    while prefix.last().is_some_and(|last| cycle.get(cycle.len() - 1 - turns % cycle.len()) == Some(last)) {
        prefix.pop();
        turns += 1;
    }
    if !cycle.is_empty() {
        let turns = turns % cycle.len();
        cycle.rotate_right(turns);
    }
    Lasso { prefix, cycle }
}

/// Whether all of the first `atoms` atoms are known along a run, so that it is certainly accepted.
pub fn is_certain<S: System>(system: &mut S, run: &Lasso<S::State>, atoms: u32) -> bool {
    run.prefix.iter().chain(&run.cycle).all(|state| system.truths(state).decides(atoms))
}

impl Graph for Automaton {
    type State = u32;
    fn sets(&self) -> u32 {
        self.sets
    }
    fn initial(&mut self, states: &mut Vec<u32>) {
        states.extend_from_slice(&self.initial);
    }
    fn successors(&mut self, state: &u32, steps: &mut Vec<(u32, Marks)>) {
        steps.extend(self.edges[*state as usize].iter().map(|edge| (edge.target, edge.marks)));
    }
}

/// A word is the system that says it.
impl System for Word {
    type State = usize;
    fn initial(&mut self, states: &mut Vec<usize>) {
        states.push(0);
    }
    fn successors(&mut self, state: &usize, states: &mut Vec<usize>) {
        states.push(self.after(*state, 1));
    }
    fn truths(&mut self, state: &usize) -> Truths {
        Truths::known(self.letters()[*state])
    }
}

/// Whether an automaton accepts a word.
pub fn accepts(automaton: &Automaton, word: &Word) -> bool {
    let mut product = Product::new(word.clone(), automaton.clone());
    !crate::emptiness::emptiness(&mut product, &mut crate::graph::never).is_empty()
}
