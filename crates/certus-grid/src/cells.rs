//! The cells that were met: packed, numbered in the order in which they were met, with what is known of each.
//!
//! An explicit state store with on-demand successors. A cell takes its packed words, four to eight bytes of a hash table, a class, and the corners of the boxes that contain its successors.
//! Which cells a box meets is computed where it is needed ([`Cells::each_meeting`]), so a thousand successors cost no more memory than one.

mod in_box;

use crate::cell_index::CellIndex;
use crate::expand::Expansion;
use crate::grid::{DEPTH, Grid, MOST_WORDS};
use crate::possible_errors::PossibleErrors;

pub use self::in_box::{Places, Visitor};

/// The class of a cell that was not bounded yet.
pub const UNKNOWN: u16 = u16::MAX;

/// All cells that were met.
pub struct Cells {
    words: usize,
    keys: Vec<u64>,
    /// Numbers of cells that were never halved.
    index: CellIndex,
    /// Numbers of the other cells plus one, by their keys' hashes; zero where there is none.
    table: Vec<u32>,
    /// How many those are.
    hashed: usize,
    /// What the automaton can read there.
    classes: Vec<u16>,
    /// Where the boxes of its successors begin, counted in boxes.
    begins: Vec<u32>,
    /// How many there are, and the model errors that may happen.
    counts: Vec<u16>,
    boxes: Vec<u64>,
    /// What the automaton can read where the next state is in a box.
    box_classes: Vec<u16>,
    /// In which coordinates a cell is halved; empty until one is.
    halved: Vec<u32>,
    /// How many cells are halved.
    halvings: usize,
}

