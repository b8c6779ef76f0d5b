//! Affine bounds of the step over blocks.
//!
//! A form is kept if it is worth using: its error is a small share of a cell, all next states are in their ranges, every atom and condition is known. What is computed of
//! a cell from it is off by a share of the sum of magnitudes, which is added to the error (Higham, "Accuracy and Stability of Numerical Algorithms", SIAM, 2nd edition 2002,
//! chapter 3).

use certus_automata::system::Truths;
use certus_graph::{GraphError, Interval};
use certus_solver::{OutputForms, Symbols, middle};

use super::actions::Answers;
use super::{ROOM, Size};
use crate::expand::{Expander, Prepared, Slices, enclose_slices, truth};
use crate::grid::DEPTH;

/// What a transition does in the states of a block.
pub(super) struct Form {
    pub(super) truths: Truths,
    /// For each coordinate of the next state, the one that it is a copy of.
    pub(super) copies: Vec<Option<usize>>,
    /// The largest error in cells of the widths, as a share.
    pub(super) share: f64,
    /// For each coordinate of the next state: what it is at the middle of the block, its error, its range over the block, how far it reaches from its
    /// value at the middle of a cell that was never halved, and its slopes.
    pub(super) numbers: Vec<f64>,
}

/// Numbers of a form before the slopes.
pub(super) const BEFORE_SLOPES: usize = 5;

/// A block, bounded.
#[derive(Default)]
pub(crate) struct Bounded {
    /// Labels that are the same all over the block, as bits; zero where they are not.
    pub(super) labels: Vec<u32>,
    /// Middles of the state, the environment's choices, and the actions.
    pub(super) middles: Vec<f64>,
    /// One form for each transition that can be made.
    pub(super) forms: Vec<Form>,
    /// Ranges of the actions of an extracted policy.
    pub(super) actions: Vec<Interval>,
    /// The same as forms of the state and the environment's choices: the middle, the error, the slopes.
    pub(super) policy: Vec<f64>,
    /// How actions are computed.
    pub(super) answers: Answers,
}

