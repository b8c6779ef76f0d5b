//! The cells that meet a box: those that a successor may be in.
//!
//! The box is walked tile by tile of the cell index; a visitor may skip whole tiles. Cells that were halved are replaced by those of their parts that meet the box. Cells that are met for the
//! first time get a number.

use super::Cells;
use crate::grid::{DEPTH, Grid, MOST_AXES, MOST_WORDS};

/// Visits cells.
pub trait Visitor {
    /// Whether to skip a tile.
    fn skips(&mut self, _tile: usize) -> bool {
        false
    }

    /// Visits a cell; `tile` is its tile, or that of the cell that it is a part of, and `met` how many cells there are.
    fn visit(&mut self, cell: u32, tile: usize, met: usize);
}

impl<F: FnMut(u32)> Visitor for F {
    fn visit(&mut self, cell: u32, _tile: usize, _met: usize) {
        self(cell);
    }
}

/// Up to so many axes, small arrays are used.
const FEW_AXES: usize = 4;

/// A box of fine places, ends included.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Places {
    /// First places.
    pub low: [u64; MOST_AXES],
    /// Last places.
    pub high: [u64; MOST_AXES],
}

impl Places {
    /// How many cells, if none was halved, meet the box.
    pub fn size(&self, axes: usize) -> f64 {
        let along = |(low, high): (&u64, &u64)| ((high >> DEPTH) - (low >> DEPTH) + 1) as i64 as f64;
        self.low.iter().zip(&self.high).take(axes).map(along).product()
    }
}

/// What of a box is on one tile.
struct Piece<'p> {
    /// The box.
    meeting: &'p Places,
    /// First whole places.
    first: &'p [u64],
    /// Last whole places.
    last: &'p [u64],
    tile: usize,
    /// The place of the first cell's number.
    place: usize,
}

impl Cells {
    /// A box of a cell's next states, into room that is used again and again.
    pub fn places(&self, grid: &Grid, cell: u32, place: usize, meeting: &mut Places) {
        let (low, high) = self.corners(cell, place);
        for axis in 0..grid.axes.len() {
            meeting.low[axis] = grid.unpack(low, axis).0;
            meeting.high[axis] = grid.unpack(high, axis).0;
        }
    }

    /// Visits every cell that meets a box of a cell's next states, new ones included. False if there are no numbers left.
    pub fn each_in_box(&mut self, grid: &Grid, cell: u32, place: usize, visitor: &mut impl Visitor) -> bool {
        let mut meeting = Places::default();
        self.places(grid, cell, place, &mut meeting);
        self.each_meeting(grid, &meeting, visitor)
    }

    /// Visits every cell that a successor of some cell may be in, new ones included. False if there are no numbers left.
    pub fn each_successor(&mut self, grid: &Grid, cell: u32, visitor: &mut impl Visitor) -> bool {
        (0..self.boxes(cell)).all(|place| self.each_in_box(grid, cell, place, visitor))
    }

    /// Visits every cell that meets a box, new ones included, tile by tile. False if there are no numbers left.
    pub fn each_meeting(&mut self, grid: &Grid, meeting: &Places, visitor: &mut impl Visitor) -> bool {
        // Small arrays are copied faster.
        match grid.axes.len() <= FEW_AXES {
            true => self.each_tile::<FEW_AXES>(grid, meeting, visitor),
            false => self.each_tile::<MOST_AXES>(grid, meeting, visitor),
        }
    }

    /// The same for at most `AXES` axes.
    fn each_tile<const AXES: usize>(&mut self, grid: &Grid, meeting: &Places, visitor: &mut impl Visitor) -> bool {
        let axes = grid.axes.len();
        let (mut low, mut high) = ([0u64; AXES], [0u64; AXES]);
        for axis in 0..axes {
            (low[axis], high[axis]) = (meeting.low[axis] >> DEPTH, meeting.high[axis] >> DEPTH);
        }
        let (mut corner, mut last) = (low, high);
        loop {
            for axis in 0..axes {
                last[axis] = self.index.last(axis, corner[axis]).min(high[axis]);
            }
            let (tile, place) = self.index.place(grid, &corner[..axes]);
            let piece = Piece { meeting, first: &corner[..axes], last: &last[..axes], tile, place };
            if !visitor.skips(tile) && !self.each_in_tile::<AXES>(grid, &piece, visitor) {
                return false;
            }
            // The next tile, like the digits of a number.
            let Some(axis) = (0..axes).find(|&axis| last[axis] < high[axis]) else { return true };
            corner[axis] = last[axis] + 1;
            corner[..axis].copy_from_slice(&low[..axis]);
        }
    }

    /// The same for what is on one tile.
    fn each_in_tile<const AXES: usize>(&mut self, grid: &Grid, piece: &Piece<'_>, visitor: &mut impl Visitor) -> bool {
        let &Piece { meeting, first, last, tile, place } = piece;
        let (axes, stride, any_halved) = (first.len(), self.index.stride(0), self.halvings > 0);
        let mut at = [0; AXES];
        at[..axes].copy_from_slice(first);
        let mut row = place;
        loop {
            let mut place = row;
            for along in first[0]..=last[0] {
                let number = match *self.index.number(place) {
                    0 => {
                        at[0] = along;
                        let Some(number) = self.number_whole(grid, &at[..axes], place) else { return false };
                        number
                    }
                    found => found - 1,
                };
                if any_halved && self.halved(number) != 0 {
                    if !self.each_part(grid, number, meeting, tile, visitor) {
                        return false;
                    }
                } else {
                    visitor.visit(number, tile, self.len());
                }
                place += stride;
            }
            // The next row, again like the digits of a number.
            let Some(axis) = (1..axes).find(|&axis| at[axis] < last[axis]) else { return true };
            at[axis] += 1;
            row += self.index.stride(axis);
            for inner in 1..axis {
                row -= (at[inner] - first[inner]) as usize * self.index.stride(inner);
                at[inner] = first[inner];
            }
        }
    }

    /// The same for the parts of a halved cell.
    fn each_part(&mut self, grid: &Grid, cell: u32, meeting: &Places, tile: usize, visitor: &mut impl Visitor) -> bool {
        let halved = self.halved(cell);
        if halved == 0 {
            visitor.visit(cell, tile, self.len());
            return true;
        }
        let axes = grid.axes.len();
        let (mut first, mut levels, mut extents) = ([0; MOST_AXES], [0; MOST_AXES], [0; MOST_AXES]);
        for axis in 0..axes {
            (first[axis], levels[axis]) = grid.unpack(self.key(cell), axis);
            levels[axis] += halved >> axis & 1;
            extents[axis] = 1u64 << (DEPTH - levels[axis]);
        }
        // Lower and upper halves in each of the coordinates, like the bits of a number.
        for part in 0..1u32 << halved.count_ones() {
            let (mut places, mut rest) = (first, part);
            for axis in (0..axes).filter(|axis| halved >> axis & 1 == 1) {
                places[axis] += extents[axis] * u64::from(rest & 1);
                rest >>= 1;
            }
            let meets =
                |axis: usize| places[axis] <= meeting.high[axis] && meeting.low[axis] < places[axis] + extents[axis];
            if !(0..axes).all(meets) {
                continue;
            }
            let mut key = [0u64; MOST_WORDS];
            grid.pack(&places[..axes], &levels[..axes], &mut key);
            let Some(number) = self.number(&key[..self.words]) else { return false };
            if !self.each_part(grid, number, meeting, tile, visitor) {
                return false;
            }
        }
        true
    }
}
