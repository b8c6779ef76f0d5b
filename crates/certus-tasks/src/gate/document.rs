//! Properties × checkpoints as a document.

use certus_documents as documents;
use certus_documents::Scope;
use certus_documents::gate::{Checkpoint, CheckpointResult, GateVerdict};

use super::{Cell, Gated, Judge, Row};
use crate::Provenance;
use crate::provenance::About;

/// What came out as a document.
pub fn document(judge: &Judge, gated: &Gated, seconds: f64) -> documents::gate::Gate {
    let (engine, runs, steps, seed) = match judge {
        Judge::Simulation(own) => ("simulation", Some(own.runs), Some(own.steps), own.seed),
        Judge::Bmc(own) => ("bmc", None, own.steps, own.effort.seed),
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
    documents::gate::Gate {
        schema: documents::Schema::default(),
        system: gated.system.clone(),
        network: gated.network.clone(),
        engine: engine.to_owned(),
        runs,
        steps,
        seed,
        checkpoints: gated.rows.iter().map(row).collect(),
        of: gated.of,
        seconds: seconds.into(),
        relative_to: relative_to(judge, &gated.provenance),
        provenance: provenance(judge, gated, engine, seed).document(),
    }
}

/// What the cells are about: each the checkpoint of its row.
fn relative_to(judge: &Judge, provenance: &Provenance) -> String {
    let about = if matches!(judge, Judge::Bmc(_)) { About::Reals } else { About::Sampled };
    let how = provenance.relative_to(about).replacen("the system in its file", "each checkpoint", 1);
    how.replacen("the network in its file", "each checkpoint", 1)
}

/// Where the cells come from, with what the engine was allowed to do.
fn provenance(judge: &Judge, gated: &Gated, engine: &str, seed: u64) -> Provenance {
    let own = Provenance { engine: engine.to_owned(), seed: Some(seed), ..gated.provenance.clone() };
    let own = own.limit("timeout", gated.timeout.map(Into::into));
    match judge {
        Judge::Simulation(judge) => own
            .limit("runs", Some(judge.runs.into()))
            .limit("steps", Some(judge.steps.into()))
            .limit("candidates", Some(judge.candidates.into())),
        Judge::Bmc(judge) => own
            .limit("memory", Some(judge.effort.memory.into()))
            .limit("steps", judge.steps.map(Into::into))
            .limit("cell_timeout", judge.seconds_per_cell.map(Into::into)),
    }
}
