//! The grid: how the state space is divided into cells, and how a cell is packed into a few words.
//!
//! A cell is its first fine place on each axis and how often it was halved there ([`Axis`]); both are packed into few bits. An extracted policy acts by cells, so there a
//! cell contains its lower cuts but not its upper ones, and every state lies in exactly one cell of each refinement. For the network itself cells contain both: what is
//! known of a cell is known of its closure, and of a state that several cells contain any one of them may be followed. So a limit that states reach and do
//! not cross can be a cut.

mod axis;

use certus_lang::system::System;

pub use self::axis::{Axis, DEPTH};

/// Bits that hold how often a cell was halved in a coordinate.
const LEVEL_BITS: u32 = 4;

/// The most words that a packed cell may take.
pub const MOST_WORDS: usize = 8;

/// The most coordinates.
pub const MOST_AXES: usize = 24;

/// How a state space is cut.
#[derive(Clone, Debug, PartialEq)]
pub struct Grid {
    /// One per coordinate of the state.
    pub axes: Vec<Axis>,
    /// Where each coordinate's bits are: its word and shift.
    slots: Vec<(usize, u32)>,
    words: usize,
    /// The bits of each word that say how often a cell was halved.
    level_bits: [u64; MOST_WORDS],
}

/// A cell, unpacked.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Cell {
    /// The first fine place in each coordinate.
    pub places: Vec<u64>,
    /// How often it was halved in each coordinate.
    pub levels: Vec<u32>,
}

impl Cell {
    /// How many fine places it takes in a coordinate.
    pub fn extent(&self, axis: usize) -> u64 {
        1 << (DEPTH - self.levels[axis])
    }
}

/// A number in a message: with an exponent where that is shorter.
fn told(number: f64) -> String {
    let (plain, scientific) = (number.to_string(), format!("{number:e}"));
    if plain.len() <= scientific.len() + 4 { plain } else { scientific }
}

impl Grid {
    /// A grid of some widths, one per coordinate, with cuts at the lower corner of the box of initial states. An integer has a cell for each value.
    pub fn new(system: &System, widths: &[f64]) -> Result<Grid, String> {
        Grid::coarsened(system, widths, &vec![0; widths.len()])
    }

    /// The same grid with cells that begin wider, by a power of two for each axis.
    pub fn coarsened(system: &System, widths: &[f64], coarsenings: &[u32]) -> Result<Grid, String> {
        let ranges =
            system.states.iter().flat_map(|state| state.lower.iter().copied().zip(state.upper.iter().copied()));
        let ranges = system.state_names().into_iter().zip(ranges);
        let integral: Vec<bool> =
            system.states.iter().flat_map(|own| std::iter::repeat_n(own.integers.is_some(), own.len)).collect();
        let mut axes = Vec::new();
        for (place, (name, (lower, upper))) in ranges.enumerate() {
            if !lower.is_finite() || !upper.is_finite() {
                return Err(format!(
                    "a grid needs a finite range of every state variable; {name} has none: declare it `in [a, b]`"
                ));
            }
            let width = widths[place];
            if !(width.is_finite() && width > 0.0) {
                return Err(format!("the width of {name} must be a positive number, not {}", told(width)));
            }
            let anchor = system.init_box.0[place];
            let anchor = if anchor.is_finite() { anchor } else { lower };
            let axis = match integral[place] {
                true => Axis::of_integers(lower, upper, coarsenings[place]),
                false => Axis::new(anchor, width, lower, upper, coarsenings[place]),
            };
            let axis = axis.ok_or_else(|| {
                let (width, lower, upper) = (told(width), told(lower), told(upper));
                format!(
                    "a width of {width} cuts the range {lower}..{upper} of {name} into more cells than can be counted"
                )
            })?;
            axes.push(axis);
        }
        Grid::of(axes)
    }

