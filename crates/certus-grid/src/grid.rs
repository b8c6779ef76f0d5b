//! The grid: how the state space is cut into cells, and where a number lies in it.
//!
//! Each coordinate is cut at `anchor + k · width` for integers k, computed in doubles: both roundings are monotone in k, so the
//! cuts are sorted and each real number lies between exactly two of them, `cut(k) ≤ x < cut(k + 1)`. Nothing is asked of the
//! cuts but that: a cell *is* the numbers between two doubles, and its enclosure is the closed interval between them.
//!
//! Cells can be halved again and again, so places are counted in the finest steps that halving may reach, `width / 2^DEPTH`:
//! halving is exact in doubles, and a cut of a coarse grid is a cut of all finer ones. A cell is its first fine place in each
//! coordinate and how often it was halved there; both are packed into few bits.

use certus_lang::system::System;

/// How often a cell can be halved in each coordinate.
pub const DEPTH: u32 = 12;

/// Fine places of a cell that was never halved.
const STEPS: f64 = (1u64 << DEPTH) as f64;

/// So many fine places are not far.
const AROUND: i64 = 3;

/// Bits that hold how often a cell was halved in a coordinate.
const LEVEL_BITS: u32 = 4;

/// The most words that a packed cell may take.
pub const MOST_WORDS: usize = 8;

/// The most coordinates.
pub const MOST_AXES: usize = 24;

/// How one coordinate is cut.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Axis {
    /// A number at which it is cut.
    pub anchor: f64,
    /// The width of a cell that was never halved.
    pub width: f64,
    /// So often such a cell is halved down to the width that was asked for: cells of that width are those of an extracted policy.
    pub coarsening: u32,
    /// The lower end of the coordinate's range.
    pub lower: f64,
    /// The upper end of the coordinate's range.
    pub upper: f64,
    /// How many cells there are from there to the upper end.
    count: u64,
    /// Bits of a fine place.
    bits: u32,
    /// The finest width.
    fine: f64,
    /// Finest widths per one, nearly.
    per_fine: f64,
    /// Fine places from the anchor to the first cell.
    shift: f64,
    /// Cells of the width that was asked for, from the anchor to the first one in the range.
    origin: i64,
}

impl Axis {
    fn new(anchor: f64, width: f64, lower: f64, upper: f64, coarsening: u32) -> Option<Axis> {
        let mut axis = Axis {
            anchor,
            width,
            coarsening,
            lower,
            upper,
            count: 0,
            bits: 0,
            fine: 0.0,
            per_fine: 0.0,
            shift: 0.0,
            origin: 0,
        };
        axis.origin = axis.whole_place(lower)?;
        // Powers of two change no cut.
        axis.width *= f64::from(1u32 << coarsening);
        axis.fine = axis.width / STEPS;
        axis.per_fine = 1.0 / axis.fine;
        let first = axis.whole_place(lower)?;
        let last = axis.whole_place(upper)?;
        axis.shift = first as f64 * STEPS;
        axis.count = u64::try_from(last.checked_sub(first)?).ok()? + 1;
        axis.bits = 64 - axis.count.leading_zeros() + DEPTH;
        // Cuts must be told apart wherever the range reaches.
        let largest = lower.abs().max(upper.abs()).max(anchor.abs());
        (axis.bits <= 50 && axis.fine > 4.0 * f64::EPSILON * largest && axis.fine >= f64::MIN_POSITIVE).then_some(axis)
    }

    fn cut_at(&self, place: f64, width: f64) -> f64 {
        self.anchor + place * width
    }

    /// The whole place from the anchor of the cell in which a number lies.
    fn whole_place(&self, x: f64) -> Option<i64> {
        let guess = ((x - self.anchor) / self.width).floor();
        if !guess.is_finite() || guess.abs() > 1e12 {
            return None;
        }
        let mut place = guess as i64;
        while self.cut_at(place as f64, self.width) > x {
            place -= 1;
        }
        while self.cut_at((place + 1) as f64, self.width) <= x {
            place += 1;
        }
        Some(place)
    }

    /// The width that was asked for.
    pub fn requested_width(&self) -> f64 {
        self.width / f64::from(1u32 << self.coarsening)
    }

    /// The first fine place of the cell, of the width that was asked for, that a place is in.
    pub fn requested_place(&self, place: u64) -> u64 {
        place >> (DEPTH - self.coarsening) << (DEPTH - self.coarsening)
    }

    /// A name of that cell which does not depend on how coarse the grid began.
    pub fn requested_index(&self, place: u64) -> u64 {
        let from_anchor = (self.shift as i64 + place as i64) >> (DEPTH - self.coarsening);
        ((from_anchor - self.origin) as u64) << DEPTH
    }

    /// Bits of a fine place.
    pub(crate) fn bits(&self) -> u32 {
        self.bits
    }

    /// How many cells that were never halved the range has.
    pub fn cells(&self) -> u64 {
        self.count
    }

    /// The number at which a fine place begins.
    pub fn cut(&self, place: u64) -> f64 {
        // Signed numbers become doubles in one instruction.
        self.cut_at(self.shift + place as i64 as f64, self.fine)
    }

