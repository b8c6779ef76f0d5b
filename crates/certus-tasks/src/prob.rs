//! Bounds probabilities of a system.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use certus_documents as documents;
use certus_documents::check::{ActionBounds, BoundedCell, ConvergencePoint, PropertyResult, Verdict};
use certus_documents::{Scope, members, numbers};
use certus_engine::{Board, Ended, Job};
use certus_lang::system::System;
pub use certus_prob::Convergence;
use certus_prob::{Cell, Options, Outcome, Standing, check_with_convergence};
use certus_report::Picture;
use certus_report::heat::{self, Heat, Part};

use crate::check::described;
use crate::failure::Failure;
use crate::{BudgetOptions, Loaded, Loading, Provenance, Source, load, property_named};

/// What is asked.
#[derive(Clone, Debug)]
pub struct Prob {
    /// The system.
    pub system: Loading,
    /// The properties; none for all that are probabilities.
    pub properties: Vec<String>,
    /// How.
    pub options: Options,
    /// The two state variables over which start states will be drawn, by their numbers.
    pub axes: Option<(usize, usize)>,
    /// How much work each property is worth.
    pub effort: BudgetOptions,
}

/// What came out.
pub struct Bounded {
    /// The system; none if not even that could be loaded in time.
    pub system: Option<Arc<System>>,
    /// For each property that was asked about its place, and what was found out or why it cannot be.
    pub results: Vec<(usize, Result<Outcome, String>)>,
    /// For each of these, how the interval narrowed.
    pub courses: Vec<Convergence>,
    /// Where all of that comes from.
    pub provenance: Provenance,
}

/// What is said of a property that was not come to in time.
pub const LATE: &str = "stopped before anything was known";

/// How far the work is.
#[derive(Clone, Debug, Default)]
pub struct ProbProgress {
    /// The property.
    pub property: String,
    /// How far it is.
    pub standing: Option<Standing>,
}

/// What is known while the work goes on.
#[derive(Clone, Default)]
struct Partial {
    progress: ProbProgress,
    system: Option<Arc<System>>,
    sources: Vec<Source>,
    properties: Vec<usize>,
    results: Vec<(usize, Result<Outcome, String>)>,
    courses: Vec<Convergence>,
}

/// Bounds probabilities. `tick` is called some twenty times a second meanwhile, and `stop` ends it.
pub fn prob(task: &Prob, stop: &Arc<AtomicBool>, mut tick: impl FnMut(&ProbProgress)) -> Result<Bounded, Failure> {
    let board = Board::new(Partial::default());
    let own = task.clone();
    let shown = |board: &Board<Partial>| tick(&board.with(|known| known.progress.clone()));
    let job = Job::new(task.effort.deadline, stop);
    if let Ended::Done(done) = job.run_with_board(&board, shown, move |board, cancel| run(&own, cancel, board))? {
        done?;
    }
    let Partial { system, sources, properties, mut results, mut courses, .. } = board.with(std::mem::take);
    for &property in &properties[results.len().min(properties.len())..] {
        results.push((property, Err(LATE.to_owned())));
    }
    courses.resize(results.len(), Convergence::new());
    let provenance = system.as_ref().map(|system| provenance(task, system, &sources)).unwrap_or_default();
    Ok(Bounded { system, results, courses, provenance })
}

/// Where bounds come from.
fn provenance(task: &Prob, system: &System, sources: &[Source]) -> Provenance {
    Provenance::of_system(certus_prob::NAME, &task.system, system, sources)
        .with_effort(&task.effort)
        .limit("steps", task.options.steps.map(Into::into))
        .limit("gap", Some(task.options.gap.into()))
        .limit("share", Some(task.options.share.into()))
        .limit("most", Some(task.options.most.into()))
}

fn run(task: &Prob, cancel: &AtomicBool, board: &Board<Partial>) -> Result<(), Failure> {
    let Loaded { system, sources } = load(&task.system)?;
    let system = Arc::new(system);
    let is_probability = |&place: &usize| system.properties[place].probability().is_some();
    let properties: Vec<usize> = match task.properties.as_slice() {
        [] => (0..system.properties.len()).filter(is_probability).collect(),
        names => names.iter().map(|name| property_named(&system, name)).collect::<Result<_, _>>()?,
    };
    if let Some(axes) = task.axes {
        drawn_over(&system, axes).map_err(Failure::message)?;
    }
    if properties.is_empty() {
        return Err(Failure::message(format!(
            "{} has no property about a probability; write one as `P<=0.01 [ F<=20 φ ]` or `Pmax=? [ F<=20 φ ]`",
            system.name
        )));
    }
    board.with(|known| {
        known.system = Some(Arc::clone(&system));
        known.sources = sources;
        known.properties.clone_from(&properties);
    });
    let budget = task.effort.budget(cancel);
    for place in properties {
        let property = &system.properties[place];
        board.with(|known| known.progress = ProbProgress { property: property.name.clone(), standing: None });
        let mut watch = |standing| board.with(|known| known.progress.standing = Some(standing));
        let (outcome, course) = check_with_convergence(&system, property, &task.options, &budget, &mut watch);
        board.with(|known| {
            known.courses.push(course);
            known.results.push((place, outcome));
        });
    }
    Ok(())
}

