//! Optimised dual bounds of the subproblems that single rows do not refute.
//!
//! The rows of a subproblem are combined with non-negative weights; if the combination is positive everywhere, the rows
//! cannot hold together. Weights, relaxation slopes α and multipliers β are improved by projected gradient ascent
//! (`bound/optimise_slopes.rs`), and in small subproblems by the dual solution of an LP relaxation (`lp_relaxation`).
//! Both only suggest numbers: the bound that counts is an ordinary backward bound with these numbers.

use certus_graph::Interval;

use super::batch::{Context, Item, MOST_COLUMNS};
use super::clip::{LinearBound, combine};
use super::logic::Group;
use super::strategy::{LARGEST_LP, Strategy};
use crate::bound::goal::Goal;
use crate::bound::optimise_slopes::{Ascent, OptimisedBound, optimise};
use crate::bound::program::Role;
use crate::bound::table::Bounds;
use crate::lp_relaxation::{count_unstable, relax};

/// Optimised bounds of one subproblem: one per way in which it may still hold, with the disjunct that it is.
pub(super) type Alternatives = Vec<(usize, OptimisedBound)>;

/// An LP relaxation has at most this many variables (inputs and unstable neurons) unless it serves strong branching.
const MOST_VARIABLES: usize = 60;

/// Splits that strong branching tries out before it chooses one.
const STRONG_BRANCHING_CANDIDATES: usize = 24;

/// LP relaxations are for subproblems below this share of the region, and for those inside them that split neurons.
const DEEP: f64 = 1e-3;

/// They are for subproblems with at most this many unstable neurons, when inputs are split and when neurons are. On ACAS
/// Xu, LPs of this size cost about what they save; larger ones cost more.
const FEW_UNSTABLE_FOR_INPUT_SPLITS: usize = 16;
const FEW_UNSTABLE_FOR_NEURON_SPLITS: usize = 8;

/// Bounds that a certificate rests on stay this share of their size away from zero.
const CERTIFIED_DIGITS: f64 = 1e-10;

/// Splits that each optimised bound suggests.
const SUGGESTED_SPLITS: usize = 4;

