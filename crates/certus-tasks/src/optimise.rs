//! How large can a linear expression get where an assertion holds?

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use certus_documents as documents;
use certus_engine::{Ended, Job};
use certus_graph::Interval;
use certus_solver::formula::{Atom, Formula, Linear};
use certus_solver::{Budget, Progress, UnknownReason, Witness};

use crate::failure::Failure;
use crate::objective::parse;
use crate::{BudgetOptions, LoadedQuery, Provenance, QuerySource, Sealed, SearchProgress};

/// What is asked.
#[derive(Clone, Debug)]
pub struct Optimise {
    /// What the question is read from.
    pub asked: QuerySource,
    /// The expression.
    pub expression: String,
    /// Whether the minimum is wanted, not the maximum.
    pub minimise: bool,
    /// How wide the interval may be in the end.
    pub gap: f64,
    /// How much work it is worth.
    pub effort: BudgetOptions,
}

/// What came out.
pub struct Optimised {
    /// The question, if it could be read in time.
    pub question: Option<LoadedQuery>,
    /// Whether no point of the region satisfies the assertion.
    pub empty: bool,
    /// The least that the optimum can be.
    pub lower: f64,
    /// The greatest that the optimum can be.
    pub upper: f64,
    /// Whether the interval is as narrow as was asked.
    pub reached: bool,
    /// The best point that was found.
    pub witness: Option<Witness>,
    /// Why the interval is wider than was asked, in one word.
    pub reason: Option<String>,
    /// How far the search came.
    pub standing: SearchProgress,
}

/// What the interval is relative to; the point was evaluated in both precisions.
pub const RELATIVE_TO: &str = "the network in its file, over the reals";

impl Optimised {
    /// The outcome as a document.
    pub fn document(&self, task: &Optimise, seconds: f64) -> documents::optimise::Optimise {
        let files = self.question.as_ref().map(LoadedQuery::named_files).unwrap_or_default();
        let expression = |wanted: bool| wanted.then(|| task.expression.clone());
        let witness = self.question.as_ref().zip(self.witness.as_ref());
        let end = |value: f64| (!self.empty).then_some(value.into());
        documents::optimise::Optimise {
            schema: documents::Schema::default(),
            network: files.network,
            specification: files.specification,
            query: files.query,
            networks: files.networks,
            minimise: expression(task.minimise),
            maximise: expression(!task.minimise),
            feasible: if self.empty { Some(false) } else { witness.map(|_| true) },
            lower: end(self.lower),
            upper: end(self.upper),
            gap: task.gap.into(),
            reached: self.reached,
            point: witness.map(|(question, witness)| question.assignment(witness)),
            reason: self.reason.clone(),
            verified: self.standing.verified(),
            open: self.standing.open(),
            seconds: seconds.into(),
            relative_to: RELATIVE_TO.to_owned(),
            provenance: self.provenance(task).document(),
        }
    }

    /// Where the interval comes from.
    pub fn provenance(&self, task: &Optimise) -> Provenance {
        let sources = self.question.as_ref().map(|question| question.sources.clone()).unwrap_or_default();
        let provenance = Provenance::new("optimise", sources).with_search(&task.effort);
        provenance.limit("gap", Some(task.gap.into()))
    }
}

/// What is known of the maximum over all cases, of the expression or of its negative.
#[derive(Clone)]
struct Best {
    lower: f64,
    upper: f64,
    witness: Option<Witness>,
    open: Option<UnknownReason>,
}

