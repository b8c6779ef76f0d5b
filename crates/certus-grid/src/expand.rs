//! What can happen in a unit: which atoms hold in it, and where its states can be one step later.
//!
//! For every label that the policy may choose in a unit, the step with that choice made is bounded over the whole unit: by
//! intervals and affine forms, of which each node takes the common part. Where that leaves an atom open or lets the state leave its range, the
//! operators' own enclosures have another look, which are exact where nothing is rounded. All of it is sound over the reals, and no
//! unit's result depends on its neighbours in a batch.
//!
//! What bounds do not exclude is told as well: a successor out of its range, a state in which nothing is allowed, an undefined operation ([`Doubts`]).
//! That something is allowed everywhere in a unit is shown by one choice that is: some labels, and inputs at an end or in the middle of their ranges.

use certus_automata::system::Truths;
use certus_graph::eval::{enclose, evaluate};
use certus_graph::fault::Fault;
use certus_graph::{Graph, GraphError, Interval};
use certus_lang::system::{AtomId, System};
use certus_solver::{AffineForms, OutputForms, Symbols};

use crate::blocks::{Left, Size, largest_share};
use crate::coarse::Coarse;
use crate::doubts::{Doubts, Valued};
use crate::extract::Extraction;
use crate::lattice::Lattice;
use crate::moves::{Moves, definedness};
use crate::units::hash;

/// A move, prepared for bounds.
pub(crate) struct Prepared {
    pub(crate) labels: Vec<usize>,
    pub(crate) ended: bool,
    /// Whether it is the same whatever is chosen.
    pub(crate) is_free: bool,
    /// Moves that differ in what chance and the environment choose alone are of one group: one that is allowed suffices.
    group: usize,
    pub(crate) ranges: AffineForms,
    /// For each coordinate of the next state, the one that it is a copy of.
    pub(crate) copies: Vec<Option<usize>>,
    /// The atoms and the condition alone, operator by operator.
    pub(crate) truths: Graph,
    /// The next state alone, operator by operator.
    next: Graph,
}

impl Prepared {
    /// Whether it can be made where the run has ended or not, or nobody knows, with such labels: bits, of which `largest` tells the choices.
    pub(crate) fn can_be_made(&self, ended: Option<bool>, largest: &[(usize, usize)], labels: &[u32]) -> bool {
        let mut labels = largest.iter().zip(labels);
        ended.is_none_or(|ended| ended == self.ended)
            && (self.is_free || labels.all(|(&(choice, _), labels)| labels >> self.labels[choice] & 1 == 1))
    }
}

/// What can happen in some units.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Expansion {
    /// What is known of the atoms.
    pub truths: Vec<Truths>,
    /// What may go wrong there. What is known of the atoms is then what is known where it does.
    pub doubts: Vec<Doubts>,
    /// The coordinates that may leave their ranges in each unit, as bits.
    pub leaving: Vec<u32>,
    /// How many boxes the next states of each unit are in.
    pub counts: Vec<u8>,
    /// What is known of the atoms where the next state is in a box, for one box after the other.
    pub box_truths: Vec<Truths>,
    /// The boxes, one after the other: the packed first fine places of both corners.
    pub images: Vec<u64>,
}

