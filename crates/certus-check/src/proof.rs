//! The obligations of a proof: queries that must be unsatisfiable for a verdict to be right.
//!
//! The obligations follow from the words of a proof ([`certus_model::proof`]) and the system alone, so whoever does not believe the engine
//! that found the proof can refute them again.

use std::ops::RangeInclusive;

use certus_lang::system::{Bounds, Formula as Ltl, Property, System};
use certus_model::proof::{Invariant, Method, Proof, Ranking};
use certus_model::{CheckError, Nnf, formula_of, nnf};
use certus_solver::Place;
use certus_solver::formula::Formula;

use crate::condition::{at_most, or};
use crate::induction::invariant::{self, elements, observed, successors};
use crate::induction::ranking;
use crate::ltl_encoding::{Beyond, Shape};
use crate::query::{RunQuery, Wanted};
use crate::unroll::{Start, Unrolled, Unroller};

/// A query that must have no answer.
pub struct Obligation {
    /// What it asks for, in words.
    pub title: String,
    /// The query.
    pub query: RunQuery,
}

/// The queries that a proof rests on.
pub fn obligations(system: &System, property: &Property, proof: &Proof) -> Result<Vec<Obligation>, CheckError> {
    let formula = formula_of(property)?;
    let violation = nnf(formula, false);
    let unroller = &Unroller::new(system);
    match proof {
        Proof::Bounded { steps, cycles } => bounded(unroller, &violation, *steps, cycles),
        Proof::OutOfReach { steps } => {
            let mut found = Vec::new();
            for depth in (0..=*steps).filter(|_| violation.can_end()) {
                let shape = Shape { positions: depth + 1, loop_to: None };
                found.push(named(format!("a violation by {depth} steps"), shown(unroller, &violation, shape)?));
            }
            found.push(named(
                format!("{steps} steps after which one is possible"),
                possible(unroller, &violation, *steps)?,
            ));
            Ok(found)
        }
        Proof::ForAllTime(methods) => {
            let parts = conjuncts(formula);
            if parts.len() != methods.len() {
                let message = format!("{} proofs for a property of {} parts", methods.len(), parts.len());
                return Err(CheckError::Unsupported(message));
            }
            let mut found = Vec::new();
            for (part, method) in parts.into_iter().zip(methods) {
                found.extend(for_all_time(unroller, &nnf(part, false), method)?);
            }
            Ok(found)
        }
    }
}

/// The formulas that a formula is the conjunction of.
pub fn conjuncts(formula: &Ltl) -> Vec<&Ltl> {
    match formula {
        Ltl::And(parts) => parts.iter().flat_map(conjuncts).collect(),
        other => vec![other],
    }
}

/// The shapes of runs of so many steps that can show a violation no shorter one can.
/// With `loops`, also those that return, of a formula that its own bounds decide later.
pub fn shapes(violation: &Nnf, depth: usize, loops: bool) -> Vec<Shape> {
    let positions = depth + 1;
    let prefix = violation.can_end().then_some(Shape { positions, loop_to: None });
    let starts = if violation.needs_loop() || loops { 0..positions } else { 0..0 };
    prefix.into_iter().chain(starts.map(|start| Shape { positions, loop_to: Some(start) })).collect()
}

/// Whether a formula may look beyond so many steps from a position within them: then a loop may show what a prefix does not.
pub fn beyond(violation: &Nnf, steps: usize) -> bool {
    violation.lookahead() > 0 && violation.horizon().is_none_or(|horizon| horizon > steps as u64)
}

/// A run of some shape that shows a violation.
pub fn shown(unroller: &Unroller<'_>, violation: &Nnf, shape: Shape) -> Result<RunQuery, CheckError> {
    // For safety, earlier positions are asked about by themselves.
    let wanted = match violation.reached() {
        Some(bad) if shape.loop_to.is_none() => (bad, shape.positions - 1),
        _ => (violation, 0),
    };
    ask(unroller, Start::Initial, shape, &[wanted], Beyond::Anything)?.at_best_ends()
}