/// Mixes a packed cell.
pub(crate) fn hash(key: &[u64]) -> u64 {
    key.iter().fold(0, |hash: u64, &word| {
        let mixed = (hash ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        mixed ^ (mixed >> 32)
    })
}

/// Where the search for a key begins. Neighbours in the first coordinate stand beside each other, and are mostly looked up together.
fn slot(key: &[u64]) -> usize {
    let near = (key[0] >> DEPTH) & NEAR;
    let mut block = [0; MOST_WORDS];
    block[..key.len()].copy_from_slice(key);
    block[0] ^= near << DEPTH;
    ((hash(&block[..key.len()]) << NEAR.count_ones()) | near) as usize
}

/// Neighbours that stand beside each other, less one.
const NEAR: u64 = 7;

/// From there on. Past the neighbours, and odd, so that every place is tried.
const STRIDE: usize = NEAR as usize + 2;

impl Cells {
    /// None yet.
    pub fn new(grid: &Grid) -> Cells {
        Cells {
            words: grid.words(),
            keys: Vec::new(),
            index: CellIndex::new(grid),
            table: vec![0; 1 << 10],
            hashed: 0,
            classes: Vec::new(),
            begins: Vec::new(),
            counts: Vec::new(),
            boxes: Vec::new(),
            box_classes: Vec::new(),
            halved: Vec::new(),
            halvings: 0,
        }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.classes.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.classes.is_empty()
    }

    /// How many are halved.
    pub fn halvings(&self) -> usize {
        self.halvings
    }

    /// How many bytes they take.
    pub fn bytes(&self) -> usize {
        8 * self.keys.capacity()
            + 4 * self.table.capacity()
            + self.index.bytes()
            + 2 * self.classes.capacity()
            + 4 * self.begins.capacity()
            + 2 * self.counts.capacity()
            + 8 * self.boxes.capacity()
            + 2 * self.box_classes.capacity()
            + 4 * self.halved.capacity()
    }

    /// A packed cell.
    pub fn key(&self, cell: u32) -> &[u64] {
        &self.keys[cell as usize * self.words..][..self.words]
    }

    /// The number of a part of a cell, new or not; nothing if there are no numbers left.
    fn number(&mut self, key: &[u64]) -> Option<u32> {
        let mask = self.table.len() - 1;
        let mut at = slot(key) & mask;
        loop {
            match self.table[at] {
                0 => break,
                // Comparing slices calls a function; most keys are one word.
                found if self.words == 1 && self.keys[found as usize - 1] == key[0] => return Some(found - 1),
                found if self.words > 1 && self.key(found - 1) == key => return Some(found - 1),
                _ => at = (at + STRIDE) & mask,
            }
        }
        let number = self.add(key)?;
        self.table[at] = number + 1;
        self.hashed += 1;
        if self.hashed * 4 > self.table.len() * 3 {
            self.grow();
        }
        Some(number)
    }

    /// The number of a cell that was never halved and is new, by its whole place in each coordinate and its place on a tile.
    #[inline(never)]
    fn number_whole(&mut self, grid: &Grid, at: &[u64], place: usize) -> Option<u32> {
        let mut key = [0u64; MOST_WORDS];
        for (axis, at) in at.iter().enumerate() {
            grid.pack_place(axis, at << DEPTH, &mut key);
        }
        let number = self.add(&key[..self.words])?;
        *self.index.number(place) = number + 1;
        Some(number)
    }

    /// Numbers a new cell; nothing if there are no numbers left.
    fn add(&mut self, key: &[u64]) -> Option<u32> {
        let number = u32::try_from(self.len()).ok().filter(|&number| number < u32::MAX - 1)?;
        self.keys.extend_from_slice(key);
        self.classes.push(UNKNOWN);
        self.begins.push(0);
        self.counts.push(0);
        if !self.halved.is_empty() {
            self.halved.push(0);
        }
        Some(number)
    }

    fn grow(&mut self) {
        let size = self.table.len() * 2;
        let mut table = vec![0u32; size];
        for &number in self.table.iter().filter(|&&number| number != 0) {
            let mut at = slot(self.key(number - 1)) & (size - 1);
            while table[at] != 0 {
                at = (at + STRIDE) & (size - 1);
            }
            table[at] = number;
        }
        self.table = table;
    }

    /// Whether a cell was expanded.
    pub fn is_expanded(&self, cell: u32) -> bool {
        self.classes[cell as usize] != UNKNOWN
    }

    /// What the automaton can read in a cell.
    pub fn class(&self, cell: u32) -> u16 {
        self.classes[cell as usize]
    }

    /// The model errors that may happen in a cell.
    pub fn errors(&self, cell: u32) -> PossibleErrors {
        PossibleErrors(self.counts[cell as usize] & PossibleErrors::ALL.0)
    }

    /// Notes what can happen in a cell: one of an expansion, whose boxes begin at some place, with their classes. Says where the next one's do;
    /// nothing if there are no numbers left.
    pub fn expanded(
        &mut self,
        cell: u32,
        class: u16,
        from: &Expansion,
        place: usize,
        (begin, classes): (usize, &[u16]),
    ) -> Option<usize> {
        let end = begin + usize::from(from.counts[place]);
        self.classes[cell as usize] = class;
        self.begins[cell as usize] = u32::try_from(self.box_classes.len()).ok()?;
        self.counts[cell as usize] = u16::from(from.counts[place]) | from.errors[place].0;
        self.boxes.extend_from_slice(&from.images[begin * 2 * self.words..end * 2 * self.words]);
        self.box_classes.extend_from_slice(&classes[begin..end]);
        Some(end)
    }

    /// How many cells a tile has room for.
    pub(crate) fn tile_capacity(&self) -> usize {
        self.index.room()
    }

    /// In which coordinates a cell is halved, as bits.
    pub fn halved(&self, cell: u32) -> u32 {
        self.halved.get(cell as usize).copied().unwrap_or(0)
    }

    /// Halves a cell in some coordinates.
    pub fn halve(&mut self, cell: u32, axes: u32) {
        self.halved.resize(self.len(), 0);
        debug_assert!(axes != 0, "cell {cell} is halved in no coordinate");
        self.halvings += usize::from(self.halved[cell as usize] == 0);
        self.halved[cell as usize] = axes;
    }

    /// The boxes that contain a cell's next states, each as its two packed corners.
    fn corners(&self, cell: u32, place: usize) -> (&[u64], &[u64]) {
        let at = (self.begins[cell as usize] as usize + place) * 2 * self.words;
        (&self.boxes[at..at + self.words], &self.boxes[at + self.words..at + 2 * self.words])
    }

    /// How many boxes contain a cell's next states.
    pub fn boxes(&self, cell: u32) -> usize {
        usize::from(self.counts[cell as usize] & !PossibleErrors::ALL.0)
    }

    /// What the automaton can read in a cell if the next state is in a box of it.
    pub fn box_class(&self, cell: u32, place: usize) -> u16 {
        self.box_classes[self.begins[cell as usize] as usize + place]
    }
}
