//! A portfolio of engines.
//!
//! Which engine decides a property cannot be told in advance, so several take turns: each with very little work at first
//! ([`OPENING_WORK`]), then with [`FIRST_WORK`] and each time [`WORK_FACTOR`] times as much, until one decides or none would
//! profit from more (algorithm portfolios: Huberman, Lukose, Hogg, "An economics approach to hard computational problems",
//! Science 275, 1997; Gomes, Selman, "Algorithm portfolios", Artificial Intelligence 126, 2001). The total is within a constant
//! factor of what the best engine needs alone.
//!
//! Unlike a race of processes, the turns are in a fixed order and are measured in work, not in time. So the verdict, the engine that
//! finds it and its trace are the same on every machine and for every number of threads, as long as no deadline interferes.
//!
//! Peers share what they learn through [`Shared`]: a proof that is missing the absence of model errors ends the search for other proofs. A
//! run that violates a property which has such a proof shows a mistake in Certus, and is raised as a fault.

use std::any::Any;

use certus_graph::Fault;
use certus_model::{CheckError, Outcome, Scope, Unknown, Verdict, usual_steps, within_scope};

use crate::budget::{Budget, FIRST_WORK, OPENING_WORK, WORK_FACTOR, of_turn, spent};
use crate::engine::{Engine, Next, Session, Shared, Support, Task, Turn, Watch};
use crate::progress::{Depth, Progress};

/// The name of the portfolio among engines.
pub const NAME: &str = "auto";

/// What is said where a property holds up to a bound and nothing more is known.
pub const NO_PROOF: &str = "no proof for all time was found";

/// What the engines came to.
pub struct Finished {
    /// The verdict, with the engine that found it.
    pub outcome: Outcome,
    /// What that engine can tell beyond it ([`Session::details`]).
    pub details: Option<Box<dyn Any>>,
}

/// Adds to a verdict that a property holds what shows that it does not hold vacuously.
pub type Exercise<'e> = dyn FnMut(Outcome, &mut Watch<'_>) -> Result<Outcome, CheckError> + 'e;

/// Works on a property with one engine alone: each turn has all of the budget, and there is another one only to look deeper.
pub fn run_alone(
    engine: &dyn Engine,
    task: &Task<'_>,
    budget: &Budget<'_>,
    watch: &mut Watch<'_>,
) -> Result<Finished, CheckError> {
    if let Support::No(reason) = engine.supports(task.system, task.property) {
        return Err(CheckError::Unsupported(reason));
    }
    let mut session = engine.start(task)?;
    let mut shared = Shared::default();
    let outcome = loop {
        match session.advance(budget, &mut shared, watch)? {
            Turn::Open { next: Next::Deeper, .. } if spent(budget).is_none() => {}
            Turn::Decided(outcome) | Turn::Open { so_far: outcome, .. } => break *outcome,
            Turn::Refused(reason) => return Err(CheckError::Unsupported(reason)),
        }
    };
    Ok(Finished { outcome, details: session.details() })
}

/// An engine that takes turns.
struct Peer<'t> {
    name: &'static str,
    session: Box<dyn Session + 't>,
    bounds_violations: bool,
    so_far: Option<Outcome>,
    finished: bool,
}

/// Works on a property with several engines in turns; those that cannot take it are left out.
pub fn run_portfolio<'t>(
    engines: &'t [Box<dyn Engine + 't>],
    task: &Task<'t>,
    budget: &Budget<'_>,
    watch: &mut Watch<'_>,
    exercise: &mut Exercise<'_>,
) -> Result<Finished, CheckError> {
    let mut peers = Vec::new();
    let mut refused = None;
    for engine in engines {
        match engine.supports(task.system, task.property) {
            Support::Yes => peers.push(Peer {
                name: engine.name(),
                session: engine.start(task)?,
                bounds_violations: engine.bounds_violations(),
                so_far: None,
                finished: false,
            }),
            Support::No(reason) => {
                tracing::info!(property = task.property.name, "{} is left out: {reason}", engine.name());
                refused = Some(reason);
            }
        }
    }
    if peers.is_empty() {
        let reason = refused.unwrap_or_else(|| "there is no engine that could check it".to_owned());
        return Err(CheckError::Unsupported(reason));
    }
    let steps = task.steps.unwrap_or_else(|| usual_steps(task.property));
    let mut shared = Shared::default();
    let growing = std::iter::successors(Some(FIRST_WORK), |work| Some(work.saturating_mul(WORK_FACTOR)));
    for work in OPENING_WORK.into_iter().chain(growing) {
        let turn_budget = of_turn(budget, work);
        let (mut deeper, mut more_work) = (false, false);
        for number in 0..peers.len() {
            // The first engines end soon by themselves; the others need not begin when the budget is spent.
            if peers[number].finished || (has_bound(&peers) && spent(budget).is_some()) {
                continue;
            }
            // Work that is cut off later may still say what was shown so far.
            let settled = peers.iter().filter_map(|peer| peer.so_far.as_ref()).any(|own| is_whole(own, steps));
            let mut watch = |progress: Progress| {
                watch(match progress {
                    Progress::Queries(depth) if settled => Progress::Queries(Depth { settled: Some(steps), ..depth }),
                    _ => progress,
                });
            };
            let peer = &mut peers[number];
            tracing::info!(property = task.property.name, work, "turn of {}", peer.name);
            match peer.session.advance(&turn_budget, &mut shared, &mut watch)? {
                Turn::Decided(outcome) => {
                    tracing::info!(property = task.property.name, "{} decides", peer.name);
                    let details = peer.session.details();
                    return decided(task, *outcome, details, &shared, &mut watch, exercise);
                }
                Turn::Open { so_far, next } => {
                    tracing::info!(property = task.property.name, next = ?next, "{} is undecided", peer.name);
                    peer.so_far = Some(*so_far);
                    peer.finished = next == Next::Never;
                    deeper |= next == Next::Deeper;
                    more_work |= next == Next::MoreWork;
                }
                Turn::Refused(reason) => {
                    tracing::info!(property = task.property.name, "{} gives up: {reason}", peer.name);
                    peer.finished = true;
                }
            }
        }
        let goes_on = deeper || (more_work && work < budget.subproblems);
        if !goes_on || spent(budget).is_some() {
            break;
        }
    }
    let (outcome, whole) = undecided(task, steps, peers, &shared, budget)?;
    let mut outcome = match outcome.verdict {
        Verdict::Holds(_) => exercise(outcome, watch)?,
        _ => outcome,
    };
    if whole {
        outcome.notes.push(NO_PROOF.to_owned());
    }
    Ok(Finished { outcome, details: None })
}