/// A cycle of some period on which a violation could end, wherever it begins.
pub fn cycle(unroller: &Unroller<'_>, violation: &Nnf, period: usize) -> Result<RunQuery, CheckError> {
    let shape = Shape { positions: period, loop_to: Some(0) };
    let tail = violation.tail();
    let everywhere: Vec<(&Nnf, usize)> = (0..period).map(|position| (&tail, position)).collect();
    ask(unroller, Start::Anywhere, shape, &everywhere, Beyond::Anything)?.at_best_ends()
}

/// A run of so many steps that can still turn into a violation.
pub fn possible(unroller: &Unroller<'_>, violation: &Nnf, steps: usize) -> Result<RunQuery, CheckError> {
    let shape = Shape { positions: steps + 1, loop_to: None };
    ask(unroller, Start::Initial, shape, &[(violation, 0)], Beyond::TheBest)?.at_best_ends()
}

/// A run that stays for so many positions where a violation would have to be for ever.
pub fn stays(unroller: &Unroller<'_>, tail: &Nnf, positions: usize) -> Result<RunQuery, CheckError> {
    let shape = Shape { positions, loop_to: None };
    let everywhere: Vec<(&Nnf, usize)> = (0..positions).map(|position| (tail, position)).collect();
    ask(unroller, Start::Anywhere, shape, &everywhere, Beyond::Anything)
}

/// What a proof for all time shows to begin nowhere: on every run that violates the property it holds at some position, if not at every one from some position on.
/// Nothing if the negation of a property has no such form.
pub fn beginning(violation: &Nnf) -> Option<Nnf> {
    let from_some_position_on = || {
        let tail = lasting(violation)?;
        Some(Nnf::Release(Bounds::ALL, Box::new(Nnf::falsity()), Box::new(tail)))
    };
    let Some(own) = violation.eventually() else { return from_some_position_on() };
    let far = own.lookahead().saturating_add(1);
    // What says nothing of single positions far away, as `p & F G !q`, says less than what lasts in the end.
    if own.horizon().is_some() || (far <= MOST_LOOKAHEAD && !own.at(far).is_true()) {
        return Some(own.clone());
    }
    from_some_position_on().or_else(|| Some(own.clone()).filter(|own| !own.at(0).is_true()))
}

/// Steps that a formula may look ahead to be looked at position by position.
const MOST_LOOKAHEAD: u64 = 100;

/// What of the beginning of a violation shows in so many steps, with the last of the steps that it speaks of.
pub fn seen_ahead(violation: &Nnf, ahead: usize) -> Option<(Nnf, usize)> {
    let bad = beginning(violation)?.within(ahead as u64);
    let last = usize::try_from(bad.horizon()?).ok()?;
    Some((bad, last))
}

/// The numbers of steps after which a run may show a formula that speaks of no more than `last` of them.
pub fn showing(bad: &Nnf, last: usize) -> RangeInclusive<usize> {
    let first = bad.earliest().and_then(|first| usize::try_from(first).ok()).unwrap_or(last);
    first.min(last)..=last
}

/// A run from an initial state at whose position `at` something bad begins, which shows by so many steps later.
pub fn begun(unroller: &Unroller<'_>, bad: &Nnf, at: usize, later: usize) -> Result<RunQuery, CheckError> {
    let shape = Shape { positions: at + later + 1, loop_to: None };
    ask(unroller, Start::Initial, shape, &[(bad, at)], Beyond::Anything)?.at_best_ends()
}

