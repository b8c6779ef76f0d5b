//! Checks properties of a system.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use certus_check::bmc::{Depth, usual_steps};
use certus_check::enclosed::{IN_DOUBLES, violates_over_the_reals};
use certus_check::engine::NO_PROOF;
use certus_check::errors::Errors;
use certus_check::scope::within_scope;
use certus_check::{CheckError, Engine, Outcome, Run, Scope, Unknown, Verdict, choices, explicit, in_turns};
use certus_grid::{Policy, Report, Standing};
use certus_lang::system::{Property, PropertyKind, System};
use certus_solver::{Budget, UnknownReason};

pub(crate) mod certificate;
mod document;
mod grid;
mod method;
mod region;
mod region_document;
mod schedule;
mod trace_table;

use certificate::Hints;
pub use certificate::certify_words;
pub(crate) use document::described;
pub use document::{document, names_of, policy_names, proof_names, why};
pub(crate) use grid::widths as grid_widths;
pub use grid::{GridOptions, units_picture};
pub use method::Method;
pub use region::{Mapped, RegionResult, Regions, regions};
pub use region_document::{region_document, region_picture, shares, standing_word};
use schedule::{Clock, Wall, share_out};
pub use trace_table::trace_csv;

use crate::failure::Failure;
use crate::patience::{Waited, wait};
use crate::prob::{self, Course};
use crate::{Effort, Loaded, Loading, Provenance, Source, load, property_named};

/// What is asked.
#[derive(Clone, Debug)]
pub struct Check {
    /// The system.
    pub system: Loading,
    /// The properties; none for all.
    pub properties: Vec<String>,
    /// How they are checked.
    pub engine: Method,
    /// What the grid engine is to do.
    pub grid: GridOptions,
    /// How many steps are looked at; by default ten, or as far as a property's own bounds reach.
    pub steps: Option<usize>,
    /// Whether the absence of model errors is taken for granted; outcomes and certificates then say so.
    pub assume_no_model_errors: bool,
    /// Where the proof of the one property that is asked about goes, if it holds.
    pub certificate: Option<PathBuf>,
    /// How much work it is worth.
    pub effort: Effort,
}

impl Check {
    /// How many steps are looked at for a property.
    pub fn steps_for(&self, property: &Property) -> usize {
        self.steps.unwrap_or_else(|| usual_steps(property))
    }
}

/// What came out.
pub struct Checked {
    /// The system; none if not even that could be loaded in time.
    pub system: Option<Arc<System>>,
    /// What is said of each property that was asked about.
    pub results: Vec<PropertyResult>,
    /// Where all of that comes from.
    pub provenance: Provenance,
}

/// What is said of one property.
#[derive(Clone)]
pub struct PropertyResult {
    /// Its place in the system.
    pub property: usize,
    /// What was found out, or why it cannot be.
    pub outcome: Result<Found, String>,
    /// How long it took.
    pub seconds: f64,
    /// Where its certificate is, if one was wanted and there is one.
    pub certificate: Option<PathBuf>,
    /// What the exploration of a grid looked like.
    pub grid: Option<Report>,
}

/// What was found out about a property.
#[derive(Clone)]
pub enum Found {
    /// About its runs.
    Runs(Box<Outcome>),
    /// About its probability, and how the interval narrowed.
    Probability(Box<certus_prob::Outcome>, Course),
}

/// What a property is said to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conclusion {
    /// It holds, as far as was asked.
    Holds,
    /// It is violated.
    Violated,
    /// It asks for a number, which is known as well as was asked.
    Measured,
    /// The model describes no system somewhere on a run.
    ModelError,
    /// None of these.
    Unknown,
}

impl Found {
    /// What was concluded.
    pub fn conclusion(&self) -> Conclusion {
        match self {
            Found::Runs(outcome) => match outcome.verdict {
                Verdict::Holds(_) => Conclusion::Holds,
                Verdict::Violated(_) => Conclusion::Violated,
                Verdict::ModelError(_) => Conclusion::ModelError,
                Verdict::Unknown(_) => Conclusion::Unknown,
            },
            Found::Probability(outcome, _) => match (outcome.holds, outcome.asks, outcome.narrow) {
                (Some(true), ..) => Conclusion::Holds,
                (Some(false), ..) => Conclusion::Violated,
                (None, false, true) => Conclusion::Measured,
                (None, ..) => Conclusion::Unknown,
            },
        }
    }

