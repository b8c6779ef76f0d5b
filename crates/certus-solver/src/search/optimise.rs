//! Branch and bound for the maximum of a linear function of a graph's inputs and outputs where a formula holds.
//!
//! The objective f becomes one more row, `t − f ≤ 0`, whose threshold t is the best value found so far (the *incumbent*)
//! plus the gap that is allowed: subproblems in which it cannot hold are pruned. A subproblem's bound of that row is a bound
//! of f over it, so the largest one over the open subproblems and t together bound the maximum from above. Subproblems with
//! the largest bound come first (best-first search; Land and Doig, *An Automatic Method of Solving Discrete Programming
//! Problems*, Econometrica 1960).

use certus_graph::eval::enclose;
use certus_graph::interval::{add_down, sub_down};
use certus_graph::{Fault, GraphError, Interval};

use super::run::{Ended, Run};
use super::strategy::Strategy;
use super::{Budget, Search, Watcher, strategies};
use crate::answer::{Progress, UnknownReason, Witness};
use crate::attack::{Attack, falsify};
use crate::bound::goal::Row;
use crate::formula::{Atom, Formula, Linear};
use crate::query::{Query, QueryError};
use crate::vnnlib::Variable;

/// PGD restarts that look for a better point at a time; after how many subproblems they begin (then after four times as
/// many each time), and how often in a row they run.
const RESTARTS: usize = 128;
const FIRST_IMPROVEMENT: u64 = 64;
const MOST_IMPROVEMENTS: usize = 12;
const PGD_STEPS: usize = 100;

/// A sound interval for a maximum.
#[derive(Clone, Debug, PartialEq)]
pub struct Maximum {
    /// A value that is reached; −∞ while no point is known.
    pub lower: f64,
    /// A value that is nowhere exceeded; −∞ when the formula holds nowhere.
    pub upper: f64,
    /// Where `lower` is reached.
    pub witness: Option<Witness>,
    /// How much was done.
    pub progress: Progress,
    /// Why the gap is larger than asked for, if it is.
    pub open: Option<UnknownReason>,
}

/// A sound interval for the maximum of an objective over the points of a query's region at which its formula holds, not
/// wider than `gap` unless the budget ends first.
#[tracing::instrument(level = "debug", name = "optimise", skip_all)]
pub fn optimise(
    query: &Query,
    objective: &Linear<Variable>,
    gap: f64,
    budget: &Budget<'_>,
    watcher: &mut dyn Watcher,
) -> Result<Maximum, QueryError> {
    let none = Maximum {
        lower: f64::NEG_INFINITY,
        upper: f64::NEG_INFINITY,
        witness: None,
        progress: Progress::default(),
        open: None,
    };
    let region = &query.region;
    if region.lower.iter().zip(&region.upper).any(|(low, high)| low > high) {
        return Ok(none);
    }
    // The threshold is set below; the row's number is that of the last atom.
    let negated = Linear::constant(Interval::ZERO).plus(Interval::point(-1.0), objective);
    let row = Formula::Atom(Atom { linear: negated, strict: false });
    let extended = query.with_formula(Formula::And(vec![query.formula.clone(), row]))?;
    let mut search = Search::new(&extended);
    let number = search.logic.rows.len() - 1;
    search.logic.forget_range(number);
    let least = search.logic.rows[number].constant;
    let attack = Attack::new(query);
    let mut incumbent = Incumbent { query, attack, objective, gap: gap.max(0.0), best: none };
    let values = enclosed(&extended, objective)?;
    incumbent.best.upper = values.hi;
    let (points, count) = search.sample_points(budget.seed);
    incumbent.try_points(&points, count)?;
    let start = if values.lo.is_finite() { values.lo } else { -f64::MAX / 4.0 };
    incumbent.improve(RESTARTS, budget)?;
    // With few inputs these are split: bounds of an objective gain more from small boxes than from single elements.
    let strategy = strategies(&search).pop().unwrap_or(Strategy::InputSplits);
    let mut next_improvement = FIRST_IMPROVEMENT;
    let mut run = Run::new(&search, strategy, budget);
    run.objective = Some(number);
    loop {
        let threshold = if incumbent.best.witness.is_some() { incumbent.best.lower + incumbent.gap } else { start };
        set_threshold(&mut search.logic.rows[number], least, threshold, &mut run);
        let ended = run.advance(&search, budget, 1, watcher)?;
        for (points, count) in std::mem::take(&mut run.points) {
            incumbent.try_points(&points, count)?;
        }
        if run.bounded >= next_improvement {
            next_improvement *= 4;
            incumbent.improve(RESTARTS, budget)?;
        }
        incumbent.best.progress = run.state;
        // What is open is bounded by its larger subproblems; a subproblem that is still the whole region, by its enclosure.
        let open = run
            .open
            .iter()
            .map(|subproblem| (threshold - subproblem.bound).next_up())
            .fold(f64::NEG_INFINITY, f64::max);
        let pruned =
            if incumbent.best.witness.is_some() || !run.open.is_empty() { threshold } else { f64::NEG_INFINITY };
        let upper = if run.stuck { incumbent.best.upper } else { open.max(pruned) };
        incumbent.best.upper = incumbent.best.upper.min(upper);
        if incumbent.best.upper < incumbent.best.lower {
            incumbent.crossed()?;
            incumbent.best.upper = incumbent.best.lower;
        }
        if incumbent.best.upper - incumbent.best.lower <= incumbent.gap {
            return Ok(incumbent.best);
        }
        match ended {
            None => {}
            Some(Ended::Refuted) => return Ok(incumbent.best),
            // Points are judged by the incumbent; the row's own witnesses do not end this search.
            Some(Ended::Sat(_)) => {}
            Some(Ended::Open(reason)) => {
                incumbent.best.open = Some(reason);
                return Ok(incumbent.best);
            }
        }
    }
}

