//! Strongly connected components of a stored automaton.
//!
//! Tarjan, "Depth-First Search and Linear Graph Algorithms", SIAM Journal on Computing 1(2), 1972, with an explicit stack in place of
//! recursion. Components are numbered so that transitions lead from greater numbers to
//! smaller or equal ones. A component is *accepting* if its inner transitions together are in all acceptance sets: then a
//! run can visit all of them for ever. A single state without a loop is *transient* and never accepting.

use crate::automaton::{Automaton, Marks};

/// The components of an automaton.
#[derive(Clone, Debug)]
pub struct Components {
    /// The component of each state.
    pub of: Vec<u32>,
    /// For each component whether an accepting run can stay in it.
    pub accepting: Vec<bool>,
    /// For each component whether it has no inner transition.
    pub transient: Vec<bool>,
}

impl Components {
    /// The components of all states, reachable or not.
    pub fn new(automaton: &Automaton) -> Components {
        const UNSEEN: u32 = u32::MAX;
        let n = automaton.states();
        let (mut of, mut low, mut order) = (vec![UNSEEN; n], vec![0u32; n], vec![UNSEEN; n]);
        let (mut open, mut calls) = (Vec::new(), Vec::<(u32, usize)>::new());
        let (mut time, mut count) = (0u32, 0u32);
        for root in 0..n {
            if order[root] != UNSEEN {
                continue;
            }
            calls.push((root as u32, 0));
            while let Some((state, next)) = calls.last_mut() {
                let s = *state as usize;
                if *next == 0 {
                    (order[s], low[s]) = (time, time);
                    time += 1;
                    open.push(*state);
                }
                if let Some(edge) = automaton.edges[s].get(*next) {
                    *next += 1;
                    let t = edge.target as usize;
                    if order[t] == UNSEEN {
                        calls.push((edge.target, 0));
                    } else if of[t] == UNSEEN {
                        low[s] = low[s].min(order[t]);
                    }
                    continue;
                }
                calls.pop();
                if low[s] == order[s] {
                    while let Some(member) = open.pop() {
                        of[member as usize] = count;
                        if member as usize == s {
                            break;
                        }
                    }
                    count += 1;
                }
                if let Some((parent, _)) = calls.last() {
                    let p = *parent as usize;
                    low[p] = low[p].min(low[s]);
                }
            }
        }
        let (mut marks, mut transient) = (vec![0 as Marks; count as usize], vec![true; count as usize]);
        for (state, edges) in automaton.edges.iter().enumerate() {
            for edge in edges.iter().filter(|edge| of[edge.target as usize] == of[state]) {
                marks[of[state] as usize] |= edge.marks;
                transient[of[state] as usize] = false;
            }
        }
        let full = automaton.full();
        let accepting = marks.iter().zip(&transient).map(|(marks, transient)| !transient && *marks == full).collect();
        Components { of, accepting, transient }
    }

    /// Whether a transition stays in its component.
    pub fn inner(&self, from: u32, to: u32) -> bool {
        self.of[from as usize] == self.of[to as usize]
    }
}
