//! Neighbouring units, bounded together.
//!
//! A block is a cube of units. The step over a whole block is one affine form of the state, of the environment's choices and of an extracted
//! policy's actions, with an error. Where that error is small beside a unit, every unit of the block has its own box of next states from the form, for a
//! few multiplications instead of a pass over the network and the plant. Blocks in which a label, an atom or the end of a run is open, or whose
//! errors are too large, leave their units to be bounded one by one. Blocks lie where they lie, whatever units are asked for, so no
//! result depends on a unit's neighbours in a batch.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use certus_automata::system::Truths;
use certus_graph::fault::Fault;
use certus_graph::{Graph, GraphError, Interval};
use certus_solver::{OutputForms, ReducedNetwork, Symbols, middle};

use crate::expand::{Boxes, Expander, Prepared, Slices, enclose_slices, truth};
use crate::extract::Extraction;
use crate::lattice::{DEPTH, Lattice, MOST_AXES, MOST_WORDS};
use crate::units::hash;

/// Sizes of blocks that are tried one after the other: units in each coordinate as powers of two, for so many coordinates.
fn block_sizes(axes: usize) -> &'static [u32] {
    match axes {
        0..=2 => &[4, 2],
        _ => &[2, 1],
    }
}

/// The largest share of a unit's width that the error of a form may be. What it adds to units' successors costs less than bounding
/// units one by one, and the less the larger a policy is.
pub(crate) fn largest_share(policy: &Graph) -> f64 {
    if policy.parameters() > LARGE_POLICY { 1.0 / 16.0 } else { 1.0 / 64.0 }
}

/// Policies with more numbers than this are large.
const LARGE_POLICY: usize = 1 << 14;

/// Room for the roundings of a few operations on sums of magnitudes.
const ROOM: f64 = 1.0 + 1e-9;

/// Some units by their blocks.
pub(crate) struct Grouped {
    /// Packed first units of blocks, in the order in which they were met.
    blocks: Vec<u64>,
    /// The block of each of the units.
    of: Vec<u32>,
}

/// What was settled by blocks, and what was not.
pub(crate) struct Left {
    /// Units that are still to be bounded.
    pub units: Vec<usize>,
    /// Their labels where blocks settled those, as bits; zero where not.
    pub labels: Vec<u32>,
}

/// What a move does in the states of a block.
struct Form {
    truths: Truths,
    /// For each coordinate of the next state, the one that it is a copy of.
    copies: Vec<Option<usize>>,
    /// The largest error in units of the widths, as a share.
    share: f64,
    /// For each coordinate of the next state: what it is at the middle of the block, its error, its range over the block, how far it reaches from its
    /// value at the middle of a unit that was never halved, and its slopes.
    numbers: Vec<f64>,
}

/// Numbers of a form before the slopes.
const BEFORE_SLOPES: usize = 5;

/// Blocks of one size.
pub(crate) struct Size {
    /// Units in each coordinate, as a power of two.
    shift: u32,
    /// Bits of packed units that units of a block have in common.
    masks: [u64; MOST_WORDS],
    /// What was bounded, by packed first units: runs come back to it.
    known: Mutex<HashMap<[u64; MOST_WORDS], Arc<Bounded>>>,
}

/// More than this are forgotten.
const MOST_KNOWN: usize = 1 << 14;

/// A block, bounded.
#[derive(Default)]
pub(crate) struct Bounded {
    /// Labels that are the same all over the block, as bits; zero where they are not.
    labels: Vec<u32>,
    /// Middles of the state, the environment's choices, and the actions.
    middles: Vec<f64>,
    /// One form for each move that can be made.
    forms: Vec<Form>,
    /// Ranges of the actions of an extracted policy.
    actions: Vec<Interval>,
    /// The same as forms of the state and the environment's choices: the middle, the error, the slopes.
    policy: Vec<f64>,
    /// What does instead of asking the network.
    answers: Answers,
}

/// Who is asked for the actions of an extracted policy in a block.
#[derive(Default)]
enum Answers {
    /// The network.
    #[default]
    Network,
    /// Its affine form, at the mean of the states: the form is as good as linear there.
    Form,
    /// What is left of it over the block, with how far each mean of its answers is off.
    Reduced(ReducedNetwork, Vec<f64>),
}

