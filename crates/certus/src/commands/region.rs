//! `certus check --region`: for which values of parameters a property holds.

use std::io::Write;

use certus_check::region::{Map, Standing, Witness};
use certus_lang::system::System;
use certus_model::{Scope, short};
use certus_tasks::check::{Mapped, RegionResult, region_document, shares, standing_word, why};
use certus_tasks::commands::region::{task, work, write};

use super::write_brief;
use crate::Finding;
use crate::call::Call;
use crate::failure::Failure;
use crate::output::Output;

/// Maps properties over parameters.
pub fn run(call: &Call) -> Result<Finding, Failure> {
    let engine = call.request.text("engine").unwrap_or_default();
    if !["auto", certus_check::bmc::NAME].contains(&engine) {
        return Err(Failure::message(format!(
            "⟨region⟩ asks about runs of so many steps, not ⟨engine={engine}⟩: leave that out, or set single values with ⟨set⟩"
        )));
    }
    let task = task(&call.request)?;
    let mapped = call.live(|session| work(&task, session))?;
    let Mapped { system: Some(system), results, provenance } = &mapped else {
        call.note(&format!("{} before the system was loaded", call.ended_by()));
        return Ok(Finding::Undecided);
    };
    call.print(|| region_document(system, results, provenance), |output| report(system, &mapped, output))?;
    write(&call.request, system, results)?;
    Ok(finding(results))
}

fn finding(results: &[RegionResult]) -> Finding {
    let maps = || results.iter().filter_map(|result| result.map.as_ref().ok());
    let some = |wanted: fn(&Standing) -> bool| maps().flat_map(|map| &map.cells).any(|cell| wanted(&cell.standing));
    if some(|standing| matches!(standing, Standing::Violated(_) | Standing::ViolatedAt(_))) {
        Finding::Violated
    } else if results.iter().any(|result| result.map.is_err()) {
        Finding::ModelError
    } else if some(|standing| matches!(standing, Standing::Open(_))) {
        Finding::Undecided
    } else {
        Finding::Good
    }
}

fn report(system: &System, mapped: &Mapped, output: &mut Output) -> Result<(), Failure> {
    for (index, result) in mapped.results.iter().enumerate() {
        if index > 0 {
            writeln!(output)?;
        }
        let property = &system.properties[result.property];
        let map = match &result.map {
            Ok(map) => map,
            Err(message) => {
                writeln!(output, "{}: {} cannot be mapped: {message}", system.name, property.name)?;
                continue;
            }
        };
        let ranges: Vec<String> = map
            .axes
            .iter()
            .map(|axis| format!("{} in [{}, {}]", axis.name, short(axis.lower), short(axis.upper)))
            .collect();
        let (name, steps) = (&property.name, result.steps);
        let grid = map.resolution;
        let ranges = ranges.join(", ");
        writeln!(
            output,
            "{}: {name} for {ranges}; {grid} steps each, k = {steps}  {:.2} s",
            system.name, result.seconds
        )?;
        writeln!(output, "  {}", property.source)?;
        write_brief(&mapped.provenance, output)?;
        writeln!(output)?;
        match map.axes.len() {
            1 => intervals(map, output)?,
            2 if map.resolution <= WIDEST => picture(map, output)?,
            _ => boxes(map, output)?,
        }
        let shares = shares(map).into_iter().filter(|(_, share)| *share > 0.0);
        let shares: Vec<String> = shares.map(|(word, share)| format!("{word} {:.1} %", 100.0 * share)).collect();
        writeln!(output, "  {}", shares.join(", "))?;
        for note in &map.notes {
            writeln!(output, "  in some cell {note}")?;
        }
    }
    Ok(())
}

/// A cell in words.
fn words(map: &Map, standing: &Standing) -> String {
    match standing {
        Standing::Holds(Scope::Unbounded) => "holds for every value".to_owned(),
        Standing::Holds(Scope::Horizon(step)) => format!("holds for every value, up to step {step}"),
        Standing::Holds(Scope::Bounded(steps)) => {
            format!("holds for every value, up to {}", certus_model::steps(*steps))
        }
        Standing::Violated(witness) => {
            let run = &map.witnesses[*witness].run;
            match run.loop_to {
                None => format!("violated at every value, at step {}", run.states.len() - 1),
                Some(start) => {
                    format!("violated at every value, for ever: from step {} back to {start}", run.states.len() - 1)
                }
            }
        }
        Standing::ViolatedAt(witness) => format!("violated at {}", values(map, &map.witnesses[*witness])),
        Standing::Open(reason) => format!("open: {}", why(*reason)),
    }
}