/// From so many good states in a row to one at which something bad begins, which shows by so many steps later, within an invariant; the good ones pairwise
/// different, if that is asked for.
pub fn step(
    unroller: &Unroller<'_>,
    bad: &Nnf,
    invariant: &Invariant,
    (depth, later): (usize, usize),
    simple: bool,
) -> Result<RunQuery, CheckError> {
    let last = depth + later;
    let shape = Shape { positions: last + 1, loop_to: None };
    let good = bad.negated();
    // A run may end at its last position: what would show there need not be good.
    let horizon = usize::try_from(bad.horizon().unwrap_or(u64::MAX)).unwrap_or(usize::MAX);
    let known = (0..depth).filter(|position| position.saturating_add(horizon) < last);
    let mut formulas: Vec<(&Nnf, usize)> = known.map(|position| (&good, position)).collect();
    formulas.push((bad, depth));
    let wanted =
        Wanted { start: Start::Anywhere, shape, formulas: &formulas, beyond: Beyond::Anything, ends_in_error: false };
    RunQuery::new(unroller, wanted, &|unrolled| {
        let within = (0..=last).flat_map(|position| invariant::holds(invariant, &observed(unrolled, position)));
        let pairs = (0..depth).flat_map(|first| (first + 1..depth).map(move |second| (first, second)));
        let apart = pairs.filter(|_| simple).map(|(first, second)| different(unrolled, first, second));
        within.chain(apart).collect()
    })
}

/// That the states at two positions are not the same.
fn different(unrolled: &Unrolled, first: usize, second: usize) -> Formula<Place> {
    let pairs = elements(unrolled, first).into_iter().zip(elements(unrolled, second));
    or(pairs
        .filter(|(left, right)| left != right)
        .flat_map(|(left, right)| [at_most(&left, &right, true), at_most(&right, &left, true)])
        .collect())
}

const ONE: Shape = Shape { positions: 1, loop_to: None };
const TWO: Shape = Shape { positions: 2, loop_to: None };

/// A step from a state in which something holds; with what the policies do after it, if that matters.
pub fn steps_from(unroller: &Unroller<'_>, good: &Nnf, outputs: bool) -> Result<RunQuery, CheckError> {
    step_and(unroller, good, outputs, &|_| Vec::new())
}

/// A step out of an invariant from a state of it in which something holds.
pub fn leaving(unroller: &Unroller<'_>, good: &Nnf, invariant: &Invariant) -> Result<RunQuery, CheckError> {
    let outputs = invariant.reads_outputs(unroller.system().state_len());
    step_and(unroller, good, outputs, &|unrolled| {
        let after = if outputs { observed(unrolled, 1) } else { successors(unrolled, 0) };
        let mut parts = invariant::holds(invariant, &observed(unrolled, 0));
        parts.push(invariant::fails(invariant, &after));
        parts
    })
}

fn step_and(
    unroller: &Unroller<'_>,
    good: &Nnf,
    outputs: bool,
    more: &dyn Fn(&Unrolled) -> Vec<Formula<Place>>,
) -> Result<RunQuery, CheckError> {
    let formulas = [(good, 0)];
    // What the policies do after the step takes another position.
    let shape = if outputs { TWO } else { ONE };
    let wanted =
        Wanted { start: Start::Anywhere, shape, formulas: &formulas, beyond: Beyond::Anything, ends_in_error: false };
    if outputs { RunQuery::new(unroller, wanted, more) } else { RunQuery::with_successor(unroller, wanted, more) }
}

/// What holds at every position of a run that comes before something bad begins, said of that position alone.
pub fn good_before(bad: &Nnf) -> Nnf {
    if bad.horizon() == Some(0) { bad.negated() } else { Nnf::truth() }
}

/// An initial state outside of an invariant.
pub fn initial_outside(unroller: &Unroller<'_>, invariant: &Invariant) -> Result<RunQuery, CheckError> {
    let wanted =
        Wanted { start: Start::Initial, shape: ONE, formulas: &[], beyond: Beyond::Anything, ends_in_error: false };
    RunQuery::new(unroller, wanted, &|unrolled| vec![invariant::fails(invariant, &observed(unrolled, 0))])
}

