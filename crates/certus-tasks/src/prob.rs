//! Bounds probabilities of a system.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use certus_lang::system::{PropertyKind, System};
use certus_prob::{Budget, Options, Outcome, Standing, check};
use certus_sim::element_names;
use serde_json::{Map, Value, json};

use crate::failure::Failure;
use crate::output::json_number;
use crate::patience::{Waited, wait};
use crate::{Effort, Loading, load_system, property_named};

/// What is asked.
#[derive(Clone, Debug)]
pub struct Prob {
    /// The system.
    pub system: Loading,
    /// The properties; none for all that are probabilities.
    pub properties: Vec<String>,
    /// How.
    pub options: Options,
    /// How much work each property is worth.
    pub effort: Effort,
}

/// What came out.
pub struct Bounded {
    /// The system; none if not even that could be loaded in time.
    pub system: Option<Arc<System>>,
    /// For each property that was asked about its place, and what was found out or why it cannot be.
    pub results: Vec<(usize, Result<Outcome, String>)>,
}

/// Where the work stands.
#[derive(Clone, Debug, Default)]
pub struct Where {
    /// The property.
    pub property: String,
    /// How far it is.
    pub standing: Option<Standing>,
}

#[derive(Default)]
struct SoFar {
    place: Where,
    system: Option<Arc<System>>,
    properties: Vec<usize>,
    results: Vec<(usize, Result<Outcome, String>)>,
}

fn locked(so_far: &Mutex<SoFar>) -> MutexGuard<'_, SoFar> {
    so_far.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Bounds probabilities. `tick` is called some twenty times a second meanwhile, and `stop` ends it.
pub fn prob(task: &Prob, stop: &Arc<AtomicBool>, mut tick: impl FnMut(&Where)) -> Result<Bounded, Failure> {
    let so_far = Arc::new(Mutex::new(SoFar::default()));
    let work = {
        let (task, stop, so_far) = (task.clone(), Arc::clone(stop), Arc::clone(&so_far));
        move || run(&task, &stop, &so_far)
    };
    let place = || locked(&so_far).place.clone();
    match wait(task.effort.deadline, stop, || tick(&place()), work)? {
        Waited::Done(done) => done?,
        Waited::Late | Waited::Stopped => {}
    }
    let mut known = locked(&so_far);
    let mut results = std::mem::take(&mut known.results);
    let missing: Vec<usize> = known.properties.iter().skip(results.len()).copied().collect();
    for property in missing {
        results.push((property, Err("the time was over before anything was known".to_owned())));
    }
    Ok(Bounded { system: known.system.take(), results })
}

fn run(task: &Prob, stop: &AtomicBool, so_far: &Mutex<SoFar>) -> Result<(), Failure> {
    let system = Arc::new(load_system(&task.system)?);
    let is_probability = |&place: &usize| matches!(system.properties[place].kind, PropertyKind::Probability { .. });
    let properties: Vec<usize> = match task.properties.as_slice() {
        [] => (0..system.properties.len()).filter(is_probability).collect(),
        names => names.iter().map(|name| property_named(&system, name)).collect::<Result<_, _>>()?,
    };
    if properties.is_empty() {
        return Err(Failure::message(format!(
            "{} has no property about a probability; write one as `P<=0.01 [ F<=20 φ ]` or `Pmax=? [ F<=20 φ ]`",
            system.name
        )));
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
    };
    for place in properties {
        let property = &system.properties[place];
        locked(so_far).place = Where { property: property.name.clone(), standing: None };
        let outcome = check(&system, property, &task.options, &budget, &mut |standing| {
            locked(so_far).place.standing = Some(standing);
        });
        locked(so_far).results.push((place, outcome));
    }
    Ok(())
}

/// The names of the elements of the state.
pub fn state_names(system: &System) -> Vec<String> {
    element_names(system.states.iter().map(|state| (&*state.name, state.len, state.is_vector)))
}

/// The results as one document, in the form of `certus check`.
pub fn document(system: &System, results: &[(usize, Result<Outcome, String>)]) -> Value {
    let result = |(place, outcome): &(usize, Result<Outcome, String>)| {
        let name = &system.properties[*place].name;
        let outcome = match outcome {
            Err(reason) => return json!({"property": name, "verdict": "unknown", "engine": "imdp", "reason": reason}),
            Ok(outcome) => outcome,
        };
        let verdict = match outcome.holds {
            Some(true) => "holds",
            Some(false) => "violated",
            None => "unknown",
        };
        let start = outcome.start.as_ref().map_or(Value::Null, |start| {
            let values = state_names(system).into_iter().zip(start.iter().map(|&value| json_number(value)));
            Value::Object(values.collect::<Map<_, _>>())
        });
        let reason = match (outcome.holds, outcome.stopped, outcome.narrow) {
            (Some(_), ..) | (None, _, true) => Value::Null,
            (None, true, false) => "the time was over".into(),
            (None, false, false) => "the interval stays wider than was asked for".into(),
        };
        json!({
            "property": name,
            "verdict": verdict,
            "engine": "imdp",
            "scope": {"bounded": outcome.steps},
            "seconds": json_number(outcome.seconds),
            "probability": {"lower": json_number(outcome.lower), "upper": json_number(outcome.upper)},
            "narrow": outcome.narrow,
            "start": start,
            "method": outcome.method,
            "regions": outcome.regions,
            "merged": outcome.contained,
            "choices": outcome.model.as_ref().map(|model| model.choice_count()),
            "may_leave_range": outcome.left_range,
            "reason": reason,
        })
    };
    json!({"system": system.name, "results": results.iter().map(result).collect::<Vec<_>>()})
}
