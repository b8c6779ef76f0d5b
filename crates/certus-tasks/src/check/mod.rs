//! Checks properties of a system.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use certus_check::bmc::Depth;
use certus_check::engine::NO_PROOF;
use certus_check::{CheckError, Outcome, Scope, Unknown, Verdict, choices};
use certus_grid::{Report, Standing};
use certus_lang::system::{PropertyKind, System};
use certus_solver::{Budget, UnknownReason};

pub(crate) mod certificate;
mod document;
mod grid;
mod region;
mod region_document;
mod trace_table;

pub(crate) use document::describe;
pub use document::{document, names_of, policy_names, proof_names, why};
pub(crate) use grid::widths as grid_widths;
pub use grid::{GridOptions, Method, units_picture};
pub use region::{Mapped, RegionResult, Regions, regions};
pub use region_document::{region_document, region_picture, shares, standing_word};
pub use trace_table::trace_csv;

use crate::failure::Failure;
use crate::patience::{Waited, wait};
use crate::{Effort, Loading, load_system, property_named};

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
    /// How many steps are looked at.
    pub steps: usize,
    /// Where the proof of the one property that is asked about goes, if it holds.
    pub certificate: Option<PathBuf>,
    /// How much work it is worth.
    pub effort: Effort,
}

/// What came out.
pub struct Checked {
    /// The system; none if not even that could be loaded in time.
    pub system: Option<Arc<System>>,
    /// What is said of each property that was asked about.
    pub results: Vec<PropertyResult>,
}

/// What is said of one property.
#[derive(Clone)]
pub struct PropertyResult {
    /// Its place in the system.
    pub property: usize,
    /// What was found out, or why it cannot be.
    pub outcome: Result<Outcome, String>,
    /// How long it took.
    pub seconds: f64,
    /// Where its certificate is, if one was wanted and there is one.
    pub certificate: Option<PathBuf>,
    /// What the exploration of a grid looked like.
    pub grid: Option<Report>,
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
}

/// So long may it take to find out which choices a violation needs.
const LONGEST_LOOK: Duration = Duration::from_secs(5);

/// What was found out so far: kept outside of the work, so that nothing is lost if that is late.
#[derive(Default)]
struct SoFar {
    place: Where,
    /// When that was begun.
    started: Option<Instant>,
    system: Option<Arc<System>>,
    properties: Vec<usize>,
    results: Vec<PropertyResult>,
}

/// Checks properties. `tick` is called some twenty times a second meanwhile, and `stop` ends it.
pub fn check(task: &Check, stop: &Arc<AtomicBool>, mut tick: impl FnMut(&Where)) -> Result<Checked, Failure> {
    let so_far = Arc::new(Mutex::new(SoFar::default()));
    let work = {
        let (task, stop, so_far) = (task.clone(), Arc::clone(stop), Arc::clone(&so_far));
        move || run(&task, &stop, &so_far)
    };
    let place = || locked(&so_far).place.clone();
    let reason = match wait(task.effort.deadline, stop, || tick(&place()), work)? {
        Waited::Done(done) => {
            done?;
            None
        }
        Waited::Late => Some(UnknownReason::Deadline),
        Waited::Stopped => Some(UnknownReason::Stopped),
    };
    let mut known = locked(&so_far);
    let mut results = std::mem::take(&mut known.results);
    let first = results.len();
    for (index, &property) in known.properties.iter().enumerate().skip(first) {
        let begun = (index == first).then_some(&known.place);
        let outcome = Ok(undecided(task, reason.unwrap_or(UnknownReason::Stopped), begun));
        let seconds = begun.and(known.started).map_or(0.0, |started| started.elapsed().as_secs_f64());
        results.push(PropertyResult { property, outcome, seconds, certificate: None, grid: None });
    }
    Ok(Checked { system: known.system.take(), results })
}

fn locked(so_far: &Mutex<SoFar>) -> MutexGuard<'_, SoFar> {
    so_far.lock().unwrap_or_else(PoisonError::into_inner)
}

