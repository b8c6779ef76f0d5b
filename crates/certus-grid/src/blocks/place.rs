//! The box of next states of each cell of a block, from the block's affine form.

use certus_automata::system::Truths;
use certus_graph::fault::Fault;
use certus_graph::{GraphError, Interval};

use super::bound::{BEFORE_SLOPES, Bounded};
use crate::expand::{Boxes, Expander, touches_a_cut};
use crate::grid::MOST_AXES;

impl Expander<'_> {
    /// How far the ends of a cell, and of the environment's choices, are from the middles of its block.
    pub(super) fn differences_of(&self, key: &[u64], own: &Bounded, differences: &mut Vec<(f64, f64)>) {
        differences.clear();
        for axis in 0..self.grid.axes.len() {
            let (low, high) = self.grid.ends(key, axis);
            differences.push((low - own.middles[axis], high - own.middles[axis]));
        }
        let middles = &own.middles[self.grid.axes.len()..];
        differences.extend(self.inputs.iter().zip(middles).map(|(&(low, high), middle)| (low - middle, high - middle)));
    }

    /// The boxes of the next states of a cell that was never halved, without actions of an extracted policy: one value for each coordinate, and as far
    /// around it as all such cells reach. False if the range's ends cut the cell.
    pub(super) fn place_whole(
        &self,
        (cell, key): (usize, &[u64]),
        own: &Bounded,
        truths: &mut [Truths],
        found: &mut Boxes,
    ) -> Result<bool, GraphError> {
        let (words, axes) = (self.grid.words(), self.grid.axes.len());
        let mut away = [0.0; MOST_AXES];
        for (axis, away) in away.iter_mut().enumerate().take(axes) {
            let Some(middle) = self.grid.middle_of_unrefined(key, axis) else { return Ok(false) };
            *away = middle - own.middles[axis];
        }
        for form in &own.forms {
            let first = found.corners.len();
            found.corners.resize(first + 2 * words, 0);
            let (low, high) = found.corners[first..].split_at_mut(words);
            let each = form.numbers.chunks_exact(BEFORE_SLOPES + self.symbols);
            for (axis, (numbers, along)) in each.zip(&self.grid.axes).enumerate() {
                let &[centre, _, least, most, reach, ref slopes @ ..] = numbers else { continue };
                let (first, last) = match form.copies[axis] {
                    Some(from) => self.grid.copied(key, from, axis),
                    None => {
                        let value =
                            slopes.iter().zip(&away[..axes]).fold(centre, |sum, (slope, away)| sum + slope * away);
                        let (below, above) = ((value - reach).max(least), (value + reach).min(most));
                        if below > above {
                            return Err(self.does_not_meet(axis, (value, reach), (least, most)).into());
                        }
                        along.places_around(below, above)
                    }
                };
                self.grid.pack_place(axis, first, low);
                self.grid.pack_place(axis, last, high);
            }
            truths[cell].yes &= form.truths.yes;
            truths[cell].no &= form.truths.no;
            found.owners.push((cell as u32, form.truths));
        }
        Ok(true)
    }

    /// A successor from the form of a block is not in the block's range: one of them is wrong.
    #[cold]
    fn does_not_meet(&self, axis: usize, (value, reach): (f64, f64), (least, most): (f64, f64)) -> Fault {
        let ends = (Interval::new(value - reach, value + reach), Interval::new(least, most));
        self.crossed("the form of a block and its range", axis, ends)
    }

    /// The boxes of a cell's next states, from the forms of its block. False if the cell alone may do better: where a halved cell's successors may end at a cut.
    pub(super) fn place_cell(
        &self,
        (cell, key): (usize, &[u64]),
        own: &Bounded,
        differences: &[(f64, f64)],
        truths: &mut [Truths],
        found: &mut Boxes,
    ) -> Result<bool, GraphError> {
        let words = self.grid.words();
        let may_touch = self.has_closed_cells() && !self.grid.is_unrefined(key);
        let (begun, settled) = (found.corners.len(), found.owners.len());
        for form in &own.forms {
            let first = found.corners.len();
            found.corners.resize(first + 2 * words, 0);
            let (low, high) = found.corners[first..].split_at_mut(words);
            let each = form.numbers.chunks_exact(BEFORE_SLOPES + differences.len());
            for (axis, (numbers, along)) in each.zip(&self.grid.axes).enumerate() {
                if let Some(from) = form.copies[axis] {
                    let (first, last) = self.grid.copied(key, from, axis);
                    self.grid.pack_place(axis, first, low);
                    self.grid.pack_place(axis, last, high);
                    continue;
                }
                let &[centre, error, least, most, _, ref slopes @ ..] = numbers else { continue };
                let (mut below, mut above) = (centre - error, centre + error);
                for (slope, &(from, to)) in slopes.iter().zip(differences) {
                    let (one, other) = (slope * from, slope * to);
                    below += one.min(other);
                    above += one.max(other);
                }
                if below.max(least) > above.min(most) {
                    let middle = (below / 2.0 + above / 2.0, above / 2.0 - below / 2.0);
                    return Err(self.does_not_meet(axis, middle, (least, most)).into());
                }
                let (below, above) = (below.max(least), above.min(most));
                if may_touch && !along.integral && touches_a_cut(along, (below, above), 2.0 * error) {
                    found.corners.truncate(begun);
                    found.owners.truncate(settled);
                    return Ok(false);
                }
                let (below, above) = if along.integral { (below.ceil(), above.floor()) } else { (below, above) };
                let (first, last) = self.met(along, (below, above));
                self.grid.pack_place(axis, first, low);
                self.grid.pack_place(axis, last, high);
            }
            found.owners.push((cell as u32, form.truths));
        }
        for form in &own.forms {
            truths[cell].yes &= form.truths.yes;
            truths[cell].no &= form.truths.no;
        }
        Ok(true)
    }
}
