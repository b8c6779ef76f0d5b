//! The work of a check: each property in its share of the time, by the engines that were chosen.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use certus_check::choices;
use certus_check::enclosed::{IN_DOUBLES, MOST_ENCLOSED, confirmed, violates_over_the_reals};
use certus_check::errors::Errors;
use certus_engine::portfolio::NO_PROOF;
use certus_engine::schedule::{Clock, share_out};
use certus_engine::{Board, Budget, Depth, Finished, Progress, Task, spent};
use certus_grid::{Policy, Report};
use certus_lang::system::System;
use certus_model::{CheckError, NoErrors, Outcome, Scope, Unknown, UnknownReason, Verdict, within_scope};
use certus_prob::Narrowed;
use certus_reach::Evidence;

use super::certificate::{self, Hints};
use super::engines::{Context, Wanted, errors_of};
use super::{Check, CheckProgress, Checked, Found, PropertyResult, grid, nothing_to_check, reachable};
use crate::failure::Failure;
use crate::{Loaded, Provenance, Source, load, property_named};

/// What is known while the work goes on: on a board, so that nothing is lost if the work is late.
#[derive(Clone, Default)]
pub(super) struct Partial {
    pub(super) progress: CheckProgress,
    /// When the property that is being checked was begun.
    started: Option<Instant>,
    system: Option<Arc<System>>,
    sources: Vec<Source>,
    properties: Vec<usize>,
    results: Vec<PropertyResult>,
}

/// The results when no more is found out: what was decided, and for the rest why not.
pub(super) fn concluded(task: &Check, known: Partial, reason: UnknownReason) -> Checked {
    let Partial { progress, started, system, sources, properties, mut results } = known;
    let first = results.len();
    // Properties are known once the system is.
    let unanswered = system.iter().flat_map(|_| properties.iter().copied());
    for (index, property) in unanswered.enumerate().skip(first) {
        let begun = if index == first { progress.progress } else { None };
        let outcome = Ok(Found::Runs(Box::new(undecided(task, reason, begun))));
        let started = started.filter(|_| index == first);
        let seconds = started.map_or(0.0, |started| started.elapsed().as_secs_f64());
        results.push(PropertyResult { property, outcome, seconds, certificate: None, grid: None, evidence: None });
    }
    let provenance = system.as_ref().map(|system| provenance(task, system, &sources)).unwrap_or_default();
    Checked { system, results, provenance }
}

/// The results so far that will not change any more, without those of some properties: who was late may have another turn.
pub(super) fn settled(task: &Check, known: &Partial, without: &[usize]) -> Checked {
    let Partial { system, sources, results, .. } = known;
    let is_new = |result: &&PropertyResult| !was_late(result) && !without.contains(&result.property);
    let results: Vec<PropertyResult> = results.iter().filter(is_new).cloned().collect();
    // Nothing comes from anywhere where there is nothing.
    let about = system.as_ref().filter(|_| !results.is_empty());
    let provenance = about.map(|system| provenance(task, system, sources)).unwrap_or_default();
    Checked { system: system.clone(), results, provenance }
}

/// Where the outcomes of a check come from.
fn provenance(task: &Check, system: &System, sources: &[Source]) -> Provenance {
    Provenance::of_system(task.engine.name(), &task.system, system, sources)
        .with_search(&task.effort)
        .limit("steps", task.steps.map(Into::into))
        .limit("assume_no_model_errors", task.assume_no_model_errors.then_some(true.into()))
}

/// That a property was not decided in time; what was shown before counts.
fn undecided(task: &Check, reason: UnknownReason, begun: Option<Progress>) -> Outcome {
    let settled = begun.and_then(|progress| progress.settled());
    if let (Some(steps), true) = (task.steps, settled == task.steps) {
        let holds = Outcome::new(task.engine.name(), Verdict::Holds(Scope::Bounded(steps)));
        return Outcome { notes: vec![NO_PROOF.to_owned()], ..holds };
    }
    let place = begun.map_or_else(|| "the start".to_owned(), |progress| progress.place());
    let unknown = Unknown { settled, ..Unknown::at(Some(reason), place) };
    Outcome::new(task.engine.name(), Verdict::Unknown(unknown))
}