    fn of(axes: Vec<Axis>) -> Result<Grid, String> {
        let (mut slots, mut word, mut used) = (Vec::new(), 0, 0);
        for axis in &axes {
            let bits = axis.bits + LEVEL_BITS;
            if used + bits > 64 {
                (word, used) = (word + 1, 0);
            }
            slots.push((word, used));
            used += bits;
        }
        if word + 1 > MOST_WORDS || axes.len() > MOST_AXES {
            return Err(format!("a grid over {} state variables is beyond this engine", axes.len()));
        }
        let mut level_bits = [0; MOST_WORDS];
        for (axis, &(word, shift)) in axes.iter().zip(&slots) {
            level_bits[word] |= ((1 << LEVEL_BITS) - 1) << (shift + axis.bits);
        }
        Ok(Grid { axes, slots, words: word + 1, level_bits })
    }

    /// Words of a packed cell.
    pub fn words(&self) -> usize {
        self.words
    }

    /// A cell as few words.
    pub fn pack(&self, places: &[u64], levels: &[u32], key: &mut [u64]) {
        key[..self.words].fill(0);
        for (((&place, &level), axis), &(word, shift)) in places.iter().zip(levels).zip(&self.axes).zip(&self.slots) {
            key[word] |= (place | u64::from(level) << axis.bits) << shift;
        }
    }

    /// Adds the place in a coordinate to the words of a cell that was never halved.
    pub fn pack_place(&self, axis: usize, place: u64, key: &mut [u64]) {
        let (word, shift) = self.slots[axis];
        key[word] |= place << shift;
    }

    /// The first fine place and the level of a packed cell in a coordinate.
    pub fn unpack(&self, key: &[u64], axis: usize) -> (u64, u32) {
        let (word, shift) = self.slots[axis];
        let bits = self.axes[axis].bits;
        let own = key[word] >> shift;
        (own & ((1 << bits) - 1), (own >> bits) as u32 & ((1 << LEVEL_BITS) - 1))
    }

    /// A packed cell in full.
    pub fn cell(&self, key: &[u64]) -> Cell {
        let (places, levels) = (0..self.axes.len()).map(|axis| self.unpack(key, axis)).unzip();
        Cell { places, levels }
    }

    /// The ends of a packed cell in a coordinate, as far as the range reaches.
    pub fn ends(&self, key: &[u64], axis: usize) -> (f64, f64) {
        let (place, level) = self.unpack(key, axis);
        let own = &self.axes[axis];
        let (low, high) = (own.cut(place), own.cut(place + (1 << (DEPTH - level))));
        debug_assert!(low < high, "cuts {low} and {high} of axis {axis}");
        own.inside(low, high)
    }

    /// The fine places in a coordinate where the numbers of a packed cell in another one lie, ends included. A cell does not contain the cut at
    /// which the next one begins, so where a number stays as it is, it stays in its cell.
    pub fn copied(&self, key: &[u64], from: usize, onto: usize) -> (u64, u64) {
        let (place, level) = self.unpack(key, from);
        let (low, high) = self.ends(key, from);
        let (source, target) = (&self.axes[from], &self.axes[onto]);
        if source.integral {
            return (target.place(low.max(target.lower)), target.place(high.min(target.upper)));
        }
        // Only at the end of the range is there no next cell.
        let last = if source.cut(place + (1 << (DEPTH - level))) <= source.upper { high.next_down() } else { high };
        (target.place(low.max(target.lower)), target.place(last.min(target.upper)))
    }

    /// Whether a packed cell was never halved.
    pub fn is_unrefined(&self, key: &[u64]) -> bool {
        key.iter().zip(&self.level_bits).all(|(word, bits)| word & bits == 0)
    }

    /// The number in the middle, in a coordinate, of a packed cell that was never halved, if the range's ends do not cut it.
    pub fn middle_of_unrefined(&self, key: &[u64], axis: usize) -> Option<f64> {
        let place = self.unpack(key, axis).0;
        let own = &self.axes[axis];
        let inside = 0 < place && place + (2 << DEPTH) <= own.count << DEPTH;
        inside.then(|| own.cut(place + (1 << (DEPTH - 1))))
    }