    /// What was found out about runs, if that was asked.
    pub fn runs(&self) -> Option<&Outcome> {
        match self {
            Found::Runs(outcome) => Some(outcome),
            Found::Probability(..) => None,
        }
    }

    /// The run that violates the property, if there is one.
    pub fn run(&self) -> Option<&Run> {
        match &self.runs()?.verdict {
            Verdict::Violated(run) => Some(run),
            Verdict::ModelError(error) => Some(&error.run),
            _ => None,
        }
    }
}

/// Where a check stands.
#[derive(Clone, Debug, Default)]
pub struct Where {
    /// The property that is checked.
    pub property: String,
    /// How far that is.
    pub depth: Option<Depth>,
    /// How far the exploration of a grid is.
    pub units: Option<Standing>,
    /// How far the bounds on a probability are.
    pub interval: Option<certus_prob::Standing>,
}

/// What was found out so far: kept outside of the work, so that nothing is lost if that is late.
#[derive(Clone, Default)]
struct SoFar {
    place: Where,
    /// When that was begun.
    started: Option<Instant>,
    system: Option<Arc<System>>,
    sources: Vec<Source>,
    properties: Vec<usize>,
    results: Vec<PropertyResult>,
}

/// Checks properties. `tick` is called some twenty times a second meanwhile, and `stop` ends it.
pub fn check(task: &Check, stop: &Arc<AtomicBool>, mut tick: impl FnMut(&Where)) -> Result<Checked, Failure> {
    refuse(task)?;
    let so_far = Arc::new(Mutex::new(SoFar::default()));
    let work = {
        let (task, stop, so_far) = (task.clone(), Arc::clone(stop), Arc::clone(&so_far));
        move || run(&task, &stop, &so_far, &Wall)
    };
    let place = || locked(&so_far).place.clone();
    let reason = match wait(task.effort.deadline, stop, || tick(&place()), work)? {
        Waited::Done(done) => {
            done?;
            UnknownReason::Stopped
        }
        Waited::Late => UnknownReason::Deadline,
        Waited::Stopped => UnknownReason::Stopped,
    };
    // A copy: work that is late goes on with what is its own.
    let known = locked(&so_far).clone();
    Ok(concluded(task, known, reason))
}

/// That a file says nothing that could be checked.
pub(crate) fn nothing_to_check(loading: &Loading) -> Failure {
    let file = loading.path.display();
    Failure::message(format!(
        "{file} has no property, so there is nothing to check: write one as `property safe = G φ`"
    ))
}

/// Refuses what could only be ignored.
fn refuse(task: &Check) -> Result<(), Failure> {
    let grid = &task.grid;
    let wrong = if task.engine != Method::Grid && grid.policy != Policy::Network {
        "an extracted policy belongs to the grid engine, the others are about the network itself: add --engine grid"
    } else if task.engine == Method::Grid && task.certificate.is_some() {
        "proofs on a grid have no certificates: leave out --certificate, or take --engine auto, induction or bmc"
    } else if task.engine == Method::Runs(Engine::Explicit) && task.certificate.is_some() {
        "a list of all states is no certificate: leave out --certificate, or take --engine auto, induction or bmc"
    } else if (!task.engine.has_grid() || task.certificate.is_some())
        && (!grid.widths.is_empty() || grid.refinements.is_some())
    {
        "--width and --refine belong to the grid, which has no part in proofs with certificates or in other engines: leave them out"
    } else {
        return Ok(());
    };
    Err(Failure::message(wrong))
}

/// What there is to be said when no more is found out.
fn concluded(task: &Check, known: SoFar, reason: UnknownReason) -> Checked {
    let SoFar { place, started, system, sources, properties, mut results } = known;
    let first = results.len();
    // Properties are known once the system is.
    let unanswered = system.iter().flat_map(|_| properties.iter().copied());
    for (index, property) in unanswered.enumerate().skip(first) {
        let begun = (index == first).then_some(&place);
        let outcome = Ok(Found::Runs(Box::new(undecided(task, reason, begun))));
        let seconds = begun.and(started).map_or(0.0, |started| started.elapsed().as_secs_f64());
        results.push(PropertyResult { property, outcome, seconds, certificate: None, grid: None });
    }
    let provenance = system.as_ref().map(|system| provenance(task, system, &sources)).unwrap_or_default();
    Checked { system, results, provenance }
}

