//! What a query says outright, put where it helps most.
//!
//! Of the formula of a run some parts must hold whatever else does. A bound of a single free number becomes part of the
//! region: samples and descents then stay inside, and a number that is fixed is no variable any more. A label that an arg-max
//! must take becomes a constant of the graph: the plant's cases for the other labels vanish, and what must be true of
//! the scores stays in the formula. And a free number that the formula only compares, always in the same direction (a threshold), is
//! fixed at the end where most is satisfied.

use std::collections::HashMap;

use certus_graph::canonical::simplified;
use certus_graph::eval::enclose_nodes;
use certus_graph::ops::{Op, ReduceKind};
use certus_graph::{Graph, GraphError, Interval, NodeId, Tensor};
use certus_lang::system::{AtomId, Integers};
use certus_model::Nnf;
use certus_solver::formula::{Atom, Formula, Linear};
use certus_solver::{Place, Region};

use crate::condition::{always, and, at_most, never, number, or, source};
use crate::ltl_encoding::Shape;
use crate::unroll::Unrolled;

/// Moves bounds of single free numbers from a formula into a region. The numbers of both are doubles, so nothing is rounded: a
/// bound that would have to be stays where it is.
fn into_region(graph: &Graph, region: &Region, formula: Formula<Place>) -> (Region, Formula<Place>) {
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

/// A region whose ends are integers where its numbers are. Of states and inputs that is so by what they are, whatever the formula says.
fn around_integers(region: &Region, integers: &[Option<Integers>]) -> Region {
    let mut region = region.clone();
    for ((low, high), integers) in region.lower.iter_mut().zip(&mut region.upper).zip(integers) {
        let Some(integers) = integers else { continue };
        (*low, *high) = match integers.between(*low, *high) {
            Some(inside) => (inside.hull().0 as f64, inside.hull().1 as f64),
            // Nothing is left, and the region is empty.
            None => (1.0, 0.0),
        };
    }
    Region::new(region.lower, region.upper)
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

/// Fixes free numbers at the end of their range where the formula is satisfied if it is anywhere: those that no node it
/// speaks of depends on, and that stand in all of its atoms with the same sign, or in none.
pub fn at_best_ends(graph: &Graph, region: &Region, formula: &Formula<Place>) -> Region {
    let mut region = region.clone();
    let mut signs: Vec<Signs> = vec![Signs::default(); region.lower.len()];
    let mut cone = vec![false; graph.len()];
    look(graph, formula, &mut signs, &mut cone);
    for (index, node) in graph.nodes().iter().enumerate().rev().filter(|(_, node)| !matches!(node.op, Op::Input(_))) {
        if !cone[index] {
            continue;
        }
        for &input in &node.inputs {
            if !matches!(graph.node(input).op, Op::Input(_)) {
                cone[input.index()] = true;
                continue;
            }
            // Read straight from what is free: by a gather, only some of it.
            let read: Vec<usize> = match &node.op {
                Op::Gather(gather) => gather.indices.clone(),
                _ => (0..signs.len()).collect(),
            };
            read.into_iter().for_each(|element| signs[element] = Signs { rising: true, falling: true });
        }
    }
    for (element, signs) in signs.iter().enumerate() {
        let (low, high) = (region.lower[element], region.upper[element]);
        match signs {
            // An empty range stays empty.
            _ if low > high => {}
            Signs { rising: true, falling: true } => {}
            Signs { falling: true, .. } if high.is_finite() => region.lower[element] = high,
            _ if low.is_finite() => region.upper[element] = low,
            _ => {}
        }
    }
    Region::new(region.lower, region.upper)
}

/// The formula with free numbers that are fixed put in as constants, wherever that needs no rounding.
pub fn with_fixed(graph: &Graph, region: &Region, formula: Formula<Place>) -> Formula<Place> {
    match formula {
        Formula::And(parts) => and(parts.into_iter().map(|part| with_fixed(graph, region, part)).collect()),
        Formula::Or(parts) => or(parts.into_iter().map(|part| with_fixed(graph, region, part)).collect()),
        Formula::Atom(Atom { linear, strict }) => {
            let mut known = Linear::constant(linear.constant);
            for (place, coefficient) in linear.terms {
                let free = matches!(graph.node(place.node).op, Op::Input(_));
                let (low, high) =
                    if free { (region.lower[place.element], region.upper[place.element]) } else { (0.0, 1.0) };
                let constant = known.constant + coefficient * Interval::point(low);
                match low == high && constant.lo == constant.hi {
                    true => known.constant = constant,
                    false => known.terms.push((place, coefficient)),
                }
            }
            at_most(&known, &Linear::constant(Interval::ZERO), strict)
        }
    }
}

/// In which directions an atom's left side can move with a number.
#[derive(Clone, Copy, Default)]
struct Signs {
    rising: bool,
    falling: bool,
}

fn look(graph: &Graph, formula: &Formula<Place>, signs: &mut [Signs], cone: &mut [bool]) {
    match formula {
        Formula::And(parts) | Formula::Or(parts) => parts.iter().for_each(|part| look(graph, part, signs, cone)),
        Formula::Atom(atom) => {
            for (place, coefficient) in &atom.linear.terms {
                if matches!(graph.node(place.node).op, Op::Input(_)) {
                    signs[place.element].rising |= coefficient.hi > 0.0;
                    signs[place.element].falling |= coefficient.lo < 0.0;
                } else {
                    cone[place.node.index()] = true;
                }
            }
        }
    }
}

/// The atoms that must hold (or must not) at positions for a temporal formula to hold, as far as that is plain.
pub fn required(formula: &Nnf, position: usize, shape: Shape) -> Vec<(AtomId, usize, bool)> {
    match formula {
        Nnf::Literal(id, wanted) => vec![(*id, position, *wanted)],
        Nnf::And(parts) => parts.iter().flat_map(|part| required(part, position, shape)).collect(),
        Nnf::Or(parts) => match parts.as_slice() {
            [only] => required(only, position, shape),
            _ => Vec::new(),
        },
        Nnf::Next(inner) => shape.after(position, 1).map_or_else(Vec::new, |next| required(inner, next, shape)),
        Nnf::Until(..) => Vec::new(),
        Nnf::Release(bounds, left, right) => {
            if !matches!(&**left, Nnf::Or(parts) if parts.is_empty()) {
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
    let one_hot = |(&id, &label): (&NodeId, &usize)| {
        let values = (0..unrolled.graph.elements(id)).map(|own| f64::from(u8::from(own == label)));
        Ok((id, Tensor::new(unrolled.graph.shape(id), values.collect())?))
    };
    let constants = fixed.iter().map(one_hot).collect::<Result<HashMap<_, _>, GraphError>>()?;
    with_constants(unrolled, formula, &constants)
}

/// An unrolled run in which some nodes are constants, and a formula about it.
fn with_constants(
    unrolled: &mut Unrolled,
    formula: Formula<Place>,
    constants: &HashMap<NodeId, Tensor>,
) -> Result<Formula<Place>, GraphError> {
    if constants.is_empty() {
        return Ok(formula);
    }
    let mut graph = Graph::new();
    let mut mapped: Vec<NodeId> = Vec::with_capacity(unrolled.graph.len());
    for (id, node) in unrolled.graph.ids().zip(unrolled.graph.nodes()) {
        let inputs: Vec<NodeId> = node.inputs.iter().map(|input| mapped[input.index()]).collect();
        mapped.push(match (&node.op, constants.get(&id)) {
            (_, Some(value)) => graph.constant(value.clone()),
            (Op::Input(_), None) => graph.input("free", &node.shape),
            (op, None) => graph.apply(op.clone(), &inputs)?,
        });
    }
    // Every node becomes an output, so that its place in the simpler graph is known.
    for &id in &mapped {
        graph.output("", id);
    }
    let simpler = simplified(&graph)?;
    unrolled.graph = Graph::new();
    let free = unrolled.graph.input("free", &[unrolled.region.lower.len()]);
    let mapped = unrolled.graph.inline(&simpler, &[free])?;
    unrolled.renamed(&mapped);
    formula.map(&mut |place: &Place| Ok(Place { node: mapped[place.node.index()], element: place.element }))
}

/// How often what is fixed may fix something else.
const ROUNDS: usize = 6;

/// Takes for granted what the region and the formula say outright: bounds of free numbers move into the region, nodes that
/// have one value throughout become constants, and atoms that enclosures decide go. Each of these may decide more.
pub fn settle(unrolled: &mut Unrolled, mut formula: Formula<Place>) -> Result<Formula<Place>, GraphError> {
    for _ in 0..ROUNDS {
        let before = (unrolled.region.clone(), formula.clone(), unrolled.graph.len());
        (unrolled.region, formula) = into_region(&unrolled.graph, &unrolled.region, formula);
        unrolled.region = around_integers(&unrolled.region, &unrolled.integers);
        let region = &unrolled.region;
        if region.lower.iter().zip(&region.upper).any(|(low, high)| low > high) {
            break;
        }
        let free: Vec<Interval> =
            region.lower.iter().zip(&region.upper).map(|(&lo, &hi)| Interval { lo, hi }).collect();
        formula = with_fixed(&unrolled.graph, region, formula);
        let values = enclose_nodes(&unrolled.graph, &[&free])?;
        formula = decided(&unrolled.graph, &formula, &values);
        let fixed = unrolled.graph.ids().zip(unrolled.graph.nodes()).filter(|(id, node)| {
            let known = values[id.index()].iter().all(|value| value.lo == value.hi && value.lo.is_finite());
            known && !matches!(node.op, Op::Input(_) | Op::Constant(_))
        });
        let constants = fixed
            .map(|(id, node)| {
                Ok((id, Tensor::new(&*node.shape, values[id.index()].iter().map(|value| value.lo).collect())?))
            })
            .collect::<Result<HashMap<_, _>, GraphError>>()?;
        formula = with_constants(unrolled, formula, &constants)?;
        if (&unrolled.region, &formula, unrolled.graph.len()) == (&before.0, &before.1, before.2) {
            break;
        }
    }
    Ok(formula)
}

/// A formula without the atoms that enclosures of the nodes decide.
fn decided(graph: &Graph, formula: &Formula<Place>, values: &[Vec<Interval>]) -> Formula<Place> {
    match formula {
        Formula::And(parts) => and(parts.iter().map(|part| decided(graph, part, values)).collect()),
        Formula::Or(parts) => or(parts.iter().map(|part| decided(graph, part, values)).collect()),
        Formula::Atom(atom) => {
            let range = atom.linear.enclose(|place| values[place.node.index()][place.element]);
            let (holds, fails) = match atom.strict {
                true => (range.hi < 0.0, range.lo >= 0.0),
                false => (range.hi <= 0.0, range.lo > 0.0),
            };
            match (holds, fails) {
                (true, _) => always(),
                (_, true) => never(),
                _ => moved(graph, atom),
            }
        }
    }
}

/// An atom over the numbers that its places stand for.
fn moved(graph: &Graph, atom: &Atom<Place>) -> Formula<Place> {
    let start = Linear::constant(atom.linear.constant);
    let linear = atom.linear.terms.iter().fold(start, |sum, (place, factor)| sum.plus(*factor, &number(graph, *place)));
    Formula::Atom(Atom { linear, strict: atom.strict })
}

#[cfg(test)]
mod tests {
    use certus_graph::ops::{Gather, Relu};

    use super::*;

    /// Four free numbers, the last of which a node reads.
    fn graph() -> (Graph, NodeId, NodeId) {
        let mut graph = Graph::new();
        let free = graph.input("free", &[4]);
        let gathered = graph.apply(Gather { axis: 0, indices: vec![3], index_shape: vec![1] }, &[free]).unwrap();
        let computed = graph.apply(Relu, &[gathered]).unwrap();
        (graph, free, computed)
    }

    fn below(left: (NodeId, usize), right: (NodeId, usize)) -> Formula<Place> {
        let number = |(node, element): (NodeId, usize)| Linear::variable(Place { node, element });
        at_most(&number(left), &number(right), false)
    }

    #[test]
    fn thresholds_are_fixed_at_their_best_ends() {
        let (graph, free, computed) = graph();
        let region = Region::new(vec![0.0; 4], vec![1.0; 4]);
        // Number 0 only below others, number 1 on both sides, number 2 only above, number 3 inside of a computed one.
        let formula = or(vec![
            and(vec![below((free, 0), (free, 1)), below((free, 1), (free, 2))]),
            below((free, 0), (computed, 0)),
        ]);
        let fixed = at_best_ends(&graph, &region, &formula);
        assert_eq!((fixed.lower, fixed.upper), (vec![0.0, 0.0, 1.0, 0.0], vec![0.0, 1.0, 1.0, 1.0]));
    }

    #[test]
    fn an_empty_range_is_not_made_a_point() {
        let (graph, free, _) = graph();
        let region = Region::new(vec![0.0, 2.0, 0.0, 0.0], vec![1.0; 4]);
        let fixed = at_best_ends(&graph, &region, &below((free, 0), (free, 2)));
        assert_eq!((fixed.lower[1], fixed.upper[1]), (2.0, 1.0));
    }

    #[test]
    fn fixed_numbers_become_constants_where_nothing_is_rounded() {
        let (graph, free, _) = graph();
        let region = Region::new(vec![0.5, 0.0, 0.0, 0.0], vec![0.5, 1.0, 1.0, 1.0]);
        let (narrowed, rest) = into_region(&graph, &region, with_fixed(&graph, &region, below((free, 0), (free, 1))));
        assert_eq!((narrowed.lower[1], narrowed.upper[1]), (0.5, 1.0));
        assert_eq!(rest, and(Vec::new()));
        let third = Linear::variable(Place { node: free, element: 0 });
        let third = Linear { terms: vec![(third.terms[0].0, Interval::new(0.1, 0.2))], ..third };
        let kept = Formula::Atom(Atom { linear: third, strict: false });
        assert_eq!(with_fixed(&graph, &region, kept.clone()), kept);
    }
}
