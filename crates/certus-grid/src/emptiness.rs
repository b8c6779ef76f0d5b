//! Accepting cycles of a product that was explored, and runs into them.
//!
//! Strongly connected components by one depth-first search (path-based, after Gabow, with acceptance sets on the stack of roots as in Couvreur's
//! emptiness check). A state of the product is its cell's first number plus the rank of the automaton's state among those that the cell was
//! entered with, so a search needs four bytes per state besides its path. Nothing recurses.

use std::collections::{HashMap, VecDeque};

use certus_automata::automaton::Marks;
use certus_solver::{Budget, UnknownReason};

use crate::cells::Places;
use crate::explore::{Product, exhausted};
use crate::grid::{Cell, DEPTH};

/// A state of the product.
pub type State = (u32, u16);

/// A run of the product that is accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lasso {
    /// The cells before the cycle.
    pub prefix: Vec<u32>,
    /// The cells of the cycle.
    pub cycle: Vec<u32>,
}

/// After so many states the budget is looked at.
const LOOKS_AT_ONCE: u64 = 1 << 10;

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
fn steps(product: &mut Product<'_>, (cell, state): State, found: &mut Vec<(State, Marks)>) {
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

fn starts(product: &mut Product<'_>) -> Vec<State> {
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
