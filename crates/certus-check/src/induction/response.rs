//! What begins at one position and shows some steps later: bounded response `G (p -> F<=k q)`, response `G (p -> F q)`, recurrence `G F q`.
//!
//! On a run that violates such a property something begins at some position (`p & G<=k !q`) of which so much shows in the next steps. A run cannot
//! do that from any state of an invariant: then the property holds, and the fewer steps that takes, the stronger is what was shown. After no
//! step that is plain safety, `G (p -> q)`, of which `G !p` and `G q` are cases; after k steps, it is `G (p -> F<=k q)`, which an unbounded response follows
//! from. So reducing a property to a stronger one of safety (Biere, Artho, Schuppan: "Liveness checking as safety checking", FMICS 2002, for finite systems and
//! lassos) is one number here: how many steps are looked at.
//!
//! In the order of cost: few steps from any state; k-induction; few steps from the states of an inferred invariant; a ranking function.

use certus_graph::Interval;
use certus_model::proof::{Invariant, Method};
use certus_model::{CheckError, Nnf};
use certus_solver::Answer;

use super::{Asker, DEEPEST, Induced, WORK_FACTOR, by_induction, infer, ranking};
use crate::proof::{beginning, initial_outside, lasting, seen_ahead, showing, step};
use crate::unroll::Unroller;

/// Numbers of steps that are looked at where a violation lasts for ever; of one that shows by a fixed step also that one, up to `FURTHEST`.
const AHEAD: [usize; 7] = [0, 1, 2, 3, 5, 7, 10];
const FURTHEST: usize = 64;

/// Steps up to which k-induction looks ahead.
const SHORT: usize = 3;

/// Shows that every violation that begins comes to an end.
pub fn answered(
    unroller: &Unroller<'_>,
    violation: &Nnf,
    reached: Option<&[Interval]>,
    asker: &mut Asker<'_, '_>,
) -> Result<Option<Method>, CheckError> {
    let looks = looks(violation);
    let alone = Invariant::default();
    if let Some(method) = nowhere(unroller, violation, &looks, &alone, asker)? {
        return Ok(Some(method));
    }
    for &ahead in looks.iter().filter(|ahead| **ahead <= SHORT) {
        let Some((bad, ahead)) = seen_ahead(violation, ahead) else { continue };
        for depth in 1..=DEEPEST {
            match by_induction(unroller, &bad, (depth, ahead), asker)? {
                Induced::Proved(method) => return Ok(Some(method)),
                Induced::Violated => break,
                Induced::Open => {}
            }
        }
    }
    let Some(bad) = beginning(violation) else { return Ok(None) };
    let begins = Nnf::Or(vec![bad.at(0), bad.at(1)]);
    let mut stands = |invariant: &Invariant, asker: &mut Asker<'_, '_>| {
        // What the invariant inference has shown of steps it has not shown of initial states.
        if !asker.refuted(&initial_outside(unroller, invariant)?)? {
            return Ok(None);
        }
        nowhere(unroller, violation, &looks, invariant, asker)
    };
    let wanted = infer::Wanted { bad: &begins, good: &Nnf::truth(), is_to_avoid: false, reached };
    if let Some(method) = infer::infer(unroller, &wanted, &mut stands, asker)? {
        return Ok(Some(method));
    }
    match lasting(violation) {
        Some(tail) if !asker.over() => ranking::rank(unroller, &tail, asker),
        _ => Ok(None),
    }
}

/// The numbers of steps that are worth looking at, each of which shows more of a violation than those before.
fn looks(violation: &Nnf) -> Vec<usize> {
    let Some(bad) = beginning(violation) else { return Vec::new() };
    let last = bad.horizon().and_then(|last| usize::try_from(last).ok());
    let more = |ahead: &usize| last.is_none_or(|last| *ahead < last) && !bad.at(*ahead as u64).is_true();
    AHEAD.into_iter().filter(more).chain(last.filter(|last| *last <= FURTHEST)).collect()
}

/// Shows that from no state of an invariant a run goes on like a violation for so many steps, with one of some numbers.
fn nowhere(
    unroller: &Unroller<'_>,
    violation: &Nnf,
    looks: &[usize],
    invariant: &Invariant,
    asker: &mut Asker<'_, '_>,
) -> Result<Option<Method>, CheckError> {
    let mut share = 1;
    'looks: for &ahead in looks {
        let Some((bad, last)) = seen_ahead(violation, ahead) else { continue };
        asker.steps = last;
        for later in showing(&bad, last) {
            if asker.over() {
                return Ok(None);
            }
            match asker.ask_within(&step(unroller, &bad, invariant, (0, later), false)?, share)? {
                Answer::Unsat(_) => {}
                Answer::Sat(_) => continue 'looks,
                // Longer runs are harder to refute; most of the effort is for the shortest that may not exist.
                Answer::Unknown(..) => {
                    share = share.saturating_mul(WORK_FACTOR);
                    continue 'looks;
                }
            }
        }
        return Ok(Some(Method::Induction { depth: 0, ahead: last, invariant: invariant.clone(), simple: false }));
    }
    Ok(None)
}