/// What is said of a verdict that takes the absence of model errors for granted.
const ASSUMED: &str = "that no run has a model error was assumed, not shown";

/// Says so where the absence of model errors was taken for granted.
fn assumed(task: &Check, mut outcome: Outcome) -> Outcome {
    if task.assume_no_model_errors && matches!(outcome.verdict, Verdict::Holds(_)) {
        outcome.notes.push(ASSUMED.to_owned());
    }
    outcome
}

/// Adds to a violation of the network's which of the environment's choices it needs, and whether rounding may make it one.
fn with_needs(
    system: &System,
    property: usize,
    outcome: Outcome,
    deadline: Option<Instant>,
) -> Result<Outcome, CheckError> {
    let Ok(formula) = system.properties[property].over_runs() else { return Ok(outcome) };
    let mut outcome = confirmed(system, formula, outcome)?;
    let Verdict::Violated(run) = &outcome.verdict else { return Ok(outcome) };
    // A run that repeats itself is known to be one of doubles.
    if run.loop_to.is_none() && (run.states.len() > MOST_ENCLOSED || !violates_over_the_reals(system, formula, run)?) {
        outcome.notes.push(IN_DOUBLES.to_owned());
    }
    if !system.inputs.is_empty() {
        outcome.notes.extend(choices::needs(system, formula, run, deadline)?.notes(system));
    }
    Ok(outcome)
}

pub(super) fn run(task: &Check, cancel: &AtomicBool, board: &Board<Partial>, clock: &dyn Clock) -> Result<(), Failure> {
    let Loaded { system, sources } = load(&task.system)?;
    let system = Arc::new(system);
    let properties: Vec<usize> = match task.properties.as_slice() {
        [] => (0..system.properties.len()).collect(),
        names => names.iter().map(|name| property_named(&system, name)).collect::<Result<_, _>>()?,
    };
    if properties.is_empty() {
        return Err(nothing_to_check(&task.system));
    }
    if task.certificate.is_some() {
        if system.is_exact() && !task.engine.is_auto() && !task.engine.is(certus_reach::NAME) {
            return Err(Failure::message(
                "of proofs about differential equations only those by reachable sets leave a certificate: take ⟨engine=reach⟩ or ⟨engine=auto⟩, or discretise the system by `rk4`",
            ));
        }
        if properties.len() != 1 {
            return Err(Failure::message("a certificate is about one property: name it"));
        }
        let about = &system.properties[properties[0]];
        if task.engine.is(certus_prob::NAME) || (task.engine.is_auto() && about.probability().is_some()) {
            return Err(Failure::message(format!("{}: bounds on probabilities leave no certificate", about.name)));
        }
    }
    if system.is_exact() && task.engine.is(certus_grid::NAME) && task.grid.policy != Policy::Network {
        return Err(Failure::message(
            "policies are extracted for discrete systems: discretise the system by `rk4`, or check the network itself",
        ));
    }
    grid::refuse(&system, &properties, task.engine, &task.grid).map_err(Failure::message)?;
    board.with(|known| {
        known.system = Some(Arc::clone(&system));
        known.sources = sources;
        known.properties.clone_from(&properties);
    });
    let budget = task.effort.budget(cancel);
    // What is found out about model errors serves all properties.
    let errors = Errors::new(&system, task.assume_no_model_errors);
    share_out(properties.len(), task.effort.deadline, clock, &mut |index, share| {
        let result = one(task, &system, properties[index], &errors, &Budget { deadline: share, ..budget }, board)?;
        let late = was_late(&result);
        board.with(|known| match known.results.get_mut(index) {
            None => known.results.push(result),
            Some(before) if !late => *before = result,
            Some(_) => {}
        });
        Ok(late)
    })
}

/// Whether a property was not decided because it ran out of time.
fn was_late(result: &PropertyResult) -> bool {
    let outcome = result.outcome.as_ref().ok().and_then(Found::runs);
    let verdict = outcome.map(|outcome| &outcome.verdict);
    matches!(verdict, Some(Verdict::Unknown(Unknown { reason: Some(UnknownReason::Deadline), .. })))
}

