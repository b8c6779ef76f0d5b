//! Emptiness of the explored product: its accepting strongly connected components.
//!
//! Couvreur's emptiness check for generalised Büchi automata (Couvreur, "On-the-fly verification of linear temporal logic", FM 1999), with the path-based
//! computation of strongly connected components of `certus_numerics::components` by Gabow ("Path-based depth-first search for strong and biconnected components", Information Processing Letters 74, 2000): acceptance
//! sets are joined on the stack of roots. A component is accepting if it has a cycle and its transitions carry every acceptance set; a run of the product is accepted exactly if it
//! ends up in such a component.
//!
//! Departures: all accepting components are collected, since refinement wants them; nothing recurses; a state of the product is its cell's first number plus the rank of the automaton's
//! state among those that the cell was entered with, so the search needs four bytes per state besides its path.

use certus_automata::automaton::Marks;
use certus_numerics::components::{Digraph, MOST_NODES, strongly_connected};
use certus_solver::{Budget, UnknownReason};

use crate::parallel::exhausted;
use crate::product::Product;

/// A state of the product.
pub type State = (u32, u16);

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
            sum = sum.checked_add(count).filter(|&sum| (sum as usize) < MOST_NODES)?;
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

/// The product as a graph whose edges are labelled with acceptance sets.
struct Labelled<'a, 'p> {
    product: &'a mut Product<'p>,
    numbers: Numbers,
    budget: &'a Budget<'a>,
    fresh: Vec<(State, Marks)>,
}

impl Digraph for Labelled<'_, '_> {
    type Node = State;
    type Label = u16;
    type Error = UnknownReason;

    fn len(&self) -> usize {
        self.numbers.len()
    }

    fn index(&self, state: State) -> usize {
        self.numbers.of(self.product, state)
    }

    fn successors(&mut self, state: State, found: &mut Vec<(State, u16)>) {
        self.fresh.clear();
        steps(self.product, state, &mut self.fresh);
        found.extend(self.fresh.iter().map(|&(state, marks)| (state, marks as u16)));
    }

    fn poll(&mut self, entered: u32, waiting: usize) -> Result<(), UnknownReason> {
        if !entered.is_multiple_of(1 << 16) {
            return Ok(());
        }
        match exhausted(self.budget) {
            Some(reason) => Err(reason),
            None if self.product.bytes() + waiting > self.budget.memory => Err(UnknownReason::Memory),
            None => Ok(()),
        }
    }
}

/// The states of all accepting components of a product that is closed, each component by itself.
#[tracing::instrument(level = "debug", name = "emptiness", skip_all)]
pub fn accepting_components(product: &mut Product<'_>, budget: &Budget<'_>) -> Result<Vec<Vec<State>>, UnknownReason> {
    let full = product.violations.automaton.full();
    let numbers = Numbers::new(product).ok_or(UnknownReason::Memory)?;
    let roots = starts(product);
    let mut graph = Labelled { product, numbers, budget, fresh: Vec::new() };
    let mut accepting = Vec::new();
    strongly_connected(&mut graph, roots, |component| {
        if component.cyclic && u64::from(component.label) & full == full {
            accepting.push(component.nodes);
        }
    })?;
    Ok(accepting)
}
