//! What was seen in each bin: a group-by over all rows.
//!
//! Per bin, reference and label, how many rows; per bin and column, the least and the greatest value. That is all that
//! mining needs, so it can also be computed where the logs are ([`crate::sql`]) and read back from a table.

use std::collections::HashMap;
use std::path::Path;

use crate::MineError;
use crate::bins::Partition;
use crate::layout::Layout;
use crate::observations::Rows;
use crate::outputs::OutputSet;
use crate::table::{Cell, scan};

/// The statistics of all bins in which something was seen, in the order of their coordinates.
#[derive(Clone, Debug, PartialEq)]
pub struct Regions {
    /// How the columns are divided into bins.
    pub partition: Partition,
    /// How many columns, references, labels.
    columns: usize,
    references: usize,
    labels: usize,
    /// Coordinates, bin after bin.
    bins: Vec<u16>,
    /// Rows per bin, reference and label.
    counts: Vec<u64>,
    /// The range of each column per bin.
    seen: Vec<(f64, f64)>,
    /// Rows that lie in no bin, per reference.
    pub outside: Vec<u64>,
}

impl Regions {
    /// Coordinates per bin.
    pub fn dimensions(&self) -> usize {
        self.partition.ranges.len()
    }

    /// How many bins there are.
    pub fn len(&self) -> usize {
        self.bins.len() / self.dimensions().max(1)
    }

    /// Whether nothing was seen.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many references were observed.
    pub fn references(&self) -> usize {
        self.references
    }

    /// The coordinates of a bin.
    pub fn bin(&self, bin: usize) -> &[u16] {
        &self.bins[bin * self.dimensions()..][..self.dimensions()]
    }

    /// Rows per label that a reference has in a bin.
    pub fn counts(&self, bin: usize, reference: usize) -> &[u64] {
        &self.counts[(bin * self.references + reference) * self.labels..][..self.labels]
    }

    /// The range of a column in a bin.
    pub fn seen(&self, bin: usize, column: usize) -> (f64, f64) {
        self.seen[bin * self.columns + column]
    }

    /// The labels that a reference decided in a bin.
    pub fn decided(&self, bin: usize, reference: usize) -> OutputSet {
        let labels = self.counts(bin, reference).iter().enumerate().filter(|(_, count)| **count > 0);
        labels.fold(OutputSet::default(), |set, (label, _)| set.union(OutputSet::of(label)))
    }

    /// Rows of a reference in all bins, and outside.
    pub fn rows(&self, reference: usize) -> u64 {
        let inside: u64 = (0..self.len()).map(|bin| self.counts(bin, reference).iter().sum::<u64>()).sum();
        inside + self.outside[reference]
    }
}

/// Collects rows into bins.
pub struct Builder<'a> {
    layout: &'a Layout,
    mined: Vec<usize>,
    partition: Partition,
    references: usize,
    index: HashMap<Box<[u16]>, usize>,
    counts: Vec<u64>,
    seen: Vec<(f64, f64)>,
    outside: Vec<u64>,
    bin: Vec<u16>,
}

impl<'a> Builder<'a> {
    /// Nothing seen yet.
    pub fn new(layout: &'a Layout, partition: Partition, references: usize) -> Self {
        let mined = layout.mined();
        let bin = vec![0; mined.len()];
        Builder {
            layout,
            mined,
            partition,
            references,
            index: HashMap::new(),
            counts: Vec::new(),
            seen: Vec::new(),
            outside: vec![0; references],
            bin,
        }
    }

    /// Takes note of a row.
    pub fn push(&mut self, reference: usize, values: &[f64], label: usize) {
        if !self.partition.bin(self.mined.iter().map(|&column| values[column]), &mut self.bin) {
            self.outside[reference] += 1;
            return;
        }
        let place = self.place();
        self.count(place, reference, label, 1);
        for (range, &value) in self.seen[place * values.len()..][..values.len()].iter_mut().zip(values) {
            *range = (range.0.min(value), range.1.max(value));
        }
    }

