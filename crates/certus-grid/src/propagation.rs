//! Propagation states of the automaton on to successors.
//!
//! Cells that many others lead to are asked again and again whether they have what is visited to them, and mostly they do. A tile whose cells all
//! have a state needs to be asked only once: in many dimensions, where a cell has thousands of successors, that is most of them.

use crate::cells::{Cells, Visitor};

/// Cells with states of the automaton that are still to be visited on: the cell, a word, and bits of it.
pub(crate) type Frontier = Vec<(u32, u16, u64)>;

/// The states of the automaton with which cells can be entered.
#[derive(Default)]
pub(crate) struct StateSets {
    words: usize,
    /// For each cell, as bits.
    states: Vec<u64>,
    /// For each tile the states that all of its cells have, among the first few.
    full: Vec<u8>,
    /// For each tile how many of its cells have each of those.
    counts: Vec<[u16; COUNTED]>,
    /// So many cells a tile has; none if that is not counted.
    room: Option<u16>,
}

/// So many states are counted.
const COUNTED: usize = 8;

impl StateSets {
    /// Nothing was entered yet; sets of states have so many words.
    pub fn new(words: usize, cells: &Cells) -> StateSets {
        // Parts of cells have no places on index.
        let room = u16::try_from(cells.tile_capacity()).ok().filter(|_| cells.halvings() == 0);
        StateSets { words, room, states: vec![0; cells.len() * words], full: Vec::new(), counts: Vec::new() }
    }

    /// How many bytes that takes.
    pub fn bytes(&self) -> usize {
        8 * self.states.capacity() + self.full.capacity() + 2 * COUNTED * self.counts.capacity()
    }

    /// The states of all cells that were met, one cell after the other.
    pub fn all(&self) -> &[u64] {
        &self.states
    }

    /// The states with which a cell can be entered.
    pub fn of(&self, cell: u32) -> &[u64] {
        self.states.get(cell as usize * self.words..(cell as usize + 1) * self.words).unwrap_or(&[])
    }

    /// Takes note that a cell of a tile has some states that it had not.
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

/// Hands states on to cells.
pub(crate) struct Propagation<'p> {
    pub entered: &'p mut StateSets,
    /// The states.
    pub states: &'p [u64],
    /// Who is to hand them on next.
    pub next: &'p mut Frontier,
    /// How many cells and index were looked at.
    pub visited: usize,
}

impl Visitor for Propagation<'_> {
    fn skips(&mut self, tile: usize) -> bool {
        // A look at a tile is work, too: whoever counts it looks at the clock.
        self.visited += 1;
        let full = self.entered.full.get(tile).copied().unwrap_or(0);
        self.states[0] & !u64::from(full) == 0 && self.states[1..].iter().all(|&word| word == 0)
    }

    #[inline]
    fn visit(&mut self, cell: u32, tile: usize, met: usize) {
        self.visited += 1;
        // Mostly one word, and nothing that is new.
        if let (&[states], Some(&own)) = (self.states, self.entered.states.get(cell as usize))
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
        let words = self.entered.words;
        if self.entered.states.len() < met * words {
            self.entered.states.resize(met * words, 0);
        }
        for (word, &states) in self.states.iter().enumerate() {
            let own = &mut self.entered.states[cell as usize * words + word];
            let fresh = states & !*own;
            if fresh != 0 {
                *own |= fresh;
                self.next.push((cell, word as u16, fresh));
                if word == 0 {
                    self.entered.count(tile, fresh);
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
        /// Boxes of cells in three dimensions, each with some states: with and without skipping full index.
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
                let mut entered = StateSets::new(1, &cells);
                entered.room = entered.room.filter(|_| counted);
                let (mut next, mut asked) = (Frontier::new(), 0);
                for (ends, states) in &boxes {
                    let mut meeting = Places::default();
                    for (axis, (one, other)) in ends.iter().enumerate() {
                        meeting.low[axis] = one.min(other) << DEPTH;
                        meeting.high[axis] = one.max(other) << DEPTH;
                    }
                    let mut propagation = Propagation { entered: &mut entered, states: &[*states], next: &mut next, visited: 0 };
                    prop_assert!(cells.each_meeting(&grid, &meeting, &mut propagation));
                    asked += propagation.visited;
                }
                runs.push((next, entered.states, asked));
            }
            let (with, without) = (&runs[0], &runs[1]);
            prop_assert_eq!((&with.0, &with.1), (&without.0, &without.1));
            prop_assert!(with.2 <= without.2, "{} and {} looks", with.2, without.2);
        }
    }
}