/// Bounds the maximum or minimum of an expression. `tick` is called some twenty times a second while the search goes
/// on, and `stop` ends it.
pub fn optimise(
    task: &Optimise,
    stop: &Arc<AtomicBool>,
    mut tick: impl FnMut(SearchProgress),
) -> Result<Optimised, Failure> {
    if !(task.gap >= 0.0 && task.gap.is_finite()) {
        return Err(Failure::message(format!("⟨gap={}⟩: expected a number that is not negative", task.gap)));
    }
    let standing = Arc::new(Mutex::new(SearchProgress::default()));
    let work = {
        let (task, stop, standing) = (task.clone(), Arc::clone(stop), Arc::clone(&standing));
        move || bound(&task, &stop, &standing)
    };
    let waited = Job::new(task.effort.deadline, stop).run(|| tick(SearchProgress::of(&standing)), work)?;
    let nothing = |reason| Best { lower: f64::NEG_INFINITY, upper: f64::INFINITY, witness: None, open: Some(reason) };
    let (question, best) = match waited {
        Ended::Done(result) => {
            let (question, best) = result?;
            (Some(question), best)
        }
        Ended::Late => (None, nothing(UnknownReason::Deadline)),
        Ended::Cancelled => (None, nothing(UnknownReason::Stopped)),
    };
    let (lower, upper) = if task.minimise { (-best.upper, -best.lower) } else { (best.lower, best.upper) };
    // A search that ended by itself reached the gap, up to the rounding of the difference.
    let reached = best.open.is_none() || upper - lower <= task.gap;
    Ok(Optimised {
        question,
        empty: best.upper == f64::NEG_INFINITY,
        lower,
        upper,
        reached,
        witness: best.witness,
        reason: best.open.filter(|_| !reached).map(|reason| format!("{reason:?}").to_lowercase()),
        standing: SearchProgress::of(&standing),
    })
}

/// Reads the question and bounds the maximum over its cases, one after the other.
fn bound(task: &Optimise, stop: &AtomicBool, standing: &Mutex<SearchProgress>) -> Result<(LoadedQuery, Best), Failure> {
    let question = LoadedQuery::read(&task.asked, Sealed::No)?;
    let (deadline, minimise, expression) = (task.effort.deadline, task.minimise, &task.expression);
    let objective = parse(expression, &|name| question.variable(name))
        .map_err(|error| Failure::message(format!("the expression '{expression}': {error}")))?;
    let sign = if minimise { -1.0 } else { 1.0 };
    let objective = Linear::constant(Interval::ZERO).plus(Interval::point(sign), &objective);
    let cases = question.cases();
    SearchProgress::update(standing, |standing| standing.cases = cases);
    let budget = Budget {
        deadline,
        stop: Some(stop),
        threads: task.effort.threads(),
        seed: task.effort.seed,
        memory: task.effort.memory,
        ..Budget::default()
    };
    let mut best = Best { lower: f64::NEG_INFINITY, upper: f64::NEG_INFINITY, witness: None, open: None };
    for index in 0..cases {
        SearchProgress::update(standing, |standing| standing.begin(index));
        if stop.load(Ordering::Relaxed) || deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            // Nothing is known of this case.
            best.upper = f64::INFINITY;
            let reason = if stop.load(Ordering::Relaxed) { UnknownReason::Stopped } else { UnknownReason::Deadline };
            best.open = best.open.or(Some(reason));
            break;
        }
        let mut query = question.query(index)?.into_owned();
        // Only what exceeds the best of the earlier cases by more than the gap is of interest.
        let floor = best.witness.is_some().then_some((best.lower + task.gap).next_up());
        if let Some(floor) = floor {
            let above = Linear::constant(Interval::point(floor)).plus(Interval::point(-1.0), &objective);
            let above = Formula::Atom(Atom { linear: above, strict: false });
            let both = Formula::And(vec![query.formula().clone(), above]);
            query = query.with_formula(both).map_err(|error| Failure::message(error.to_string()))?;
        }
        let mut watch = |progress: Progress| {
            // Bounds of such a search are relative to the best value so far: they would mislead.
            SearchProgress::update(standing, |standing| standing.progress = Progress { bound: None, ..progress });
        };
        let found = certus_solver::optimise(&query, &objective, task.gap, &budget, &mut watch)
            .map_err(|error| Failure::message(error.to_string()))?;
        best.upper = best.upper.max(found.upper).max(floor.unwrap_or(f64::NEG_INFINITY).min(best.lower + task.gap));
        if found.lower > best.lower {
            best.lower = found.lower;
            best.witness = found.witness;
        }
        best.open = best.open.or(found.open);
        let progress = Progress { bound: None, ..found.progress };
        SearchProgress::update(standing, |standing| match found.open {
            None => standing.finish(progress),
            Some(_) => standing.leave(progress),
        });
    }
    Ok((question, best))
}
