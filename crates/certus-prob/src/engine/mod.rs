//! Engines: bounds on the probability of a task over all initial states.

pub mod concrete;
mod double_double;
pub mod partition;
pub mod search;
pub mod simulate;
mod split_tree;
pub mod unfold;

use certus_graph::Fault;
use certus_numerics::parallel;
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
        Fault::raise(format!("the abstraction of a system is not an interval MDP: {error}"), format!("{error:?}"))
    };
    builder.finish().map_err(fault).ok()
}

/// Applies a function to batches of the items on several threads; nothing if the budget ran out. Results are in the order of the items.
pub(crate) fn in_parallel<T: Sync, R: Send>(
    items: &[T],
    batch: usize,
    budget: &Budget<'_>,
    work: &(dyn Fn(&[T]) -> Vec<R> + Sync),
) -> Option<Vec<R>> {
    let batches = items.chunks(batch.max(1)).collect();
    let work = |batch: &[T]| (!budget.stopped()).then(|| work(batch));
    let results = parallel::map_until(batches, budget.threads, work, Option::is_none);
    let mut all = Vec::with_capacity(items.len());
    for result in results {
        all.extend(result?);
    }
    Some(all)
}