    /// The number of the bin whose coordinates were last written.
    fn place(&mut self) -> usize {
        if let Some(&place) = self.index.get(self.bin.as_slice()) {
            return place;
        }
        let place = self.index.len();
        self.index.insert(self.bin.as_slice().into(), place);
        self.counts.resize(self.counts.len() + self.references * self.layout.outputs.labels.len(), 0);
        self.seen.resize(self.seen.len() + self.layout.columns.len(), (f64::INFINITY, f64::NEG_INFINITY));
        place
    }

    fn count(&mut self, place: usize, reference: usize, label: usize, rows: u64) {
        self.counts[(place * self.references + reference) * self.layout.outputs.labels.len() + label] += rows;
    }

    /// The statistics, with the bins in order.
    pub fn finish(self) -> Regions {
        let (columns, labels) = (self.layout.columns.len(), self.layout.outputs.labels.len());
        let mut order: Vec<(Box<[u16]>, usize)> = self.index.into_iter().collect();
        order.sort_unstable();
        let mut regions = Regions {
            partition: self.partition,
            columns,
            references: self.references,
            labels,
            bins: Vec::with_capacity(order.len() * self.mined.len()),
            counts: Vec::with_capacity(self.counts.len()),
            seen: Vec::with_capacity(self.seen.len()),
            outside: self.outside,
        };
        let width = self.references * labels;
        for (bin, place) in order {
            regions.bins.extend_from_slice(&bin);
            regions.counts.extend_from_slice(&self.counts[place * width..][..width]);
            regions.seen.extend_from_slice(&self.seen[place * columns..][..columns]);
        }
        regions
    }
}

/// The ranges to cut: as given, or what was seen in all references together, without the outermost share of the values
/// that `quantile` says.
pub fn ranges(layout: &Layout, rows: &mut [Rows], quantile: f64) -> Result<Vec<(f64, f64)>, MineError> {
    let mined = layout.mined();
    let wanted: Vec<usize> = mined.iter().copied().filter(|&column| layout.columns[column].range.is_none()).collect();
    let mut seen = vec![(f64::INFINITY, f64::NEG_INFINITY); wanted.len()];
    let mut samples = vec![Sample::default(); wanted.len()];
    if !wanted.is_empty() {
        for rows in rows.iter_mut() {
            rows.each(layout, &mut |values, _| {
                for ((&column, range), sample) in wanted.iter().zip(&mut seen).zip(&mut samples) {
                    let value = values[column];
                    *range = (range.0.min(value), range.1.max(value));
                    if quantile > 0.0 {
                        sample.push(value);
                    }
                }
                Ok(())
            })?;
        }
    }
    if quantile > 0.0 {
        for (range, sample) in seen.iter_mut().zip(samples) {
            *range = sample.between(quantile).unwrap_or(*range);
        }
    }
    let mut found = wanted.iter().zip(seen);
    let range = |&column: &usize| match layout.columns[column].range {
        Some(range) => Ok(range),
        None => match found.next() {
            Some((_, range)) if range.0 <= range.1 => Ok(range),
            _ => Err(MineError::new("no usable row to mine")),
        },
    };
    mined.iter().map(range).collect()
}

/// Values of a stream, evenly spread: all of them up to a limit, then every second, every fourth, and so on.
#[derive(Clone, Debug, Default)]
struct Sample {
    values: Vec<f64>,
    skip: u32,
    seen: u64,
}

impl Sample {
    const LIMIT: usize = 1 << 20;

    fn push(&mut self, value: f64) {
        if self.seen.is_multiple_of(1 << self.skip) {
            self.values.push(value);
        }
        self.seen += 1;
        if self.values.len() == Self::LIMIT {
            let mut keep = false;
            self.values.retain(|_| {
                keep = !keep;
                keep
            });
            self.skip += 1;
        }
    }

    fn between(mut self, quantile: f64) -> Option<(f64, f64)> {
        self.values.sort_unstable_by(f64::total_cmp);
        let last = self.values.len().checked_sub(1)?;
        let cut = (last as f64 * quantile) as usize;
        Some((self.values[cut], self.values[last - cut]))
    }
}

