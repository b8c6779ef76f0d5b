//! Properties × checkpoints.

use serde_json::Value;

use super::Row;
use super::html::{Page, data, escaped, table};
use super::provenance::Origin;
use super::read::{Read, count, list, member, number, optional, text, truth};
use crate::matrix::{Kind, Matrix, picture};

/// What was found of one property with one checkpoint.
struct Found {
    property: String,
    verdict: String,
    step: Option<usize>,
    repeats: bool,
    scope: Option<String>,
    /// How many steps it speaks of.
    reach: Option<usize>,
}

fn read(result: &Value) -> Read<Found> {
    Ok(Found {
        property: member(result, "property", text)?,
        verdict: member(result, "verdict", text)?,
        step: optional(result, "step", count)?,
        repeats: optional(result, "loop", count)?.is_some(),
        scope: optional(result, "scope", super::scope)?,
        reach: optional(result, "scope", super::reach)?.flatten().or(optional(result, "step", count)?),
    })
}

/// The matrix, and a row for each property with the last checkpoint.
pub(crate) fn section(page: &mut Page, gate: &Value) -> Read<(Vec<Row>, String)> {
    let system = member(gate, "system", text)?;
    let engine = member(gate, "engine", text)?;
    let checkpoint = |checkpoint: &Value| {
        let accepted = optional(checkpoint, "accepted", truth)?.unwrap_or(false);
        Ok((member(checkpoint, "network", text)?, accepted, member(checkpoint, "results", |own| list(own, read))?))
    };
    let checkpoints = member(gate, "checkpoints", |own| list(own, checkpoint))?;
    let mut rows = Vec::new();
    // Rows are about the last checkpoint, in the place of the network that the file names.
    let digest = member(gate, "checkpoints", |own| list(own, |own| optional(own, "sha256", text)))?.pop().flatten();
    let network = optional(gate, "network", text)?;
    let origin = Origin::of(gate)?;
    let relative = optional(gate, "relative_to", text)?;
    let with = |path: &str| Some(origin.clone()?.with_network(network.clone(), path.to_owned(), digest.clone()));
    let mut matrix = Matrix {
        title: format!("{system}: what each checkpoint has learnt"),
        columns: checkpoints.iter().map(|(network, ..)| stem(network)).collect(),
        rows: Vec::new(),
        legend: Vec::new(),
    };
    let Some((last, _, results)) = checkpoints.last() else {
        return Ok((rows, "<p>No checkpoint was looked at.</p>\n".to_owned()));
    };
    for (index, Found { property, verdict, scope, reach, .. }) in results.iter().enumerate() {
        let mut row = Row::new(&system, property);
        row.verdict = if verdict == "open" { "unknown".to_owned() } else { verdict.clone() };
        let scope = scope.as_ref().map_or(String::new(), |scope| format!("{scope}, "));
        row.scope = format!("{scope}with {}, the last of {} checkpoints", stem(last), checkpoints.len());
        row.engine.clone_from(&engine);
        row.relative = relative.clone().unwrap_or_else(|| super::relative_to(&engine).to_owned());
        row.origin = with(last);
        row.reach = *reach;
        row.seconds = optional(gate, "seconds", number)?;
        row.sections = true;
        rows.push(row);
        let cell = |results: &Vec<Found>| match results.get(index) {
            None => (Kind::Open, "–".to_owned()),
            Some(Found { verdict, step, repeats, scope, .. }) => match verdict.as_str() {
                "holds" => (Kind::Holds, scope.clone().unwrap_or_else(|| "holds".to_owned())),
                "violated" if *repeats => (Kind::Violated, "for ever".to_owned()),
                "violated" => (Kind::Violated, step.map_or("violated".to_owned(), |step| format!("step {step}"))),
                other => (Kind::Open, other.to_owned()),
            },
        };
        matrix.rows.push((property.clone(), checkpoints.iter().map(|(_, _, results)| cell(results)).collect()));
    }
    let legend =
        [(Kind::Holds, "holds"), (Kind::Violated, "violated at a step, or for ever"), (Kind::Open, "not known")];
    let used = |kind: Kind| matrix.rows.iter().flat_map(|(_, cells)| cells).any(|(own, _)| *own == kind);
    matrix.legend =
        legend.into_iter().filter(|(kind, _)| used(*kind)).map(|(kind, text)| (kind, text.to_owned())).collect();
    let mut head = vec!["checkpoint".to_owned()];
    head.extend(matrix.rows.iter().map(|(name, _)| escaped(name)));
    head.push("accepted".to_owned());
    let lines: Vec<Vec<String>> = checkpoints
        .iter()
        .enumerate()
        .map(|(column, (network, accepted, results))| {
            let words = matrix
                .rows
                .iter()
                .zip(results)
                .map(|((_, cells), result)| escaped(&format!("{}: {}", result.verdict, cells[column].1)));
            std::iter::once(escaped(network))
                .chain(words)
                .chain([if *accepted { "yes" } else { "no" }.to_owned()])
                .collect()
        })
        .collect();
    let caption = format!("{} checkpoints in their order, properties down.", data(checkpoints.len() as f64));
    let label =
        format!("{system}: verdicts of {} properties with {} checkpoints", matrix.rows.len(), checkpoints.len());
    let mut html = format!(
        "<div class=\"figures wide\">{}</div>\n",
        page.figure(&format!("{system} gate"), &picture(&matrix), &label, &caption)
    );
    html += &table("Verdicts with each checkpoint", &head, &lines);
    Ok((rows, html))
}

fn stem(path: &str) -> String {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    name.rsplit_once('.').map_or(name, |(stem, _)| stem).to_owned()
}
