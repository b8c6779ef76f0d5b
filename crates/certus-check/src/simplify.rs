//! What a question says outright, put where it helps most.
//!
//! Of the formula of a run some parts must hold whatever else does. A bound of a single free number becomes part of the
//! region: samples and descents then stay inside, and a number that is fixed is no variable any more. A label that an arg-max
//! must take becomes a constant of the graph: the plant's cases for the other labels vanish, and what must be true of
//! the scores stays in the formula.

use std::collections::HashMap;

use certus_graph::ops::{Op, ReduceKind};
use certus_graph::{Graph, GraphError, NodeId, Tensor};
use certus_lang::system::AtomId;
use certus_solver::formula::{Atom, Formula};
use certus_solver::{Place, Region};

use crate::condition::{and, source};
use crate::temporal::{Normal, Shape};
use crate::unroll::Unrolled;

/// Moves bounds of single free numbers from a formula into a region. The numbers of both are doubles, so nothing is rounded: a
/// bound that would have to be stays where it is.
pub fn into_region(graph: &Graph, region: &Region, formula: Formula<Place>) -> (Region, Formula<Place>) {
    let mut region = region.clone();
    let parts = match formula {
        Formula::And(parts) => parts,
        other => vec![other],
    };
    let mut kept = Vec::with_capacity(parts.len());
    for part in parts {
        let Formula::Atom(atom) = &part else {
            kept.push(part);
            continue;
        };
        match bound(graph, atom) {
            Some((element, upper, value)) => {
                let end = if upper { &mut region.upper[element] } else { &mut region.lower[element] };
                *end = if upper { end.min(value) } else { end.max(value) };
                if atom.strict {
                    kept.push(part);
                }
            }
            None => kept.push(part),
        }
    }
    (Region::new(region.lower, region.upper), and(kept))
}

/// The bound of a free number that an atom is: its element, whether it is an upper one, and the value.
fn bound(graph: &Graph, atom: &Atom<Place>) -> Option<(usize, bool, f64)> {
    let [(place, coefficient)] = atom.linear.terms.as_slice() else { return None };
    let constant = atom.linear.constant;
    let plain = coefficient.lo == coefficient.hi && coefficient.lo.abs() == 1.0 && constant.lo == constant.hi;
    let free = matches!(graph.node(place.node).op, Op::Input(_));
    (plain && free && constant.lo.is_finite()).then_some((
        place.element,
        coefficient.lo > 0.0,
        -coefficient.lo * constant.lo,
    ))
}

/// The atoms that must hold (or must not) at positions for a temporal formula to hold, as far as that is plain.
pub fn required(formula: &Normal, position: usize, shape: Shape) -> Vec<(AtomId, usize, bool)> {
    match formula {
        Normal::Atom(id, wanted) => vec![(*id, position, *wanted)],
        Normal::And(parts) => parts.iter().flat_map(|part| required(part, position, shape)).collect(),
        Normal::Or(parts) => match parts.as_slice() {
            [only] => required(only, position, shape),
            _ => Vec::new(),
        },
        Normal::Next(inner) => shape.after(position, 1).map_or_else(Vec::new, |next| required(inner, next, shape)),
        Normal::Until(..) => Vec::new(),
        Normal::Release(bounds, left, right) => {
            if !matches!(&**left, Normal::Or(parts) if parts.is_empty()) {
                return Vec::new();
            }
            let last = bounds.upper.map_or(shape.positions as u64 - 1, |upper| upper.min(shape.positions as u64 - 1));
            let steps = bounds.lower..=last;
            let positions = steps.filter_map(|step| shape.after(position, usize::try_from(step).ok()?));
            positions.flat_map(|at| required(right, at, shape)).collect()
        }
    }
}

/// The arg-max nodes whose label a truth value fixes.
pub fn labels(graph: &Graph, place: Place, wanted: bool, found: &mut HashMap<NodeId, usize>) {
    let place = source(graph, place);
    let node = graph.node(place.node);
    let argument = |number: usize| {
        let own = node.inputs[number];
        Place { node: own, element: if graph.elements(own) == 1 { 0 } else { place.element } }
    };
    match &node.op {
        Op::Not(_) => labels(graph, argument(0), !wanted, found),
        Op::And(_) if wanted => (0..2).for_each(|number| labels(graph, argument(number), true, found)),
        Op::Or(_) if !wanted => (0..2).for_each(|number| labels(graph, argument(number), false, found)),
        Op::Reduce(reduce) if reduce.kind == ReduceKind::Min && wanted => {
            let whole = node.inputs[0];
            let targets = reduce.targets(graph.shape(whole));
            for (element, _) in targets.iter().enumerate().filter(|&(_, &target)| target == place.element) {
                labels(graph, Place { node: whole, element }, true, found);
            }
        }
        Op::ArgMax(_) if wanted && node.shape.iter().rev().skip(1).all(|&extent| extent == 1) => {
            found.entry(place.node).or_insert(place.element);
        }
        _ => {}
    }
}

/// An unrolled run in which some arg-max nodes are constants, and a formula about it.
pub fn with_labels(
    unrolled: &mut Unrolled,
    formula: Formula<Place>,
    fixed: &HashMap<NodeId, usize>,
) -> Result<Formula<Place>, GraphError> {
    if fixed.is_empty() {
        return Ok(formula);
    }
    let mut graph = Graph::new();
    let mut mapped: Vec<NodeId> = Vec::with_capacity(unrolled.graph.len());
    for (id, node) in unrolled.graph.ids().zip(unrolled.graph.nodes()) {
        let inputs: Vec<NodeId> = node.inputs.iter().map(|input| mapped[input.index()]).collect();
        mapped.push(match (&node.op, fixed.get(&id)) {
            (_, Some(&label)) => {
                let values = (0..unrolled.graph.elements(id)).map(|own| f64::from(u8::from(own == label)));
                graph.constant(Tensor::new(node.shape.clone(), values.collect())?)
            }
            (Op::Input(_), None) => graph.input("free", &node.shape),
            (op, None) => graph.apply(op.clone(), &inputs)?,
        });
    }
    unrolled.graph = graph;
    unrolled.renamed(&mapped);
    formula.map(&mut |place: &Place| Ok(Place { node: mapped[place.node.index()], element: place.element }))
}
