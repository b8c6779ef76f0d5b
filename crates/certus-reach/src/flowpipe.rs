//! Flowpipes: the sets that tubes went through, as boxes over time, for pictures and for explanations.
//!
//! A box at a step contains every state that a run from its piece of the initial set is in at that step, in that case; in continuous time there are boxes over
//! parts of the period, too. The union of all boxes contains every run as far as the flowpipe goes.

use certus_engine::{Budget, Task, run_alone};
use certus_graph::Interval;
use certus_model::CheckError;

use crate::closed_loop::{ClosedLoop, Set, Step};
use crate::engine::{Pieces, Question, Reach, Takes, ladder};
use crate::form::{Form, Space};
use crate::tube::{Reached, Work};

/// The states that runs are in at some instants.
#[derive(Clone, Debug, PartialEq)]
pub struct Slice {
    /// The first instant, in steps.
    pub from: f64,
    /// The last instant, in steps.
    pub to: f64,
    /// A range for each element of the state.
    pub bounds: Vec<Interval>,
}

/// The boxes of some tubes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Flowpipe {
    /// The boxes: piece by piece of the initial set, each in the order of time.
    pub slices: Vec<Slice>,
    /// Whether every tube showed the property; otherwise they end where it was open.
    pub complete: bool,
}

/// Boxes of a flowpipe at most.
const MOST_SLICES: usize = 20_000;

/// Parts of a period that have a box each.
const CUTS: usize = 4;

/// What a tube went through.
#[derive(Clone, Debug, Default)]
pub(crate) struct Trail {
    pub(crate) slices: Vec<Slice>,
    /// For each step, the share of each element's width that is not a polynomial of the initial state.
    pub(crate) lost: Vec<Vec<f64>>,
    /// How many boxes there are over a period.
    cuts: usize,
}

impl Trail {
    pub(crate) fn with_cuts(cuts: usize) -> Trail {
        Trail { cuts, ..Trail::default() }
    }

    /// Notes a set, and the sets over the period that follows.
    pub(crate) fn note(&mut self, at: usize, set: &Set, closed_loop: &ClosedLoop, step: &Step) {
        let hull = set.hull();
        let lost = set.state.iter().map(|form| share(&set.space, form));
        self.lost.push(lost.collect());
        if self.cuts > 0 {
            let start = at as f64;
            let over = closed_loop.over_period(&hull, step, self.cuts);
            let over = over.into_iter().map(|(from, to, bounds)| Slice { from: start + from, to: start + to, bounds });
            self.slices.extend(over);
        }
        self.slices.push(Slice { from: at as f64, to: at as f64, bounds: hull });
    }
}

fn share(space: &Space, form: &Form) -> f64 {
    let width = form.range.width();
    if width > 0.0 { (2.0 * space.remainder(form) / width).min(1.0) } else { 0.0 }
}

/// The flowpipe of a property: from the pieces of the initial set that show it if the budget suffices for that, else from the whole set as far as it goes.
pub fn flowpipe(task: &Task<'_>, budget: &Budget<'_>) -> Result<Flowpipe, CheckError> {
    let found = run_alone(&Reach { takes: Takes::All }, task, budget, &mut |_| {})?;
    let pieces = found.details.and_then(|details| details.downcast::<Pieces>().ok());
    let question = Question::new(*task)?;
    let whole = question.initial_box();
    let variables = whole.iter().filter(|range| range.lo < range.hi).count();
    let boxes = pieces.map_or_else(|| vec![whole], |own| own.0);
    let mut found = Flowpipe { slices: Vec::new(), complete: true };
    let mut invariants = Vec::new();
    for bounds in &boxes {
        let mut best: Option<(bool, Trail)> = None;
        for degree in ladder(variables).into_iter().rev() {
            let mut trail = Trail::with_cuts(CUTS);
            let mut work = Work::new(u64::MAX);
            let reached = question.tubes(degree, &invariants, budget).run(bounds, &mut work, Some(&mut trail));
            let holds = matches!(reached, Reached::Holds(..) | Reached::Empty);
            if let Reached::Holds(_, own) = reached {
                invariants.extend(own);
            }
            if holds || best.as_ref().is_none_or(|(_, own)| own.lost.len() < trail.lost.len()) {
                best = Some((holds, trail));
            }
            if holds {
                break;
            }
        }
        let (holds, trail) = best.unwrap_or_default();
        found.complete &= holds && found.slices.len() <= MOST_SLICES;
        if found.slices.len() > MOST_SLICES {
            break;
        }
        found.slices.extend(trail.slices);
    }
    Ok(found)
}
