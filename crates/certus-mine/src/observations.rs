//! Observations: rows of numbers and the label that was decided, with a count of everything that was wrong.
//!
//! Tables that are small enough are read once and kept; others are read anew whenever they are looked at. Both give the
//! same rows in the same order.

use std::path::{Path, PathBuf};

use crate::MineError;
use crate::config::Source;
use crate::layout::Layout;
use crate::table::{Cell, scan};

/// Tables are kept in memory up to so many bytes of files in all.
const KEPT: u64 = 512 << 20;

/// How many values of a column were not usable, and why.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Faults {
    /// Nothing was there.
    pub missing: u64,
    /// Something was there that is no (finite) number, or no label.
    pub not_a_number: u64,
    /// A number outside of what is valid.
    pub out_of_range: u64,
}

impl Faults {
    /// All of them.
    pub fn total(&self) -> u64 {
        self.missing + self.not_a_number + self.out_of_range
    }
}

/// What was read from some tables.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Rows in the tables.
    pub rows: u64,
    /// Rows in which every value can be used. The others are left out.
    pub used: u64,
    /// Per column of the layout, and for the label at the end.
    pub faults: Vec<Faults>,
}

/// What is called with the values and the label of each row; an error ends the reading.
pub type VisitRow<'a> = dyn FnMut(&[f64], usize) -> Result<(), MineError> + 'a;

/// Rows of one algorithm.
#[derive(Clone, Debug)]
pub struct Rows {
    /// Whose they are.
    pub name: String,
    files: Vec<PathBuf>,
    kept: Option<Kept>,
    /// What was read.
    pub tally: Tally,
    held_out: Option<HeldOut>,
}

#[derive(Clone, Debug, Default)]
struct Kept {
    values: Vec<f64>,
    labels: Vec<u8>,
}

/// Which rows of a table are looked at, where a part is held out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeldOut {
    /// All but the held-out ones.
    Without,
    /// Only the held-out ones.
    Only,
}

/// Rows that follow each other are alike, so blocks of so many are held out, one of five.
const BLOCK: u64 = 200;
const OF: u64 = 5;

impl HeldOut {
    fn takes(self, row: u64) -> bool {
        (row / BLOCK % OF == OF - 1) == (self == HeldOut::Only)
    }
}

impl Rows {
    /// Reads the tables once: to count, and to keep them if they are small.
    pub fn read(name: &str, files: &[PathBuf], layout: &Layout) -> Result<Rows, MineError> {
        let size: u64 = files.iter().map(|file| std::fs::metadata(file).map_or(0, |data| data.len())).sum();
        Rows::read_keeping(name, files, layout, size <= KEPT)
    }

    /// The same, told whether to keep them.
    pub fn read_keeping(name: &str, files: &[PathBuf], layout: &Layout, keep: bool) -> Result<Rows, MineError> {
        let mut kept = keep.then(Kept::default);
        let mut tally = Tally { faults: vec![Faults::default(); layout.columns.len() + 1], ..Tally::default() };
        if keep {
            read(files, layout, &mut tally, &mut |values, label| {
                if let Some(kept) = &mut kept {
                    kept.values.extend_from_slice(values);
                    kept.labels.push(label as u8);
                }
                Ok(())
            })?;
        }
        Ok(Rows { name: name.to_owned(), files: files.to_owned(), kept, tally, held_out: None })
    }

    /// Rows that are given.
    pub fn of(name: &str, rows: impl IntoIterator<Item = (Vec<f64>, usize)>) -> Rows {
        let mut kept = Kept::default();
        for (values, label) in rows {
            kept.values.extend(values);
            kept.labels.push(label as u8);
        }
        let count = kept.labels.len() as u64;
        let tally = Tally { rows: count, used: count, faults: Vec::new() };
        Rows { name: name.to_owned(), files: Vec::new(), kept: Some(kept), tally, held_out: None }
    }

    /// The same rows without those that are held out, or these alone.
    pub fn part(&self, held_out: HeldOut) -> Rows {
        Rows { held_out: Some(held_out), ..self.clone() }
    }

    /// Shows every usable row: its values in the order of the layout, and its label. What was wrong is counted in the
    /// tally the first time.
    pub fn each(&mut self, layout: &Layout, visit: &mut VisitRow<'_>) -> Result<(), MineError> {
        let mut row = 0;
        let held_out = self.held_out;
        let mut visit = |values: &[f64], label: usize| {
            row += 1;
            if held_out.is_none_or(|part| part.takes(row - 1)) { visit(values, label) } else { Ok(()) }
        };
        if let Some(kept) = &self.kept {
            let width = layout.columns.len();
            return kept
                .values
                .chunks_exact(width)
                .zip(&kept.labels)
                .try_for_each(|(row, &label)| visit(row, label.into()));
        }
        let mut tally = Tally { faults: vec![Faults::default(); layout.columns.len() + 1], ..Tally::default() };
        read(&self.files, layout, &mut tally, &mut visit)?;
        self.tally = tally;
        Ok(())
    }
}

/// Reads all training tables, or all test tables, of some sources.
pub fn read_all(
    sources: &[Source],
    files: impl Fn(&Source) -> &[PathBuf],
    layout: &Layout,
) -> Result<Vec<Rows>, MineError> {
    sources.iter().map(|source| Rows::read(&source.name, files(source), layout)).collect()
}

fn read(files: &[PathBuf], layout: &Layout, tally: &mut Tally, visit: &mut VisitRow<'_>) -> Result<(), MineError> {
    let mut names: Vec<&str> = layout.columns.iter().map(|column| column.column.as_str()).collect();
    names.push(&layout.outputs.column);
    let mut values = vec![0.0; layout.columns.len()];
    for file in files {
        scan(Path::new(file), &names, &mut |cells| {
            tally.rows += 1;
            let label = decode(cells, layout, &mut values, &mut tally.faults);
            let Some(label) = label else { return Ok(()) };
            tally.used += 1;
            visit(&values, label)
        })?;
    }
    Ok(())
}

/// The values and the label of a row; none if some value cannot be used, which is counted.
fn decode(cells: &[Cell<'_>], layout: &Layout, values: &mut [f64], faults: &mut [Faults]) -> Option<usize> {
    let mut usable = true;
    for ((cell, column), (value, faults)) in cells.iter().zip(&layout.columns).zip(values.iter_mut().zip(&mut *faults))
    {
        match cell.number() {
            _ if *cell == Cell::Missing => faults.missing += 1,
            Some(number) if number.is_finite() => {
                *value = number;
                let valid = column.valid.is_none_or(|(low, high)| low <= number && number <= high);
                if valid {
                    continue;
                }
                faults.out_of_range += 1;
            }
            _ => faults.not_a_number += 1,
        }
        usable = false;
    }
    let (cell, own) = (cells.last()?, faults.last_mut()?);
    let label = layout.outputs.label(cell);
    match (label, cell) {
        (Some(_), _) => {}
        (None, Cell::Missing) => own.missing += 1,
        (None, _) => own.not_a_number += 1,
    }
    label.filter(|_| usable)
}
