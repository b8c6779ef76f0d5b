//! Tubes whose cases are joined as they go: for loops that switch all the time.
//!
//! A policy that pushes left or right at every step makes more cases than can be followed, and no split of the initial set helps: pieces of any size come to the line
//! where the push changes. But sets from different cases come to lie beside and on top of each other. So where there are many, they are joined, cell by
//! cell: what is in one cell becomes one set (clustering of flowpipes: Frehse, Kateja, Le Guernic, "Flowpipe approximation and clustering in
//! space-time", HSCC 2013). Between two joins sets keep their shape, so a join need not be made up for at each step. An attempt that fails is followed by one with
//! more cells. Cells and frames are those of [`crate::frame`].
//!
//! *Soundness.* Every run is in one of the sets at each step: a join leaves no state out.

use std::collections::BTreeMap;

use certus_automata::nnf::Nnf;
use certus_engine::spent;
use certus_graph::Interval;
use certus_lang::system::AtomId;
use certus_numerics::parallel;

use crate::closed_loop::{PRODUCTS_OF_UNIT, Set, units};
use crate::frame::Frame;
use crate::modes::{Mode, mode_of};
use crate::tube::{Branch, Moved, Tubes, Work};

/// How many cells the first attempt has; each further one has so many times as many, up to a limit.
const FIRST_CELLS: usize = 64;
const FURTHER_CELLS: usize = 4;
const MOST_CELLS: usize = 1 << 16;

/// Sets are joined when there are so many times as many as after the last join.
const GROWTH: usize = 2;

/// Sets that are carried on together.
const BATCH: usize = 64;

/// Cases of one step from a set.
const MOST_CASES: usize = 64;

/// A tube whose cases are joined, from turn to turn.
#[derive(Default)]
pub(crate) struct Joining {
    cells: usize,
    step: usize,
    /// Sets at this step that are still to be carried on, and those at the next one.
    now: Vec<Branch>,
    next: Vec<Branch>,
    /// How many there were after the last join, and how many at most.
    joined: usize,
    most: usize,
    /// Products of numbers that are no whole unit of work yet: steps of such sets are cheap.
    owed: u64,
}

/// What an attempt came to.
enum Attempt {
    Holds,
    Open,
    OutOfWork,
}

/// Why the successors of a set are not known.
enum Failure {
    Open,
    OutOfWork,
}

impl Joining {
    /// Goes on with the tube from a box, with more cells where it fails. Says how many sets there were at most, and how many steps, if it shows
    /// the property; nothing if the work did not suffice for that.
    pub(crate) fn advance(
        &mut self,
        tubes: &Tubes<'_>,
        bounds: &[Interval],
        work: &mut Work,
    ) -> Option<(usize, usize)> {
        while self.cells <= MOST_CELLS {
            if self.now.is_empty() && self.next.is_empty() {
                let cells = if self.cells == 0 { FIRST_CELLS } else { FURTHER_CELLS * self.cells };
                let now = vec![Branch::new(Set::of_box(bounds, 1), tubes.formula.clone())];
                *self = Joining { cells, now, joined: 1, ..Joining::default() };
            }
            match self.attempt(tubes, work) {
                Attempt::Holds => return Some((self.most, self.step)),
                Attempt::Open => (self.now, self.next) = (Vec::new(), Vec::new()),
                Attempt::OutOfWork => return None,
            }
        }
        None
    }

    fn attempt(&mut self, tubes: &Tubes<'_>, work: &mut Work) -> Attempt {
        loop {
            while !self.now.is_empty() {
                if work.left == 0 || spent(tubes.budget).is_some() {
                    return Attempt::OutOfWork;
                }
                let batch = self.now.split_off(self.now.len().saturating_sub(BATCH));
                let found = parallel::map(&batch, tubes.budget.threads, |branch| {
                    // What is begun is finished, so that it need not begin again.
                    let mut own = Work::new(u64::MAX);
                    (after_step(tubes, branch, &mut own), own)
                });
                let mut successors = Vec::new();
                for (own, used) in found {
                    self.owed += used.products;
                    work.steps += used.steps;
                    match own {
                        Ok(own) => successors.extend(own),
                        Err(Failure::Open) => return Attempt::Open,
                        Err(Failure::OutOfWork) => {
                            self.now.extend(batch);
                            return Attempt::OutOfWork;
                        }
                    }
                }
                self.next.extend(successors);
                work.left = work.left.saturating_sub(units(self.owed));
                self.owed %= PRODUCTS_OF_UNIT;
            }
            if self.next.is_empty() {
                return Attempt::Holds;
            }
            (self.now, self.step) = (std::mem::take(&mut self.next), self.step + 1);
            if self.step > tubes.most_steps {
                return Attempt::Open;
            }
            self.most = self.most.max(self.now.len());
            if self.now.len() > (GROWTH * self.joined).max(FIRST_CELLS) {
                self.now = self.joined_sets(tubes);
                self.joined = self.now.len();
            }
        }
    }

    /// The sets of this step, those in one cell joined.
    fn joined_sets(&mut self, tubes: &Tubes<'_>) -> Vec<Branch> {
        let all = std::mem::take(&mut self.now);
        let count = all.len();
        let mut groups: BTreeMap<Mode, Vec<(Nnf<AtomId>, Vec<Set>)>> = BTreeMap::new();
        for Branch { set, formula, .. } in all {
            let of_mode = groups.entry(mode_of(&set.hull())).or_default();
            match of_mode.iter_mut().find(|(own, _)| *own == formula) {
                Some((_, sets)) => sets.push(set),
                None => of_mode.push((formula, vec![set])),
            }
        }
        let mut found = Vec::new();
        for (formula, sets) in groups.into_values().flatten() {
            let cells = (self.cells * sets.len() / count).max(1);
            let sets = match Frame::around(tubes.closed_loop, &sets, cells) {
                Some(frame) if sets.len() > 1 => frame.join(&sets),
                _ => sets,
            };
            found.extend(sets.into_iter().map(|set| {
                let mut branch = Branch::new(set, formula.clone());
                branch.step = self.step;
                branch
            }));
        }
        found
    }
}

/// The successors of a set, in all of its cases.
fn after_step(tubes: &Tubes<'_>, branch: &Branch, work: &mut Work) -> Result<Vec<Branch>, Failure> {
    let mut branches = vec![branch.clone()];
    let mut cases = MOST_CASES;
    let mut found = Vec::new();
    while let Some(mut own) = branches.pop() {
        match tubes.advance(&mut own, &mut branches, &mut cases, work, None) {
            Moved::OutOfWork => return Err(Failure::OutOfWork),
            Moved::Obstacle(_) => return Err(Failure::Open),
            Moved::Ended(_) => {}
            Moved::Onwards => found.push(own),
        }
    }
    Ok(found)
}
