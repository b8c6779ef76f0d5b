//! Work on pieces by several threads, and when to stop. Results are in the order of the pieces, so nothing depends on the number of threads.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

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
    if threads == 1 {
        return pieces.iter().map(work).collect();
    }
    let next = AtomicUsize::new(0);
    let mut found: Vec<(usize, R)> = std::thread::scope(|scope| {
        let worker = || {
            let mut own = Vec::new();
            loop {
                let place = next.fetch_add(1, Ordering::Relaxed);
                let Some(piece) = pieces.get(place) else { return own };
                own.push((place, work(piece)));
            }
        };
        let handles: Vec<_> = (1..threads).map(|_| scope.spawn(worker)).collect();
        let mut found = worker();
        for handle in handles {
            match handle.join() {
                Ok(own) => found.extend(own),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        found
    });
    found.sort_unstable_by_key(|(place, _)| *place);
    found.into_iter().map(|(_, result)| result).collect()
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