/// A step of a violation on which a ranking function does not go down.
pub fn not_down(unroller: &Unroller<'_>, tail: &Nnf, ranking: &Ranking) -> Result<RunQuery, CheckError> {
    let shape = Shape { positions: ranking.context + 1, loop_to: None };
    let everywhere: Vec<(&Nnf, usize)> = (0..=ranking.context).map(|position| (tail, position)).collect();
    let wanted =
        Wanted { start: Start::Anywhere, shape, formulas: &everywhere, beyond: Beyond::Anything, ends_in_error: false };
    RunQuery::new(unroller, wanted, &|unrolled| vec![ranking::fails(ranking, unrolled)])
}

fn ask(
    unroller: &Unroller<'_>,
    start: Start,
    shape: Shape,
    formulas: &[(&Nnf, usize)],
    beyond: Beyond,
) -> Result<RunQuery, CheckError> {
    RunQuery::new(unroller, Wanted { start, shape, formulas, beyond, ends_in_error: false }, &|_| Vec::new())
}

fn named(title: String, query: RunQuery) -> Obligation {
    Obligation { title, query }
}

fn bounded(
    unroller: &Unroller<'_>,
    violation: &Nnf,
    steps: usize,
    cycles: &[usize],
) -> Result<Vec<Obligation>, CheckError> {
    let mut found = Vec::new();
    // A loop of a period that is known to be none needs no further query, and a violation that lasts must have a tail.
    let known = |period: &usize| !violation.tail().is_true() && cycles.contains(period);
    for period in (1..=steps + 1).filter(known) {
        found.push(named(format!("a cycle of period {period}"), cycle(unroller, violation, period)?));
    }
    let loops = beyond(violation, steps);
    for depth in 0..=steps {
        for shape in shapes(violation, depth, loops) {
            let title = match shape.loop_to {
                Some(start) if known(&(shape.positions - start)) => continue,
                Some(start) => format!("a violation by {depth} steps that return to position {start}"),
                None => format!("a violation by {depth} steps"),
            };
            found.push(named(title, shown(unroller, violation, shape)?));
        }
    }
    Ok(found)
}

fn for_all_time(unroller: &Unroller<'_>, violation: &Nnf, method: &Method) -> Result<Vec<Obligation>, CheckError> {
    let wrong = || CheckError::Unsupported("the proof does not fit the property".to_owned());
    let mut found = Vec::new();
    match method {
        Method::Induction { depth, ahead, invariant, simple } => {
            let (bad, last) = seen_ahead(violation, *ahead).ok_or_else(wrong)?;
            for (at, later) in (0..*depth).flat_map(|at| showing(&bad, last).map(move |later| (at, later))) {
                let title = format!("a violation that begins at step {at} and shows by step {}", at + later);
                found.push(named(title, begun(unroller, &bad, at, later)?));
            }
            if !invariant.faces.is_empty() {
                let title = "an initial state outside of the invariant".to_owned();
                found.push(named(title, initial_outside(unroller, invariant)?));
                let leaving = leaving(unroller, &good_before(&bad), invariant)?;
                found.push(named("a step out of the invariant".to_owned(), leaving));
            }
            let different = if *simple { " different" } else { "" };
            let good = match depth {
                0 => String::new(),
                _ => format!("a step from {depth}{different} good states in a row to "),
            };
            for later in showing(&bad, last) {
                let title = match last {
                    0 => format!("{good}a bad state"),
                    _ => format!("{good}a violation that shows by {later} steps later"),
                };
                found.push(named(title, step(unroller, &bad, invariant, (*depth, later), *simple)?));
            }
        }
        Method::Ranking(ranking) => {
            let tail = lasting(violation).ok_or_else(wrong)?;
            if !ranking::is_bounded(ranking, unroller.system()) || ranking.decrease <= 0.0 || ranking.context == 0 {
                return Err(wrong());
            }
            let title = "a step of a violation on which the function does not go down".to_owned();
            found.push(named(title, not_down(unroller, &tail, ranking)?));
        }
    }
    Ok(found)
}

/// What a violation that only infinite runs show must stay in.
pub fn lasting(violation: &Nnf) -> Option<Nnf> {
    let tail = violation.tail();
    (!tail.is_true() && !violation.can_end()).then_some(tail)
}
