//! Checkpoints of a network: each cell of the table says of a checkpoint what is true of the system with it.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use certus_lang::LowerOptions;
use certus_model::Scope;
use certus_tasks::gate::{BoundedChecking, Cell, Gate, Gated, Simulation, gate};
use certus_tasks::{BudgetOptions, Loading};

use crate::campaign::Tally;
use crate::compare::{Class, Judged, holds};
use crate::networks;
use crate::random::numbers;
use crate::rows::Study;
use crate::systems::{Case, Family, case_of};
use crate::truth::Truth;

/// How the gate is called in reports.
pub const NAME: &str = "gate";

/// Checkpoints of each system.
pub const CHECKPOINTS: usize = 2;

/// What is asked of model checking: `-k`.
const STEPS: usize = 2;

/// Seconds after which a cell is left open; usual ones take a thousandth.
const PATIENCE: f64 = 5.0;

/// Simulated runs, and steps of each.
const RUNS: (u64, usize) = (4, 5);

/// Compares both judges of checkpoints.
pub fn compare(study: &Study<'_>, tally: &mut Tally) -> Result<(), String> {
    let case = case_of(Family::Networks, study.seed, study.number, study.properties);
    let mut random = numbers(study.seed ^ 1, study.number as u64);
    // The network that the system moves by; if it applies two, the gate has to be told which one is meant.
    let (name, _) = case.networks.last().ok_or("no network")?;
    let outputs = if name == "pick.nnet" { 2 } else { 1 };
    let (mut files, mut cases) = (Vec::new(), Vec::new());
    for place in 0..CHECKPOINTS {
        let text = networks::random(&mut random, outputs);
        let path = study.folder.join(format!("step_{place}.nnet"));
        fs::write(&path, &text).map_err(|error| error.to_string())?;
        files.push(path);
        let replaced = case.networks.iter().map(|(own, before)| match own == name {
            true => (own.clone(), text.clone()),
            false => (own.clone(), before.clone()),
        });
        cases.push(Case { networks: replaced.collect(), ..case.clone() });
    }
    let task = Gate {
        system: Loading {
            path: case.write(study.folder, "gate.certus")?,
            options: LowerOptions { overrides: case.settings.clone(), ..LowerOptions::default() },
            ..Loading::default()
        },
        checkpoints: files,
        policy: Some(name.clone()),
        properties: case.properties.clone(),
        deadline: None,
        timeout: None,
    };
    let effort = BudgetOptions { threads: 1, ..BudgetOptions::default() };
    let stop = Arc::new(AtomicBool::new(false));
    let failed = |failure: certus_tasks::Failure| failure.to_string();
    let checking = BoundedChecking { steps: Some(STEPS), seconds_per_cell: Some(PATIENCE), effort };
    let checked = gate(&task, checking, &stop, |_| {}).map_err(failed)?;
    let simulation = Simulation { runs: RUNS.0, steps: RUNS.1, seed: study.seed, threads: 1, candidates: 4 };
    let simulated = match gate(&task, simulation, &stop, |_| {}) {
        Ok(simulated) => Some(simulated),
        // Where no initial state can be drawn, nothing is simulated.
        Err(failure) => {
            tally.refuse(NAME, failed(failure));
            None
        }
    };
    for (place, case) in cases.iter().enumerate() {
        for (column, property) in case.properties.iter().enumerate() {
            let truth = match Truth::of(case, property) {
                Ok(truth) => truth,
                Err(reason) => {
                    tally.leave(reason);
                    continue;
                }
            };
            for gated in std::iter::once(&checked).chain(&simulated) {
                let judged = judge(gated, place, column, &truth);
                tally.note((study.number, case, property, NAME), judged, || truth.in_words());
            }
        }
    }
    Ok(())
}

fn judge(gated: &Gated, row: usize, column: usize, truth: &Truth) -> Judged {
    let Some(cell) = gated.rows.get(row).and_then(|row| row.cells.get(column)) else { return Judged::Unknown };
    match cell {
        Cell::Open | Cell::Unknown { .. } => Judged::Unknown,
        Cell::Holds => holds(None, Scope::Unbounded, truth),
        Cell::HoldsUpTo(steps) => holds(Some(STEPS), Scope::Bounded(*steps), truth),
        Cell::Refuted { .. } | Cell::Violated { .. } if truth.decision.violated() => Judged::Right("violated"),
        Cell::Refuted { .. } | Cell::Violated { .. } => Judged::Wrong(Class::ViolatedWrongly, format!("{cell:?}")),
    }
}