/// Collects the rows of all references into bins.
pub fn collect(layout: &Layout, rows: &mut [Rows], partition: Partition) -> Result<Regions, MineError> {
    let mut builder = Builder::new(layout, partition, rows.len());
    for (reference, rows) in rows.iter_mut().enumerate() {
        rows.each(layout, &mut |values, label| {
            builder.push(reference, values, label);
            Ok(())
        })?;
    }
    Ok(builder.finish())
}

/// The name of the column with the coordinate of a mined column, and with the least and greatest value of a column.
pub(crate) fn stored_names(layout: &Layout) -> (Vec<String>, Vec<(String, String)>) {
    let name = |column: usize| &layout.columns[column].column;
    let bins = layout.mined().into_iter().map(|column| format!("cell_{}", name(column))).collect();
    let ends =
        (0..layout.columns.len()).map(|column| (format!("min_{}", name(column)), format!("max_{}", name(column))));
    (bins, ends.collect())
}

/// Reads what the SQL of [`crate::sql`] gives. Ranges that are not in the configuration are those of the values seen,
/// as they are when mining from rows.
pub fn read(path: &Path, layout: &Layout, references: &[&str], parts: usize) -> Result<Regions, MineError> {
    let (bins, ends) = stored_names(layout);
    let mut names: Vec<&str> = vec!["reference", "output", "observations"];
    names.extend(bins.iter().map(String::as_str));
    names.extend(ends.iter().flat_map(|(low, high)| [low.as_str(), high.as_str()]));
    let unknown = Partition { parts, ranges: vec![(0.0, 0.0); bins.len()] };
    let mut builder = Builder::new(layout, unknown, references.len());
    let mut row = 0;
    scan(path, &names, &mut |values| {
        row += 1;
        let wrong =
            |what: &str, cell: &Cell<'_>| MineError::in_file(path, format!("row {row}: {cell:?} is not a {what}"));
        let number = |cell: &Cell<'_>| cell.number().filter(|number| number.is_finite());
        let reference = match values[0] {
            Cell::Text(text) => references.iter().position(|name| *name == text),
            _ => None,
        };
        let reference = reference.ok_or_else(|| wrong("reference of the configuration", &values[0]))?;
        let label = layout.outputs.label(&values[1]).ok_or_else(|| wrong("label", &values[1]))?;
        let count = number(&values[2]).filter(|count| *count >= 1.0 && count.fract() == 0.0 && *count < 1e15);
        let count = count.ok_or_else(|| wrong("count", &values[2]))? as u64;
        let (coordinates, seen) = values[3..].split_at(bins.len());
        if coordinates.contains(&Cell::Missing) {
            builder.outside[reference] += count;
            return Ok(());
        }
        for (place, cell) in builder.bin.iter_mut().zip(coordinates) {
            let part = number(cell).filter(|part| *part >= 0.0 && *part < parts as f64 && part.fract() == 0.0);
            *place = part.ok_or_else(|| wrong("part", cell))? as u16;
        }
        let place = builder.place();
        builder.count(place, reference, label, count);
        let width = layout.columns.len();
        for (range, ends) in builder.seen[place * width..][..width].iter_mut().zip(seen.chunks_exact(2)) {
            let low = number(&ends[0]).ok_or_else(|| wrong("number", &ends[0]))?;
            let high = number(&ends[1]).ok_or_else(|| wrong("number", &ends[1]))?;
            *range = (range.0.min(low), range.1.max(high));
        }
        Ok(())
    })?;
    let mut regions = builder.finish();
    for (dimension, &column) in layout.mined().iter().enumerate() {
        let seen = (0..regions.len()).map(|bin| regions.seen(bin, column));
        let range = seen.reduce(|all, own| (all.0.min(own.0), all.1.max(own.1)));
        let range = layout.columns[column].range.or(range);
        regions.partition.ranges[dimension] = range.ok_or_else(|| MineError::in_file(path, "no row to mine"))?;
    }
    Ok(regions)
}
