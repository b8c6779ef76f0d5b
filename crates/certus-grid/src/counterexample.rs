//! Abstract counterexamples: shortest paths of the product to a goal, and lassos into accepting components.
//!
//! Breadth-first search, so that prefixes are as short as they can be; a cycle collects one missing acceptance set after the other by the shortest way. What is found is a run of the
//! abstraction; whether the system has it is decided in `concretise.rs`.

use std::collections::{HashMap, VecDeque};

use certus_automata::automaton::Marks;
use certus_solver::Budget;

use crate::cells::Places;
use crate::emptiness::{State, starts, steps};
use crate::grid::{Cell, DEPTH};
use crate::parallel::exhausted;
use crate::product::Product;

/// A run of the product that is accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lasso {
    /// The cells before the cycle.
    pub prefix: Vec<u32>,
    /// The cells of the cycle.
    pub cycle: Vec<u32>,
}

/// The budget is polled after so many states.
const LOOKS_AT_ONCE: u64 = 1 << 10;

/// The cells of a run to one that was met, back from it: each was first entered in the round before. No table of states is needed, so it is for
/// very many cells; where the automaton matters more than the rounds do, the way may end before an initial cell.
pub fn path_by_rounds(product: &Product<'_>, goal: u32) -> Vec<u32> {
    let (grid, cells, axes) = (product.grid, &product.cells, product.grid.axes.len());
    // Where the cells of each round are among all: mostly side by side.
    let mut ranges = vec![(u32::MAX, 0u32); product.layers.len()];
    for cell in 0..cells.len() as u32 {
        if let Some(range) = product.round(cell).and_then(|round| ranges.get_mut(round)) {
            *range = (range.0.min(cell), range.1.max(cell));
        }
    }
    let mut way = vec![goal];
    let mut round = product.round(goal).unwrap_or(0);
    let mut meeting = Places::default();
    while round > 0 {
        let Cell { places, levels } = grid.cell(cells.key(way[way.len() - 1]));
        let mut leads = |cell: u32| {
            (0..cells.boxes(cell)).any(|place| {
                cells.places(grid, cell, place, &mut meeting);
                (0..axes).all(|axis| {
                    let last = places[axis] + (1 << (DEPTH - levels[axis])) - 1;
                    meeting.low[axis] <= last && places[axis] <= meeting.high[axis]
                })
            })
        };
        round -= 1;
        let (first, last) = ranges[round];
        let mut earlier = (first..=last).filter(|&cell| product.round(cell) == Some(round) && cells.is_expanded(cell));
        match earlier.find(|&cell| leads(cell)) {
            Some(cell) => way.push(cell),
            None => break,
        }
    }
    way.reverse();
    way
}

/// The shortest run, as states, from the initial ones to one that is wanted; none if there is none, or the budget is used up before.
pub fn path_to(
    product: &mut Product<'_>,
    budget: &Budget<'_>,
    wanted: &dyn Fn(&Product<'_>, State) -> bool,
) -> Option<Vec<State>> {
    let mut before: HashMap<State, Option<State>> = HashMap::new();
    let mut pending: VecDeque<State> = VecDeque::new();
    for state in starts(product) {
        if before.insert(state, None).is_none() {
            pending.push_back(state);
        }
    }
    let mut fresh = Vec::new();
    let mut looked = 0u64;
    while let Some(state) = pending.pop_front() {
        looked += 1;
        if looked.is_multiple_of(LOOKS_AT_ONCE) && exhausted(budget).is_some() {
            return None;
        }
        if wanted(product, state) {
            let mut path = vec![state];
            while let Some(Some(earlier)) = before.get(&path[path.len() - 1]) {
                path.push(*earlier);
            }
            path.reverse();
            return Some(path);
        }
        if !product.cells.is_expanded(state.0) {
            continue;
        }
        fresh.clear();
        steps(product, state, &mut fresh);
        for &(next, _) in &fresh {
            before.entry(next).or_insert_with(|| {
                pending.push_back(next);
                Some(state)
            });
        }
    }
    None
}

/// A run into an accepting component and round in it; none if the budget is used up before it is found.
pub fn lasso(product: &mut Product<'_>, budget: &Budget<'_>, component: &[State]) -> Option<Lasso> {
    let members: HashMap<State, ()> = component.iter().map(|&state| (state, ())).collect();
    let prefix = path_to(product, budget, &|_, state| members.contains_key(&state))?;
    let entry = *prefix.last()?;
    let full = product.violations.automaton.full();
    let mut cycle = vec![entry];
    let mut seen: Marks = 0;
    loop {
        // The shortest way to a step with a mark that is missing, or back to the entry.
        let from = *cycle.last()?;
        let mut before: HashMap<State, State> = HashMap::new();
        let mut pending = VecDeque::from([from]);
        let mut fresh = Vec::new();
        let mut reached: Option<(State, State, Marks)> = None;
        let mut looked = 0u64;
        'search: while let Some(state) = pending.pop_front() {
            looked += 1;
            if looked.is_multiple_of(LOOKS_AT_ONCE) && exhausted(budget).is_some() {
                return None;
            }
            fresh.clear();
            steps(product, state, &mut fresh);
            for &(next, marks) in fresh.iter().filter(|(next, _)| members.contains_key(next)) {
                let helps = if seen & full == full { next == entry } else { marks & full & !seen != 0 };
                if helps {
                    reached = Some((state, next, marks));
                    break 'search;
                }
                if next != from && !before.contains_key(&next) {
                    before.insert(next, state);
                    pending.push_back(next);
                }
            }
        }
        let (state, next, marks) = reached?;
        let mut way = vec![state];
        while let Some(earlier) = before.get(&way[way.len() - 1]) {
            way.push(*earlier);
        }
        way.reverse();
        cycle.extend(way.into_iter().skip(1));
        let closed = seen & full == full;
        seen |= marks;
        if closed || (seen & full == full && next == entry) {
            break;
        }
        cycle.push(next);
    }
    let cells = |states: &[State]| states.iter().map(|state| state.0).collect::<Vec<u32>>();
    Some(Lasso { prefix: cells(&prefix[..prefix.len() - 1]), cycle: cells(&cycle) })
}
