//! Outcomes without pictures: audits, queries, optimisations, runs of a system, interval MDPs, syntheses of shields.

use certus_documents::simulate::{PropertySummary, Simulate};
use certus_documents::{Document, Number, audit, mdp, optimise, shield_synthesis, verify};
use serde_json::Value;

use super::html::{data, escaped, table};
use super::read::{Malformed, Read};
use super::{Row, Shown};

/// The synthesis of a shield.
pub(crate) fn synthesised(own: &shield_synthesis::ShieldSynthesis) -> Read<Shown> {
    let row = Row {
        verdict: own.verdict.to_string(),
        engine: "shield".to_owned(),
        scope: "for all time, with the shield".to_owned(),
        relative: "the plant as polynomials, in exact arithmetic; any network".to_owned(),
        certificate: own.file.clone().flatten(),
        reason: own.reason.clone(),
        seconds: Some(own.seconds.into()),
        ..Row::new(own.system.as_deref().unwrap_or_default(), own.property.as_deref().unwrap_or("shield"))
    };
    let program = own.text.as_ref();
    let program = program.map(|text| format!("<pre class=\"program\">{}</pre>\n", escaped(text)));
    figures("Shield", row, &program.unwrap_or_default(), own)
}

/// An audit.
pub(crate) fn audited(own: &audit::Audit) -> Read<Shown> {
    let row = Row {
        verdict: own.verdict.to_string(),
        engine: "audit".to_owned(),
        relative: "code that shares nothing with the search".to_owned(),
        reason: own.reason.clone(),
        seconds: Some(own.seconds.into()),
        ..Row::new("", &own.certificate)
    };
    figures("Audit", row, "", own)
}

/// A query.
pub(crate) fn verified(own: &verify::Verify) -> Read<Shown> {
    let asked = own.specification.as_ref().or(own.query.as_ref());
    let row = Row {
        verdict: own.verdict.to_string(),
        engine: "verify".to_owned(),
        relative: own.relative_to.clone(),
        certificate: own.certificate.clone(),
        reason: own.reason.clone(),
        seconds: Some(own.seconds.into()),
        ..Row::new(own.network.as_deref().unwrap_or(NETWORKS), asked.map_or("query", String::as_str))
    };
    figures("Query", row, "", own)
}

/// An optimum.
pub(crate) fn optimised(own: &optimise::Optimise) -> Read<Shown> {
    let objective = own.minimise.as_ref().or(own.maximise.as_ref());
    let row = Row {
        verdict: if own.reached { "bounded" } else { "unknown" }.to_owned(),
        engine: "optimise".to_owned(),
        relative: own.relative_to.clone(),
        reason: own.reason.clone(),
        seconds: Some(own.seconds.into()),
        ..Row::new(own.network.as_deref().unwrap_or(NETWORKS), objective.map_or("objective", String::as_str))
    };
    figures("Optimum", row, "", own)
}

/// A probability of a model.
pub(crate) fn model(own: &mdp::Mdp) -> Read<Shown> {
    let verdict = match own.holds {
        Some(true) => "holds",
        Some(false) => "violated",
        None => "bounded",
    };
    let row = Row {
        verdict: verdict.to_owned(),
        engine: "mdp".to_owned(),
        relative: own.relative_to.clone(),
        seconds: Some(own.seconds.into()),
        ..Row::new("interval MDP", own.property.as_deref().unwrap_or("model"))
    };
    figures("Interval MDP", row, "", own)
}

/// What stands for the network where there are several.
const NETWORKS: &str = "networks";

/// A document of one row, all of its numbers in a table.
fn figures(title: &str, row: Row, before: &str, document: &impl Document) -> Read<Shown> {
    let value = document.to_value().map_err(|error| Malformed::new(error.to_string()))?;
    let mut rows = Vec::new();
    flattened("", &value, &mut rows);
    let html = before.to_owned() + &table("Figures", &["", "value"].map(str::to_owned), &rows);
    let title = format!("{title}: {} {}", row.system, row.property);
    Ok(Shown { rows: vec![Row { sections: true, ..row }], sections: vec![(title, html)] })
}

/// Members of a document that stand elsewhere on the page, or say nothing to its reader.
const ELSEWHERE: [&str; 3] = ["schema", "text", "provenance"];

/// Every number, text and truth value with the way to it.
fn flattened(way: &str, value: &Value, rows: &mut Vec<Vec<String>>) {
    let inner = |name: &str| if way.is_empty() { name.to_owned() } else { format!("{way} {name}") };
    match value {
        Value::Object(members) => {
            for (name, value) in
                members.iter().filter(|(name, _)| !way.is_empty() || !ELSEWHERE.contains(&name.as_str()))
            {
                flattened(&inner(&name.replace('_', " ")), value, rows);
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate().take(50) {
                flattened(&inner(&(index + 1).to_string()), item, rows);
            }
            if items.len() > 50 {
                rows.push(vec![escaped(way), format!("… and {} more in the document", items.len() - 50)]);
            }
        }
        Value::Null => {}
        Value::Number(number) => {
            rows.push(vec![escaped(way), number.as_f64().map_or_else(|| number.to_string(), data)])
        }
        Value::String(text) => rows.push(vec![escaped(way), escaped(text)]),
        Value::Bool(truth) => rows.push(vec![escaped(way), if *truth { "yes" } else { "no" }.to_owned()]),
    }
}

/// Simulated runs.
pub(crate) fn simulated(own: &Simulate) -> Shown {
    let row = |seen: &PropertySummary| Row {
        formula: Some(seen.formula.clone()),
        verdict: if seen.violated > 0 { "violated" } else { "not violated" }.to_owned(),
        scope: format!("{} runs of at most {} steps", own.runs, own.steps),
        engine: "simulate".to_owned(),
        relative: own.relative_to.clone(),
        seconds: Some(own.seconds.into()),
        sections: true,
        ..Row::new(&own.system, &seen.property)
    };
    let counted = |count: Option<u64>| count.map_or("–".to_owned(), |count| data(count as f64));
    let cells = |seen: &PropertySummary| {
        let Number(margin) = seen.worst_margin;
        vec![
            escaped(&seen.property),
            counted(Some(seen.satisfied)),
            counted(Some(seen.violated)),
            counted(Some(seen.open)),
            data(margin),
            counted(seen.worst_run),
            counted(seen.worst_broken_at.map(|step| step as u64)),
        ]
    };
    let head = ["property", "kept", "broken", "open", "worst margin", "worst run", "broken at step"].map(str::to_owned);
    let lines: Vec<Vec<String>> = own.properties.iter().map(cells).collect();
    let section = (format!("Runs of {}", own.system), table("Runs", &head, &lines));
    Shown { rows: own.properties.iter().map(row).collect(), sections: vec![section] }
}
