//! What bounds say of a batch of parts: closed, smaller, or cut.

use std::sync::Arc;

use certus_graph::eval::enclose_nodes;
use certus_graph::{Fault, Interval};

use super::clip::{Line, combine};
use super::logic::{Core, Group, Logic};
use super::part::Part;
use super::proof::{Combination, Record, Tree};
use crate::bound::backward::{Objectives, minimise};
use crate::bound::program::{Program, Role};
use crate::bound::refine::{Known, Outline, Refinement, bound_parts};
use crate::bound::table::Bounds;
use crate::bound::tune::{Climb, Cut, Goal, Row, Tuned, add_rows, tune};
use crate::linear_program::{Relaxed, bending, relax};
use crate::query::Region;

/// How a search cuts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Strategy {
    /// Inputs; bounds are refined in every part.
    Inputs,
    /// Elements that curves and products read; bounds are refined once.
    Nodes,
    /// The same, where linear programs choose them: few parts, each of which takes long.
    Programs,
}

impl Strategy {
    /// Whether elements are cut, not inputs.
    pub(crate) fn cuts_elements(self) -> bool {
        self != Strategy::Inputs
    }

    /// For how many parts one counts.
    pub(crate) fn cost(self) -> u64 {
        if self == Strategy::Programs { 16 } else { 1 }
    }
}

/// The influence that an input is given beyond what the bounds show, as a share of the mean; measured on ACAS Xu, where
/// 0.03 to 0.1 serve the properties with large and with small regions alike.
const UNSEEN_INFLUENCE: f64 = 0.05;

/// Inputs up to which parts are clipped by bounds that were inherited.
const FEW_TO_CLIP: usize = 64;

/// A box that a clip leaves smaller than this share of itself is bounded again before it is cut.
const WORTH_ANOTHER_LOOK: f64 = 0.6;

/// Disjuncts of one disjunction that get a tuned bound of their own in one go.
const MOST_COLUMNS: usize = 16;

/// A linear program has at most so many variables: inputs, and elements that bend.
const MOST_VARIABLES: usize = 60;

/// The same for the strategy that is made of linear programs.
pub(crate) const LARGE_PROGRAM: usize = 200;

/// Cuts that this strategy tries out before it chooses one.
const TRIED_CUTS: usize = 24;

/// Linear programs are for parts below this share of the region, and for those inside them that cut elements.
const DEEP: f64 = 1e-3;

/// They are for parts with at most so many elements that bend, when inputs are cut and when elements are. On ACAS Xu programs of this size
/// cost about what they save; larger ones cost more.
const FEW_BENDS_OF_INPUTS: usize = 16;
const FEW_BENDS_OF_NODES: usize = 8;

/// A box with this share of the region's width in every input is too small for cutting inputs to help.
const TINY_WIDTH: f64 = 1e-7;

/// Bounds that a certificate rests on stay this share of their size away from zero.
const CERTIFIED_DIGITS: f64 = 1e-10;

/// What a search knows beside its parts.
pub(crate) struct Context<'a> {
    pub(crate) program: &'a Program,
    pub(crate) logic: &'a Logic,
    pub(crate) region: &'a Region,
    pub(crate) strategy: Strategy,
    /// Steps of tuning per part.
    pub(crate) steps: usize,
    /// Whether leans are kept for a certificate.
    pub(crate) certify: bool,
    /// The row that bounds an objective, and stays in every combination.
    pub(crate) objective: Option<usize>,
}

/// What a batch gave.
pub(crate) struct Examined {
    pub(crate) trees: Vec<Tree<Part>>,
    /// Points that are worth a try, element-major.
    pub(crate) points: Vec<f64>,
    pub(crate) point_count: usize,
    /// About how many multiplications that took.
    pub(crate) effort: u64,
}

/// A bound of one row over one part.
struct RowBound {
    row: usize,
    bound: f64,
    line: Line,
}

/// A part on its way through the stages.
struct Item {
    part: Part,
    core: Core,
    /// What was done so far, outermost first.
    steps: Vec<Step>,
    rows: Vec<RowBound>,
    /// What linear programs say of the ways in which the part may still hold.
    relaxed: Vec<Relaxed>,
    /// Whether cutting elements makes it linear soon.
    phases: bool,
    result: Option<Tree<Part>>,
}

