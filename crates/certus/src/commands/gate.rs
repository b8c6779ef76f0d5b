//! `certus gate`: properties × checkpoints.

use std::io::Write;
use std::time::Instant;

use certus_documents::Document;
use certus_lang::LowerOptions;
use certus_tasks::gate::{self, BoundedChecking, Cell, Gated, Judge, Row, Simulation, document, gate};
use certus_tasks::{Files, Loading, deadline_after};

use super::{stop_on_interrupt, write_brief};
use crate::Finding;
use crate::arguments::{Gate, GateEngine};
use crate::failure::Failure;
use crate::output::{Output, write_atomically};
use crate::progress::LiveLine;
use crate::terminal::colourful_messages;

/// Checks every property with every checkpoint.
pub fn run(command: &Gate) -> Result<Finding, Failure> {
    let started = Instant::now();
    let task = gate::Gate {
        system: Loading {
            path: command.file.clone(),
            options: LowerOptions { overrides: command.settings.clone(), ..LowerOptions::default() },
            colour: colourful_messages(),
            ..Loading::default()
        },
        checkpoints: command.networks.clone(),
        policy: command.policy.clone(),
        properties: command.properties.clone(),
        deadline: command.effort.deadline()?,
        timeout: command.effort.timeout,
    };
    let stop = stop_on_interrupt()?;
    Files::new()
        .reads_system(&task.system)
        .reads("a checkpoint", gate::checkpoints(&task.checkpoints)?)
        .writes("-o", &command.common.output)
        .writes("--picture", &command.picture)
        .ready()?;
    let mut line = LiveLine::new(command.effort.quiet);
    let tick = |done: usize| line.show(|| format!("{done} checkpoints done"));
    let judge = match command.engine {
        GateEngine::Simulation => Judge::Simulation(Simulation {
            runs: command.runs,
            steps: command.steps,
            seed: command.effort.seed,
            threads: command.effort.threads,
            candidates: command.candidates,
        }),
        GateEngine::Bmc => {
            let effort = command.effort.with_memory(&command.memory)?;
            // Before anything is read: whether that is a number of seconds.
            deadline_after(command.cell_timeout, "--cell-timeout")?;
            Judge::Bmc(BoundedChecking { steps: command.depth, seconds_per_cell: command.cell_timeout, effort })
        }
    };
    let gated = gate(&task, judge.clone(), &stop, tick)?;
    drop(line);
    let seconds = started.elapsed().as_secs_f64();
    let mut output = Output::open(command.common.output.as_deref())?;
    match command.common.json {
        true => document(&judge, &gated, seconds).write_indented(&mut output)?,
        false => table(command, &gated, seconds, &mut output)?,
    }
    output.finish()?;
    if let Some(path) = &command.picture {
        write_atomically(path, &gate::picture(&gated))?;
    }
    if gated.rows.len() < gated.of && !command.effort.quiet {
        eprintln!("note: stopped after {} of {} checkpoints", gated.rows.len(), gated.of);
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

fn table(command: &Gate, gated: &Gated, seconds: f64, output: &mut Output) -> Result<(), Failure> {
    let Gated { system, network, properties, rows, .. } = gated;
    let (runs, steps, seed) = (command.runs, command.steps, command.effort.seed);
    let how = match command.engine {
        GateEngine::Simulation => format!("{runs} runs of at most {}, seed {seed}", certus_model::steps(steps)),
        GateEngine::Bmc => match command.depth {
            Some(steps) => format!("bounded model checking, at most {}", certus_model::steps(steps)),
            None => "bounded model checking".to_owned(),
        },
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
    if matches!(command.engine, GateEngine::Bmc) && rows.len() > 1 {
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
            "\n  with {} {} runs LEFT THE MODEL; `certus simulate` shows them",
            row.network.display(),
            row.faults
        )?;
    }
    Ok(())
}
