//! Truth values of the graph as comparisons of its numbers.
//!
//! A condition of a system is a node that is 0 or 1, made of comparisons, connectives and choices of labels. It is followed
//! back to comparisons, with the polarity that is wanted. A truth value that is made in any other way is compared with one half, which
//! is right for whatever is 0 or 1.

use certus_graph::ops::{Compare, Movement, Op, ReduceKind};
use certus_graph::{Graph, NodeId};

use crate::formula::{Formula, Place, Sum};

/// Where an element comes from, through operators that only move numbers.
pub(crate) fn origin(graph: &Graph, mut place: Place) -> Place {
    fn moved(graph: &Graph, movement: &impl Movement, place: Place) -> Option<Place> {
        let node = graph.node(place.node);
        let shapes: Vec<&[usize]> = node.inputs.iter().map(|&input| graph.shape(input)).collect();
        let (mut found, mut element_of_result) = (None, 0);
        movement.sources(&shapes, &node.shape, &mut |argument, element| {
            if element_of_result == place.element {
                found = Some(Place { node: node.inputs[argument], element });
            }
            element_of_result += 1;
        });
        found
    }
    loop {
        let before = match &graph.node(place.node).op {
            Op::Reshape(own) => moved(graph, own, place),
            Op::Slice(own) => moved(graph, own, place),
            Op::Gather(own) => moved(graph, own, place),
            Op::Transpose(own) => moved(graph, own, place),
            Op::Concat(own) => moved(graph, own, place),
            _ => None,
        };
        match before {
            Some(before) => place = before,
            None => return place,
        }
    }
}

/// An element as a sum: a number where it is one.
pub(crate) fn sum_of(graph: &Graph, place: Place) -> Sum {
    let place = origin(graph, place);
    match graph.constant_value(place.node) {
        Some(value) => Sum::constant(value.data()[place.element]),
        None => Sum::element(place),
    }
}

/// All elements of a node as sums.
pub(crate) fn sums_of(graph: &Graph, node: NodeId) -> impl Iterator<Item = Sum> + '_ {
    (0..graph.elements(node)).map(move |element| sum_of(graph, Place { node, element }))
}

/// A formula whose truth values are comparisons.
pub(crate) fn compared(graph: &Graph, formula: &Formula) -> Formula {
    formula.map(&mut |leaf| match leaf {
        Formula::Truth(place, wanted) => truth(graph, *place, *wanted),
        other => other.clone(),
    })
}