fn has_bound(peers: &[Peer<'_>]) -> bool {
    peers.iter().any(|peer| peer.bounds_violations && peer.so_far.is_some())
}

/// Whether an outcome says that there is neither a violation nor a model error within so many steps.
fn is_whole(outcome: &Outcome, steps: usize) -> bool {
    match &outcome.verdict {
        Verdict::Holds(Scope::Bounded(reached)) => *reached == steps,
        _ => false,
    }
}

/// The verdict of one engine.
fn decided(
    task: &Task<'_>,
    outcome: Outcome,
    details: Option<Box<dyn Any>>,
    shared: &Shared,
    watch: &mut Watch<'_>,
    exercise: &mut Exercise<'_>,
) -> Result<Finished, CheckError> {
    debug_assert!(
        !matches!(&outcome.verdict, Verdict::Holds(Scope::Bounded(reached)) if task.steps.is_none_or(|asked| *reached < asked)),
        "{} decides less than was asked: {:?}",
        outcome.engine,
        outcome.verdict
    );
    debug_assert!(!matches!(outcome.verdict, Verdict::Unknown(_)), "{} decides that it does not know", outcome.engine);
    debug_assert!(
        !matches!(&outcome.verdict, Verdict::Violated(run) if !run.is_complete()),
        "{} has a run with positions without values",
        outcome.engine
    );
    if let (Verdict::Violated(run), Some(proof)) = (&outcome.verdict, &shared.proof) {
        let (system, property) = (&task.system.name, &task.property.source);
        let details = format!("{system}: {property}\n{} found run {run:?}\nproof {proof:?}", outcome.engine);
        let fault = Fault::raise("a property has a proof and a run that violates it", details);
        return Err(CheckError::Graph(fault.into()));
    }
    let outcome = match outcome.verdict {
        Verdict::Holds(_) => exercise(outcome, watch)?,
        _ => outcome,
    };
    Ok(Finished { outcome, details })
}

/// What all of them together say where none decides, and whether all of the steps were covered.
fn undecided(
    task: &Task<'_>,
    steps: usize,
    peers: Vec<Peer<'_>>,
    shared: &Shared,
    budget: &Budget<'_>,
) -> Result<(Outcome, bool), CheckError> {
    let mut all: Vec<(bool, Outcome)> =
        peers.into_iter().filter_map(|peer| peer.so_far.map(|own| (peer.bounds_violations, own))).collect();
    let first = all.iter().position(|(bounds, _)| *bounds).unwrap_or(0);
    if all.is_empty() {
        return Err(CheckError::Unsupported("no engine could check it".to_owned()));
    }
    let (_, mut outcome) = all.remove(first);
    let notes: Vec<String> = all.iter().flat_map(|(_, own)| own.notes.iter().cloned()).collect();
    let learnt = all.into_iter().filter_map(|(_, own)| match own.verdict {
        Verdict::Unknown(unknown) => Some(unknown),
        _ => None,
    });
    if shared.proof.is_some() {
        // What is missing is the absence of model errors.
        let unknown =
            Unknown { settled: settled(&outcome), ..Unknown::at(spent(budget), "the absence of model errors") };
        outcome = Outcome::new(NAME, Verdict::Unknown(unknown));
    }
    let whole = is_whole(&outcome, steps);
    outcome = within_scope(task.property, outcome, task.steps, spent(budget));
    if let Verdict::Unknown(unknown) = &mut outcome.verdict {
        for other in learnt {
            if unknown.candidate.is_none() {
                unknown.candidate = other.candidate;
            }
            if unknown.holds_if.is_empty() {
                unknown.holds_if = other.holds_if;
            }
        }
        outcome.notes.extend(notes);
    }
    Ok((outcome, whole))
}

/// Steps up to which an outcome says that there is no violation.
fn settled(outcome: &Outcome) -> Option<usize> {
    match &outcome.verdict {
        Verdict::Holds(Scope::Bounded(steps) | Scope::Horizon(steps)) => Some(*steps),
        Verdict::Unknown(unknown) => unknown.settled,
        _ => None,
    }
}
