//! Accepting cycles of a product that was explored, and runs into them.
//!
//! Strongly connected components by one depth-first search, with acceptance sets on the stack of roots as in Couvreur's
//! emptiness check (`certus_numerics::components`). A state of the product is its unit's first number plus the rank of the automaton's state
//! among those that the unit was entered with, so a search needs four bytes per state besides its path.

use std::collections::{HashMap, VecDeque};

use certus_automata::automaton::Marks;
use certus_numerics::components::{Digraph, MOST_NODES, strongly_connected};
use certus_solver::{Budget, UnknownReason};

use crate::explore::{Product, spent};
use crate::lattice::{DEPTH, Unit};
use crate::units::Places;

/// A state of the product.
pub type State = (u32, u16);

/// A run of the product that is accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lasso {
    /// The units before the cycle.
    pub prefix: Vec<u32>,
    /// The units of the cycle.
    pub cycle: Vec<u32>,
}

/// After so many states the budget is looked at.
const LOOKS_AT_ONCE: u64 = 1 << 10;

/// Numbers of states of the product.
struct Numbers {
    begins: Vec<u32>,
}

impl Numbers {
    fn new(product: &Product<'_>) -> Option<Numbers> {
        let words = product.reading.words;
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

    fn of(&self, product: &Product<'_>, (unit, state): State) -> usize {
        let own = product.states(unit);
        let (word, bit) = (usize::from(state) / 64, u32::from(state) % 64);
        let before: u32 = own[..word].iter().map(|word| word.count_ones()).sum();
        let rank = before + (own[word] & ((1u64 << bit) - 1)).count_ones();
        (self.begins[unit as usize] + rank) as usize
    }
}

/// The steps from a state of the product.
fn steps(product: &mut Product<'_>, (unit, state): State, found: &mut Vec<(State, Marks)>) {
    let (lattice, units, reading) = (product.lattice, &mut product.units, &product.reading);
    for place in 0..units.boxes(unit) {
        let moves = &reading.at(units.box_class(unit, place)).moves[usize::from(state)];
        if !moves.is_empty() {
            units.each_in_box(lattice, unit, place, &mut |successor| {
                found.extend(moves.iter().map(|&(target, marks)| ((successor, target as u16), marks)));
            });
        }
    }
}

fn starts(product: &mut Product<'_>) -> Vec<State> {
    let states: Vec<u32> = product.reading.automaton.initial.clone();
    let mut found = Vec::new();
    product.each_initial(&mut |unit| found.extend(states.iter().map(|&state| (unit, state as u16))));
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
        match spent(self.budget) {
            Some(reason) => Err(reason),
            None if self.product.bytes() + waiting > self.budget.memory => Err(UnknownReason::Memory),
            None => Ok(()),
        }
    }
}

/// The states of all accepting components of a product that is closed, each component by itself.
pub fn accepting_components(product: &mut Product<'_>, budget: &Budget<'_>) -> Result<Vec<Vec<State>>, UnknownReason> {
    let full = product.reading.automaton.full();
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

/// The units of a run to one that was met, back from it: each was first entered in the round before. No table of states is needed, so it is for
/// very many units; where the automaton matters more than the rounds do, the way may end before an initial unit.
pub fn way_to(product: &Product<'_>, goal: u32) -> Vec<u32> {
    let (lattice, units, axes) = (product.lattice, &product.units, product.lattice.axes.len());
    // Where the units of each round are among all: mostly side by side.
    let mut ranges = vec![(u32::MAX, 0u32); product.layers.len()];
    for unit in 0..units.len() as u32 {
        if let Some(range) = product.round(unit).and_then(|round| ranges.get_mut(round)) {
            *range = (range.0.min(unit), range.1.max(unit));
        }
    }
    let mut way = vec![goal];
    let mut round = product.round(goal).unwrap_or(0);
    let mut meeting = Places::default();
    while round > 0 {
        let Unit { places, levels } = lattice.unit(units.key(way[way.len() - 1]));
        let mut leads = |unit: u32| {
            (0..units.boxes(unit)).any(|place| {
                units.places(lattice, unit, place, &mut meeting);
                (0..axes).all(|axis| {
                    let last = places[axis] + (1 << (DEPTH - levels[axis])) - 1;
                    meeting.low[axis] <= last && places[axis] <= meeting.high[axis]
                })
            })
        };
        round -= 1;
        let (first, last) = ranges[round];
        let mut earlier = (first..=last).filter(|&unit| product.round(unit) == Some(round) && units.is_expanded(unit));
        match earlier.find(|&unit| leads(unit)) {
            Some(unit) => way.push(unit),
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
        if looked.is_multiple_of(LOOKS_AT_ONCE) && spent(budget).is_some() {
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
        if !product.units.is_expanded(state.0) {
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
    let full = product.reading.automaton.full();
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
            if looked.is_multiple_of(LOOKS_AT_ONCE) && spent(budget).is_some() {
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
    let units = |states: &[State]| states.iter().map(|state| state.0).collect::<Vec<u32>>();
    Some(Lasso { prefix: units(&prefix[..prefix.len() - 1]), cycle: units(&cycle) })
}
