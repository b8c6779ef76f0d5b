//! The most extreme violations of a specification, found by projected gradient descent (`certus-solver`), next to what the references did.
//!
//! For a choice, the lowest and the highest forbidden label that the network can be made to decide; for a number, the
//! least and the greatest forbidden output. A point counts after the network itself was evaluated at it.

use certus_graph::Interval;
use certus_solver::formula::{Formula, Linear};
use certus_solver::vnnlib::Variable;
use certus_solver::{Budget, Witness, falsify, optimise};

use crate::layout::Layout;
use crate::observations::Rows;
use crate::outputs::{Meaning, OutputSet};
use crate::query::{Edges, Network, violation};
use crate::{MineError, Specification};

/// Descents per attack, and steps of each.
const DESCENTS: usize = 1024;
const STEPS: usize = 100;

/// Which end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extreme {
    /// The lowest label or the least number.
    Lowest,
    /// The highest label or the greatest number.
    Highest,
}

/// An input at which a network does what is forbidden.
#[derive(Clone, Debug, PartialEq)]
pub struct Attack {
    /// Which end this is.
    pub extreme: Extreme,
    /// The input and the outputs.
    pub witness: Witness,
    /// The label that the network decides.
    pub label: usize,
}

/// The most extreme violations that descents find: none, one, or one at either end.
pub fn attack(
    network: &Network,
    layout: &Layout,
    specification: &Specification,
    budget: &Budget<'_>,
) -> Result<Vec<Attack>, MineError> {
    let mut found: Vec<Attack> = Vec::new();
    for extreme in [Extreme::Lowest, Extreme::Highest] {
        let witness = match layout.outputs.meaning {
            Meaning::Choice => extreme_label(network, layout, specification, extreme, budget)?,
            _ => extreme_number(network, layout, specification, extreme, budget)?,
        };
        let Some(witness) = witness else { continue };
        let outputs: Vec<f64> = witness.outputs.iter().map(|&output| f64::from(output)).collect();
        let Some(label) = layout.outputs.decided(&outputs) else { continue };
        if found.iter().all(|other| other.label != label || layout.outputs.meaning != Meaning::Choice) {
            found.push(Attack { extreme, witness, label });
        }
    }
    Ok(found)
}

fn extreme_label(
    network: &Network,
    layout: &Layout,
    specification: &Specification,
    extreme: Extreme,
    budget: &Budget<'_>,
) -> Result<Option<Witness>, MineError> {
    let mut forbidden: Vec<usize> = layout.outputs.all().without(specification.allowed).labels().collect();
    if extreme == Extreme::Highest {
        forbidden.reverse();
    }
    let stop = || stopped(budget);
    for label in forbidden {
        // Where everything but this label is beaten.
        let formula = violation(&layout.outputs, layout.outputs.all().without(OutputSet::of(label)), Edges::Exact);
        let query = network.query(layout, specification, formula)?;
        let found = falsify(&query, DESCENTS, STEPS, budget.seed, &stop);
        let found = found.map_err(|error| MineError::new(error.to_string()))?;
        if found.witness.is_some() || stop() {
            return Ok(found.witness);
        }
    }
    Ok(None)
}

fn extreme_number(
    network: &Network,
    layout: &Layout,
    specification: &Specification,
    extreme: Extreme,
    budget: &Budget<'_>,
) -> Result<Option<Witness>, MineError> {
    let formula: Formula<Variable> = violation(&layout.outputs, specification.allowed, Edges::Exact);
    let query = network.query(layout, specification, formula)?;
    let sign = if extreme == Extreme::Lowest { -1.0 } else { 1.0 };
    let objective =
        Linear::constant(Interval::ZERO).plus(Interval::point(sign), &Linear::variable(Variable::Output(0)));
    let budget = Budget { subproblems: budget.subproblems.min(256), ..*budget };
    let found = optimise(&query, &objective, 1e-3, &budget, &mut |_| {});
    Ok(found.map_err(|error| MineError::new(error.to_string()))?.witness)
}

fn stopped(budget: &Budget<'_>) -> bool {
    budget.deadline.is_some_and(|deadline| std::time::Instant::now() >= deadline)
        || budget.stop.is_some_and(|stop| stop.load(std::sync::atomic::Ordering::Relaxed))
}

/// What a reference did in the observation most like a point.
#[derive(Clone, Debug, PartialEq)]
pub struct Nearest {
    /// What it decided there.
    pub label: usize,
    /// How far the observation is, as the greatest difference of a mined column in widths of the box.
    pub distance: f64,
}

/// For each point, what was decided in the row that is nearest to it in the columns of its precondition.
pub fn nearest(
    points: &[(&Specification, &[f64])],
    layout: &Layout,
    rows: &mut Rows,
) -> Result<Vec<Option<Nearest>>, MineError> {
    let mut best: Vec<Option<Nearest>> = vec![None; points.len()];
    rows.each(layout, &mut |values, label| {
        for ((specification, point), best) in points.iter().zip(&mut best) {
            if !specification.applies(values) {
                continue;
            }
            let mut distance: f64 = 0.0;
            for bound in &specification.bounds {
                let Some(input) = layout.columns[bound.column].input else { continue };
                let width = (bound.high - bound.low).max(f64::MIN_POSITIVE);
                distance = distance.max((values[bound.column] - point[input]).abs() / width);
            }
            if best.as_ref().is_none_or(|best| distance < best.distance) {
                *best = Some(Nearest { label, distance });
            }
        }
        Ok(())
    })?;
    Ok(best)
}
