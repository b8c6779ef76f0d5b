//! Bounds of one transition over one cell.
//!
//! Affine forms give the first bounds. Interval enclosures, operator by operator, are intersected with them where an atom is open or a range may be left; both are sound, so
//! they meet, and a pair that does not is reported as a fault. In debug builds the successor of a sampled state must lie in the bounds.

use certus_automata::system::Truths;
use certus_graph::eval::evaluate;
use certus_graph::fault::Fault;
use certus_graph::{GraphError, Interval};

use super::{Expander, Prepared, Slices, enclose_slices, truth};
use crate::cells::hash;
use crate::grid::Axis;
use crate::possible_errors::PossibleErrors;

/// One cell in so many is sampled in debug builds.
const CHECKED: u64 = 16;

/// What an evaluation in doubles may be off by, beside the size of its result, in such a sample.
const ROUNDED: f64 = 1e-6;

/// In cells that were halved so often, the environment's choices are cut as well.
const DEEP: u32 = 4;

/// Whether an interval ends just beyond a cut, or would without an error of this size, so that a sharper one may meet fewer cells.
pub(crate) fn touches_a_cut(along: &Axis, (low, high): (f64, f64), error: f64) -> bool {
    along.is_just_beyond_a_cut(high, true, error) || along.is_just_beyond_a_cut(low, false, error)
}

/// Bounds of one transition over one cell.
#[derive(Default)]
pub(super) struct TransitionBounds {
    pub(super) truths: Truths,
    pub(super) errors: PossibleErrors,
    /// Coordinates that may leave their ranges, as bits.
    pub(super) leaving: u32,
    /// Whether the condition on transitions holds, if that is known.
    pub(super) allowed: Option<bool>,
    pub(super) goes_on: bool,
}

/// Buffers that are reused.
#[derive(Default)]
pub(super) struct Scratch {
    pub(super) known: Vec<Option<bool>>,
    pub(super) next: Vec<Interval>,
    pub(super) bounds: Vec<TransitionBounds>,
}