/// Where the outcomes of a check come from.
fn provenance(task: &Check, system: &System, sources: &[Source]) -> Provenance {
    Provenance::of_system(task.engine.name(), &task.system, system, sources)
        .with_search(&task.effort)
        .limit("steps", task.steps.map(Into::into))
        .limit("assume_no_model_errors", task.assume_no_model_errors.then_some(true.into()))
}

fn locked(so_far: &Mutex<SoFar>) -> MutexGuard<'_, SoFar> {
    so_far.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A little before a deadline: what millions of units have shown takes its time to put together.
fn sooner(deadline: Instant) -> Instant {
    const SHARE: f64 = 0.96;
    let now = Instant::now();
    now + deadline.saturating_duration_since(now).mul_f64(SHARE)
}

/// That a property was not decided, for want of time; what was shown before that counts.
fn undecided(task: &Check, reason: UnknownReason, begun: Option<&Where>) -> Outcome {
    let depth = begun.and_then(|place| place.depth);
    let settled = depth.and_then(|depth| depth.settled);
    if let (Some(steps), true) = (task.steps, settled == task.steps) {
        let holds = Outcome::new(task.engine.name(), Verdict::Holds(Scope::Bounded(steps)));
        return Outcome { notes: vec![NO_PROOF.to_owned()], ..holds };
    }
    let interval = begun.and_then(|place| place.interval);
    let place = match (depth, begun.and_then(|place| place.units), interval) {
        (Some(depth), ..) => format!("{} steps", depth.steps),
        (None, Some(standing), _) => format!("{} units after {} steps", standing.units, standing.steps),
        (None, None, Some(standing)) => format!("{} regions", standing.regions),
        (None, None, None) => "nothing yet".to_owned(),
    };
    let unknown = Unknown { settled, ..Unknown::at(Some(reason), place) };
    Outcome::new(task.engine.name(), Verdict::Unknown(unknown))
}

/// What is said of a verdict that takes the absence of model errors for granted.
const ASSUMED: &str = "that no run has a model error was assumed, not shown (--assume-no-model-errors)";

/// Says so where the absence of model errors was taken for granted.
fn assumed(task: &Check, mut outcome: Outcome) -> Outcome {
    if task.assume_no_model_errors && matches!(outcome.verdict, Verdict::Holds(_)) {
        outcome.notes.push(ASSUMED.to_owned());
    }
    outcome
}

/// Why a budget is spent, if it is.
fn spent(budget: &Budget<'_>) -> Option<UnknownReason> {
    if budget.stop.is_some_and(|stop| stop.load(Ordering::Relaxed)) {
        return Some(UnknownReason::Stopped);
    }
    budget.deadline.filter(|&deadline| Instant::now() >= deadline).map(|_| UnknownReason::Deadline)
}

/// Longer runs are not enclosed by intervals: that takes time, and they say the less the longer a run is.
const MOST_ENCLOSED: usize = 1000;

/// Adds to a violation of the network's which of the environment's choices it needs, and whether rounding may make it one.
fn with_needs(
    system: &System,
    property: usize,
    mut outcome: Outcome,
    deadline: Option<Instant>,
) -> Result<Outcome, CheckError> {
    let (Verdict::Violated(run), PropertyKind::Ltl(formula)) = (&outcome.verdict, &system.properties[property].kind)
    else {
        return Ok(outcome);
    };
    // A run that repeats itself is known to be one of doubles.
    if run.loop_to.is_none() && (run.states.len() > MOST_ENCLOSED || !violates_over_the_reals(system, formula, run)?) {
        outcome.notes.push(IN_DOUBLES.to_owned());
    }
    if !system.inputs.is_empty() {
        outcome.notes.extend(choices::needs(system, formula, run, deadline)?.notes(system));
    }
    Ok(outcome)
}

