//! Shields and their runs as JSON documents.

use std::path::Path;

use certus_lang::LowerOptions;
use certus_shield::evaluation::{Statistics, Trial};
use certus_shield::history::Sample;
use certus_shield::synthesis::Failed;
use serde_json::{Value, json};

use super::{Made, Ready, Replay};
use crate::output::{json_number, short};
use crate::provenance::About;
use crate::{BudgetOptions, Loading, Provenance};

/// A shield that was made, without its certificate.
pub fn made_document(made: &Made, bytes: usize, seconds: f64, path: Option<&Path>) -> Value {
    let branch = |(own, origin): (&certus_audit::shield::Settled, &&str)| {
        json!({
            "invariant": own.invariant,
            "program": origin,
            "claims": own.claims,
            "tolerance": json_number(own.tolerance),
        })
    };
    json!({
        "system": made.system,
        "property": made.property,
        "verdict": "verified",
        "branches": made.accepted.branches.iter().zip(&made.origins).map(branch).collect::<Vec<_>>(),
        "parts": made.accepted.boxes,
        "steps_to_target": made.accepted.convergence.as_ref().map(|own| own.steps),
        "bytes": bytes,
        "improvement_cut_short": made.cut_short,
        "file": path.map(|path| path.display().to_string()),
        "text": made.program,
        "seconds": seconds,
        "relative_to": made.provenance.claim.get("relative_to"),
        "provenance": made.provenance.to_json(),
    })
}

/// Why there is no shield, and how many programs were tried.
pub fn reason(failed: &Failed, given_monomials: bool) -> (String, u64) {
    match failed {
        Failed::NotFound { branches, tried, uncovered } => {
            let point: Vec<String> = uncovered.iter().map(|x| short(*x)).collect();
            let kind = if given_monomials { "no program over the given monomials" } else { "no program" };
            let from = point.join(", ");
            (format!("{kind} was proved safe from ({from}); {branches} branches were proved"), *tried as u64)
        }
        Failed::Stopped { branches, tried } => (format!("stopped with {branches} branches proved"), *tried as u64),
        Failed::Unsupported(reason) => (reason.clone(), 0),
    }
}

/// That there is no shield.
pub fn failed_document(reason: &str, tried: u64, seconds: f64) -> Value {
    json!({ "verdict": "unknown", "reason": reason, "programs": tried, "seconds": seconds })
}

/// The mean of the steps until runs settle.
pub fn settling(outcome: &Statistics) -> f64 {
    outcome.settling as f64 / (outcome.runs - outcome.unsafe_runs).max(1) as f64
}

/// Where the runs of a shield come from.
pub fn replayed_from(ready: &Ready, trial: &Trial, effort: &BudgetOptions, loading: Loading) -> Provenance {
    let options = LowerOptions { overrides: ready.settings.clone(), ..LowerOptions::default() };
    let loading = Loading { options, ..loading };
    Provenance::of_system("simulation", &loading, &ready.system, &ready.sources)
        .with_effort(effort)
        .limit("runs", Some(trial.runs.into()))
        .limit("steps", Some(trial.steps.into()))
}

/// What a document about runs of a shield says before they are made.
pub fn about(ready: &Ready, provenance: &Provenance) -> Value {
    json!({
        "system": ready.system.name, "property": ready.property, "states": ready.runtime.states,
        "relative_to": provenance.relative_to(About::Sampled),
        "provenance": provenance.to_json(),
    })
}

/// That runs of a shield were stopped.
pub fn stopped_document(about: &Value) -> Value {
    json!({ "system": about["system"], "verdict": "unknown", "reason": "stopped" })
}

fn sample_document(sample: &Sample) -> Value {
    let states = sample.states.iter().map(|state| state.iter().map(|x| json_number(*x)).collect::<Value>());
    json!({
        "run": sample.run,
        "steps": sample.steps,
        "states": states.collect::<Value>(),
        "overridden": sample.overridden,
        "unsafe_at": sample.unsafe_at,
    })
}

/// Runs without and with a shield.
pub fn replay_document(about: &Value, trial: &Trial, replay: &Replay) -> Value {
    let outcome = |own: &Statistics, seconds: f64| {
        json!({
            "unsafe_runs": own.unsafe_runs,
            "steps": own.steps,
            "interventions": own.interventions,
            "alarms": own.alarms,
            "steps_to_settle": json_number(settling(own)),
            "seconds": seconds,
            "history": {
                "width": own.history.width,
                "steps": own.history.steps,
                "interventions": own.history.interventions,
            },
            "samples": own.history.samples.iter().map(sample_document).collect::<Value>(),
        })
    };
    json!({
        "system": about["system"],
        "property": about["property"],
        "states": about["states"],
        "runs": trial.runs,
        "steps": trial.steps,
        "seed": trial.seed,
        "verdict": if replay.shielded.unsafe_runs == 0 { "safe" } else { "unsafe" },
        "network_alone": outcome(&replay.bare, replay.bare_seconds),
        "with_shield": outcome(&replay.shielded, replay.shielded_seconds),
        "network_nanoseconds": json_number(replay.network_time),
        "monitor_nanoseconds": json_number(replay.monitor_time),
        "relative_to": about["relative_to"],
        "provenance": about["provenance"],
    })
}
