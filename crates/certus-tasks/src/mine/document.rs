//! What came out of a mining, as JSON: the same on the command line and in Python.

use std::path::PathBuf;

use certus_mine::layout::Layout;
use certus_mine::quality::Quality;
use certus_mine::query::Verdict;
use certus_mine::search::Trial;
use certus_mine::spread::{SHARES, Spread};
use certus_mine::write::to_json;
use serde_json::{Map, Value, json};

use super::{Checked, Judged, Mining};
use crate::output::json_number;

/// A verdict in a word.
pub fn verdict_word(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Holds => "holds",
        Verdict::Violated(_) | Verdict::Crossed(..) => "violated",
        Verdict::Open(_) => "open",
    }
}

/// Everything about a mining and the networks that were asked about.
pub fn document(networks: &[PathBuf], mining: &Mining) -> Value {
    let layout = &mining.config.layout;
    let mut specifications = to_json(layout, &mining.specifications);
    if let Some(list) = specifications.as_array_mut() {
        for (index, shown) in list.iter_mut().enumerate() {
            add_figures(mining, index, shown);
        }
    }
    let mined = mining.mined.as_ref().map(|mined| {
        json!({
            "common": mined.common, "interesting": mined.interesting, "least": mined.least, "radius": mined.radius,
            "coverage": json_number(mined.coverage), "redundant": mining.refined.0, "merged": mining.refined.1,
        })
    });
    let networks: Vec<Value> = networks
        .iter()
        .zip(&mining.checked)
        .map(|(path, checked)| {
            let results: Vec<Value> = checked
                .iter()
                .enumerate()
                .map(|(index, own)| checked_json(layout, mining, index, own.as_ref()))
                .collect();
            json!({ "network": path.display().to_string(), "results": results })
        })
        .collect();
    json!({
        "name": mining.config.name,
        "mined": mined,
        "configured": { "history": mining.configured.1, "parts": mining.configured.0.parts,
            "representation": mining.configured.0.representation, "most_outputs": mining.configured.0.most_outputs },
        "trials": mining.trials.iter().map(trial_json).collect::<Vec<_>>(),
        "observations": mining.judged.iter().map(|judged| judged_json(layout, judged)).collect::<Vec<_>>(),
        "specifications": specifications,
        "spread": mining.spreads.as_ref().map(|spreads| spread_json(layout, spreads)),
        "networks": networks,
        "seconds": { "reading": json_number(mining.seconds[0]), "mining": json_number(mining.seconds[1]),
            "verification": json_number(mining.verify_seconds) },
        "relative_to": "the networks in their files, over the reals; the observations in their tables",
        "provenance": mining.provenance.to_json(),
    })
}

/// Figures of one specification beside what it says.
fn add_figures(mining: &Mining, index: usize, shown: &mut Value) {
    let Some(shown) = shown.as_object_mut() else { return };
    if let Some(mined) = &mining.mined {
        shown.insert("representation".to_owned(), json_number(mined.representation[index]));
        let volume = mining.specifications[index].volume(&mining.ranges);
        shown.insert("volume".to_owned(), json_number(volume));
    }
    let alone: Map<String, Value> =
        mining.judged.iter().map(|judged| (judged.name.clone(), quality_json(&judged.alone[index]))).collect();
    shown.insert("quality".to_owned(), alone.into());
}

fn quality_json(quality: &Quality) -> Value {
    let confidence = quality.confidence().map_or(Value::Null, json_number);
    json!({ "rows": quality.rows, "support": json_number(quality.support()), "confidence": confidence })
}

fn trial_json(trial: &Trial) -> Value {
    json!({
        "history": trial.history, "parts": trial.settings.parts, "representation": trial.settings.representation,
        "most_outputs": trial.settings.most_outputs, "specifications": trial.specifications,
        "coverage": json_number(trial.coverage), "score": json_number(trial.score()),
        "train": trial.train.iter().map(quality_json).collect::<Vec<_>>(),
        "held_out": trial.held_out.iter().map(quality_json).collect::<Vec<_>>(),
    })
}

/// How rows are spread: five quantiles per mined column, of all rows and of those inside each specification.
fn spread_json(layout: &Layout, (all, inside): &(Spread, Vec<Spread>)) -> Value {
    let names = layout.mined().into_iter().map(|column| layout.columns[column].column.clone());
    let spread = |own: &Spread| {
        let columns: Vec<Value> =
            own.columns.iter().map(|values| values.iter().map(|&value| json_number(value)).collect()).collect();
        json!({ "rows": own.rows, "columns": columns })
    };
    json!({ "shares": SHARES, "columns": names.collect::<Vec<String>>(), "all": spread(all),
        "specifications": inside.iter().map(spread).collect::<Vec<_>>() })
}

fn judged_json(layout: &Layout, judged: &Judged) -> Value {
    let tally = |place: usize| {
        let tally = &judged.tallies[place];
        let names = layout.columns.iter().map(|column| &column.column).chain([&layout.outputs.column]);
        let faults: Map<String, Value> = tally
            .faults
            .iter()
            .zip(names)
            .filter(|(faults, _)| faults.total() > 0)
            .map(|(faults, name)| {
                let own = json!({ "missing": faults.missing, "not_a_number": faults.not_a_number,
                    "out_of_range": faults.out_of_range });
                (name.clone(), own)
            })
            .collect();
        json!({ "rows": tally.rows, "used": tally.used, "faults": faults, "quality": quality_json(&judged.quality[place]),
            "baseline": judged.baseline.as_ref().map(|baseline| quality_json(&baseline[place])) })
    };
    json!({ "name": judged.name, "reference": judged.is_reference, "train": tally(0), "test": tally(1) })
}

fn checked_json(layout: &Layout, mining: &Mining, index: usize, checked: Option<&Checked>) -> Value {
    let Some(checked) = checked else { return json!({ "specification": index + 1, "verdict": "open" }) };
    let numbers = |values: &[f64]| -> Value { values.iter().map(|&value| json_number(value)).collect() };
    let mut shown = Map::new();
    shown.insert("specification".to_owned(), (index + 1).into());
    shown.insert("verdict".to_owned(), verdict_word(&checked.verdict).into());
    match &checked.verdict {
        Verdict::Violated(witness) => {
            shown.insert("input".to_owned(), numbers(&witness.inputs));
            shown.insert("output".to_owned(), witness.outputs.iter().map(|&y| json_number(y.into())).collect());
        }
        Verdict::Crossed(below, above) => {
            shown.insert("between".to_owned(), json!([numbers(below), numbers(above)]));
        }
        Verdict::Open(reason) => {
            shown.insert("reason".to_owned(), format!("{reason:?}").to_lowercase().into());
        }
        Verdict::Holds => {}
    }
    shown.insert("seconds".to_owned(), json_number(checked.seconds));
    shown.insert("remembered".to_owned(), checked.remembered.into());
    let attacks = checked.attacks.iter().map(|(attack, nearest)| {
        let references: Map<String, Value> = mining
            .config
            .references
            .iter()
            .zip(nearest)
            .map(|(source, nearest)| {
                let label = nearest.as_ref().map(|nearest| layout.outputs.labels[nearest.label].clone());
                (source.name.clone(), label.into())
            })
            .collect();
        json!({ "decided": layout.outputs.labels[attack.label], "input": numbers(&attack.witness.inputs),
            "references": references })
    });
    shown.insert("attacks".to_owned(), attacks.collect());
    Value::Object(shown)
}
