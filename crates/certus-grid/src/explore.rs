//! On-the-fly forward reachability in the product of the grid abstraction and the automaton of the property's violations.
//!
//! Breadth-first, in rounds (on-the-fly automata-theoretic model checking: Vardi and Wolper, "An automata-theoretic approach to automatic program verification", LICS 1986;
//! Courcoubetis, Vardi, Wolper and Yannakakis, "Memory-efficient algorithms for the verification of temporal properties", Formal Methods in System Design 1, 1992). After n rounds
//! every cell knows the automaton states with which a run of at most n steps can enter it. A round bounds the cells that the one before met for the first time (in parallel,
//! each by itself) and then propagates sets of automaton states to their successors, in order. So the numbers of cells, and with them everything that follows, are the same for any
//! number of threads.
//!
//! Since cells over-approximate, a set that is complete is a superset of the reachable product states. The search ends early where an automaton state that accepts
//! every continuation is entered: from there on the property is violated whatever follows. Cells that no automaton state enters are never bounded.

use std::time::Instant;

use certus_graph::GraphError;
use certus_solver::{Budget, UnknownReason};

use crate::cells::Places;
use crate::expand::{Expander, Expansion};
use crate::parallel::{exhausted, in_parallel};
use crate::possible_errors::PossibleErrors;
use crate::product::{Product, ProductSet, UNMET};
use crate::propagation::{Frontier, Propagation, StateSets};

/// How an exploration ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Exploration {
    /// The fixpoint: all reachable cells were met.
    Closed,
    /// A bad prefix may end here.
    Reached(ProductSet),
    /// The budget ran out.
    OutOfBudget(UnknownReason),
}

/// The most cells that may be met for each that may be bounded.
const MET_PER_EXPANDED: u64 = 16;

/// The most open model errors that are listed.
const MOST_OPEN_ERRORS: usize = 1 << 18;

/// The budget is polled after so many visits.
const PROPAGATED_AT_ONCE: usize = 1 << 15;

/// Bytes that a cell takes at least: a word, its place in the table, and what the automaton is in.
const LEAST_BYTES: f64 = 24.0;

/// A round is taken in slices of so many batches per thread: threads are begun for each, and results pile up in one.
const BATCHES_AT_ONCE: usize = 32;

/// Pieces that each thread has at least, if that does not make them small.
const PIECES_PER_THREAD: usize = 4;

/// Batches that a piece has at most.
const BATCHES_PER_PIECE: usize = 8;

