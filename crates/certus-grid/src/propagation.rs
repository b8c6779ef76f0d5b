//! Propagation of sets of automaton states to successor cells.
//!
//! Each cell holds the set of automaton states with which a run can enter it, as bits; a successor gets the image of that set, and is put on the frontier if it has new states (a worklist
//! computation of the least fixpoint). Cells with many predecessors are asked again and again whether they have the states already, and mostly they do. A tile of the cell index whose cells all have a state
//! is asked only once: in many dimensions, where a cell has thousands of successors, that is most of them.

use crate::cells::{Cells, Visitor};

/// Cells with automaton states whose successors are still to be computed: the cell, a word of states, and bits of it.
pub(crate) type Frontier = Vec<(u32, u16, u64)>;

/// The states of the automaton with which cells can be sets.
#[derive(Default)]
pub(crate) struct StateSets {
    words: usize,
    /// For each cell, as bits.
    states: Vec<u64>,
    /// For each tile the states that all of its cells have, among the first few.
    full: Vec<u8>,
    /// For each tile how many of its cells have each of those.
    counts: Vec<[u16; COUNTED]>,
    /// How many cells a tile has; none if tiles are not counted.
    room: Option<u16>,
}

/// For so many automaton states the cells of a tile that have them are counted.
const COUNTED: usize = 8;

impl StateSets {
    /// Empty sets of so many words.
    pub fn new(words: usize, cells: &Cells) -> StateSets {
        // The index has no places for parts of cells.
        let room = u16::try_from(cells.tile_capacity()).ok().filter(|_| cells.halvings() == 0);
        StateSets { words, room, states: vec![0; cells.len() * words], full: Vec::new(), counts: Vec::new() }
    }

    /// How many bytes the sets take.
    pub fn bytes(&self) -> usize {
        8 * self.states.capacity() + self.full.capacity() + 2 * COUNTED * self.counts.capacity()
    }

    /// The sets of all cells, one cell after the other.
    pub fn all(&self) -> &[u64] {
        &self.states
    }

    /// The states with which a cell can be sets.
    pub fn of(&self, cell: u32) -> &[u64] {
        self.states.get(cell as usize * self.words..(cell as usize + 1) * self.words).unwrap_or(&[])
    }

    /// Counts states that a cell of a tile did not have before.
    fn count(&mut self, tile: usize, fresh: u64) {
        let Some(room) = self.room else { return };
        if self.counts.len() <= tile {
            self.counts.resize(tile + 1, [0; COUNTED]);
            self.full.resize(tile + 1, 0);
        }
        let mut rest = fresh as u8;
        while rest != 0 {
            let state = rest.trailing_zeros() as usize;
            rest &= rest - 1;
            let count = &mut self.counts[tile][state];
            *count += 1;
            if *count == room {
                self.full[tile] |= 1 << state;
            }
        }
    }
}

/// Adds automaton states to the cells that it visits.
pub(crate) struct Propagation<'p> {
    pub sets: &'p mut StateSets,
    /// The states.
    pub states: &'p [u64],
    /// The frontier of the next round.
    pub next: &'p mut Frontier,
    /// How many cells and tiles were visited.
    pub visited: usize,
}

impl Visitor for Propagation<'_> {
    fn skips(&mut self, tile: usize) -> bool {
        // Visiting a tile is work, too: the budget is polled by this count.
        self.visited += 1;
        let full = self.sets.full.get(tile).copied().unwrap_or(0);
        self.states[0] & !u64::from(full) == 0 && self.states[1..].iter().all(|&word| word == 0)
    }

    #[inline]
    fn visit(&mut self, cell: u32, tile: usize, met: usize) {
        self.visited += 1;
        // Mostly one word, and nothing new.
        if let (&[states], Some(&own)) = (self.states, self.sets.states.get(cell as usize))
            && states & !own == 0
        {
            return;
        }
        self.add(cell, tile, met);
    }
}

impl Propagation<'_> {
    #[inline(never)]
    fn add(&mut self, cell: u32, tile: usize, met: usize) {
        let words = self.sets.words;
        if self.sets.states.len() < met * words {
            self.sets.states.resize(met * words, 0);
        }
        for (word, &states) in self.states.iter().enumerate() {
            let own = &mut self.sets.states[cell as usize * words + word];
            let fresh = states & !*own;
            if fresh != 0 {
                *own |= fresh;
                self.next.push((cell, word as u16, fresh));
                if word == 0 {
                    self.sets.count(tile, fresh);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use certus_lang::{FileNetworks, LowerOptions, load_str};
    use proptest::prelude::*;

    use super::*;
    use crate::cells::Places;
    use crate::grid::{DEPTH, Grid};

    proptest! {
        /// Boxes of cells in three dimensions, each with some states: with and without skipping full tiles.
        #[test]
        fn skipping_full_tiles_changes_nothing(
            boxes in prop::collection::vec((prop::array::uniform3((0u64..9, 0u64..9)), 0u64..16), 1..40),
        ) {
            let file = "system wide\nstate x[3] in [0, 10]\nnext x = x\ninit all(x in [0, 0])\nproperty p = G x[0] < 2\n";
            let system = load_str(file, &mut FileNetworks::new("."), &LowerOptions::default()).unwrap();
            let grid = Grid::new(&system, &[1.0; 3]).unwrap();
            let mut runs: Vec<(Frontier, Vec<u64>, usize)> = Vec::new();
            for counted in [true, false] {
                let mut cells = Cells::new(&grid);
                let mut sets = StateSets::new(1, &cells);
                sets.room = sets.room.filter(|_| counted);
                let (mut next, mut asked) = (Frontier::new(), 0);
                for (ends, states) in &boxes {
                    let mut meeting = Places::default();
                    for (axis, (one, other)) in ends.iter().enumerate() {
                        meeting.low[axis] = one.min(other) << DEPTH;
                        meeting.high[axis] = one.max(other) << DEPTH;
                    }
                    let mut propagation = Propagation { sets: &mut sets, states: &[*states], next: &mut next, visited: 0 };
                    prop_assert!(cells.each_meeting(&grid, &meeting, &mut propagation));
                    asked += propagation.visited;
                }
                runs.push((next, sets.states, asked));
            }
            let (with, without) = (&runs[0], &runs[1]);
            prop_assert_eq!((&with.0, &with.1), (&without.0, &without.1));
            prop_assert!(with.2 <= without.2, "{} and {} looks", with.2, without.2);
        }
    }
}
