//! The product of the units and the automaton, step by step from the initial units.
//!
//! After n rounds every unit knows the states in which the automaton can be when a run of at most n steps is in it. A round expands the units
//! that were met in the one before (in parallel, each by itself) and then hands the automaton's states on to their successors, in order.
//! So numbers of units, and with them everything that follows, are the same whatever the threads.

use std::sync::atomic::Ordering;
use std::time::Instant;

use certus_graph::GraphError;
use certus_lang::system::System;
use certus_numerics::parallel;
use certus_solver::{Budget, UnknownReason};

use crate::doubts::Doubts;
use crate::expand::{Expander, Expansion};
use crate::handing::{Entered, Handing, Pending};
use crate::initials::Initials;
use crate::lattice::{Lattice, MOST_AXES};
use crate::reading::{Reading, Universal};
use crate::units::{Places, Units, Visitor};

/// How an exploration ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Explored {
    /// Every unit that can be reached was met.
    Closed,
    /// A run that is here may have violated the property.
    Reached(Here),
    /// The budget was used up.
    Spent(UnknownReason),
}

/// A unit, with some of the automaton's states: a word of them, and bits of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Here {
    /// The unit.
    pub unit: u32,
    /// Which word of states.
    pub word: u16,
    /// Bits of that word.
    pub bits: u64,
}

impl Here {
    /// Whether a state of the product is one of these.
    pub fn is(&self, (unit, state): (u32, u16)) -> bool {
        unit == self.unit && state / 64 == self.word && self.bits >> (state % 64) & 1 == 1
    }
}

/// What is known of the product.
pub struct Product<'a> {
    /// The grid.
    pub lattice: &'a Lattice,
    /// The units.
    pub units: Units,
    /// The automaton.
    pub reading: Reading,
    /// The states of the automaton in which each unit can be entered.
    entered: Entered,
    /// How many units were first entered in each round.
    pub layers: Vec<usize>,
    /// The round in which each unit was first entered.
    rounds: Vec<u16>,
    /// Violations that a prefix shows are excluded up to so many steps.
    pub settled: Option<usize>,
    /// How many units were expanded in all.
    pub expansions: u64,
    /// How many units may be expanded; and many times as many successors looked at.
    pub most: u64,
    /// How many successors were looked at in all.
    pub looks: u64,
    /// Where a model error is not excluded before the property is decided, in the order in which that was met.
    pub doubtful: Vec<Here>,
    /// Whether model errors are taken for excluded.
    pub without_errors: bool,
    pub(crate) initial: Places,
    /// Tells which units have initial states, where these are no box.
    initials: Option<Initials>,
    /// States of the automaton that accept whatever follows.
    violated: Vec<u64>,
    /// States of the automaton that may accept whatever follows, which matters where a run ends.
    perhaps: Vec<u64>,
    seconds: Seconds,
}

/// Where the time went.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Seconds {
    /// Bounding units.
    pub expanding: f64,
    /// Handing states on.
    pub handing: f64,
}

/// Bytes that a search for cycles takes per state of the product, at most, besides.
const SEARCH_BYTES: usize = 12;

/// So many units may be met for each that may be expanded.
const MET_PER_EXPANDED: u64 = 16;

/// So many looks at a successor cost as much as expanding a unit does.
const LOOKS_PER_EXPANDED: u64 = 64;

/// Not entered yet.
const UNMET: u16 = u16::MAX;

/// More units in doubt than this are not told one by one.
const MOST_DOUBTFUL: usize = 1 << 18;

/// After so many successors the budget is looked at.
const HANDED_AT_ONCE: usize = 1 << 15;

/// Bytes that a unit takes at least: a word, its place in the table, and what the automaton is in.
const LEAST_BYTES: f64 = 24.0;

/// A round is taken in slices of so many batches per thread: threads are begun for each, and results pile up in one.
const BATCHES_AT_ONCE: usize = 32;

/// Pieces that each thread has at least, if that does not make them small.
const PIECES_PER_THREAD: usize = 4;

/// Batches that a piece has at most.
const BATCHES_PER_PIECE: usize = 8;

