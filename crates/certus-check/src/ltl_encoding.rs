//! The LTL encoding of bounded model checking: temporal formulas over the positions of a run.
//!
//! Biere, Cimatti, Clarke, Zhu: "Symbolic model checking without BDDs", TACAS 1999. A run of n positions is either a lasso
//! (after the last position it returns to an earlier one, for ever) or a prefix of which nothing more is known. On a lasso every formula
//! has a value; of a prefix the encoding says what holds whatever follows, or what can still hold ([`Beyond`]).
//!
//! *Until* on a lasso: from any position, n further ones visit everything that is ever visited, so looking that far beyond
//! the lower bound decides it. On a prefix its witness must lie inside. *Release* on a prefix needs the release to
//! happen inside, unless its bound ends there.
//!
//! Departure: formulas are written out without auxiliary variables, since depths are small; operators with bounds are unfolded within these bounds.

use certus_model::{AtomId, Bounds, Nnf};
use certus_solver::Place;
use certus_solver::formula::Formula;

use crate::condition::{always, and, never, or};

/// The shape of a run: its positions, and where it returns to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// How many positions it has; at least one.
    pub positions: usize,
    /// Where it returns to after the last one.
    pub loop_to: Option<usize>,
}

impl Shape {
    /// The position so many steps after another, if it is known.
    pub fn after(&self, position: usize, steps: usize) -> Option<usize> {
        let at = position.saturating_add(steps);
        match self.loop_to {
            _ if at < self.positions => Some(at),
            Some(start) => Some(start + (at - start) % (self.positions - start)),
            None => None,
        }
    }
}

/// What a formula about a run without a loop supposes of the positions after its last one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Beyond {
    /// Nothing: the formula holds whatever follows.
    Anything,
    /// The best: the formula can still hold.
    TheBest,
}

/// The formula that says that a temporal formula holds at a position, given the formula of each atom at each position.
pub fn encode(
    formula: &Nnf,
    position: usize,
    shape: Shape,
    beyond: Beyond,
    atom: &mut dyn FnMut(AtomId, usize, bool) -> Formula<Place>,
) -> Formula<Place> {
    let hopeful = beyond == Beyond::TheBest && shape.loop_to.is_none();
    match formula {
        Nnf::Literal(id, wanted) => atom(*id, position, *wanted),
        Nnf::And(parts) => and(parts.iter().map(|part| encode(part, position, shape, beyond, atom)).collect()),
        Nnf::Or(parts) => or(parts.iter().map(|part| encode(part, position, shape, beyond, atom)).collect()),
        Nnf::Next(inner) => match shape.after(position, 1) {
            Some(next) => encode(inner, next, shape, beyond, atom),
            None if hopeful => always(),
            None => never(),
        },
        Nnf::Until(bounds, left, right) => {
            let mut ways = Vec::new();
            let mut before = Vec::new();
            let mut later = false;
            for steps in 0..=last_step(*bounds, position, shape) {
                let Some(at) = shape.after(position, steps) else {
                    later = hopeful;
                    break;
                };
                if steps as u64 >= bounds.lower {
                    let mut way = before.clone();
                    way.push(encode(right, at, shape, beyond, atom));
                    ways.push(and(way));
                }
                before.push(encode(left, at, shape, beyond, atom));
            }
            if later {
                ways.push(and(before));
            }
            or(ways)
        }
        Nnf::Release(bounds, left, right) => {
            let last = last_step(*bounds, position, shape);
            let whole = shape.loop_to.is_some() || bounds.upper.is_some_and(|_| shape.after(position, last).is_some());
            let mut ways = Vec::new();
            let mut kept = Vec::new();
            for steps in 0..=last {
                let Some(at) = shape.after(position, steps) else { break };
                if steps as u64 >= bounds.lower {
                    kept.push(encode(right, at, shape, beyond, atom));
                }
                let mut way = kept.clone();
                way.push(encode(left, at, shape, beyond, atom));
                ways.push(and(way));
            }
            if whole || hopeful {
                ways.push(and(kept));
            }
            or(ways)
        }
    }
}

/// The last step that an operator has to look at.
fn last_step(bounds: Bounds, position: usize, shape: Shape) -> usize {
    let far = usize::try_from(bounds.lower).unwrap_or(usize::MAX).saturating_add(shape.positions);
    let bound = bounds.upper.map_or(usize::MAX, |upper| usize::try_from(upper).unwrap_or(usize::MAX));
    match shape.loop_to {
        Some(_) => far.min(bound),
        None => bound.min(shape.positions.saturating_sub(position).max(far)),
    }
}
