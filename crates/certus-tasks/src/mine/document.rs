//! What came out of a mining as a document: the same on the command line and in Python.

use std::path::PathBuf;

use certus_documents as documents;
use certus_documents::mine::{
    Attack, Configured, Faults, Mined, NetworkResults, Observations, Quality, Quantiles, Seconds, Specification,
    SpecificationResult, Tally, Trial,
};
use certus_documents::numbers;
use certus_mine::layout::Layout;
use certus_mine::query::Verdict;
use certus_mine::spread::{SHARES, Spread};
use certus_mine::write::specifications;

use super::{Checked, Judged, Mining};

/// A verdict as documents have it.
fn verdict(verdict: &Verdict) -> documents::mine::MineVerdict {
    match verdict {
        Verdict::Holds => documents::mine::MineVerdict::Holds,
        Verdict::Violated(_) | Verdict::Crossed(..) => documents::mine::MineVerdict::Violated,
        Verdict::Open(_) => documents::mine::MineVerdict::Open,
    }
}

/// A verdict in a word.
pub fn verdict_word(own: &Verdict) -> &'static str {
    verdict(own).word()
}

/// Everything about a mining and the networks that were asked about.
pub fn document(networks: &[PathBuf], mining: &Mining) -> documents::mine::Mine {
    let layout = &mining.config.layout;
    let mut specifications = specifications(layout, &mining.specifications);
    for (index, shown) in specifications.iter_mut().enumerate() {
        add_figures(mining, index, shown);
    }
    let mined = mining.mined.as_ref().map(|mined| Mined {
        common: mined.common,
        interesting: mined.interesting,
        least: mined.least,
        radius: mined.radius,
        coverage: mined.coverage.into(),
        redundant: mining.refined.0,
        merged: mining.refined.1,
    });
    let network = |(path, checked): (&PathBuf, &Vec<Option<Checked>>)| {
        let results = checked.iter().enumerate();
        let results = results.map(|(index, own)| checked_result(layout, mining, index, own.as_ref())).collect();
        NetworkResults { network: path.display().to_string(), results }
    };
    let (settings, history) = &mining.configured;
    documents::mine::Mine {
        schema: documents::Schema::default(),
        name: mining.config.name.clone(),
        mined,
        configured: Configured {
            history: *history,
            parts: settings.parts,
            representation: settings.representation,
            most_outputs: settings.most_outputs,
        },
        trials: mining.trials.iter().map(trial).collect(),
        observations: mining.judged.iter().map(|judged| observations(layout, judged)).collect(),
        specifications,
        spread: mining.spreads.as_ref().map(|spreads| spread(layout, spreads)),
        networks: networks.iter().zip(&mining.checked).map(network).collect(),
        seconds: Seconds {
            reading: mining.seconds[0].into(),
            mining: mining.seconds[1].into(),
            verification: mining.verify_seconds.into(),
        },
        relative_to: "the networks in their files, over the reals; the observations in their tables".to_owned(),
        provenance: mining.provenance.document(),
    }
}

/// Figures of one specification beside what it says.
fn add_figures(mining: &Mining, index: usize, shown: &mut Specification) {
    if let Some(mined) = &mining.mined {
        shown.representation = Some(mined.representation[index].into());
        shown.volume = Some(mining.specifications[index].volume(&mining.ranges).into());
    }
    let alone = mining.judged.iter().map(|judged| (judged.name.clone(), quality(&judged.alone[index])));
    shown.quality = Some(alone.collect());
}

fn quality(own: &certus_mine::quality::Quality) -> Quality {
    Quality { rows: own.rows, support: own.support().into(), confidence: own.confidence().map(Into::into) }
}

fn trial(trial: &certus_mine::search::Trial) -> Trial {
    Trial {
        history: trial.history,
        parts: trial.settings.parts,
        representation: trial.settings.representation,
        most_outputs: trial.settings.most_outputs,
        specifications: trial.specifications,
        coverage: trial.coverage.into(),
        score: trial.score().into(),
        train: trial.train.iter().map(quality).collect(),
        held_out: trial.held_out.iter().map(quality).collect(),
    }
}

/// How rows are spread: five quantiles per mined column, of all rows and of those inside each specification.
fn spread(layout: &Layout, (all, inside): &(Spread, Vec<Spread>)) -> documents::mine::Spread {
    let names = layout.mined().into_iter().map(|column| layout.columns[column].column.clone());
    let quantiles = |own: &Spread| Quantiles {
        rows: own.rows,
        columns: own.columns.iter().map(|values| values.map(Into::into)).collect(),
    };
    documents::mine::Spread {
        shares: SHARES,
        columns: names.collect(),
        all: quantiles(all),
        specifications: inside.iter().map(quantiles).collect(),
    }
}

fn observations(layout: &Layout, judged: &Judged) -> Observations {
    let tally = |place: usize| {
        let tally = &judged.tallies[place];
        let names = layout.columns.iter().map(|column| &column.column).chain([&layout.outputs.column]);
        let faulty = tally.faults.iter().zip(names).filter(|(faults, _)| faults.total() > 0);
        let faults = faulty.map(|(faults, name)| {
            let own = Faults {
                missing: faults.missing,
                not_a_number: faults.not_a_number,
                out_of_range: faults.out_of_range,
            };
            (name.clone(), own)
        });
        Tally {
            rows: tally.rows,
            used: tally.used,
            faults: faults.collect(),
            quality: quality(&judged.quality[place]),
            baseline: judged.baseline.as_ref().map(|baseline| quality(&baseline[place])),
        }
    };
    Observations { name: judged.name.clone(), reference: judged.is_reference, train: tally(0), test: tally(1) }
}

fn checked_result(layout: &Layout, mining: &Mining, index: usize, checked: Option<&Checked>) -> SpecificationResult {
    let shown = SpecificationResult { specification: index + 1, ..SpecificationResult::default() };
    let Some(checked) = checked else { return shown };
    let shown = match &checked.verdict {
        Verdict::Violated(witness) => SpecificationResult {
            input: Some(numbers(&witness.inputs)),
            output: Some(witness.outputs.iter().map(|&y| f64::from(y).into()).collect()),
            ..shown
        },
        Verdict::Crossed(below, above) => {
            SpecificationResult { between: Some([numbers(below), numbers(above)]), ..shown }
        }
        Verdict::Open(reason) => SpecificationResult { reason: Some(format!("{reason:?}").to_lowercase()), ..shown },
        Verdict::Holds => shown,
    };
    let attack = |(attack, nearest): &super::Compared| {
        let named = mining.config.references.iter().zip(nearest);
        let references = named.map(|(source, nearest)| {
            (source.name.clone(), nearest.as_ref().map(|nearest| layout.outputs.labels[nearest.label].clone()))
        });
        Attack {
            decided: layout.outputs.labels[attack.label].clone(),
            input: numbers(&attack.witness.inputs),
            references: references.collect(),
        }
    };
    SpecificationResult {
        verdict: verdict(&checked.verdict),
        seconds: Some(checked.seconds.into()),
        remembered: Some(checked.remembered),
        attacks: Some(checked.attacks.iter().map(attack).collect()),
        ..shown
    }
}
