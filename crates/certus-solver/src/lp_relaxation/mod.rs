//! LP relaxation of a subproblem: the best bound that the linear relaxations allow.
//!
//! Over a box, every curve lies between lines and every product between planes; for ReLU with both lower lines this is
//! the triangle relaxation (Ehlers, *Formal Verification of Piece-Wise Linear Feed-Forward Neural Networks*, ATVA 2017). All
//! values that these and the split constraints allow form a polyhedron over the inputs and the unstable neurons, and a
//! linear program finds the smallest s for which every row can be ≤ s in it.
//!
//! *Duality, and soundness.* The dual of this program is a backward bound (Salman, Yang, Zhang, Hsieh, Zhang, *A Convex
//! Relaxation Barrier to Tight Robustness Verification of Neural Networks*, NeurIPS 2019): the multipliers of the rows and
//! split constraints are a [`Goal`], and the multipliers of a neuron's lines say which α to take. So the ordinary backward
//! bound with these numbers is as good as the program's optimum, and that bound alone is believed: nothing here is trusted,
//! and an inexact solution costs a little of the bound and no soundness.
//!
//! *Branching.* Where the optimum is not positive, its point is a candidate for the attack, and the neurons whose value there
//! is furthest from their curve are the ones worth splitting. Strong branching (Applegate, Bixby, Chvátal, Cook, *Finding Cuts
//! in the TSP*, 1995; Achterberg, Koch, Martin, *Branching Rules Revisited*, Operations Research Letters 2005) tries the best
//! of them out on both sides.
//!
//! *Ties.* A subproblem is *tied* where there is room for neither proof nor witness, and splitting it further is of no use:
//! the bound is zero up to rounding and the point reaches it; or bounds cannot refute even that single point, so that no
//! subproblem around it will ever be verified, and nothing in it is below zero by more than single precision rounds.
//!
//! * [`expressions`]: every element as an affine function of the variables;
//! * [`problem`]: the program, its solution, and strong branching;
//! * [`simplex`]: the dual simplex method that solves it;
//! * [`candidates`]: points near the solution that are easier on rounding.

mod candidates;
mod expressions;
mod problem;
mod simplex;
#[cfg(test)]
mod tests;

pub(crate) use self::expressions::count_unstable;

use self::candidates::{around, judge};
use self::expressions::Expressions;
use self::problem::{Origin, Problem, Solution};
use crate::bound::branching_scores::Split;
use crate::bound::goal::{Goal, Row};
use crate::bound::optimise_slopes::{OptimisedBound, certify};
use crate::bound::program::{Program, Role};
use crate::bound::table::Bounds;
use crate::relaxation::Alpha;

/// What a linear program says of a subproblem.
pub(crate) struct LpBound {
    /// The backward bound with the program's multipliers and alphas.
    pub(crate) optimised: OptimisedBound,
    /// Points at which the rows may hold.
    pub(crate) points: Vec<Vec<f64>>,
    /// Elements to split, the most promising first.
    pub(crate) splits: Vec<Split>,
    /// The rows reach zero and no further, as far as floats can tell.
    pub(crate) tied: bool,
}

/// Single precision rounds so much more coarsely than bounds do; that a bound takes the worst for granted is worth a few bits of it.
const COARSER: f64 = (1 << 26) as f64;

/// The solution's values are as accurate as this, as a share of how much the rows vary.
const ACCURACY: f64 = 1e-9;

/// A bound that is no further below zero than this share of how much the rows vary, or so many times what rounding costs at a point, would
/// be positive if the program's optimum were.
const TOUCH: f64 = 1e-12;
const ROUNDINGS: f64 = 4096.0;

/// Bounds the goal over the one box of a table by a linear program of at most `most` variables. The best of so many splits is
/// found by trying them out.
#[tracing::instrument(level = "debug", name = "LP relaxation", skip_all)]
pub(crate) fn relax(
    program: &Program,
    bounds: &mut Bounds,
    rows: &[Row],
    goal: &Goal,
    most: usize,
    trials: usize,
    keep_alphas: bool,
) -> Option<LpBound> {
    let in_rows = goal.rows.iter().flat_map(|&(row, _)| rows[row].terms.iter().map(|term| term.0));
    let last = in_rows.chain(goal.multipliers.iter().map(|multiplier| multiplier.node)).max()?;
    let own = Expressions::new(program, bounds, last, most)?;
    let problem = Problem::new(program, bounds, rows, goal, &own);
    let solution = problem.solve(goal.fixed.is_none())?;
    let (found, alphas) = multipliers(&own, goal, &solution);
    debug_assert!(found.is_nonnegative(), "a multiplier of the linear program is negative: {found:?}");
    let mut relaxed =
        LpBound { optimised: OptimisedBound::default(), points: Vec::new(), splits: Vec::new(), tied: false };
    relaxed.optimised = certify(program, bounds, rows, found, &alphas, keep_alphas);
    if solution.value.is_infinite() {
        return Some(relaxed);
    }
    relaxed.splits = splits(program, bounds, &own, &solution);
    if trials > 0 && goal.fixed.is_none() && relaxed.optimised.bound <= 0.0 {
        let place = |split: &Split| {
            own.variables.iter().position(|own| reads(program, own.node, split.node) && own.element == split.element)
        };
        let worth =
            |split: &Split| problem.strong_branching_score(program, bounds, &own, &solution, place(split)?, split.at);
        let mut tried: Vec<Split> = relaxed.splits.iter().take(trials).copied().collect();
        tried.iter_mut().for_each(|split| split.score = worth(split).unwrap_or(0.0));
        tried.sort_by(|a, b| b.score.total_cmp(&a.score));
        relaxed.splits.splice(..tried.len(), tried);
    }
    let point = point(program, bounds, &own, &solution);
    match judge(program, rows, goal, &point, last).filter(|_| goal.fixed.is_none()) {
        Some(judgement) => {
            let bound = relaxed.optimised.bound;
            let near = |value: f64| value.abs() <= COARSER * judgement.rounding;
            let hidden = !judgement.refuted && near(bound) && near(judgement.largest);
            let reached = judgement.largest <= ACCURACY * solution.scale;
            let touched = reached && -bound <= (TOUCH * solution.scale).max(ROUNDINGS * judgement.rounding);
            relaxed.tied = bound <= 0.0 && (hidden || touched);
            relaxed.points = if reached || !judgement.refuted { around(&point, bounds, program) } else { vec![point] };
        }
        None => relaxed.points.push(point),
    }
    Some(relaxed)
}