/// That a property was not decided, for want of time; what was shown before that counts.
fn undecided(task: &Check, reason: UnknownReason, begun: Option<&Where>) -> Outcome {
    let depth = begun.and_then(|place| place.depth);
    let settled = depth.and_then(|depth| depth.settled);
    if settled == Some(task.steps) {
        let holds = Outcome::new(task.engine.name(), Verdict::Holds(Scope::Bounded(task.steps)));
        return Outcome { notes: vec![NO_PROOF.to_owned()], ..holds };
    }
    let place = match (depth, begun.and_then(|place| place.units)) {
        (Some(depth), _) => format!("{} steps", depth.steps),
        (None, Some(standing)) => format!("{} units after {} steps", standing.units, standing.steps),
        (None, None) => "nothing yet".to_owned(),
    };
    let unknown = Unknown { reason: Some(reason), place, settled };
    Outcome::new(task.engine.name(), Verdict::Unknown(unknown))
}

/// Adds to a violation which of the environment's choices it needs.
fn with_needs(
    system: &System,
    property: usize,
    mut outcome: Outcome,
    deadline: Option<Instant>,
) -> Result<Outcome, CheckError> {
    if let (Verdict::Violated(run), PropertyKind::Ltl(formula)) = (&outcome.verdict, &system.properties[property].kind)
        && !system.inputs.is_empty()
    {
        let latest = Instant::now() + LONGEST_LOOK;
        let deadline = deadline.map_or(latest, |deadline| deadline.min(latest));
        outcome.notes.extend(choices::needs(system, formula, run, Some(deadline))?.notes(system));
    }
    Ok(outcome)
}

fn run(task: &Check, stop: &AtomicBool, so_far: &Mutex<SoFar>) -> Result<(), Failure> {
    let system = Arc::new(load_system(&task.system)?);
    let properties: Vec<usize> = match task.properties.as_slice() {
        [] => (0..system.properties.len()).collect(),
        names => names.iter().map(|name| property_named(&system, name)).collect::<Result<_, _>>()?,
    };
    if task.certificate.is_some() && properties.len() != 1 {
        return Err(Failure::message("a certificate is about one property: name it"));
    }
    {
        let mut known = locked(so_far);
        known.system = Some(Arc::clone(&system));
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
    for property in properties {
        let name = &system.properties[property].name;
        let started = Instant::now();
        {
            let mut known = locked(so_far);
            known.place = Where { property: name.clone(), ..Where::default() };
            known.started = Some(started);
        }
        let mut watch = |depth: Depth| locked(so_far).place.depth = Some(depth);
        let over = if stop.load(Ordering::Relaxed) {
            Some(UnknownReason::Stopped)
        } else {
            task.effort.deadline.filter(|&deadline| Instant::now() >= deadline).map(|_| UnknownReason::Deadline)
        };
        let mut report = None;
        let outcome = match over {
            Some(reason) => Ok(undecided(task, reason, None)),
            None => match task.engine {
                Method::Runs(engine) => {
                    engine.check(&system, &system.properties[property], task.steps, &budget, &mut watch)
                }
                Method::Grid => {
                    let mut watch = |standing: Standing| locked(so_far).place.units = Some(standing);
                    let found = grid::check(&system, &system.properties[property], &task.grid, &budget, &mut watch);
                    found.map(|(outcome, own)| {
                        report = Some(own);
                        outcome
                    })
                }
            },
        };
        let outcome = outcome.and_then(|outcome| with_needs(&system, property, outcome, task.effort.deadline));
        let outcome = outcome.map_err(|error| error.to_string());
        let seconds = started.elapsed().as_secs_f64();
        let mut certificate = None;
        if let (Some(path), Ok(outcome)) = (&task.certificate, &outcome)
            && let Some(proof) = &outcome.proof
        {
            certificate::write(path, &task.system, &system, property, proof, &budget, &mut watch)?;
            certificate = Some(path.clone());
        }
        locked(so_far).results.push(PropertyResult { property, outcome, seconds, certificate, grid: report });
    }
    Ok(())
}
