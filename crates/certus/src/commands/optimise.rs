//! `certus optimise`: the maximum or minimum of a linear expression, as an interval that contains it.

use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use certus_graph::Interval;
use certus_solver::formula::{Atom, Formula, Linear};
use certus_solver::{Budget, Progress, UnknownReason, Witness, optimise};
use serde_json::Value;

use super::objective::parse;
use super::question::{Question, Sealed};
use super::stop_on_interrupt;
use crate::Finding;
use crate::arguments::Optimise;
use crate::failure::Failure;
use crate::output::{Output, json_number};
use crate::patience::{Waited, wait};
use crate::progress::{LiveLine, Standing};

/// What is known of the maximum over all cases, of the expression or of its negative.
#[derive(Clone)]
struct Best {
    lower: f64,
    upper: f64,
    witness: Option<Witness>,
    open: Option<UnknownReason>,
}

/// Bounds the maximum or minimum of an expression.
pub fn run(command: &Optimise) -> Result<Finding, Failure> {
    let started = Instant::now();
    let deadline = command.effort.deadline()?;
    if !(command.gap >= 0.0 && command.gap.is_finite()) {
        return Err(Failure::message(format!("--gap {}: expected a number that is not negative", command.gap)));
    }
    let stop = stop_on_interrupt()?;
    if let Some(path) = &command.common.output {
        drop(Output::open(Some(path))?);
    }
    let standing = Arc::new(Mutex::new(Standing::default()));
    let mut line = LiveLine::new(command.effort.quiet);
    let work = {
        let (command, stop, standing) = (command.clone(), Arc::clone(&stop), Arc::clone(&standing));
        move || bound(&command, deadline, &stop, &standing)
    };
    let waited = wait(deadline, &stop, || line.show(|| Standing::of(&standing).to_string()), work)?;
    drop(line);
    let nothing = |reason| Best { lower: f64::NEG_INFINITY, upper: f64::INFINITY, witness: None, open: Some(reason) };
    let (question, best) = match waited {
        Waited::Done(result) => {
            let (question, best) = result?;
            (Some(question), best)
        }
        Waited::Late => (None, nothing(UnknownReason::Deadline)),
        Waited::Stopped => (None, nothing(UnknownReason::Stopped)),
    };
    report(command, question.as_ref(), &best, Standing::of(&standing), started)
}

/// Whether the minimum is wanted, and the expression.
fn wanted(command: &Optimise) -> (bool, &str) {
    match (&command.minimise, &command.maximise) {
        (Some(expression), _) => (true, expression),
        (None, expression) => (false, expression.as_deref().unwrap_or_default()),
    }
}