    /// The fine place in which a number of the range lies.
    pub fn place(&self, x: f64) -> u64 {
        let last = (self.count << DEPTH) - 1;
        // Only a guess, and the conversion cuts off; no number is place 0.
        let guess = ((x - self.anchor) * self.per_fine - self.shift) as i64;
        let place = (guess.max(0) as u64).min(last);
        if self.cut(place) <= x && x < self.cut(place + 1) { place } else { self.place_near(place, x) }
    }

    /// Fine places that are not above and not below those in which the ends of an interval lie, nor far from them: quicker to have than the
    /// places themselves.
    pub fn places_around(&self, low: f64, high: f64) -> (u64, u64) {
        let last = (self.count << DEPTH) as i64 - 1;
        let near = |x: f64| ((x - self.anchor) * self.per_fine - self.shift) as i64;
        // The product is off by less than one and a cut by less than a quarter of a place, and the conversion cuts off.
        ((near(low) - AROUND).clamp(0, last) as u64, (near(high) + AROUND).clamp(0, last) as u64)
    }

    /// Half the width of a cell that was never halved, as far as either end is from its middle cut.
    pub fn half(&self) -> f64 {
        // Cuts are off by less than a quarter of a fine width each.
        self.width / 2.0 + self.fine
    }

    /// The same where a place is near.
    #[cold]
    fn place_near(&self, mut place: u64, x: f64) -> u64 {
        let last = (self.count << DEPTH) - 1;
        while place > 0 && self.cut(place) > x {
            place -= 1;
        }
        while place < last && self.cut(place + 1) <= x {
            place += 1;
        }
        place
    }
}

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
    /// A grid of some widths, one per coordinate, with cuts at the lower corner of the box of initial states.
    pub fn new(system: &System, widths: &[f64]) -> Result<Grid, String> {
        Grid::coarsened(system, widths, &vec![0; widths.len()])
    }

    /// The same grid with so many powers of two wider cells to begin with, in each coordinate.
    pub fn coarsened(system: &System, widths: &[f64], coarsenings: &[u32]) -> Result<Grid, String> {
        let ranges =
            system.states.iter().flat_map(|state| state.lower.iter().copied().zip(state.upper.iter().copied()));
        let ranges = system.state_names().into_iter().zip(ranges);
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
            let axis = Axis::new(anchor, width, lower, upper, coarsenings[place]).ok_or_else(|| {
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
        (low.max(own.lower), high.min(own.upper))
    }

    /// The fine places in a coordinate where the numbers of a packed cell in another one lie, ends included. A cell does not contain the cut at
    /// which the next one begins, so where a number stays as it is, it stays in its cell.
    pub fn copied(&self, key: &[u64], from: usize, onto: usize) -> (u64, u64) {
        let (place, level) = self.unpack(key, from);
        let (low, high) = self.ends(key, from);
        let source = &self.axes[from];
        // Only at the end of the range is there no next cell.
        let last = if source.cut(place + (1 << (DEPTH - level))) <= source.upper { high.next_down() } else { high };
        let target = &self.axes[onto];
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

    /// The cell of the widths that were asked for in which a state lies.
    pub fn requested_cell(&self, state: &[f64]) -> Cell {
        let places = self.axes.iter().zip(state).map(|(axis, &x)| axis.requested_place(axis.place(x))).collect();
        Cell { places, levels: self.axes.iter().map(|axis| axis.coarsening).collect() }
    }

    /// Whether a packed cell is wider in some coordinate than was asked for.
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
        fn every_number_lies_between_its_cuts(
            anchor in -2.0..2.0f64, width in 1e-4..1.0f64, share in 0.0..1.0f64, level in 0..=DEPTH,
        ) {
            let axis = Axis::new(anchor, width, -3.0, 5.0, 0).unwrap();
            let x = -3.0 + 8.0 * share;
            let place = axis.place(x);
            prop_assert!(axis.cut(place) <= x && x < axis.cut(place + 1));
            // Cuts of coarse cells are cuts of fine ones, and the anchor is one of them.
            let first = place >> (DEPTH - level) << (DEPTH - level);
            prop_assert!(axis.cut(first) <= x && x < axis.cut(first + (1 << (DEPTH - level))));
            prop_assert_eq!(axis.cut(axis.place(anchor)), anchor);
        }

        #[test]
        fn a_grid_that_begins_coarse_has_the_same_cuts_and_names(
            anchor in -2.0..2.0f64, width in 1e-4..1.0f64, share in 0.0..1.0f64, coarsening in 0..8u32,
        ) {
            let own = Axis::new(anchor, width, -3.0, 5.0, 0).unwrap();
            let coarse = Axis::new(anchor, width, -3.0, 5.0, coarsening).unwrap();
            let x = -3.0 + 8.0 * share;
            let (fine, wide) = (own.requested_place(own.place(x)), coarse.requested_place(coarse.place(x)));
            prop_assert_eq!(own.cut(fine), coarse.cut(wide));
            prop_assert_eq!(own.requested_index(fine), fine);
            prop_assert_eq!(coarse.requested_index(wide), fine);
            prop_assert_eq!(coarse.requested_width(), width);
        }

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

    #[test]
    fn widths_that_doubles_cannot_tell_apart_are_refused() {
        assert!(Axis::new(0.0, 1e-14, 0.0, 1000.0, 0).is_none());
        assert!(Axis::new(0.0, f64::NAN, 0.0, 1.0, 0).is_none());
    }
}
