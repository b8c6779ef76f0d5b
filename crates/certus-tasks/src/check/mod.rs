//! Checks properties of a system.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use certus_check::bmc::{self, Depth};
use certus_check::{Outcome, Unknown, Verdict};
use certus_lang::system::System;
use certus_solver::{Budget, UnknownReason};

mod document;

pub use document::{document, names_of, policy_names, why};

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
    /// How many steps are looked at.
    pub steps: usize,
    /// How much work it is worth.
    pub effort: Effort,
}

/// What came out.
pub struct Checked {
    /// The system; none if not even that could be loaded in time.
    pub system: Option<System>,
    /// What is said of each property that was asked about.
    pub results: Vec<PropertyResult>,
}

/// What is said of one property.
pub struct PropertyResult {
    /// Its place in the system.
    pub property: usize,
    /// What was found out, or why it cannot be.
    pub outcome: Result<Outcome, String>,
    /// How long it took.
    pub seconds: f64,
}

/// Where a check stands.
#[derive(Clone, Debug, Default)]
pub struct Where {
    /// The property that is checked.
    pub property: String,
    /// How far that is.
    pub depth: Option<Depth>,
}

/// Checks properties. `tick` is called some twenty times a second meanwhile, and `stop` ends it.
pub fn check(task: &Check, stop: &Arc<AtomicBool>, mut tick: impl FnMut(&Where)) -> Result<Checked, Failure> {
    let place = Arc::new(Mutex::new(Where::default()));
    let work = {
        let (task, stop, place) = (task.clone(), Arc::clone(stop), Arc::clone(&place));
        move || run(&task, &stop, &place)
    };
    let now = || place.lock().unwrap_or_else(PoisonError::into_inner).clone();
    match wait(task.effort.deadline, stop, || tick(&now()), work)? {
        Waited::Done(checked) => checked,
        Waited::Late | Waited::Stopped => Ok(Checked { system: None, results: Vec::new() }),
    }
}

fn run(task: &Check, stop: &AtomicBool, place: &Mutex<Where>) -> Result<Checked, Failure> {
    let system = load_system(&task.system)?;
    let properties: Vec<usize> = match task.properties.as_slice() {
        [] => (0..system.properties.len()).collect(),
        names => names.iter().map(|name| property_named(&system, name)).collect::<Result<_, _>>()?,
    };
    let budget = Budget {
        deadline: task.effort.deadline,
        stop: Some(stop),
        threads: task.effort.threads(),
        seed: task.effort.seed,
        memory: task.effort.memory,
        ..Budget::default()
    };
    let mut results = Vec::new();
    for property in properties {
        let name = &system.properties[property].name;
        let started = Instant::now();
        let mut watch = |depth: Depth| {
            *place.lock().unwrap_or_else(PoisonError::into_inner) =
                Where { property: name.clone(), depth: Some(depth) };
        };
        let over = task.effort.deadline.is_some_and(|deadline| Instant::now() >= deadline);
        let outcome = match over {
            true => Ok(Outcome {
                verdict: Verdict::Unknown(Unknown {
                    reason: UnknownReason::Deadline,
                    place: "nothing yet".to_owned(),
                    settled: None,
                }),
                notes: Vec::new(),
            }),
            false => bmc::check(&system, &system.properties[property], task.steps, &budget, &mut watch),
        };
        let outcome = outcome.map_err(|error: certus_check::CheckError| error.to_string());
        results.push(PropertyResult { property, outcome, seconds: started.elapsed().as_secs_f64() });
    }
    Ok(Checked { system: Some(system), results })
}
