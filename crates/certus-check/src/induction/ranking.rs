//! Linear ranking functions: why something cannot go on for ever.
//!
//! Podelski, Rybalchenko: "A complete method for the synthesis of linear ranking functions", VMCAI 2004. A run that violates a liveness property is, from
//! some position on, always in states of one kind (its *tail*). If a linear function of the state goes down by at least a fixed amount on every step between
//! two such states, and the states are bounded, no run stays among them for ever.
//!
//! Departure from the paper: the step is no linear relation, so the function is not found by Farkas' lemma but guessed from steps that were seen (a
//! linear program finds the one with the largest margin, `learn`) and shown by one query: is there a step on which it does not go down? A step that the
//! query finds is one more that the next guess must respect (counterexample-guided synthesis).

use certus_graph::Interval;
use certus_lang::system::System;
use certus_model::proof::{Invariant, Method, Ranking};
use certus_model::{CheckError, Nnf};
use certus_solver::formula::{Formula, Linear};
use certus_solver::{Answer, Place};

use super::Asker;
use super::invariant::elements;
use super::learn::descent;
use super::sample::Sampler;
use crate::condition::at_most;
use crate::proof::{not_down, stays};

use crate::unroll::{Unrolled, Unroller};

/// Steps that may follow the one on which the function goes down.
const MOST_CONTEXT: usize = 3;

/// Points that are tried for steps to begin with, and around each counterexample.
const FIRST_TRIES: usize = 20_000;
const MORE_TRIES: usize = 1_000;

/// Guesses at most.
const MOST_GUESSES: usize = 300;

/// Steps that are taken from around one counterexample.
const WORST: usize = 12;

/// The share of the margin on what was seen that must be left on all steps.
const KEPT: f64 = 0.25;

/// Searches for a ranking function of the states in which `tail` holds.
#[tracing::instrument(level = "debug", name = "ranking function", skip_all)]
pub fn rank(unroller: &Unroller<'_>, tail: &Nnf, asker: &mut Asker<'_, '_>) -> Result<Option<Method>, CheckError> {
    for context in 1..=MOST_CONTEXT {
        let found = rank_with(unroller, tail, context, asker)?;
        if found.is_some() || asker.over() {
            return Ok(found);
        }
    }
    Ok(None)
}

fn rank_with(
    unroller: &Unroller<'_>,
    tail: &Nnf,
    context: usize,
    asker: &mut Asker<'_, '_>,
) -> Result<Option<Method>, CheckError> {
    let steps = stays(unroller, tail, context + 1)?;
    let mut sampler = Sampler::new(&steps, asker.seed());
    let difference =
        |states: &[Vec<f64>]| -> Vec<f64> { states[1].iter().zip(&states[0]).map(|(b, a)| b - a).collect() };
    let mut differences: Vec<Vec<f64>> = Vec::new();
    for sample in sampler.anywhere(&steps, FIRST_TRIES)? {
        differences.push(difference(&sample.states));
    }
    let mut first = None;
    if differences.is_empty() {
        match asker.ask(&steps)? {
            Answer::Sat(witness) => first = Some(witness.inputs),
            Answer::Unknown(..) => return Ok(None),
            Answer::Unsat(_) => {
                let invariant = Invariant::default();
                return Ok(Some(Method::Induction { depth: 0, ahead: context, invariant, simple: false }));
            }
        }
    }
    let bounded = bounded(unroller.system());
    for _ in 0..MOST_GUESSES {
        asker.spend(sampler.operations());
        if asker.over() {
            return Ok(None);
        }
        if let Some(centre) = first.take() {
            let near = sampler.around(&steps, &centre, MORE_TRIES)?;
            let own = sampler.at(&steps, &centre)?;
            differences.extend(near.iter().chain(&own).map(|sample| difference(&sample.states)));
        }
        let Some((coefficients, margin)) = descent(&differences, &sizes(&differences, &bounded)) else {
            return Ok(None);
        };
        let ranking = Ranking { coefficients, decrease: KEPT * margin, context };
        let query = not_down(unroller, tail, &ranking)?;
        match asker.ask(&query)? {
            Answer::Unsat(_) => return Ok(Some(Method::Ranking(ranking))),
            Answer::Unknown(..) => return Ok(None),
            Answer::Sat(witness) => {
                let mut own = Sampler::new(&query, asker.seed());
                let mut found: Vec<Vec<f64>> = own
                    .around(&query, &witness.inputs, MORE_TRIES)?
                    .iter()
                    .map(|sample| difference(&sample.states))
                    .collect();
                // The worst say most; their neighbours say little more.
                found.sort_by(|a, b| along(&ranking, b).total_cmp(&along(&ranking, a)));
                found.truncate(WORST);
                differences.append(&mut found);
                differences.extend(own.at(&query, &witness.inputs)?.iter().map(|sample| difference(&sample.states)));
            }
        }
    }
    Ok(None)
}

/// How a difference of states changes a ranking function.
fn along(ranking: &Ranking, difference: &[f64]) -> f64 {
    ranking.coefficients.iter().zip(difference).map(|(coefficient, change)| coefficient * change).sum()
}

/// That a ranking function does not go down from the first position to the second.
pub fn fails(ranking: &Ranking, unrolled: &Unrolled) -> Formula<Place> {
    let mut change = Linear::constant(Interval::point(-ranking.decrease));
    for (position, sign) in [(0, 1.0), (1, -1.0)] {
        for (number, &coefficient) in elements(unrolled, position).iter().zip(&ranking.coefficients) {
            if coefficient != 0.0 {
                change = change.plus(Interval::point(sign * coefficient), number);
            }
        }
    }
    // value before − value after − decrease ≤ 0.
    at_most(&change, &Linear::constant(Interval::point(0.0)), false)
}

/// Whether a ranking function reads elements with bounded ranges alone, and so is bounded itself.
pub fn is_bounded(ranking: &Ranking, system: &System) -> bool {
    let known = bounded(system);
    let mut read = ranking.coefficients.iter().zip(&known);
    ranking.coefficients.len() == known.len()
        && read.all(|(coefficient, bounded)| coefficient.is_finite() && (*coefficient == 0.0 || *bounded))
}

/// Which elements of the state have a bounded range: a ranking function of others might go down for ever.
fn bounded(system: &System) -> Vec<bool> {
    let ranges = system.states.iter().flat_map(|variable| variable.lower.iter().zip(&variable.upper));
    ranges.map(|(low, high)| (high - low).is_finite()).collect()
}

/// How much each element changes at most; zero where it must not be used.
fn sizes(differences: &[Vec<f64>], bounded: &[bool]) -> Vec<f64> {
    let size = |place: usize| differences.iter().fold(0.0f64, |most, own| most.max(own[place].abs()));
    bounded.iter().enumerate().map(|(place, &bounded)| if bounded { size(place) } else { 0.0 }).collect()
}