/// What an objective can be over the whole region, by enclosure.
fn enclosed(query: &Query, objective: &Linear<Variable>) -> Result<Interval, GraphError> {
    let region: Vec<Interval> =
        query.region.lower.iter().zip(&query.region.upper).map(|(&low, &high)| Interval::new(low, high)).collect();
    value_at(query, objective, &region)
}

/// The objective over a box of inputs.
fn value_at(query: &Query, objective: &Linear<Variable>, inputs: &[Interval]) -> Result<Interval, GraphError> {
    let mut rest = inputs;
    let mut arguments = Vec::new();
    for port in query.graph.inputs() {
        let (own, after) = rest.split_at(query.graph.elements(port.node));
        arguments.push(own);
        rest = after;
    }
    let outputs: Vec<Interval> = enclose(&query.graph, &arguments)?.into_iter().flatten().collect();
    Ok(objective.enclose(|variable| match *variable {
        Variable::Input(index) => inputs[index],
        Variable::Output(index) => outputs[index],
    }))
}

/// Moves the threshold t of the row `t − f ≤ 0`, given the lower end of the constant of −f, and the bounds of open subproblems with
/// it: they are kept relative to it.
fn set_threshold(row: &mut Row, least: f64, threshold: f64, run: &mut Run) {
    let before = std::mem::replace(&mut row.constant, add_down(threshold, least));
    let rise = sub_down(row.constant, before);
    for subproblem in &mut run.open {
        subproblem.bound = add_down(subproblem.bound, rise);
    }
}

/// The best point so far.
struct Incumbent<'q> {
    query: &'q Query,
    attack: Attack<'q>,
    objective: &'q Linear<Variable>,
    gap: f64,
    best: Maximum,
}

impl Incumbent<'_> {
    /// Looks for points that are better by the gap, or by a share of the open gap, with PGD.
    fn improve(&mut self, restarts: usize, budget: &Budget<'_>) -> Result<(), QueryError> {
        let stop = || budget.stopped();
        let mut share = 0.5;
        for attempt in 0..MOST_IMPROVEMENTS {
            let (low, high) = (self.best.lower, self.best.upper);
            let wanted =
                if low.is_finite() && high.is_finite() { low + (share * (high - low)).max(self.gap) } else { low };
            if !wanted.is_finite() || stop() {
                return Ok(());
            }
            let row = Linear::constant(Interval::point(wanted)).plus(Interval::point(-1.0), self.objective);
            let row = Formula::Atom(Atom { linear: row, strict: false });
            let better = self.query.with_formula(Formula::And(vec![self.query.formula.clone(), row]))?;
            let seed = budget.seed.wrapping_add(attempt as u64);
            let found = falsify(&better, restarts, PGD_STEPS, seed, &stop)?;
            let point = found.witness.map_or(found.nearest, |witness| witness.inputs);
            self.try_points(&point, usize::from(!point.is_empty()))?;
            if self.best.lower == low {
                share /= 8.0;
            }
        }
        Ok(())
    }

    /// The bound is below what a point reaches. That may be where rounding alone made the point satisfy the formula; where it does
    /// so over the reals, the bound or the value is wrong.
    fn crossed(&self) -> Result<(), GraphError> {
        let Some(witness) = &self.best.witness else { return Ok(()) };
        if self.attack.holds_over_reals(&witness.inputs)? {
            let (bound, value) = (self.best.upper, self.best.lower);
            let details = format!("no more than {bound:?}, but {value:?} at {:?}", witness.inputs);
            return Err(Fault::raise("a maximum is below a value that is reached", details).into());
        }
        Ok(())
    }

    /// Keeps the best of some points (element-major, `count` of them) at which the formula holds under replay.
    fn try_points(&mut self, points: &[f64], count: usize) -> Result<(), GraphError> {
        let mut better: Vec<(f64, Vec<f64>)> = Vec::new();
        for (x, y) in self.attack.candidates(points, count)? {
            let value = self.objective.enclose(|variable| match *variable {
                Variable::Input(index) => Interval::point(x[index]),
                Variable::Output(index) => Interval::point(y[index]),
            });
            if value.lo > self.best.lower {
                better.push((value.lo, x));
            }
        }
        better.sort_by(|a, b| b.0.total_cmp(&a.0));
        // The first may fail its replay, or lose a little when it is cast; a few more make up for that.
        for (_, point) in better.iter().take(4) {
            let Some(witness) = self.attack.replay(point)? else { continue };
            let region = &self.query.region;
            let exact: Vec<Interval> =
                witness.inputs.iter().enumerate().map(|(input, &value)| region.meaning(input, value)).collect();
            let value = value_at(self.query, self.objective, &exact)?.lo;
            if value > self.best.lower {
                self.best.lower = value;
                self.best.witness = Some(witness);
            }
        }
        Ok(())
    }
}
