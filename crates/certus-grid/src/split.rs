//! Splitting cells: which ones, and along which axes.
//!
//! The cells from which a violation may be reached are found by backward reachability over the cells that were met, a least fixpoint computed by sweeps from the last cell to the
//! first. In few dimensions a cell is halved along all axes at once, in many along the two that were halved least.

use std::collections::HashSet;

use crate::grid::Axis;
use crate::parallel::exhausted;
use crate::refinement::Check;

/// Among more cells than this, only those of the abstract counterexample itself are split.
pub(crate) const MOST_SEARCHED: usize = 1 << 21;

/// The budget is polled after so many successors.
const LOOKS_AT_ONCE: u64 = 1 << 15;

/// The most cells that one refinement splits.
pub(crate) const MOST_AT_ONCE: usize = 1 << 18;

impl Check<'_> {
    /// The cells from which a goal can be reached, among those that were met; some of them if the budget runs out.
    pub(crate) fn backward_reachable(&mut self, goals: &[u32], path: &[u32]) -> HashSet<u32> {
        if self.product.cells.len() > MOST_SEARCHED {
            return path.iter().chain(goals).copied().collect();
        }
        let grid = self.product.grid;
        let mut leading = vec![false; self.product.cells.len()];
        goals.iter().for_each(|&goal| leading[goal as usize] = true);
        let (mut count, mut looks) = (goals.len(), 0u64);
        // Successors mostly have larger numbers, so few sweeps from back to front suffice.
        'rounds: loop {
            let before = count;
            for cell in (0..leading.len() as u32).rev() {
                let reached = self.product.states(cell).iter().any(|&word| word != 0);
                if leading[cell as usize] || !reached || !self.product.cells.is_expanded(cell) {
                    continue;
                }
                let mut leads = false;
                self.product.cells.each_successor(grid, cell, &mut |next: u32| {
                    leads |= leading.get(next as usize).copied().unwrap_or(false);
                    looks += 1;
                });
                if leads {
                    leading[cell as usize] = true;
                    count += 1;
                }
                if looks > LOOKS_AT_ONCE {
                    self.product.looks += std::mem::take(&mut looks);
                    if exhausted(self.budget).is_some() || self.product.has_looked_enough() {
                        break 'rounds;
                    }
                }
            }
            if count == before || count > MOST_AT_ONCE {
                break;
            }
        }
        let cells = leading.iter().enumerate().filter(|(_, leads)| **leads);
        cells.map(|(cell, _)| cell as u32).collect()
    }

    /// Splits cells; says whether any could be split.
    pub(crate) fn split(&mut self, suspects: HashSet<u32>) -> bool {
        let mut cells: Vec<u32> =
            if suspects.len() > MOST_AT_ONCE { self.candidate.clone() } else { suspects.into_iter().collect() };
        cells.sort_unstable();
        cells.dedup();
        let depths: Vec<u32> = self.product.grid.axes.iter().map(Axis::depth).collect();
        let mut halved = false;
        for cell in cells {
            let levels = self.product.grid.cell(self.product.cells.key(cell)).levels;
            // In few dimensions along all axes; in many along those that were halved least.
            let mut chosen: Vec<usize> = (0..depths.len()).filter(|&axis| levels[axis] < depths[axis]).collect();
            let lowest = chosen.iter().map(|&axis| levels[axis]).min().unwrap_or(0);
            if depths.len() > 3 {
                chosen.retain(|&axis| levels[axis] == lowest);
                chosen.truncate(2);
            }
            let bits = chosen.iter().fold(0u32, |bits, axis| bits | 1 << axis);
            if bits != 0 && self.product.cells.halved(cell) == 0 {
                self.product.cells.halve(cell, bits);
                halved = true;
            }
        }
        halved
    }
}
