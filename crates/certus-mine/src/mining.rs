//! Mining: from statistics of bins to specifications.
//!
//! Algorithm 1 of SpecTRA (I. Chaudhary, S. Lin, C. Tan and G. Singh).
//!
//! 1. A bin is *important* for a reference that has enough rows in it, and *interesting* if it is important for every
//!    reference and the labels decided there are not all labels.
//! 2. For every set Ω of labels, small ones first: the interesting bins in which nothing outside of Ω was decided are
//!    clustered by density (`dbscan`). A cluster's bounding box is a precondition, what was decided in it the postcondition.
//! 3. Equal boxes are merged, with the labels of both.
//!
//! *Departure.* Sets Ω that select the same bins give the same clusters, so each selection is clustered once.

use std::collections::{BTreeMap, HashSet};
use std::num::NonZeroUsize;

use certus_numerics::parallel;

use crate::config::Settings;
use crate::dbscan::Neighbourhoods;
use crate::layout::Layout;
use crate::outputs::OutputSet;
use crate::regions::Regions;
use crate::{Bound, MineError, Specification};

/// More sets of labels than this are refused.
const MOST_SETS: usize = 1 << 20;

/// A box of bins and what is allowed in it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct BinBox {
    /// The first part in each dimension.
    pub first: Vec<u16>,
    /// The last part in each dimension.
    pub last: Vec<u16>,
    /// The labels.
    pub allowed: OutputSet,
}

impl BinBox {
    /// Whether a bin lies in it.
    pub fn contains(&self, bin: &[u16]) -> bool {
        bin.iter().zip(self.first.iter().zip(&self.last)).all(|(x, (first, last))| first <= x && x <= last)
    }

    /// The smallest box around two, with the labels of both.
    pub fn hull(&self, other: &BinBox) -> BinBox {
        let merge =
            |a: &[u16], b: &[u16], pick: fn(u16, u16) -> u16| a.iter().zip(b).map(|(&x, &y)| pick(x, y)).collect();
        BinBox {
            first: merge(&self.first, &other.first, u16::min),
            last: merge(&self.last, &other.last, u16::max),
            allowed: self.allowed.union(other.allowed),
        }
    }

    /// Whether two boxes have a bin in common.
    pub fn overlaps(&self, other: &BinBox) -> bool {
        let ends = self.first.iter().zip(&self.last).zip(other.first.iter().zip(&other.last));
        ends.into_iter().all(|((a, b), (c, d))| a <= d && c <= b)
    }
}

/// What mining found.
#[derive(Clone, Debug, PartialEq)]
pub struct Mined {
    /// Bins that are important for every reference.
    pub common: usize,
    /// Those that are interesting.
    pub interesting: usize,
    /// How many bins a core point has around it: m.
    pub least: u32,
    /// How far around: ε.
    pub radius: u16,
    /// The boxes, in order.
    pub boxes: Vec<BinBox>,
    /// The share of the interesting bins that lie in some box.
    pub coverage: f64,
    /// Per box, the share of the interesting bins that lie in it.
    pub representation: Vec<f64>,
}

