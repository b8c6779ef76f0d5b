//! Cases with what is true of them and what `auto` says, one JSON document per line, for front ends in other languages.

use std::path::Path;

use serde_json::{Map, Value, json};

use crate::compare::{Judged, judge};
use crate::engines::{self, ask};
use crate::systems::case;
use crate::truth::{MOST_STEPS, Truth};
use certus_model::{Outcome, Scope, Verdict};

/// The lines of some systems: one for each property and each way to ask `auto`.
pub fn lines(seed: u64, first: usize, systems: usize, properties: usize, folder: &Path) -> Result<Vec<Value>, String> {
    let mut lines = Vec::new();
    for number in first..first + systems {
        let case = case(seed, number, properties);
        let networks: Map<String, Value> =
            case.networks.iter().map(|(name, text)| (name.clone(), json!(text))).collect();
        let settings: Map<String, Value> = case.settings.iter().map(|(name, own)| (name.clone(), json!(own))).collect();
        for asked in engines::ALL.into_iter().filter(|own| own.name.starts_with("auto")) {
            for (property, said) in case.properties.iter().zip(ask(asked, &case, folder)?) {
                let (Ok(truth), Ok(outcome)) = (Truth::of(&case, property), said) else { continue };
                if let Judged::Wrong(class, said) = judge(asked.steps, &outcome, &truth) {
                    return Err(format!("system {number}, {property}: {class:?}, {said}"));
                }
                let (verdict, scope) = said_of(&outcome);
                let refuted: Vec<bool> = (0..=MOST_STEPS).map(|steps| truth.depths.refutes(steps)).collect();
                lines.push(json!({
                    "number": number,
                    "system": case.text,
                    "networks": networks,
                    "settings": settings,
                    "property": property,
                    "steps": asked.steps,
                    "verdict": verdict,
                    "scope": scope,
                    "truth": {
                        "violated": truth.decision.violated(),
                        "model_error": truth.decision.error.is_some(),
                        "refuted_within": refuted,
                    },
                }));
            }
        }
    }
    Ok(lines)
}

/// The verdict and its scope, as documents have them.
fn said_of(outcome: &Outcome) -> (&'static str, Value) {
    match &outcome.verdict {
        Verdict::Holds(Scope::Unbounded) => ("holds", json!("unbounded")),
        Verdict::Holds(Scope::Bounded(steps)) => ("holds", json!({"bounded": steps})),
        Verdict::Holds(Scope::Horizon(step)) => ("holds", json!({"horizon": step})),
        Verdict::Violated(run) => ("violated", json!({"bounded": run.states.len() - 1})),
        Verdict::ModelError(error) => ("model error", json!({"bounded": error.run.states.len() - 1})),
        Verdict::Probability(own) => ("probability", json!([own.lower, own.upper])),
        Verdict::Unknown(unknown) => {
            ("unknown", unknown.settled.map_or(Value::Null, |steps| json!({"bounded": steps})))
        }
    }
}