fn truth(graph: &Graph, place: Place, wanted: bool) -> Formula {
    let place = origin(graph, place);
    let node = graph.node(place.node);
    // What an elementwise operator reads here: a single value is read everywhere. Truth values of other shapes are not taken apart.
    let Some(arguments) = elementwise(graph, place) else { return by_half(place, wanted) };
    let of = |number: usize, wanted: bool| truth(graph, arguments[number], wanted);
    match &node.op {
        Op::Constant(_) => match graph.constant_value(place.node) {
            Some(value) => Formula::constant((value.data()[place.element] != 0.0) == wanted),
            None => by_half(place, wanted),
        },
        Op::Not(_) => of(0, !wanted),
        // De Morgan: a conjunction that is wanted, or a disjunction that is not, asks for both.
        Op::And(_) if wanted => Formula::all([of(0, true), of(1, true)]),
        Op::And(_) => Formula::any([of(0, false), of(1, false)]),
        Op::Or(_) if wanted => Formula::any([of(0, true), of(1, true)]),
        Op::Or(_) => Formula::all([of(0, false), of(1, false)]),
        Op::Select(_) => {
            let first = Formula::all([of(0, true), of(1, wanted)]);
            Formula::any([first, Formula::all([of(0, false), of(2, wanted)])])
        }
        Op::Compare(Compare::Equal | Compare::NotEqual) if arguments.iter().all(|&own| is_truth(graph, own)) => {
            let same = matches!(node.op, Op::Compare(Compare::Equal)) == wanted;
            let both = |left: bool| Formula::all([of(0, left), of(1, left == same)]);
            Formula::any([both(true), both(false)])
        }
        Op::Compare(compare) => {
            let compare = if wanted { *compare } else { compare.negated() };
            let (left, right) = (sum_of(graph, arguments[0]), sum_of(graph, arguments[1]));
            let below = |strict| Formula::at_most(&left, &right, strict);
            let above = |strict| Formula::at_most(&right, &left, strict);
            match compare {
                Compare::Less => below(true),
                Compare::LessEqual => below(false),
                Compare::Greater => above(true),
                Compare::GreaterEqual => above(false),
                Compare::Equal => Formula::all([below(false), above(false)]),
                Compare::NotEqual => Formula::any([below(true), above(true)]),
            }
        }
        Op::Reduce(reduce) if matches!(reduce.kind, ReduceKind::Min | ReduceKind::Max) => {
            let whole = node.inputs[0];
            let targets = reduce.targets(graph.shape(whole));
            let own = (0..targets.len()).filter(|&element| targets[element] == place.element);
            let parts = own.map(|element| truth(graph, Place { node: whole, element }, wanted));
            // The minimum of truth values says `all`, the maximum says `any`.
            match (reduce.kind == ReduceKind::Min) == wanted {
                true => Formula::all(parts),
                false => Formula::any(parts),
            }
        }
        Op::ArgMax(_) if is_one_vector(&node.shape) => match wanted {
            true => takes(graph, node.inputs[0], place.element),
            false => {
                let others = (0..graph.elements(place.node)).filter(|&label| label != place.element);
                Formula::any(others.map(|label| takes(graph, node.inputs[0], label)))
            }
        },
        _ => by_half(place, wanted),
    }
}

/// The arguments' elements that an element of an elementwise operator reads, where that is plain.
fn elementwise(graph: &Graph, place: Place) -> Option<Vec<Place>> {
    let node = graph.node(place.node);
    let is_elementwise = matches!(node.op, Op::Not(_) | Op::And(_) | Op::Or(_) | Op::Select(_) | Op::Compare(_));
    if !is_elementwise {
        return Some(Vec::new());
    }
    let count = graph.elements(place.node);
    let argument = |&own: &NodeId| match graph.elements(own) {
        1 => Some(Place { node: own, element: 0 }),
        elements if elements == count => Some(Place { node: own, element: place.element }),
        _ => None,
    };
    node.inputs.iter().map(argument).collect()
}

pub(crate) fn is_one_vector(shape: &[usize]) -> bool {
    shape.iter().rev().skip(1).all(|&extent| extent == 1)
}

/// Whether an element is 0 or 1 because of its operator.
pub(crate) fn is_truth(graph: &Graph, place: Place) -> bool {
    let place = origin(graph, place);
    let node = graph.node(place.node);
    matches!(&node.op, Op::Compare(_) | Op::And(_) | Op::Or(_) | Op::Not(_) | Op::ArgMax(_))
}

/// That an arg-max takes a label: the first of the largest scores.
pub(crate) fn takes(graph: &Graph, scores: NodeId, label: usize) -> Formula {
    let score = |element: usize| sum_of(graph, Place { node: scores, element });
    let others = (0..graph.elements(scores)).filter(|&other| other != label);
    // An earlier label with the same score would have been taken.
    Formula::all(others.map(|other| Formula::at_most(&score(other), &score(label), other < label)))
}

/// That a one-hot vector has a label.
pub(crate) fn has_label(graph: &Graph, one_hot: NodeId, label: usize) -> Formula {
    Formula::all(sums_of(graph, one_hot).enumerate().map(|(element, value)| match element == label {
        true => Formula::at_most(&Sum::constant(1.0), &value, false),
        false => Formula::at_most(&value, &Sum::constant(0.0), false),
    }))
}

fn by_half(place: Place, wanted: bool) -> Formula {
    let (half, value) = (Sum::constant(0.5), Sum::element(place));
    match wanted {
        true => Formula::at_most(&half, &value, false),
        false => Formula::at_most(&value, &half, true),
    }
}