fn run(task: &Check, stop: &AtomicBool, so_far: &Mutex<SoFar>, clock: &dyn Clock) -> Result<(), Failure> {
    let Loaded { system, sources } = load(&task.system)?;
    let system = Arc::new(system);
    let properties: Vec<usize> = match task.properties.as_slice() {
        [] => (0..system.properties.len()).collect(),
        names => names.iter().map(|name| property_named(&system, name)).collect::<Result<_, _>>()?,
    };
    if properties.is_empty() {
        return Err(nothing_to_check(&task.system));
    }
    if task.certificate.is_some() && properties.len() != 1 {
        return Err(Failure::message("a certificate is about one property: name it"));
    }
    if task.certificate.is_some()
        && let Some(&place) =
            properties.iter().find(|&&place| task.engine.suited(&system.properties[place]) == Method::Imdp)
    {
        let name = &system.properties[place].name;
        return Err(Failure::message(format!("{name}: bounds on probabilities leave no certificate")));
    }
    grid::refuse(&system, &properties, task.engine, &task.grid).map_err(Failure::message)?;
    {
        let mut known = locked(so_far);
        known.system = Some(Arc::clone(&system));
        known.sources = sources;
        known.properties.clone_from(&properties);
    }
    let budget = Budget {
        deadline: task.effort.deadline,
        stop: Some(stop),
        threads: task.effort.threads(),
        seed: task.effort.seed,
        memory: task.effort.memory,
        ..Budget::default()
    };
    // What is found out about model errors serves all properties.
    let errors = Errors::new(&system, task.assume_no_model_errors);
    share_out(properties.len(), task.effort.deadline, clock, &mut |index, share| {
        let result = one(task, &system, properties[index], &errors, &Budget { deadline: share, ..budget }, so_far)?;
        let late = was_late(&result);
        let mut known = locked(so_far);
        match known.results.get_mut(index) {
            None => known.results.push(result),
            Some(before) if !late => *before = result,
            Some(_) => {}
        }
        Ok(late)
    })
}

