//! Truth values of a graph as formulas over its numbers.
//!
//! A condition of a system is lowered to nodes that are 0 or 1: comparisons, connectives, `all` and `any` over vectors,
//! choices of labels. A query's formula wants linear atoms. So a truth value is followed back to the comparisons that it is
//! made of, with its polarity: `a ≤ b` wanted false is `b < a`. The label that an arg-max takes is a
//! conjunction of comparisons of the scores (the first of several largest wins). What is left (a truth value that is
//! computed in some other way) is compared with one half, which is right for any number that is 0 or 1.

use certus_graph::ops::{Compare, Movement, Op, ReduceKind};
use certus_graph::{Graph, Interval, NodeId};
use certus_solver::Place;
use certus_solver::formula::{Atom, Formula, Linear};

/// True.
pub fn always() -> Formula<Place> {
    Formula::And(Vec::new())
}

/// False.
pub fn never() -> Formula<Place> {
    Formula::Or(Vec::new())
}

/// A conjunction, without what is trivial.
pub fn and(parts: Vec<Formula<Place>>) -> Formula<Place> {
    joined(parts, true)
}

/// A disjunction, without what is trivial.
pub fn or(parts: Vec<Formula<Place>>) -> Formula<Place> {
    joined(parts, false)
}

fn joined(parts: Vec<Formula<Place>>, conjunction: bool) -> Formula<Place> {
    let mut kept: Vec<Formula<Place>> = Vec::with_capacity(parts.len());
    for part in parts {
        match part {
            Formula::And(own) if conjunction => kept.extend(own),
            Formula::Or(own) if !conjunction => kept.extend(own),
            // The opposite constant decides.
            Formula::Or(own) if own.is_empty() => return never(),
            Formula::And(own) if own.is_empty() => return always(),
            other => kept.push(other),
        }
    }
    match (kept.len(), conjunction) {
        (1, _) => kept.remove(0),
        (_, true) => Formula::And(kept),
        (_, false) => Formula::Or(kept),
    }
}

/// The element of a number that only moves values stands for: where it comes from, through slices, windows and the like.
pub fn source(graph: &Graph, place: Place) -> Place {
    let mut place = place;
    loop {
        let node = graph.node(place.node);
        let found = match &node.op {
            Op::Reshape(movement) => moved(graph, movement, place),
            Op::Slice(movement) => moved(graph, movement, place),
            Op::Gather(movement) => moved(graph, movement, place),
            Op::Transpose(movement) => moved(graph, movement, place),
            Op::Concat(movement) => moved(graph, movement, place),
            _ => return place,
        };
        match found {
            Some(next) => place = next,
            None => return place,
        }
    }
}

fn moved(graph: &Graph, movement: &impl Movement, place: Place) -> Option<Place> {
    let node = graph.node(place.node);
    let shapes: Vec<&[usize]> = node.inputs.iter().map(|&input| graph.shape(input)).collect();
    let (mut found, mut index) = (None, 0);
    movement.sources(&shapes, &node.shape, &mut |argument, element| {
        if index == place.element {
            found = Some(Place { node: node.inputs[argument], element });
        }
        index += 1;
    });
    found
}

/// The linear function that is one element: a constant where it is one.
pub fn number(graph: &Graph, place: Place) -> Linear<Place> {
    let place = source(graph, place);
    match graph.constant_value(place.node) {
        Some(value) => Linear::constant(Interval::point(value.data()[place.element])),
        None => Linear::variable(place),
    }
}

/// left − right ≤ 0, or < 0.
pub fn at_most(left: &Linear<Place>, right: &Linear<Place>, strict: bool) -> Formula<Place> {
    let linear = left.clone().plus(Interval::point(-1.0), right);
    if linear.terms.is_empty() {
        let value = linear.constant;
        let known = if strict { value.hi < 0.0 } else { value.hi <= 0.0 };
        let refuted = if strict { value.lo >= 0.0 } else { value.lo > 0.0 };
        if known {
            return always();
        }
        if refuted {
            return never();
        }
    }
    Formula::Atom(Atom { linear, strict })
}

/// That two elements are equal.
pub fn equal(graph: &Graph, left: Place, right: Place) -> Formula<Place> {
    let (left, right) = (number(graph, left), number(graph, right));
    and(vec![at_most(&left, &right, false), at_most(&right, &left, false)])
}

