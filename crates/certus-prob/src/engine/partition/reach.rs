//! The cells that runs can reach, and the transitions between them.
//!
//! Cells are expanded layer by layer, from those that cover the initial set. An image is linked with every cell that it may share a state
//! with; cells that are wider than sampled runs suggest are split first. Splitting changes what images meet, so the exploration repeats until
//! no cell is new.

use super::{Link, Links, Partition, State};
use crate::abstraction::Expansion;
use crate::engine::{Budget, in_parallel};
use crate::template_polyhedron::Polyhedron;

impl Partition<'_> {
    /// The pair of directions in which a cell is widest, measured by the coarsest widths.
    pub(super) fn widest(&self, cell: usize) -> (usize, f64) {
        let own = &self.tree.cells[cell];
        let relative = |pair: usize| own.width(pair) / self.coarsest[pair];
        let pairs = 0..self.coarsest.len();
        pairs.map(|pair| (pair, relative(pair))).max_by(|a, b| a.1.total_cmp(&b.1)).unwrap_or((0, 0.0))
    }

    /// The cells that a region may have points of, none of them wider than the coarsest.
    fn meeting(&mut self, region: &Polyhedron, found: &mut Vec<u32>) {
        loop {
            found.clear();
            self.tree.meeting(region, found);
            let mut wide = Vec::new();
            for &cell in found.iter() {
                let unknown = matches!(self.states[cell as usize], State::Unknown);
                let (pair, width) = self.widest(cell as usize);
                if unknown && width > 1.0 {
                    wide.push((cell as usize, pair));
                }
            }
            let mut changed = false;
            for (cell, pair) in wide {
                changed |= self.split(cell, pair);
            }
            if !changed {
                return;
            }
        }
    }

    /// Cells that cover the initial set.
    pub(super) fn initial_cells(&mut self) -> Vec<u32> {
        let (mut found, mut own) = (Vec::new(), Vec::new());
        if let [only] = self.initial {
            self.meeting(only, &mut found);
            return found;
        }
        loop {
            let before = self.tree.cells.len();
            found.clear();
            for part in self.initial {
                self.meeting(part, &mut own);
                found.append(&mut own);
            }
            // What was split for one part may have been found for another one, whose states may be in the new half.
            if self.tree.cells.len() == before {
                found.sort_unstable();
                found.dedup();
                return found;
            }
        }
    }

    /// Bounds every cell that can be reached in time, and links them. False when stopped on the way.
    pub(super) fn reach(&mut self, budget: &Budget<'_>) -> bool {
        // New cells appear while images are looked up; a look-up is repeated until none does.
        loop {
            let before = self.tree.cells.len();
            let mut depth = vec![u32::MAX; before];
            let mut layer = self.initial_cells();
            let mut images: Vec<Option<Vec<Vec<Vec<u32>>>>> = Vec::new();
            for step in 0..=self.steps.map_or(u32::MAX - 1, |steps| steps as u32) {
                depth.resize(self.tree.cells.len(), u32::MAX);
                layer.retain(|&cell| depth[cell as usize] == u32::MAX);
                layer.sort_unstable();
                layer.dedup();
                if layer.is_empty() {
                    break;
                }
                if self.steps.is_none() && self.tree.cells.len() > self.most_cells {
                    return false;
                }
                layer.iter().for_each(|&cell| depth[cell as usize] = step);
                let unknown: Vec<u32> =
                    layer.iter().copied().filter(|&c| matches!(self.states[c as usize], State::Unknown)).collect();
                let regions: Vec<Polyhedron> = unknown.iter().map(|&c| self.tree.cells[c as usize].clone()).collect();
                let batch = (regions.len() / 8).clamp(1, 64);
                let own = self.abstraction;
                let Some(expanded) = in_parallel(&regions, batch, budget, &|batch| own.expand(batch, None)) else {
                    return false;
                };
                for (&cell, expansion) in unknown.iter().zip(expanded) {
                    self.states[cell as usize] = match expansion {
                        Expansion::Goal => State::Goal,
                        Expansion::Failed(failure) => State::Failed(failure),
                        Expansion::Parts(parts) => State::Parts(parts),
                    };
                }
                if self.steps.is_some_and(|steps| step == steps as u32) {
                    break;
                }
                let mut after = Vec::new();
                for (place, &cell) in layer.iter().enumerate() {
                    if place % 256 == 0 && budget.stopped() {
                        return false;
                    }
                    let parts = match &self.states[cell as usize] {
                        State::Parts(parts) => parts.clone(),
                        State::Failed(failure) => {
                            self.errors.note(*failure);
                            continue;
                        }
                        _ => continue,
                    };
                    let mut of_cell = Vec::with_capacity(parts.len());
                    for part in parts {
                        let mut of_part = Vec::with_capacity(part.moves.len());
                        for successor in &part.moves {
                            let mut found = Vec::new();
                            // What may leave the range has no cell to go to, and counts as reaching.
                            if self.in_range(&successor.to) {
                                self.meeting(&successor.to, &mut found);
                            } else {
                                self.errors.range = true;
                            }
                            after.extend_from_slice(&found);
                            of_part.push(found);
                        }
                        of_cell.push(of_part);
                    }
                    images.resize(images.len().max(cell as usize + 1), None);
                    images[cell as usize] = Some(of_cell);
                }
                layer = after;
            }
            depth.resize(self.tree.cells.len(), u32::MAX);
            self.depth = depth;
            if self.tree.cells.len() == before {
                images.resize(before, None);
                self.link(&images);
                return true;
            }
        }
    }

    fn link(&mut self, images: &[Option<Vec<Vec<Vec<u32>>>>]) {
        let mut links = Links { cells: Vec::new(), parts: Vec::new(), links: Vec::new(), targets: Vec::new() };
        for (cell, image) in images.iter().enumerate() {
            links.cells.push(links.parts.len() as u32);
            let (Some(image), State::Parts(parts)) = (image, &self.states[cell]) else { continue };
            for (part, image) in parts.iter().zip(image) {
                links.parts.push(links.links.len() as u32);
                for (successor, cells) in part.moves.iter().zip(image) {
                    debug_assert!(successor.lo <= successor.hi, "the ends of a probability are crossed");
                    let first = links.targets.len() as u32;
                    links.targets.extend_from_slice(cells);
                    let end = links.targets.len() as u32;
                    links.links.push(Link { lo: successor.lo, hi: successor.hi, first, end });
                }
            }
        }
        links.cells.push(links.parts.len() as u32);
        links.parts.push(links.links.len() as u32);
        self.links = links;
    }
}
