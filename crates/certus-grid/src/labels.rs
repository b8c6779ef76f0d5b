//! What the policy can do in units: the labels that it may choose, and the actions of an extracted one.

use certus_graph::GraphError;
use certus_solver::{OutputForms, Symbols};

use crate::expand::{Expander, Slices, columns, enclose_slices};
use crate::extract::Given;
use crate::lattice::{MOST_WORDS, Unit};

/// Differences of scores nearer to zero than this may be ties.
const TIED: f64 = 1e-9;

impl Expander<'_> {
    /// Labels of single units that their blocks left open, as bits: bounds cost less than asking an extracted policy.
    pub(crate) fn sure(&self, keys: &[u64], labels: &mut [u32]) {
        // Where a policy gives numbers as well, it is asked in any case.
        let Some(coarse) = self.coarse.as_ref().filter(|_| self.moves.outputs == 0) else { return };
        let off = coarse.scores;
        let (words, largest) = (self.lattice.words(), self.moves.largest.len());
        // Only within a unit of its own width is a label the same for all.
        let units = labels.chunks_exact(largest.max(1)).zip(keys.chunks_exact(words)).enumerate();
        let open = units.filter(|(_, (labels, key))| labels[0] == 0 && !self.lattice.is_wide(key));
        let open: Vec<usize> = open.map(|(unit, _)| unit).collect();
        if open.is_empty() {
            return;
        }
        let whole = |unit: &usize| {
            let own = self.own_unit(&keys[unit * words..(unit + 1) * words]);
            let mut key = [0; MOST_WORDS];
            self.lattice.pack(&own.places, &own.levels, &mut key);
            key
        };
        let whole: Vec<u64> = open.iter().flat_map(|unit| whole(unit).into_iter().take(words)).collect();
        let (lower, upper) = self.boxes(&whole);
        let found = self.possible(&lower, &upper, open.len(), off);
        for (unit, found) in open.iter().zip(found.chunks_exact(largest.max(1))) {
            if found.iter().all(|labels| labels.count_ones() == 1) {
                labels[unit * largest..(unit + 1) * largest].copy_from_slice(found);
            }
        }
    }

    /// The unit of an extracted policy that a unit is a part of.
    pub(crate) fn own_unit(&self, key: &[u64]) -> Unit {
        let axes = self.lattice.axes.iter().enumerate();
        Unit {
            places: axes.map(|(axis, own)| own.own_place(self.lattice.unpack(key, axis).0)).collect(),
            levels: self.lattice.axes.iter().map(|own| own.grain).collect(),
        }
    }

    /// Ends of the boxes in which an extracted policy is asked for its actions in some units: where a unit is narrower than the policy's own, all
    /// of that one.
    pub(crate) fn asked_boxes(&self, keys: &[u64]) -> (Vec<f64>, Vec<f64>) {
        let mut whole = vec![0; keys.len()];
        for (key, whole) in keys.chunks_exact(self.lattice.words()).zip(whole.chunks_exact_mut(self.lattice.words())) {
            let Unit { mut places, mut levels } = self.lattice.unit(key);
            for (axis, own) in self.lattice.axes.iter().enumerate() {
                if levels[axis] > own.grain {
                    (places[axis], levels[axis]) = (own.own_place(places[axis]), own.grain);
                }
            }
            self.lattice.pack(&places, &levels, whole);
        }
        self.boxes(&whole)
    }

    /// What an extracted policy does in some units: as in the unit of its own that each is a part of; nothing where units are wider.
    pub(crate) fn given(&self, keys: &[u64]) -> Result<Option<Vec<Option<Given>>>, GraphError> {
        let Some(extraction) = &self.extraction else { return Ok(None) };
        let keys = keys.chunks_exact(self.lattice.words());
        let wide: Vec<bool> = keys.clone().map(|key| self.lattice.is_wide(key)).collect();
        let units: Vec<Unit> = keys.zip(&wide).filter(|(_, wide)| !**wide).map(|(key, _)| self.own_unit(key)).collect();
        let mut found = Vec::with_capacity(units.len());
        for units in units.chunks(self.asked_at_once) {
            found.extend(extraction.actions(self.lattice, units)?);
        }
        let mut found = found.into_iter();
        Ok(Some(wide.into_iter().map(|wide| if wide { None } else { found.next() }).collect()))
    }

    /// The labels that an extracted policy can choose in each unit, as bits.
    pub(crate) fn labels(&self, keys: &[u64], given: &[Option<Given>]) -> Vec<u32> {
        let words = self.lattice.words();
        let wide: Vec<usize> = (0..given.len()).filter(|&unit| given[unit].is_none()).collect();
        let keys: Vec<u64> = wide.iter().flat_map(|unit| &keys[unit * words..(unit + 1) * words]).copied().collect();
        let scores = self.coarse.as_ref().map_or(0.0, |coarse| coarse.scores);
        let (lower, upper) = self.asked_boxes(&keys);
        let found = if wide.is_empty() { Vec::new() } else { self.possible(&lower, &upper, wide.len(), scores) };
        let mut found = found.chunks_exact(self.moves.largest.len().max(1));
        let mut all = Vec::with_capacity(given.len() * self.moves.largest.len());
        for given in given {
            match given {
                Some(given) => all.extend(given.labels.iter().map(|&label| 1u32 << label)),
                None => all.extend_from_slice(found.next().unwrap_or(&[])),
            }
        }
        all
    }

    /// For each unit and each action by the largest score, the labels that can be chosen if scores are off by so much, as bits.
    pub(crate) fn possible(&self, lower: &[f64], upper: &[f64], count: usize, off: f64) -> Vec<u32> {
        self.possible_in(lower, upper, count, (off, Symbols::None))
    }

    /// The same for boxes of many units, for which intervals alone say little.
    pub(crate) fn possible_in_blocks(&self, lower: &[f64], upper: &[f64], count: usize, off: f64) -> Vec<u32> {
        self.possible_in(lower, upper, count, (off, Symbols::Inputs(self.symbols)))
    }

    fn possible_in(&self, lower: &[f64], upper: &[f64], count: usize, how: (f64, Symbols)) -> Vec<u32> {
        if count <= self.asked_at_once {
            return self.possible_at_once(lower, upper, count, how);
        }
        let all: Vec<usize> = (0..count).collect();
        let pieces = all.chunks(self.asked_at_once).flat_map(|units| {
            let (low, high) = (columns(lower, units, count), columns(upper, units, count));
            self.possible_at_once(&low, &high, units.len(), how)
        });
        pieces.collect()
    }

    fn possible_at_once(&self, lower: &[f64], upper: &[f64], count: usize, (off, first): (f64, Symbols)) -> Vec<u32> {
        let Some(differences) = &self.differences else {
            return vec![1; self.moves.largest.len() * count];
        };
        let with_labels = |ends: &[f64], fill: f64, picks: Option<&[usize]>| -> Vec<f64> {
            let mut table: Vec<f64> = match picks {
                None => ends.to_vec(),
                Some(picks) => {
                    ends.chunks_exact(count).flat_map(|row| picks.iter().map(move |&unit| row[unit])).collect()
                }
            };
            table.extend(std::iter::repeat_n(fill, self.one_hots * picks.map_or(count, <[usize]>::len)));
            table
        };
        let low = with_labels(lower, 0.0, None);
        let high = with_labels(upper, 1.0, None);
        let OutputForms { lower: mut below, upper: mut above, .. } = differences.enclose(&low, &high, count, first);
        let largest = self.moves.largest.len();
        let read = |below: &[f64], above: &[f64], unit: usize, kept: &mut [u32]| {
            for (kept, &(choice, begin)) in kept.iter_mut().zip(&self.moves.largest) {
                let labels = self.moves.labels[choice];
                *kept = (1u32 << labels) - 1;
                let mut at = begin * count + unit;
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
        for (unit, kept) in kept.chunks_exact_mut(largest.max(1)).enumerate() {
            read(&below, &above, unit, kept);
            if kept.iter().any(|labels| labels.count_ones() > 1) {
                open.push(unit);
            }
        }
        if first == Symbols::None && !open.is_empty() {
            let low = with_labels(lower, 0.0, Some(&open));
            let high = with_labels(upper, 1.0, Some(&open));
            let tight = differences.enclose(&low, &high, open.len(), Symbols::Inputs(self.symbols));
            for row in 0..differences.outputs() {
                for (place, &unit) in open.iter().enumerate() {
                    below[row * count + unit] = tight.lower[row * open.len() + place];
                    above[row * count + unit] = tight.upper[row * open.len() + place];
                }
            }
            for &unit in &open {
                read(&below, &above, unit, &mut kept[unit * largest..(unit + 1) * largest]);
            }
            self.break_ties((&low, &high), &open, (&mut below, &mut above), count);
            for &unit in &open {
                read(&below, &above, unit, &mut kept[unit * largest..(unit + 1) * largest]);
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
        let Some(graph) = &self.moves.differences else { return };
        let rows = below.len() / count;
        for (place, &unit) in open.iter().enumerate() {
            let is_tied = |row: usize| {
                let (low, high) = (below[row * count + unit], above[row * count + unit]);
                -TIED < low && high < TIED
            };
            if !(0..rows).any(is_tied) {
                continue;
            }
            // What cannot be enclosed stays as it is.
            let Ok(exact) = enclose_slices(graph, Slices { low, high, count: open.len(), place }) else { continue };
            for (row, range) in exact.into_iter().enumerate() {
                let at = row * count + unit;
                (below[at], above[at]) = (range.lo, range.hi);
            }
        }
    }
}
