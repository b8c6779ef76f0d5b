//! Engines: bounds on the probability of a task over all initial states.

pub mod concrete;
pub mod partition;
pub mod search;
pub mod simulate;
mod tree;
pub mod unfold;
mod wide;

use std::sync::atomic::Ordering;

use certus_graph::Fault;
pub use certus_solver::Budget;

use crate::abstraction::Failure;
use crate::imdp::{Builder, Imdp, ModelError};

/// Which model errors runs may meet before the path formula is decided on them. They count as reaching the goal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Errors {
    /// A successor may be outside of the declared ranges.
    pub range: bool,
    /// A state may have no allowed choice.
    pub deadlock: bool,
    /// An operation may be outside of its domain.
    pub undefined: bool,
}

impl Errors {
    pub(crate) fn or(self, other: Errors) -> Errors {
        Errors {
            range: self.range | other.range,
            deadlock: self.deadlock | other.deadlock,
            undefined: self.undefined | other.undefined,
        }
    }

    /// Remembers one.
    pub(crate) fn note(&mut self, failure: Failure) {
        match failure {
            Failure::Range => self.range = true,
            Failure::Deadlock => self.deadlock = true,
            Failure::Step | Failure::Atom => self.undefined = true,
        }
    }
}

/// The model that was built. That the bounds of probabilities in it admit no distribution is a fault.
pub(crate) fn finished(builder: Builder) -> Option<Imdp> {
    let fault = |error: ModelError| {
        Fault::raise(format!("the abstraction of a system is no interval MDP: {error}"), format!("{error:?}"))
    };
    builder.finish().map_err(fault).ok()
}

/// Does something with every item, on several threads; nothing when stopped. Results keep their order.
pub(crate) fn in_parallel<T: Sync, R: Send>(
    items: &[T],
    batch: usize,
    budget: &Budget<'_>,
    work: &(dyn Fn(&[T]) -> Vec<R> + Sync),
) -> Option<Vec<R>> {
    let batches: Vec<&[T]> = items.chunks(batch.max(1)).collect();
    let threads = budget.threads.max(1).min(batches.len());
    if threads <= 1 {
        let mut results = Vec::with_capacity(items.len());
        for batch in batches {
            if budget.stopped() {
                return None;
            }
            results.extend(work(batch));
        }
        return Some(results);
    }
    let next = std::sync::atomic::AtomicUsize::new(0);
    let slots: Vec<std::sync::Mutex<Option<Vec<R>>>> = batches.iter().map(|_| std::sync::Mutex::new(None)).collect();
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    if index >= batches.len() || budget.stopped() {
                        return;
                    }
                    let done = work(batches[index]);
                    *slots[index].lock().unwrap_or_else(std::sync::PoisonError::into_inner) = Some(done);
                }
            });
        }
    });
    let mut results = Vec::with_capacity(items.len());
    for slot in slots {
        results.extend(slot.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner)?);
    }
    Some(results)
}
