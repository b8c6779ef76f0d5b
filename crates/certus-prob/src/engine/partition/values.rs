//! Values of cells by robust value iteration over the partition, with outward rounding.
//!
//! The operator is that of `imdp/bellman.rs`, with one more choice: among the cells that a move's image meets, the worst counts. Every
//! operation is rounded up, so values are upper bounds without a further error term.

use super::{Link, Partition, State};
use crate::engine::{Budget, Errors};

impl Partition<'_> {
    /// All values, for as many steps as are asked for. False when stopped on the way.
    pub(super) fn evaluate(&mut self, budget: &Budget<'_>) -> bool {
        match self.steps {
            Some(steps) => self.iterate(steps, budget),
            None => self.iterate_unbounded(budget),
        }
    }

    /// A bound of the probability that a run from some cells meets a model error before the goal; nothing when stopped.
    pub(super) fn error(&mut self, cells: &[u32], budget: &Budget<'_>) -> Option<f64> {
        if self.errors == Errors::default() {
            return Some(0.0);
        }
        self.only_errors = true;
        let done = self.evaluate(budget);
        self.only_errors = false;
        done.then(|| cells.iter().map(|&cell| self.whole()[cell as usize]).fold(0.0, f64::max))
    }

    fn fixed(&self, cell: usize) -> Option<f64> {
        match &self.states[cell] {
            State::Goal if self.only_errors => Some(0.0),
            State::Goal | State::Failed(_) => Some(1.0),
            State::Parts(_) => None,
            // Not reached in time, so never asked for.
            State::Unknown => Some(1.0),
        }
    }

    /// The value of a cell when no step is left.
    fn last(&self, cell: usize) -> f64 {
        match &self.states[cell] {
            // Nothing is chosen any more.
            State::Failed(failure) if !failure.is_of_state() => {
                f64::from(u8::from(self.abstraction.weak() && !self.only_errors))
            }
            State::Goal | State::Parts(_) if self.only_errors => 0.0,
            State::Parts(parts) => f64::from(u8::from(self.abstraction.weak() && !parts.is_empty())),
            State::Goal | State::Failed(_) | State::Unknown => 1.0,
        }
    }

    /// All values, step by step. False when stopped on the way.
    fn iterate(&mut self, steps: usize, budget: &Budget<'_>) -> bool {
        let cells = self.tree.cells.len();
        let fixed: Vec<Option<f64>> = (0..cells).map(|cell| self.fixed(cell)).collect();
        let mut values: Vec<Vec<f64>> = vec![(0..cells).map(|cell| self.last(cell)).collect()];
        let mut scratch = Vec::new();
        for step in 1..=steps {
            if budget.stopped() {
                return false;
            }
            let before = &values[step - 1];
            let mut now = vec![0.0; cells];
            for cell in 0..cells {
                now[cell] = match fixed[cell] {
                    Some(value) => value,
                    // Values of more steps than are left when the cell is first reached are not needed.
                    None if self.depth[cell] as usize + step > steps => 1.0,
                    None => self.value(cell, before, &mut scratch).0,
                };
            }
            debug_assert!(now.iter().all(|value| (0.0..=1.0).contains(value)), "a value is no probability");
            values.push(now);
        }
        self.values = values;
        true
    }

    fn image(&self, link: &Link, values: &[f64]) -> (f64, u32) {
        let targets = &self.links.targets[link.first as usize..link.end as usize];
        let mut best = (0.0, u32::MAX);
        for &target in targets {
            let value = values[target as usize];
            if value > best.0 || best.1 == u32::MAX {
                best = (value, target);
            }
        }
        // An image without a cell lies beyond all of them.
        if targets.is_empty() { (1.0, u32::MAX) } else { best }
    }

    /// The value of a cell, its best part, and the moves there as (value, probability, cell).
    pub(super) fn value(&self, cell: usize, before: &[f64], scratch: &mut Vec<(f64, f64, u32)>) -> (f64, usize) {
        let parts = self.links.cells[cell] as usize..self.links.cells[cell + 1] as usize;
        let mut best = (0.0, parts.start);
        for part in parts {
            let value = self.part_value(part, before, scratch);
            if value > best.0 {
                best = (value, part);
            }
        }
        best
    }

    pub(super) fn part_value(&self, part: usize, before: &[f64], scratch: &mut Vec<(f64, f64, u32)>) -> f64 {
        let links = &self.links.links[self.links.parts[part] as usize..self.links.parts[part + 1] as usize];
        scratch.clear();
        scratch.extend(links.iter().map(|link| {
            let (value, target) = self.image(link, before);
            (value, link.lo, target)
        }));
        best_distribution(scratch, links.iter().map(|link| link.hi - link.lo))
    }
}

/// The largest expectation over distributions with lower ends given (second entries) and room above them; the second entries become
/// the best probabilities. Rounded up.
fn best_distribution(moves: &mut [(f64, f64, u32)], room: impl Iterator<Item = f64>) -> f64 {
    use certus_graph::interval::{add_up, mul_up, sub_up};
    let mut left = 1.0f64;
    for (_, lo, _) in moves.iter() {
        left = sub_up(left, *lo);
    }
    debug_assert!(left > -1e-6, "lower ends of probabilities exceed one: {moves:?}");
    left = left.max(0.0);
    let room: Vec<f64> = room.map(f64::next_up).collect();
    let mut order: Vec<usize> = (0..moves.len()).collect();
    order.sort_by(|&a, &b| moves[b].0.total_cmp(&moves[a].0));
    let mut sum = 0.0;
    for place in order {
        let taken = left.min(room[place]);
        left = sub_up(left, taken).max(0.0);
        moves[place].1 = add_up(moves[place].1, taken).min(1.0);
        sum = add_up(sum, mul_up(moves[place].1, moves[place].0));
    }
    sum.min(1.0)
}