/// Bounds what can happen in units.
pub struct Expander<'a> {
    pub(crate) lattice: &'a Lattice,
    pub(crate) moves: &'a Moves,
    pub(crate) prepared: Vec<Prepared>,
    pub(crate) differences: Option<AffineForms>,
    pub(crate) terminal: Option<AffineForms>,
    /// Ranges of the environment's choices.
    pub(crate) inputs: Vec<(f64, f64)>,
    /// Numbers of the one-hot inputs of the differences of scores.
    pub(crate) one_hots: usize,
    pub(crate) atoms: usize,
    pub(crate) has_condition: bool,
    /// How many truths say that operations are defined.
    pub(crate) checks: usize,
    /// Where atoms have values.
    valued: Valued,
    /// How many groups of moves there are.
    groups: usize,
    /// Choices of the environment that are tried as those that are always allowed.
    witnesses: Vec<Vec<f64>>,
    /// Ranges of the environment's choices, cut; empty where that is not worth it.
    pieces: Vec<Vec<(f64, f64)>>,
    /// Doubts that were excluded for all states at once.
    pub(crate) excluded: Doubts,
    pub(crate) extraction: Option<Extraction>,
    /// Bounds of an extracted policy, if there are any.
    pub(crate) coarse: Option<Coarse>,
    /// Whether units may be wider than an extracted policy's own.
    pub(crate) is_coarse: bool,
    /// The largest share of a unit's width that errors of forms over blocks may be.
    pub(crate) largest_share: f64,
    /// Sizes of blocks.
    pub(crate) sizes: Vec<Size>,
    /// How many numbers affine forms remember: the state and the environment's choices.
    pub(crate) symbols: usize,
    /// How many units are bounded at once.
    pub batch: usize,
    /// How many boxes a network is bounded over at once, or units asked.
    pub(crate) asked_at_once: usize,
}

/// Values that a table of one node may hold.
const TABLE_VALUES: usize = 1 << 13;

/// The most units at once.
const LARGEST_BATCH: usize = 512;

/// How many numbers the largest node has.
pub(crate) fn widest_node(graph: &Graph) -> usize {
    graph.nodes().iter().map(|node| node.shape.iter().product()).max().unwrap_or(1)
}

/// How many boxes fit into a table.
pub(crate) fn fitting(widest: usize, columns: usize) -> usize {
    (TABLE_VALUES / (widest.max(1) * columns)).clamp(8, LARGEST_BATCH)
}