impl Expander<'_> {
    /// Ends of blocks, with those of the environment's choices, element-major.
    fn block_ends(&self, size: &Size, blocks: &[u64]) -> (Vec<f64>, Vec<f64>) {
        let words = self.grid.words();
        let extent = 1 << (DEPTH + size.shift);
        let (mut lower, mut upper) = (Vec::new(), Vec::new());
        for (axis, own) in self.grid.axes.iter().enumerate() {
            for block in blocks.chunks_exact(words) {
                let first = self.grid.unpack(block, axis).0;
                let (low, high) = own.inside(own.cut(first), own.cut(first + extent));
                lower.push(low);
                upper.push(high);
            }
        }
        for &(low, high) in &self.inputs {
            lower.extend(std::iter::repeat_n(low, blocks.len() / words));
            upper.extend(std::iter::repeat_n(high, blocks.len() / words));
        }
        (lower, upper)
    }

    /// For each block its labels as bits, if there is one for all of it; otherwise zero.
    fn block_labels(&self, lower: &[f64], upper: &[f64], count: usize) -> Vec<u32> {
        let largest = self.relation.argmax.len();
        let mut labels = vec![0; largest * count];
        let off = match (&self.extraction, &self.policy_bounds) {
            (None, _) => 0.0,
            // A label that the network chooses all over a block is chosen wherever it is asked there.
            (Some(_), Some(bounds)) => bounds.scores,
            _ => return labels,
        };
        if largest == 0 || self.score_differences.is_none() {
            return labels;
        }
        let found = self.possible_in_blocks(lower, upper, count, off);
        for (labels, found) in labels.chunks_exact_mut(largest).zip(found.chunks_exact(largest)) {
            if found.iter().all(|labels| labels.count_ones() == 1) {
                labels.copy_from_slice(found);
            }
        }
        labels
    }

    /// Bounds blocks; those whose bounds are too wide have no forms.
    pub(super) fn bounded(&self, size: &Size, blocks: &[u64]) -> Result<Vec<Bounded>, GraphError> {
        let largest = self.relation.argmax.len();
        let count = blocks.len() / self.grid.words();
        if count == 0 {
            return Ok(Vec::new());
        }
        let (mut lower, mut upper) = self.block_ends(size, blocks);
        let labels = self.block_labels(&lower, &upper, count);
        let of_block = |block: usize| labels[block * largest..(block + 1) * largest].to_vec();
        let mut bounded: Vec<Bounded> =
            (0..count).map(|block| Bounded { labels: of_block(block), ..Bounded::default() }).collect();
        let outputs = if self.extraction.is_some() { self.relation.outputs } else { 0 };
        if outputs > 0 && self.policy_bounds.is_none() {
            return Ok(bounded);
        }
        let ended = self.ended(&lower, &upper, count)?;
        let free = self.prepared.iter().all(|own| own.is_free || !own.ended);
        let mut failed: Vec<bool> = (0..count)
            .map(|block| {
                let unlabelled = labels[block * largest..(block + 1) * largest].contains(&0);
                (self.terminal.is_some() && ended[block].is_none())
                    || (unlabelled && !(free && ended[block] == Some(true)))
            })
            .collect();
        if let Some(bounds) = self.policy_bounds.as_ref().filter(|_| outputs > 0) {
            bounds.bound_blocks(&mut lower, &mut upper, count, |block, actions, policy| {
                bounded[block].actions = actions;
                bounded[block].policy = policy;
            });
        }
        let symbols = self.symbols + outputs;
        for (block, own) in bounded.iter_mut().enumerate() {
            let ends = (0..symbols).map(|symbol| (lower[symbol * count + block], upper[symbol * count + block]));
            own.middles = ends.map(|(low, high)| middle(low, high).0).collect();
        }
        for own in &self.prepared {
            let chosen = |block: &usize| {
                let labels = &labels[*block * largest..(*block + 1) * largest];
                !failed[*block] && own.can_be_taken(ended[*block], &self.relation.argmax, labels)
            };
            let blocks: Vec<usize> = (0..count).filter(chosen).collect();
            for blocks in blocks.chunks(self.batch) {
                let pick = |table: &[f64]| crate::expand::columns(table, blocks, count);
                let (low, high) = (pick(&lower), pick(&upper));
                let result = own.ranges.enclose(&low, &high, blocks.len(), Symbols::Inputs(symbols));
                for (place, &block) in blocks.iter().enumerate() {
                    let input = Slices { low: &low, high: &high, count: blocks.len(), place };
                    match self.form(own, input, &result, symbols)? {
                        Some(form) => bounded[block].forms.push(form),
                        None => failed[block] = true,
                    }
                }
            }
        }
        for (own, _) in bounded.iter_mut().zip(&failed).filter(|(_, failed)| **failed) {
            own.forms.clear();
        }
        for (block, own) in bounded.iter_mut().enumerate().filter(|(_, own)| !own.actions.is_empty()) {
            let column = |table: &[f64]| (0..self.symbols).map(|row| table[row * count + block]).collect::<Vec<_>>();
            own.answers = self.answers(own, &column(&lower), &column(&upper));
        }
        Ok(bounded)
    }

    /// The form of a transition over a block, if it is worth using.
    fn form(
        &self,
        own: &Prepared,
        input: Slices<'_>,
        result: &OutputForms,
        symbols: usize,
    ) -> Result<Option<Form>, GraphError> {
        let (count, place) = (input.count, input.place);
        let axes = self.grid.axes.len();
        let ends = Slices { low: &result.lower, high: &result.upper, count, place };
        let mut form = Form { truths: Truths::default(), copies: own.copies.clone(), share: 0.0, numbers: Vec::new() };
        for (axis, along) in self.grid.axes.iter().enumerate() {
            let range = ends.range(axis);
            let at = |column: usize| result.forms[(axis * (1 + symbols) + column) * count + place];
            let reach: f64 = (0..=symbols).map(|column| at(column).abs()).sum();
            // What is computed of a cell is off by a share of the sum of magnitudes.
            let rounding = (symbols as f64 + 16.0) * f64::EPSILON * reach;
            let error = (result.errors[axis * count + place] + rounding) * ROOM;
            form.share = form.share.max(error / along.width);
            let inside = along.lower <= range.lo && range.hi <= along.upper;
            if !(inside && form.share <= self.largest_share) {
                return Ok(None);
            }
            form.numbers.extend([at(0), error, range.lo, range.hi, error]);
            let reach = form.numbers.len() - 1;
            for symbol in 0..symbols {
                let ends = input.range(symbol);
                let half = middle(ends.lo, ends.hi).1;
                let slope = if half > 0.0 { at(1 + symbol) / half } else { 0.0 };
                if !slope.is_finite() {
                    return Ok(None);
                }
                form.numbers.push(slope);
                // A cell reaches over all of what the environment chooses.
                let half = self.grid.axes.get(symbol).map_or(half, |axis| axis.half());
                form.numbers[reach] += slope.abs() * half * ROOM;
            }
        }
        let conditions = self.atoms + usize::from(self.has_condition) + self.checks;
        let mut known: Vec<Option<bool>> = (0..conditions).map(|place| truth(ends.range(axes + place))).collect();
        if known.contains(&None) {
            for (known, range) in known.iter_mut().zip(enclose_slices(&own.truths, input)?) {
                *known = known.or(truth(range));
            }
        }
        // Where a transition may be forbidden or an operation undefined, cells are bounded one by one.
        if known.contains(&None) || known[self.atoms..].contains(&Some(false)) {
            return Ok(None);
        }
        for (atom, known) in known.iter().take(self.atoms).enumerate() {
            form.truths.yes |= u64::from(*known == Some(true)) << atom;
            form.truths.no |= u64::from(*known == Some(false)) << atom;
        }
        Ok(Some(form))
    }
}