/// Mines statistics.
pub fn mine(regions: &Regions, settings: &Settings, labels: usize, threads: usize) -> Result<Mined, MineError> {
    let dimensions = NonZeroUsize::new(regions.dimensions()).ok_or_else(|| MineError::new("no column is mined"))?;
    let (common, interesting) = interesting(regions, labels);
    let least = (settings.representation * interesting.len() as f64).max(10.0).floor();
    let radius = ((least.powf(1.0 / dimensions.get() as f64) - 1.0) / 2.0).ceil();
    let (least, radius) = (least as u32, radius as u16);
    let mut mined = Mined {
        common,
        interesting: interesting.len(),
        least,
        radius,
        boxes: Vec::new(),
        coverage: 0.0,
        representation: Vec::new(),
    };
    if interesting.is_empty() {
        return Ok(mined);
    }
    let coordinates: Vec<u16> = interesting.iter().flat_map(|&(bin, _)| regions.bin(bin)).copied().collect();
    let decided: Vec<OutputSet> = interesting.iter().map(|&(_, decided)| decided).collect();
    let mut classes: Vec<OutputSet> = decided.clone();
    classes.sort_unstable();
    classes.dedup();
    let class: Vec<u32> =
        decided.iter().map(|set| classes.binary_search(set).map_or(0, |place| place as u32)).collect();
    let neighbourhoods = Neighbourhoods::new(dimensions, &coordinates, radius);
    let counts = neighbourhoods.count(&class, classes.len(), threads);

    let selections = selections(&classes, labels, settings.most_outputs)?;
    let cluster = |selected: &Vec<bool>| {
        let members = class.iter().filter(|&&class| selected[class as usize]).count();
        if members < least as usize {
            return Vec::new();
        }
        let around = |point: usize| -> u32 {
            let own = &counts[point * classes.len()..][..classes.len()];
            own.iter().zip(selected).filter(|(_, selected)| **selected).map(|(count, _)| count).sum()
        };
        let cores: Vec<bool> =
            (0..class.len()).map(|point| selected[class[point] as usize] && around(point) >= least).collect();
        let found = neighbourhoods.clusters(&|point| selected[class[point] as usize], &|point| cores[point]);
        boxes(&found, &decided, &coordinates, dimensions.get())
    };
    let found = parallel::map(&selections, threads, cluster);

    // Early stopping looks at the sets in their order, whatever order they were worked on.
    let mut covered = vec![false; interesting.len()];
    let bin = |point: usize| &coordinates[point * dimensions.get()..][..dimensions.get()];
    let mut merged: BTreeMap<(Vec<u16>, Vec<u16>), OutputSet> = BTreeMap::new();
    for found in found {
        for BinBox { first, last, allowed } in found {
            let known = merged.entry((first, last)).or_default();
            *known = known.union(allowed);
        }
        if let Some(enough) = settings.coverage {
            for (point, covered) in covered.iter_mut().enumerate().filter(|(_, covered)| !**covered) {
                let inside = |(first, last): &(Vec<u16>, Vec<u16>)| {
                    bin(point).iter().zip(first.iter().zip(last)).all(|(x, (a, b))| a <= x && x <= b)
                };
                *covered = merged.keys().any(inside);
            }
            let share = covered.iter().filter(|covered| **covered).count() as f64 / interesting.len() as f64;
            if share >= enough {
                break;
            }
        }
    }
    let boxes = merged.into_iter().filter(|(_, allowed)| allowed.len() <= settings.most_outputs);
    mined.boxes = boxes.map(|((first, last), allowed)| BinBox { first, last, allowed }).collect();
    mined.measure(&coordinates, dimensions.get());
    Ok(mined)
}

impl Mined {
    /// Fills in coverage and representation, given the coordinates of the interesting bins.
    fn measure(&mut self, coordinates: &[u16], dimensions: usize) {
        let mut inside = vec![0u64; self.boxes.len()];
        let mut covered = 0u64;
        for bin in coordinates.chunks_exact(dimensions) {
            let mut any = false;
            for (own, count) in self.boxes.iter().zip(&mut inside) {
                if own.contains(bin) {
                    *count += 1;
                    any = true;
                }
            }
            covered += u64::from(any);
        }
        let all = self.interesting.max(1) as f64;
        self.coverage = covered as f64 / all;
        self.representation = inside.iter().map(|&count| count as f64 / all).collect();
    }

    /// Measures the boxes again after they were changed.
    pub fn remeasure(&mut self, regions: &Regions, labels: usize) {
        let (_, interesting) = interesting(regions, labels);
        let coordinates: Vec<u16> = interesting.iter().flat_map(|&(bin, _)| regions.bin(bin)).copied().collect();
        self.measure(&coordinates, regions.dimensions().max(1));
    }