/// Whether words begin with a block; comparing slices calls a function, and most blocks are one word.
fn same(words: &[u64], block: &[u64]) -> bool {
    words.iter().zip(block).all(|(own, other)| own == other)
}

impl Size {
    /// All sizes for a grid, the largest first.
    pub fn all(lattice: &Lattice) -> Vec<Size> {
        let of = |&shift: &u32| {
            let mut masks = [0; MOST_WORDS];
            for (axis, own) in lattice.axes.iter().enumerate() {
                let ones = u64::MAX >> (64 - own.bits()) >> (DEPTH + shift);
                lattice.pack_place(axis, ones << (DEPTH + shift), &mut masks);
            }
            Size { shift, masks, known: Mutex::default() }
        };
        block_sizes(lattice.axes.len()).iter().map(of).collect()
    }
}

impl Expander<'_> {
    /// Groups some of the packed units by their blocks.
    fn grouped(&self, size: &Size, keys: &[u64], units: &[usize]) -> Grouped {
        let (words, count, masks) = (self.lattice.words(), units.len(), &size.masks);
        let mut grouped = Grouped { blocks: Vec::new(), of: Vec::with_capacity(count) };
        // A table of its own: blocks plus one by their hashes.
        let size = (4 * count).next_power_of_two();
        let mut table = vec![0u32; size];
        let mut block = [0; MOST_WORDS];
        for &unit in units {
            let key = &keys[unit * words..(unit + 1) * words];
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

    /// Settles units by their blocks, as far as that goes: what is known of their atoms, and their boxes of next states.
    pub(crate) fn by_blocks(&self, keys: &[u64], truths: &mut [Truths], found: &mut Boxes) -> Result<Left, GraphError> {
        let (count, largest) = (keys.len() / self.lattice.words(), self.moves.largest.len());
        let mut left = Left { units: (0..count).collect(), labels: vec![0; count * largest] };
        for size in &self.sizes {
            if !left.units.is_empty() {
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
        units: Left,
        (truths, found): (&mut [Truths], &mut Boxes),
    ) -> Result<Left, GraphError> {
        let (words, largest) = (self.lattice.words(), self.moves.largest.len());
        let grouped = self.grouped(size, keys, &units.units);
        let bounded = self.known_blocks(size, &grouped.blocks)?;
        let gives_numbers = self.extraction.is_some() && self.moves.outputs > 0;
        let mut left = Left { units: Vec::new(), labels: Vec::new() };
        let mut asked = Vec::new();
        let mut differences = Vec::new();
        for (place, (&unit, &block)) in units.units.iter().zip(&grouped.of).enumerate() {
            let (key, own) = (&keys[unit * words..(unit + 1) * words], &bounded[block as usize]);
            let is_whole = self.lattice.is_whole(key);
            let wide = !own.actions.is_empty() && self.is_coarse && self.lattice.is_wide(key);
            // Of units that were never halved all errors are a small enough share, or there would be no forms.
            if own.forms.is_empty() || wide || !(is_whole || self.is_small_beside(own, key)) {
                left.units.push(unit);
                // Whoever is asked for numbers is asked for labels, too.
                let earlier = &units.labels[place * largest..(place + 1) * largest];
                let labels = own.labels.iter().zip(earlier);
                left.labels.extend(labels.map(|(own, earlier)| if gives_numbers { 0 } else { own | earlier }));
            } else if !own.actions.is_empty() {
                asked.push((unit, block));
            } else if !(is_whole && self.place_whole((unit, key), own, truths, found)?) {
                self.differences_of(key, own, &mut differences);
                self.place_unit((unit, key), own, &differences, truths, found)?;
            }
        }
        self.with_actions(keys, &bounded, &asked, (truths, found))?;
        Ok(left)
    }

    /// Whether errors of forms are small beside a unit that may have been halved.
    fn is_small_beside(&self, own: &Bounded, key: &[u64]) -> bool {
        let deepest = (0..self.lattice.axes.len()).map(|axis| self.lattice.unpack(key, axis).1).max();
        let room = self.largest_share / f64::from(1u32 << deepest.unwrap_or(0));
        own.forms.iter().all(|form| form.share <= room)
    }

    /// Blocks, bounded now or earlier.
    fn known_blocks(&self, size: &Size, blocks: &[u64]) -> Result<Vec<Arc<Bounded>>, GraphError> {
        let words = self.lattice.words();
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

    /// Units whose actions are an extracted policy's.
    fn with_actions(
        &self,
        keys: &[u64],
        bounded: &[Arc<Bounded>],
        units: &[(usize, u32)],
        (truths, found): (&mut [Truths], &mut Boxes),
    ) -> Result<(), GraphError> {
        let Some(extraction) = self.extraction.as_ref().filter(|_| !units.is_empty()) else { return Ok(()) };
        let words = self.lattice.words();
        let key_of = |unit: usize| &keys[unit * words..(unit + 1) * words];
        let asks = |block: u32| matches!(bounded[block as usize].answers, Answers::Network);
        let ask = units.iter().filter(|&&(_, block)| asks(block));
        let asked: Vec<u64> = ask.flat_map(|&(unit, _)| key_of(unit).iter().copied()).collect();
        let mut given = self.given(&asked)?.unwrap_or_default().into_iter();
        let mut room = Room::default();
        for &(unit, block) in units {
            let own = &bounded[block as usize];
            let key = key_of(unit);
            if asks(block) {
                let outputs = given.next().flatten().map(|own| own.outputs).unwrap_or_default();
                room.actions.clear();
                room.actions.extend(outputs.into_iter().map(Interval::point));
            } else {
                self.answered(extraction, key, own, &mut room)?;
            }
            self.differences_of(key, own, &mut room.differences);
            let away = room.actions.iter().zip(&own.middles[self.symbols..]);
            room.differences.extend(away.map(|(action, middle)| (action.lo - middle, action.hi - middle)));
            self.place_unit((unit, key), own, &room.differences, truths, found)?;
        }
        Ok(())
    }

    /// The actions of an extracted policy in a unit, without asking the network.
    fn answered(&self, extraction: &Extraction, key: &[u64], own: &Bounded, room: &mut Room) -> Result<(), GraphError> {
        let Room { state, values, scratch, sums, actions, .. } = room;
        let (unit, samples) = (self.own_unit(key), extraction.samples() as f64);
        sums.clear();
        actions.clear();
        match &own.answers {
            Answers::Reduced(reduced, errors) => {
                sums.resize(errors.len(), 0.0);
                extraction.each_state(self.lattice, &unit, state, |state| {
                    reduced.evaluate(state, scratch, values);
                    sums.iter_mut().zip(&*values).for_each(|(sum, value)| *sum += value);
                });
                let means = sums.iter().map(|sum| sum / samples);
                actions.extend(means.zip(errors).map(|(mean, error)| Interval::new(mean - error, mean + error)));
            }
            _ => {
                sums.resize(self.symbols, 0.0);
                // Differences first: what they round is small beside the block, what the states' own sum would round may not be.
                extraction.each_state(self.lattice, &unit, state, |state| {
                    let away = state.iter().zip(&own.middles).map(|(value, middle)| value - middle);
                    sums.iter_mut().zip(away).for_each(|(sum, away)| *sum += away);
                });
                sums.iter_mut().for_each(|sum| *sum /= samples);
                for form in own.policy.chunks_exact(2 + self.symbols) {
                    let value = form[0] + form[2..].iter().zip(&*sums).map(|(slope, mean)| slope * mean).sum::<f64>();
                    actions.push(Interval::new(value - form[1], value + form[1]));
                }
            }
        }
        // Both are sound, so they meet.
        for (place, (action, range)) in actions.iter_mut().zip(&own.actions).enumerate() {
            *action = action.intersection(*range).ok_or_else(|| {
                let details = format!("output {place} of the policy: {action} and {range}");
                Fault::raise("two enclosures of an extracted policy's action do not meet", details)
            })?;
        }
        Ok(())
    }

    /// How far the ends of a unit, and of the environment's choices, are from the middles of its block.
    fn differences_of(&self, key: &[u64], own: &Bounded, differences: &mut Vec<(f64, f64)>) {
        differences.clear();
        for axis in 0..self.lattice.axes.len() {
            let (low, high) = self.lattice.ends(key, axis);
            differences.push((low - own.middles[axis], high - own.middles[axis]));
        }
        let middles = &own.middles[self.lattice.axes.len()..];
        differences.extend(self.inputs.iter().zip(middles).map(|(&(low, high), middle)| (low - middle, high - middle)));
    }

    /// The boxes of the next states of a unit that was never halved, without actions of an extracted policy: one value for each coordinate, and as far
    /// around it as all such units reach. False if the range's ends cut the unit.
    fn place_whole(
        &self,
        (unit, key): (usize, &[u64]),
        own: &Bounded,
        truths: &mut [Truths],
        found: &mut Boxes,
    ) -> Result<bool, GraphError> {
        let (words, axes) = (self.lattice.words(), self.lattice.axes.len());
        let mut away = [0.0; MOST_AXES];
        for (axis, away) in away.iter_mut().enumerate().take(axes) {
            let Some(middle) = self.lattice.middle_of_whole(key, axis) else { return Ok(false) };
            *away = middle - own.middles[axis];
        }
        for form in &own.forms {
            let first = found.corners.len();
            found.corners.resize(first + 2 * words, 0);
            let (low, high) = found.corners[first..].split_at_mut(words);
            let each = form.numbers.chunks_exact(BEFORE_SLOPES + self.symbols);
            for (axis, (numbers, along)) in each.zip(&self.lattice.axes).enumerate() {
                let &[centre, _, least, most, reach, ref slopes @ ..] = numbers else { continue };
                let (first, last) = match form.copies[axis] {
                    Some(from) => self.lattice.copied(key, from, axis),
                    None => {
                        let value =
                            slopes.iter().zip(&away[..axes]).fold(centre, |sum, (slope, away)| sum + slope * away);
                        let (below, above) = ((value - reach).max(least), (value + reach).min(most));
                        if below > above {
                            return Err(self.does_not_meet(axis, (value, reach), (least, most)).into());
                        }
                        along.places_around(below, above)
                    }
                };
                self.lattice.pack_place(axis, first, low);
                self.lattice.pack_place(axis, last, high);
            }
            truths[unit].yes &= form.truths.yes;
            truths[unit].no &= form.truths.no;
            found.owners.push((unit as u32, form.truths));
        }
        Ok(true)
    }

    /// A successor from the form of a block is not in the block's range: one of them is wrong.
    #[cold]
    fn does_not_meet(&self, axis: usize, (value, reach): (f64, f64), (least, most): (f64, f64)) -> Fault {
        let ends = (Interval::new(value - reach, value + reach), Interval::new(least, most));
        self.crossed("the form of a block and its range", axis, ends)
    }

    /// The boxes of a unit's next states, from the forms of its block.
    fn place_unit(
        &self,
        (unit, key): (usize, &[u64]),
        own: &Bounded,
        differences: &[(f64, f64)],
        truths: &mut [Truths],
        found: &mut Boxes,
    ) -> Result<(), GraphError> {
        let words = self.lattice.words();
        for form in &own.forms {
            let first = found.corners.len();
            found.corners.resize(first + 2 * words, 0);
            let (low, high) = found.corners[first..].split_at_mut(words);
            let each = form.numbers.chunks_exact(BEFORE_SLOPES + differences.len());
            for (axis, (numbers, along)) in each.zip(&self.lattice.axes).enumerate() {
                if let Some(from) = form.copies[axis] {
                    let (first, last) = self.lattice.copied(key, from, axis);
                    self.lattice.pack_place(axis, first, low);
                    self.lattice.pack_place(axis, last, high);
                    continue;
                }
                let &[centre, error, least, most, _, ref slopes @ ..] = numbers else { continue };
                let (mut below, mut above) = (centre - error, centre + error);
                for (slope, &(from, to)) in slopes.iter().zip(differences) {
                    let (one, other) = (slope * from, slope * to);
                    below += one.min(other);
                    above += one.max(other);
                }
                if below.max(least) > above.min(most) {
                    let middle = (below / 2.0 + above / 2.0, above / 2.0 - below / 2.0);
                    return Err(self.does_not_meet(axis, middle, (least, most)).into());
                }
                self.lattice.pack_place(axis, along.place(below.max(least)), low);
                self.lattice.pack_place(axis, along.place(above.min(most)), high);
            }
            truths[unit].yes &= form.truths.yes;
            truths[unit].no &= form.truths.no;
            found.owners.push((unit as u32, form.truths));
        }
        Ok(())
    }

    /// Ends of blocks, with those of the environment's choices, element-major.
    fn block_ends(&self, size: &Size, blocks: &[u64]) -> (Vec<f64>, Vec<f64>) {
        let words = self.lattice.words();
        let extent = 1 << (DEPTH + size.shift);
        let (mut lower, mut upper) = (Vec::new(), Vec::new());
        for (axis, own) in self.lattice.axes.iter().enumerate() {
            for block in blocks.chunks_exact(words) {
                let first = self.lattice.unpack(block, axis).0;
                lower.push(own.cut(first).max(own.lower));
                upper.push(own.cut(first + extent).min(own.upper));
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
        let largest = self.moves.largest.len();
        let mut labels = vec![0; largest * count];
        let off = match (&self.extraction, &self.coarse) {
            (None, _) => 0.0,
            // A label that the network chooses all over a block is chosen wherever it is asked there.
            (Some(_), Some(coarse)) => coarse.scores,
            _ => return labels,
        };
        if largest == 0 || self.differences.is_none() {
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

    /// Bounds blocks; those that are of no use have no forms.
    fn bounded(&self, size: &Size, blocks: &[u64]) -> Result<Vec<Bounded>, GraphError> {
        let largest = self.moves.largest.len();
        let count = blocks.len() / self.lattice.words();
        if count == 0 {
            return Ok(Vec::new());
        }
        let (mut lower, mut upper) = self.block_ends(size, blocks);
        let labels = self.block_labels(&lower, &upper, count);
        let of_block = |block: usize| labels[block * largest..(block + 1) * largest].to_vec();
        let mut bounded: Vec<Bounded> =
            (0..count).map(|block| Bounded { labels: of_block(block), ..Bounded::default() }).collect();
        let outputs = if self.extraction.is_some() { self.moves.outputs } else { 0 };
        if outputs > 0 && self.coarse.is_none() {
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
        if let Some(coarse) = self.coarse.as_ref().filter(|_| outputs > 0) {
            coarse.bound_blocks(&mut lower, &mut upper, count, |block, actions, policy| {
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
                !failed[*block] && own.can_be_made(ended[*block], &self.moves.largest, labels)
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

    /// The form of a move over a block, if it is of use.
    fn form(
        &self,
        own: &Prepared,
        input: Slices<'_>,
        result: &OutputForms,
        symbols: usize,
    ) -> Result<Option<Form>, GraphError> {
        let (count, place) = (input.count, input.place);
        let axes = self.lattice.axes.len();
        let ends = Slices { low: &result.lower, high: &result.upper, count, place };
        let mut form = Form { truths: Truths::default(), copies: own.copies.clone(), share: 0.0, numbers: Vec::new() };
        for (axis, along) in self.lattice.axes.iter().enumerate() {
            let range = ends.range(axis);
            let at = |column: usize| result.forms[(axis * (1 + symbols) + column) * count + place];
            let reach: f64 = (0..=symbols).map(|column| at(column).abs()).sum();
            // What is computed of a unit is off by a share of the sum of magnitudes.
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
                // A unit reaches over all of what the environment chooses.
                let half = self.lattice.axes.get(symbol).map_or(half, |axis| axis.half());
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
        // Where a transition may be forbidden or an operation undefined, units are bounded one by one.
        if known.contains(&None) || known[self.atoms..].contains(&Some(false)) {
            return Ok(None);
        }
        for (atom, known) in known.iter().take(self.atoms).enumerate() {
            form.truths.yes |= u64::from(*known == Some(true)) << atom;
            form.truths.no |= u64::from(*known == Some(false)) << atom;
        }
        Ok(Some(form))
    }

    /// Who is to be asked in a block.
    fn answers(&self, own: &Bounded, lower: &[f64], upper: &[f64]) -> Answers {
        let errors: Vec<f64> = own.policy.chunks_exact(2 + self.symbols).map(|form| form[1]).collect();
        if own.forms.is_empty() || self.does_no_harm(own, &errors) {
            return Answers::Form;
        }
        let reduced = self.coarse.as_ref().and_then(|coarse| {
            let reduced = coarse.reduced(lower, upper)?;
            // The mean of computed answers is as far from the real mean as they are, and rounds.
            let mean = |range: &Interval| coarse.mean_rounding() * range.magnitude();
            let off = reduced.errors().iter().zip(coarse.rounding()).zip(&own.actions);
            let off: Vec<f64> = off.map(|((one, other), range)| (one + other + mean(range)) * ROOM).collect();
            self.does_no_harm(own, &off).then_some(Answers::Reduced(reduced, off))
        });
        reduced.unwrap_or_default()
    }

    /// Whether errors of the actions are small beside units of the next state.
    fn does_no_harm(&self, own: &Bounded, errors: &[f64]) -> bool {
        own.forms.iter().all(|form| {
            let each = form.numbers.chunks_exact(BEFORE_SLOPES + self.symbols + errors.len());
            each.zip(&self.lattice.axes).all(|(numbers, along)| {
                let slopes = numbers[BEFORE_SLOPES + self.symbols..].iter().zip(errors);
                slopes.map(|(slope, error)| slope.abs() * error).sum::<f64>() <= self.largest_share * along.width
            })
        })
    }
}

/// Room that is used again and again.
#[derive(Default)]
struct Room {
    state: Vec<f64>,
    values: Vec<f64>,
    scratch: Vec<f64>,
    sums: Vec<f64>,
    actions: Vec<Interval>,
    differences: Vec<(f64, f64)>,
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use certus_lang::system::{AtomId, System};
    use certus_lang::{LowerOptions, load_file};

    use super::*;
    use crate::extract::{ExtractOptions, Extraction};
    use crate::moves::Moves;

    fn zoo(name: &str) -> System {
        let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("../../zoo/{name}.certus"));
        load_file(path, &LowerOptions::default()).unwrap()
    }

    /// Packed units around the first initial state: so many to either side in each coordinate.
    fn around_the_start(system: &System, lattice: &Lattice, reach: u64) -> Vec<u64> {
        let axes = lattice.axes.len();
        let first: Vec<u64> = lattice.axes.iter().zip(&system.init_box.0).map(|(axis, &x)| axis.place(x)).collect();
        let side = 2 * reach + 1;
        let mut keys = Vec::new();
        for number in 0..side.pow(axes as u32) {
            let place = |axis: usize| (first[axis] >> DEPTH) + number / side.pow(axis as u32) % side - reach;
            let mut key = [0; MOST_WORDS];
            (0..axes).for_each(|axis| lattice.pack_place(axis, place(axis) << DEPTH, &mut key));
            keys.extend_from_slice(&key[..lattice.words()]);
        }
        keys
    }

    #[test]
    fn bounds_by_blocks_are_those_one_by_one_up_to_a_share_of_a_unit() {
        for (name, width, reach) in
            [("mountain_car/mountain_car", 0.0001, 12), ("b1/b1", 0.001, 12), ("tora/tora_cells", 0.001, 2)]
        {
            let system = zoo(name);
            let lattice = Lattice::new(&system, &vec![width; system.state_len()]).unwrap();
            let keys = around_the_start(&system, &lattice, reach);
            let atoms: Vec<AtomId> = (0..system.atoms.len()).map(AtomId).collect();
            for extracted in [false, true] {
                let moves = Moves::new(&system, &atoms, extracted).unwrap();
                let expander = |sizes: bool| {
                    let policy = Extraction::new(&system, &moves, ExtractOptions::default()).unwrap();
                    let policy = extracted.then_some(policy);
                    let mut own = Expander::new(&system, &lattice, &moves, &atoms, policy).unwrap();
                    if !sizes {
                        own.sizes.clear();
                    }
                    own
                };
                let (together, apart) = (expander(true), expander(false));
                let mut truths = vec![Truths::default(); keys.len() / lattice.words()];
                let left = together.by_blocks(&keys, &mut truths, &mut Boxes::default()).unwrap();
                assert!(3 * left.units.len() < truths.len(), "{name}, {extracted}: {} left", left.units.len());
                let (together, apart) = (together.expand(&keys).unwrap(), apart.expand(&keys).unwrap());
                assert_eq!(together.truths, apart.truths, "{name}, {extracted}");
                assert_eq!(together.doubts, apart.doubts, "{name}, {extracted}");
                // Where one unit alone leaves a label open, its block does, too.
                assert_eq!(together.counts, apart.counts, "{name}, {extracted}");
                let corners = together.images.chunks(lattice.words()).zip(apart.images.chunks(lattice.words()));
                for (own, other) in corners {
                    for axis in 0..lattice.axes.len() {
                        let (own, other) = (lattice.unpack(own, axis).0, lattice.unpack(other, axis).0);
                        // Errors of both kinds, of the state's and of the policy's forms.
                        assert!(own.abs_diff(other) <= (1 << DEPTH) / 16, "{name}, {extracted}: {own}, {other}");
                    }
                }
            }
        }
    }
}
