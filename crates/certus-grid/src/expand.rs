//! The abstract successor operator: which atoms hold in a cell, and which boxes contain its states one step later.
//!
//! For every label that the policy may choose in a cell, the transition with that choice is bounded over the whole cell by intervals and affine forms (affine arithmetic:
//! de Figueiredo and Stolfi, "Affine arithmetic: concepts and applications", Numerical Algorithms 37, 2004); each node takes the intersection of both. Where that leaves an atom
//! open, or lets the state leave its range, the operators' own interval enclosures decide, which are exact where nothing is rounded. The result is an over-approximation (a may
//! abstraction): every state of the cell has all of its successors in the boxes, over the reals, and an atom counts as known only if it has one value in all of
//! the cell. So the cells simulate the system, and what holds of all runs of the abstraction holds of the system. No cell's result depends on its neighbours in a batch.
//!
//! Model errors that the bounds do not exclude are reported too: a successor out of its range, a state in which nothing is allowed, an undefined operation
//! ([`PossibleErrors`]).

mod each_cell;
mod environment;
mod tables;
mod transition_bounds;

use certus_automata::system::Truths;
use certus_graph::{Graph, GraphError};
use certus_lang::system::{AtomId, System};
use certus_solver::AffineForms;

use self::environment::{Choice, pieces, witnesses};
pub(crate) use self::tables::{Boxes, Slices, columns, enclose_slices, fitting, truth, widest_node};
pub(crate) use self::transition_bounds::touches_a_cut;
use crate::blocks::{Left, Size, largest_share};
use crate::extract::Extraction;
use crate::grid::{Axis, Grid};
use crate::policy_bounds::PolicyBounds;
use crate::possible_errors::{PossibleErrors, Valued};
use crate::transition_relation::{TransitionRelation, definedness};

/// A transition, compiled for bounds.
pub(crate) struct Prepared {
    pub(crate) labels: Vec<usize>,
    pub(crate) ended: bool,
    /// Whether it is the same whatever is chosen.
    pub(crate) is_free: bool,
    /// Transitions that differ only in what chance and the environment choose form a group: one that is allowed suffices.
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
    /// Whether it can be taken in a terminal state, or not, or where that is unknown, with possible labels as bits; `largest` names their choices.
    pub(crate) fn can_be_taken(&self, ended: Option<bool>, largest: &[(usize, usize)], labels: &[u32]) -> bool {
        let mut labels = largest.iter().zip(labels);
        ended.is_none_or(|ended| ended == self.ended)
            && (self.is_free || labels.all(|(&(choice, _), labels)| labels >> self.labels[choice] & 1 == 1))
    }
}

/// The abstract successors of some cells.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Expansion {
    /// What is known of the atoms.
    pub truths: Vec<Truths>,
    /// Model errors that are not excluded. `truths` is then about the positions where they happen.
    pub errors: Vec<PossibleErrors>,
    /// The coordinates that may leave their ranges in each cell, as bits.
    pub leaving: Vec<u32>,
    /// How many boxes the next states of each cell are in.
    pub counts: Vec<u8>,
    /// What is known of the atoms where the next state is in a box, for one box after the other.
    pub box_truths: Vec<Truths>,
    /// The boxes, one after the other: the packed first fine places of both corners.
    pub images: Vec<u64>,
}

/// The abstract successor operator.
pub struct Expander<'a> {
    pub(crate) grid: &'a Grid,
    pub(crate) relation: &'a TransitionRelation,
    pub(crate) prepared: Vec<Prepared>,
    pub(crate) score_differences: Option<AffineForms>,
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
    /// How many groups of transitions there are.
    groups: usize,
    /// Choices of the environment that are tried as those that are always allowed.
    witnesses: Vec<Vec<f64>>,
    /// Ranges of the environment's choices, cut; empty where that is not worth it.
    pieces: Vec<Vec<(f64, f64)>>,
    /// Errors that were excluded for all states at once.
    pub(crate) excluded: PossibleErrors,
    pub(crate) extraction: Option<Extraction>,
    /// Bounds of an extracted policy, if there are any.
    pub(crate) policy_bounds: Option<PolicyBounds>,
    /// Whether cells may be wider than those of an extracted policy.
    pub(crate) is_coarsened: bool,
    /// The largest share of a cell's width that errors of forms over blocks may be.
    pub(crate) largest_share: f64,
    /// Sizes of blocks.
    pub(crate) sizes: Vec<Size>,
    /// How many numbers affine forms remember: the state and the environment's choices.
    pub(crate) symbols: usize,
    /// How many cells are bounded at once.
    pub batch: usize,
    /// How many boxes a network is bounded over at once, or cells sampled.
    pub(crate) asked_at_once: usize,
}

