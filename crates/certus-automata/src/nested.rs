//! Emptiness check by nested depth-first search: is there an accepting run?
//!
//! Courcoubetis, Vardi, Wolper and Yannakakis, "Memory-Efficient Algorithms for the Verification of Temporal Properties", CAV 1990 and
//! Formal Methods in System Design 1, 1992, for one acceptance set; with the colours of Schwoon and Esparza, "A Note on On-the-Fly
//! Verification Algorithms", TACAS 2005. Departure: acceptance is on transitions, so when the search backs out of an accepting step s → t, a second search from t looks for a
//! state on the path to s; together they close a cycle. States of the second search are marked for good, because steps are
//! left in postorder. [`Degeneralised`] makes one set of many by counting them off in order, on the fly.
//!
//! [`crate::emptiness`] needs fewer states, stops earlier and finds shorter runs; this one shares no code with it and is
//! here to be compared with.

use crate::automaton::{Marks, all_marks};
use crate::graph::{Graph, Lasso, Outcome, PATIENCE, Stop};
use crate::intern::Interner;

/// The level after a step: sets are awaited one after the other. The second is whether the last was met.
pub(crate) fn advance(level: u32, marks: Marks, sets: u32) -> (u32, bool) {
    let mut level = level;
    let awaited = |level: u32| level < sets && marks >> level & 1 == 1;
    while awaited(level) {
        level += 1;
    }
    if level < sets {
        return (level, false);
    }
    level = 0;
    while awaited(level) {
        level += 1;
    }
    (if level < sets { level } else { 0 }, true)
}

/// A graph with one acceptance set instead of many.
#[derive(Clone, Debug)]
pub struct Degeneralised<G>(pub G);

impl<G: Graph> Graph for Degeneralised<G> {
    type State = (G::State, u32);
    fn sets(&self) -> u32 {
        1
    }
    fn initial(&mut self, states: &mut Vec<Self::State>) {
        let mut inner = Vec::new();
        self.0.initial(&mut inner);
        states.extend(inner.into_iter().map(|state| (state, 0)));
    }
    fn successors(&mut self, state: &Self::State, steps: &mut Vec<(Self::State, Marks)>) {
        let (mut inner, sets) = (Vec::new(), self.0.sets());
        self.0.successors(&state.0, &mut inner);
        for (target, marks) in inner {
            let (level, met) = advance(state.1, marks, sets);
            steps.push(((target, level), Marks::from(met)));
        }
    }
}

const CYAN: u8 = 1;
const BLUE: u8 = 2;
const RED: u8 = 4;

struct Frame {
    state: u32,
    /// The marks of the step that led here.
    marks: Marks,
    steps: Vec<(u32, Marks)>,
}

/// Searches a graph with at most one acceptance set. Wrap others in [`Degeneralised`].
pub fn nested_search<G: Graph>(graph: &mut G, stop: Stop) -> Outcome<G::State> {
    let full = all_marks(graph.sets());
    let mut search = Search { graph, states: Interner::default(), colour: Vec::new(), expanded: 0 };
    let mut path: Vec<Frame> = Vec::new();
    let mut initial = Vec::new();
    search.graph.initial(&mut initial);
    for start in initial {
        let start = search.number(start);
        if search.colour[start as usize] != 0 {
            continue;
        }
        let mut frame = Some(search.open(start, 0));
        loop {
            if let Some(frame) = frame.take() {
                search.colour[frame.state as usize] |= CYAN;
                path.push(frame);
            }
            if search.states.is_full() || (search.expanded.is_multiple_of(PATIENCE) && stop(search.states.len())) {
                return Outcome::Stopped;
            }
            let Some(top) = path.last_mut() else { break };
            // What is left behind: a step just scanned, or the step to a state just finished.
            let left = if let Some((target, marks)) = top.steps.pop() {
                if search.colour[target as usize] & (CYAN | BLUE) == 0 {
                    frame = Some(search.open(target, marks));
                    continue;
                }
                (target, marks)
            } else {
                let Some(done) = path.pop() else { break };
                search.colour[done.state as usize] ^= CYAN | BLUE;
                (done.state, done.marks)
            };
            if !path.is_empty()
                && left.1 & full == full
                && let Some(second) = search.second(left.0)
            {
                return Outcome::Accepting(search.lasso(&path, &second));
            }
        }
    }
    Outcome::Empty
}

struct Search<'a, G: Graph> {
    graph: &'a mut G,
    states: Interner<G::State>,
    colour: Vec<u8>,
    expanded: usize,
}

impl<G: Graph> Search<'_, G> {
    fn number(&mut self, state: G::State) -> u32 {
        let number = self.states.insert(state).0;
        self.colour.resize(self.states.len(), 0);
        number
    }

    fn open(&mut self, state: u32, marks: Marks) -> Frame {
        self.expanded += 1;
        let mut steps = Vec::new();
        self.graph.successors(&self.states.get(state).clone(), &mut steps);
        let steps = steps.into_iter().map(|(target, marks)| (self.number(target), marks)).collect();
        Frame { state, marks, steps }
    }

    /// A path from a state to one on the first search's path, the latter included.
    fn second(&mut self, from: u32) -> Option<Vec<u32>> {
        if self.colour[from as usize] & CYAN != 0 {
            return Some(vec![from]);
        }
        if self.colour[from as usize] & RED != 0 {
            return None;
        }
        self.colour[from as usize] |= RED;
        let mut path = vec![self.open(from, 0)];
        while let Some(top) = path.last_mut() {
            match top.steps.pop() {
                None => {
                    path.pop();
                }
                Some((target, _)) => {
                    let colour = self.colour[target as usize];
                    if colour & CYAN != 0 {
                        return Some(path.iter().map(|frame| frame.state).chain([target]).collect());
                    }
                    if colour & RED == 0 {
                        self.colour[target as usize] |= RED;
                        let frame = self.open(target, 0);
                        path.push(frame);
                    }
                }
            }
        }
        None
    }

    /// The first search's path, and the second's that leads back to it.
    fn lasso(&self, path: &[Frame], second: &[u32]) -> Lasso<G::State> {
        let state = |number: &u32| self.states.get(*number).clone();
        let (back, way) = second.split_last().unwrap_or((&0, &[]));
        let entry = path.iter().position(|frame| frame.state == *back).unwrap_or(0);
        let prefix = path[..entry].iter().map(|frame| state(&frame.state)).collect();
        let cycle = path[entry..].iter().map(|frame| state(&frame.state)).chain(way.iter().map(state)).collect();
        Lasso { prefix, cycle }
    }
}
