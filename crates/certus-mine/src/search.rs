//! Grid search over settings: each combination is mined on training rows and scored on held-out ones.
//!
//! The score of a combination is the harmonic mean of support and confidence on held-out rows, averaged over the
//! references; of equal ones the one with fewer specifications wins. Where no test tables are given, one block of rows in
//! five is held out.

use certus_numerics::parallel;

use crate::bins::Partition;
use crate::config::{Choices, Settings};
use crate::layout::Layout;
use crate::mining::mine;
use crate::observations::{HeldOut, Rows};
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
    /// The share of the interesting bins that they cover.
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
    for trial in parallel::map(&combinations, threads, run) {
        trials.extend(trial?);
    }
    trials.sort_by(|a, b| b.score().total_cmp(&a.score()).then(a.specifications.cmp(&b.specifications)));
    Ok(trials)
}

/// What is tried: a history (none as it is configured), and settings.
type Combination = (Option<usize>, Settings);

fn combinations(settings: &Settings, choices: &Choices) -> Vec<Combination> {
    let own: Combination = (None, settings.clone());
    let history = choices.history.iter().map(|&history| change(move |own| own.0 = Some(history))).collect();
    let parts = choices.parts.iter().map(|&parts| change(move |own| own.1.parts = parts)).collect();
    let represented = choices.representation.iter().map(|&share| change(move |own| own.1.representation = share));
    let outputs = choices.most_outputs.iter().map(|&most| change(move |own| own.1.most_outputs = most)).collect();
    let axes: [Vec<Change>; 4] = [history, parts, represented.collect(), outputs];
    let changed = |from: &Combination, change: &Change| {
        let mut own = from.clone();
        change(&mut own);
        own
    };
    let mut all = vec![own.clone()];
    for axis in axes.iter().filter(|axis| !axis.is_empty()) {
        if choices.one_at_a_time {
            all.extend(axis.iter().map(|change| changed(&own, change)));
        } else {
            all = all.iter().flat_map(|from| axis.iter().map(|change| changed(from, change))).collect();
        }
    }
    let mut distinct: Vec<Combination> = Vec::new();
    for own in all {
        if !distinct.contains(&own) {
            distinct.push(own);
        }
    }
    distinct
}

/// Something that makes one combination of another.
type Change = Box<dyn Fn(&mut Combination)>;

fn change(own: impl Fn(&mut Combination) + 'static) -> Change {
    Box::new(own)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_combinations_or_one_change_at_a_time() {
        let settings = Settings {
            parts: 10,
            representation: 0.01,
            most_outputs: 2,
            coverage: None,
            quantile: 0.0,
            decimals: None,
            refine: false,
        };
        let mut choices = Choices { history: vec![1, 2], parts: vec![5, 10, 20], ..Choices::default() };
        let shown = |choices: &Choices| -> Vec<(Option<usize>, usize)> {
            combinations(&settings, choices).iter().map(|(history, own)| (*history, own.parts)).collect()
        };
        let product = [(Some(1), 5), (Some(1), 10), (Some(1), 20), (Some(2), 5), (Some(2), 10), (Some(2), 20)];
        assert_eq!(shown(&choices), product);
        choices.one_at_a_time = true;
        assert_eq!(shown(&choices), [(None, 10), (Some(1), 10), (Some(2), 10), (None, 5), (None, 20)]);
        assert_eq!(shown(&Choices::default()), [(None, 10)]);
    }
}
