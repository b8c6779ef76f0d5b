//! Taylor coefficients in time of the solutions of a differential equation, over any [`Algebra`].
//!
//! The right-hand side is a lowered graph. Given the coefficients of the state up to order k, one pass over its nodes gives coefficient k of every node; those of the
//! results, divided by k + 1, are coefficient k + 1 of the state (Moore, *Interval Analysis*, 1966, chapter 11).

use std::collections::HashMap;

use certus_graph::lower::Kind;
use certus_graph::ops::{Movement, Op};
use certus_graph::{Graph, GraphError, Interval, Node, NodeId};

use crate::curve::Curve;
use crate::smooth::{Algebra, Composed, cauchy};

/// A right-hand side in the kinds of nodes that coefficients are computed for.
#[derive(Debug)]
pub(crate) struct RightHandSide {
    pub(crate) graph: Graph,
    curves: HashMap<NodeId, (Curve, NodeId)>,
}

/// The linear pieces that curves with kinks and jumps are on, by node and element.
pub(crate) type Pieces = HashMap<(usize, usize), (f64, f64)>;

/// What a node's element is, as a series.
#[derive(Clone, Debug)]
enum Element<V> {
    Plain(Vec<V>),
    Composed(Box<Composed<V>>),
    /// Powers of the argument up to the one that is wanted.
    Powers(Vec<Vec<V>>),
}

impl<V> Element<V> {
    fn coefficients(&self) -> &[V] {
        match self {
            Element::Plain(own) => own,
            Element::Composed(own) => &own.y,
            Element::Powers(own) => own.last().map_or(&[], Vec::as_slice),
        }
    }
}

impl RightHandSide {
    /// The right-hand side of a graph, brought into lowered form.
    pub(crate) fn new(graph: &Graph) -> Result<RightHandSide, GraphError> {
        let graph = certus_graph::lower::lower(graph)?;
        let curves = graph.ids().filter_map(|id| Some((id, Curve::of(&graph, graph.node(id))?))).collect();
        Ok(RightHandSide { graph, curves })
    }

    /// Coefficients 0 to `order` of the state, `[k][variable]`. `others` are the graph's inputs after the state, which do not change. `pieces` says which piece a curve with
    /// kinks is on; one that it does not name makes this fail.
    pub(crate) fn coefficients<A: Algebra>(
        &self,
        a: &mut A,
        state: &[A::Value],
        others: &[Vec<A::Value>],
        pieces: &Pieces,
        order: usize,
    ) -> Option<Vec<Vec<A::Value>>> {
        let mut elements: Vec<Vec<Element<A::Value>>> = Vec::new();
        let mut found = vec![state.to_vec()];
        for k in 0..order {
            self.advance(a, &mut elements, &found, others, pieces, k)?;
            let share = Interval::ONE / Interval::point((k + 1) as f64);
            let results: Vec<A::Value> = self.results(&elements).map(|own| a.scale(&own[k], share)).collect();
            if results.len() != state.len() {
                return None;
            }
            found.push(results);
        }
        Some(found)
    }

    fn results<'e, V>(&'e self, elements: &'e [Vec<Element<V>>]) -> impl Iterator<Item = &'e [V]> {
        self.graph.outputs().iter().flat_map(|port| &elements[port.node.index()]).map(Element::coefficients)
    }

    /// Coefficient k of every node.
    fn advance<A: Algebra>(
        &self,
        a: &mut A,
        elements: &mut Vec<Vec<Element<A::Value>>>,
        state: &[Vec<A::Value>],
        others: &[Vec<A::Value>],
        pieces: &Pieces,
        k: usize,
    ) -> Option<()> {
        let mut ports = 0;
        for (index, id) in self.graph.ids().enumerate() {
            let node = self.graph.node(id);
            let count = self.graph.elements(id);
            let mut own = match k {
                0 => (0..count).map(|_| Element::Plain(Vec::new())).collect(),
                _ => std::mem::take(&mut elements[index]),
            };
            match (&node.op, Kind::of(&self.graph, id)) {
                (Op::Input(_), _) => {
                    for (place, element) in own.iter_mut().enumerate() {
                        let value = match (ports, k) {
                            (0, _) => state[k].get(place)?.clone(),
                            (_, 0) => others.get(ports - 1)?.get(place)?.clone(),
                            _ => a.constant(Interval::ZERO),
                        };
                        push(element, value);
                    }
                    ports += 1;
                }
                (Op::Constant(constant), _) => {
                    for (place, element) in own.iter_mut().enumerate() {
                        let value = if k == 0 { constant.interval(place) } else { Interval::ZERO };
                        push(element, a.constant(value));
                    }
                }
                (Op::Affine(affine), _) => {
                    for (row, element) in own.iter_mut().enumerate() {
                        let mut terms: Vec<(f64, &A::Value)> = Vec::new();
                        for (argument, matrix) in affine.matrices().iter().enumerate() {
                            let inputs = &elements[node.inputs[argument].index()];
                            for (column, weight) in matrix.row(row) {
                                terms.push((weight, inputs[column].coefficients().get(k)?));
                            }
                        }
                        let bias = match k {
                            0 => Interval::point(affine.bias()[row]).widen(affine.bias_error(row)),
                            _ => Interval::ZERO,
                        };
                        push(element, a.combine(&terms, affine.weight_error(row), bias));
                    }
                }
                (_, Kind::Movement) => {
                    for (element, (input, place)) in own.iter_mut().zip(moved(&self.graph, node)?) {
                        push(element, elements[input.index()][place].coefficients().get(k)?.clone());
                    }
                }
                (_, Kind::Curve) => {
                    let (curve, argument) = *self.curves.get(&id)?;
                    for (place, element) in own.iter_mut().enumerate() {
                        let x = elements[argument.index()][place].coefficients();
                        curve_coefficient(a, curve, x, pieces.get(&(index, place)), element, k)?;
                    }
                }
                (_, Kind::Product) => {
                    let [left, right] = [0, 1].map(|place| node.inputs[place].index());
                    for (place, element) in own.iter_mut().enumerate() {
                        let (x, y) = (elements[left][place].coefficients(), elements[right][place].coefficients());
                        push(element, cauchy(a, x, y, k, 0));
                    }
                }
                _ => return None,
            }
            match k {
                0 => elements.push(own),
                _ => elements[index] = own,
            }
        }
        Some(())
    }

