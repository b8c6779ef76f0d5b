//! Results of checks as a document.

use certus_check::enclosed::IN_DOUBLES;
use certus_documents as documents;
use certus_documents::check::{Face, Position, PropertyResult as Shown, Trace};
use certus_documents::{Members, NamedRange, Number, members};
use certus_engine::Budget;
use certus_graph::Interval;
use certus_lang::system::{Property, System, Variable};
use certus_model::proof::{Method, Proof};
use certus_model::{Outcome, Run, Scope, Verdict};
use certus_sim::element_names;
use certus_solver::UnknownReason;

use super::flowpipe::flowpipe_document;
use super::grid::grid_document;
use super::state_sets::{Extents, initial_states, state_sets};
use super::{Found, PropertyResult};
use crate::prob::bounded;
use crate::provenance::{About, Provenance};

/// Why something is not known, in words.
pub fn why(reason: impl Into<Option<UnknownReason>>) -> &'static str {
    let Some(reason) = reason.into() else { return "all that is tried was tried" };
    match reason {
        UnknownReason::Deadline => "out of time",
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
pub fn document(system: &System, results: &[PropertyResult], provenance: &Provenance) -> documents::check::Check {
    documents::check::Check {
        schema: documents::Schema::default(),
        system: system.name.clone(),
        states: state_ranges(system),
        initial: Some(initial_states(system)),
        results: results.iter().map(|result| shown(system, result, provenance)).collect(),
        provenance: provenance.document(),
    }
}

/// One result.
fn shown(system: &System, result: &PropertyResult, provenance: &Provenance) -> Shown {
    let property = &system.properties[result.property];
    let certificate = result.certificate.as_ref().map(|path| path.display().to_string());
    // Members that only some verdicts have a value for are `null` with the others.
    let unknown = Shown {
        scope: Some(None),
        seconds: Some(result.seconds.into()),
        trace: Some(None),
        loop_to: Some(None),
        proof: Some(None),
        certificate: Some(certificate),
        notes: Some(Vec::new()),
        grid: result.grid.as_ref().map(grid_document),
        ..described(property)
    };
    let outcome = match &result.outcome {
        Err(message) => return Shown { reason: Some(message.clone()), ..unknown },
        Ok(Found::Probability(outcome, course)) => return bounded(unknown, system, outcome, course, provenance),
        Ok(Found::Runs(outcome)) => outcome,
    };
    let mut shown = Shown {
        engine: Some(outcome.engine.to_owned()),
        proof: Some(outcome.proof.as_ref().map(|proof| proof_document(system, proof))),
        notes: Some(outcome.notes.clone()),
        relative_to: about(result).map(|about| provenance.relative_to(about)),
        ..unknown
    };
    let steps = |run: &Run| Some(Some(documents::Scope::Bounded(run.states.len() - 1)));
    match &outcome.verdict {
        Verdict::Holds(reach) => {
            shown.verdict = documents::check::Verdict::Holds;
            shown.scope = Some(Some(scope(reach)));
            shown.vacuous = Some(outcome.vacuous);
            shown.exercised_by = Some(outcome.exercised.as_deref().map(|run| trace(system, run)));
        }
        Verdict::ModelError(error) => {
            shown.verdict = documents::check::Verdict::ModelError;
            shown.scope = steps(&error.run);
            shown.reason = Some(error.kind.to_string());
            shown.trace = Some(Some(trace(system, &error.run)));
        }
        Verdict::Violated(run) => {
            shown.verdict = documents::check::Verdict::Violated;
            shown.scope = steps(run);
            shown.trace = Some(Some(trace(system, run)));
            shown.loop_to = Some(run.loop_to);
            shown.converges = run.converges.then_some(true);
        }
        // Stands in the members of a probability, which such a result has in its place.
        Verdict::Probability(_) => {}
        Verdict::Unknown(unknown) => {
            let candidate = unknown.candidate.as_deref();
            shown.scope = Some(unknown.settled.map(documents::Scope::Bounded));
            shown.reason = Some(format!("{}, at {}", why(unknown.reason), unknown.place));
            shown.trace = Some(candidate.map(|run| trace(system, run)));
            shown.loop_to = Some(candidate.and_then(|run| run.loop_to));
            shown.holds_if = Some(unknown.holds_if.clone());
        }
    }
    shown.state_sets = state_sets(system, property, &extents(system, result, outcome));
    shown
}

/// Where pictures of a result show states.
fn extents(system: &System, result: &PropertyResult, outcome: &Outcome) -> Extents {
    let mut extents = Extents::of(system);
    let run = match &outcome.verdict {
        Verdict::Violated(run) => Some(run),
        Verdict::ModelError(error) => Some(&error.run),
        Verdict::Unknown(unknown) => unknown.candidate.as_deref(),
        Verdict::Holds(_) | Verdict::Probability(_) => None,
    };
    for state in run.iter().flat_map(|run| &run.states) {
        extents.add(state.iter().map(|&value| (value, value)));
    }
    if let Some(report) = result.grid.as_ref().filter(|report| report.names == system.state_names()) {
        extents.add(report.hull.iter().copied());
    }
    extents
}

/// How much work it is worth to split the initial set for a picture.
pub(crate) const DRAWING: Budget<'static> = Budget {
    deadline: None,
    stop: None,
    threads: 1,
    seed: 0,
    memory: 1 << 30,
    subproblems: 20_000,
    effort: u64::MAX,
    certify: false,
};

