//! The cell index: numbers of cells that were never halved, by where they are.
//!
//! A hash table of tiles (Ericson, "Real-Time Collision Detection", Morgan Kaufmann 2005, section 7.1, on hashed uniform grids). Successors of a cell are neighbours of each other, and so are the successors of its
//! neighbours. A tile holds the numbers of all cells of a small cube side by side, so that one lookup in the table serves several of them.

use crate::cells::hash;
use crate::grid::{DEPTH, Grid, MOST_WORDS};

/// The numbers of cells that were never halved, by place.
pub(crate) struct CellIndex {
    words: usize,
    /// Cells of a tile along each of the first axes, as a power of two.
    shift: u32,
    /// How many axes those are; with many axes, most places of a full cube would stay empty.
    wide: usize,
    /// Packed first cells of tiles.
    keys: Vec<u64>,
    /// Numbers of tiles plus one, by their keys' hashes.
    table: Vec<u32>,
    /// Numbers of cells plus one, tile by tile; zero where none was met.
    numbers: Vec<u32>,
    /// The tile that was looked up last.
    last: Option<usize>,
}

impl CellIndex {
    /// An empty index for a grid.
    pub fn new(grid: &Grid) -> CellIndex {
        let axes = grid.axes.len();
        let (shift, wide) = match axes {
            0..=2 => (4, axes),
            3 => (2, axes),
            _ => (1, 4),
        };
        let (words, table) = (grid.words(), vec![0; 1 << 8]);
        CellIndex { words, shift, wide, keys: Vec::new(), table, numbers: Vec::new(), last: None }
    }

    /// How many bytes they take.
    pub fn bytes(&self) -> usize {
        8 * self.keys.capacity() + 4 * (self.table.capacity() + self.numbers.capacity())
    }

    /// The tile of a cell, which is given by its whole place in each coordinate, and the place of the cell's number among all numbers.
    pub fn place(&mut self, grid: &Grid, at: &[u64]) -> (usize, usize) {
        let mut key = [0; MOST_WORDS];
        let mut within = 0;
        for (axis, at) in at.iter().enumerate() {
            let shift = if axis < self.wide { self.shift } else { 0 };
            let first = at >> shift << shift;
            grid.pack_place(axis, first << DEPTH, &mut key);
            within = within << shift | (at - first) as usize;
        }
        let tile = match self.last.filter(|&last| self.is(last, &key)) {
            Some(last) => last,
            None => self.tile(&key),
        };
        self.last = Some(tile);
        (tile, (tile << (self.shift as usize * self.wide)) + within)
    }

    /// The last place, in a coordinate, of the tile that a place is on.
    pub fn last(&self, axis: usize, at: u64) -> u64 {
        if axis < self.wide { at | ((1 << self.shift) - 1) } else { at }
    }

    /// How far apart neighbours along a coordinate are on a tile.
    pub fn stride(&self, axis: usize) -> usize {
        1 << (self.shift as usize * (self.wide.saturating_sub(1 + axis)))
    }

    /// How many cells a tile has room for.
    pub fn room(&self) -> usize {
        1 << (self.shift as usize * self.wide)
    }

    /// A cell's number plus one, or zero if it was not met, by its place.
    pub fn number(&mut self, place: usize) -> &mut u32 {
        &mut self.numbers[place]
    }

    fn is(&self, tile: usize, key: &[u64; MOST_WORDS]) -> bool {
        let own = &self.keys[tile * self.words..(tile + 1) * self.words];
        own.iter().zip(key).all(|(own, other)| own == other)
    }

    /// The tile of a packed first cell, new or not.
    fn tile(&mut self, key: &[u64; MOST_WORDS]) -> usize {
        let mask = self.table.len() - 1;
        let mut at = hash(&key[..self.words]) as usize & mask;
        while self.table[at] != 0 {
            let found = self.table[at] as usize - 1;
            if self.is(found, key) {
                return found;
            }
            at = (at + 1) & mask;
        }
        let tile = self.keys.len() / self.words;
        self.keys.extend_from_slice(&key[..self.words]);
        self.numbers.resize((tile + 1) << (self.shift as usize * self.wide), 0);
        // There are fewer tiles than cells, whose numbers have as many bits.
        self.table[at] = tile as u32 + 1;
        if 2 * (tile + 1) > self.table.len() {
            self.grow();
        }
        tile
    }

    fn grow(&mut self) {
        let mask = 2 * self.table.len() - 1;
        self.table = vec![0; mask + 1];
        for (tile, key) in self.keys.chunks_exact(self.words).enumerate() {
            let mut at = hash(key) as usize & mask;
            while self.table[at] != 0 {
                at = (at + 1) & mask;
            }
            self.table[at] = tile as u32 + 1;
        }
    }
}
