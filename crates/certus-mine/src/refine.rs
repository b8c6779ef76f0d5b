//! Refinement after Algorithm 1: redundant specifications are removed, and overlapping boxes merged where that fits better.
//!
//! A box inside another one that allows no more than it is *redundant*: it says nothing new. Two boxes that overlap are
//! *merged* into the smallest box around both, with the labels of both, if no reference loses support and the
//! confidence over all references rises. What is gained and lost is counted over the bins, whose rows are known.

use crate::mining::{BinBox, Mined};
use crate::outputs::OutputSet;
use crate::quality::Quality;
use crate::regions::Regions;

/// Removes what is redundant and merges what overlaps, the best merge first, until none is left. Returns how many boxes
/// went either way.
pub fn refine(mined: &mut Mined, regions: &Regions, most_outputs: usize) -> (usize, usize) {
    let before = mined.boxes.len();
    remove_redundant(&mut mined.boxes);
    let redundant = before - mined.boxes.len();
    let mut merged = 0;
    let mut fit = Fit::new(regions);
    while let Some((first, second)) = best_merge(&mined.boxes, &mut fit, most_outputs) {
        let hull = mined.boxes[first].hull(&mined.boxes[second]);
        mined.boxes.remove(second);
        mined.boxes[first] = hull;
        let count = mined.boxes.len();
        remove_redundant(&mut mined.boxes);
        merged += 1 + count - mined.boxes.len();
    }
    mined.boxes.sort();
    (redundant, merged)
}

fn implies(a: &BinBox, b: &BinBox) -> bool {
    a.allowed.is_within(b.allowed) && a.contains(&b.first) && a.contains(&b.last)
}

fn remove_redundant(boxes: &mut Vec<BinBox>) {
    let mut kept: Vec<BinBox> = Vec::new();
    for own in boxes.drain(..) {
        if kept.iter().any(|other| implies(other, &own)) {
            continue;
        }
        kept.retain(|other| !implies(&own, other));
        kept.push(own);
    }
    *boxes = kept;
}

/// Support and confidence of boxes over bins.
struct Fit<'a> {
    regions: &'a Regions,
    /// What is allowed in each bin at present.
    allowed: Vec<Option<OutputSet>>,
}

impl<'a> Fit<'a> {
    fn new(regions: &'a Regions) -> Self {
        Fit { regions, allowed: Vec::new() }
    }

    fn look(&mut self, boxes: &[BinBox]) {
        self.allowed = (0..self.regions.len()).map(|bin| allowed(boxes.iter(), self.regions.bin(bin))).collect();
    }

    /// What the bins of a box add to each reference's counts, given what is allowed in each.
    fn count(&self, within: &BinBox, allowed: impl Fn(usize) -> Option<OutputSet>) -> Vec<Quality> {
        let mut found = vec![Quality::default(); self.regions.references()];
        for bin in self.bins(within) {
            let own = allowed(bin);
            for (reference, quality) in found.iter_mut().enumerate() {
                for (label, &rows) in self.regions.counts(bin, reference).iter().enumerate() {
                    quality.count_rows(own, label, rows);
                }
            }
        }
        found
    }

    /// The bins of a box: they are sorted, so only those with a first coordinate in its range are looked at.
    fn bins<'b>(&'b self, within: &'b BinBox) -> impl Iterator<Item = usize> + 'b {
        let from = |limit: u32| {
            let (mut low, mut high) = (0, self.regions.len());
            while low < high {
                let middle = low + (high - low) / 2;
                if u32::from(self.regions.bin(middle)[0]) < limit { low = middle + 1 } else { high = middle }
            }
            low
        };
        let range = from(within.first[0].into())..from(u32::from(within.last[0]) + 1);
        range.filter(move |&bin| within.contains(self.regions.bin(bin)))
    }
}

fn allowed<'b>(boxes: impl Iterator<Item = &'b BinBox>, bin: &[u16]) -> Option<OutputSet> {
    boxes.filter(|own| own.contains(bin)).map(|own| own.allowed).reduce(OutputSet::intersection)
}

/// The merge that raises the confidence most.
fn best_merge(boxes: &[BinBox], fit: &mut Fit<'_>, most_outputs: usize) -> Option<(usize, usize)> {
    fit.look(boxes);
    let everything = BinBox {
        first: vec![0; fit.regions.dimensions()],
        last: vec![u16::MAX; fit.regions.dimensions()],
        allowed: OutputSet::default(),
    };
    let before = total(&fit.count(&everything, |bin| fit.allowed[bin]));
    let mut best: Option<(f64, (usize, usize))> = None;
    for second in 0..boxes.len() {
        for first in 0..second {
            if !boxes[first].overlaps(&boxes[second]) {
                continue;
            }
            let hull = boxes[first].hull(&boxes[second]);
            if hull.allowed.len() > most_outputs {
                continue;
            }
            let others: Vec<&BinBox> = (0..boxes.len())
                .filter(|&place| place != first && place != second)
                .map(|place| &boxes[place])
                .collect();
            let then = fit.count(&hull, |bin| {
                let rest = allowed(others.iter().copied(), fit.regions.bin(bin));
                Some(rest.map_or(hull.allowed, |rest| rest.intersection(hull.allowed)))
            });
            let now = fit.count(&hull, |bin| fit.allowed[bin]);
            if then.iter().zip(&now).any(|(then, now)| then.covered < now.covered) {
                continue;
            }
            let (then, now) = (total(&then), total(&now));
            let after = Quality {
                rows: before.rows,
                covered: before.covered - now.covered + then.covered,
                obeyed: before.obeyed - now.obeyed + then.obeyed,
            };
            let gain = after.confidence().unwrap_or(0.0) - before.confidence().unwrap_or(0.0);
            if gain > 0.0 && best.is_none_or(|(most, _)| gain > most) {
                best = Some((gain, (first, second)));
            }
        }
    }
    best.map(|(_, pair)| pair)
}

fn total(parts: &[Quality]) -> Quality {
    parts.iter().fold(Quality::default(), |sum, part| Quality {
        rows: sum.rows + part.rows,
        covered: sum.covered + part.covered,
        obeyed: sum.obeyed + part.obeyed,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn own(first: [u16; 1], last: [u16; 1], allowed: u64) -> BinBox {
        BinBox { first: first.into(), last: last.into(), allowed: OutputSet(allowed) }
    }

    #[test]
    fn what_follows_from_another_box_is_removed() {
        let mut boxes = vec![own([2], [3], 0b111), own([1], [5], 0b011), own([1], [5], 0b011), own([0], [5], 0b111)];
        remove_redundant(&mut boxes);
        // Allowing less on a smaller box follows from nothing else here.
        assert_eq!(boxes, [own([1], [5], 0b011), own([0], [5], 0b111)]);
    }
}