/// Checks one property.
fn one(
    task: &Check,
    system: &Arc<System>,
    property: usize,
    errors: &Errors<'_>,
    budget: &Budget<'_>,
    board: &Board<Partial>,
) -> Result<PropertyResult, Failure> {
    let started = Instant::now();
    let about = &system.properties[property];
    board.with(|known| {
        known.progress = CheckProgress { property: about.name.clone(), progress: None };
        known.started = Some(started);
    });
    let mut watch = |progress: Progress| board.with(|known| known.progress.progress = Some(progress));
    let mut details = Details::default();
    let mut wanted = if task.certificate.is_some() { Wanted::Certificate } else { Wanted::Verdict };
    let mut outcome = match spent(budget) {
        Some(reason) => Ok(Found::Runs(Box::new(undecided(task, reason, None)))),
        None => decide(task, system, property, errors, budget, wanted, &mut watch, &mut details)
            .map_err(|error| error.to_string()),
    };
    let mut certificate = None;
    if let (Some(path), Some(evidence), Ok(Found::Runs(runs))) = (&task.certificate, &details.evidence, &outcome)
        && matches!(runs.verdict, Verdict::Holds(_))
    {
        let assumed = runs.no_errors == Some(NoErrors::Assumed);
        let mut watch = |progress: Progress| watch(progress);
        match reachable::write(path, &task.system, &about.name, evidence, assumed, budget, &mut watch) {
            Ok(()) => certificate = Some(path.clone()),
            // Another engine's proof may leave one.
            Err(_) if task.engine.is_auto() && !system.is_exact() && spent(budget).is_none() => {
                wanted = Wanted::CertificateOfOthers;
                details.evidence = None;
                outcome = decide(task, system, property, errors, budget, wanted, &mut watch, &mut details)
                    .map_err(|error| error.to_string());
            }
            Err(failure) => return Err(failure),
        }
    }
    let seconds = started.elapsed().as_secs_f64();
    let Details { report, evidence } = details;
    if let (Some(path), Ok(found)) = (&task.certificate, &outcome)
        && let Some(runs) = found.runs()
        && let Some(proof) = runs.proof.as_ref()
    {
        let witnesses = errors.witnesses().map_err(|error| Failure::message(error.to_string()))?;
        let hints = Hints { proof, no_errors: runs.no_errors.as_ref(), witnesses };
        let mut watch = |depth: Depth| watch(Progress::Queries(depth));
        certificate::write(path, &task.system, &about.name, &hints, budget, &mut watch)?;
        certificate = Some(path.clone());
    }
    Ok(PropertyResult { property, outcome, seconds, certificate, grid: report, evidence })
}

/// What engines tell beyond their verdicts.
#[derive(Default)]
struct Details {
    /// What the exploration of a grid looked like.
    report: Option<Report>,
    /// What a reachability proof consists of.
    evidence: Option<Evidence>,
}