impl Expander<'_> {
    /// Bounds of one transition over one cell: for all inputs at once or, where that leaves open what depends on them, piece by piece.
    pub(super) fn bound_transition(
        &self,
        own: &Prepared,
        key: &[u64],
        (input, result): (Slices<'_>, Slices<'_>),
        scratch: &mut Scratch,
        corners: &mut Vec<u64>,
    ) -> Result<(), GraphError> {
        let first = corners.len();
        let bounds = self.bound_piece(own, key, (input, result, false), scratch, corners)?;
        let open = !(bounds.truths.yes | bounds.truths.no) & !self.valued.without_choice & self.all_atoms();
        let errors = bounds.errors.without(self.excluded).has(PossibleErrors::ERRORS);
        let is_deep = || (0..self.grid.axes.len()).any(|axis| self.grid.unpack(key, axis).1 >= DEEP);
        if self.pieces.is_empty() || !(open != 0 || bounds.allowed.is_none() || errors || is_deep()) {
            scratch.bounds.push(bounds);
            return Ok(());
        }
        corners.truncate(first);
        let axes = self.grid.axes.len();
        let rows = input.low.len() / input.count;
        let ends = (0..rows).map(|row| input.range(row));
        let (mut low, mut high): (Vec<f64>, Vec<f64>) = ends.map(|range| (range.lo, range.hi)).unzip();
        for piece in &self.pieces {
            for (place, &(from, to)) in piece.iter().enumerate() {
                (low[axes + place], high[axes + place]) = (from, to);
            }
            let input = Slices { low: &low, high: &high, count: 1, place: 0 };
            let bounds = self.bound_piece(own, key, (input, result, true), scratch, corners)?;
            scratch.bounds.push(bounds);
        }
        Ok(())
    }

    /// Two enclosures of one number that do not meet: one of them is wrong.
    pub(crate) fn crossed(&self, what: &str, axis: usize, (one, other): (Interval, Interval)) -> Fault {
        Fault::raise(format!("{what} do not meet"), format!("coordinate {axis} of the grid: {one} and {other}"))
    }

    /// Whether the successor of the middle of a box lies in an enclosure, up to what its evaluation rounds.
    fn encloses_middle(&self, own: &Prepared, input: Slices<'_>, next: &[Interval]) -> bool {
        let mut row = 0;
        let mut arguments: Vec<Vec<f64>> = Vec::new();
        for port in own.next.inputs() {
            let elements = own.next.elements(port.node);
            let middle = |row: usize| certus_solver::middle(input.range(row).lo, input.range(row).hi).0;
            arguments.push((row..row + elements).map(middle).collect());
            row += elements;
        }
        let slices: Vec<&[f64]> = arguments.iter().map(Vec::as_slice).collect();
        let Ok(made) = evaluate(&own.next, &slices) else { return false };
        made.concat()
            .iter()
            .zip(next)
            .all(|(value, range)| range.widen(ROUNDED * (1.0 + range.magnitude())).contains(*value))
    }

    /// Bounds of one transition over one cell, or over one piece of the inputs (then `result` bounds the whole range). The corners of the box of next states come to
    /// those that are there, if there is one.
    fn bound_piece(
        &self,
        own: &Prepared,
        key: &[u64],
        (input, result, is_part): (Slices<'_>, Slices<'_>, bool),
        scratch: &mut Scratch,
        corners: &mut Vec<u64>,
    ) -> Result<TransitionBounds, GraphError> {
        let axes = self.grid.axes.len();
        let conditions = self.atoms + usize::from(self.has_condition) + self.checks;
        let Scratch { known, next, .. } = scratch;
        known.clear();
        known.extend((0..conditions).map(|place| truth(result.range(axes + place))));
        if known.contains(&None) {
            let exact = enclose_slices(&own.truths, input)?;
            for (known, range) in known.iter_mut().zip(exact) {
                *known = known.or(truth(range));
            }
        }
        let mut bounds = TransitionBounds::default();
        for (atom, known) in known.iter().take(self.atoms).enumerate() {
            bounds.truths.yes |= u64::from(*known == Some(true)) << atom;
            bounds.truths.no |= u64::from(*known == Some(false)) << atom;
        }
        if known[conditions - self.checks..].iter().any(|known| *known != Some(true)) {
            bounds.errors.add(PossibleErrors::UNDEFINED);
        }
        bounds.allowed = if self.has_condition { known[self.atoms] } else { Some(true) };
        if bounds.allowed == Some(false) {
            return Ok(bounds);
        }
        debug_assert_eq!(bounds.truths.yes & bounds.truths.no, 0, "an atom both holds and fails");
        next.clear();
        next.extend((0..axes).map(|axis| result.range(axis)));
        let leaving = |next: &[Interval]| {
            let ends = next.iter().zip(&self.grid.axes).enumerate();
            let outside = ends.filter(|(_, (range, axis))| !(axis.lower <= range.lo && range.hi <= axis.upper));
            outside.fold(0u32, |bits, (axis, _)| bits | 1 << axis)
        };
        let touches = |next: &[Interval]| {
            let mut ends = next.iter().zip(&self.grid.axes).filter(|(_, axis)| !axis.integral);
            self.has_closed_cells() && ends.any(|(range, axis)| touches_a_cut(axis, (range.lo, range.hi), 0.0))
        };
        if is_part || leaving(next) != 0 || touches(next) {
            let exact = enclose_slices(&own.next, input)?;
            for (axis, (range, exact)) in next.iter_mut().zip(exact).enumerate() {
                *range = match range.intersection(exact) {
                    Some(common) => common,
                    // Where nothing has a value, anything encloses it.
                    None if bounds.errors.has(PossibleErrors::UNDEFINED) => *range,
                    None => return Err(self.crossed("two enclosures of a successor", axis, (*range, exact)).into()),
                };
            }
            bounds.leaving = leaving(next);
            if bounds.leaving != 0 {
                bounds.errors.add(PossibleErrors::RANGE);
            }
        }
        debug_assert!(
            !hash(key).is_multiple_of(CHECKED)
                || bounds.errors.has(PossibleErrors::UNDEFINED)
                || self.encloses_middle(own, input, next),
            "a sample of {} is not in the enclosure of its cell's successors",
            own.next.outputs().len()
        );
        // What is no integer is no state.
        for (range, axis) in next.iter_mut().zip(&self.grid.axes).filter(|(_, axis)| axis.integral) {
            (range.lo, range.hi) = axis.inside(range.lo, range.hi);
        }
        let outside =
            |(range, axis): (&Interval, &Axis)| range.lo > axis.upper || range.hi < axis.lower || range.lo > range.hi;
        if next.iter().zip(&self.grid.axes).any(outside) {
            return Ok(bounds);
        }
        bounds.goes_on = true;
        let first = corners.len();
        corners.resize(first + 2 * self.grid.words(), 0);
        let (low, high) = corners[first..].split_at_mut(self.grid.words());
        for (axis, range) in next.iter().enumerate() {
            let along = &self.grid.axes[axis];
            let (first, last) = match own.copies[axis] {
                Some(from) => self.grid.copied(key, from, axis),
                None => self.met(along, (range.lo.max(along.lower), range.hi.min(along.upper))),
            };
            debug_assert!(first <= last, "axis {axis}: a box from {first} to {last}");
            self.grid.pack_place(axis, first, low);
            self.grid.pack_place(axis, last, high);
        }
        Ok(bounds)
    }
}
