//! Neighbouring cells, bounded together.
//!
//! A block is a cube of cells. The step over a whole block is one affine form of the state, of the environment's choices and of an extracted policy's
//! actions, with an error term (affine arithmetic, see `expand.rs`). Where that error is small beside a cell, every cell of the block gets its box of next states from
//! the form, for a few multiplications instead of a pass over the network and the plant. The form encloses the step on all of the block and hence on each of its cells, and the rounding of
//! what is computed from it is part of the error, so the boxes are sound. Blocks in which a label, an atom or the end of a run is open, or whose errors are too
//! large, leave their cells to be bounded one by one. Blocks lie at fixed places, whatever cells are asked for, so no result depends on a cell's neighbours in
//! a batch.

mod actions;
mod bound;
mod place;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use certus_automata::system::Truths;
use certus_graph::{Graph, GraphError};

use self::bound::Bounded;
use crate::cells::hash;
use crate::expand::{Boxes, Expander};
use crate::grid::{DEPTH, Grid, MOST_WORDS};

/// Block sizes, tried in order: the logarithm of the cells along each axis, by the number of axes.
fn block_sizes(axes: usize) -> &'static [u32] {
    match axes {
        0..=2 => &[4, 2],
        _ => &[2, 1],
    }
}

/// The largest share of a cell's width that the error of a form may be. What it adds to cells' successors costs less than bounding
/// cells one by one, and the less the larger a policy is.
pub(crate) fn largest_share(policy: &Graph) -> f64 {
    if policy.parameters() > LARGE_POLICY { 1.0 / 16.0 } else { 1.0 / 64.0 }
}

/// Policies with more numbers than this are large.
const LARGE_POLICY: usize = 1 << 14;

/// Room for the roundings of a few operations on sums of magnitudes.
const ROOM: f64 = 1.0 + 1e-9;

/// Some cells by their blocks.
pub(crate) struct Grouped {
    /// Packed first cells of blocks, in the order in which they were met.
    blocks: Vec<u64>,
    /// The block of each of the cells.
    of: Vec<u32>,
}

/// What was settled by blocks, and what was not.
pub(crate) struct Left {
    /// Cells that are still to be bounded.
    pub cells: Vec<usize>,
    /// Their labels where blocks settled those, as bits; zero where not.
    pub labels: Vec<u32>,
}

/// Blocks of one size.
pub(crate) struct Size {
    /// Cells in each coordinate, as a power of two.
    shift: u32,
    /// Bits of packed cells that cells of a block have in common.
    masks: [u64; MOST_WORDS],
    /// What was bounded, by packed first cells: runs come back to it.
    known: Mutex<HashMap<[u64; MOST_WORDS], Arc<Bounded>>>,
}

/// More than this are forgotten.
const MOST_KNOWN: usize = 1 << 14;

/// Whether words begin with a block; comparing slices calls a function, and most blocks are one word.
fn same(words: &[u64], block: &[u64]) -> bool {
    words.iter().zip(block).all(|(own, other)| own == other)
}

impl Size {
    /// All sizes for a grid, the largest first.
    pub fn all(grid: &Grid) -> Vec<Size> {
        let of = |&shift: &u32| {
            let mut masks = [0; MOST_WORDS];
            for (axis, own) in grid.axes.iter().enumerate() {
                let ones = u64::MAX >> (64 - own.bits()) >> (DEPTH + shift);
                grid.pack_place(axis, ones << (DEPTH + shift), &mut masks);
            }
            Size { shift, masks, known: Mutex::default() }
        };
        block_sizes(grid.axes.len()).iter().map(of).collect()
    }
}