/// The results as one document, in the form of `certus check`.
pub fn document(
    system: &System,
    results: &[(usize, Result<Outcome, String>)],
    courses: &[Convergence],
    provenance: &Provenance,
) -> documents::prob::Prob {
    let result = |(index, (place, outcome)): (usize, &(usize, Result<Outcome, String>))| {
        let shown = described(&system.properties[*place]);
        match outcome {
            Err(reason) => {
                PropertyResult { engine: Some(certus_prob::NAME.to_owned()), reason: Some(reason.clone()), ..shown }
            }
            Ok(outcome) => bounded(shown, system, outcome, courses.get(index).map_or(&[], Vec::as_slice), provenance),
        }
    };
    documents::prob::Prob {
        schema: documents::Schema::default(),
        system: system.name.clone(),
        results: results.iter().enumerate().map(result).collect(),
        provenance: provenance.document(),
    }
}

/// The cells of the initial states in the colours of their bounds, over two elements of the state.
pub fn map(system: &System, title: &str, outcome: &Outcome, axes: (usize, usize)) -> Result<Picture, String> {
    let names = drawn_over(system, axes)?;
    let part = |cell: &Cell| Part { corners: cell.region.projection(axes), value: cell.upper };
    let parts = outcome.cells.iter().map(part).collect();
    Ok(heat::draw(&Heat { title: title.to_owned(), names, parts }))
}

/// The names of the two elements of the state over which a map is drawn.
fn drawn_over(system: &System, (x, y): (usize, usize)) -> Result<[String; 2], String> {
    let names = system.state_names();
    match (names.get(x), names.get(y)) {
        (Some(across), Some(up)) => Ok([across.clone(), up.clone()]),
        _ => Err(format!("⟨axes={x},{y}⟩: {} has {} state variables, counted from 0", system.name, names.len())),
    }
}

/// What every bound is relative to, in words.
fn relative_to(system: &System, provenance: &Provenance) -> String {
    let order = system.order_of_choices().map_or_else(String::new, |order| format!(", {order}"));
    format!(
        "the model over the reals{}, from every initial state{order}; a model error (declared ranges left, a deadlock, an undefined operation) before the formula is decided counts against the property",
        provenance.discretised()
    )
}

/// A result with what was found out about a probability.
pub(crate) fn bounded(
    shown: PropertyResult,
    system: &System,
    outcome: &Outcome,
    course: &[(f64, f64, f64)],
    provenance: &Provenance,
) -> PropertyResult {
    let names = system.state_names();
    let cell = |cell: &Cell| {
        let (lower, upper) = cell.region.bounds();
        BoundedCell { lower: numbers(&lower), upper: numbers(&upper), bound: cell.upper.into() }
    };
    let point = |&(seconds, lower, upper): &(f64, f64, f64)| ConvergencePoint {
        seconds: seconds.into(),
        lower: lower.into(),
        upper: upper.into(),
    };
    let verdict = match outcome.holds {
        Some(true) => Verdict::Holds,
        Some(false) => Verdict::Violated,
        None if !outcome.asks && outcome.narrow => Verdict::Bounded,
        None => Verdict::Unknown,
    };
    let start = outcome.start.as_ref().map(|start| members(names.iter().cloned().zip(start.iter().copied())));
    let reason = match (outcome.holds, outcome.stopped, outcome.narrow && !outcome.asks) {
        (Some(_), ..) | (None, _, true) => None,
        (None, true, false) => Some("stopped before the interval was narrow enough"),
        (None, false, false) if outcome.asks => Some("the interval does not decide it"),
        (None, false, false) => Some("the interval stays wider than was asked for"),
    };
    PropertyResult {
        verdict,
        engine: Some(certus_prob::NAME.to_owned()),
        scope: Some(Some(outcome.steps.map_or(Scope::Unbounded, Scope::Bounded))),
        seconds: Some(outcome.seconds.into()),
        probability: Some((outcome.lower, outcome.upper).into()),
        gap: Some((outcome.upper - outcome.lower).into()),
        narrow: Some(outcome.narrow),
        start: Some(start),
        method: Some(outcome.method.clone()),
        regions: Some(outcome.regions),
        merged: Some(outcome.contained),
        choices: Some(outcome.model.as_ref().map(|model| model.choice_count())),
        may_leave_range: Some(outcome.errors.range),
        may_deadlock: Some(outcome.errors.deadlock),
        may_be_undefined: Some(outcome.errors.undefined),
        model_error_probability: Some(outcome.error.map(Into::into)),
        relative_to: Some(relative_to(system, provenance)),
        reason: reason.map(str::to_owned),
        axes: Some(names),
        cells: Some(outcome.cells.iter().map(cell).collect()),
        actions: Some(actions(system, outcome)),
        convergence: Some(course.iter().map(point).collect()),
        ..shown
    }
}

/// Digits of an action's probability: bounds of it are seldom narrower.
const SHOWN: f64 = 1e6;

/// For every label of every action, bounds of its probability over the cells, in their order; rounded outwards. None where they were not made.
fn actions(system: &System, outcome: &Outcome) -> Option<Vec<ActionBounds>> {
    if outcome.policy.len() != outcome.cells.len() {
        return system.actions.is_empty().then(Vec::new);
    }
    let labels = system.actions.iter().enumerate().flat_map(|(action, own)| {
        own.labels.iter().enumerate().map(move |(label, name)| (action, &own.name, label, name))
    });
    let shown = labels.map(|(action, of, label, name)| {
        let bounds = || outcome.policy.iter().map(move |cell| cell[action][label]);
        ActionBounds {
            action: of.clone(),
            label: name.clone(),
            lower: bounds().map(|p| p.lo.min((p.lo * SHOWN).floor() / SHOWN).into()).collect(),
            upper: bounds().map(|p| p.hi.max((p.hi * SHOWN).ceil() / SHOWN).into()).collect(),
        }
    });
    Some(shown.collect())
}