/// Whether a node is a curve of another one.
fn reads(program: &Program, node: usize, argument: usize) -> bool {
    matches!(&program.roles[node], Role::Curve(_, own) if *own == argument)
}

/// The goal and the alphas that the dual solution stands for.
fn multipliers(own: &Expressions, goal: &Goal, solution: &Solution) -> (Goal, Vec<(usize, usize, Alpha)>) {
    let mut found = goal.clone();
    found.rows.iter_mut().for_each(|(_, weight)| *weight = 0.0);
    found.multipliers.iter_mut().for_each(|multiplier| multiplier.weight = 0.0);
    // Per variable and side: the sum of the multipliers, and of these times the alphas.
    let mut sums = vec![[(0.0, 0.0); 2]; own.variables.len()];
    for &(origin, dual) in &solution.duals {
        match origin {
            Origin::Range => {}
            Origin::Row(place) => found.rows[place].1 = dual,
            Origin::Multiplier(place) => found.multipliers[place].weight = dual,
            Origin::Below(variable, alpha) => add(&mut sums[variable][0], dual, alpha),
            Origin::Above(variable, alpha) => add(&mut sums[variable][1], dual, alpha),
        }
    }
    let all = found.rows.iter().map(|row| row.1).chain(found.multipliers.iter().map(|multiplier| multiplier.weight));
    let total = match goal.fixed {
        // The objective keeps its weight of one.
        Some(fixed) => found.rows.iter().find(|row| row.0 == fixed).map_or(0.0, |row| row.1),
        None => found.rows.iter().map(|row| row.1).sum(),
    };
    // A ray of an infeasible program has no size of its own, and perhaps no rows.
    let unit = if solution.value.is_finite() && total > 0.0 { total } else { all.fold(0.0, f64::max) };
    if unit > 0.0 && unit.is_finite() {
        found.rows.iter_mut().for_each(|(_, weight)| *weight /= unit);
        found.multipliers.iter_mut().for_each(|multiplier| multiplier.weight /= unit);
    }
    let alphas = own.variables.iter().zip(&sums).map(|(variable, sums)| {
        let [lower, upper] = sums.map(|(sum, weighted)| if sum > 0.0 { weighted / sum } else { f64::NAN });
        (variable.node, variable.element, Alpha { lower, upper })
    });
    (found, alphas.collect())
}

fn add(sums: &mut (f64, f64), dual: f64, alpha: f64) {
    sums.0 += dual;
    sums.1 += dual * alpha;
}

/// The inputs of the solution.
fn point(program: &Program, bounds: &Bounds, own: &Expressions, solution: &Solution) -> Vec<f64> {
    let mut point = vec![0.0; program.inputs];
    for (node, role) in program.roles.iter().enumerate() {
        let Role::Input(offset) = role else { continue };
        for element in 0..program.sizes[node] {
            let range = bounds.interval(node, element, 0);
            point[offset + element] = range.lo / 2.0 + range.hi / 2.0;
        }
    }
    for (variable, value) in own.variables.iter().zip(&solution.at) {
        if let Role::Input(offset) = program.roles[variable.node] {
            let range = bounds.interval(variable.node, variable.element, 0);
            let value = variable.middle + variable.half * value;
            point[offset + variable.element] = value.max(range.lo).min(range.hi);
        }
    }
    point
}

/// The elements whose values in the solution are far from their curves, by what that costs the bound.
fn splits(program: &Program, bounds: &Bounds, own: &Expressions, solution: &Solution) -> Vec<Split> {
    let mut beta_terms = vec![0.0; own.variables.len()];
    for &(origin, dual) in &solution.duals {
        match origin {
            Origin::Below(variable, _) => beta_terms[variable] += dual,
            Origin::Above(variable, _) => beta_terms[variable] -= dual,
            _ => {}
        }
    }
    let mut splits = Vec::new();
    for (variable, beta) in own.variables.iter().zip(beta_terms) {
        let (node, element) = (variable.node, variable.element);
        let value = |node: usize| own.value(node, element, &solution.at);
        match &program.roles[node] {
            Role::Curve(curve, argument) => {
                let Some(at) = curve.split_point(bounds.interval(*argument, element, 0)) else { continue };
                let score = beta.abs() * (curve.value(value(*argument)) - value(node)).abs();
                splits.push(Split { node: *argument, element, at, score });
            }
            Role::Product(left, right) => {
                let score = beta.abs() * (value(*left) * value(*right) - value(node)).abs();
                let (x, y) = (bounds.interval(*left, element, 0), bounds.interval(*right, element, 0));
                let (factor, range) = if x.width() >= y.width() { (*left, x) } else { (*right, y) };
                splits.push(Split { node: factor, element, at: range.lo / 2.0 + range.hi / 2.0, score });
            }
            _ => {}
        }
    }
    splits.retain(|split| split.score.is_finite());
    splits.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.node.cmp(&b.node)).then(a.element.cmp(&b.element)));
    splits
}
