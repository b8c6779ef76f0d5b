//! Choices of the environment that show that a state is no deadlock.

use certus_graph::Interval;
use certus_lang::system::System;
use certus_model::CheckError;
use certus_solver::{Answer, Budget, solve};

use super::{Errors, ONE};
use crate::guarded::WitnessChoice;
use crate::ltl_encoding::Beyond;
use crate::query::{RunQuery, Wanted};
use crate::unroll::{Start, Unroller};

/// States in which witness choices are tried.
const SAMPLES: usize = 96;

/// Witness choices that are added where a state turned out to have none of those there are.
pub(super) const MORE_WITNESSES: usize = 8;

impl Errors<'_> {
    /// Looks for an allowed choice in a state that has no witness among those there are; whether there is a new one now.
    pub(super) fn learns(&self, state: &[f64], budget: &Budget<'_>) -> Result<bool, CheckError> {
        let witnesses = self.known_witnesses()?;
        let known = witnesses.borrow().len();
        if self.system.roles.assume.is_none() || known >= MORE_WITNESSES {
            return Ok(false);
        }
        let point: Vec<Interval> = state.iter().map(|&value| Interval::point(value)).collect();
        let (query, Answer::Sat(witness)) = allowed_choice(self.system, &point, budget)? else { return Ok(false) };
        let drive = query.drive(&witness);
        let constant = |&value: &f64| (value, vec![0.0; self.system.state_len()]);
        let choice = WitnessChoice {
            inputs: drive.inputs[0].iter().map(constant).collect(),
            chances: drive.chances[0].clone(),
            actions: drive.choices[0].clone(),
        };
        if witnesses.borrow().contains(&choice) {
            return Ok(false);
        }
        witnesses.borrow_mut().push(choice);
        *self.guarded.borrow_mut() = None;
        *self.intervals.borrow_mut() = None;
        Ok(true)
    }
}

/// States of a box, spread evenly.
pub(super) fn samples(reach: &[Interval]) -> Vec<Vec<f64>> {
    let share = |sample: usize, element: usize| match sample {
        0 => 0.0,
        1 => 1.0,
        2 => 0.5,
        _ => (0.5 + 0.618_033_988_749_895 * sample as f64 + 0.754_877_666_246_693 * (element * sample) as f64).fract(),
    };
    let value = |sample: usize, (element, range): (usize, &Interval)| {
        let (low, high) = (range.lo.max(-1e6), range.hi.min(1e6));
        low + (high - low) * share(sample, element)
    };
    (0..SAMPLES).map(|sample| reach.iter().enumerate().map(|own| value(sample, own)).collect()).collect()
}

/// The query for an allowed choice in a box of states.
fn allowed_choice_query(system: &System, state: &[Interval]) -> Result<RunQuery, CheckError> {
    let mut own = system.clone();
    own.init_box = (state.iter().map(|value| value.lo).collect(), state.iter().map(|value| value.hi).collect());
    own.roles.init = None;
    let wanted =
        Wanted { start: Start::Initial, shape: ONE, formulas: &[], beyond: Beyond::Anything, ends_in_error: false };
    RunQuery::new(&Unroller::new(&own), wanted, &|unrolled| vec![unrolled.is_allowed(0)])
}

/// Subproblems that the query for an allowed choice may take.
const CHOICE_WORK: u64 = 2_000;

/// An allowed choice in a box of states, with its query.
pub(crate) fn allowed_choice(
    system: &System,
    state: &[Interval],
    budget: &Budget<'_>,
) -> Result<(RunQuery, Answer), CheckError> {
    let query = allowed_choice_query(system, state)?;
    let own = Budget { subproblems: CHOICE_WORK.min(budget.subproblems), ..*budget };
    let answer = solve(&query.query()?, &own, &mut |_| {})?;
    Ok((query, answer))
}
