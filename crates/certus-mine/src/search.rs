//! A search for settings: each combination is mined on one part of the observations and judged on another.
//!
//! The score of a combination is the harmonic mean of support and confidence on held-out rows, averaged over the
//! references; of equal ones the one with fewer specifications wins. Where no test tables are given, one block of rows in
//! five is held out.

use crate::config::{Choices, Settings};
use crate::layout::Layout;
use crate::mining::{in_parallel, mine};
use crate::observations::{HeldOut, Rows};
use crate::partition::Partition;
use crate::quality::{Quality, measure};
use crate::refine::refine;
use crate::regions::{collect, ranges};
use crate::{MineError, Specification};

/// One combination and how it did.
#[derive(Clone, Debug, PartialEq)]
pub struct Trial {
    /// How much history; none if it was left as configured.
    pub history: Option<usize>,
    /// The settings.
    pub settings: Settings,
    /// How many specifications came out.
    pub specifications: usize,
    /// The share of the interesting cells that they cover.
    pub coverage: f64,
    /// Per reference, on what was mined.
    pub train: Vec<Quality>,
    /// Per reference, on what was held out.
    pub held_out: Vec<Quality>,
}

impl Trial {
    /// What is made large.
    pub fn score(&self) -> f64 {
        self.held_out.iter().map(Quality::score).sum::<f64>() / self.held_out.len().max(1) as f64
    }
}

/// Mines observations with some settings.
pub fn mine_rows(
    layout: &Layout,
    rows: &mut [Rows],
    settings: &Settings,
    threads: usize,
) -> Result<(Vec<Specification>, f64), MineError> {
    let partition = Partition::new(settings.parts, ranges(layout, rows, settings.quantile)?)?;
    let regions = collect(layout, rows, partition)?;
    let mut mined = mine(&regions, settings, layout.outputs.labels.len(), threads)?;
    if settings.refine {
        refine(&mut mined, &regions, settings.most_outputs);
        mined.remeasure(&regions, layout.outputs.labels.len());
    }
    Ok((mined.specifications(&regions, layout, settings), mined.coverage))
}

/// Tries all combinations, the best first. `test` are the rows to judge by, in the order of the references; empty to hold
/// some of the training rows out.
pub fn search(
    layout: &Layout,
    train: &[Rows],
    test: &[Rows],
    settings: &Settings,
    choices: &Choices,
    threads: usize,
    should_stop: &(dyn Fn() -> bool + Sync),
) -> Result<Vec<Trial>, MineError> {
    let part = |held_out: HeldOut| -> Vec<Rows> { train.iter().map(|rows| rows.part(held_out)).collect() };
    let (train, test) = match test {
        [] => (part(HeldOut::Without), part(HeldOut::Only)),
        test => (train.to_vec(), test.to_vec()),
    };
    let combinations = combinations(settings, choices);
    let run = |(history, settings): &(Option<usize>, Settings)| -> Result<Option<Trial>, MineError> {
        if should_stop() {
            return Ok(None);
        }
        let layout = history.map_or_else(|| layout.clone(), |history| layout.with_history(history));
        settings.check()?;
        let (mut train, mut test) = (train.clone(), test.clone());
        let (specifications, coverage) = mine_rows(&layout, &mut train, settings, 1)?;
        let quality = |rows: &mut [Rows]| -> Result<Vec<Quality>, MineError> {
            rows.iter_mut().map(|rows| Ok(measure(&specifications, &layout, rows)?.0)).collect()
        };
        Ok(Some(Trial {
            history: *history,
            settings: settings.clone(),
            specifications: specifications.len(),
            coverage,
            train: quality(&mut train)?,
            held_out: quality(&mut test)?,
        }))
    };
    let mut trials = Vec::new();
    for trial in in_parallel(&combinations, threads, &run) {
        trials.extend(trial?);
    }
    trials.sort_by(|a, b| b.score().total_cmp(&a.score()).then(a.specifications.cmp(&b.specifications)));
    Ok(trials)
}

fn combinations(settings: &Settings, choices: &Choices) -> Vec<(Option<usize>, Settings)> {
    fn or<T: Clone>(given: &[T], own: T) -> Vec<T> {
        if given.is_empty() { vec![own] } else { given.to_vec() }
    }
    let histories: Vec<Option<usize>> = match choices.history.as_slice() {
        [] => vec![None],
        given => given.iter().map(|&history| Some(history)).collect(),
    };
    let mut all = Vec::new();
    for history in histories {
        for &parts in &or(&choices.parts, settings.parts) {
            for &representation in &or(&choices.representation, settings.representation) {
                for &most_outputs in &or(&choices.most_outputs, settings.most_outputs) {
                    all.push((history, Settings { parts, representation, most_outputs, ..settings.clone() }));
                }
            }
        }
    }
    all
}
