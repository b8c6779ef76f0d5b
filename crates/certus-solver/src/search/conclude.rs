//! What becomes of a subproblem after all bounds are known: verified, shrunk, or split.

use super::batch::{Context, Item, Step, behind, leaf};
use super::clip::LinearBound;
use super::dual_bounds::Alternatives;
use super::logic::Group;
use super::proof::{Combination, Record, Tree};
use super::strategy::Strategy;
use super::subproblem::Subproblem;
use crate::bound::optimise_slopes::OptimisedBound;
use crate::bound::table::Bounds;

impl Context<'_> {
    /// What becomes of a subproblem after all that was tried.
    pub(super) fn conclude(
        &self,
        mut item: Item,
        optimised: Alternatives,
        bounds: &Bounds,
        index: usize,
    ) -> Tree<Subproblem> {
        if let Some(tree) = item.result {
            return behind(tree, item.steps);
        }
        let verified = |optimised: &OptimisedBound| self.verifies(optimised);
        let refutation = |optimised: &OptimisedBound| Tree::Leaf(Record::Close(Combination::optimised(optimised)));
        if !optimised.is_empty() {
            let bound = optimised.iter().map(|(_, optimised)| optimised.bound).fold(f64::INFINITY, f64::min);
            item.subproblem.bound = item.subproblem.bound.max(bound);
        }
        if let Some(row) = self.objective.and_then(|row| item.rows.iter().find(|own| own.row == row)) {
            item.subproblem.bound = item.subproblem.bound.max(row.bound);
        }
        match (self.next_disjunction(&item), optimised.as_slice()) {
            (_, []) => {}
            (None, [(_, only), ..]) => {
                if verified(only) {
                    return behind(refutation(only), item.steps);
                }
                item.subproblem.warm.clone_from(&only.multipliers);
                if self.strategy == Strategy::InputSplits {
                    // An optimised bound clips too.
                    let line = LinearBound { slopes: only.slopes.clone(), constant: only.constant };
                    let claims = line.clip(&mut item.subproblem.lower, &mut item.subproblem.upper);
                    if !claims.is_empty() {
                        item.steps.push(Step::Record(Record::Clip(Combination::optimised(only), claims)));
                    }
                }
            }
            (Some(number), columns) => {
                let open = columns.iter().filter(|(_, optimised)| !verified(optimised)).count();
                if open <= 1 || self.strategy.splits_neurons() {
                    let share = item.subproblem.share / open.max(1) as f64;
                    let child = |(disjunct, group): (usize, &Group)| {
                        let Some((_, optimised)) = columns.iter().find(|(own, _)| *own == disjunct) else {
                            let row = group.atoms.iter().copied().find(|&row| self.refuted(&item, row));
                            return row.map_or(Tree::Stuck, leaf);
                        };
                        if verified(optimised) {
                            return refutation(optimised);
                        }
                        let mut subproblem = self.with_choice(&item.subproblem, number, disjunct);
                        subproblem.share = share;
                        subproblem.bound = item.subproblem.bound.max(optimised.bound);
                        subproblem.warm.clone_from(&optimised.multipliers);
                        Tree::Open(subproblem)
                    };
                    let children = self.logic.disjunctions[number].iter().enumerate().map(child).collect();
                    return behind(Tree::Branch(Record::Either(number), children), item.steps);
                }
            }
        }
        if self.shrank(bounds, index, &item.subproblem) {
            return behind(Tree::Open(item.subproblem), item.steps);
        }
        let steps = std::mem::take(&mut item.steps);
        // Every way in which the subproblem may hold touches zero, and no other disjunction can tell.
        let open = optimised.iter().filter(|(_, optimised)| !verified(optimised)).count();
        let tied = item.lp_bounds.iter().filter(|relaxed| relaxed.tied).count();
        if tied > 0 && tied == open && item.core.pending.len() <= 1 {
            return behind(Tree::Stuck, steps);
        }
        behind(self.split(item, &optimised, bounds, index), steps)
    }
}