/// Adds the reachable sets to the results whose verdict comes from the engine `reach`.
pub fn add_flowpipes(system: &System, results: &[PropertyResult], document: &mut documents::check::Check) {
    for (shown, result) in document.results.iter_mut().zip(results) {
        let property = &system.properties[result.property];
        let Some(outcome) = result.outcome.as_ref().ok().and_then(Found::runs) else { continue };
        if outcome.engine != certus_reach::NAME {
            continue;
        }
        match flowpipe_document(system, property, result.pieces.as_ref(), &DRAWING) {
            Ok(pipe) => {
                let mut extents = extents(system, result, outcome);
                extents.add_boxes(&pipe);
                shown.state_sets = state_sets(system, property, &extents);
                shown.flowpipe = Some(pipe);
            }
            Err(reason) => shown.notes.get_or_insert_default().push(format!("no reachable sets are shown: {reason}")),
        }
    }
}

/// A scope as documents have it.
pub(super) fn scope(scope: &Scope) -> documents::Scope {
    match *scope {
        Scope::Unbounded => documents::Scope::Unbounded,
        Scope::Bounded(steps) => documents::Scope::Bounded(steps),
        Scope::Horizon(step) => documents::Scope::Horizon(step),
    }
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

/// The beginning of a result: what the property says, in its author's words and as it is written. Nothing is known of it yet.
pub(crate) fn described(property: &Property) -> Shown {
    Shown {
        property: property.name.clone(),
        words: property.doc.trim().to_owned(),
        formula: property.source.clone(),
        ..Shown::default()
    }
}

/// Where the elements of the state lie: pictures begin and end there.
fn state_ranges(system: &System) -> Vec<NamedRange> {
    let ends = system.states.iter().flat_map(|state| state.lower.iter().zip(&state.upper));
    let named = names_of(&system.states).into_iter().zip(ends);
    named.map(|(name, (&lower, &upper))| NamedRange { name, lower: lower.into(), upper: upper.into() }).collect()
}

/// The names of what proofs speak of: the elements of the state, then the policies' outputs.
pub fn proof_names(system: &System) -> Vec<String> {
    let mut names = names_of(&system.states);
    names.extend(policy_names(system));
    names
}

/// A box that no run leaves and that proofs for all time begin in: the places of the elements of the state that it confines to less than
/// their declared ranges.
pub fn confining_box(system: &System) -> Vec<(usize, Interval)> {
    certus_check::reach::confined(system).unwrap_or_default()
}

/// What a verdict rests on.
fn proof_document(system: &System, proof: &Proof) -> documents::check::Proof {
    let names = proof_names(system);
    let linear = |coefficients: &[f64]| -> Members<Number> {
        let used = names.iter().zip(coefficients).filter(|(_, coefficient)| **coefficient != 0.0);
        members(used.map(|(name, &value)| (name.clone(), value)))
    };
    let method = |method: &Method| match method {
        Method::Induction { depth, ahead, invariant, simple } => {
            let faces = invariant.faces.iter();
            let faces = faces.map(|face| Face { linear: linear(&face.coefficients), at_most: face.bound.into() });
            let invariant = faces.collect();
            let ranges = confining_box(system);
            let within = ranges.into_iter().map(|(place, own)| NamedRange {
                name: names[place].clone(),
                lower: own.lo.into(),
                upper: own.hi.into(),
            });
            documents::check::Method::Induction {
                depth: *depth,
                ahead: *ahead,
                different: *simple,
                invariant,
                within: within.collect(),
            }
        }
        Method::Ranking(ranking) => documents::check::Method::Ranking {
            linear: linear(&ranking.coefficients),
            decrease: ranking.decrease.into(),
            context: ranking.context,
        },
    };
    match proof {
        Proof::Bounded { steps, .. } => documents::check::Proof::Bounded { steps: *steps },
        Proof::OutOfReach { steps } => documents::check::Proof::OutOfReach { steps: *steps },
        Proof::ForAllTime(methods) => documents::check::Proof::ForAllTime(methods.iter().map(method).collect()),
    }
}

/// A run as a list of its positions.
pub(super) fn trace(system: &System, run: &Run) -> Trace {
    let (states, inputs, policies) = (names_of(&system.states), names_of(&system.inputs), policy_names(system));
    let named = |names: &[String], values: &[f64]| members(names.iter().cloned().zip(values.iter().copied()));
    let position = |position: usize| {
        let chances = system.chances.iter().zip(&run.chances[position]);
        let actions = system.actions.iter().zip(&run.actions[position]);
        let atoms = system.atoms.iter().zip(&run.atoms[position]);
        // What is chosen at the end may not matter: any choice will do.
        let any_choice = run.open_end && position + 1 == run.states.len();
        Position {
            state: named(&states, &run.states[position]),
            input: named(&inputs, &run.inputs[position]),
            chance: chances.map(|(own, &label)| (own.name.clone(), own.labels[label].clone())).collect(),
            policy: named(&policies, &run.policies[position]),
            action: actions.map(|(own, &label)| (own.name.clone(), own.labels[label].clone())).collect(),
            atoms: atoms.map(|(atom, &truth)| (atom.text.clone(), truth)).collect(),
            any_choice: any_choice.then_some(true),
        }
    };
    (0..run.states.len()).map(position).collect()
}
