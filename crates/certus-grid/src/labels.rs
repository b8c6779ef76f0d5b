//! The labels that an argmax action may choose in cells, and the actions of an extracted policy.
//!
//! A label is possible in a cell unless the bounds of a score difference exclude it everywhere; the first label of equals wins, as in the semantics. Differences are bounded, not scores, since the
//! dependence on the state cancels.

use certus_graph::GraphError;
use certus_solver::{OutputForms, Symbols};

use crate::expand::{Expander, Slices, columns, enclose_slices};
use crate::extract::ExtractedAction;
use crate::grid::{Cell, MOST_WORDS};

/// Score differences nearer to zero than this may be ties.
const TIED: f64 = 1e-9;

impl Expander<'_> {
    /// Labels of single cells that their blocks left open, as bits: bounding costs less than sampling an extracted policy.
    pub(crate) fn certain_labels(&self, keys: &[u64], labels: &mut [u32]) {
        // A policy that also has numeric outputs is sampled in any case.
        let Some(bounds) = self.policy_bounds.as_ref().filter(|_| self.relation.outputs == 0) else { return };
        let off = bounds.scores;
        let (words, largest) = (self.grid.words(), self.relation.argmax.len());
        // Only within a cell of its own width is a label the same for all.
        let cells = labels.chunks_exact(largest.max(1)).zip(keys.chunks_exact(words)).enumerate();
        let open = cells.filter(|(_, (labels, key))| labels[0] == 0 && !self.grid.is_wide(key));
        let open: Vec<usize> = open.map(|(cell, _)| cell).collect();
        if open.is_empty() {
            return;
        }
        let whole = |cell: &usize| {
            let own = self.policy_cell(&keys[cell * words..(cell + 1) * words]);
            let mut key = [0; MOST_WORDS];
            self.grid.pack(&own.places, &own.levels, &mut key);
            key
        };
        let whole: Vec<u64> = open.iter().flat_map(|cell| whole(cell).into_iter().take(words)).collect();
        let (lower, upper) = self.boxes(&whole);
        let found = self.possible(&lower, &upper, open.len(), off);
        for (cell, found) in open.iter().zip(found.chunks_exact(largest.max(1))) {
            if found.iter().all(|labels| labels.count_ones() == 1) {
                labels[cell * largest..(cell + 1) * largest].copy_from_slice(found);
            }
        }
    }

    /// The cell of an extracted policy that a cell is a part of.
    pub(crate) fn policy_cell(&self, key: &[u64]) -> Cell {
        let axes = self.grid.axes.iter().enumerate();
        Cell {
            places: axes.map(|(axis, own)| own.requested_place(self.grid.unpack(key, axis).0)).collect(),
            levels: self.grid.axes.iter().map(|own| own.coarsening).collect(),
        }
    }

    /// The boxes over which an extracted policy is bounded for some cells: a cell narrower than the policy's is widened to that one.
    pub(crate) fn asked_boxes(&self, keys: &[u64]) -> (Vec<f64>, Vec<f64>) {
        let mut whole = vec![0; keys.len()];
        for (key, whole) in keys.chunks_exact(self.grid.words()).zip(whole.chunks_exact_mut(self.grid.words())) {
            let Cell { mut places, mut levels } = self.grid.cell(key);
            for (axis, own) in self.grid.axes.iter().enumerate() {
                if levels[axis] > own.coarsening {
                    (places[axis], levels[axis]) = (own.requested_place(places[axis]), own.coarsening);
                }
            }
            self.grid.pack(&places, &levels, whole);
        }
        self.boxes(&whole)
    }

    /// The actions of an extracted policy in some cells: those of the policy's cell that each is a part of; nothing where cells are wider.
    pub(crate) fn given(&self, keys: &[u64]) -> Result<Option<Vec<Option<ExtractedAction>>>, GraphError> {
        let Some(extraction) = &self.extraction else { return Ok(None) };
        let keys = keys.chunks_exact(self.grid.words());
        let wide: Vec<bool> = keys.clone().map(|key| self.grid.is_wide(key)).collect();
        let cells: Vec<Cell> =
            keys.zip(&wide).filter(|(_, wide)| !**wide).map(|(key, _)| self.policy_cell(key)).collect();
        let mut found = Vec::with_capacity(cells.len());
        for cells in cells.chunks(self.asked_at_once) {
            found.extend(extraction.actions(self.grid, cells)?);
        }
        let mut found = found.into_iter();
        Ok(Some(wide.into_iter().map(|wide| if wide { None } else { found.next() }).collect()))
    }

    /// The labels that an extracted policy can choose in each cell, as bits.
    pub(crate) fn labels(&self, keys: &[u64], given: &[Option<ExtractedAction>]) -> Vec<u32> {
        let words = self.grid.words();
        let wide: Vec<usize> = (0..given.len()).filter(|&cell| given[cell].is_none()).collect();
        let keys: Vec<u64> = wide.iter().flat_map(|cell| &keys[cell * words..(cell + 1) * words]).copied().collect();
        let scores = self.policy_bounds.as_ref().map_or(0.0, |bounds| bounds.scores);
        let (lower, upper) = self.asked_boxes(&keys);
        let found = if wide.is_empty() { Vec::new() } else { self.possible(&lower, &upper, wide.len(), scores) };
        let mut found = found.chunks_exact(self.relation.argmax.len().max(1));
        let mut all = Vec::with_capacity(given.len() * self.relation.argmax.len());
        for given in given {
            match given {
                Some(given) => all.extend(given.labels.iter().map(|&label| 1u32 << label)),
                None => all.extend_from_slice(found.next().unwrap_or(&[])),
            }
        }
        all
    }

    /// For each cell and each action by the largest score, the labels that can be chosen if scores are off by so much, as bits.
    pub(crate) fn possible(&self, lower: &[f64], upper: &[f64], count: usize, off: f64) -> Vec<u32> {
        self.possible_in(lower, upper, count, (off, Symbols::None))
    }

    /// The same for boxes of many cells, for which intervals alone say little.
    pub(crate) fn possible_in_blocks(&self, lower: &[f64], upper: &[f64], count: usize, off: f64) -> Vec<u32> {
        self.possible_in(lower, upper, count, (off, Symbols::Inputs(self.symbols)))
    }

    fn possible_in(&self, lower: &[f64], upper: &[f64], count: usize, how: (f64, Symbols)) -> Vec<u32> {
        if count <= self.asked_at_once {
            return self.possible_at_once(lower, upper, count, how);
        }
        let all: Vec<usize> = (0..count).collect();
        let pieces = all.chunks(self.asked_at_once).flat_map(|cells| {
            let (low, high) = (columns(lower, cells, count), columns(upper, cells, count));
            self.possible_at_once(&low, &high, cells.len(), how)
        });
        pieces.collect()
    }

    fn possible_at_once(&self, lower: &[f64], upper: &[f64], count: usize, (off, first): (f64, Symbols)) -> Vec<u32> {
        let Some(differences) = &self.score_differences else {
            return vec![1; self.relation.argmax.len() * count];
        };
        let with_labels = |ends: &[f64], fill: f64, picks: Option<&[usize]>| -> Vec<f64> {
            let mut table: Vec<f64> = match picks {
                None => ends.to_vec(),
                Some(picks) => {
                    ends.chunks_exact(count).flat_map(|row| picks.iter().map(move |&cell| row[cell])).collect()
                }
            };
            table.extend(std::iter::repeat_n(fill, self.one_hots * picks.map_or(count, <[usize]>::len)));
            table
        };
        let low = with_labels(lower, 0.0, None);
        let high = with_labels(upper, 1.0, None);
        let OutputForms { lower: mut below, upper: mut above, .. } = differences.enclose(&low, &high, count, first);
        let largest = self.relation.argmax.len();
        let read = |below: &[f64], above: &[f64], cell: usize, kept: &mut [u32]| {
            for (kept, &(choice, begin)) in kept.iter_mut().zip(&self.relation.argmax) {
                let labels = self.relation.labels[choice];
                *kept = (1u32 << labels) - 1;
                let mut at = begin * count + cell;
                for (i, j) in (0..labels).flat_map(|i| (i + 1..labels).map(move |j| (i, j))) {
                    // The first label of equals is chosen.
                    if above[at] < -off {
                        *kept &= !(1 << i);
                    }
                    if below[at] > off || (off == 0.0 && below[at] == 0.0) {
                        *kept &= !(1 << j);
                    }
                    at += count;
                }
            }
        };
        let mut kept = vec![0; largest * count];
        let mut open = Vec::new();
        for (cell, kept) in kept.chunks_exact_mut(largest.max(1)).enumerate() {
            read(&below, &above, cell, kept);
            if kept.iter().any(|labels| labels.count_ones() > 1) {
                open.push(cell);
            }
        }
        if first == Symbols::None && !open.is_empty() {
            let low = with_labels(lower, 0.0, Some(&open));
            let high = with_labels(upper, 1.0, Some(&open));
            let tight = differences.enclose(&low, &high, open.len(), Symbols::Inputs(self.symbols));
            for row in 0..differences.outputs() {
                for (place, &cell) in open.iter().enumerate() {
                    below[row * count + cell] = tight.lower[row * open.len() + place];
                    above[row * count + cell] = tight.upper[row * open.len() + place];
                }
            }
            for &cell in &open {
                read(&below, &above, cell, &mut kept[cell * largest..(cell + 1) * largest]);
            }
            self.break_ties((&low, &high), &open, (&mut below, &mut above), count);
            for &cell in &open {
                read(&below, &above, cell, &mut kept[cell * largest..(cell + 1) * largest]);
            }
        }
        kept
    }

    /// Encloses differences of scores that are as good as zero operator by operator, which is exact where nothing is rounded: on ties the first label wins.
    fn break_ties(
        &self,
        (low, high): (&[f64], &[f64]),
        open: &[usize],
        (below, above): (&mut [f64], &mut [f64]),
        count: usize,
    ) {
        let Some(graph) = &self.relation.score_differences else { return };
        let rows = below.len() / count;
        for (place, &cell) in open.iter().enumerate() {
            let is_tied = |row: usize| {
                let (low, high) = (below[row * count + cell], above[row * count + cell]);
                -TIED < low && high < TIED
            };
            if !(0..rows).any(is_tied) {
                continue;
            }
            // What cannot be enclosed stays as it is.
            let Ok(exact) = enclose_slices(graph, Slices { low, high, count: open.len(), place }) else { continue };
            for (row, range) in exact.into_iter().enumerate() {
                let at = row * count + cell;
                (below[at], above[at]) = (range.lo, range.hi);
            }
        }
    }
}