impl Product<'_> {
    /// Explores from the initial cells. Bounds of cells from earlier explorations are reused; `watch` gets the number of rounds and of cells.
    #[tracing::instrument(level = "debug", name = "grid exploration", skip_all)]
    pub fn explore(
        &mut self,
        expander: &Expander<'_>,
        budget: &Budget<'_>,
        watch: &mut dyn FnMut(usize, usize),
    ) -> Result<Exploration, GraphError> {
        let words = self.violations.words;
        self.state_sets = StateSets::new(words, &self.cells);
        self.layers.clear();
        self.rounds.clear();
        self.open_errors.clear();
        let mut starts = vec![0u64; words];
        for &state in &self.violations.automaton.initial {
            starts[state as usize / 64] |= 1 << (state % 64);
        }
        let mut frontier: Frontier = Vec::new();
        let mut sets = std::mem::take(&mut self.state_sets);
        let mut propagation = Propagation { sets: &mut sets, states: &starts, next: &mut frontier, visited: 0 };
        let fits = self.each_initial(&mut propagation);
        self.state_sets = sets;
        if !fits {
            return Ok(Exploration::OutOfBudget(UnknownReason::Memory));
        }
        while !frontier.is_empty() {
            let round = self.layers.len();
            self.rounds.resize(self.cells.len(), UNMET);
            let mut fresh = 0;
            for (cell, ..) in &frontier {
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
                frontier.iter().map(|entry| entry.0).filter(|&cell| !self.cells.is_expanded(cell)).collect();
            unknown.sort_unstable();
            unknown.dedup();
            if self.expansions + unknown.len() as u64 > self.most {
                return Ok(Exploration::OutOfBudget(UnknownReason::Subproblems));
            }
            tracing::trace!(target: "certus::count", cells_expanded = unknown.len() as u64);
            if let Some(reason) = self.expand(expander, &unknown, budget)? {
                return Ok(Exploration::OutOfBudget(reason));
            }
            self.seconds.expanding += begun.elapsed().as_secs_f64();
            let begun = Instant::now();
            let next = match self.propagate(frontier, budget) {
                Ok(next) => next,
                Err(ended) => return Ok(ended),
            };
            self.seconds.propagation += begun.elapsed().as_secs_f64();
            // A model error is as bad as a violation.
            if self.open_errors.is_empty() {
                self.settled = Some(self.settled.map_or(round, |earlier| earlier.max(round)));
            }
            if self.bytes() > budget.memory {
                return Ok(Exploration::OutOfBudget(UnknownReason::Memory));
            }
            frontier = next;
        }
        Ok(Exploration::Closed)
    }

    /// Propagates the automaton states of a frontier to all successors; gives the next frontier, or why the exploration ends.
    fn propagate(&mut self, frontier: Frontier, budget: &Budget<'_>) -> Result<Frontier, Exploration> {
        let mut next: Frontier = Vec::new();
        let mut targets = vec![0u64; self.violations.words];
        // What `targets` are of: mostly the next cell has the same.
        let mut read = None;
        let mut meeting = Places::default();
        let mut visited = 0;
        for (cell, word, bits) in frontier {
            // In many dimensions one cell can have very many successors.
            if visited > PROPAGATED_AT_ONCE {
                self.looks += visited as u64;
                visited = 0;
                if self.has_looked_enough() {
                    return Err(Exploration::OutOfBudget(UnknownReason::Subproblems));
                }
                if let Some(reason) = exhausted(budget) {
                    return Err(Exploration::OutOfBudget(reason));
                }
                if self.cells.len() as u64 / MET_PER_EXPANDED > self.most {
                    return Err(Exploration::OutOfBudget(UnknownReason::Subproblems));
                }
                if self.bytes() + 16 * next.capacity() > budget.memory {
                    return Err(Exploration::OutOfBudget(UnknownReason::Memory));
                }
            }
            let here = ProductSet { cell, word, bits };
            let errors = self.cells.errors(cell);
            if errors != PossibleErrors::default() {
                read = None;
                self.violations.targets(self.cells.class(cell), word, bits, &mut targets);
                // The automaton has no states from which nothing is accepted, so the property is decided where none is left.
                if errors.has(PossibleErrors::ERRORS) && !self.without_errors && targets.iter().any(|&word| word != 0) {
                    if self.open_errors.len() < MOST_OPEN_ERRORS {
                        self.open_errors.push(self.leading(here, self.cells.class(cell), None));
                    }
                } else if meets(&targets, &self.perhaps) {
                    return Err(Exploration::Reached(self.leading(here, self.cells.class(cell), Some(&self.perhaps))));
                }
            }
            for place in 0..self.cells.boxes(cell) {
                let reads = (self.cells.box_class(cell, place), word, bits);
                if read != Some(reads) {
                    self.violations.targets(reads.0, word, bits, &mut targets);
                    read = Some(reads);
                }
                if meets(&targets, &self.violated) {
                    return Err(Exploration::Reached(self.leading(here, reads.0, Some(&self.violated))));
                }
                if targets.iter().all(|&word| word == 0) {
                    continue;
                }
                // Whatever of the box is known already, the rest must fit.
                self.cells.places(self.grid, cell, place, &mut meeting);
                let fresh = meeting.size(self.grid.axes.len()) - self.cells.len() as f64;
                if fresh * LEAST_BYTES > budget.memory as f64 {
                    return Err(Exploration::OutOfBudget(UnknownReason::Memory));
                }
                if fresh > self.most as f64 {
                    return Err(Exploration::OutOfBudget(UnknownReason::Subproblems));
                }
                let mut propagation =
                    Propagation { sets: &mut self.state_sets, states: &targets, next: &mut next, visited: 0 };
                let fits = self.cells.each_meeting(self.grid, &meeting, &mut propagation);
                visited += propagation.visited;
                if !fits {
                    return Err(Exploration::OutOfBudget(UnknownReason::Memory));
                }
            }
        }
        self.looks += visited as u64;
        Ok(next)
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

    /// Bounds some cells, in parallel.
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
}

/// Whether two sets of states have one in common.
fn meets(states: &[u64], others: &[u64]) -> bool {
    states.iter().zip(others).any(|(own, other)| own & other != 0)
}
