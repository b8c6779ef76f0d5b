//! The product of the grid abstraction and the automaton of the property's violations, as far as it is known.
//!
//! A state of the product is a cell with a state of the automaton. Instead of single product states, each cell keeps the set of automaton states with which a run can enter
//! it, as bits.

use certus_lang::system::System;

use crate::cells::{Cells, Places, Visitor};
use crate::grid::{Axis, Grid, MOST_AXES};
use crate::initial_cells::InitialCells;
use crate::propagation::StateSets;
use crate::violation_automaton::{Universal, ViolationAutomaton};

/// Product states of one cell: the automaton states are bits of one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProductSet {
    /// The cell.
    pub cell: u32,
    /// Which word of states.
    pub word: u16,
    /// Bits of that word.
    pub bits: u64,
}

impl ProductSet {
    /// Whether a state of the product is one of these.
    pub fn is(&self, (cell, state): (u32, u16)) -> bool {
        cell == self.cell && state / 64 == self.word && self.bits >> (state % 64) & 1 == 1
    }
}

/// The explored product.
pub struct Product<'a> {
    /// The grid.
    pub grid: &'a Grid,
    /// The cells.
    pub cells: Cells,
    /// The automaton.
    pub violations: ViolationAutomaton,
    /// The states of the automaton in which each cell can be entered.
    pub(crate) state_sets: StateSets,
    /// How many cells were first entered in each round.
    pub layers: Vec<usize>,
    /// The round in which each cell was first entered.
    pub(crate) rounds: Vec<u16>,
    /// Bad prefixes are excluded up to so many steps.
    pub settled: Option<usize>,
    /// How many cells were bounded in all.
    pub expansions: u64,
    /// The most cells that may be bounded; visits of successors are limited in proportion.
    pub most: u64,
    /// How many successors were visited in all.
    pub looks: u64,
    /// Where a model error is not excluded before the property is decided, in the order in which they were met.
    pub open_errors: Vec<ProductSet>,
    /// Whether model errors are assumed not to happen.
    pub without_errors: bool,
    /// The places of the boxes of the initial set.
    initial: Vec<Places>,
    /// Tells which cells have initial states, where these are not a box.
    initial_cells: Option<InitialCells>,
    /// States of the automaton that accept whatever follows.
    pub(crate) violated: Vec<u64>,
    /// States of the automaton that may accept whatever follows, which matters where a run ends.
    pub(crate) perhaps: Vec<u64>,
    pub(crate) seconds: Seconds,
}

/// Where the time went.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Seconds {
    /// Bounding cells.
    pub expanding: f64,
    /// Propagating automaton states.
    pub propagation: f64,
}

/// Bytes that a search for cycles takes per state of the product, at most, besides.
const SEARCH_BYTES: usize = 12;

/// Visiting so many successors costs as much as bounding a cell.
const LOOKS_PER_EXPANDED: u64 = 64;

/// So many simulated steps cost as much as bounding a cell.
const STEPS_PER_EXPANDED: u64 = 16;

/// Not entered yet.
pub(crate) const UNMET: u16 = u16::MAX;

