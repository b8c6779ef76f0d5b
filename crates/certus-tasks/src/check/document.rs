//! Results of checks as a JSON document: a contract that scripts and other tools rely on.

use certus_check::enclosed::IN_DOUBLES;
use certus_lang::system::{Property, System, Variable};
use certus_model::proof::{Method, Proof};
use certus_model::{Run, Scope, Verdict};
use certus_sim::element_names;
use certus_solver::UnknownReason;
use serde_json::{Map, Value, json};

use super::grid::grid_document;
use super::{Found, PropertyResult};
use crate::output::json_number;
use crate::prob::outcome_members;
use crate::provenance::{About, Provenance};

/// Why something is not known, in words.
pub fn why(reason: impl Into<Option<UnknownReason>>) -> &'static str {
    let Some(reason) = reason.into() else { return "all that is tried was tried" };
    match reason {
        UnknownReason::Deadline => "the time was over",
        UnknownReason::Stopped => "interrupted",
        UnknownReason::Memory => "the open subproblems need more memory than is allowed",
        UnknownReason::Subproblems => "the budget of subproblems is spent",
        UnknownReason::Numerics => "some subproblem can be neither verified nor split further",
        UnknownReason::Precision => "rounding decides: a violation in one precision is none in another",
    }
}

/// The names of the elements of variables.
pub fn names_of(variables: &[Variable]) -> Vec<String> {
    element_names(variables.iter().map(|variable| (&*variable.name, variable.len, variable.is_vector)))
}

/// The names of the elements of the policies' outputs.
pub fn policy_names(system: &System) -> Vec<String> {
    element_names(system.policies.iter().map(|policy| (&*policy.name, policy.len, policy.len > 1)))
}

/// The results as one document.
pub fn document(system: &System, results: &[PropertyResult], provenance: &Provenance) -> Value {
    let result = |result: &PropertyResult| {
        let mut shown = Map::new();
        let property = &system.properties[result.property];
        let outcome = result.outcome.as_ref().ok().and_then(Found::runs);
        let proof = outcome.and_then(|outcome| outcome.proof.as_ref());
        let engine = outcome.map_or(Value::Null, |outcome| outcome.engine.into());
        let (verdict, scope, reason, trace, loop_to, notes) = match (&result.outcome, outcome) {
            (Err(message), _) => {
                ("unknown", Value::Null, Value::from(message.as_str()), Value::Null, Value::Null, Vec::new())
            }
            (Ok(_), None) => ("unknown", Value::Null, Value::Null, Value::Null, Value::Null, Vec::new()),
            (Ok(_), Some(outcome)) => {
                let notes = outcome.notes.clone();
                match &outcome.verdict {
                    Verdict::Holds(Scope::Unbounded) => {
                        ("holds", "unbounded".into(), Value::Null, Value::Null, Value::Null, notes)
                    }
                    Verdict::Holds(Scope::Bounded(steps)) => {
                        ("holds", json!({"bounded": steps}), Value::Null, Value::Null, Value::Null, notes)
                    }
                    Verdict::Holds(Scope::Horizon(step)) => {
                        ("holds", json!({"horizon": step}), Value::Null, Value::Null, Value::Null, notes)
                    }
                    Verdict::ModelError(error) => (
                        "model error",
                        json!({"bounded": error.run.states.len() - 1}),
                        error.kind.to_string().into(),
                        trace(system, &error.run),
                        Value::Null,
                        notes,
                    ),
                    Verdict::Violated(run) => (
                        "violated",
                        json!({"bounded": run.states.len() - 1}),
                        Value::Null,
                        trace(system, run),
                        run.loop_to.into(),
                        notes,
                    ),
                    // Stands in the members of the probability, which follow.
                    Verdict::Probability(_) => ("unknown", Value::Null, Value::Null, Value::Null, Value::Null, notes),
                    Verdict::Unknown(unknown) => {
                        let reason = format!("{}, at {}", why(unknown.reason), unknown.place);
                        let scope = unknown.settled.map_or(Value::Null, |steps| json!({"bounded": steps}));
                        let candidate = unknown.candidate.as_deref();
                        let shown = candidate.map_or(Value::Null, |run| trace(system, run));
                        let loop_to = candidate.and_then(|run| run.loop_to);
                        ("unknown", scope, reason.into(), shown, loop_to.into(), notes)
                    }
                }
            }
        };
        shown.insert("property".to_owned(), property.name.as_str().into());
        describe(property, &mut shown);
        shown.insert("verdict".to_owned(), verdict.into());
        shown.insert("engine".to_owned(), engine);
        shown.insert("scope".to_owned(), scope);
        shown.insert("seconds".to_owned(), json_number(result.seconds));
        shown.insert("trace".to_owned(), trace);
        shown.insert("loop".to_owned(), loop_to);
        shown.insert("proof".to_owned(), proof.map_or(Value::Null, |proof| proof_document(system, proof)));
        let certificate = result.certificate.as_ref().map(|path| path.display().to_string());
        shown.insert("certificate".to_owned(), certificate.into());
        shown.insert("reason".to_owned(), reason);
        shown.insert("notes".to_owned(), notes.into());
        if let Ok(Found::Probability(outcome, course)) = &result.outcome {
            shown.extend(outcome_members(system, outcome, course, provenance));
        }
        if let Some(Verdict::Violated(run)) = outcome.map(|outcome| &outcome.verdict)
            && run.converges
        {
            shown.insert("converges".to_owned(), true.into());
        }
        if let Some(outcome) = outcome {
            if let Verdict::Holds(_) = outcome.verdict {
                shown.insert("vacuous".to_owned(), outcome.vacuous.into());
                let run = outcome.exercised.as_deref();
                shown.insert("exercised_by".to_owned(), run.map_or(Value::Null, |run| self::trace(system, run)));
            }
            if let Verdict::Unknown(unknown) = &outcome.verdict {
                shown.insert("holds_if".to_owned(), unknown.holds_if.clone().into());
            }
        }
        if let Some(report) = &result.grid {
            shown.insert("grid".to_owned(), grid_document(report));
        }
        if let Some(about) = about(result) {
            shown.insert("relative_to".to_owned(), provenance.relative_to(about).into());
        }
        Value::Object(shown)
    };
    let results: Vec<Value> = results.iter().map(result).collect();
    json!({"system": system.name, "states": state_ranges(system), "results": results, "provenance": provenance.to_json()})
}

