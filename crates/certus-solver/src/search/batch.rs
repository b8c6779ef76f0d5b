//! Bounding a batch of subproblems: one round of branch and bound.
//!
//! Each subproblem goes through the same stages, cheapest first, and leaves at the first one that decides it:
//! 1. intermediate bounds of all nodes, for the whole batch at once (`bound::refine`);
//! 2. a backward bound of every row (atom of the formula) that matters here; a row whose lower bound is positive refutes
//!    the subproblem, or the disjunct that it belongs to;
//! 3. clipping: rows that must hold shrink the box (`clip.rs`);
//! 4. optimised dual bounds of row combinations, and an LP relaxation where that pays (`dual_bounds.rs`);
//! 5. what is still open is branched on (`branching.rs`).
//!
//! *Soundness.* A subproblem is pruned only by a bound that accounts for rounding, or because its constraints leave
//! some node without a value. Everything else only makes it smaller or splits it into subproblems that cover it.

use std::sync::Arc;

use certus_graph::eval::enclose_nodes;
use certus_graph::{Fault, Interval};

use super::clip::LinearBound;
use super::dual_bounds::Alternatives;
use super::logic::{Core, Group, Logic};
use super::proof::{Combination, Record, Tree};
use super::strategy::Strategy;
use super::subproblem::Subproblem;
use crate::bound::backward::{Objectives, minimise};
use crate::bound::goal::{Row, add_rows};
use crate::bound::program::Program;
use crate::bound::refine::{InheritedBounds, Refinement, Subdomain, bound_subdomains};
use crate::bound::table::Bounds;
use crate::lp_relaxation::LpBound;
use crate::query::Region;

/// Inputs up to which subproblems are clipped by bounds that were inherited.
const FEW_TO_CLIP: usize = 64;

/// Disjuncts of one disjunction that get an optimised bound each in one go.
pub(super) const MOST_COLUMNS: usize = 16;

/// What a search knows beside its subproblems.
pub(crate) struct Context<'a> {
    pub(crate) program: &'a Program,
    pub(crate) logic: &'a Logic,
    pub(crate) region: &'a Region,
    pub(crate) strategy: Strategy,
    /// Steps of dual optimisation per subproblem.
    pub(crate) steps: usize,
    /// Whether alphas are kept for a certificate.
    pub(crate) certify: bool,
    /// The row that bounds an objective, and stays in every combination.
    pub(crate) objective: Option<usize>,
}

/// What a batch gave.
pub(crate) struct BatchResult {
    pub(crate) trees: Vec<Tree<Subproblem>>,
    /// Points that are worth a try, element-major.
    pub(crate) points: Vec<f64>,
    pub(crate) point_count: usize,
    /// About how many multiplications backward bounds took, and all bounds.
    pub(crate) effort: u64,
    pub(crate) whole_effort: u64,
}

/// A bound of one row over one subproblem.
pub(super) struct RowBound {
    pub(super) row: usize,
    pub(super) bound: f64,
    pub(super) linear: LinearBound,
}

/// A subproblem on its way through the stages.
pub(super) struct Item {
    pub(super) subproblem: Subproblem,
    pub(super) core: Core,
    /// What was done so far, outermost first.
    pub(super) steps: Vec<Step>,
    pub(super) rows: Vec<RowBound>,
    /// What linear programs say of the ways in which the subproblem may still hold.
    pub(super) lp_bounds: Vec<LpBound>,
    /// Whether a few neuron splits make it linear.
    pub(super) phases: bool,
    pub(super) result: Option<Tree<Subproblem>>,
}

/// Something that was done to a subproblem before its fate was known.
pub(super) enum Step {
    Record(Record),
    /// A disjunction of which all disjuncts but one are refuted, each by a row.
    Choice(usize, Vec<Option<usize>>),
}

