//! Violations by an equality, over the reals.
//!
//! `G x != 0` is violated where x is exactly zero. Doubles that are equal say little: each number is rounded, and intervals around the run leave open whether
//! they are. But where the difference of two numbers changes with something that is free in the run, a Krawczyk step (`krawczyk`) shows that some run in a tiny box
//! has an exact zero there; and if all else is certain over the box, that run violates the property.

use certus_graph::eval::enclose;
use certus_graph::ops::{Compare, Op};
use certus_graph::{Graph, GraphError, Interval, NodeId, Tensor};
use certus_lang::system::{Atom, Formula, Output, System, Truth};
use certus_model::{CheckError, Run, nnf};
use certus_solver::Place;

use crate::confirm::walked;
use crate::enclosed::{Given, Returns, violates_where};
use crate::krawczyk::{Differences, free_numbers};
use crate::ltl_encoding::Shape;
use crate::replay::Drive;
use crate::unroll::{Start, unroll};

/// Longer runs are not tried.
const MOST_POSITIONS: usize = 64;

/// The comparisons for equality that the atoms of a formula's violations are made of.
pub fn equalities(system: &System, formula: &Formula) -> Vec<NodeId> {
    let step = &system.step;
    let mut read = vec![false; step.len()];
    for id in nnf(formula, false).atoms() {
        read[system.roles.atoms[id.0].truth.node.index()] = true;
    }
    for (index, node) in step.nodes().iter().enumerate().rev() {
        if read[index] {
            node.inputs.iter().for_each(|input| read[input.index()] = true);
        }
    }
    let is_one = |id: &NodeId| {
        let op = &step.node(*id).op;
        let elements = step.elements(*id) == 1 && step.node(*id).inputs.iter().all(|own| step.elements(*own) == 1);
        matches!(op, Op::Compare(Compare::Equal | Compare::NotEqual)) && elements
    };
    step.ids().filter(|id| read[id.index()] && is_one(id)).collect()
}

/// Whether some run next to one that violates a formula by equalities of doubles violates it over the reals.
pub(crate) fn violates_by_equalities(system: &System, formula: &Formula, run: &Run) -> Result<bool, CheckError> {
    let asked = equalities(system, formula);
    if asked.is_empty() || run.loop_to.is_some() || run.converges || run.states.len() > MOST_POSITIONS {
        return Ok(false);
    }
    let (own, first) = with_atoms(system, &asked);
    let drive = Drive::of(system, run);
    let truths = walked(&own, &drive)?.atoms;
    let shape = Shape { positions: run.states.len(), loop_to: None };
    let unrolled = unroll(&own, shape, Start::Initial, false)?;
    // What is certain of this very run need not be solved for.
    let mut graph = unrolled.graph.clone();
    let places: Vec<(usize, usize)> =
        (0..run.states.len()).flat_map(|position| (0..asked.len()).map(move |place| (position, place))).collect();
    let before = graph.outputs().len();
    places.iter().for_each(|&(position, place)| graph.output("", unrolled.positions[position].atoms[first + place]));
    let graph = graph.keep_outputs(&(before..before + places.len()).collect::<Vec<_>>());
    let point: Vec<Interval> = free_numbers(&unrolled, run, &drive).into_iter().map(Interval::point).collect();
    let enclosed = enclose(&graph, &[&point])?;
    let (mut pairs, mut given) = (Vec::new(), Vec::new());
    for (&(position, place), truth) in places.iter().zip(&enclosed) {
        let node = unrolled.graph.node(unrolled.positions[position].atoms[first + place]);
        // The truth value that says that both sides are equal.
        let when_equal = match node.op {
            Op::Compare(Compare::Equal) => true,
            Op::Compare(Compare::NotEqual) => false,
            _ => continue,
        };
        let open = truth.first().is_none_or(|own| own.certainty().is_none());
        if open && truths.get(position).is_some_and(|own| own[first + place] == when_equal) {
            let [left, right] = [0, 1].map(|side: usize| Place { node: node.inputs[side], element: 0 });
            pairs.push((left, right));
            given.push(Given { position, node: asked[place], truth: when_equal });
        }
    }
    let Some(differences) = Differences::new(&unrolled, pairs)? else { return Ok(false) };
    let Some(around) = differences.zero_near(&unrolled, run, &drive) else { return Ok(false) };
    Ok(violates_where(system, formula, &drive, &around, Returns::Exactly, &given)?)
}

/// The system with some of its truth values as further atoms, and the place of the first of these.
fn with_atoms(system: &System, nodes: &[NodeId]) -> (System, usize) {
    let mut own = system.clone();
    let first = own.atoms.len();
    for &node in nodes {
        let output = Output { node, port: own.step.outputs().len() };
        own.step.output("", node);
        own.atoms.push(Atom { text: String::new(), uses_next: false, state_only: false, uses_choice: false });
        own.roles.atoms.push(Truth { truth: output, margin: output });
        own.roles.atoms_defined.push(None);
    }
    (own, first)
}

/// A graph in which some truth values are known.
pub(crate) fn knowing(graph: &Graph, known: &[(NodeId, bool)]) -> Result<Graph, GraphError> {
    let mut found = Graph::new();
    let mut mapped: Vec<Option<NodeId>> = vec![None; graph.len()];
    for port in graph.inputs() {
        mapped[port.node.index()] = Some(found.input(&port.name, graph.shape(port.node)));
    }
    for (id, node) in graph.ids().zip(graph.nodes()) {
        if mapped[id.index()].is_some() {
            continue;
        }
        let own = match known.iter().find(|own| own.0 == id) {
            Some(&(_, truth)) => {
                let value = vec![f64::from(u8::from(truth)); graph.elements(id)];
                found.constant(Tensor::new(graph.shape(id), value)?)
            }
            None => {
                // Arguments come before what reads them.
                let inputs: Vec<NodeId> = node.inputs.iter().filter_map(|input| mapped[input.index()]).collect();
                found.apply(node.op.clone(), &inputs)?
            }
        };
        mapped[id.index()] = Some(own);
    }
    for port in graph.outputs() {
        if let Some(node) = mapped[port.node.index()] {
            found.output(&port.name, node);
        }
    }
    Ok(found)
}