/// Something that was done to a part before its fate was known.
enum Step {
    Record(Record),
    /// A disjunction of which all disjuncts but one are closed, each by a row.
    Choice(usize, Vec<Option<usize>>),
}

/// A tree behind the steps that led to it.
fn behind(tree: Tree<Part>, steps: Vec<Step>) -> Tree<Part> {
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
fn leaf(row: usize) -> Tree<Part> {
    Tree::Leaf(Record::Close(Combination::row(row)))
}

fn refutes(row: &Row, bound: f64) -> bool {
    if row.strict { bound >= 0.0 } else { bound > 0.0 }
}

impl Context<'_> {
    /// Examines a batch; nothing when stopped.
    pub(crate) fn examine(&self, parts: Vec<Part>, stop: &dyn Fn() -> bool) -> Option<Examined> {
        let refine = parts.first().is_some_and(|part| part.refine);
        let mut items: Vec<Item> = parts
            .into_iter()
            .map(|part| {
                let core = self.logic.core(&part.choices);
                let record = if refine { Record::Refine(self.strategy.cuts_elements()) } else { Record::Bound };
                let steps = vec![Step::Record(record)];
                Item { part, core, steps, rows: Vec::new(), relaxed: Vec::new(), phases: false, result: None }
            })
            .collect();
        let outlines: Vec<Outline<'_>> = items
            .iter()
            .map(|item| Outline {
                lower: &item.part.lower,
                upper: &item.part.upper,
                ranges: item.part.ranges.iter().copied().chain(self.logic.ranges(&item.core.rows)).collect(),
                inherited: item.part.known.as_deref(),
            })
            .collect();
        // A certificate's checker repeats intervals and backward bounds only.
        let how = match (refine, self.certify) {
            (false, _) => Refinement::Nothing,
            (true, true) => Refinement::Backward,
            (true, false) => Refinement::Forward,
        };
        let bounds = bound_parts(self.program, &outlines, how, stop)?;
        drop(outlines);
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
            if refine && self.strategy.cuts_elements() {
                item.part.known = Some(Arc::new(Known::of(self.program, &bounds, index)));
                item.part.refine = false;
            }
            self.refute(item);
            // With many inputs a clip is dear, and bounds that were not refined hardly clip at all.
            if item.result.is_none()
                && (refine || self.strategy == Strategy::Inputs || self.program.inputs <= FEW_TO_CLIP)
            {
                self.clip(item);
            }
        }
        let tuned = self.tune_items(&mut items, &bounds, stop);
        let (points, point_count) = self.points(&items, &tuned);
        let mut trees = Vec::with_capacity(items.len());
        for (index, (item, tuned)) in items.into_iter().zip(tuned).enumerate() {
            trees.push(self.conclude(item, tuned, &bounds, index));
        }
        let tuned = trees.len() * 2 * (self.steps + 1) * self.program.graph.parameters();
        let effort = bounds.effort + tuned as u64;
        Some(Examined { trees, points, point_count, effort })
    }

    /// A part in which some element has no value left is closed if anything but its box restricts it. A box has points,
    /// so bounds over a box alone that do not meet contradict each other.
    fn without_values(&self, item: &Item) -> Tree<Part> {
        let part = &item.part;
        if self.is_restricted(item) || part.lower.iter().zip(&part.upper).any(|(low, high)| low > high) {
            return Tree::Leaf(Record::Empty);
        }
        Fault::raise(
            "two bounds of one value over a box do not meet",
            format!("the box from {:?} to {:?}, {:?}", part.lower, part.upper, self.strategy),
        );
        Tree::Stuck
    }

    /// Whether anything but its box restricts a part: ranges of elements, or bounds that are taken from a part with such ranges.
    fn is_restricted(&self, item: &Item) -> bool {
        let ranges = self.logic.ranges(&item.core.rows).next();
        !item.part.ranges.is_empty() || item.part.known.is_some() || ranges.is_some()
    }

    /// That the values in the middle of a box are within the bounds over all of it; only where nothing else restricts the part.
    fn bounds_hold_in_the_middle(&self, item: &Item, bounds: &Bounds, index: usize) -> bool {
        let ends = item.part.lower.iter().zip(&item.part.upper);
        let middle: Vec<Interval> = ends.map(|(low, high)| Interval::point(low / 2.0 + high / 2.0)).collect();
        let finite = item.part.lower.iter().chain(&item.part.upper).all(|end| end.is_finite());
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

    /// Bounds every row that matters to a part, each alone.
    fn bound_rows(&self, items: &mut [Item], bounds: &Bounds, stop: &dyn Fn() -> bool) -> Option<()> {
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
                let line = Line {
                    slopes: lower.inputs.iter().skip(column).step_by(wanted.len()).copied().collect(),
                    constant: lower.constants[column],
                };
                let bound = lower.bounds[column] - self.margin(line.constant);
                let bound = bound.max(self.enclosed(row, bounds, index).lo);
                items[index].rows.push(RowBound { row, bound, line });
            }
        }
        Some(())
    }

    /// A row's range from the enclosures of its elements alone: exact where nothing was rounded.
    fn enclosed(&self, row: usize, bounds: &Bounds, index: usize) -> Interval {
        let row = &self.logic.rows[row];
        row.terms.iter().fold(Interval::point(row.constant), |sum, &(node, element, coefficient, radius)| {
            sum + Interval::point(coefficient).widen(radius) * bounds.interval(node, element, index)
        })
    }

    /// Closes a part by single rows, and drops disjuncts that cannot hold.
    fn refute(&self, item: &mut Item) {
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
            item.part.choices.push((number as u32, disjunct as u32));
            item.core = self.logic.core(&item.part.choices);
            item.steps.push(Step::Choice(number, refutations));
        }
    }

    /// Whether a row alone closes a part.
    fn refuted(&self, item: &Item, row: usize) -> bool {
        let own = item.rows.iter().find(|own| own.row == row);
        own.is_some_and(|own| refutes(&self.logic.rows[row], own.bound))
    }

    /// Shrinks the box to where the core rows can hold.
    fn clip(&self, item: &mut Item) {
        let (mut lower, mut upper) = (item.part.lower.clone(), item.part.upper.clone());
        for _ in 0..2 {
            let mut moved = false;
            for own in item.rows.iter().filter(|own| item.core.rows.binary_search(&own.row).is_ok()) {
                let minimum = own.line.minimum(&lower, &upper) - self.margin(own.line.constant);
                if refutes(&self.logic.rows[own.row], minimum) {
                    item.result = Some(leaf(own.row));
                    (item.part.lower, item.part.upper) = (lower, upper);
                    return;
                }
                let claims = own.line.clip(&mut lower, &mut upper);
                if !claims.is_empty() {
                    moved = true;
                    item.steps.push(Step::Record(Record::Clip(Combination::row(own.row), claims)));
                }
            }
            if !moved {
                break;
            }
        }
        (item.part.lower, item.part.upper) = (lower, upper);
    }

    /// Whether a part's box is next to nothing.
    fn tiny(&self, part: &Part) -> bool {
        let ends = part.lower.iter().zip(&part.upper).zip(self.region.lower.iter().zip(&self.region.upper));
        ends.into_iter().all(|((low, high), (first, last))| high - low <= TINY_WIDTH * (last - first))
    }

    /// Whether a clip left so little of a box that it is bounded again before anything else.
    fn shrank(&self, before: &Bounds, index: usize, part: &Part) -> bool {
        self.left(before, index, part) < WORTH_ANOTHER_LOOK && !self.tiny(part)
    }

    /// What share of a box is left, by the side that shrank most.
    fn left(&self, before: &Bounds, index: usize, part: &Part) -> f64 {
        let mut left = 1.0;
        for (node, role) in self.program.roles.iter().enumerate() {
            let Role::Input(offset) = role else { continue };
            for element in 0..self.program.sizes[node] {
                let width = before.interval(node, element, index).width();
                let now = part.upper[offset + element] - part.lower[offset + element];
                if width > 0.0 && width.is_finite() {
                    left *= (now / width).min(1.0);
                }
            }
        }
        left
    }

    /// Tunes what is still open: one column for a part without open disjunctions, otherwise one for each disjunct of its smallest.
    fn tune_items(&self, items: &mut [Item], bounds: &Bounds, stop: &dyn Fn() -> bool) -> Vec<Vec<(usize, Tuned)>> {
        let mut picks = Vec::new();
        let mut goals = Vec::new();
        let mut owners: Vec<(usize, usize)> = Vec::new();
        for (index, item) in items.iter().enumerate() {
            if item.result.is_some() || self.shrank(bounds, index, &item.part) {
                continue;
            }
            for (disjunct, rows) in self.alternatives(item, bounds, index) {
                let lines: Vec<&Line> = rows
                    .iter()
                    .filter_map(|&row| item.rows.iter().find(|own| own.row == row))
                    .map(|own| &own.line)
                    .collect();
                let (weights, _) = combine(&lines, &item.part.lower, &item.part.upper);
                let mut rows: Vec<(usize, f64)> = rows.into_iter().zip(weights).collect();
                if let Some(objective) = self.objective {
                    rows.iter_mut().for_each(|(row, weight)| *weight = if *row == objective { 1.0 } else { 0.0 });
                }
                let multipliers = Goal::multipliers_of(&item.part.ranges, &item.part.warm);
                picks.push(index);
                owners.push((index, disjunct));
                goals.push(Goal { rows, multipliers, fixed: self.objective });
            }
        }
        let mut results: Vec<Vec<(usize, Tuned)>> = items.iter().map(|_| Vec::new()).collect();
        if picks.is_empty() {
            return results;
        }
        let mut own = bounds.pick(&picks);
        // The box may have been clipped since its bounds were computed.
        for (node, role) in self.program.roles.iter().enumerate() {
            let Role::Input(offset) = role else { continue };
            for element in 0..self.program.sizes[node] {
                for (column, &index) in picks.iter().enumerate() {
                    let part = &items[index].part;
                    let range = Interval { lo: part.lower[offset + element], hi: part.upper[offset + element] };
                    own.tighten(node, element, column, range);
                }
            }
        }
        let cuts = if self.strategy.cuts_elements() { 4 } else { 0 };
        let climb = Climb { steps: self.steps, keep_leans: self.certify, cuts };
        let tuned = tune(self.program, &mut own, &self.logic.rows, goals, climb, stop);
        for (column, ((owner, disjunct), tuned)) in owners.into_iter().zip(tuned).enumerate() {
            let tuned = if stop() { tuned } else { self.relax(&mut items[owner], tuned, &own, column) };
            results[owner].push((disjunct, tuned));
        }
        results
    }

    /// The better of a tuned bound and a linear program's, where that is worth its time.
    fn relax(&self, item: &mut Item, tuned: Tuned, bounds: &Bounds, column: usize) -> Tuned {
        let small = item.part.share < DEEP || !item.part.ranges.is_empty() || self.tiny(&item.part);
        if self.closes(&tuned) || !(small || self.strategy == Strategy::Programs) {
            return tuned;
        }
        let (bends, kinked) = bending(self.program, bounds, column);
        let (few, most) = match self.strategy {
            Strategy::Programs => (LARGE_PROGRAM, LARGE_PROGRAM),
            // Kinks that meet in a point stay however small the box around it is.
            _ if self.tiny(&item.part) => (MOST_VARIABLES, MOST_VARIABLES),
            Strategy::Inputs => (FEW_BENDS_OF_INPUTS, MOST_VARIABLES),
            Strategy::Nodes => (FEW_BENDS_OF_NODES, MOST_VARIABLES),
        };
        item.phases = kinked && bends <= few;
        if !item.phases || bends + self.program.inputs > most {
            return tuned;
        }
        let goal = Goal { rows: tuned.rows.clone(), multipliers: tuned.multipliers.clone(), fixed: self.objective };
        let mut own = bounds.pick(&[column]);
        let rows = &self.logic.rows;
        let trials = if self.strategy == Strategy::Programs { TRIED_CUTS } else { 0 };
        let Some(mut relaxed) = relax(self.program, &mut own, rows, &goal, most, trials, self.certify) else {
            return tuned;
        };
        let found = std::mem::take(&mut relaxed.tuned);
        if !self.closes(&found) {
            item.relaxed.push(relaxed);
        }
        // Without the whole objective a bound says nothing of it, but it may close the part.
        let whole = self.objective.is_none_or(|objective| found.rows.contains(&(objective, 1.0)));
        let better = found.bound > tuned.bound && (whole || self.closes(&found));
        if better { Tuned { cuts: tuned.cuts, ..found } } else { tuned }
    }

    /// Whether a bound closes its part.
    fn closes(&self, tuned: &Tuned) -> bool {
        let strict = tuned.rows.iter().any(|&(row, weight)| weight > 0.0 && self.logic.rows[row].strict);
        let bound = tuned.bound - self.margin(tuned.constant);
        bound > 0.0 || (strict && bound >= 0.0)
    }

    /// What a bound loses when others compute it their way: a certificate should not depend on the last digits.
    fn margin(&self, size: f64) -> f64 {
        if self.certify { CERTIFIED_DIGITS * size.abs() } else { 0.0 }
    }

    /// The disjunction that is looked at next.
    fn next_disjunction(&self, item: &Item) -> Option<usize> {
        item.core.pending.iter().copied().min_by_key(|&number| self.logic.disjunctions[number].len())
    }

    /// The rows of each way in which a part may still hold, with the disjunct that it is.
    fn alternatives(&self, item: &Item, bounds: &Bounds, index: usize) -> Vec<(usize, Vec<usize>)> {
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

    /// Points to try: the middle of each open box, and where the bounds of its rows and columns are smallest.
    fn points(&self, items: &[Item], tuned: &[Vec<(usize, Tuned)>]) -> (Vec<f64>, usize) {
        let mut points: Vec<Vec<f64>> = Vec::new();
        for (item, tuned) in items.iter().zip(tuned).filter(|(item, _)| item.result.is_none()) {
            let part = &item.part;
            let lines = item.rows.iter().take(MOST_COLUMNS).map(|own| &own.line.slopes);
            for slopes in lines.chain(tuned.iter().map(|(_, tuned)| &tuned.line)) {
                let ends = slopes.iter().zip(part.lower.iter().zip(&part.upper));
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
            points.push(part.lower.iter().zip(&part.upper).map(|(low, high)| low / 2.0 + high / 2.0).collect());
            points.extend(item.relaxed.iter().flat_map(|relaxed| relaxed.points.iter().cloned()));
        }
        let count = points.len();
        let inputs = self.program.inputs;
        let flat = (0..inputs).flat_map(|input| points.iter().map(move |point| point[input])).collect();
        (flat, count)
    }

    /// What becomes of a part after all that was tried.
    fn conclude(&self, mut item: Item, tuned: Vec<(usize, Tuned)>, bounds: &Bounds, index: usize) -> Tree<Part> {
        if let Some(tree) = item.result {
            return behind(tree, item.steps);
        }
        let closed = |tuned: &Tuned| self.closes(tuned);
        let close = |tuned: &Tuned| Tree::Leaf(Record::Close(Combination::tuned(tuned)));
        if !tuned.is_empty() {
            let bound = tuned.iter().map(|(_, tuned)| tuned.bound).fold(f64::INFINITY, f64::min);
            item.part.bound = item.part.bound.max(bound);
        }
        if let Some(row) = self.objective.and_then(|row| item.rows.iter().find(|own| own.row == row)) {
            item.part.bound = item.part.bound.max(row.bound);
        }
        match (self.next_disjunction(&item), tuned.as_slice()) {
            (_, []) => {}
            (None, [(_, only), ..]) => {
                if closed(only) {
                    return behind(close(only), item.steps);
                }
                item.part.warm.clone_from(&only.multipliers);
                if self.strategy == Strategy::Inputs {
                    // A tuned bound clips too.
                    let line = Line { slopes: only.line.clone(), constant: only.constant };
                    let claims = line.clip(&mut item.part.lower, &mut item.part.upper);
                    if !claims.is_empty() {
                        item.steps.push(Step::Record(Record::Clip(Combination::tuned(only), claims)));
                    }
                }
            }
            (Some(number), columns) => {
                let open = columns.iter().filter(|(_, tuned)| !closed(tuned)).count();
                if open <= 1 || self.strategy.cuts_elements() {
                    let share = item.part.share / open.max(1) as f64;
                    let child = |(disjunct, group): (usize, &Group)| {
                        let Some((_, tuned)) = columns.iter().find(|(own, _)| *own == disjunct) else {
                            let row = group.atoms.iter().copied().find(|&row| self.refuted(&item, row));
                            return row.map_or(Tree::Stuck, leaf);
                        };
                        if closed(tuned) {
                            return close(tuned);
                        }
                        let mut part = self.with_choice(&item.part, number, disjunct);
                        part.share = share;
                        part.bound = item.part.bound.max(tuned.bound);
                        part.warm.clone_from(&tuned.multipliers);
                        Tree::Open(part)
                    };
                    let children = self.logic.disjunctions[number].iter().enumerate().map(child).collect();
                    return behind(Tree::Branch(Record::Either(number), children), item.steps);
                }
            }
        }
        if self.shrank(bounds, index, &item.part) {
            return behind(Tree::Open(item.part), item.steps);
        }
        let steps = std::mem::take(&mut item.steps);
        // Every way in which the part may hold touches zero, and no other disjunction can tell.
        let open = tuned.iter().filter(|(_, tuned)| !closed(tuned)).count();
        let tied = item.relaxed.iter().filter(|relaxed| relaxed.tied).count();
        if tied > 0 && tied == open && item.core.pending.len() <= 1 {
            return behind(Tree::Stuck, steps);
        }
        behind(self.cut(item, &tuned, bounds, index), steps)
    }

    /// Cuts a part in two.
    fn cut(&self, item: Item, tuned: &[(usize, Tuned)], bounds: &Bounds, index: usize) -> Tree<Part> {
        if (self.strategy.cuts_elements() || item.phases)
            && let Some(tree) = self.cut_node(&item, tuned, bounds, index)
        {
            return tree;
        }
        if let Some(tree) = self.cut_input(&item, tuned) {
            return tree;
        }
        if self.strategy == Strategy::Inputs
            && let Some(tree) = self.cut_node(&item, tuned, bounds, index)
        {
            return tree;
        }
        self.choose(item)
    }

    /// Takes a disjunction apart when nothing else is left to cut.
    fn choose(&self, item: Item) -> Tree<Part> {
        let Some(&number) = item.core.pending.first() else { return Tree::Stuck };
        let count = self.logic.disjunctions[number].len();
        let trees = (0..count).map(|disjunct| {
            let mut part = self.with_choice(&item.part, number, disjunct);
            part.share /= count as f64;
            Tree::Open(part)
        });
        Tree::Branch(Record::Either(number), trees.collect())
    }

    /// The part in which a disjunct holds. Where that fixes ranges of elements (the label of a choice, say), what was known of
    /// all that comes after them is too little.
    fn with_choice(&self, part: &Part, number: usize, disjunct: usize) -> Part {
        let mut part = part.clone();
        part.choices.push((number as u32, disjunct as u32));
        part.refine |= self.logic.ranges(&self.logic.disjunctions[number][disjunct].atoms).next().is_some();
        part
    }

    fn cut_node(&self, item: &Item, tuned: &[(usize, Tuned)], bounds: &Bounds, index: usize) -> Option<Tree<Part>> {
        let relaxed = item.relaxed.iter().flat_map(|relaxed| &relaxed.cuts);
        let mut cuts = relaxed.chain(tuned.iter().flat_map(|(_, tuned)| &tuned.cuts));
        let valid = |cut: &&Cut| {
            let range = bounds.interval(cut.node, cut.element, index);
            range.lo < cut.at && cut.at < range.hi
        };
        let cut = cuts.find(valid)?;
        let child = |lo: f64, hi: f64| {
            let mut part = item.part.restricted(cut.node, cut.element, lo, hi);
            part.share /= 2.0;
            Tree::Open(part)
        };
        let children = vec![child(f64::NEG_INFINITY, cut.at), child(cut.at, f64::INFINITY)];
        Some(Tree::Branch(Record::SplitNode(cut.node, cut.element, cut.at), children))
    }

    fn cut_input(&self, item: &Item, tuned: &[(usize, Tuned)]) -> Option<Tree<Part>> {
        let part = &item.part;
        let inputs = self.program.inputs;
        let mut influence = vec![0.0; inputs];
        for slopes in item.rows.iter().map(|own| &own.line.slopes).chain(tuned.iter().map(|(_, tuned)| &tuned.line)) {
            influence.iter_mut().zip(slopes).for_each(|(sum, slope)| *sum += slope.abs());
        }
        // Over large boxes the bounds are loose and hide some inputs altogether; a share of the mean keeps those in play.
        let mean = influence.iter().sum::<f64>() / inputs.max(1) as f64;
        let floor = if mean.is_finite() { UNSEEN_INFLUENCE * mean } else { 0.0 } + f64::MIN_POSITIVE;
        let mut best: Option<(usize, f64, f64)> = None;
        for (input, own) in influence.iter().enumerate() {
            let (low, high) = (part.lower[input], part.upper[input]);
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
            let mut part = part.clone();
            if upper {
                part.lower[input] = middle
            } else {
                part.upper[input] = middle
            }
            part.share /= 2.0;
            Tree::Open(part)
        };
        Some(Tree::Branch(Record::SplitInput(input, middle), vec![child(false), child(true)]))
    }
}