/// The formula that holds where an element that is a truth value is as `wanted`.
pub fn condition(graph: &Graph, place: Place, wanted: bool) -> Formula<Place> {
    let place = source(graph, place);
    let node = graph.node(place.node);
    // An argument of an elementwise operator: its own element, or its only one.
    let argument = |number: usize| {
        let own = node.inputs[number];
        Place { node: own, element: if graph.elements(own) == 1 { 0 } else { place.element } }
    };
    let both = |wanted: bool| vec![condition(graph, argument(0), wanted), condition(graph, argument(1), wanted)];
    match &node.op {
        Op::Constant(_) => match graph.constant_value(place.node) {
            Some(value) if (value.data()[place.element] != 0.0) == wanted => always(),
            Some(_) => never(),
            None => by_half(place, wanted),
        },
        Op::Not(_) => condition(graph, argument(0), !wanted),
        Op::And(_) if wanted => and(both(true)),
        Op::And(_) => or(both(false)),
        Op::Or(_) if wanted => or(both(true)),
        Op::Or(_) => and(both(false)),
        Op::Compare(compare) if is_truth(graph, argument(0)) && is_truth(graph, argument(1)) => {
            compared_truths(graph, *compare, argument(0), argument(1), wanted)
        }
        Op::Compare(compare) => compared(graph, *compare, argument(0), argument(1), wanted),
        Op::Select(_) => {
            let under = |chosen: bool, number: usize| {
                and(vec![condition(graph, argument(0), chosen), condition(graph, argument(number), wanted)])
            };
            or(vec![under(true, 1), under(false, 2)])
        }
        Op::Reduce(reduce) if matches!(reduce.kind, ReduceKind::Min | ReduceKind::Max) => {
            let whole = node.inputs[0];
            let targets = reduce.targets(graph.shape(whole));
            let own = targets.iter().enumerate().filter(|&(_, &target)| target == place.element);
            let parts = own.map(|(element, _)| condition(graph, Place { node: whole, element }, wanted)).collect();
            // All of them where `all` is true or `any` is false.
            if (reduce.kind == ReduceKind::Min) == wanted { and(parts) } else { or(parts) }
        }
        Op::ArgMax(_) if node.shape.iter().rev().skip(1).all(|&extent| extent == 1) => {
            chosen(graph, node.inputs[0], place.element, wanted)
        }
        _ => by_half(place, wanted),
    }
}

/// Whether a node is a truth value by its operator.
fn is_truth(graph: &Graph, place: Place) -> bool {
    let place = source(graph, place);
    let node = graph.node(place.node);
    match &node.op {
        Op::Compare(_) | Op::And(_) | Op::Or(_) | Op::Not(_) | Op::ArgMax(_) => true,
        Op::Reduce(_) => is_truth(graph, Place { node: node.inputs[0], element: 0 }),
        Op::Select(_) => node.inputs[1..].iter().all(|&arm| is_truth(graph, Place { node: arm, element: 0 })),
        _ => false,
    }
}

fn compared_truths(graph: &Graph, compare: Compare, left: Place, right: Place, wanted: bool) -> Formula<Place> {
    let same = match compare {
        Compare::Equal => wanted,
        Compare::NotEqual => !wanted,
        _ => return compared(graph, compare, left, right, wanted),
    };
    let pair = |first: bool, second: bool| and(vec![condition(graph, left, first), condition(graph, right, second)]);
    or(vec![pair(true, same), pair(false, !same)])
}

fn compared(graph: &Graph, compare: Compare, left: Place, right: Place, wanted: bool) -> Formula<Place> {
    let (left, right) = (number(graph, left), number(graph, right));
    let below = |strict: bool| at_most(&left, &right, strict);
    let above = |strict: bool| at_most(&right, &left, strict);
    match (compare, wanted) {
        (Compare::Less, true) | (Compare::GreaterEqual, false) => below(true),
        (Compare::LessEqual, true) | (Compare::Greater, false) => below(false),
        (Compare::Greater, true) | (Compare::LessEqual, false) => above(true),
        (Compare::GreaterEqual, true) | (Compare::Less, false) => above(false),
        (Compare::Equal, true) | (Compare::NotEqual, false) => and(vec![below(false), above(false)]),
        (Compare::NotEqual, true) | (Compare::Equal, false) => or(vec![below(true), above(true)]),
    }
}

/// That a label is (or is not) the first of the largest scores.
fn chosen(graph: &Graph, scores: NodeId, label: usize, wanted: bool) -> Formula<Place> {
    let largest = |label: usize| {
        let score = |element: usize| number(graph, Place { node: scores, element });
        let others = (0..graph.elements(scores)).filter(|&other| other != label);
        and(others.map(|other| at_most(&score(other), &score(label), other < label)).collect())
    };
    match wanted {
        true => largest(label),
        false => or((0..graph.elements(scores)).filter(|&other| other != label).map(largest).collect()),
    }
}

/// One way for each label that an arg-max may take: the scores that lead to it, and the label itself, so that whoever
/// follows this way knows what depends on the label.
pub fn label_cases(graph: &Graph, one_hot: NodeId) -> Formula<Place> {
    let scores = match &graph.node(one_hot).op {
        Op::ArgMax(_) => graph.node(one_hot).inputs[0],
        _ => return always(),
    };
    let labels = graph.elements(one_hot);
    let ways = (0..labels).map(|label| and(vec![chosen(graph, scores, label, true), one_label(graph, one_hot, label)]));
    or(ways.collect())
}

/// That a one-hot vector has a label.
pub fn one_label(graph: &Graph, one_hot: NodeId, label: usize) -> Formula<Place> {
    let value = |element: usize| number(graph, Place { node: one_hot, element });
    let constant = |value: f64| Linear::constant(Interval::point(value));
    let elements = (0..graph.elements(one_hot)).map(|element| match element == label {
        true => at_most(&constant(1.0), &value(element), false),
        false => at_most(&value(element), &constant(0.0), false),
    });
    and(elements.collect())
}

fn by_half(place: Place, wanted: bool) -> Formula<Place> {
    let (half, value) = (Linear::constant(Interval::point(0.5)), Linear::variable(place));
    if wanted { at_most(&half, &value, false) } else { at_most(&value, &half, true) }
}