/// A tree behind the steps that led to it.
pub(super) fn behind(tree: Tree<Subproblem>, steps: Vec<Step>) -> Tree<Subproblem> {
    steps.into_iter().rev().fold(tree, |tree, step| match step {
        Step::Record(record) => Tree::Then(record, Box::new(tree)),
        Step::Choice(number, refutations) => {
            let mut open = Some(tree);
            let children = refutations.into_iter().map(|row| match row {
                Some(row) => leaf(row),
                None => open.take().unwrap_or(Tree::Stuck),
            });
            Tree::Branch(Record::Either(number), children.collect())
        }
    })
}

/// Closed by one row.
pub(super) fn leaf(row: usize) -> Tree<Subproblem> {
    Tree::Leaf(Record::Close(Combination::row(row)))
}

pub(super) fn refutes(row: &Row, bound: f64) -> bool {
    if row.strict { bound >= 0.0 } else { bound > 0.0 }
}

impl Context<'_> {
    /// Examines a batch; nothing when stopped.
    pub(crate) fn bound_batch(&self, subproblems: Vec<Subproblem>, stop: &dyn Fn() -> bool) -> Option<BatchResult> {
        let refine = subproblems.first().is_some_and(|subproblem| subproblem.refine);
        let mut items: Vec<Item> = subproblems
            .into_iter()
            .map(|subproblem| {
                let core = self.logic.core(&subproblem.choices);
                let record = if refine { Record::Refine(self.strategy.splits_neurons()) } else { Record::Bound };
                let steps = vec![Step::Record(record)];
                Item { subproblem, core, steps, rows: Vec::new(), lp_bounds: Vec::new(), phases: false, result: None }
            })
            .collect();
        let subdomains: Vec<Subdomain<'_>> = items
            .iter()
            .map(|item| Subdomain {
                lower: &item.subproblem.lower,
                upper: &item.subproblem.upper,
                ranges: item.subproblem.ranges.iter().copied().chain(self.logic.ranges(&item.core.rows)).collect(),
                inherited: item.subproblem.known.as_deref(),
            })
            .collect();
        // A certificate's checker repeats intervals and backward bounds only.
        let how = match (refine, self.certify) {
            (false, _) => Refinement::Nothing,
            (true, true) => Refinement::Backward,
            (true, false) => Refinement::Forward,
        };
        let bounds = bound_subdomains(self.program, &subdomains, how, stop)?;
        drop(subdomains);
        debug_assert!(
            items.first().is_none_or(|item| self.bounds_hold_in_the_middle(item, &bounds, 0)),
            "a value in the middle of a box is outside of the bounds over it"
        );
        self.bound_rows(&mut items, &bounds, stop)?;
        for (index, item) in items.iter_mut().enumerate() {
            if bounds.empty[index] {
                item.result = Some(self.without_values(item));
                continue;
            }
            if refine && self.strategy.splits_neurons() {
                item.subproblem.known = Some(Arc::new(InheritedBounds::of(self.program, &bounds, index)));
                item.subproblem.refine = false;
            }
            self.refute(item);
            // With many inputs a clip is dear, and bounds that were not refined hardly clip at all.
            if item.result.is_none()
                && (refine || self.strategy == Strategy::InputSplits || self.program.inputs <= FEW_TO_CLIP)
            {
                self.clip(item);
            }
        }
        let optimised = self.optimise_items(&mut items, &bounds, stop);
        let (points, point_count) = self.points(&items, &optimised);
        let mut trees = Vec::with_capacity(items.len());
        for (index, (item, optimised)) in items.into_iter().zip(optimised).enumerate() {
            trees.push(self.conclude(item, optimised, &bounds, index));
        }
        let optimised = trees.len() * 2 * (self.steps + 1) * self.program.sweep();
        let effort = bounds.effort + optimised as u64;
        Some(BatchResult { trees, points, point_count, effort, whole_effort: effort + bounds.forward_effort })
    }

    /// A subproblem in which some element has no value left is verified if anything but its box restricts it. A box has points,
    /// so bounds over a box alone that do not meet contradict each other.
    pub(super) fn without_values(&self, item: &Item) -> Tree<Subproblem> {
        let subproblem = &item.subproblem;
        if self.is_restricted(item) || subproblem.lower.iter().zip(&subproblem.upper).any(|(low, high)| low > high) {
            return Tree::Leaf(Record::Empty);
        }
        Fault::raise(
            "two bounds of one value over a box do not meet",
            format!("the box from {:?} to {:?}, {:?}", subproblem.lower, subproblem.upper, self.strategy),
        );
        Tree::Stuck
    }

    /// Whether anything but its box restricts a subproblem: ranges of elements, or bounds that are taken from a subproblem with such ranges.
    pub(super) fn is_restricted(&self, item: &Item) -> bool {
        let ranges = self.logic.ranges(&item.core.rows).next();
        !item.subproblem.ranges.is_empty() || item.subproblem.known.is_some() || ranges.is_some()
    }

    /// That the values in the middle of a box are within the bounds over all of it; only where nothing else restricts the subproblem.
    pub(super) fn bounds_hold_in_the_middle(&self, item: &Item, bounds: &Bounds, index: usize) -> bool {
        let ends = item.subproblem.lower.iter().zip(&item.subproblem.upper);
        let middle: Vec<Interval> = ends.map(|(low, high)| Interval::point(low / 2.0 + high / 2.0)).collect();
        let finite = item.subproblem.lower.iter().chain(&item.subproblem.upper).all(|end| end.is_finite());
        if !finite || bounds.empty[index] || self.is_restricted(item) {
            return true;
        }
        let graph = &self.program.graph;
        let mut rest = middle.as_slice();
        let arguments: Vec<&[Interval]> = graph
            .inputs()
            .iter()
            .map(|port| {
                let (own, after) = rest.split_at(graph.elements(port.node));
                rest = after;
                own
            })
            .collect();
        let Ok(values) = enclose_nodes(graph, &arguments) else { return true };
        values.iter().enumerate().all(|(node, values)| {
            let meet = |(element, value): (usize, &Interval)| {
                bounds.interval(node, element, index).intersection(*value).is_some()
            };
            values.iter().enumerate().all(meet)
        })
    }

    /// Bounds every row that matters to a subproblem, each alone.
    #[tracing::instrument(level = "debug", name = "CROWN bounds of rows", skip_all)]
    pub(super) fn bound_rows(&self, items: &mut [Item], bounds: &Bounds, stop: &dyn Fn() -> bool) -> Option<()> {
        let mut wanted: Vec<(usize, usize)> = Vec::new();
        for (index, item) in items.iter().enumerate().filter(|(index, _)| !bounds.empty[*index]) {
            let disjuncts = item.core.pending.iter().flat_map(|&number| &self.logic.disjunctions[number]);
            let rows = item.core.rows.iter().chain(disjuncts.flat_map(|group| &group.atoms));
            wanted.extend(rows.map(|&row| (index, row)));
        }
        let largest = self.program.sizes.iter().max().copied().unwrap_or(1).max(1);
        let mut scratch = Vec::new();
        for wanted in wanted.chunks(((1 << 17) / largest).max(64)) {
            if stop() {
                return None;
            }
            let mut objectives =
                Objectives::new(self.program.roles.len(), wanted.iter().map(|&(index, _)| index).collect());
            let mut from = 0;
            for (column, &(_, row)) in wanted.iter().enumerate() {
                add_rows(self.program, bounds, &mut objectives, column, &self.logic.rows, &[(row, 1.0)]);
                from = self.logic.rows[row].terms.iter().map(|term| term.0).fold(from, usize::max);
            }
            let lower = minimise(self.program, bounds, objectives, from, &mut scratch);
            for (column, &(index, row)) in wanted.iter().enumerate() {
                let linear = LinearBound {
                    slopes: lower.inputs.iter().skip(column).step_by(wanted.len()).copied().collect(),
                    constant: lower.constants[column],
                };
                let bound = lower.bounds[column] - self.margin(linear.constant);
                let bound = bound.max(self.enclosed(row, bounds, index).lo);
                items[index].rows.push(RowBound { row, bound, linear });
            }
        }
        Some(())
    }

    /// A row's range from the enclosures of its elements alone: exact where nothing was rounded.
    pub(super) fn enclosed(&self, row: usize, bounds: &Bounds, index: usize) -> Interval {
        let row = &self.logic.rows[row];
        row.terms.iter().fold(Interval::point(row.constant), |sum, &(node, element, coefficient, radius)| {
            sum + Interval::point(coefficient).widen(radius) * bounds.interval(node, element, index)
        })
    }

    /// Closes a subproblem by single rows, and drops disjuncts that cannot hold.
    pub(super) fn refute(&self, item: &mut Item) {
        loop {
            if let Some(row) = item.core.rows.iter().copied().find(|&row| self.refuted(item, row)) {
                item.result = Some(leaf(row));
                return;
            }
            let mut single = None;
            for &number in &item.core.pending {
                let witness = |group: &Group| group.atoms.iter().copied().find(|&row| self.refuted(item, row));
                let refutations: Vec<Option<usize>> = self.logic.disjunctions[number].iter().map(witness).collect();
                match refutations.iter().filter(|row| row.is_none()).count() {
                    0 => {
                        let leaves = refutations.into_iter().flatten().map(leaf).collect();
                        item.result = Some(Tree::Branch(Record::Either(number), leaves));
                        return;
                    }
                    1 => {
                        single = Some((number, refutations));
                        break;
                    }
                    _ => {}
                }
            }
            let Some((number, refutations)) = single else { return };
            let Some(disjunct) = refutations.iter().position(|row| row.is_none()) else { return };
            // The one that is left must hold; its rows were bounded already.
            item.subproblem.choices.push((number as u32, disjunct as u32));
            item.core = self.logic.core(&item.subproblem.choices);
            item.steps.push(Step::Choice(number, refutations));
        }
    }

    /// Whether a row alone closes a subproblem.
    pub(super) fn refuted(&self, item: &Item, row: usize) -> bool {
        let own = item.rows.iter().find(|own| own.row == row);
        own.is_some_and(|own| refutes(&self.logic.rows[row], own.bound))
    }

    /// Points to try: the middle of each open box, and where the bounds of its rows and columns are smallest.
    pub(super) fn points(&self, items: &[Item], optimised: &[Alternatives]) -> (Vec<f64>, usize) {
        let mut points: Vec<Vec<f64>> = Vec::new();
        for (item, optimised) in items.iter().zip(optimised).filter(|(item, _)| item.result.is_none()) {
            let subproblem = &item.subproblem;
            let lines = item.rows.iter().take(MOST_COLUMNS).map(|own| &own.linear.slopes);
            for slopes in lines.chain(optimised.iter().map(|(_, optimised)| &optimised.slopes)) {
                let ends = slopes.iter().zip(subproblem.lower.iter().zip(&subproblem.upper));
                points.push(
                    ends.map(|(&slope, (&low, &high))| {
                        if slope > 0.0 {
                            low
                        } else if slope < 0.0 {
                            high
                        } else {
                            low / 2.0 + high / 2.0
                        }
                    })
                    .collect(),
                );
            }
            points.push(
                subproblem.lower.iter().zip(&subproblem.upper).map(|(low, high)| low / 2.0 + high / 2.0).collect(),
            );
            points.extend(item.lp_bounds.iter().flat_map(|relaxed| relaxed.points.iter().cloned()));
        }
        let count = points.len();
        let inputs = self.program.inputs;
        let flat = (0..inputs).flat_map(|input| points.iter().map(move |point| point[input])).collect();
        (flat, count)
    }
}