impl<'a> Expander<'a> {
    /// Prepares a system whose step was taken apart for these atoms. With an extraction, that policy's actions are taken; otherwise
    /// all that the network may do.
    pub fn new(
        system: &System,
        lattice: &'a Lattice,
        moves: &'a Moves,
        atoms: &[AtomId],
        extraction: Option<Extraction>,
    ) -> Result<Expander<'a>, GraphError> {
        let mut prepared = Vec::new();
        let mut groups: Vec<(bool, Vec<usize>)> = Vec::new();
        let nexts = system.states.len();
        let mut widest = 1;
        for own in &moves.moves {
            let outputs = own.step.outputs().len();
            let ranges = AffineForms::new(&own.step)?;
            widest = widest.max(widest_node(&own.step));
            let axes = lattice.axes.len();
            // A copy of what the environment chooses is as free as that.
            let copies = ranges.copies().into_iter().take(axes).map(|copy| copy.filter(|&from| from < axes));
            let chosen = moves.largest.iter().map(|&(choice, _)| own.labels[choice]);
            let group = (own.ended, if own.is_free { Vec::new() } else { chosen.collect() });
            let known = groups.iter().position(|other| *other == group);
            if known.is_none() {
                groups.push(group);
            }
            prepared.push(Prepared {
                labels: own.labels.clone(),
                ended: own.ended,
                group: known.unwrap_or(groups.len() - 1),
                is_free: own.is_free,
                copies: copies.collect(),
                ranges,
                truths: own.step.keep_outputs(&(nexts..outputs).collect::<Vec<_>>()),
                next: own.step.keep_outputs(&(0..nexts).collect::<Vec<_>>()),
            });
        }
        let coarse = match &extraction {
            Some(own) => Some(Coarse::new(system, moves, own)?).filter(Coarse::is_known),
            None => None,
        };
        let differences = match &moves.differences {
            Some(graph) if extraction.is_none() || coarse.is_some() => Some(AffineForms::new(graph)?),
            _ => None,
        };
        let inputs = system.inputs.iter().flat_map(|own| own.lower.iter().copied().zip(own.upper.iter().copied()));
        let inputs: Vec<(f64, f64)> = inputs.collect();
        let numbers = lattice.axes.len() + inputs.len();
        let columns = 1 + numbers;
        Ok(Expander {
            one_hots: differences.as_ref().map_or(0, |ranges| ranges.inputs() - numbers),
            batch: fitting(widest, columns),
            asked_at_once: fitting(widest_node(&moves.policy), columns),
            has_condition: system.roles.assume.is_some(),
            checks: definedness(system, atoms).len(),
            valued: Valued::of(system, atoms),
            groups: groups.len(),
            witnesses: if system.roles.assume.is_some() { witnesses(&inputs) } else { Vec::new() },
            pieces: pieces(&inputs, moves.moves.len()),
            excluded: Doubts::default(),
            lattice,
            moves,
            prepared,
            differences,
            terminal: moves.terminal.as_ref().map(AffineForms::new).transpose()?,
            inputs,
            atoms: atoms.len(),
            extraction,
            coarse,
            is_coarse: lattice.axes.iter().any(|axis| axis.grain > 0),
            largest_share: largest_share(&moves.policy),
            sizes: Size::all(lattice),
            symbols: numbers,
        })
    }

    /// Expands some packed units: by their blocks first, and in batches those that are left.
    pub fn expand(&self, keys: &[u64]) -> Result<Expansion, GraphError> {
        let (words, largest) = (self.lattice.words(), self.moves.largest.len());
        let count = keys.len() / words;
        let all = self.all_atoms();
        let mut whole = Expansion {
            truths: vec![Truths { yes: all, no: all }; count],
            doubts: vec![Doubts::default(); count],
            leaving: vec![0; count],
            ..Expansion::default()
        };
        let mut found = Boxes::default();
        let left = self.by_blocks(keys, &mut whole.truths, &mut found)?;
        for (batch, units) in left.units.chunks(self.batch).enumerate() {
            let begin = batch * self.batch;
            let labels = left.labels[begin * largest..(begin + units.len()) * largest].to_vec();
            self.one_by_one(keys, Left { units: units.to_vec(), labels }, &mut whole, &mut found)?;
        }
        (whole.counts, whole.box_truths, whole.images) = found.sorted(count, 2 * words);
        Ok(whole)
    }

    /// Lower and upper ends of the state and the environment's choices over some units, element-major.
    pub(crate) fn boxes(&self, keys: &[u64]) -> (Vec<f64>, Vec<f64>) {
        let words = self.lattice.words();
        let count = keys.len() / words;
        let axes = self.lattice.axes.len();
        let mut lower = Vec::with_capacity((axes + self.inputs.len()) * count);
        let mut upper = Vec::with_capacity((axes + self.inputs.len()) * count);
        for axis in 0..axes {
            for key in keys.chunks_exact(words) {
                let (low, high) = self.lattice.ends(key, axis);
                lower.push(low);
                upper.push(high);
            }
        }
        for &(low, high) in &self.inputs {
            lower.extend(std::iter::repeat_n(low, count));
            upper.extend(std::iter::repeat_n(high, count));
        }
        (lower, upper)
    }

    /// Bounds the units that blocks have left.
    fn one_by_one(&self, keys: &[u64], left: Left, whole: &mut Expansion, found: &mut Boxes) -> Result<(), GraphError> {
        let words = self.lattice.words();
        let Left { units: names, labels: mut possible } = left;
        let keys: Vec<u64> = names.iter().flat_map(|unit| &keys[unit * words..(unit + 1) * words]).copied().collect();
        let count = names.len();
        let (lower, upper) = self.boxes(&keys);
        let ended = self.ended(&lower, &upper, count)?;
        self.sure(&keys, &mut possible);
        let largest = self.moves.largest.len();
        let open: Vec<usize> =
            (0..count).filter(|unit| possible.get(unit * largest).is_none_or(|&labels| labels == 0)).collect();
        let (own_keys, low, high) = match open.len() == count {
            true => (keys.to_vec(), lower.clone(), upper.clone()),
            false => {
                let own_keys = open.iter().flat_map(|unit| &keys[unit * words..(unit + 1) * words]).copied().collect();
                (own_keys, columns(&lower, &open, count), columns(&upper, &open, count))
            }
        };
        let given = self.given(&own_keys)?;
        let labels = match &given {
            _ if open.is_empty() => Vec::new(),
            Some(given) => self.labels(&own_keys, given),
            None => self.possible(&low, &high, open.len(), 0.0),
        };
        if largest > 0 {
            for (unit, labels) in open.iter().zip(labels.chunks_exact(largest)) {
                possible[unit * largest..(unit + 1) * largest].copy_from_slice(labels);
            }
        }
        let actions = match (&given, &self.coarse) {
            (Some(given), Some(coarse)) if self.is_coarse => {
                let (lower, upper) = self.asked_boxes(&keys);
                Some(coarse.actions(self.lattice, &keys, (&lower, &upper), given))
            }
            _ => None,
        };
        let all = self.all_atoms();
        let mut doubted = vec![Truths { yes: all, no: all }; count];
        // Whether moves of a group can be made in a unit, and whether one of them is allowed in all of it.
        let mut allowed: Vec<Option<bool>> = vec![None; if self.has_condition { count * self.groups } else { 0 }];
        let mut scratch = Scratch::default();
        for own in &self.prepared {
            let chosen = |unit: &usize| {
                let labels = &possible[*unit * largest..(*unit + 1) * largest];
                own.can_be_made(ended[*unit], &self.moves.largest, labels)
            };
            let units: Vec<usize> = (0..count).filter(chosen).collect();
            if units.is_empty() {
                continue;
            }
            let (mut low, mut high) = (columns(&lower, &units, count), columns(&upper, &units, count));
            let result = if let Some(actions) = &actions {
                let actions = picked(actions, &units, count);
                low.extend_from_slice(&actions.lower);
                high.extend_from_slice(&actions.upper);
                own.ranges.enclose_with(&low, &high, units.len(), &actions)
            } else {
                for output in 0..if given.is_some() { self.moves.outputs } else { 0 } {
                    let given = given.iter().flatten();
                    let values: Vec<f64> =
                        given.map(|own| own.as_ref().map_or(0.0, |own| own.outputs[output])).collect();
                    low.extend(units.iter().map(|&unit| values[unit]));
                    high.extend(units.iter().map(|&unit| values[unit]));
                }
                own.ranges.enclose(&low, &high, units.len(), Symbols::Inputs(self.symbols))
            };
            for (place, &unit) in units.iter().enumerate() {
                let input = Slices { low: &low, high: &high, count: units.len(), place };
                let result = Slices { low: &result.lower, high: &result.upper, count: units.len(), place };
                let key = &keys[unit * words..(unit + 1) * words];
                scratch.settled.clear();
                self.settle_all(own, key, (input, result), &mut scratch, &mut found.corners)?;
                let is_sure = scratch.settled.iter().any(|settled| settled.allowed == Some(true));
                if let Some(sure) = allowed.get_mut(unit * self.groups + own.group)
                    && *sure != Some(true)
                {
                    *sure = Some(is_sure || self.has_witness(own, input)?);
                }
                for settled in &scratch.settled {
                    let doubts = settled.doubts.without(self.excluded);
                    if doubts != Doubts::default() {
                        let own = self.valued.at(settled.truths, doubts);
                        doubted[unit].yes &= own.yes;
                        doubted[unit].no &= own.no;
                    }
                    let unit = names[unit];
                    whole.truths[unit].yes &= settled.truths.yes;
                    whole.truths[unit].no &= settled.truths.no;
                    whole.doubts[unit].add(doubts);
                    whole.leaving[unit] |= settled.leaving;
                    if settled.goes_on {
                        found.owners.push((unit as u32, settled.truths));
                    }
                }
            }
        }
        for own in &self.prepared {
            let kind = if own.ended { Doubts::STUCK } else { Doubts::DEADLOCK };
            for unit in (0..count).filter(|_| self.has_condition && !self.excluded.has(kind)) {
                if allowed[unit * self.groups + own.group] == Some(false) {
                    whole.doubts[names[unit]].add(kind);
                    let own = self.valued.at(whole.truths[names[unit]], kind);
                    doubted[unit].yes &= own.yes;
                    doubted[unit].no &= own.no;
                }
            }
        }
        for (unit, &name) in names.iter().enumerate().filter(|(_, name)| whole.doubts[**name] != Doubts::default()) {
            whole.truths[name] = doubted[unit];
        }
        Ok(())
    }

    /// Whether some choice of the environment is allowed, with a move, in all states of a box.
    fn has_witness(&self, own: &Prepared, input: Slices<'_>) -> Result<bool, GraphError> {
        let axes = self.lattice.axes.len();
        for witness in &self.witnesses {
            let mut row = 0;
            let mut arguments: Vec<Vec<Interval>> = Vec::new();
            for port in own.truths.inputs() {
                let elements = own.truths.elements(port.node);
                let range = |row: usize| match row.checked_sub(axes).and_then(|at| witness.get(at)) {
                    Some(&value) => Interval::point(value),
                    None => input.range(row),
                };
                arguments.push((row..row + elements).map(range).collect());
                row += elements;
            }
            let slices: Vec<&[Interval]> = arguments.iter().map(Vec::as_slice).collect();
            let found = enclose(&own.truths, &slices)?;
            if found.get(self.atoms).and_then(|own| own.first()).is_some_and(|&range| truth(range) == Some(true)) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether runs have ended in some units, as far as that is known.
    pub(crate) fn ended(&self, lower: &[f64], upper: &[f64], count: usize) -> Result<Vec<Option<bool>>, GraphError> {
        let (Some(ranges), Some(graph)) = (&self.terminal, &self.moves.terminal) else {
            return Ok(vec![None; count]);
        };
        let padded = |ends: &[f64], fill: f64| {
            let mut table = ends.to_vec();
            table.resize(ranges.inputs() * count, fill);
            table
        };
        let (low, high) = (padded(lower, 0.0), padded(upper, 1.0));
        let found = ranges.enclose(&low, &high, count, Symbols::None);
        let known = (0..count).map(|place| {
            let sure = truth(Interval::new(found.lower[place], found.upper[place]));
            if sure.is_some() {
                return Ok(sure);
            }
            let exact = enclose_slices(graph, Slices { low: &low, high: &high, count, place })?;
            Ok(exact.first().and_then(|&range| truth(range)))
        });
        known.collect()
    }

    /// What one move does in one unit: for all that the environment may choose at once, or, where that leaves open what depends on it, for one piece
    /// of its choices after the other.
    fn settle_all(
        &self,
        own: &Prepared,
        key: &[u64],
        (input, result): (Slices<'_>, Slices<'_>),
        scratch: &mut Scratch,
        corners: &mut Vec<u64>,
    ) -> Result<(), GraphError> {
        let first = corners.len();
        let settled = self.settle(own, key, (input, result, false), scratch, corners)?;
        let open = !(settled.truths.yes | settled.truths.no) & !self.valued.without_choice & self.all_atoms();
        let errors = settled.doubts.without(self.excluded).has(Doubts::ERRORS);
        let is_deep = || (0..self.lattice.axes.len()).any(|axis| self.lattice.unpack(key, axis).1 >= DEEP);
        if self.pieces.is_empty() || !(open != 0 || settled.allowed.is_none() || errors || is_deep()) {
            scratch.settled.push(settled);
            return Ok(());
        }
        corners.truncate(first);
        let axes = self.lattice.axes.len();
        let rows = input.low.len() / input.count;
        let ends = (0..rows).map(|row| input.range(row));
        let (mut low, mut high): (Vec<f64>, Vec<f64>) = ends.map(|range| (range.lo, range.hi)).unzip();
        for piece in &self.pieces {
            for (place, &(from, to)) in piece.iter().enumerate() {
                (low[axes + place], high[axes + place]) = (from, to);
            }
            let input = Slices { low: &low, high: &high, count: 1, place: 0 };
            let settled = self.settle(own, key, (input, result, true), scratch, corners)?;
            scratch.settled.push(settled);
        }
        Ok(())
    }

    /// Two enclosures of one number that do not meet: one of them is wrong.
    pub(crate) fn crossed(&self, what: &str, axis: usize, (one, other): (Interval, Interval)) -> Fault {
        Fault::raise(format!("{what} do not meet"), format!("coordinate {axis} of the grid: {one} and {other}"))
    }

    /// Whether the successor of the middle of a box lies in an enclosure, up to what its evaluation rounds.
    fn encloses_middle(&self, own: &Prepared, input: Slices<'_>, next: &[Interval]) -> bool {
        let mut row = 0;
        let mut arguments: Vec<Vec<f64>> = Vec::new();
        for port in own.next.inputs() {
            let elements = own.next.elements(port.node);
            let middle = |row: usize| certus_solver::middle(input.range(row).lo, input.range(row).hi).0;
            arguments.push((row..row + elements).map(middle).collect());
            row += elements;
        }
        let slices: Vec<&[f64]> = arguments.iter().map(Vec::as_slice).collect();
        let Ok(made) = evaluate(&own.next, &slices) else { return false };
        made.concat()
            .iter()
            .zip(next)
            .all(|(value, range)| range.widen(ROUNDED * (1.0 + range.magnitude())).contains(*value))
    }

    /// All atoms, as bits.
    fn all_atoms(&self) -> u64 {
        u64::MAX >> (64 - self.atoms.clamp(1, 64))
    }

    /// What one move does in one unit; bounds may be of a part of it only, of which the result is known to contain what follows. The corners of the box of next states come to
    /// those that are there, if there is one.
    fn settle(
        &self,
        own: &Prepared,
        key: &[u64],
        (input, result, is_part): (Slices<'_>, Slices<'_>, bool),
        scratch: &mut Scratch,
        corners: &mut Vec<u64>,
    ) -> Result<Settled, GraphError> {
        let axes = self.lattice.axes.len();
        let conditions = self.atoms + usize::from(self.has_condition) + self.checks;
        let Scratch { known, next, .. } = scratch;
        known.clear();
        known.extend((0..conditions).map(|place| truth(result.range(axes + place))));
        if known.contains(&None) {
            let exact = enclose_slices(&own.truths, input)?;
            for (known, range) in known.iter_mut().zip(exact) {
                *known = known.or(truth(range));
            }
        }
        let mut settled = Settled::default();
        for (atom, known) in known.iter().take(self.atoms).enumerate() {
            settled.truths.yes |= u64::from(*known == Some(true)) << atom;
            settled.truths.no |= u64::from(*known == Some(false)) << atom;
        }
        if known[conditions - self.checks..].iter().any(|known| *known != Some(true)) {
            settled.doubts.add(Doubts::UNDEFINED);
        }
        settled.allowed = if self.has_condition { known[self.atoms] } else { Some(true) };
        if settled.allowed == Some(false) {
            return Ok(settled);
        }
        next.clear();
        next.extend((0..axes).map(|axis| result.range(axis)));
        let leaving = |next: &[Interval]| {
            let ends = next.iter().zip(&self.lattice.axes).enumerate();
            let outside = ends.filter(|(_, (range, axis))| !(axis.lower <= range.lo && range.hi <= axis.upper));
            outside.fold(0u32, |bits, (axis, _)| bits | 1 << axis)
        };
        if is_part || leaving(next) != 0 {
            let exact = enclose_slices(&own.next, input)?;
            for (axis, (range, exact)) in next.iter_mut().zip(exact).enumerate() {
                *range = match range.intersection(exact) {
                    Some(common) => common,
                    // Where nothing has a value, anything encloses it.
                    None if settled.doubts.has(Doubts::UNDEFINED) => *range,
                    None => return Err(self.crossed("two enclosures of a successor", axis, (*range, exact)).into()),
                };
            }
            settled.leaving = leaving(next);
            if settled.leaving != 0 {
                settled.doubts.add(Doubts::RANGE);
            }
        }
        debug_assert!(
            !hash(key).is_multiple_of(CHECKED)
                || settled.doubts.has(Doubts::UNDEFINED)
                || self.encloses_middle(own, input, next),
            "a sample of {} is not in the enclosure of its unit's successors",
            own.next.outputs().len()
        );
        let outside =
            |(range, axis): (&Interval, &crate::lattice::Axis)| range.lo > axis.upper || range.hi < axis.lower;
        if next.iter().zip(&self.lattice.axes).any(outside) {
            return Ok(settled);
        }
        settled.goes_on = true;
        let first = corners.len();
        corners.resize(first + 2 * self.lattice.words(), 0);
        let (low, high) = corners[first..].split_at_mut(self.lattice.words());
        for (axis, range) in next.iter().enumerate() {
            let along = &self.lattice.axes[axis];
            let (first, last) = match own.copies[axis] {
                Some(from) => self.lattice.copied(key, from, axis),
                None => (along.place(range.lo.max(along.lower)), along.place(range.hi.min(along.upper))),
            };
            self.lattice.pack_place(axis, first, low);
            self.lattice.pack_place(axis, last, high);
        }
        Ok(settled)
    }
}

/// What one move does in one unit.
#[derive(Default)]
struct Settled {
    truths: Truths,
    doubts: Doubts,
    /// Coordinates that may leave their ranges, as bits.
    leaving: u32,
    /// Whether the condition on transitions holds, if that is known.
    allowed: Option<bool>,
    goes_on: bool,
}

/// More inputs than this are not taken to all corners of their ranges.
const MOST_CORNERED: usize = 4;

/// Choices of the environment with which it is tried to show that something is always allowed: the middle, and corners.
fn witnesses(inputs: &[(f64, f64)]) -> Vec<Vec<f64>> {
    let middle = inputs.iter().map(|&(low, high)| certus_solver::middle(low, high).0).collect();
    let corners = if inputs.len() <= MOST_CORNERED { 0..1u32 << inputs.len() } else { 0..0 };
    let corner = |which: u32| {
        let end = |(place, &(low, high)): (usize, &(f64, f64))| if which >> place & 1 == 1 { high } else { low };
        inputs.iter().enumerate().map(end).collect()
    };
    let ends: [Vec<f64>; 2] = [inputs.iter().map(|own| own.0).collect(), inputs.iter().map(|own| own.1).collect()];
    [middle].into_iter().chain(ends).chain(corners.map(corner)).collect()
}

/// One unit in so many is sampled in debug builds.
const CHECKED: u64 = 16;

/// What an evaluation in doubles may be off by, beside the size of its result, in such a sample.
const ROUNDED: f64 = 1e-6;

/// In units that were halved so often, the environment's choices are cut as well.
const DEEP: u32 = 4;

/// The most boxes of next states of a unit, which are counted in eight bits.
const MOST_BOXES: usize = 255;

/// How often ranges of so many inputs are halved.
fn halvings_of_inputs(inputs: usize) -> u32 {
    match inputs {
        0 => 0,
        1 => 3,
        2 | 3 => 1,
        _ => 0,
    }
}

/// Ranges of the environment's choices cut into pieces, for so many moves; none where that would be too many.
fn pieces(inputs: &[(f64, f64)], moves: usize) -> Vec<Vec<(f64, f64)>> {
    let halvings = halvings_of_inputs(inputs.len());
    let parts = 1usize << halvings;
    let total = parts.pow(inputs.len() as u32);
    if halvings == 0 || total * moves > MOST_BOXES {
        return Vec::new();
    }
    let cut = |low: f64, high: f64, place: usize| match place {
        0 => low,
        _ if place == parts => high,
        _ => (low + (high - low) * (place as f64 / parts as f64)).clamp(low, high),
    };
    let piece = |number: usize| {
        let along = |(axis, &(low, high)): (usize, &(f64, f64))| {
            let place = number / parts.pow(axis as u32) % parts;
            (cut(low, high, place), cut(low, high, place + 1))
        };
        inputs.iter().enumerate().map(along).collect()
    };
    (0..total).map(piece).collect()
}

/// Room that is used again and again.
#[derive(Default)]
struct Scratch {
    known: Vec<Option<bool>>,
    next: Vec<Interval>,
    settled: Vec<Settled>,
}

/// Boxes of next states in the order in which moves were made.
#[derive(Default)]
pub(crate) struct Boxes {
    /// The unit of each, and what is known of the atoms there.
    pub(crate) owners: Vec<(u32, Truths)>,
    pub(crate) corners: Vec<u64>,
}

impl Boxes {
    /// The same by units: how many each has, then all in order.
    fn sorted(self, units: usize, words: usize) -> (Vec<u8>, Vec<Truths>, Vec<u64>) {
        let mut counts = vec![0u8; units];
        self.owners.iter().for_each(|&(unit, _)| counts[unit as usize] += 1);
        let mut begins: Vec<usize> =
            counts.iter().scan(0, |sum, &count| Some(std::mem::replace(sum, *sum + usize::from(count)))).collect();
        let mut truths = vec![Truths::default(); self.owners.len()];
        let mut images = vec![0; self.corners.len()];
        for (&(unit, own), corners) in self.owners.iter().zip(self.corners.chunks_exact(words)) {
            let at = &mut begins[unit as usize];
            truths[*at] = own;
            images[*at * words..(*at + 1) * words].copy_from_slice(corners);
            *at += 1;
        }
        (counts, truths, images)
    }
}

/// The forms of some units only.
fn picked(all: &OutputForms, units: &[usize], count: usize) -> OutputForms {
    OutputForms {
        lower: columns(&all.lower, units, count),
        upper: columns(&all.upper, units, count),
        symbols: all.symbols,
        forms: columns(&all.forms, units, count),
        errors: columns(&all.errors, units, count),
    }
}

/// Some columns of an element-major table.
pub(crate) fn columns(table: &[f64], units: &[usize], count: usize) -> Vec<f64> {
    if units.len() == count {
        return table.to_vec();
    }
    table.chunks_exact(count).flat_map(|row| units.iter().map(move |&unit| row[unit])).collect()
}

/// The column of one box in element-major tables.
#[derive(Clone, Copy)]
pub(crate) struct Slices<'t> {
    pub(crate) low: &'t [f64],
    pub(crate) high: &'t [f64],
    pub(crate) count: usize,
    pub(crate) place: usize,
}

impl Slices<'_> {
    pub(crate) fn range(&self, row: usize) -> Interval {
        let at = row * self.count + self.place;
        Interval::new(self.low[at], self.high[at])
    }
}

/// Whether a number that is 0 or 1 is known.
pub(crate) fn truth(range: Interval) -> Option<bool> {
    if range.lo > 0.0 {
        Some(true)
    } else if range.hi < 1.0 {
        Some(false)
    } else {
        None
    }
}

/// All outputs over one box, operator by operator.
pub(crate) fn enclose_slices(graph: &Graph, input: Slices<'_>) -> Result<Vec<Interval>, GraphError> {
    let mut row = 0;
    let mut arguments: Vec<Vec<Interval>> = Vec::new();
    for port in graph.inputs() {
        let elements = graph.elements(port.node);
        arguments.push((row..row + elements).map(|row| input.range(row)).collect());
        row += elements;
    }
    let slices: Vec<&[Interval]> = arguments.iter().map(Vec::as_slice).collect();
    Ok(enclose(graph, &slices)?.concat())
}