impl Expander<'_> {
    /// Groups some of the packed cells by their blocks.
    fn grouped(&self, size: &Size, keys: &[u64], cells: &[usize]) -> Grouped {
        let (words, count, masks) = (self.grid.words(), cells.len(), &size.masks);
        let mut grouped = Grouped { blocks: Vec::new(), of: Vec::with_capacity(count) };
        // A hash table of block numbers plus one.
        let size = (4 * count).next_power_of_two();
        let mut table = vec![0u32; size];
        let mut block = [0; MOST_WORDS];
        for &cell in cells {
            let key = &keys[cell * words..(cell + 1) * words];
            for (own, (word, mask)) in block.iter_mut().zip(key.iter().zip(masks)) {
                *own = word & mask;
            }
            let block = &block[..words];
            if let Some(&last) = grouped.of.last()
                && same(&grouped.blocks[last as usize * words..], block)
            {
                grouped.of.push(last);
                continue;
            }
            let mut at = hash(block) as usize & (size - 1);
            let number = loop {
                match table[at] {
                    0 => {
                        grouped.blocks.extend_from_slice(block);
                        table[at] = (grouped.blocks.len() / words) as u32;
                        break table[at] - 1;
                    }
                    found if same(&grouped.blocks[(found as usize - 1) * words..], block) => break found - 1,
                    _ => at = (at + 1) & (size - 1),
                }
            };
            grouped.of.push(number);
        }
        grouped
    }

    /// Settles cells by their blocks, as far as that goes: what is known of their atoms, and their boxes of next states.
    pub(crate) fn by_blocks(&self, keys: &[u64], truths: &mut [Truths], found: &mut Boxes) -> Result<Left, GraphError> {
        let (count, largest) = (keys.len() / self.grid.words(), self.relation.argmax.len());
        let mut left = Left { cells: (0..count).collect(), labels: vec![0; count * largest] };
        for size in &self.sizes {
            if !left.cells.is_empty() {
                left = self.by_blocks_of(size, keys, left, (truths, found))?;
            }
        }
        Ok(left)
    }

    /// The same by blocks of one size.
    fn by_blocks_of(
        &self,
        size: &Size,
        keys: &[u64],
        cells: Left,
        (truths, found): (&mut [Truths], &mut Boxes),
    ) -> Result<Left, GraphError> {
        let (words, largest) = (self.grid.words(), self.relation.argmax.len());
        let grouped = self.grouped(size, keys, &cells.cells);
        let bounded = self.known_blocks(size, &grouped.blocks)?;
        let gives_numbers = self.extraction.is_some() && self.relation.outputs > 0;
        let mut left = Left { cells: Vec::new(), labels: Vec::new() };
        let mut asked = Vec::new();
        let mut differences = Vec::new();
        // A policy with numeric outputs is sampled for its labels, too.
        let leave = |left: &mut Left, (place, cell): (usize, usize), own: &Bounded| {
            left.cells.push(cell);
            let earlier = &cells.labels[place * largest..(place + 1) * largest];
            let labels = own.labels.iter().zip(earlier);
            left.labels.extend(labels.map(|(own, earlier)| if gives_numbers { 0 } else { own | earlier }));
        };
        for (place, (&cell, &block)) in cells.cells.iter().zip(&grouped.of).enumerate() {
            let (key, own) = (&keys[cell * words..(cell + 1) * words], &bounded[block as usize]);
            let is_unrefined = self.grid.is_unrefined(key);
            let wide = !own.actions.is_empty() && self.is_coarsened && self.grid.is_wide(key);
            // Of cells that were never halved all errors are a small enough share, or there would be no forms.
            if own.forms.is_empty() || wide || !(is_unrefined || self.is_small_beside(own, key)) {
                leave(&mut left, (place, cell), own);
            } else if !own.actions.is_empty() {
                asked.push((cell, block));
            } else if !(is_unrefined && self.place_whole((cell, key), own, truths, found)?) {
                self.differences_of(key, own, &mut differences);
                if !self.place_cell((cell, key), own, &differences, truths, found)? {
                    leave(&mut left, (place, cell), own);
                }
            }
        }
        self.with_actions(keys, &bounded, &asked, (truths, found))?;
        Ok(left)
    }

    /// Whether errors of forms are small beside a cell that may have been halved.
    fn is_small_beside(&self, own: &Bounded, key: &[u64]) -> bool {
        let deepest = (0..self.grid.axes.len()).map(|axis| self.grid.unpack(key, axis).1).max();
        let room = self.largest_share / f64::from(1u32 << deepest.unwrap_or(0));
        own.forms.iter().all(|form| form.share <= room)
    }

    /// Blocks, bounded now or earlier.
    fn known_blocks(&self, size: &Size, blocks: &[u64]) -> Result<Vec<Arc<Bounded>>, GraphError> {
        let words = self.grid.words();
        let named = |block: &[u64]| {
            let mut name = [0; MOST_WORDS];
            name[..words].copy_from_slice(block);
            name
        };
        let mut missing = Vec::new();
        let mut all: Vec<Option<Arc<Bounded>>> = {
            let known = size.known.lock().unwrap_or_else(PoisonError::into_inner);
            let found = blocks.chunks_exact(words).map(|block| {
                let found = known.get(&named(block)).cloned();
                if found.is_none() {
                    missing.extend_from_slice(block);
                }
                found
            });
            found.collect()
        };
        let bounded = self.bounded(size, &missing)?;
        let mut known = size.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() > MOST_KNOWN {
            known.clear();
        }
        let mut fresh = missing.chunks_exact(words).zip(bounded);
        for own in all.iter_mut().filter(|own| own.is_none()) {
            if let Some((block, bounded)) = fresh.next() {
                let bounded = Arc::new(bounded);
                known.insert(named(block), Arc::clone(&bounded));
                *own = Some(bounded);
            }
        }
        Ok(all.into_iter().flatten().collect())
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use certus_lang::system::{AtomId, System};
    use certus_lang::{LowerOptions, load_file};

    use super::*;
    use crate::extract::{ExtractOptions, Extraction};
    use crate::transition_relation::TransitionRelation;

    fn zoo(name: &str) -> System {
        let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("../../zoo/{name}.certus"));
        load_file(path, &LowerOptions::default()).unwrap()
    }

    /// Packed cells around the first initial state: so many to either side in each coordinate.
    fn around_the_start(system: &System, grid: &Grid, reach: u64) -> Vec<u64> {
        let axes = grid.axes.len();
        let first: Vec<u64> = grid.axes.iter().zip(&system.init_box.0).map(|(axis, &x)| axis.place(x)).collect();
        let side = 2 * reach + 1;
        let mut keys = Vec::new();
        for number in 0..side.pow(axes as u32) {
            let place = |axis: usize| (first[axis] >> DEPTH) + number / side.pow(axis as u32) % side - reach;
            let mut key = [0; MOST_WORDS];
            (0..axes).for_each(|axis| grid.pack_place(axis, place(axis) << DEPTH, &mut key));
            keys.extend_from_slice(&key[..grid.words()]);
        }
        keys
    }

    #[test]
    fn bounds_by_blocks_are_those_one_by_one_up_to_a_share_of_a_cell() {
        for (name, width, reach) in
            [("mountain_car/mountain_car", 0.0001, 12), ("b1/b1", 0.001, 12), ("tora/tora_cells", 0.001, 2)]
        {
            let system = zoo(name);
            let grid = Grid::new(&system, &vec![width; system.state_len()]).unwrap();
            let keys = around_the_start(&system, &grid, reach);
            let atoms: Vec<AtomId> = (0..system.atoms.len()).map(AtomId).collect();
            for extracted in [false, true] {
                let relation = TransitionRelation::new(&system, &atoms, extracted).unwrap();
                let expander = |sizes: bool| {
                    let policy = Extraction::new(&system, &relation, ExtractOptions::default()).unwrap();
                    let policy = extracted.then_some(policy);
                    let mut own = Expander::new(&system, &grid, &relation, &atoms, policy).unwrap();
                    if !sizes {
                        own.sizes.clear();
                    }
                    own
                };
                let (together, apart) = (expander(true), expander(false));
                let mut truths = vec![Truths::default(); keys.len() / grid.words()];
                let left = together.by_blocks(&keys, &mut truths, &mut Boxes::default()).unwrap();
                assert!(3 * left.cells.len() < truths.len(), "{name}, {extracted}: {} left", left.cells.len());
                let (together, apart) = (together.expand(&keys).unwrap(), apart.expand(&keys).unwrap());
                assert_eq!(together.truths, apart.truths, "{name}, {extracted}");
                assert_eq!(together.errors, apart.errors, "{name}, {extracted}");
                // Where one cell alone leaves a label open, its block does, too.
                assert_eq!(together.counts, apart.counts, "{name}, {extracted}");
                let corners = together.images.chunks(grid.words()).zip(apart.images.chunks(grid.words()));
                for (own, other) in corners {
                    for axis in 0..grid.axes.len() {
                        let (own, other) = (grid.unpack(own, axis).0, grid.unpack(other, axis).0);
                        // Errors of both kinds, of the state's and of the policy's forms.
                        assert!(own.abs_diff(other) <= (1 << DEPTH) / 16, "{name}, {extracted}: {own}, {other}");
                    }
                }
            }
        }
    }
}
