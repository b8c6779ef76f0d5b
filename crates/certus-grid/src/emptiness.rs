//! Emptiness of the explored product: its accepting strongly connected components.
//!
//! Couvreur's emptiness check for generalised Büchi automata (Couvreur, "On-the-fly verification of linear temporal logic", FM 1999), with the path-based
//! computation of strongly connected components by Gabow ("Path-based depth-first search for strong and biconnected components", Information Processing Letters 74, 2000): acceptance
//! sets are joined on the stack of roots. A component is accepting if it has a cycle and its transitions carry every acceptance set; a run of the product is accepted exactly if it
//! ends up in such a component.
//!
//! Departures: all accepting components are collected, since refinement wants them; nothing recurses; a state of the product is its cell's first number plus the rank of the automaton's
//! state among those that the cell was entered with, so the search needs four bytes per state besides its path.

use certus_automata::automaton::Marks;
use certus_solver::{Budget, UnknownReason};

use crate::parallel::exhausted;
use crate::product::Product;

/// A state of the product.
pub type State = (u32, u16);

const UNSEEN: u32 = 0;

const DEAD: u32 = u32::MAX;

struct Root {
    order: u32,
    marks: Marks,
    entry: Marks,
    /// Whether some step stays in the component.
    cyclic: bool,
}

/// Numbers of states of the product.
struct Numbers {
    begins: Vec<u32>,
}

impl Numbers {
    fn new(product: &Product<'_>) -> Option<Numbers> {
        let words = product.violations.words;
        let mut begins = Vec::with_capacity(product.all_states().len() / words + 1);
        let mut sum = 0u32;
        for states in product.all_states().chunks_exact(words) {
            begins.push(sum);
            let count: u32 = states.iter().map(|word| word.count_ones()).sum();
            sum = sum.checked_add(count).filter(|&sum| sum < DEAD - 1)?;
        }
        begins.push(sum);
        Some(Numbers { begins })
    }

    fn len(&self) -> usize {
        self.begins.last().copied().unwrap_or(0) as usize
    }

    fn of(&self, product: &Product<'_>, (cell, state): State) -> usize {
        let own = product.states(cell);
        let (word, bit) = (usize::from(state) / 64, u32::from(state) % 64);
        let before: u32 = own[..word].iter().map(|word| word.count_ones()).sum();
        let rank = before + (own[word] & ((1u64 << bit) - 1)).count_ones();
        (self.begins[cell as usize] + rank) as usize
    }
}

/// The steps from a state of the product.
pub(crate) fn steps(product: &mut Product<'_>, (cell, state): State, found: &mut Vec<(State, Marks)>) {
    let (grid, cells, violations) = (product.grid, &mut product.cells, &product.violations);
    for place in 0..cells.boxes(cell) {
        let edges = &violations.at(cells.box_class(cell, place)).edges[usize::from(state)];
        if !edges.is_empty() {
            cells.each_in_box(grid, cell, place, &mut |successor| {
                found.extend(edges.iter().map(|&(target, marks)| ((successor, target as u16), marks)));
            });
        }
    }
}

pub(crate) fn starts(product: &mut Product<'_>) -> Vec<State> {
    let states: Vec<u32> = product.violations.automaton.initial.clone();
    let mut found = Vec::new();
    product.each_initial(&mut |cell| found.extend(states.iter().map(|&state| (cell, state as u16))));
    found
}

/// The states of all accepting components of a product that is closed, each component by itself.
pub fn accepting_components(product: &mut Product<'_>, budget: &Budget<'_>) -> Result<Vec<Vec<State>>, UnknownReason> {
    let full = product.violations.automaton.full();
    let numbers = Numbers::new(product).ok_or(UnknownReason::Memory)?;
    let mut order = vec![UNSEEN; numbers.len()];
    let mut live: Vec<State> = Vec::new();
    let mut roots: Vec<Root> = Vec::new();
    // The states of the path, and where the steps of each begin among all that wait.
    let mut path: Vec<(State, usize)> = Vec::new();
    let mut waiting: Vec<(State, u16)> = starts(product).into_iter().map(|state| (state, 0)).collect();
    let mut fresh: Vec<(State, Marks)> = Vec::new();
    let mut time = 1u32;
    let mut accepting = Vec::new();
    loop {
        let begin = path.last().map_or(0, |frame| frame.1);
        if waiting.len() > begin {
            let Some((next, marks)) = waiting.pop() else { break };
            let at = numbers.of(product, next);
            match order[at] {
                DEAD => {}
                UNSEEN => {
                    if time.is_multiple_of(1 << 16) {
                        if let Some(reason) = exhausted(budget) {
                            return Err(reason);
                        }
                        if product.bytes() + 8 * waiting.capacity() > budget.memory {
                            return Err(UnknownReason::Memory);
                        }
                    }
                    order[at] = time;
                    roots.push(Root { order: time, marks: 0, entry: u64::from(marks), cyclic: false });
                    time += 1;
                    live.push(next);
                    path.push((next, waiting.len()));
                    fresh.clear();
                    steps(product, next, &mut fresh);
                    waiting.extend(fresh.iter().map(|&(state, marks)| (state, marks as u16)));
                }
                reached => {
                    let (mut joined, mut entry) = (u64::from(marks), 0);
                    while let Some(root) = roots.pop() {
                        joined |= root.marks;
                        if root.order <= reached {
                            entry = root.entry;
                            roots.push(Root { order: root.order, marks: joined, entry, cyclic: true });
                            break;
                        }
                        joined |= root.entry;
                    }
                    debug_assert!(entry == 0 || !roots.is_empty());
                }
            }
        } else {
            let Some((state, _)) = path.pop() else { break };
            let own = order[numbers.of(product, state)];
            if roots.last().is_some_and(|root| root.order == own) {
                let Some(root) = roots.pop() else { break };
                let first = live.iter().rposition(|&other| other == state).unwrap_or(0);
                let component = live.split_off(first);
                for &member in &component {
                    order[numbers.of(product, member)] = DEAD;
                }
                if root.cyclic && root.marks & full == full {
                    accepting.push(component);
                }
            }
        }
    }
    Ok(accepting)
}
