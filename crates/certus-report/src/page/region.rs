//! Parameter regions: maps of where a property holds.

use certus_documents::plain as doubles;
use certus_documents::region::{CellVerdict, MapCell, ParameterMap};

use super::Row;
use super::html::{Page, data, escaped, notes, table, thinned};
use super::read::{Malformed, Read};
use super::trace;
use crate::map::{Axis, Cell, Kind, Map, picture};
use crate::state_sets::Sets;

/// Witnesses whose runs are shown.
const MOST_WITNESSES: usize = 2;
/// Boxes that a table lists.
const MOST_BOXES: usize = 40;

fn kind(verdict: CellVerdict) -> Kind {
    match verdict {
        CellVerdict::Holds => Kind::Holds,
        CellVerdict::Violated => Kind::Violated,
        CellVerdict::ViolatedAtAValue => Kind::PartlyViolated,
        CellVerdict::Open => Kind::Open,
    }
}

/// The ends of a cell, one pair for each parameter.
fn ends(cell: &MapCell) -> Vec<(f64, f64)> {
    doubles(&cell.lower).into_iter().zip(doubles(&cell.upper)).collect()
}

/// One map with its row of the summary.
pub(crate) fn section(page: &mut Page, system: &str, region: &ParameterMap) -> Read<(Row, String)> {
    let property = &region.property;
    let mut row = Row {
        words: Some(super::described(&region.words, &region.formula)),
        seconds: Some(region.seconds.into()),
        engine: region.engine.clone().unwrap_or_else(|| "bmc".to_owned()),
        formula: Some(region.formula.clone()),
        relative: region.relative_to.clone(),
        ..Row::new(system, property)
    };
    let (Some(parameters), Some(cells)) = (&region.parameters, &region.cells) else {
        row.verdict = "unknown".to_owned();
        row.reason.clone_from(&region.reason);
        return Ok((row, String::new()));
    };
    let axis =
        parameters.iter().map(|own| Axis { name: own.name.clone(), lower: own.lower.into(), upper: own.upper.into() });
    let axes: Vec<Axis> = axis.collect();
    let wrong = |own: &MapCell| own.lower.len() != axes.len() || own.upper.len() != axes.len();
    if let Some(index) = cells.iter().position(wrong) {
        let error = Malformed::new("a cell has as many ends as there are parameters");
        return Err(error.within(&format!(".cells[{index}]")));
    }
    let shares: Vec<(&str, f64)> =
        region.shares.iter().flatten().map(|(name, share)| (name.as_str(), share.0)).collect();
    let some = |verdict: CellVerdict| shares.iter().any(|(name, share)| *name == verdict.word() && *share > 0.0);
    let violated = some(CellVerdict::Violated) || some(CellVerdict::ViolatedAtAValue);
    row.verdict = match (violated, some(CellVerdict::Open)) {
        (true, _) => "violated",
        (false, true) => "unknown",
        (false, false) => "holds",
    }
    .to_owned();
    let names: Vec<&str> = axes.iter().map(|axis| axis.name.as_str()).collect();
    row.scope = format!("for {}", names.join(", "));
    let share = |(name, share): &(&str, f64)| format!("{}: {} %", escaped(name), data(100.0 * share));
    let mut html = format!(
        "<p>Shares of the parameters: {}.</p>\n",
        shares.iter().filter(|own| own.1 > 0.0).map(share).collect::<Vec<_>>().join(", ")
    );
    html += &map(page, system, property, &axes, cells);
    html += &notes(region.notes.as_deref().unwrap_or_default());
    let witnesses = region.witnesses.as_deref().unwrap_or_default();
    for (index, witness) in witnesses.iter().take(MOST_WITNESSES).enumerate() {
        let values = axes.iter().zip(&witness.values);
        let values: Vec<String> =
            values.map(|(axis, value)| format!("{} = {}", escaped(&axis.name), data(value.0))).collect();
        let run = trace::read(&witness.trace, witness.loop_to)
            .map_err(|error| error.within(&format!(".witnesses[{index}].trace")))?;
        html += &format!("<h4>A run that violates it, at {}</h4>\n", values.join(", "));
        html += &trace::section(page, &format!("{system} {property} witness {}", index + 1), &run, Sets::default());
    }
    if witnesses.len() > MOST_WITNESSES {
        html += &thinned(&format!("Of {} violating runs the first {MOST_WITNESSES} are shown.", witnesses.len()));
    }
    row.sections = true;
    Ok((row, html))
}

fn map(page: &mut Page, system: &str, property: &str, axes: &[Axis], cells: &[MapCell]) -> String {
    let legend = [
        (Kind::Holds, "holds for every value".to_owned()),
        (Kind::Violated, "violated at every value".to_owned()),
        (Kind::PartlyViolated, "violated at a value; of the others nothing is known".to_owned()),
        (Kind::Open, "open".to_owned()),
    ];
    let drawn: Vec<Cell> = cells.iter().map(|cell| Cell { ends: ends(cell), kind: kind(cell.verdict) }).collect();
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
        return format!(
            "<div class=\"figures\">{}</div>\n",
            page.figure(&format!("{system} {property} map"), &picture, &label, &caption)
        );
    }
    let volume = |cell: &&MapCell| -> f64 { ends(cell).iter().map(|(low, high)| high - low).product() };
    let mut sorted: Vec<&MapCell> = cells.iter().collect();
    sorted.sort_by(|a, b| volume(b).total_cmp(&volume(a)));
    let row = |cell: &&MapCell| {
        let ends = axes.iter().zip(ends(cell));
        let ends: Vec<String> = ends
            .map(|(axis, (low, high))| format!("{} in [{}, {}]", escaped(&axis.name), data(low), data(high)))
            .collect();
        let why = cell.reason.clone().or(cell.scope.map(super::scope)).unwrap_or_default();
        vec![ends.join(", "), escaped(cell.verdict.word()), escaped(&why)]
    };
    let rows: Vec<Vec<String>> = sorted.iter().take(MOST_BOXES).map(row).collect();
    let mut html = String::new();
    if cells.len() > MOST_BOXES {
        html += &thinned(&format!("The largest {MOST_BOXES} of {} cells.", cells.len()));
    }
    html + &table("Cells of the parameters", &["cell", "verdict", "scope or reason"].map(str::to_owned), &rows)
}
