//! The product of the cells and the automaton, step by step from the initial cells.
//!
//! After n rounds every cell knows the states in which the automaton can be when a run of at most n steps is in it. A round expands the cells
//! that were met in the one before (in parallel, each by itself) and then hands the automaton's states on to their successors, in order.
//! So numbers of cells, and with them everything that follows, are the same whatever the threads.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use certus_graph::GraphError;
use certus_lang::system::System;
use certus_solver::{Budget, UnknownReason};

use crate::cells::{Cells, Places, Visitor};
use crate::expand::{Expander, Expansion};
use crate::grid::{Grid, MOST_AXES};
use crate::initial_cells::InitialCells;
use crate::possible_errors::PossibleErrors;
use crate::propagation::{Frontier, Propagation, StateSets};
use crate::violation_automaton::{Universal, ViolationAutomaton};

/// How an exploration ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Exploration {
    /// Every cell that can be reached was met.
    Closed,
    /// A run that is here may have violated the property.
    Reached(ProductSet),
    /// The budget was used up.
    OutOfBudget(UnknownReason),
}

/// A cell, with some of the automaton's states: a word of them, and bits of it.
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

/// What is known of the product.
pub struct Product<'a> {
    /// The grid.
    pub grid: &'a Grid,
    /// The cells.
    pub cells: Cells,
    /// The automaton.
    pub violations: ViolationAutomaton,
    /// The states of the automaton in which each cell can be entered.
    entered: StateSets,
    /// How many cells were first entered in each round.
    pub layers: Vec<usize>,
    /// The round in which each cell was first entered.
    rounds: Vec<u16>,
    /// Violations that a prefix shows are excluded up to so many steps.
    pub settled: Option<usize>,
    /// How many cells were expanded in all.
    pub expansions: u64,
    /// How many cells may be expanded; and many times as many successors looked at.
    pub most: u64,
    /// How many successors were looked at in all.
    pub looks: u64,
    /// Where a model error is not excluded before the property is decided, in the order in which that was met.
    pub open_errors: Vec<ProductSet>,
    /// Whether model errors are taken for excluded.
    pub without_errors: bool,
    pub(crate) initial: Places,
    /// Tells which cells have initial states, where these are no box.
    initial_cells: Option<InitialCells>,
    /// States of the automaton that accept whatever follows.
    violated: Vec<u64>,
    /// States of the automaton that may accept whatever follows, which matters where a run ends.
    perhaps: Vec<u64>,
    seconds: Seconds,
}

/// Where the time went.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Seconds {
    /// Bounding cells.
    pub expanding: f64,
    /// Propagation states on.
    pub propagation: f64,
}

/// Bytes that a search for cycles takes per state of the product, at most, besides.
const SEARCH_BYTES: usize = 12;

/// So many cells may be met for each that may be expanded.
const MET_PER_EXPANDED: u64 = 16;

/// So many looks at a successor cost as much as expanding a cell does.
const LOOKS_PER_EXPANDED: u64 = 64;

/// Not entered yet.
const UNMET: u16 = u16::MAX;

/// More cells in doubt than this are not told one by one.
const MOST_OPEN_ERRORS: usize = 1 << 18;

/// After so many successors the budget is looked at.
const PROPAGATED_AT_ONCE: usize = 1 << 15;

/// Bytes that a cell takes at least: a word, its place in the table, and what the automaton is in.
const LEAST_BYTES: f64 = 24.0;

/// A round is taken in slices of so many batches per thread: threads are begun for each, and results pile up in one.
const BATCHES_AT_ONCE: usize = 32;

/// Pieces that each thread has at least, if that does not make them small.
const PIECES_PER_THREAD: usize = 4;

/// Batches that a piece has at most.
const BATCHES_PER_PIECE: usize = 8;

/// Fewer cells than this are not worth a thread.
const WORTH_A_THREAD: usize = 64;

