//! `certus gate`: properties × checkpoints.

use std::io::Write;
use std::time::Instant;

use certus_model::counted;
use certus_tasks::commands::gate::{note, task, work};
use certus_tasks::gate::{BoundedChecking, Cell, Gated, Judge, Row, Simulation, document};

use super::write_brief;
use crate::Finding;
use crate::call::Call;
use crate::failure::Failure;
use crate::output::Output;

/// Checks every property with every checkpoint.
pub fn run(call: &Call) -> Result<Finding, Failure> {
    let started = Instant::now();
    let (task, judge) = task(&call.request)?;
    let gated = call.live(|session| work(&call.request, &task, &judge, session))?;
    let seconds = started.elapsed().as_secs_f64();
    call.print(|| document(&judge, &gated, seconds), |output| table(&judge, &gated, seconds, output))?;
    if let Some(note) = note(&gated) {
        call.note(&note);
    }
    Ok(if gated.is_violated() {
        Finding::Violated
    } else if gated.has_model_error() {
        Finding::ModelError
    } else if gated.holds() {
        Finding::Good
    } else {
        Finding::Undecided
    })
}

fn table(judge: &Judge, gated: &Gated, seconds: f64, output: &mut Output) -> Result<(), Failure> {
    let Gated { system, network, properties, rows, .. } = gated;
    let how = match judge {
        Judge::Simulation(Simulation { runs, steps, seed, .. }) => {
            format!("{} of at most {}, seed {seed}", counted(*runs as u128, "run"), certus_model::steps(*steps))
        }
        Judge::Bmc(BoundedChecking { steps: Some(steps), .. }) => {
            format!("bounded model checking, at most {}", certus_model::steps(*steps))
        }
        Judge::Bmc(_) => "bounded model checking".to_owned(),
    };
    writeln!(output, "{system}: checkpoints in place of {network}; {how}, {seconds:.2} s")?;
    write_brief(&gated.provenance, output)?;
    writeln!(output)?;
    let shown = |row: &Row| -> Vec<String> {
        let file = row.network.display().to_string();
        let cells = row.cells.iter().map(|cell| match cell {
            Cell::Holds => "holds".to_owned(),
            Cell::HoldsUpTo(steps) => format!("holds up to {}", certus_model::steps(*steps)),
            Cell::Open => "open".to_owned(),
            Cell::Unknown { settled: None, reason } => format!("unknown: {reason}"),
            Cell::Unknown { settled: Some(steps), reason } => {
                format!("unknown beyond {}: {reason}", certus_model::steps(*steps))
            }
            Cell::Refuted { steps, loop_to: None } => format!("violated at step {steps}"),
            Cell::Refuted { steps, loop_to: Some(start) } => format!("violated for ever ({steps} back to {start})"),
            Cell::Violated { run, step, inputs, .. } => {
                let who = if *inputs == "adversary" { "adversary, " } else { "" };
                format!("violated ({who}run {run}, step {step})")
            }
        });
        std::iter::once(file).chain(cells).collect()
    };
    let header = std::iter::once("checkpoint").chain(properties.iter().map(String::as_str)).map(str::to_owned);
    let lines: Vec<Vec<String>> = std::iter::once(header.collect()).chain(rows.iter().map(shown)).collect();
    let width = |column: usize| lines.iter().map(|line| line[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..=properties.len()).map(width).collect();
    for line in &lines {
        let cells: Vec<String> = line.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}")).collect();
        writeln!(output, "  {}", cells.join("  ").trim_end())?;
    }
    if matches!(judge, Judge::Bmc(_)) && rows.len() > 1 {
        writeln!(output)?;
        for (place, name) in properties.iter().enumerate() {
            let when = match gated.learnt(place) {
                Some(0) => "holds with every checkpoint".to_owned(),
                Some(first) => format!("holds from {} on", rows[first].network.display()),
                None => "does not hold with the last checkpoint, or that is not known".to_owned(),
            };
            writeln!(output, "  {name}: {when}")?;
        }
    }
    for row in rows.iter().filter(|row| row.faults > 0) {
        writeln!(
            output,
            "\n  with {} {} LEFT THE MODEL; `certus simulate` shows where",
            row.network.display(),
            counted(row.faults as u128, "run")
        )?;
    }
    Ok(())
}
