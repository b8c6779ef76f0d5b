//! Outcomes without pictures: audits, queries, optimisations, runs of a system, interval MDPs.

use serde_json::Value;

use super::Row;
use super::html::{data, escaped, table};
use super::read::{Read, list, member, number, optional, text};

/// The rows, the heading and the figures of such a document; nothing if it is of no known kind.
pub(crate) fn section(document: &Value) -> Read<Option<(Vec<Row>, String, String)>> {
    let has = |key: &str| document.get(key).is_some();
    let (row, title) = if has("branches") && has("system") {
        let mut row = Row::new(&member(document, "system", text)?, &member(document, "property", text)?);
        row.verdict = member(document, "verdict", text)?;
        row.engine = "shield".to_owned();
        row.scope = "for all time, with the shield".to_owned();
        row.relative = "the plant as polynomials, in exact arithmetic; any network".to_owned();
        row.certificate = optional(document, "file", text)?;
        (row, "Shield")
    } else if has("claim") || (has("certificate") && has("files")) || rejected(document) {
        let mut row = Row::new("", &member(document, "certificate", text)?);
        row.verdict = member(document, "verdict", text)?;
        row.engine = "audit".to_owned();
        row.relative = "code that shares nothing with the search".to_owned();
        (row, "Audit")
    } else if has("feasible") && has("gap") {
        let objective = optional(document, "minimise", text)?.or(optional(document, "maximise", text)?);
        let mut row = Row::new(&network(document)?, &objective.unwrap_or_else(|| "objective".to_owned()));
        row.verdict =
            if document.get("reached").and_then(Value::as_bool) == Some(true) { "bounded" } else { "unknown" }
                .to_owned();
        row.engine = "optimise".to_owned();
        row.relative = super::relative_to("optimise").to_owned();
        (row, "Optimum")
    } else if has("specification") && has("verdict") {
        let mut row = Row::new(&network(document)?, &member(document, "specification", text)?);
        row.verdict = member(document, "verdict", text)?;
        row.engine = "verify".to_owned();
        row.relative = super::relative_to("verify").to_owned();
        row.certificate = optional(document, "certificate", text)?;
        (row, "Query")
    } else if has("properties") && has("ends") {
        return simulated(document).map(Some);
    } else if has("model") && has("probability") {
        let mut row = Row::new("interval MDP", &member(document, "property", text)?);
        row.verdict = match document.get("holds").and_then(Value::as_bool) {
            Some(true) => "holds",
            Some(false) => "violated",
            None => "bounded",
        }
        .to_owned();
        row.engine = "mdp".to_owned();
        row.relative = "the model in its file, errors of rounding included".to_owned();
        (row, "Interval MDP")
    } else {
        return Ok(None);
    };
    let mut row = row;
    row.seconds = optional(document, "seconds", number)?;
    row.reason = optional(document, "reason", text)?;
    row.sections = true;
    let mut html = String::new();
    if let Some(program) = optional(document, "text", text)? {
        html += &format!("<pre class=\"program\">{}</pre>\n", escaped(&program));
    }
    let mut figures = Vec::new();
    flattened("", document, &mut figures);
    html += &table("Figures", &["", "value"].map(str::to_owned), &figures);
    let title = format!("{title}: {} {}", row.system, row.property);
    Ok(Some((vec![row], title, html)))
}

fn rejected(document: &Value) -> bool {
    document.get("certificate").is_some() && document.get("verdict").and_then(Value::as_str) == Some("rejected")
}

fn network(document: &Value) -> Read<String> {
    Ok(optional(document, "network", text)?.unwrap_or_else(|| "networks".to_owned()))
}

/// Every number, text and truth value with the way to it.
fn flattened(way: &str, value: &Value, rows: &mut Vec<Vec<String>>) {
    let inner = |name: &str| if way.is_empty() { name.to_owned() } else { format!("{way} {name}") };
    match value {
        Value::Object(members) => {
            for (name, value) in
                members.iter().filter(|(name, _)| !way.is_empty() || !matches!(name.as_str(), "text" | "provenance"))
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

fn simulated(document: &Value) -> Read<(Vec<Row>, String, String)> {
    let system = member(document, "system", text)?;
    let (runs, steps) = (member(document, "runs", number)?, member(document, "steps", number)?);
    let seconds = optional(document, "seconds", number)?;
    let property = |property: &Value| {
        let violated = member(property, "violated", number)?;
        let mut row = Row::new(&system, &member(property, "property", text)?);
        row.formula = optional(property, "formula", text)?;
        row.verdict = if violated > 0.0 { "violated" } else { "not violated" }.to_owned();
        row.scope = format!("{runs} runs of at most {steps} steps");
        row.engine = "simulate".to_owned();
        row.relative = super::relative_to("simulation").to_owned();
        row.seconds = seconds;
        row.sections = true;
        let cell = |key: &str| Ok(optional(property, key, number)?.map_or("–".to_owned(), data));
        let cells = vec![
            escaped(&row.property),
            cell("satisfied")?,
            data(violated),
            cell("open")?,
            cell("worst_margin")?,
            cell("worst_run")?,
            cell("worst_broken_at")?,
        ];
        Ok((row, cells))
    };
    let (rows, cells): (Vec<Row>, Vec<Vec<String>>) =
        member(document, "properties", |own| list(own, property))?.into_iter().unzip();
    let head = ["property", "kept", "broken", "open", "worst margin", "worst run", "broken at step"].map(str::to_owned);
    Ok((rows, format!("Runs of {system}"), table("Runs", &head, &cells)))
}
