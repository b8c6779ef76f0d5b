//! Violations by an equality, over the reals.
//!
//! `G x != 0` is violated where x is exactly zero. Doubles that are equal say little: each number is rounded, and intervals around the run leave open whether
//! they are. But where the difference of two numbers changes with something that is free in the run, a Krawczyk step ([`crate::krawczyk`]) shows that some run in a tiny box
//! has an exact zero there; and if all else is certain over the box, that run violates the property.

use certus_graph::eval::enclose;
use certus_graph::ops::{Compare, Op};
use certus_graph::{GraphError, Interval};
use certus_lang::system::{AtomId, Formula, System};
use certus_model::{Run, nnf};
use certus_solver::Place;

use crate::enclosed::{Returns, violates_where};
use crate::krawczyk::{Differences, free_numbers};
use crate::ltl_encoding::Shape;
use crate::replay::Drive;
use crate::unroll::{Start, unroll};

/// Longer runs are not tried.
const MOST_POSITIONS: usize = 64;

/// The atoms of a formula's violations that are equalities, or the opposite.
pub fn equalities(system: &System, formula: &Formula) -> Vec<AtomId> {
    let mut atoms = nnf(formula, false).atoms();
    atoms.sort_unstable();
    atoms.dedup();
    let truth = |id: &AtomId| &system.step.node(system.roles.atoms[id.0].truth.node).op;
    atoms.retain(|id| matches!(truth(id), Op::Compare(Compare::Equal | Compare::NotEqual)));
    atoms
}

/// Whether some run next to one that violates a formula by equalities of doubles violates it over the reals.
pub(crate) fn violates_by_equalities(system: &System, formula: &Formula, run: &Run) -> Result<bool, GraphError> {
    let asked = equalities(system, formula);
    if asked.is_empty() || run.loop_to.is_some() || run.converges || run.states.len() > MOST_POSITIONS {
        return Ok(false);
    }
    let drive = Drive::of(system, run);
    let shape = Shape { positions: run.states.len(), loop_to: None };
    let unrolled = unroll(system, shape, Start::Initial, false)?;
    // What is certain of this very run need not be solved for.
    let mut graph = unrolled.graph.clone();
    let places: Vec<(usize, AtomId)> =
        (0..run.states.len()).flat_map(|position| asked.iter().map(move |&id| (position, id))).collect();
    let before = graph.outputs().len();
    places.iter().for_each(|&(position, id)| graph.output("", unrolled.positions[position].atoms[id.0]));
    let graph = graph.keep_outputs(&(before..before + places.len()).collect::<Vec<_>>());
    let point: Vec<Interval> = free_numbers(&unrolled, run, &drive).into_iter().map(Interval::point).collect();
    let enclosed = enclose(&graph, &[&point])?;
    let (mut pairs, mut given) = (Vec::new(), Vec::new());
    for (&(position, id), truth) in places.iter().zip(&enclosed) {
        let node = unrolled.graph.node(unrolled.positions[position].atoms[id.0]);
        let is_equal = match node.op {
            Op::Compare(Compare::Equal) => true,
            Op::Compare(Compare::NotEqual) => false,
            _ => continue,
        };
        let open = truth.first().is_none_or(|own| own.certainty().is_none());
        if open && run.atoms.get(position).is_some_and(|own| own[id.0] == is_equal) {
            let [left, right] = [0, 1].map(|place: usize| Place { node: node.inputs[place], element: 0 });
            pairs.push((left, right));
            given.push((position, id, is_equal));
        }
    }
    let Some(differences) = Differences::new(&unrolled, pairs)? else { return Ok(false) };
    let Some(around) = differences.zero_near(&unrolled, run, &drive) else { return Ok(false) };
    violates_where(system, formula, &drive, &around, Returns::Exactly, &given)
}
