//! Properties × checkpoints as a JSON document.

use serde_json::{Map, Value, json};

use super::{Cell, Gated, Judge, Row};
use crate::Provenance;
use crate::output::json_number;
use crate::provenance::About;

/// What came out as a document.
pub fn document(judge: &Judge, gated: &Gated, seconds: f64) -> Value {
    let (engine, runs, steps, seed) = match judge {
        Judge::Simulation(own) => ("simulation", Some(own.runs), Some(own.steps), own.seed),
        Judge::Bmc(own) => ("bmc", None, own.steps, own.effort.seed),
    };
    let cell = |(name, cell): (&String, &Cell)| {
        let mut shown = Map::new();
        shown.insert("property".to_owned(), name.as_str().into());
        let verdict = match cell {
            Cell::Holds | Cell::HoldsUpTo(_) => "holds",
            Cell::Open => "open",
            Cell::Unknown { .. } => "unknown",
            Cell::Violated { .. } | Cell::Refuted { .. } => "violated",
        };
        shown.insert("verdict".to_owned(), verdict.into());
        shown.insert("engine".to_owned(), engine.into());
        let bounded = |steps: &usize| json!({"bounded": steps});
        match cell {
            Cell::Holds => drop(shown.insert("scope".to_owned(), "unbounded".into())),
            Cell::HoldsUpTo(steps) => drop(shown.insert("scope".to_owned(), bounded(steps))),
            Cell::Refuted { steps, loop_to } => {
                shown.insert("step".to_owned(), (*steps).into());
                shown.insert("loop".to_owned(), (*loop_to).into());
            }
            Cell::Unknown { reason, settled } => {
                shown.insert("reason".to_owned(), reason.as_str().into());
                shown.insert("scope".to_owned(), settled.as_ref().map_or(Value::Null, bounded));
            }
            Cell::Open | Cell::Violated { .. } => {}
        }
        if let Cell::Violated { run, step, inputs, margin } = cell {
            shown.insert("run".to_owned(), (*run).into());
            shown.insert("step".to_owned(), (*step).into());
            shown.insert("inputs".to_owned(), (*inputs).into());
            shown.insert("margin".to_owned(), json_number(*margin));
        }
        Value::Object(shown)
    };
    let row = |row: &Row| {
        let cells: Vec<Value> = gated.properties.iter().zip(&row.cells).map(cell).collect();
        let accepted = row.cells.iter().all(Cell::holds);
        json!({
            "network": row.network.display().to_string(), "sha256": row.digest, "accepted": accepted,
            "faults": row.faults, "results": cells,
        })
    };
    json!({
        "system": gated.system,
        "network": gated.network,
        "engine": engine,
        "runs": runs,
        "steps": steps,
        "seed": seed,
        "checkpoints": gated.rows.iter().map(row).collect::<Vec<_>>(),
        "of": gated.of,
        "seconds": seconds,
        "relative_to": relative_to(judge, &gated.provenance),
        "provenance": provenance(judge, gated, engine, seed).to_json(),
    })
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
    let own = own.limit("timeout", gated.timeout.map(json_number));
    match judge {
        Judge::Simulation(judge) => own
            .limit("runs", Some(judge.runs.into()))
            .limit("steps", Some(judge.steps.into()))
            .limit("candidates", Some(judge.candidates.into())),
        Judge::Bmc(judge) => own
            .limit("memory", Some(judge.effort.memory.into()))
            .limit("steps", judge.steps.map(Into::into))
            .limit("cell_timeout", judge.seconds_per_cell.map(json_number)),
    }
}