impl<'a> Product<'a> {
    /// Nothing was met yet.
    pub fn new(system: &System, grid: &'a Grid, violations: ViolationAutomaton) -> Product<'a> {
        let mut initial = Places::default();
        for (axis, own) in grid.axes.iter().enumerate() {
            initial.low[axis] = own.place(system.init_box.0[axis].max(own.lower));
            initial.high[axis] = own.place(system.init_box.1[axis].min(own.upper));
        }
        Product {
            grid,
            cells: Cells::new(grid),
            entered: StateSets::default(),
            layers: Vec::new(),
            rounds: Vec::new(),
            settled: None,
            expansions: 0,
            most: u64::MAX,
            looks: 0,
            open_errors: Vec::new(),
            without_errors: false,
            initial,
            initial_cells: None,
            violated: violations.states_that(|own| own == Universal::Yes),
            perhaps: violations.states_that(|own| own != Universal::No),
            violations,
            seconds: Seconds::default(),
        }
    }

    /// How many bytes everything takes.
    pub fn bytes(&self) -> usize {
        self.cells.bytes() + self.entered.bytes() + 2 * self.rounds.capacity() + SEARCH_BYTES * self.cells.len()
    }

    /// Whether so many successors were looked at that this took as long as expanding all the cells that may be expanded.
    pub fn has_looked_enough(&self) -> bool {
        self.looks / LOOKS_PER_EXPANDED > self.most
    }

    /// Where the time went.
    pub fn seconds(&self) -> Seconds {
        self.seconds
    }

    /// The states of the automaton with which a cell can be entered, as bits of `violations.words` words.
    pub fn states(&self, cell: u32) -> &[u64] {
        self.entered.of(cell)
    }

    /// The same of all cells, one after the other.
    pub fn all_states(&self) -> &[u64] {
        self.entered.all()
    }

    /// Has cells without initial states left out, of those in the box around all of them.
    pub(crate) fn with_initial_cells(&mut self, initial_cells: Option<InitialCells>) {
        self.initial_cells = initial_cells;
    }

    /// Tells of every cell that initial states may be in. False if there are no numbers left.
    pub fn each_initial(&mut self, visitor: &mut impl Visitor) -> bool {
        let Some(mut initial_cells) = self.initial_cells.take() else {
            return self.cells.each_meeting(self.grid, &self.initial, visitor);
        };
        let mut met = Met::default();
        let fits = self.cells.each_meeting(self.grid, &self.initial, &mut met);
        for (cell, tile) in met.0 {
            if initial_cells.may_be(cell, || self.ends(cell)) {
                visitor.visit(cell, tile, self.cells.len());
            }
        }
        self.initial_cells = Some(initial_cells);
        fits
    }

    /// Explores from the initial cells. What was found out about cells earlier is used again; `watch` hears how many rounds there were and how many cells.
    pub fn explore(
        &mut self,
        expander: &Expander<'_>,
        budget: &Budget<'_>,
        watch: &mut dyn FnMut(usize, usize),
    ) -> Result<Exploration, GraphError> {
        let words = self.violations.words;
        self.entered = StateSets::new(words, &self.cells);
        self.layers.clear();
        self.rounds.clear();
        self.open_errors.clear();
        let mut starts = vec![0u64; words];
        for &state in &self.violations.automaton.initial {
            starts[state as usize / 64] |= 1 << (state % 64);
        }
        let mut pending: Frontier = Vec::new();
        let mut entered = std::mem::take(&mut self.entered);
        let mut propagation = Propagation { entered: &mut entered, states: &starts, next: &mut pending, visited: 0 };
        let fits = self.each_initial(&mut propagation);
        self.entered = entered;
        if !fits {
            return Ok(Exploration::OutOfBudget(UnknownReason::Memory));
        }
        while !pending.is_empty() {
            let round = self.layers.len();
            self.rounds.resize(self.cells.len(), UNMET);
            let mut fresh = 0;
            for (cell, ..) in &pending {
                let own = &mut self.rounds[*cell as usize];
                if *own == UNMET {
                    (*own, fresh) = (round.min(usize::from(UNMET - 1)) as u16, fresh + 1);
                }
            }
            self.layers.push(fresh);
            watch(round, self.cells.len());
            if let Some(reason) = exhausted(budget) {
                return Ok(Exploration::OutOfBudget(reason));
            }
            let begun = Instant::now();
            let mut unknown: Vec<u32> =
                pending.iter().map(|entry| entry.0).filter(|&cell| !self.cells.is_expanded(cell)).collect();
            unknown.sort_unstable();
            unknown.dedup();
            if self.expansions + unknown.len() as u64 > self.most {
                return Ok(Exploration::OutOfBudget(UnknownReason::Boxes));
            }
            if let Some(reason) = self.expand(expander, &unknown, budget)? {
                return Ok(Exploration::OutOfBudget(reason));
            }
            self.seconds.expanding += begun.elapsed().as_secs_f64();
            let begun = Instant::now();
            let mut next: Frontier = Vec::new();
            let mut targets = vec![0u64; words];
            // What `targets` are of: mostly the next cell has the same.
            let mut read = None;
            let mut meeting = Places::default();
            let mut visited = 0;
            for (cell, word, bits) in pending {
                // In many dimensions one cell can have very many successors.
                if visited > PROPAGATED_AT_ONCE {
                    self.looks += visited as u64;
                    visited = 0;
                    if self.has_looked_enough() {
                        return Ok(Exploration::OutOfBudget(UnknownReason::Boxes));
                    }
                    if let Some(reason) = exhausted(budget) {
                        return Ok(Exploration::OutOfBudget(reason));
                    }
                    if self.cells.len() as u64 / MET_PER_EXPANDED > self.most {
                        return Ok(Exploration::OutOfBudget(UnknownReason::Boxes));
                    }
                    if self.bytes() + 16 * next.capacity() > budget.memory {
                        return Ok(Exploration::OutOfBudget(UnknownReason::Memory));
                    }
                }
                let here = ProductSet { cell, word, bits };
                let errors = self.cells.errors(cell);
                if errors != PossibleErrors::default() {
                    read = None;
                    self.violations.targets(self.cells.class(cell), word, bits, &mut targets);
                    // The automaton has no states from which nothing is accepted, so the property is decided where none is left.
                    if errors.has(PossibleErrors::ERRORS)
                        && !self.without_errors
                        && targets.iter().any(|&word| word != 0)
                    {
                        if self.open_errors.len() < MOST_OPEN_ERRORS {
                            self.open_errors.push(self.leading(here, self.cells.class(cell), None));
                        }
                    } else if meets(&targets, &self.perhaps) {
                        return Ok(Exploration::Reached(self.leading(
                            here,
                            self.cells.class(cell),
                            Some(&self.perhaps),
                        )));
                    }
                }
                for place in 0..self.cells.boxes(cell) {
                    let reads = (self.cells.box_class(cell, place), word, bits);
                    if read != Some(reads) {
                        self.violations.targets(reads.0, word, bits, &mut targets);
                        read = Some(reads);
                    }
                    if meets(&targets, &self.violated) {
                        return Ok(Exploration::Reached(self.leading(here, reads.0, Some(&self.violated))));
                    }
                    if targets.iter().all(|&word| word == 0) {
                        continue;
                    }
                    // Whatever of the box is known already, the rest must fit.
                    self.cells.places(self.grid, cell, place, &mut meeting);
                    let fresh = meeting.size(self.grid.axes.len()) - self.cells.len() as f64;
                    if fresh * LEAST_BYTES > budget.memory as f64 {
                        return Ok(Exploration::OutOfBudget(UnknownReason::Memory));
                    }
                    if fresh > self.most as f64 {
                        return Ok(Exploration::OutOfBudget(UnknownReason::Boxes));
                    }
                    let mut propagation =
                        Propagation { entered: &mut self.entered, states: &targets, next: &mut next, visited: 0 };
                    let fits = self.cells.each_meeting(self.grid, &meeting, &mut propagation);
                    visited += propagation.visited;
                    if !fits {
                        return Ok(Exploration::OutOfBudget(UnknownReason::Memory));
                    }
                }
            }
            self.looks += visited as u64;
            self.seconds.propagation += begun.elapsed().as_secs_f64();
            // A model error is as bad as a violation.
            if self.open_errors.is_empty() {
                self.settled = Some(self.settled.map_or(round, |earlier| earlier.max(round)));
            }
            if self.bytes() > budget.memory {
                return Ok(Exploration::OutOfBudget(UnknownReason::Memory));
            }
            pending = next;
        }
        Ok(Exploration::Closed)
    }

    /// Those of some states that lead to one of some others, or to any, on a class.
    fn leading(&self, here: ProductSet, class: u16, wanted: Option<&[u64]>) -> ProductSet {
        let mut targets = vec![0u64; self.violations.words];
        let mut leads = |bit: u32| {
            self.violations.targets(class, here.word, 1 << bit, &mut targets);
            match wanted {
                Some(wanted) => meets(&targets, wanted),
                None => targets.iter().any(|&word| word != 0),
            }
        };
        let bits = (0..64).filter(|&bit| here.bits >> bit & 1 == 1 && leads(bit)).fold(0, |bits, bit| bits | 1 << bit);
        ProductSet { bits, ..here }
    }

    /// Expands some cells, in parallel.
    fn expand(
        &mut self,
        expander: &Expander<'_>,
        cells: &[u32],
        budget: &Budget<'_>,
    ) -> Result<Option<UnknownReason>, GraphError> {
        // A round of very many cells is taken in slices, so that results do not pile up.
        for cells in cells.chunks(expander.batch * budget.threads.max(1) * BATCHES_AT_ONCE) {
            if let Some(reason) = exhausted(budget) {
                return Ok(Some(reason));
            }
            let keys: Vec<u64> = cells.iter().flat_map(|&cell| self.cells.key(cell).iter().copied()).collect();
            let words = self.grid.words();
            // The larger a piece, the more blocks are bounded at once; some for each thread, so that all have something to do.
            let piece = (cells.len() / (PIECES_PER_THREAD * budget.threads.max(1)))
                .clamp(expander.batch.max(8), BATCHES_PER_PIECE * expander.batch.max(8));
            let pieces: Vec<&[u64]> = keys.chunks(piece * words).collect();
            let found = in_parallel(&pieces, budget.threads, cells.len(), &|keys| expander.expand(keys));
            let mut left = cells.iter();
            for expansion in found {
                let expansion: Expansion = expansion?;
                let mut classes = Vec::with_capacity(expansion.box_truths.len());
                for &truths in &expansion.box_truths {
                    match self.violations.class(truths) {
                        Some(class) => classes.push(class),
                        None => return Ok(Some(UnknownReason::Memory)),
                    }
                }
                let mut begin = 0;
                for place in 0..expansion.truths.len() {
                    let Some(&cell) = left.next() else { break };
                    let Some(class) = self.violations.class(expansion.truths[place]) else {
                        return Ok(Some(UnknownReason::Memory));
                    };
                    match self.cells.expanded(cell, class, &expansion, place, (begin, &classes)) {
                        Some(end) => begin = end,
                        None => return Ok(Some(UnknownReason::Memory)),
                    }
                }
            }
            self.expansions += cells.len() as u64;
        }
        Ok(None)
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

/// Cells with their index.
#[derive(Default)]
struct Met(Vec<(u32, usize)>);

impl Visitor for Met {
    fn visit(&mut self, cell: u32, tile: usize, _met: usize) {
        self.0.push((cell, tile));
    }
}

/// Whether two sets of states have one in common.
fn meets(states: &[u64], others: &[u64]) -> bool {
    states.iter().zip(others).any(|(own, other)| own & other != 0)
}

/// Works on pieces with some threads; results are in the pieces' order.
pub(crate) fn in_parallel<P: Sync, R: Send>(
    pieces: &[P],
    threads: usize,
    size: usize,
    work: &(dyn Fn(&P) -> R + Sync),
) -> Vec<R> {
    let threads = threads.min(pieces.len()).min(size / WORTH_A_THREAD).max(1);
    if threads == 1 {
        return pieces.iter().map(work).collect();
    }
    let next = AtomicUsize::new(0);
    let mut found: Vec<(usize, R)> = std::thread::scope(|scope| {
        let worker = || {
            let mut own = Vec::new();
            loop {
                let place = next.fetch_add(1, Ordering::Relaxed);
                let Some(piece) = pieces.get(place) else { return own };
                own.push((place, work(piece)));
            }
        };
        let handles: Vec<_> = (1..threads).map(|_| scope.spawn(worker)).collect();
        let mut found = worker();
        for handle in handles {
            match handle.join() {
                Ok(own) => found.extend(own),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        found
    });
    found.sort_unstable_by_key(|(place, _)| *place);
    found.into_iter().map(|(_, result)| result).collect()
}

/// Why to stop, if the budget says so.
pub(crate) fn exhausted(budget: &Budget<'_>) -> Option<UnknownReason> {
    if budget.stop.is_some_and(|stop| stop.load(Ordering::Relaxed)) {
        Some(UnknownReason::Stopped)
    } else if budget.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
        Some(UnknownReason::Deadline)
    } else {
        None
    }
}