/// Reads the question and bounds the maximum over its cases, one after the other.
fn bound(
    command: &Optimise,
    deadline: Option<Instant>,
    stop: &AtomicBool,
    standing: &Mutex<Standing>,
) -> Result<(Question, Best), Failure> {
    let question = Question::read(&command.asked, Sealed::No)?;
    let (minimise, expression) = wanted(command);
    let objective = parse(expression, &|name| question.variable(name))
        .map_err(|error| Failure::message(format!("the expression '{expression}': {error}")))?;
    let sign = if minimise { -1.0 } else { 1.0 };
    let objective = Linear::constant(Interval::ZERO).plus(Interval::point(sign), &objective);
    let cases = question.cases();
    Standing::update(standing, |standing| standing.cases = cases);
    let budget = Budget {
        deadline,
        stop: Some(stop),
        threads: command.effort.threads(),
        seed: command.effort.seed,
        memory: command.memory.bytes(),
        ..Budget::default()
    };
    let mut best = Best { lower: f64::NEG_INFINITY, upper: f64::NEG_INFINITY, witness: None, open: None };
    for index in 0..cases {
        Standing::update(standing, |standing| standing.begin(index));
        if stop.load(Ordering::Relaxed) || deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            // Nothing is known of this case.
            best.upper = f64::INFINITY;
            let reason = if stop.load(Ordering::Relaxed) { UnknownReason::Stopped } else { UnknownReason::Deadline };
            best.open = best.open.or(Some(reason));
            break;
        }
        let mut query = question.query(index)?.into_owned();
        // Only what exceeds the best of the earlier cases by more than the gap is of interest.
        let floor = best.witness.is_some().then_some((best.lower + command.gap).next_up());
        if let Some(floor) = floor {
            let above = Linear::constant(Interval::point(floor)).plus(Interval::point(-1.0), &objective);
            let above = Formula::Atom(Atom { linear: above, strict: false });
            let both = Formula::And(vec![query.formula().clone(), above]);
            query = query.with_formula(both).map_err(|error| Failure::message(error.to_string()))?;
        }
        let mut watch = |progress: Progress| {
            // Bounds of such a search are relative to the best value so far: they would mislead.
            Standing::update(standing, |standing| standing.progress = Progress { bound: None, ..progress });
        };
        let found = optimise(&query, &objective, command.gap, &budget, &mut watch)
            .map_err(|error| Failure::message(error.to_string()))?;
        best.upper = best.upper.max(found.upper).max(floor.unwrap_or(f64::NEG_INFINITY).min(best.lower + command.gap));
        if found.lower > best.lower {
            best.lower = found.lower;
            best.witness = found.witness;
        }
        best.open = best.open.or(found.open);
        let progress = Progress { bound: None, ..found.progress };
        Standing::update(standing, |standing| match found.open {
            None => standing.finish(progress),
            Some(_) => standing.leave(progress),
        });
    }
    Ok((question, best))
}

fn report(
    command: &Optimise,
    question: Option<&Question>,
    best: &Best,
    standing: Standing,
    started: Instant,
) -> Result<Finding, Failure> {
    let (minimise, expression) = wanted(command);
    let word = if minimise { "minimum" } else { "maximum" };
    let empty = best.upper == f64::NEG_INFINITY;
    let (lower, upper) = if minimise { (-best.upper, -best.lower) } else { (best.lower, best.upper) };
    // A search that ended by itself reached the gap, up to the rounding of the difference.
    let reached = best.open.is_none() || upper - lower <= command.gap;
    let mut output = Output::open(command.common.output.as_deref())?;
    let witness = question.and_then(|question| Some((question, best.witness.as_ref()?)));
    if command.common.json {
        let mut document = question.map(Question::json_sources).unwrap_or_default();
        document.insert(if minimise { "minimise" } else { "maximise" }.to_owned(), expression.into());
        document.insert("feasible".to_owned(), if empty { false.into() } else { witness.map(|_| true).into() });
        let end = |value: f64| if empty { Value::Null } else { json_number(value) };
        document.insert("lower".to_owned(), end(lower));
        document.insert("upper".to_owned(), end(upper));
        document.insert("gap".to_owned(), json_number(command.gap));
        document.insert("reached".to_owned(), reached.into());
        let point = witness.map_or(Value::Null, |(question, witness)| question.json_witness(witness));
        document.insert("point".to_owned(), point);
        let reason = best.open.filter(|_| !reached).map(|reason| format!("{reason:?}").to_lowercase());
        document.insert("reason".to_owned(), reason.into());
        document.insert("closed".to_owned(), standing.closed().into());
        document.insert("open".to_owned(), standing.open().into());
        document.insert("seconds".to_owned(), json_number(started.elapsed().as_secs_f64()));
        writeln!(output, "{:#}", Value::Object(document))?;
    } else if empty {
        writeln!(output, "no point of the region satisfies the assertion: {expression} has no {word}")?;
    } else {
        writeln!(output, "{word} of {expression}: in [{lower:?}, {upper:?}]")?;
        match witness {
            Some((question, witness)) => question.write_witness(witness, &mut output)?,
            None => writeln!(output, "no point was found")?,
        }
    }
    output.finish()?;
    if !reached && !command.effort.quiet {
        eprintln!("note: the interval is wider than {}: {standing}", command.gap);
    }
    Ok(if reached { Finding::Good } else { Finding::Undecided })
}
