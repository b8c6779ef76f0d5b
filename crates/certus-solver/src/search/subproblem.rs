//! A subproblem: a node of the branch-and-bound tree that is still open.

use std::sync::Arc;

use super::logic::Choice;
use crate::bound::goal::Multiplier;
use crate::bound::refine::InheritedBounds;
use crate::bound::table::Range;

/// A subproblem: a box of inputs, ranges of elements (split constraints), and disjuncts that were chosen.
#[derive(Clone, Debug, Default)]
pub(crate) struct Subproblem {
    pub(crate) lower: Vec<f64>,
    pub(crate) upper: Vec<f64>,
    pub(crate) ranges: Vec<Range>,
    pub(crate) choices: Vec<Choice>,
    /// Bounds of a larger subproblem that hold here too.
    pub(crate) known: Option<Arc<InheritedBounds>>,
    /// Multipliers that served the larger subproblem.
    pub(crate) warm: Vec<Multiplier>,
    /// Whether its intermediate bounds are to be refined.
    pub(crate) refine: bool,
    /// Which share of the whole region this is, every split counted as a half.
    pub(crate) share: f64,
    /// The best bound that the larger subproblem had; the nearer to zero, the nearer it is to being verified.
    pub(crate) bound: f64,
    /// Its place in the proof.
    pub(crate) proof: u32,
}

impl Subproblem {
    /// The subproblem with an element's value on one side of a split.
    pub(crate) fn restricted(&self, node: usize, element: usize, lo: f64, hi: f64) -> Subproblem {
        let mut subproblem = self.clone();
        match subproblem.ranges.iter_mut().find(|range| range.node == node && range.element == element) {
            Some(range) => (range.lo, range.hi) = (range.lo.max(lo), range.hi.min(hi)),
            None => subproblem.ranges.push(Range { node, element, lo, hi }),
        }
        subproblem
    }

    /// Whether every input has a value.
    pub(crate) fn is_ordered(&self) -> bool {
        self.lower.len() == self.upper.len() && self.lower.iter().zip(&self.upper).all(|(low, high)| low <= high)
    }

    /// About how many bytes it takes.
    pub(crate) fn bytes(&self) -> usize {
        let known = self.known.as_ref().map_or(0, |known| known.bytes() / Arc::strong_count(known).max(1));
        16 * self.lower.len() + 32 * self.ranges.len() + 48 * self.warm.len() + 8 * self.choices.len() + known + 160
    }
}
