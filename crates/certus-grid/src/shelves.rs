//! Numbers of units that were never halved, by where they are.
//!
//! Successors of a unit are neighbours of each other, and so are the successors of its neighbours. A shelf has the numbers of all units of a small cube beside
//! each other, so that one look into a table serves several of them.

use crate::lattice::{DEPTH, Lattice, MOST_WORDS};
use crate::units::hash;

/// Numbers of units that were never halved.
pub(crate) struct Shelves {
    words: usize,
    /// Units of a shelf in each of the first coordinates, as a power of two.
    shift: u32,
    /// How many coordinates those are; in all of many, most places of a cube would stay empty.
    wide: usize,
    /// Packed first units of shelves.
    keys: Vec<u64>,
    /// Numbers of shelves plus one, by their keys' hashes.
    table: Vec<u32>,
    /// Numbers of units plus one, shelf by shelf; zero where none was met.
    numbers: Vec<u32>,
    /// The shelf that was looked at last.
    last: Option<usize>,
}

impl Shelves {
    /// Shelves for a grid.
    pub fn new(lattice: &Lattice) -> Shelves {
        let axes = lattice.axes.len();
        let (shift, wide) = match axes {
            0..=2 => (4, axes),
            3 => (2, axes),
            _ => (1, 4),
        };
        let (words, table) = (lattice.words(), vec![0; 1 << 8]);
        Shelves { words, shift, wide, keys: Vec::new(), table, numbers: Vec::new(), last: None }
    }

    /// How many bytes they take.
    pub fn bytes(&self) -> usize {
        8 * self.keys.capacity() + 4 * (self.table.capacity() + self.numbers.capacity())
    }

    /// The shelf of a unit, which is given by its whole place in each coordinate, and the place of the unit's number among all numbers.
    pub fn place(&mut self, lattice: &Lattice, at: &[u64]) -> (usize, usize) {
        let mut key = [0; MOST_WORDS];
        let mut within = 0;
        for (axis, at) in at.iter().enumerate() {
            let shift = if axis < self.wide { self.shift } else { 0 };
            let first = at >> shift << shift;
            lattice.pack_place(axis, first << DEPTH, &mut key);
            within = within << shift | (at - first) as usize;
        }
        let shelf = match self.last.filter(|&last| self.is(last, &key)) {
            Some(last) => last,
            None => self.shelf(&key),
        };
        self.last = Some(shelf);
        (shelf, (shelf << (self.shift as usize * self.wide)) + within)
    }

    /// The last place, in a coordinate, of the shelf that a place is on.
    pub fn last(&self, axis: usize, at: u64) -> u64 {
        if axis < self.wide { at | ((1 << self.shift) - 1) } else { at }
    }

    /// How far apart neighbours along a coordinate are on a shelf.
    pub fn stride(&self, axis: usize) -> usize {
        1 << (self.shift as usize * (self.wide.saturating_sub(1 + axis)))
    }

    /// How many units a shelf has room for.
    pub fn room(&self) -> usize {
        1 << (self.shift as usize * self.wide)
    }

    /// A unit's number plus one, or zero if it was not met, by its place.
    pub fn number(&mut self, place: usize) -> &mut u32 {
        &mut self.numbers[place]
    }

    fn is(&self, shelf: usize, key: &[u64; MOST_WORDS]) -> bool {
        let own = &self.keys[shelf * self.words..(shelf + 1) * self.words];
        own.iter().zip(key).all(|(own, other)| own == other)
    }

    /// The shelf of a packed first unit, new or not.
    fn shelf(&mut self, key: &[u64; MOST_WORDS]) -> usize {
        let mask = self.table.len() - 1;
        let mut at = hash(&key[..self.words]) as usize & mask;
        while self.table[at] != 0 {
            let found = self.table[at] as usize - 1;
            if self.is(found, key) {
                return found;
            }
            at = (at + 1) & mask;
        }
        let shelf = self.keys.len() / self.words;
        self.keys.extend_from_slice(&key[..self.words]);
        self.numbers.resize((shelf + 1) << (self.shift as usize * self.wide), 0);
        // There are fewer shelves than units, whose numbers have as many bits.
        self.table[at] = shelf as u32 + 1;
        if 2 * (shelf + 1) > self.table.len() {
            self.grow();
        }
        shelf
    }

    fn grow(&mut self) {
        let mask = 2 * self.table.len() - 1;
        self.table = vec![0; mask + 1];
        for (shelf, key) in self.keys.chunks_exact(self.words).enumerate() {
            let mut at = hash(key) as usize & mask;
            while self.table[at] != 0 {
                at = (at + 1) & mask;
            }
            self.table[at] = shelf as u32 + 1;
        }
    }
}
