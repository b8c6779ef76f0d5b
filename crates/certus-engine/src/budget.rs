//! How much work something is worth.
//!
//! [`Budget`] is the one type for it: work (subproblems that may be bounded), deadline, memory, threads, seed, and a flag that cancels.
//! Engines poll the deadline and the flag; work is counted, so that what a portfolio finds does not depend on the machine.

use std::sync::atomic::Ordering;
use std::time::Instant;

pub use certus_solver::Budget;
use certus_solver::UnknownReason;

/// The work of a first full turn, per query.
pub const FIRST_WORK: u64 = 2_000;

/// The work of the turns before it: most properties that can be decided at all are decided by some engine with next to no work, and should
/// not wait for another one's full turn.
pub const OPENING_WORK: [u64; 2] = [8, 125];

/// The multiplications that each unit of work is worth, about as long as a unit takes any other engine. So a turn ends in time with large
/// graphs, too, and with many queries.
const EFFORT_OF_UNIT: u64 = 1 << 17;

/// What a turn with so much work may spend of a budget.
pub fn of_turn<'b>(budget: &Budget<'b>, work: u64) -> Budget<'b> {
    Budget {
        subproblems: work.min(budget.subproblems),
        effort: work.saturating_mul(EFFORT_OF_UNIT).min(budget.effort),
        ..*budget
    }
}

/// Each further turn may take so many times the work of the one before.
pub const WORK_FACTOR: u64 = 4;

/// Without a deadline, proofs are looked for until a query may take this much work.
const MOST_WORK_WITHOUT_DEADLINE: u64 = 64_000;

/// Why a budget is spent, if it is.
pub fn spent(budget: &Budget<'_>) -> Option<UnknownReason> {
    if budget.stop.is_some_and(|stop| stop.load(Ordering::Relaxed)) {
        return Some(UnknownReason::Stopped);
    }
    budget.deadline.is_some_and(|deadline| Instant::now() >= deadline).then_some(UnknownReason::Deadline)
}

/// Whether to try again with more work than this budget had: until the deadline if there is one, else up to a fixed amount.
pub fn is_worth_more_work(budget: &Budget<'_>) -> bool {
    budget.deadline.is_some() || budget.subproblems < MOST_WORK_WITHOUT_DEADLINE
}