    /// The derivative over boxes, and the pieces that curves with kinks and jumps are on there; nothing for the pieces if one is on several, or for both if something may be
    /// undefined.
    pub(crate) fn over_box(
        &self,
        state: &[Interval],
        others: &[Vec<Interval>],
    ) -> Option<(Vec<Interval>, Option<Pieces>)> {
        let mut pieces = Some(Pieces::new());
        let mut values: Vec<Vec<Interval>> = Vec::with_capacity(self.graph.len());
        let mut ports = 0;
        for (index, id) in self.graph.ids().enumerate() {
            let node = self.graph.node(id);
            let own: Vec<Interval> = match &node.op {
                Op::Input(_) => {
                    ports += 1;
                    if ports == 1 { state.to_vec() } else { others.get(ports - 2)?.clone() }
                }
                _ => match self.curves.get(&id) {
                    Some(&(curve, argument)) => {
                        let mut own = Vec::new();
                        for (place, &x) in values[argument.index()].iter().enumerate() {
                            own.push(curve.value(x)?);
                            if matches!(curve, Curve::Smooth(_) | Curve::Natural(_)) {
                                continue;
                            }
                            match (curve.piece(x), &mut pieces) {
                                (Some(piece), Some(known)) => {
                                    known.insert((index, place), piece);
                                }
                                _ => pieces = None,
                            }
                        }
                        own
                    }
                    None => enclosed(&self.graph, node, &values),
                },
            };
            if own.len() != self.graph.elements(id) {
                return None;
            }
            values.push(own);
        }
        let slopes = self.graph.outputs().iter().flat_map(|port| values[port.node.index()].iter().copied()).collect();
        Some((slopes, pieces))
    }
}

/// What an operator makes of intervals.
pub(crate) fn enclosed(graph: &Graph, node: &Node, values: &[Vec<Interval>]) -> Vec<Interval> {
    use certus_graph::ops::{Arg, Operator};
    let arguments: Vec<Arg<'_, Interval>> = node
        .inputs
        .iter()
        .map(|input| Arg { shape: graph.shape(*input), values: values[input.index()].as_slice() })
        .collect();
    let mut result = vec![Interval::ENTIRE; node.shape.iter().product()];
    node.op.enclose(&arguments, &node.shape, &mut result);
    result
}

/// Where the elements of a node that only moves numbers come from.
pub(crate) fn moved(graph: &Graph, node: &Node) -> Option<Vec<(NodeId, usize)>> {
    fn sources(graph: &Graph, node: &Node, movement: &impl Movement) -> Vec<(NodeId, usize)> {
        let shapes: Vec<&[usize]> = node.inputs.iter().map(|&input| graph.shape(input)).collect();
        let mut found = Vec::new();
        movement.sources(&shapes, &node.shape, &mut |argument, element| found.push((node.inputs[argument], element)));
        found
    }
    Some(match &node.op {
        Op::Reshape(own) => sources(graph, node, own),
        Op::Slice(own) => sources(graph, node, own),
        Op::Gather(own) => sources(graph, node, own),
        Op::Transpose(own) => sources(graph, node, own),
        Op::Concat(own) => sources(graph, node, own),
        _ => return None,
    })
}

fn push<V>(element: &mut Element<V>, value: V) {
    if let Element::Plain(own) = element {
        own.push(value);
    }
}

fn curve_coefficient<A: Algebra>(
    a: &mut A,
    curve: Curve,
    x: &[A::Value],
    piece: Option<&(f64, f64)>,
    element: &mut Element<A::Value>,
    k: usize,
) -> Option<()> {
    match curve {
        Curve::Smooth(smooth) => {
            if k == 0 {
                *element = Element::Composed(Box::new(Composed::new(smooth)));
            }
            let Element::Composed(own) = element else { return None };
            own.extend(a, &x[..=k])
        }
        Curve::Natural(power) => {
            if k == 0 {
                *element = Element::Powers(vec![Vec::new(); power as usize + 1]);
            }
            let Element::Powers(own) = element else { return None };
            own[0].push(a.constant(if k == 0 { Interval::ONE } else { Interval::ZERO }));
            for exponent in 1..own.len() {
                let value = match exponent {
                    1 => x[k].clone(),
                    // Squares are never negative, which a product of two series cannot see.
                    2 if k == 0 => a.mul(&x[0], &x[0]),
                    _ => {
                        let (before, _) = own.split_at(exponent);
                        cauchy(a, x, &before[exponent - 1], k, 0)
                    }
                };
                own[exponent].push(value);
            }
            Some(())
        }
        _ => {
            let &(slope, offset) = piece?;
            let bias = if k == 0 { Interval::point(offset) } else { Interval::ZERO };
            push(element, a.combine(&[(slope, &x[k])], 0.0, bias));
            Some(())
        }
    }
}