impl Context<'_> {
    /// Tunes what is still open: one column for a subproblem without open disjunctions, otherwise one for each disjunct of its smallest.
    #[tracing::instrument(level = "debug", name = "alpha-beta-CROWN", skip_all)]
    pub(super) fn optimise_items(
        &self,
        items: &mut [Item],
        bounds: &Bounds,
        stop: &dyn Fn() -> bool,
    ) -> Vec<Alternatives> {
        let mut picks = Vec::new();
        let mut goals = Vec::new();
        let mut owners: Vec<(usize, usize)> = Vec::new();
        for (index, item) in items.iter().enumerate() {
            if item.result.is_some() || self.shrank(bounds, index, &item.subproblem) {
                continue;
            }
            for (disjunct, rows) in self.alternatives(item, bounds, index) {
                let lines: Vec<&LinearBound> = rows
                    .iter()
                    .filter_map(|&row| item.rows.iter().find(|own| own.row == row))
                    .map(|own| &own.linear)
                    .collect();
                let (weights, _) = combine(&lines, &item.subproblem.lower, &item.subproblem.upper);
                let mut rows: Vec<(usize, f64)> = rows.into_iter().zip(weights).collect();
                if let Some(objective) = self.objective {
                    rows.iter_mut().for_each(|(row, weight)| *weight = if *row == objective { 1.0 } else { 0.0 });
                }
                let multipliers = Goal::multipliers_of(&item.subproblem.ranges, &item.subproblem.warm);
                picks.push(index);
                owners.push((index, disjunct));
                goals.push(Goal { rows, multipliers, fixed: self.objective });
            }
        }
        let mut results: Vec<Alternatives> = items.iter().map(|_| Vec::new()).collect();
        if picks.is_empty() {
            return results;
        }
        let mut own = bounds.pick(&picks);
        // The box may have been clipped since its bounds were computed.
        for (node, role) in self.program.roles.iter().enumerate() {
            let Role::Input(offset) = role else { continue };
            for element in 0..self.program.sizes[node] {
                for (column, &index) in picks.iter().enumerate() {
                    let subproblem = &items[index].subproblem;
                    let range =
                        Interval { lo: subproblem.lower[offset + element], hi: subproblem.upper[offset + element] };
                    own.tighten(node, element, column, range);
                }
            }
        }
        let splits = if self.strategy.splits_neurons() { SUGGESTED_SPLITS } else { 0 };
        let ascent = Ascent { steps: self.steps, keep_alphas: self.certify, splits };
        let optimised = optimise(self.program, &mut own, &self.logic.rows, goals, ascent, stop);
        for (column, ((owner, disjunct), optimised)) in owners.into_iter().zip(optimised).enumerate() {
            let optimised =
                if stop() { optimised } else { self.bound_by_lp(&mut items[owner], optimised, &own, column) };
            results[owner].push((disjunct, optimised));
        }
        results
    }

    /// The better of an optimised bound and a linear program's, where that is worth its time.
    pub(super) fn bound_by_lp(
        &self,
        item: &mut Item,
        optimised: OptimisedBound,
        bounds: &Bounds,
        column: usize,
    ) -> OptimisedBound {
        let small = item.subproblem.share < DEEP || !item.subproblem.ranges.is_empty() || self.tiny(&item.subproblem);
        if self.verifies(&optimised) || !(small || self.strategy == Strategy::StrongBranching) {
            return optimised;
        }
        let (unstable, has_breakpoint) = count_unstable(self.program, bounds, column);
        let (few, most) = match self.strategy {
            Strategy::StrongBranching => (LARGEST_LP, LARGEST_LP),
            // Breakpoints that meet in a point stay however small the box around it is.
            _ if self.tiny(&item.subproblem) => (MOST_VARIABLES, MOST_VARIABLES),
            Strategy::InputSplits => (FEW_UNSTABLE_FOR_INPUT_SPLITS, MOST_VARIABLES),
            Strategy::NeuronSplits => (FEW_UNSTABLE_FOR_NEURON_SPLITS, MOST_VARIABLES),
        };
        item.phases = has_breakpoint && unstable <= few;
        if !item.phases || unstable + self.program.inputs > most {
            return optimised;
        }
        let goal =
            Goal { rows: optimised.rows.clone(), multipliers: optimised.multipliers.clone(), fixed: self.objective };
        let mut own = bounds.pick(&[column]);
        let rows = &self.logic.rows;
        let trials = if self.strategy == Strategy::StrongBranching { STRONG_BRANCHING_CANDIDATES } else { 0 };
        let Some(mut relaxed) = relax(self.program, &mut own, rows, &goal, most, trials, self.certify) else {
            return optimised;
        };
        let found = std::mem::take(&mut relaxed.optimised);
        if !self.verifies(&found) {
            item.lp_bounds.push(relaxed);
        }
        // Without the whole objective a bound says nothing of it, but it may refute the subproblem.
        let whole = self.objective.is_none_or(|objective| found.rows.contains(&(objective, 1.0)));
        let better = found.bound > optimised.bound && (whole || self.verifies(&found));
        if better { OptimisedBound { splits: optimised.splits, ..found } } else { optimised }
    }

    /// Whether a bound closes its subproblem.
    pub(super) fn verifies(&self, optimised: &OptimisedBound) -> bool {
        let strict = optimised.rows.iter().any(|&(row, weight)| weight > 0.0 && self.logic.rows[row].strict);
        let bound = optimised.bound - self.margin(optimised.constant);
        bound > 0.0 || (strict && bound >= 0.0)
    }

    /// What a bound loses when others compute it their way: a certificate should not depend on the last digits.
    pub(super) fn margin(&self, size: f64) -> f64 {
        if self.certify { CERTIFIED_DIGITS * size.abs() } else { 0.0 }
    }

    /// The disjunction that is looked at next.
    pub(super) fn next_disjunction(&self, item: &Item) -> Option<usize> {
        item.core.pending.iter().copied().min_by_key(|&number| self.logic.disjunctions[number].len())
    }

    /// The rows of each way in which a subproblem may still hold, with the disjunct that it is.
    pub(super) fn alternatives(&self, item: &Item, bounds: &Bounds, index: usize) -> Vec<(usize, Vec<usize>)> {
        let known = |row: &usize| item.rows.iter().any(|own| own.row == *row);
        // A row that holds throughout (the label that was chosen, say) refutes nothing, but its bound near zero looks good.
        let says = |row: &usize| {
            let most = self.enclosed(*row, bounds, index).hi;
            let holds = if self.logic.rows[*row].strict { most < 0.0 } else { most <= 0.0 };
            self.objective == Some(*row) || !holds
        };
        let with = |atoms: &[usize]| -> Vec<usize> {
            let rows: Vec<usize> = item.core.rows.iter().chain(atoms).copied().filter(known).collect();
            let telling: Vec<usize> = rows.iter().copied().filter(says).collect();
            if telling.is_empty() { rows } else { telling }
        };
        let ways: Vec<(usize, Vec<usize>)> = match self.next_disjunction(item) {
            None => vec![(0, with(&[]))],
            Some(number) => {
                let alive = |group: &Group| !group.atoms.iter().any(|&row| self.refuted(item, row));
                let groups = self.logic.disjunctions[number].iter().enumerate().filter(|(_, group)| alive(group));
                groups.map(|(disjunct, group)| (disjunct, with(&group.atoms))).collect()
            }
        };
        // Nothing to weigh: only further choices can tell.
        if ways.len() > MOST_COLUMNS || ways.iter().any(|(_, rows)| rows.is_empty()) { Vec::new() } else { ways }
    }
}
