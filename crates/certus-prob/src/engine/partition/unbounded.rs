//! Values of a partition without a bound on the steps.
//!
//! All cells that runs can reach are linked, so the partition is an interval MDP as it stands: a cell's parts are the scheduler's choices, and
//! so is the cell of a move's image that the next state is in. Its unbounded value by interval iteration (`imdp/interval_iteration.rs`) bounds the
//! system's from above.

use super::{Link, Partition, State};
use crate::engine::{Budget, finished};
use crate::imdp::robust_value_iteration::Resources;
use crate::imdp::{Builder, Imdp, Objective, Players, interval_iteration};

/// How narrow the values of the interval MDP are made.
const NARROW: f64 = 1e-9;

impl Partition<'_> {
    /// Values for any number of steps; false when stopped on the way.
    pub(super) fn iterate_unbounded(&mut self, budget: &Budget<'_>) -> bool {
        let Some((model, goal)) = self.model() else { return false };
        let players = Players { scheduler: Objective::Max, nature: Objective::Max };
        let stay = vec![true; model.states()];
        let stopped = || budget.stopped();
        let resources = Resources { threads: budget.threads.max(1), stop: &stopped };
        let (mut found, _) = interval_iteration::until(&model, &stay, &goal, NARROW, players, resources);
        found.upper.truncate(self.tree.cells.len());
        self.values = vec![found.upper];
        true
    }

    /// The interval MDP: states are the cells, then the images that meet several cells, then what lies beyond all cells.
    fn model(&self) -> Option<(Imdp, Vec<bool>)> {
        let cells = self.tree.cells.len();
        let several = |link: &Link| link.end - link.first > 1;
        let mut place = cells;
        let images: Vec<usize> = self
            .links
            .links
            .iter()
            .map(|link| {
                place += usize::from(several(link));
                place - 1
            })
            .collect();
        let beyond = place;
        let counts = |state: &State| match state {
            State::Parts(_) => false,
            State::Goal => !self.only_errors,
            State::Failed(_) | State::Unknown => true,
        };
        let mut goal: Vec<bool> = self.states.iter().map(counts).collect();
        goal.resize(beyond, false);
        goal.push(true);
        let mut builder = Builder::new();
        for cell in 0..cells {
            builder.state();
            for part in self.links.cells[cell] as usize..self.links.cells[cell + 1] as usize {
                let places = self.links.parts[part] as usize..self.links.parts[part + 1] as usize;
                let moves: Vec<(usize, f64, f64)> = places
                    .map(|place| {
                        let link = &self.links.links[place];
                        let to = match link.end - link.first {
                            0 => beyond,
                            1 => self.links.targets[link.first as usize] as usize,
                            _ => images[place],
                        };
                        (to, link.lo, link.hi)
                    })
                    .collect();
                builder.choice(&moves);
            }
        }
        for link in self.links.links.iter().filter(|link| several(link)) {
            builder.state();
            for &target in &self.links.targets[link.first as usize..link.end as usize] {
                builder.choice(&[(target as usize, 1.0, 1.0)]);
            }
        }
        builder.state();
        Some((finished(builder)?, goal))
    }
}