fn values(map: &Map, witness: &Witness) -> String {
    let values = map.axes.iter().zip(&witness.values);
    values.map(|(axis, value)| format!("{} = {value}", axis.name)).collect::<Vec<_>>().join(", ")
}

/// One parameter: the intervals between its thresholds.
fn intervals(map: &Map, output: &mut Output) -> Result<(), Failure> {
    let mut cells: Vec<_> = map.cells.iter().collect();
    cells.sort_by_key(|cell| cell.extent.from[0]);
    let mut parts: Vec<(f64, f64, String)> = Vec::new();
    for cell in cells {
        let (low, high) = map.ends(&cell.extent)[0];
        let words = words(map, &cell.standing);
        match parts.last_mut() {
            Some(last) if last.2 == words => last.1 = high,
            _ => parts.push((low, high, words)),
        }
    }
    let range = |(low, high, _): &(f64, f64, String)| format!("[{}, {}]", short(*low), short(*high));
    let width = parts.iter().map(|part| range(part).chars().count()).max().unwrap_or(0);
    for part in &parts {
        writeln!(output, "  {:width$}  {}", range(part), part.2)?;
    }
    writeln!(output)?;
    Ok(())
}

/// Maps up to this many characters wide are shown.
const WIDEST: usize = 72;

/// Two parameters: a character for each step of the grid.
fn picture(map: &Map, output: &mut Output) -> Result<(), Failure> {
    let mut rows = vec![vec![' '; map.resolution]; map.resolution];
    for cell in &map.cells {
        let sign = sign(&cell.standing);
        for row in &mut rows[cell.extent.from[1]..cell.extent.to[1]] {
            row[cell.extent.from[0]..cell.extent.to[0]].fill(sign);
        }
    }
    let (across, up) = (&map.axes[0], &map.axes[1]);
    let (top, bottom) = (short(up.upper), short(up.lower));
    let width = top.chars().count().max(bottom.chars().count()).max(up.name.chars().count());
    let middle = map.resolution / 2;
    for (line, row) in rows.iter().enumerate().rev() {
        let label = match line {
            0 => &bottom,
            last if last + 1 == map.resolution => &top,
            own if own == middle => &up.name,
            _ => "",
        };
        writeln!(output, "  {label:>width$} |{}|", row.iter().collect::<String>())?;
    }
    let (left, right) = (short(across.lower), short(across.upper));
    let room = (map.resolution + 2).saturating_sub(left.chars().count() + right.chars().count());
    writeln!(output, "  {:width$} {left}{:^room$}{right}\n", "", across.name)?;
    let mut legend: Vec<&Standing> = Vec::new();
    for cell in &map.cells {
        if legend.iter().all(|standing| standing_word(standing) != standing_word(&cell.standing)) {
            legend.push(&cell.standing);
        }
    }
    legend.sort_by_key(|standing| standing_word(standing));
    for standing in legend {
        let example = match standing {
            Standing::Violated(witness) => {
                format!("violated at every value, for example {}", values(map, &map.witnesses[*witness]))
            }
            Standing::ViolatedAt(witness) => {
                format!(
                    "violated at a value, for example {}; of the others nothing is known",
                    values(map, &map.witnesses[*witness])
                )
            }
            other => words(map, other),
        };
        writeln!(output, "  {}  {example}", sign(standing))?;
    }
    Ok(())
}

fn sign(standing: &Standing) -> char {
    match standing {
        Standing::Holds(_) => '.',
        Standing::Violated(_) => '#',
        Standing::ViolatedAt(_) => '+',
        Standing::Open(_) => '?',
    }
}

/// Boxes beyond this many are left to `--json`.
const MOST_BOXES: usize = 40;

/// More parameters, or a fine grid: the boxes, largest first.
fn boxes(map: &Map, output: &mut Output) -> Result<(), Failure> {
    let mut cells: Vec<_> = map.cells.iter().collect();
    let size = |cell: &&certus_check::region::Cell| -> usize {
        cell.extent.from.iter().zip(&cell.extent.to).map(|(from, to)| to - from).product()
    };
    cells.sort_by_key(|cell| std::cmp::Reverse(size(cell)));
    for cell in cells.iter().take(MOST_BOXES) {
        let ends: Vec<String> = map
            .axes
            .iter()
            .zip(map.ends(&cell.extent))
            .map(|(axis, (low, high))| format!("{} in [{}, {}]", axis.name, short(low), short(high)))
            .collect();
        writeln!(output, "  {}: {}", ends.join(", "), words(map, &cell.standing))?;
    }
    if cells.len() > MOST_BOXES {
        writeln!(output, "  … and {} smaller boxes; --json lists them", cells.len() - MOST_BOXES)?;
    }
    writeln!(output)?;
    Ok(())
}
