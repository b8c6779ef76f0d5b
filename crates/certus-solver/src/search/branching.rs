//! Branching heuristics: how an open subproblem is split.
//!
//! *Neuron splits.* Candidates come with scores. Cheap ones estimate, at the point where the relaxed bound is attained,
//! how much the relaxation of each unstable neuron loses, weighted by its backward coefficient: the idea of BaBSR (Bunel
//! et al., *Branch and Bound for Piecewise Linear Neural Network Verification*, JMLR 2020), computed by
//! `bound/branching_scores.rs` from the optimised relaxation. Where an LP relaxation was solved, its solution gives the
//! same kind of score, and with [`Strategy::StrongBranching`] the best candidates are tried out on both sides with a few
//! dual simplex pivots (`lp_relaxation/problem.rs`), in the spirit of filtered smart branching (FSB; De Palma et al.,
//! *Improved Branch and Bound for Neural Network Verification via Lagrangian Decomposition*, 2021), which filters by a
//! cheap score and evaluates the rest with a better bound.
//!
//! *Input splits.* The input with the largest product of width and sensitivity (the absolute coefficients of the linear
//! bounds at the inputs) is halved: *smear*, as in interval branch and bound (Kearfott, *Rigorous Global Search*, 1996).
//!
//! *Disjunctions.* When nothing else is left, one child per disjunct.
//!
//! *Soundness* does not depend on any of this: the children of every split cover their parent.

use super::batch::{Context, Item};
use super::proof::{Record, Tree};
use super::strategy::Strategy;
use super::subproblem::Subproblem;
use crate::bound::branching_scores::Split;
use crate::bound::optimise_slopes::OptimisedBound;
use crate::bound::table::Bounds;

/// The sensitivity that an input is given beyond what the bounds show, as a share of the mean; measured on ACAS Xu, where
/// 0.03 to 0.1 serve the properties with large and with small regions alike.
const UNSEEN_SENSITIVITY: f64 = 0.05;

impl Context<'_> {
    /// Splits a subproblem in two.
    pub(super) fn split(
        &self,
        item: Item,
        optimised: &[(usize, OptimisedBound)],
        bounds: &Bounds,
        index: usize,
    ) -> Tree<Subproblem> {
        if (self.strategy.splits_neurons() || item.phases)
            && let Some(tree) = self.split_neuron(&item, optimised, bounds, index)
        {
            return tree;
        }
        if let Some(tree) = self.split_input(&item, optimised) {
            return tree;
        }
        if self.strategy == Strategy::InputSplits
            && let Some(tree) = self.split_neuron(&item, optimised, bounds, index)
        {
            return tree;
        }
        self.choose(item)
    }

    /// Takes a disjunction apart when nothing else is left to split.
    pub(super) fn choose(&self, item: Item) -> Tree<Subproblem> {
        let Some(&number) = item.core.pending.first() else { return Tree::Stuck };
        let count = self.logic.disjunctions[number].len();
        let trees = (0..count).map(|disjunct| {
            let mut subproblem = self.with_choice(&item.subproblem, number, disjunct);
            subproblem.share /= count as f64;
            Tree::Open(subproblem)
        });
        tracing::trace!(target: "certus::count", disjunct_splits = 1_u64);
        Tree::Branch(Record::Either(number), trees.collect())
    }

    /// The subproblem in which a disjunct holds. Where that fixes ranges of elements (the label of a choice, say), what was known of
    /// all that comes after them is too little.
    pub(super) fn with_choice(&self, subproblem: &Subproblem, number: usize, disjunct: usize) -> Subproblem {
        let mut subproblem = subproblem.clone();
        subproblem.choices.push((number as u32, disjunct as u32));
        subproblem.refine |= self.logic.ranges(&self.logic.disjunctions[number][disjunct].atoms).next().is_some();
        subproblem
    }

    pub(super) fn split_neuron(
        &self,
        item: &Item,
        optimised: &[(usize, OptimisedBound)],
        bounds: &Bounds,
        index: usize,
    ) -> Option<Tree<Subproblem>> {
        let relaxed = item.lp_bounds.iter().flat_map(|relaxed| &relaxed.splits);
        let mut splits = relaxed.chain(optimised.iter().flat_map(|(_, optimised)| &optimised.splits));
        let valid = |split: &&Split| {
            let range = bounds.interval(split.node, split.element, index);
            range.lo < split.at && split.at < range.hi
        };
        let split = splits.find(valid)?;
        let child = |lo: f64, hi: f64| {
            let mut subproblem = item.subproblem.restricted(split.node, split.element, lo, hi);
            subproblem.share /= 2.0;
            Tree::Open(subproblem)
        };
        debug_assert!(split.at.is_finite(), "a neuron is split at {}", split.at);
        let children = vec![child(f64::NEG_INFINITY, split.at), child(split.at, f64::INFINITY)];
        tracing::trace!(target: "certus::count", neuron_splits = 1_u64);
        Some(Tree::Branch(Record::SplitNode(split.node, split.element, split.at), children))
    }

    pub(super) fn split_input(&self, item: &Item, optimised: &[(usize, OptimisedBound)]) -> Option<Tree<Subproblem>> {
        let subproblem = &item.subproblem;
        let inputs = self.program.inputs;
        let mut sensitivity = vec![0.0; inputs];
        for slopes in item
            .rows
            .iter()
            .map(|own| &own.linear.slopes)
            .chain(optimised.iter().map(|(_, optimised)| &optimised.slopes))
        {
            sensitivity.iter_mut().zip(slopes).for_each(|(sum, slope)| *sum += slope.abs());
        }
        // Over large boxes the bounds are loose and hide some inputs altogether; a share of the mean keeps those in play.
        let mean = sensitivity.iter().sum::<f64>() / inputs.max(1) as f64;
        let floor = if mean.is_finite() { UNSEEN_SENSITIVITY * mean } else { 0.0 } + f64::MIN_POSITIVE;
        let mut best: Option<(usize, f64, f64)> = None;
        for (input, own) in sensitivity.iter().enumerate() {
            let (low, high) = (subproblem.lower[input], subproblem.upper[input]);
            let middle =
                if low.is_finite() && high.is_finite() { low / 2.0 + high / 2.0 } else { 0.0f64.clamp(low, high) };
            if !(low < middle && middle < high) {
                continue;
            }
            let score = (own + floor) * (high - low);
            if best.is_none_or(|(_, _, other)| score > other) {
                best = Some((input, middle, score));
            }
        }
        let (input, middle, _) = best?;
        let child = |upper: bool| {
            let mut subproblem = subproblem.clone();
            if upper {
                subproblem.lower[input] = middle
            } else {
                subproblem.upper[input] = middle
            }
            subproblem.share /= 2.0;
            Tree::Open(subproblem)
        };
        tracing::trace!(target: "certus::count", input_splits = 1_u64);
        Some(Tree::Branch(Record::SplitInput(input, middle), vec![child(false), child(true)]))
    }
}
