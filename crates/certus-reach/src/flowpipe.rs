//! Flowpipes: the sets that tubes went through, as boxes over time, for pictures and for explanations.
//!
//! A box at a step contains every state that a run from its piece of the initial set is in at that step, in that case; in continuous time there are boxes over
//! parts of the period, too. The union of all boxes contains every run as far as the flowpipe goes.

use std::collections::BTreeMap;

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
    /// Up to this step every run is in some box: the first one at which a tube ends.
    pub covered: usize,
}

impl Flowpipe {
    /// The same with twice so many boxes at most, each around several of before: of neighbouring pieces at the same instants first, then of instants that follow
    /// each other.
    pub fn thinned(mut self, most: usize) -> Flowpipe {
        let most = most.max(1);
        if self.slices.len() <= most {
            return self;
        }
        let mut at: BTreeMap<[u64; 2], Vec<Slice>> = BTreeMap::new();
        // Instants are not negative, so they are ordered as their bits are.
        for slice in self.slices {
            at.entry([slice.from.to_bits(), slice.to.to_bits()]).or_default().push(slice);
        }
        let total: usize = at.values().map(Vec::len).sum();
        let together = |slices: &[Slice], count: usize| slices.chunks(count).filter_map(around).collect::<Vec<_>>();
        self.slices = if at.len() <= most {
            let count = total.div_ceil(most);
            at.values().flat_map(|own| together(own, count)).collect()
        } else {
            let hulls: Vec<Slice> = at.values().filter_map(|own| around(own)).collect();
            together(&hulls, hulls.len().div_ceil(most))
        };
        self
    }
}

/// A slice around others; nothing around none.
fn around(slices: &[Slice]) -> Option<Slice> {
    let (first, rest) = slices.split_first()?;
    let mut all = first.clone();
    for own in rest {
        (all.from, all.to) = (all.from.min(own.from), all.to.max(own.to));
        all.bounds.iter_mut().zip(&own.bounds).for_each(|(a, b)| *a = a.hull(*b));
    }
    Some(all)
}

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
    /// The step that was noted last, and the first one after which a branch ended.
    last: Option<usize>,
    end: Option<usize>,
}

impl Trail {
    pub(crate) fn with_cuts(cuts: usize) -> Trail {
        Trail { cuts, ..Trail::default() }
    }

    /// Notes a set, and the sets over the period that follows.
    pub(crate) fn note(&mut self, at: usize, set: &Set, closed_loop: &ClosedLoop, step: &Step) {
        // A branch is followed to its end before another one begins, at a step that the first one was at.
        if self.last.is_some_and(|last| at != last + 1) {
            self.end = self.earliest_end();
        }
        self.last = Some(at);
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

impl Trail {
    /// The first step at which a branch ended, if the one that was noted last has.
    fn earliest_end(&self) -> Option<usize> {
        [self.end, self.last].into_iter().flatten().min()
    }
}

fn share(space: &Space, form: &Form) -> f64 {
    let width = form.range.width();
    if width > 0.0 { (2.0 * space.remainder(form) / width).min(1.0) } else { 0.0 }
}

/// The flowpipe of a property: from pieces of the initial set that show it, if these are known or the budget suffices to find some, else from the whole set as
/// far as it goes.
pub fn flowpipe(task: &Task<'_>, pieces: Option<&Pieces>, budget: &Budget<'_>) -> Result<Flowpipe, CheckError> {
    let searched = match pieces {
        Some(_) => None,
        None => {
            let found = run_alone(&Reach { takes: Takes::All }, task, budget, &mut |_| {})?;
            found.details.and_then(|details| details.downcast::<Pieces>().ok())
        }
    };
    let question = Question::new(*task)?;
    let whole = question.initial_boxes();
    let wide = |own: &Vec<Interval>| own.iter().filter(|range| range.lo < range.hi).count();
    let variables = whole.iter().map(wide).max().unwrap_or(0);
    let boxes = pieces.or(searched.as_deref()).map_or(whole, |own| own.0.clone());
    let mut found = Flowpipe { slices: Vec::new(), complete: true, covered: 0 };
    let mut end: Option<usize> = None;
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
        found.complete &= holds;
        // A piece without initial states leaves nothing.
        end = [end, trail.earliest_end()].into_iter().flatten().min();
        found.slices.extend(trail.slices);
    }
    found.covered = end.unwrap_or(0);
    Ok(found)
}