/// Fewer units than this are not worth a thread.
const WORTH_A_THREAD: usize = 64;

impl<'a> Product<'a> {
    /// Nothing was met yet.
    pub fn new(system: &System, lattice: &'a Lattice, reading: Reading) -> Product<'a> {
        let mut initial = Places::default();
        for (axis, own) in lattice.axes.iter().enumerate() {
            initial.low[axis] = own.place(system.init_box.0[axis].max(own.lower));
            initial.high[axis] = own.place(system.init_box.1[axis].min(own.upper));
        }
        Product {
            lattice,
            units: Units::new(lattice),
            entered: Entered::default(),
            layers: Vec::new(),
            rounds: Vec::new(),
            settled: None,
            expansions: 0,
            most: u64::MAX,
            looks: 0,
            doubtful: Vec::new(),
            without_errors: false,
            initial,
            initials: None,
            violated: reading.states_that(|own| own == Universal::Yes),
            perhaps: reading.states_that(|own| own != Universal::No),
            reading,
            seconds: Seconds::default(),
        }
    }

    /// How many bytes everything takes.
    pub fn bytes(&self) -> usize {
        self.units.bytes() + self.entered.bytes() + 2 * self.rounds.capacity() + SEARCH_BYTES * self.units.len()
    }

    /// Whether so many successors were looked at that this took as long as expanding all the units that may be expanded.
    pub fn has_looked_enough(&self) -> bool {
        self.looks / LOOKS_PER_EXPANDED > self.most
    }

    /// Where the time went.
    pub fn seconds(&self) -> Seconds {
        self.seconds
    }

    /// The states of the automaton with which a unit can be entered, as bits of `reading.words` words.
    pub fn states(&self, unit: u32) -> &[u64] {
        self.entered.of(unit)
    }

    /// The same of all units, one after the other.
    pub fn all_states(&self) -> &[u64] {
        self.entered.all()
    }

    /// Has units without initial states left out, of those in the box around all of them.
    pub(crate) fn with_initials(&mut self, initials: Option<Initials>) {
        self.initials = initials;
    }

    /// Tells of every unit that initial states may be in. False if there are no numbers left.
    pub fn each_initial(&mut self, visitor: &mut impl Visitor) -> bool {
        let Some(mut initials) = self.initials.take() else {
            return self.units.each_meeting(self.lattice, &self.initial, visitor);
        };
        let mut met = Met::default();
        let fits = self.units.each_meeting(self.lattice, &self.initial, &mut met);
        for (unit, shelf) in met.0 {
            if initials.may_be(unit, || self.ends(unit)) {
                visitor.visit(unit, shelf, self.units.len());
            }
        }
        self.initials = Some(initials);
        fits
    }

    /// Explores from the initial units. What was found out about units earlier is used again; `watch` hears how many rounds there were and how many units.
    pub fn explore(
        &mut self,
        expander: &Expander<'_>,
        budget: &Budget<'_>,
        watch: &mut dyn FnMut(usize, usize),
    ) -> Result<Explored, GraphError> {
        let words = self.reading.words;
        self.entered = Entered::new(words, &self.units);
        self.layers.clear();
        self.rounds.clear();
        self.doubtful.clear();
        let mut starts = vec![0u64; words];
        for &state in &self.reading.automaton.initial {
            starts[state as usize / 64] |= 1 << (state % 64);
        }
        let mut pending: Pending = Vec::new();
        let mut entered = std::mem::take(&mut self.entered);
        let mut handing = Handing { entered: &mut entered, states: &starts, next: &mut pending, handed: 0 };
        let fits = self.each_initial(&mut handing);
        self.entered = entered;
        if !fits {
            return Ok(Explored::Spent(UnknownReason::Memory));
        }
        while !pending.is_empty() {
            let round = self.layers.len();
            self.rounds.resize(self.units.len(), UNMET);
            let mut fresh = 0;
            for (unit, ..) in &pending {
                let own = &mut self.rounds[*unit as usize];
                if *own == UNMET {
                    (*own, fresh) = (round.min(usize::from(UNMET - 1)) as u16, fresh + 1);
                }
            }
            self.layers.push(fresh);
            watch(round, self.units.len());
            if let Some(reason) = spent(budget) {
                return Ok(Explored::Spent(reason));
            }
            let begun = Instant::now();
            let mut unknown: Vec<u32> =
                pending.iter().map(|entry| entry.0).filter(|&unit| !self.units.is_expanded(unit)).collect();
            unknown.sort_unstable();
            unknown.dedup();
            if self.expansions + unknown.len() as u64 > self.most {
                return Ok(Explored::Spent(UnknownReason::Boxes));
            }
            if let Some(reason) = self.expand(expander, &unknown, budget)? {
                return Ok(Explored::Spent(reason));
            }
            self.seconds.expanding += begun.elapsed().as_secs_f64();
            let begun = Instant::now();
            let mut next: Pending = Vec::new();
            let mut targets = vec![0u64; words];
            // What `targets` are of: mostly the next unit has the same.
            let mut read = None;
            let mut meeting = Places::default();
            let mut handed = 0;
            for (unit, word, bits) in pending {
                // In many dimensions one unit can have very many successors.
                if handed > HANDED_AT_ONCE {
                    self.looks += handed as u64;
                    handed = 0;
                    if self.has_looked_enough() {
                        return Ok(Explored::Spent(UnknownReason::Boxes));
                    }
                    if let Some(reason) = spent(budget) {
                        return Ok(Explored::Spent(reason));
                    }
                    if self.units.len() as u64 / MET_PER_EXPANDED > self.most {
                        return Ok(Explored::Spent(UnknownReason::Boxes));
                    }
                    if self.bytes() + 16 * next.capacity() > budget.memory {
                        return Ok(Explored::Spent(UnknownReason::Memory));
                    }
                }
                let here = Here { unit, word, bits };
                let doubts = self.units.doubts(unit);
                if doubts != Doubts::default() {
                    read = None;
                    self.reading.targets(self.units.class(unit), word, bits, &mut targets);
                    // The automaton has no states from which nothing is accepted, so the property is decided where none is left.
                    if doubts.has(Doubts::ERRORS) && !self.without_errors && targets.iter().any(|&word| word != 0) {
                        if self.doubtful.len() < MOST_DOUBTFUL {
                            self.doubtful.push(self.leading(here, self.units.class(unit), None));
                        }
                    } else if meets(&targets, &self.perhaps) {
                        return Ok(Explored::Reached(self.leading(here, self.units.class(unit), Some(&self.perhaps))));
                    }
                }
                for place in 0..self.units.boxes(unit) {
                    let reads = (self.units.box_class(unit, place), word, bits);
                    if read != Some(reads) {
                        self.reading.targets(reads.0, word, bits, &mut targets);
                        read = Some(reads);
                    }
                    if meets(&targets, &self.violated) {
                        return Ok(Explored::Reached(self.leading(here, reads.0, Some(&self.violated))));
                    }
                    if targets.iter().all(|&word| word == 0) {
                        continue;
                    }
                    // Whatever of the box is known already, the rest must fit.
                    self.units.places(self.lattice, unit, place, &mut meeting);
                    let fresh = meeting.size(self.lattice.axes.len()) - self.units.len() as f64;
                    if fresh * LEAST_BYTES > budget.memory as f64 {
                        return Ok(Explored::Spent(UnknownReason::Memory));
                    }
                    if fresh > self.most as f64 {
                        return Ok(Explored::Spent(UnknownReason::Boxes));
                    }
                    let mut handing =
                        Handing { entered: &mut self.entered, states: &targets, next: &mut next, handed: 0 };
                    let fits = self.units.each_meeting(self.lattice, &meeting, &mut handing);
                    handed += handing.handed;
                    if !fits {
                        return Ok(Explored::Spent(UnknownReason::Memory));
                    }
                }
            }
            self.looks += handed as u64;
            self.seconds.handing += begun.elapsed().as_secs_f64();
            // A model error is as bad as a violation.
            if self.doubtful.is_empty() {
                self.settled = Some(self.settled.map_or(round, |earlier| earlier.max(round)));
            }
            if self.bytes() > budget.memory {
                return Ok(Explored::Spent(UnknownReason::Memory));
            }
            pending = next;
        }
        Ok(Explored::Closed)
    }

    /// Those of some states that lead to one of some others, or to any, on a class.
    fn leading(&self, here: Here, class: u16, wanted: Option<&[u64]>) -> Here {
        let mut targets = vec![0u64; self.reading.words];
        let mut leads = |bit: u32| {
            self.reading.targets(class, here.word, 1 << bit, &mut targets);
            match wanted {
                Some(wanted) => meets(&targets, wanted),
                None => targets.iter().any(|&word| word != 0),
            }
        };
        let bits = (0..64).filter(|&bit| here.bits >> bit & 1 == 1 && leads(bit)).fold(0, |bits, bit| bits | 1 << bit);
        Here { bits, ..here }
    }

    /// Expands some units, in parallel.
    fn expand(
        &mut self,
        expander: &Expander<'_>,
        units: &[u32],
        budget: &Budget<'_>,
    ) -> Result<Option<UnknownReason>, GraphError> {
        // A round of very many units is taken in slices, so that results do not pile up.
        for units in units.chunks(expander.batch * budget.threads.max(1) * BATCHES_AT_ONCE) {
            if let Some(reason) = spent(budget) {
                return Ok(Some(reason));
            }
            let keys: Vec<u64> = units.iter().flat_map(|&unit| self.units.key(unit).iter().copied()).collect();
            let words = self.lattice.words();
            // The larger a piece, the more blocks are bounded at once; some for each thread, so that all have something to do.
            let piece = (units.len() / (PIECES_PER_THREAD * budget.threads.max(1)))
                .clamp(expander.batch.max(8), BATCHES_PER_PIECE * expander.batch.max(8));
            let pieces: Vec<&[u64]> = keys.chunks(piece * words).collect();
            let found = in_parallel(&pieces, budget.threads, units.len(), &|keys| expander.expand(keys));
            let mut left = units.iter();
            for expansion in found {
                let expansion: Expansion = expansion?;
                let mut classes = Vec::with_capacity(expansion.box_truths.len());
                for &truths in &expansion.box_truths {
                    match self.reading.class(truths) {
                        Some(class) => classes.push(class),
                        None => return Ok(Some(UnknownReason::Memory)),
                    }
                }
                let mut begin = 0;
                for place in 0..expansion.truths.len() {
                    let Some(&unit) = left.next() else { break };
                    let Some(class) = self.reading.class(expansion.truths[place]) else {
                        return Ok(Some(UnknownReason::Memory));
                    };
                    match self.units.expanded(unit, class, &expansion, place, (begin, &classes)) {
                        Some(end) => begin = end,
                        None => return Ok(Some(UnknownReason::Memory)),
                    }
                }
            }
            self.expansions += units.len() as u64;
        }
        Ok(None)
    }

    /// The round in which a unit was first entered, if it was.
    pub fn round(&self, unit: u32) -> Option<usize> {
        self.rounds.get(unit as usize).filter(|&&round| round != UNMET).map(|&round| usize::from(round))
    }

    /// The ends of a unit in each coordinate.
    pub fn ends(&self, unit: u32) -> Vec<(f64, f64)> {
        debug_assert!(self.lattice.axes.len() <= MOST_AXES);
        (0..self.lattice.axes.len()).map(|axis| self.lattice.ends(self.units.key(unit), axis)).collect()
    }
}

/// Units with their shelves.
#[derive(Default)]
struct Met(Vec<(u32, usize)>);

impl Visitor for Met {
    fn visit(&mut self, unit: u32, shelf: usize, _met: usize) {
        self.0.push((unit, shelf));
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
    parallel::map(pieces, threads, work)
}

/// Why to stop, if the budget says so.
pub(crate) fn spent(budget: &Budget<'_>) -> Option<UnknownReason> {
    if budget.stop.is_some_and(|stop| stop.load(Ordering::Relaxed)) {
        Some(UnknownReason::Stopped)
    } else if budget.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
        Some(UnknownReason::Deadline)
    } else {
        None
    }
}