    /// The cell of the requested widths in which a state lies.
    pub fn requested_cell(&self, state: &[f64]) -> Cell {
        let places = self.axes.iter().zip(state).map(|(axis, &x)| axis.requested_place(axis.place(x))).collect();
        Cell { places, levels: self.axes.iter().map(|axis| axis.coarsening).collect() }
    }

    /// Whether a packed cell is wider in some coordinate than requested.
    pub fn is_wide(&self, key: &[u64]) -> bool {
        self.axes.iter().enumerate().any(|(axis, own)| self.unpack(key, axis).1 < own.coarsening)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn places_around_an_interval_are_around_and_near(
            anchor in -2.0..2.0f64, width in prop_oneof![1e-10..1e-9f64, 1e-4..1.0f64], shares in prop::array::uniform2(0.0..=1.0f64),
        ) {
            let axis = Axis::new(anchor, width, -3.0, 5.0, 0).unwrap();
            let ends = shares.map(|share| -3.0 + 8.0 * share);
            let (low, high) = (ends[0].min(ends[1]), ends[0].max(ends[1]));
            let (first, last) = axis.places_around(low, high);
            prop_assert!(first <= axis.place(low) && axis.place(low) <= first + 6);
            prop_assert!(last >= axis.place(high) && axis.place(high) + 6 >= last);
            let grid = Grid::of(vec![axis]).unwrap();
            let mut key = [0; MOST_WORDS];
            grid.pack(&[axis.place(low) >> DEPTH << DEPTH], &[0], &mut key);
            let (from, to) = grid.ends(&key, 0);
            if let Some(middle) = grid.middle_of_unrefined(&key, 0) {
                prop_assert!(middle - from <= axis.half() && to - middle <= axis.half());
            }
        }

        #[test]
        fn what_stays_as_it_is_stays_in_its_cell(
            anchor in -2.0..2.0f64, widths in prop::array::uniform2(1e-4..1.0f64), share in 0.0..=1.0f64, level in 0..=DEPTH,
        ) {
            let axes = widths.map(|width| Axis::new(anchor, width, -3.0, 5.0, 0).unwrap());
            let grid = Grid::of(axes.to_vec()).unwrap();
            let x = -3.0 + 8.0 * share;
            let extent = 1 << (DEPTH - level);
            let first = axes[0].place(x) / extent * extent;
            let mut key = [0; MOST_WORDS];
            grid.pack(&[first, 0], &[level, 0], &mut key);
            let (low, high) = grid.copied(&key, 0, 0);
            prop_assert!(first <= low && low <= axes[0].place(x) && axes[0].place(x) <= high && high < first + extent);
            let (low, high) = grid.copied(&key, 0, 1);
            prop_assert!(low <= axes[1].place(x) && axes[1].place(x) <= high);
        }

        #[test]
        fn packing_is_undone_by_unpacking(
            shares in prop::collection::vec((0.0..1.0f64, 0..=DEPTH), 1..8),
        ) {
            let axes: Vec<Axis> = shares.iter().map(|_| Axis::new(0.0, 0.01, -20.0, 100.0, 0).unwrap()).collect();
            let grid = Grid::of(axes).unwrap();
            let places: Vec<u64> = shares.iter().map(|(share, _)| grid.axes[0].place(-20.0 + 120.0 * share)).collect();
            let levels: Vec<u32> = shares.iter().map(|&(_, level)| level).collect();
            let mut key = vec![0; grid.words()];
            grid.pack(&places, &levels, &mut key);
            prop_assert_eq!(grid.is_unrefined(&key), levels.iter().all(|&level| level == 0));
            prop_assert_eq!(grid.cell(&key), Cell { places, levels });
        }
    }
}