    /// The boxes as specifications in the numbers of the columns, rounded if the settings say so.
    pub fn specifications(&self, regions: &Regions, layout: &Layout, settings: &Settings) -> Vec<Specification> {
        let mined = layout.mined();
        let others = layout.others();
        let round = |value: f64| rounded(value, settings.decimals);
        let specification = |own: &BinBox| {
            let bounds = mined.iter().enumerate().map(|(dimension, &column)| {
                let (low, high) = regions.partition.interval(dimension, own.first[dimension], own.last[dimension]);
                Bound { column, low: round(low), high: round(high) }
            });
            let inside: Vec<usize> = (0..regions.len()).filter(|&bin| own.contains(regions.bin(bin))).collect();
            let observed = others.iter().map(|&column| {
                let seen = inside.iter().map(|&bin| regions.seen(bin, column));
                let (low, high) =
                    seen.fold((f64::INFINITY, f64::NEG_INFINITY), |all, own| (all.0.min(own.0), all.1.max(own.1)));
                Bound { column, low: round(low), high: round(high) }
            });
            Specification { bounds: bounds.collect(), allowed: own.allowed, observed: observed.collect() }
        };
        self.boxes.iter().map(specification).collect()
    }
}

/// A number rounded to so many decimals, to the nearest.
pub fn rounded(value: f64, decimals: Option<u32>) -> f64 {
    match decimals {
        // By way of the text: the nearest double of the decimal that a person would write.
        Some(decimals) => format!("{value:.*}", decimals as usize).parse().unwrap_or(value),
        None => value,
    }
}

/// How many bins are important for all references, and the interesting ones among them with what was decided there.
fn interesting(regions: &Regions, labels: usize) -> (usize, Vec<(usize, OutputSet)>) {
    let bins = (regions.partition.parts as f64).powi(regions.dimensions() as i32);
    let enough: Vec<f64> =
        (0..regions.references()).map(|reference| (regions.rows(reference) as f64 / bins).max(1.0)).collect();
    let mut common = 0;
    let mut found = Vec::new();
    for bin in 0..regions.len() {
        let important =
            |reference: usize| regions.counts(bin, reference).iter().sum::<u64>() as f64 >= enough[reference];
        if !(0..regions.references()).all(important) {
            continue;
        }
        common += 1;
        let decided = (0..regions.references())
            .fold(OutputSet::default(), |set, reference| set.union(regions.decided(bin, reference)));
        if decided != OutputSet::all(labels) {
            found.push((bin, decided));
        }
    }
    (common, found)
}

/// For each set of at most so many labels, by size and then in order: the classes within it, each selection once.
fn selections(classes: &[OutputSet], labels: usize, most: usize) -> Result<Vec<Vec<bool>>, MineError> {
    let mut known = HashSet::new();
    let mut selections = Vec::new();
    let mut sets = 0;
    for size in 1..=most.min(labels.saturating_sub(1)) {
        let mut chosen: Vec<usize> = (0..size).collect();
        loop {
            sets += 1;
            if sets > MOST_SETS {
                let message = format!("there are more than {MOST_SETS} sets of {most} labels: lower `most_outputs`");
                return Err(MineError::new(message));
            }
            let omega = chosen.iter().fold(OutputSet::default(), |set, &label| set.union(OutputSet::of(label)));
            let selected: Vec<bool> = classes.iter().map(|class| class.is_within(omega)).collect();
            if selected.contains(&true) && known.insert(selected.clone()) {
                selections.push(selected);
            }
            // The next combination in lexicographic order.
            let Some(place) = (0..size).rev().find(|&place| chosen[place] < labels - size + place) else { break };
            chosen[place] += 1;
            for after in place + 1..size {
                chosen[after] = chosen[after - 1] + 1;
            }
        }
    }
    Ok(selections)
}

/// The bounding box of each cluster, with what was decided in its bins.
fn boxes(clusters: &[Option<u32>], decided: &[OutputSet], coordinates: &[u16], dimensions: usize) -> Vec<BinBox> {
    let mut boxes: Vec<BinBox> = Vec::new();
    for (point, cluster) in clusters.iter().enumerate() {
        let Some(cluster) = cluster.map(|cluster| cluster as usize) else { continue };
        let bin = &coordinates[point * dimensions..][..dimensions];
        let own = BinBox { first: bin.to_vec(), last: bin.to_vec(), allowed: decided[point] };
        while boxes.len() <= cluster {
            // Filled by the cluster's first point.
            boxes.push(BinBox { first: Vec::new(), last: Vec::new(), allowed: OutputSet::default() });
        }
        boxes[cluster] = if boxes[cluster].first.is_empty() { own } else { boxes[cluster].hull(&own) };
    }
    boxes
}
