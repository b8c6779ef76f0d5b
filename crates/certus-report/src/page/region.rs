//! Parameter regions: maps of where a property holds.

use serde_json::Value;

use super::Row;
use super::html::{Page, data, escaped, notes, table, thinned};
use super::read::{Malformed, Read, list, member, members, number, numbers, optional, text};
use super::trace;
use crate::map::{Axis, Cell, Kind, Map, picture};

/// Witnesses whose runs are shown.
const MOST_WITNESSES: usize = 2;
/// Boxes that a table lists.
const MOST_BOXES: usize = 40;

struct Region {
    ends: Vec<(f64, f64)>,
    verdict: String,
    scope: String,
    reason: Option<String>,
}

fn kind(verdict: &str) -> Read<Kind> {
    Ok(match verdict {
        "holds" => Kind::Holds,
        "violated" => Kind::Violated,
        "violated at a value" => Kind::PartlyViolated,
        "open" => Kind::Open,
        other => return Err(Malformed::new(format!("`{other}` is no verdict of a cell"))),
    })
}

/// One map with its row of the summary.
pub(crate) fn section(page: &mut Page, system: &str, region: &Value) -> Read<(Row, String)> {
    let property = member(region, "property", text)?;
    let mut row = Row::new(system, &property);
    row.words = super::described(region)?;
    row.seconds = optional(region, "seconds", number)?;
    row.engine = optional(region, "engine", text)?.unwrap_or_else(|| "bmc".to_owned());
    row.formula = optional(region, "formula", text)?;
    let relative = optional(region, "relative_to", text)?;
    row.relative = relative.unwrap_or_else(|| super::relative_to(&row.engine).to_owned());
    if region.get("cells").is_none() {
        row.verdict = "unknown".to_owned();
        row.reason = optional(region, "reason", text)?;
        return Ok((row, String::new()));
    }
    let axis = |axis: &Value| {
        let (lower, upper) = (member(axis, "lower", number)?, member(axis, "upper", number)?);
        Ok(Axis { name: member(axis, "name", text)?, lower, upper })
    };
    let axes = member(region, "parameters", |own| list(own, axis))?;
    let cell = |cell: &Value| {
        let (lower, upper) = (member(cell, "lower", numbers)?, member(cell, "upper", numbers)?);
        if lower.len() != axes.len() || upper.len() != axes.len() {
            return Err(Malformed::new("a cell has as many ends as there are parameters"));
        }
        let verdict = member(cell, "verdict", text)?;
        kind(&verdict)?;
        let scope = optional(cell, "scope", super::scope)?.unwrap_or_default();
        let reason = optional(cell, "reason", text)?;
        Ok(Region { ends: lower.into_iter().zip(upper).collect(), verdict, scope, reason })
    };
    let cells = member(region, "cells", |own| list(own, cell))?;
    let shares = optional(region, "shares", |own| members(own, number))?.unwrap_or_default();
    let some = |verdict: &str| shares.iter().any(|(name, share)| name == verdict && *share > 0.0);
    row.verdict = match (some("violated") || some("violated at a value"), some("open")) {
        (true, _) => "violated",
        (false, true) => "unknown",
        (false, false) => "holds",
    }
    .to_owned();
    let names: Vec<&str> = axes.iter().map(|axis| axis.name.as_str()).collect();
    row.scope = format!("for {}", names.join(", "));
    let share = |(name, share): &(String, f64)| format!("{}: {} %", escaped(name), data(100.0 * share));
    let mut html = format!(
        "<p>Shares of the parameters: {}.</p>\n",
        shares.iter().filter(|own| own.1 > 0.0).map(share).collect::<Vec<_>>().join(", ")
    );
    html += &map(page, system, &property, &axes, &cells)?;
    html += &notes(&optional(region, "notes", |own| list(own, text))?.unwrap_or_default());
    let witnesses = optional(region, "witnesses", |own| list(own, super::read::any))?.unwrap_or_default();
    for (index, witness) in witnesses.iter().take(MOST_WITNESSES).enumerate() {
        let place = |error: Malformed| error.within(&format!(".witnesses[{index}]"));
        let values = member(witness, "values", numbers).map_err(place)?;
        let values: Vec<String> = axes
            .iter()
            .zip(&values)
            .map(|(axis, value)| format!("{} = {}", escaped(&axis.name), data(*value)))
            .collect();
        if let Some(run) = trace::read_member(witness).map_err(place)? {
            html += &format!("<h4>A run that violates it, at {}</h4>\n", values.join(", "));
            html += &trace::section(page, &format!("{system} {property} witness {}", index + 1), &run);
        }
    }
    if witnesses.len() > MOST_WITNESSES {
        html += &thinned(&format!("Of {} violating runs the first {MOST_WITNESSES} are shown.", witnesses.len()));
    }
    row.sections = true;
    Ok((row, html))
}

fn map(page: &mut Page, system: &str, property: &str, axes: &[Axis], cells: &[Region]) -> Read<String> {
    let legend = [
        (Kind::Holds, "holds for every value".to_owned()),
        (Kind::Violated, "violated at every value".to_owned()),
        (Kind::PartlyViolated, "violated at a value; of the others nothing is known".to_owned()),
        (Kind::Open, "open".to_owned()),
    ];
    let drawn: Vec<Cell> = cells
        .iter()
        .map(|cell| Ok(Cell { ends: cell.ends.clone(), kind: kind(&cell.verdict)? }))
        .collect::<Read<_>>()?;
    let whole = Map {
        title: format!("{system}: {property}"),
        axes: axes.to_vec(),
        mark: None,
        legend: legend.into_iter().filter(|(kind, _)| drawn.iter().any(|cell| cell.kind == *kind)).collect(),
        cells: drawn,
    };
    if let Some(picture) = picture(&whole) {
        let label = format!(
            "{system} {property}: map over {}",
            axes.iter().map(|axis| axis.name.as_str()).collect::<Vec<_>>().join(" and ")
        );
        let caption = format!("{} cells; point at one for its ends.", data(cells.len() as f64));
        return Ok(format!(
            "<div class=\"figures\">{}</div>\n",
            page.figure(&format!("{system} {property} map"), &picture, &label, &caption)
        ));
    }
    let volume = |cell: &&Region| -> f64 { cell.ends.iter().map(|(low, high)| high - low).product() };
    let mut sorted: Vec<&Region> = cells.iter().collect();
    sorted.sort_by(|a, b| volume(b).total_cmp(&volume(a)));
    let row = |cell: &&Region| {
        let ends = axes.iter().zip(&cell.ends);
        let ends: Vec<String> = ends
            .map(|(axis, (low, high))| format!("{} in [{}, {}]", escaped(&axis.name), data(*low), data(*high)))
            .collect();
        let why = cell.reason.as_deref().unwrap_or(&cell.scope);
        vec![ends.join(", "), escaped(&cell.verdict), escaped(why)]
    };
    let rows: Vec<Vec<String>> = sorted.iter().take(MOST_BOXES).map(row).collect();
    let mut html = String::new();
    if cells.len() > MOST_BOXES {
        html += &thinned(&format!("The largest {MOST_BOXES} of {} cells.", cells.len()));
    }
    Ok(html + &table("Cells of the parameters", &["cell", "verdict", "scope or reason"].map(str::to_owned), &rows))
}
