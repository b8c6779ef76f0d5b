//! One axis of the grid: where it is cut, and where a number lies on it.
//!
//! An axis is cut at `anchor + k · width` for integers k, computed in doubles: both roundings are monotone in k, so the cuts are sorted and each real number lies
//! between exactly two of them, `cut(k) ≤ x < cut(k + 1)`. Nothing else is required of the cuts: a cell *is* the numbers between two doubles, and its
//! enclosure is the closed interval between them.
//!
//! Cells can be halved again and again, so places are counted in the finest steps that halving may reach, `width / 2^DEPTH`: halving is exact in doubles, and a cut of a
//! coarse grid is a cut of all finer ones.
//!
//! The axis of an integer is cut half-way between integers. A cell of the requested width is one value: it reaches from there to there, and is never halved.

/// How often a cell can be halved in each coordinate.
pub const DEPTH: u32 = 12;

/// Fine places of a cell that was never halved.
const STEPS: f64 = (1u64 << DEPTH) as f64;

/// So many fine places are not far.
const AROUND: i64 = 3;

/// Beyond a cut by this share of the finest width is just beyond it.
const JUST: f64 = 1e-6;

/// How one coordinate is cut.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Axis {
    /// A number at which it is cut.
    pub anchor: f64,
    /// The width of a cell that was never halved.
    pub width: f64,
    /// How often such a cell is halved to reach the requested width, which is that of an extracted policy's cells.
    pub coarsening: u32,
    /// The lower end of the coordinate's range.
    pub lower: f64,
    /// The upper end of the coordinate's range.
    pub upper: f64,
    /// Whether the coordinate is an integer.
    pub integral: bool,
    /// How many cells there are from there to the upper end.
    pub(super) count: u64,
    /// Bits of a fine place.
    pub(super) bits: u32,
    /// The finest width.
    fine: f64,
    /// Finest widths per one, nearly.
    per_fine: f64,
    /// Fine places from the anchor to the first cell.
    shift: f64,
    /// Cells of the requested width, from the anchor to the first one in the range.
    origin: i64,
}

impl Axis {
    pub(super) fn new(anchor: f64, width: f64, lower: f64, upper: f64, coarsening: u32) -> Option<Axis> {
        let mut axis = Axis {
            anchor,
            width,
            coarsening,
            lower,
            upper,
            integral: false,
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

    /// The axis of an integer between two: a cell for each of its values.
    pub(super) fn of_integers(lower: f64, upper: f64, coarsening: u32) -> Option<Axis> {
        Some(Axis { integral: true, ..Axis::new(lower - 0.5, 1.0, lower, upper, coarsening)? })
    }

    /// How often a cell can be halved.
    pub fn depth(&self) -> u32 {
        if self.integral { self.coarsening } else { DEPTH }
    }

    /// The ends of the numbers from one cut to another, as far as the range reaches: of an integer, its least and its largest value.
    pub fn inside(&self, low: f64, high: f64) -> (f64, f64) {
        let (low, high) = if self.integral { (low.ceil(), high.floor()) } else { (low, high) };
        (low.max(self.lower), high.min(self.upper))
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

    /// The requested width.
    pub fn requested_width(&self) -> f64 {
        self.width / f64::from(1u32 << self.coarsening)
    }

    /// The first fine place of the cell of the requested width that a place is in.
    pub fn requested_place(&self, place: u64) -> u64 {
        place >> (DEPTH - self.coarsening) << (DEPTH - self.coarsening)
    }

    /// The index of that cell, whatever the initial coarsening.
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

    /// The fine places that an interval meets, if cells contain both of their cuts: an interval of some width that ends at a cut ends in the cell
    /// below it.
    pub fn closed_places(&self, low: f64, high: f64) -> (u64, u64) {
        let (first, last) = (self.place(low), self.place(high));
        let ends_below = first < last && self.cut(last) == high;
        (first, if ends_below { last - 1 } else { last })
    }

    /// Whether a number is so little beyond a cut of cells that were never halved, above it or below it, that a sharper enclosure may not be.
    pub fn is_just_beyond_a_cut(&self, x: f64, above: bool, error: f64) -> bool {
        let place = (self.cell_of(x) + i64::from(!above)) as f64;
        let distance = x - self.cut_at(place, self.width);
        distance != 0.0 && distance.abs() <= error + JUST * self.fine
    }

    /// Nearly the whole place from the anchor of the cell in which a number lies.
    fn cell_of(&self, x: f64) -> i64 {
        ((x - self.anchor) / self.width).floor() as i64
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
        if self.integral {
            return (self.width - 1.0) / 2.0;
        }
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
        fn closed_cells_cover_what_they_meet(
            anchor in -2.0..2.0f64, width in 1e-4..1.0f64, low in 0..40u64, cells in 0..40u64, share in 0.0..1.0f64,
        ) {
            let axis = Axis::new(anchor, width, -3.0, 5.0, 0).unwrap();
            let last = (axis.cells() << DEPTH) - 1;
            // The upper end is a cut.
            let low = axis.cut((low << DEPTH).min(last)) + share * axis.fine;
            let high = axis.cut((axis.place(low) + (cells << 8)).min(last)).max(low);
            let (first, end) = axis.closed_places(low, high);
            prop_assert!(axis.cut(first) <= low && high <= axis.cut(end + 1));
            prop_assert!(low == high || axis.cut(end) < high);
            let (_, inside) = axis.closed_places(low, high.next_up());
            prop_assert!(high.next_up() <= axis.cut(inside + 1));
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
    }

    #[test]
    fn widths_that_doubles_cannot_tell_apart_are_refused() {
        assert!(Axis::new(0.0, 1e-14, 0.0, 1000.0, 0).is_none());
        assert!(Axis::new(0.0, f64::NAN, 0.0, 1.0, 0).is_none());
    }
}