impl<'a> Product<'a> {
    /// An unexplored product.
    pub fn new(system: &System, grid: &'a Grid, violations: ViolationAutomaton) -> Product<'a> {
        Product {
            grid,
            cells: Cells::new(grid),
            state_sets: StateSets::default(),
            layers: Vec::new(),
            rounds: Vec::new(),
            settled: None,
            expansions: 0,
            most: u64::MAX,
            looks: 0,
            open_errors: Vec::new(),
            without_errors: false,
            initial: initial_places(system, grid, |axis, low, high| (axis.place(low), axis.place(high))),
            initial_cells: None,
            violated: violations.states_that(|own| own == Universal::Yes),
            perhaps: violations.states_that(|own| own != Universal::No),
            violations,
            seconds: Seconds::default(),
        }
    }

    /// Cells contain both of their cuts: initial states at a cut need only one of the cells that meet there.
    pub(crate) fn with_closed_cells(&mut self, system: &System) {
        self.initial = initial_places(system, self.grid, |axis, low, high| match axis.integral {
            true => (axis.place(low), axis.place(high)),
            false => axis.closed_places(low, high),
        });
    }

    /// How many bytes everything takes.
    pub fn bytes(&self) -> usize {
        self.cells.bytes() + self.state_sets.bytes() + 2 * self.rounds.capacity() + SEARCH_BYTES * self.cells.len()
    }

    /// Counts steps that were simulated: some of them cost as much as bounding a cell.
    pub(crate) fn note_simulated(&mut self, steps: u64) {
        self.looks = self.looks.saturating_add(steps.saturating_mul(LOOKS_PER_EXPANDED / STEPS_PER_EXPANDED));
    }

    /// Whether visits of successors, and simulated steps, cost as much as bounding all the cells that may be bounded.
    pub fn has_looked_enough(&self) -> bool {
        self.looks / LOOKS_PER_EXPANDED > self.most
    }

    /// Where the time went.
    pub fn seconds(&self) -> Seconds {
        self.seconds
    }

    /// The states of the automaton with which a cell can be entered, as bits of `violations.words` words.
    pub fn states(&self, cell: u32) -> &[u64] {
        self.state_sets.of(cell)
    }

    /// The same of all cells, one after the other.
    pub fn all_states(&self) -> &[u64] {
        self.state_sets.all()
    }

    /// Restricts the initial cells to those that may have initial states.
    pub(crate) fn with_initial_cells(&mut self, initial_cells: Option<InitialCells>) {
        self.initial_cells = initial_cells;
    }

    /// Visits every cell that initial states may be in. False if there are no numbers left.
    pub fn each_initial(&mut self, visitor: &mut impl Visitor) -> bool {
        let Some(mut initial_cells) = self.initial_cells.take() else {
            return self.initial.iter().all(|own| self.cells.each_meeting(self.grid, own, visitor));
        };
        let mut met = Met::default();
        let fits = self.initial.iter().all(|own| self.cells.each_meeting(self.grid, own, &mut met));
        for (cell, tile) in met.0 {
            if initial_cells.may_be(cell, || self.ends(cell)) {
                visitor.visit(cell, tile, self.cells.len());
            }
        }
        self.initial_cells = Some(initial_cells);
        fits
    }

    /// The round in which a cell was first entered, if it was.
    pub fn round(&self, cell: u32) -> Option<usize> {
        self.rounds.get(cell as usize).filter(|&&round| round != UNMET).map(|&round| usize::from(round))
    }

    /// The ends of a cell in each coordinate.
    pub fn ends(&self, cell: u32) -> Vec<(f64, f64)> {
        debug_assert!(self.grid.axes.len() <= MOST_AXES);
        (0..self.grid.axes.len()).map(|axis| self.grid.ends(self.cells.key(cell), axis)).collect()
    }
}

/// The places that each box of the initial set meets.
fn initial_places(system: &System, grid: &Grid, met: impl Fn(&Axis, f64, f64) -> (u64, u64)) -> Vec<Places> {
    let places = |(lower, upper): &(Vec<f64>, Vec<f64>)| {
        let mut places = Places::default();
        for (axis, own) in grid.axes.iter().enumerate() {
            let (low, high) = (lower[axis].max(own.lower), upper[axis].min(own.upper));
            (places.low[axis], places.high[axis]) = met(own, low, high);
        }
        places
    };
    system.init_boxes.iter().map(places).collect()
}

/// Cells with their tiles.
#[derive(Default)]
struct Met(Vec<(u32, usize)>);

impl Visitor for Met {
    fn visit(&mut self, cell: u32, tile: usize, _met: usize) {
        self.0.push((cell, tile));
    }
}
