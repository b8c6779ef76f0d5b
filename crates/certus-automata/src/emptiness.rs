//! Emptiness check by strongly connected components, on the fly: is there an accepting run?
//!
//! Couvreur, "On-the-Fly Verification of Linear Temporal Logic", FM 1999; Couvreur, Duret-Lutz and Poitrenaud, "On-the-Fly
//! Emptiness Checks for Generalized Büchi Automata", SPIN 2005. A depth-first search that keeps the strongly
//! connected components of the part of the graph it has seen, as a stack of roots, each with the acceptance sets of the
//! steps inside its component. A step to a live state merges all components above that state's; when the merged one has all
//! sets, an accepting run exists and the search ends, often long before the graph was seen. When a root is left, its
//! component is complete and not accepting, and its states are dead. Every state is expanded once.
//!
//! Memory: a state, its number in a hash table and an order of four bytes; while it is on the path about 44 bytes more, and
//! 16 for each of its steps that wait. Nothing recurses. The run is found afterwards, see `witness.rs`.

use crate::automaton::{Marks, all_marks};
use crate::graph::{Graph, Outcome, PATIENCE, Stop};
use crate::intern::Interner;
use crate::witness::lasso;

const UNSEEN: u32 = 0;
const DEAD: u32 = u32::MAX;

struct Root {
    order: u32,
    /// Marks of the steps inside the component.
    marks: Marks,
    /// Marks of the step by which the search came to it.
    entry: Marks,
}

struct Frame {
    state: u32,
    /// Where its steps begin among all that wait.
    begin: usize,
}

/// Searches a graph for an accepting run.
pub fn emptiness<G: Graph>(graph: &mut G, stop: Stop) -> Outcome<G::State> {
    let full = all_marks(graph.sets());
    let mut states: Interner<G::State> = Interner::default();
    let mut order: Vec<u32> = Vec::new();
    let mut live: Vec<u32> = Vec::new();
    let mut roots: Vec<Root> = Vec::new();
    let mut path: Vec<Frame> = Vec::new();
    let mut waiting: Vec<(u32, Marks)> = Vec::new();
    let mut steps: Vec<(G::State, Marks)> = Vec::new();
    let mut time = 1u32;
    let mut initial = Vec::new();
    graph.initial(&mut initial);
    for start in initial {
        waiting.push((states.insert(start).0, 0));
    }
    // The initial states are the steps of a frame without a state.
    loop {
        let begin = path.last().map_or(0, |frame| frame.begin);
        if waiting.len() > begin {
            let Some((next, marks)) = waiting.pop() else { break };
            order.resize(states.len(), UNSEEN);
            match order[next as usize] {
                DEAD => {}
                UNSEEN => {
                    if time == DEAD
                        || states.is_full()
                        || ((time as usize).is_multiple_of(PATIENCE) && stop(states.len()))
                    {
                        return Outcome::Stopped;
                    }
                    order[next as usize] = time;
                    roots.push(Root { order: time, marks: 0, entry: marks });
                    time += 1;
                    live.push(next);
                    path.push(Frame { state: next, begin: waiting.len() });
                    steps.clear();
                    graph.successors(&states.get(next).clone(), &mut steps);
                    for (target, marks) in steps.drain(..) {
                        let target = states.insert(target).0;
                        if order.get(target as usize) != Some(&DEAD) {
                            waiting.push((target, marks));
                        }
                    }
                }
                reached => {
                    let mut merged = marks;
                    while let Some(top) = roots.last_mut() {
                        merged |= top.marks;
                        if top.order <= reached {
                            top.marks = merged;
                            break;
                        }
                        merged |= top.entry;
                        roots.pop();
                    }
                    if merged == full {
                        let first = roots.last().map_or(0, |root| root.order);
                        let members: Vec<u32> = live.iter().copied().filter(|s| order[*s as usize] >= first).collect();
                        return lasso(graph, &states, &members);
                    }
                }
            }
            continue;
        }
        let Some(frame) = path.pop() else { break };
        if roots.last().is_some_and(|root| root.order == order[frame.state as usize]) {
            roots.pop();
            while let Some(member) = live.pop() {
                order[member as usize] = DEAD;
                if member == frame.state {
                    break;
                }
            }
        }
    }
    Outcome::Empty
}
