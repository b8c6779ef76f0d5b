//! Work on pieces by several threads, and when to stop. Results are in the order of the pieces, so nothing depends on the number of threads.

use std::sync::atomic::Ordering;
use std::time::Instant;

use certus_numerics::parallel;
use certus_solver::{Budget, UnknownReason};

/// Fewer cells than this are not worth a thread.
const WORTH_A_THREAD: usize = 64;

/// Works on pieces with some threads; results are in the pieces' order.
pub(crate) fn in_parallel<P: Sync, R: Send>(
    pieces: &[P],
    threads: usize,
    size: usize,
    work: &(dyn Fn(&P) -> R + Sync),
) -> Vec<R> {
    let threads = threads.min(pieces.len()).min(size / WORTH_A_THREAD).max(1);
    parallel::map(pieces, threads, work)
}

/// Why to stop, if the budget says so.
pub(crate) fn exhausted(budget: &Budget<'_>) -> Option<UnknownReason> {
    if budget.stop.is_some_and(|stop| stop.load(Ordering::Relaxed)) {
        Some(UnknownReason::Stopped)
    } else if budget.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
        Some(UnknownReason::Deadline)
    } else {
        None
    }
}