/// Whether a property was not decided for want of time.
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
    so_far: &Mutex<SoFar>,
) -> Result<PropertyResult, Failure> {
    let name = &system.properties[property].name;
    let started = Instant::now();
    {
        let mut known = locked(so_far);
        known.place = Where { property: name.clone(), ..Where::default() };
        known.started = Some(started);
    }
    let mut watch = |depth: Depth| locked(so_far).place.depth = Some(depth);
    let over = spent(budget);
    let mut report = None;
    let asked = &system.properties[property];
    let runs = |outcome: Result<Outcome, CheckError>| {
        // What an extracted policy does is not what the step says.
        let of_network = !(task.engine.suited(asked) == Method::Grid && task.grid.policy != Policy::Network);
        let outcome = match of_network {
            true => outcome.and_then(|outcome| with_needs(system, property, outcome, budget.deadline)),
            false => outcome,
        };
        let outcome = outcome.map(|outcome| within_scope(asked, outcome, task.steps, spent(budget)));
        outcome.map(|outcome| Found::Runs(Box::new(assumed(task, outcome)))).map_err(|error| error.to_string())
    };
    let outcome = match (over, task.engine.suited(asked)) {
        (Some(reason), _) => Ok(Found::Runs(Box::new(undecided(task, reason, None)))),
        // A certificate has questions about runs, which the grid asks none of.
        (None, Method::Runs(Engine::Auto)) if task.certificate.is_none() => {
            let mut on_grid = |parts: u64, budget: &Budget<'_>| {
                let own = Budget { deadline: budget.deadline.map(sooner), ..*budget };
                let mut watch = |standing: Standing| locked(so_far).place.units = Some(standing);
                let (turn, found) =
                    grid::turn(system, asked, (&task.grid, task.assume_no_model_errors), parts, &own, &mut watch)?;
                locked(so_far).place.units = None;
                report = found;
                Ok(turn)
            };
            // Where there are few states, visiting them all is the shortest way.
            match explicit::decide(system, asked, task.steps, task.assume_no_model_errors, budget) {
                Ok(None) => runs(in_turns(system, asked, task.steps, errors, budget, &mut watch, Some(&mut on_grid))),
                Ok(Some(outcome)) => runs(Ok(outcome)),
                Err(error) => runs(Err(error)),
            }
        }
        (None, Method::Runs(engine)) => runs(engine.check(system, asked, task.steps, errors, budget, &mut watch)),
        (None, Method::Grid) => {
            let mut watch = |standing: Standing| locked(so_far).place.units = Some(standing);
            let own = Budget { deadline: budget.deadline.map(sooner), ..*budget };
            let found = grid::check(system, asked, (&task.grid, task.assume_no_model_errors), &own, &mut watch);
            runs(found.map(|(outcome, own)| {
                report = Some(own);
                outcome
            }))
        }
        (None, Method::Imdp) => {
            let own = certus_prob::Budget {
                deadline: budget.deadline,
                stop: budget.stop,
                threads: budget.threads,
                seed: budget.seed,
            };
            let mut watch = |standing| locked(so_far).place.interval = Some(standing);
            let (outcome, course) =
                prob::with_course(system, asked, &certus_prob::Options::default(), &own, &mut watch);
            outcome.map(|outcome| Found::Probability(Box::new(outcome), course))
        }
    };
    let seconds = started.elapsed().as_secs_f64();
    let mut certificate = None;
    if let (Some(path), Ok(found)) = (&task.certificate, &outcome)
        && let Some(runs) = found.runs()
        && let Some(proof) = runs.proof.as_ref()
    {
        let witnesses = errors.witnesses().map_err(|error| Failure::message(error.to_string()))?;
        let hints = Hints { proof, no_errors: runs.no_errors.as_ref(), witnesses };
        certificate::write(path, &task.system, &asked.name, &hints, budget, &mut watch)?;
        certificate = Some(path.clone());
    }
    Ok(PropertyResult { property, outcome, seconds, certificate, grid: report })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn toy() -> Check {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../zoo/toy/toy.certus").into();
        Check {
            system: Loading { path, ..Loading::default() },
            properties: Vec::new(),
            engine: Method::default(),
            grid: GridOptions::default(),
            steps: None,
            assume_no_model_errors: false,
            certificate: None,
            effort: Effort::default(),
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
        let so_far = Mutex::new(SoFar::default());
        run(&task, &AtomicBool::new(false), &so_far, &clock).unwrap();
        assert!(clock.0.lock().unwrap().is_empty(), "three turns");
        let results = locked(&so_far).results.clone();
        assert_eq!(results.iter().map(|result| result.property).collect::<Vec<_>>(), [0, 1]);
        assert!(!results.iter().any(was_late));
        // Without a turn for those who were late, the first one stays undecided.
        let clock = Told(Mutex::new(vec![start - seconds(25), start - seconds(2), start - seconds(2)]));
        let so_far = Mutex::new(SoFar::default());
        run(&task, &AtomicBool::new(false), &so_far, &clock).unwrap();
        assert_eq!(locked(&so_far).results.iter().map(was_late).collect::<Vec<_>>(), [true, false]);
    }

    #[test]
    fn what_is_late_is_concluded_from_what_there_is() {
        let task = toy();
        let system = Arc::new(crate::load_system(&task.system).unwrap());
        let outcome = Outcome::new("bmc", Verdict::Holds(Scope::Unbounded));
        let outcome = Ok(Found::Runs(Box::new(outcome)));
        let first = PropertyResult { property: 2, outcome, seconds: 0.0, certificate: None, grid: None };
        let known = SoFar { system: Some(system), properties: vec![2, 0], results: vec![first], ..SoFar::default() };
        let Checked { results, .. } = concluded(&task, known, UnknownReason::Deadline);
        assert_eq!(results.iter().map(|result| result.property).collect::<Vec<_>>(), [2, 0]);
        assert!(!was_late(&results[0]) && was_late(&results[1]));
    }

    #[test]
    fn only_what_time_kept_from_a_verdict_was_late() {
        let result = |verdict: Verdict| {
            let outcome = Ok(Found::Runs(Box::new(Outcome::new("bmc", verdict))));
            PropertyResult { property: 0, outcome, seconds: 0.0, certificate: None, grid: None }
        };
        let unknown = |reason| Verdict::Unknown(Unknown::at(reason, ""));
        assert!(was_late(&result(unknown(Some(UnknownReason::Deadline)))));
        assert!(!was_late(&result(unknown(Some(UnknownReason::Memory)))));
        assert!(!was_late(&result(unknown(None))));
        assert!(!was_late(&result(Verdict::Holds(Scope::Unbounded))));
    }
}
