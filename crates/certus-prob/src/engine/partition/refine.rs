//! Refinement of the partition: split the cells that the best strategy visits with the largest loss (the head of `mod.rs`).

use super::{LOOKED_AHEAD, Link, Partition, State};

/// The share of the charged cells that is split in one round, and how many at least.
const SPLIT_SHARE: f64 = 0.25;
const FEWEST_SPLITS: usize = 64;

impl Partition<'_> {
    /// What a part's step gives in the middle: probabilities in the middle of their intervals, images at their least.
    fn middle(&self, part: usize, before: &[f64]) -> f64 {
        let links = &self.links.links[self.links.parts[part] as usize..self.links.parts[part + 1] as usize];
        let sum: f64 = links.iter().map(|link| (link.lo + link.hi) / 2.0).sum();
        let value = |link: &Link| {
            let targets = &self.links.targets[link.first as usize..link.end as usize];
            let least = targets.iter().map(|&target| before[target as usize]).fold(1.0, f64::min);
            (link.lo + link.hi) / 2.0 / sum.max(1e-300) * least
        };
        links.iter().map(value).sum()
    }

    /// Splits the cells that cost most. False if there is nothing to split.
    pub(super) fn refine(&mut self, initial: &[u32], content: f64) -> bool {
        let cells = self.tree.cells.len();
        let top = initial.iter().map(|&cell| self.whole()[cell as usize]).fold(0.0, f64::max);
        let bar = content.max(0.3 * top);
        let mut weights = vec![0.0f64; cells];
        for &cell in initial.iter().filter(|&&cell| self.whole()[cell as usize] > bar) {
            weights[cell as usize] = 1.0;
        }
        let mut charges = vec![0.0f64; cells];
        let mut scratch = Vec::new();
        for step in (0..=self.steps.unwrap_or(LOOKED_AHEAD)).rev() {
            let mut after = vec![0.0f64; cells];
            for cell in 0..cells {
                let weight = weights[cell];
                if weight == 0.0 {
                    continue;
                }
                match &self.states[cell] {
                    State::Goal | State::Failed(_) => charges[cell] += weight,
                    State::Parts(parts) if !parts.is_empty() && step > 0 => {
                        let before = self.within(step - 1);
                        let (value, part) = self.value(cell, before, &mut scratch);
                        charges[cell] += weight * (value - self.middle(part, before)).max(0.0);
                        self.part_value(part, before, &mut scratch);
                        for &(_, p, target) in &scratch {
                            if target != u32::MAX {
                                after[target as usize] += weight * p;
                            }
                        }
                    }
                    // It counts as having stayed, all of it; a part that fills it did.
                    State::Parts(parts) if self.abstraction.weak() => {
                        let whole = &self.tree.cells[cell];
                        let mixed = !parts.is_empty() && parts.iter().all(|part| part.region != *whole);
                        charges[cell] += if mixed { weight } else { 0.0 };
                    }
                    _ => {}
                }
            }
            weights = after;
        }
        let mut order: Vec<usize> = (0..cells).filter(|&cell| charges[cell] > 0.0).collect();
        order.sort_by(|&a, &b| charges[b].total_cmp(&charges[a]).then(a.cmp(&b)));
        let count = ((order.len() as f64 * SPLIT_SHARE) as usize).max(FEWEST_SPLITS).max(cells / 20);
        let mut changed = false;
        for cell in order.into_iter().take(count) {
            let (pair, _) = self.widest(cell);
            changed |= self.split(cell, pair);
        }
        changed
    }
}