/// Lets the engines decide a property, and adds what a reader has to know of the verdict.
#[allow(clippy::too_many_arguments, reason = "all of it is what one property is decided with")]
fn decide(
    task: &Check,
    system: &System,
    property: usize,
    errors: &Errors<'_>,
    budget: &Budget<'_>,
    wanted: Wanted,
    watch: &mut dyn FnMut(Progress),
    known: &mut Details,
) -> Result<Found, CheckError> {
    let about = &system.properties[property];
    let assume_no_model_errors = task.assume_no_model_errors;
    let own = Task { system, property: about, steps: task.steps, assume_no_model_errors };
    let own_errors = errors_of(errors, &own)?;
    let alone = !task.engine.is_auto();
    let errors = own_errors.as_ref().unwrap_or(errors);
    let context = Context { system, errors, grid: &task.grid, assume_no_model_errors, alone };
    let Finished { outcome, details } = task.engine.run(&own, &context, wanted, budget, watch)?;
    let details = match details.map(|details| details.downcast::<Narrowed>()) {
        Some(Ok(narrowed)) => return Ok(Found::Probability(Box::new(narrowed.outcome), narrowed.convergence)),
        Some(Err(other)) => Some(other),
        None => None,
    };
    match details.map(|details| details.downcast::<Evidence>()) {
        Some(Ok(evidence)) => known.evidence = Some(*evidence),
        Some(Err(other)) => known.report = other.downcast::<Report>().ok().map(|report| *report),
        None => {}
    }
    // What an extracted policy does is not what the step says.
    let extracted = task.engine.is(certus_grid::NAME) && task.grid.policy != Policy::Network;
    let outcome = if extracted { outcome } else { with_needs(system, property, outcome, budget.deadline)? };
    let outcome = within_scope(about, outcome, task.steps, spent(budget));
    Ok(Found::Runs(Box::new(assumed(task, outcome))))
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;
    use crate::check::{EngineChoice, GridOptions};
    use crate::{BudgetOptions, Loading};

    fn toy() -> Check {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../zoo/toy/toy.certus").into();
        Check {
            system: Loading { path, ..Loading::default() },
            properties: Vec::new(),
            engine: EngineChoice::default(),
            grid: GridOptions::default(),
            steps: None,
            assume_no_model_errors: false,
            certificate: None,
            effort: BudgetOptions::default(),
        }
    }

    /// A clock that shows one time after the other.
    struct Told(Mutex<Vec<Instant>>);

    impl Clock for Told {
        fn now(&self) -> Instant {
            self.0.lock().unwrap().remove(0)
        }
    }

    #[test]
    fn who_was_late_has_another_turn_with_what_others_left() {
        let mut task = toy();
        let system = crate::load_system(&task.system).unwrap();
        task.properties = system.properties.iter().take(2).map(|property| property.name.clone()).collect();
        let start = Instant::now();
        let seconds = std::time::Duration::from_secs;
        task.effort.deadline = Some(start + seconds(20));
        // The first share, half of the time, is over before it begins; the second property takes no time at all.
        let times = [start - seconds(25), start - seconds(24), start - seconds(24)];
        let clock = Told(Mutex::new(times.to_vec()));
        let board = Board::new(Partial::default());
        run(&task, &AtomicBool::new(false), &board, &clock).unwrap();
        assert!(clock.0.lock().unwrap().is_empty(), "three turns");
        let results = board.copy().results;
        assert_eq!(results.iter().map(|result| result.property).collect::<Vec<_>>(), [0, 1]);
        assert!(!results.iter().any(was_late));
        // Without a turn for those who were late, the first one stays undecided.
        let clock = Told(Mutex::new(vec![start - seconds(25), start - seconds(2), start - seconds(2)]));
        let board = Board::new(Partial::default());
        run(&task, &AtomicBool::new(false), &board, &clock).unwrap();
        assert_eq!(board.copy().results.iter().map(was_late).collect::<Vec<_>>(), [true, false]);
    }

    #[test]
    fn what_is_late_is_concluded_from_what_there_is() {
        let task = toy();
        let system = Arc::new(crate::load_system(&task.system).unwrap());
        let outcome = Outcome::new("bmc", Verdict::Holds(Scope::Unbounded));
        let outcome = Ok(Found::Runs(Box::new(outcome)));
        let first =
            PropertyResult { property: 2, outcome, seconds: 0.0, certificate: None, grid: None, evidence: None };
        let known =
            Partial { system: Some(system), properties: vec![2, 0], results: vec![first], ..Partial::default() };
        let Checked { results, .. } = concluded(&task, known, UnknownReason::Deadline);
        assert_eq!(results.iter().map(|result| result.property).collect::<Vec<_>>(), [2, 0]);
        assert!(!was_late(&results[0]) && was_late(&results[1]));
    }

    #[test]
    fn only_what_time_kept_from_a_verdict_was_late() {
        let result = |verdict: Verdict| {
            let outcome = Ok(Found::Runs(Box::new(Outcome::new("bmc", verdict))));
            PropertyResult { property: 0, outcome, seconds: 0.0, certificate: None, grid: None, evidence: None }
        };
        let unknown = |reason| Verdict::Unknown(Unknown::at(reason, ""));
        assert!(was_late(&result(unknown(Some(UnknownReason::Deadline)))));
        assert!(!was_late(&result(unknown(Some(UnknownReason::Memory)))));
        assert!(!was_late(&result(unknown(None))));
        assert!(!was_late(&result(Verdict::Holds(Scope::Unbounded))));
    }
}
