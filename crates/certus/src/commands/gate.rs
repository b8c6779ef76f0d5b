//! `certus gate`: properties × checkpoints.

use std::io::Write;
use std::time::Instant;

use certus_documents::gate::{Checkpoint, CheckpointResult, GateVerdict};
use certus_documents::{Document, Schema, Scope};
use certus_lang::LowerOptions;
use certus_tasks::gate::{self, BoundedChecking, Cell, Gated, Row, Simulation, gate};
use certus_tasks::provenance::About;
use certus_tasks::{Files, Loading, Provenance, deadline_after};

use super::{stop_on_interrupt, write_brief};
use crate::Finding;
use crate::arguments::{Gate, GateEngine};
use crate::failure::Failure;
use crate::output::{Output, write_whole};
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
        deadline: deadline_after(command.effort.timeout, "--timeout")?,
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
    let gated = match command.engine {
        GateEngine::Simulation => {
            let engine = Simulation {
                runs: command.runs,
                steps: command.steps,
                seed: command.effort.seed,
                threads: command.effort.threads,
                candidates: command.candidates,
            };
            gate(&task, engine, &stop, tick)?
        }
        GateEngine::Bmc => {
            let effort = command.effort.with_memory(&command.memory)?;
            // Before anything is read: whether that is a number of seconds.
            deadline_after(command.cell_timeout, "--cell-timeout")?;
            let engine = BoundedChecking { steps: command.depth, seconds_per_cell: command.cell_timeout, effort };
            gate(&task, engine, &stop, tick)?
        }
    };
    drop(line);
    let seconds = started.elapsed().as_secs_f64();
    let mut output = Output::open(command.common.output.as_deref())?;
    match command.common.json {
        true => document(command, &gated, seconds).write_indented(&mut output)?,
        false => table(command, &gated, seconds, &mut output)?,
    }
    output.finish()?;
    if let Some(path) = &command.picture {
        write_whole(path, &gate::picture(&gated))?;
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
        GateEngine::Simulation => format!("{runs} runs of at most {steps} steps, seed {seed}"),
        GateEngine::Bmc => match command.depth {
            Some(steps) => format!("bounded model checking, at most {steps} steps"),
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
            Cell::HoldsUpTo(steps) => format!("holds up to {steps} steps"),
            Cell::Open => "open".to_owned(),
            Cell::Unknown { settled: None, reason } => format!("unknown: {reason}"),
            Cell::Unknown { settled: Some(steps), reason } => format!("unknown beyond {steps} steps: {reason}"),
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

fn document(command: &Gate, gated: &Gated, seconds: f64) -> certus_documents::gate::Gate {
    let (engine, steps) = match command.engine {
        GateEngine::Simulation => ("simulation", Some(command.steps)),
        GateEngine::Bmc => ("bmc", command.depth),
    };
    let cell = |(name, cell): (&String, &Cell)| {
        let verdict = match cell {
            Cell::Holds | Cell::HoldsUpTo(_) => GateVerdict::Holds,
            Cell::Open => GateVerdict::Open,
            Cell::Unknown { .. } => GateVerdict::Unknown,
            Cell::Violated { .. } | Cell::Refuted { .. } => GateVerdict::Violated,
        };
        let shown = CheckpointResult {
            property: name.clone(),
            verdict,
            engine: engine.to_owned(),
            ..CheckpointResult::default()
        };
        match cell {
            Cell::Holds => CheckpointResult { scope: Some(Some(Scope::Unbounded)), ..shown },
            Cell::HoldsUpTo(steps) => CheckpointResult { scope: Some(Some(Scope::Bounded(*steps))), ..shown },
            Cell::Refuted { steps, loop_to } => {
                CheckpointResult { step: Some(*steps), loop_to: Some(*loop_to), ..shown }
            }
            Cell::Unknown { reason, settled } => {
                CheckpointResult { reason: Some(reason.clone()), scope: Some(settled.map(Scope::Bounded)), ..shown }
            }
            Cell::Violated { run, step, inputs, margin } => CheckpointResult {
                run: Some(*run),
                step: Some(*step),
                inputs: Some((*inputs).to_owned()),
                margin: Some((*margin).into()),
                ..shown
            },
            Cell::Open => shown,
        }
    };
    let row = |row: &Row| Checkpoint {
        network: row.network.display().to_string(),
        sha256: row.digest.clone(),
        accepted: row.cells.iter().all(Cell::holds),
        faults: row.faults,
        results: gated.properties.iter().zip(&row.cells).map(cell).collect(),
    };
    certus_documents::gate::Gate {
        schema: Schema::default(),
        system: gated.system.clone(),
        network: gated.network.clone(),
        engine: engine.to_owned(),
        runs: matches!(command.engine, GateEngine::Simulation).then_some(command.runs),
        steps,
        seed: command.effort.seed,
        checkpoints: gated.rows.iter().map(row).collect(),
        of: gated.of,
        seconds: seconds.into(),
        relative_to: relative_to(command, &gated.provenance),
        provenance: provenance(command, &gated.provenance, engine).document(),
    }
}

/// What the cells are about: each the checkpoint of its row.
fn relative_to(command: &Gate, provenance: &Provenance) -> String {
    let about = if command.engine == GateEngine::Bmc { About::Reals } else { About::Sampled };
    let how = provenance.relative_to(about).replacen("the system in its file", "each checkpoint", 1);
    how.replacen("the network in its file", "each checkpoint", 1)
}

/// Where the cells come from, with what the engine was allowed to do.
fn provenance(command: &Gate, base: &Provenance, engine: &str) -> Provenance {
    let own = Provenance { engine: engine.to_owned(), seed: Some(command.effort.seed), ..base.clone() };
    let own = own.limit("timeout", command.effort.timeout.map(Into::into));
    match command.engine {
        GateEngine::Simulation => own
            .limit("runs", Some(command.runs.into()))
            .limit("steps", Some(command.steps.into()))
            .limit("candidates", Some(command.candidates.into())),
        GateEngine::Bmc => own
            .limit("memory", Some(command.memory.megabytes.saturating_mul(1 << 20).into()))
            .limit("steps", command.depth.map(Into::into))
            .limit("cell_timeout", command.cell_timeout.map(Into::into)),
    }
}