impl<'a> Expander<'a> {
    /// Compiles a system's transition relation. With an extraction, that policy's actions are taken; otherwise all that the network may do.
    pub fn new(
        system: &System,
        grid: &'a Grid,
        relation: &'a TransitionRelation,
        atoms: &[AtomId],
        extraction: Option<Extraction>,
    ) -> Result<Expander<'a>, GraphError> {
        let mut prepared = Vec::new();
        let mut groups: Vec<(bool, Vec<usize>)> = Vec::new();
        let nexts = system.states.len();
        let mut widest = 1;
        for own in &relation.transitions {
            let outputs = own.step.outputs().len();
            let ranges = AffineForms::new(&own.step)?;
            widest = widest.max(widest_node(&own.step));
            let axes = grid.axes.len();
            // A copy of what the environment chooses is as free as that.
            let copies = ranges.copies().into_iter().take(axes).map(|copy| copy.filter(|&from| from < axes));
            let chosen = relation.argmax.iter().map(|&(choice, _)| own.labels[choice]);
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
        let policy_bounds = match &extraction {
            Some(own) => Some(PolicyBounds::new(system, relation, own)?).filter(PolicyBounds::is_known),
            None => None,
        };
        let score_differences = match &relation.score_differences {
            Some(graph) if extraction.is_none() || policy_bounds.is_some() => Some(AffineForms::new(graph)?),
            _ => None,
        };
        let inputs = system.inputs.iter().flat_map(|own| own.lower.iter().copied().zip(own.upper.iter().copied()));
        let inputs: Vec<(f64, f64)> = inputs.collect();
        let choices = Choice::of(&system.inputs);
        let numbers = grid.axes.len() + inputs.len();
        let columns = 1 + numbers;
        Ok(Expander {
            one_hots: score_differences.as_ref().map_or(0, |ranges| ranges.inputs() - numbers),
            batch: fitting(widest, columns),
            asked_at_once: fitting(widest_node(&relation.policy), columns),
            has_condition: system.roles.assume.is_some(),
            checks: definedness(system, atoms).len(),
            valued: Valued::of(system, atoms),
            groups: groups.len(),
            witnesses: if system.roles.assume.is_some() { witnesses(&choices) } else { Vec::new() },
            pieces: pieces(&choices, relation.transitions.len()),
            excluded: PossibleErrors::default(),
            grid,
            relation,
            prepared,
            score_differences,
            terminal: relation.terminal.as_ref().map(AffineForms::new).transpose()?,
            inputs,
            atoms: atoms.len(),
            extraction,
            policy_bounds,
            is_coarsened: grid.axes.iter().any(|axis| axis.coarsening > 0),
            largest_share: largest_share(&relation.policy),
            sizes: Size::all(grid),
            symbols: numbers,
        })
    }

    /// Expands some packed cells: by their blocks first, and in batches those that are left.
    pub fn expand(&self, keys: &[u64]) -> Result<Expansion, GraphError> {
        let (words, largest) = (self.grid.words(), self.relation.argmax.len());
        let count = keys.len() / words;
        let all = self.all_atoms();
        let mut whole = Expansion {
            truths: vec![Truths { yes: all, no: all }; count],
            errors: vec![PossibleErrors::default(); count],
            leaving: vec![0; count],
            ..Expansion::default()
        };
        let mut found = Boxes::default();
        let left = self.by_blocks(keys, &mut whole.truths, &mut found)?;
        for (batch, cells) in left.cells.chunks(self.batch).enumerate() {
            let begin = batch * self.batch;
            let labels = left.labels[begin * largest..(begin + cells.len()) * largest].to_vec();
            self.one_by_one(keys, Left { cells: cells.to_vec(), labels }, &mut whole, &mut found)?;
        }
        (whole.counts, whole.box_truths, whole.images) = found.sorted(count, 2 * words);
        Ok(whole)
    }

    /// Whether cells contain both of their cuts: where no policy acts by cells.
    pub(crate) fn has_closed_cells(&self) -> bool {
        self.extraction.is_none()
    }

    /// The fine places that an interval meets.
    pub(crate) fn met(&self, along: &Axis, (low, high): (f64, f64)) -> (u64, u64) {
        match self.has_closed_cells() && !along.integral {
            true => along.closed_places(low, high),
            false => (along.place(low), along.place(high)),
        }
    }

    /// Lower and upper ends of the state and the environment's choices over some cells, element-major.
    pub(crate) fn boxes(&self, keys: &[u64]) -> (Vec<f64>, Vec<f64>) {
        let words = self.grid.words();
        let count = keys.len() / words;
        let axes = self.grid.axes.len();
        let mut lower = Vec::with_capacity((axes + self.inputs.len()) * count);
        let mut upper = Vec::with_capacity((axes + self.inputs.len()) * count);
        for axis in 0..axes {
            for key in keys.chunks_exact(words) {
                let (low, high) = self.grid.ends(key, axis);
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

    /// All atoms, as bits.
    fn all_atoms(&self) -> u64 {
        u64::MAX >> (64 - self.atoms.clamp(1, 64))
    }
}