/// Whose runs a verdict is about, and in which numbers; nothing for a property that could not be checked.
fn about(result: &PropertyResult) -> Option<About> {
    let outcome = result.outcome.as_ref().ok().and_then(Found::runs)?;
    let extracted = result.grid.as_ref().is_some_and(|report| report.extracted);
    let in_doubles = match &outcome.verdict {
        Verdict::Violated(run) if run.converges => false,
        // A loop is shown over the reals before it counts.
        Verdict::Violated(run) => {
            run.loop_to.is_none() && (extracted || outcome.notes.iter().any(|note| note == IN_DOUBLES))
        }
        Verdict::ModelError(_) | Verdict::Holds(_) | Verdict::Probability(_) | Verdict::Unknown(_) => false,
    };
    Some(match (extracted, in_doubles) {
        (false, false) => About::Reals,
        (false, true) => About::Doubles,
        (true, false) => About::Extracted,
        (true, true) => About::ExtractedInDoubles,
    })
}

/// What a property says, in its author's words and as it is written: reports show both.
pub(crate) fn describe(property: &Property, shown: &mut Map<String, Value>) {
    shown.insert("words".to_owned(), property.doc.trim().into());
    shown.insert("formula".to_owned(), property.source.as_str().into());
}

/// Where the elements of the state lie: pictures begin and end there.
fn state_ranges(system: &System) -> Value {
    let ends = system.states.iter().flat_map(|state| state.lower.iter().zip(&state.upper));
    let named = names_of(&system.states).into_iter().zip(ends);
    named
        .map(|(name, (lower, upper))| json!({"name": name, "lower": json_number(*lower), "upper": json_number(*upper)}))
        .collect()
}

/// The names of what proofs speak of: the elements of the state, then the policies' outputs.
pub fn proof_names(system: &System) -> Vec<String> {
    let mut names = names_of(&system.states);
    names.extend(policy_names(system));
    names
}

/// What a verdict rests on.
fn proof_document(system: &System, proof: &Proof) -> Value {
    let names = proof_names(system);
    let linear = |coefficients: &[f64]| -> Value {
        let used = names.iter().zip(coefficients).filter(|(_, coefficient)| **coefficient != 0.0);
        used.map(|(name, &value)| (name.clone(), json_number(value))).collect::<Map<_, _>>().into()
    };
    let method = |method: &Method| match method {
        Method::Induction { depth, invariant, simple } => {
            let faces = invariant.faces.iter();
            let faces: Vec<Value> = faces
                .map(|face| json!({"linear": linear(&face.coefficients), "at_most": json_number(face.bound)}))
                .collect();
            json!({"induction": {"depth": depth, "different": simple, "invariant": faces}})
        }
        Method::Leaves { steps } => json!({"leaves": {"steps": steps}}),
        Method::Ranking(ranking) => json!({"ranking": {
            "linear": linear(&ranking.coefficients),
            "decrease": json_number(ranking.decrease),
            "context": ranking.context,
        }}),
    };
    match proof {
        Proof::Bounded { steps, .. } => json!({"bounded": {"steps": steps}}),
        Proof::OutOfReach { steps } => json!({"out_of_reach": {"steps": steps}}),
        Proof::ForAllTime(methods) => json!({"for_all_time": methods.iter().map(method).collect::<Vec<_>>()}),
    }
}

/// A run as a list of its positions.
pub(super) fn trace(system: &System, run: &Run) -> Value {
    let numbers = |names: Vec<String>, values: &[f64]| -> Value {
        names.into_iter().zip(values.iter().map(|&value| json_number(value))).collect::<Map<_, _>>().into()
    };
    let position = |position: usize| {
        let chances = system.chances.iter().zip(&run.chances[position]);
        let chances: Map<String, Value> =
            chances.map(|(chance, &label)| (chance.name.clone(), chance.labels[label].as_str().into())).collect();
        let actions = system.actions.iter().zip(&run.actions[position]);
        let actions: Map<String, Value> =
            actions.map(|(action, &label)| (action.name.clone(), action.labels[label].as_str().into())).collect();
        let atoms = system.atoms.iter().zip(&run.atoms[position]);
        let atoms: Map<String, Value> = atoms.map(|(atom, &truth)| (atom.text.clone(), truth.into())).collect();
        let mut shown = json!({
            "state": numbers(names_of(&system.states), &run.states[position]),
            "input": numbers(names_of(&system.inputs), &run.inputs[position]),
            "chance": chances,
            "policy": numbers(policy_names(system), &run.policies[position]),
            "action": actions,
            "atoms": atoms,
        });
        // What is chosen at the end may not matter: any choice will do.
        if run.open_end && position + 1 == run.states.len() {
            shown["any_choice"] = true.into();
        }
        shown
    };
    (0..run.states.len()).map(position).collect::<Vec<Value>>().into()
}
