//! A question made small before anybody searches for an answer.
//!
//! Every rule here leaves the answers to a question as they are: labels that the formula prescribes become constants of the graph, bounds of single
//! free numbers become part of the box, nodes that enclosures fix become constants, and comparisons that enclosures decide go. One leaves whether
//! there is an answer: a free number that matters in one direction, or not at all, has its best value.

use std::collections::HashMap;

use certus_graph::canonical::simplified;
use certus_graph::eval::enclose_nodes;
use certus_graph::ops::{Op, ReduceKind};
use certus_graph::{Graph, GraphError, Interval, Node, NodeId, Tensor};

use crate::formula::{Formula, Place, Sum};
use crate::run::Box;
use crate::truth::{compared, is_one_vector, is_truth, origin, sum_of, takes};

/// A graph of one vector, a box that the vector lies in, and what is asked of it.
pub(crate) struct Question {
    pub(crate) graph: Graph,
    pub(crate) free: Box,
    pub(crate) formula: Formula,
}

/// How often what was settled may settle something else.
const ROUNDS: usize = 6;

impl Question {
    /// Makes the question small; its truth values become comparisons.
    pub(crate) fn settled(mut self) -> Result<Question, GraphError> {
        self.prescribe()?;
        self.settle()?;
        self.pin();
        self.settle()?;
        Ok(self)
    }

    fn settle(&mut self) -> Result<(), GraphError> {
        for _ in 0..ROUNDS {
            let before = (self.free.clone(), self.formula.clone(), self.graph.len());
            self.narrow();
            if self.free.iter().any(|(low, high)| low > high) {
                break;
            }
            let free: Vec<Interval> = self.free.iter().map(|&(lo, hi)| Interval { lo, hi }).collect();
            let values = enclose_nodes(&self.graph, &[&free])?;
            let fixed = self.fixed_nodes(&values);
            self.formula = self.formula.decided(&|place| values[place.node.index()][place.element]);
            self.replace(&fixed)?;
            if before == (self.free.clone(), self.formula.clone(), self.graph.len()) {
                break;
            }
        }
        if self.free.iter().any(|(low, high)| low > high) {
            self.formula = Formula::FALSE;
        }
        Ok(())
    }

    /// Gives free numbers that are only compared, always in the same direction, the end of their range where most is satisfied;
    /// and any value of it to those that nothing reads. There is no negation, so whatever was satisfied still is.
    fn pin(&mut self) {
        let mut directions = vec![(false, false); self.free.len()];
        let is_free = |node: NodeId| matches!(self.graph.node(node).op, Op::Input(_));
        let mut live: Vec<bool> = vec![false; self.graph.len()];
        self.formula.atoms(&mut |place, coefficient| match is_free(place.node) {
            true => {
                let (falls, rises) = &mut directions[place.element];
                *falls |= coefficient.lo < 0.0;
                *rises |= coefficient.hi > 0.0;
            }
            false => live[place.node.index()] = true,
        });
        let nodes: Vec<(usize, &Node)> = self.graph.nodes().iter().enumerate().collect();
        for &(index, node) in nodes.iter().rev() {
            if !live[index] {
                continue;
            }
            for &input in &node.inputs {
                match (is_free(input), &node.op) {
                    (false, _) => live[input.index()] = true,
                    (true, Op::Gather(gather)) => gather.indices.iter().for_each(|&own| directions[own] = (true, true)),
                    (true, _) => directions.fill((true, true)),
                }
            }
        }
        for ((low, high), directions) in self.free.iter_mut().zip(directions) {
            // An empty range stays empty, and one without ends stays as it is.
            match directions {
                _ if *low > *high => {}
                (false, _) if low.is_finite() => *high = *low,
                (_, false) if high.is_finite() => *low = *high,
                _ => {}
            }
        }
    }

    /// What must hold whatever else does.
    fn required(&self) -> &[Formula] {
        match &self.formula {
            Formula::And(parts) => parts,
            one => std::slice::from_ref(one),
        }
    }

    /// Truth values that must be as they are wanted, and labels that these prescribe, become constants of the graph; what they ask of
    /// numbers stays in the formula.
    fn prescribe(&mut self) -> Result<(), GraphError> {
        // Equal nodes are one from here on.
        self.replace(&HashMap::new())?;
        let mut constants = HashMap::new();
        let mut parts = Vec::new();
        for part in self.required() {
            parts.push(compared(&self.graph, part));
            if let Formula::Truth(place, wanted) = part {
                prescribed(&self.graph, *place, *wanted, &mut constants, &mut parts)?;
            }
        }
        self.formula = Formula::all(parts);
        self.replace(&constants)
    }

    /// Bounds of single free numbers become part of the box; those that are not exact or strict stay in the formula as well.
    fn narrow(&mut self) {
        let mut free = self.free.clone();
        let mut kept = Vec::new();
        for part in self.required() {
            let Formula::Atom { sum: Sum { terms, constant }, strict } = part else {
                kept.push(part.clone());
                continue;
            };
            let is_free = |place: &Place| matches!(self.graph.node(place.node).op, Op::Input(_));
            let mut exact = false;
            if let [(place, coefficient)] = terms.as_slice()
                && is_free(place)
                && (coefficient.lo > 0.0 || coefficient.hi < 0.0)
            {
                let end = -*constant / *coefficient;
                exact = !strict && end.lo == end.hi;
                let own = &mut free[place.element];
                match coefficient.lo > 0.0 {
                    true => own.1 = own.1.min(end.hi),
                    false => own.0 = own.0.max(end.lo),
                }
            }
            if !exact {
                kept.push(part.clone());
            }
        }
        self.formula = Formula::all(kept);
        self.free = free;
    }

    /// Nodes, other than free numbers and constants, that have one value throughout.
    fn fixed_nodes(&self, values: &[Vec<Interval>]) -> HashMap<NodeId, Tensor> {
        let nodes = self.graph.ids().zip(self.graph.nodes()).zip(values);
        nodes
            .filter(|((_, node), own)| {
                let fixed = own.iter().all(|value| value.lo == value.hi && value.lo.is_finite());
                fixed && !own.is_empty() && !matches!(node.op, Op::Input(_) | Op::Constant(_))
            })
            .filter_map(|((id, node), own)| {
                let tensor = Tensor::new(node.shape.clone(), own.iter().map(|value| value.lo).collect()).ok()?;
                Some((id, tensor))
            })
            .collect()
    }

    /// Puts constants in place of nodes, and keeps only what the formula speaks of.
    fn replace(&mut self, constants: &HashMap<NodeId, Tensor>) -> Result<(), GraphError> {
        let mut graph = Graph::new();
        let mut mapped: Vec<NodeId> = Vec::with_capacity(self.graph.len());
        for (id, node) in self.graph.ids().zip(self.graph.nodes()) {
            let inputs: Vec<NodeId> = node.inputs.iter().map(|input| mapped[input.index()]).collect();
            mapped.push(match (&node.op, constants.get(&id)) {
                (Op::Input(_), _) => graph.input("free", &node.shape),
                (_, Some(value)) => graph.constant(value.clone()),
                (op, None) => graph.apply(op.clone(), &inputs)?,
            });
        }
        let spoken = self.formula.nodes();
        for node in &spoken {
            graph.output("", mapped[node.index()]);
        }
        let mut simpler = simplified(&graph)?;
        let places: HashMap<NodeId, NodeId> =
            spoken.into_iter().zip(simpler.outputs()).map(|(node, port)| (node, port.node)).collect();
        let moved = |place: Place| Place { node: places.get(&place.node).copied().unwrap_or(place.node), ..place };
        // A comparison of numbers that are only moved is about the numbers themselves.
        self.formula = self.formula.map(&mut |leaf| match leaf {
            Formula::Truth(place, wanted) => Formula::Truth(moved(*place), *wanted),
            Formula::Atom { sum, strict } => {
                let mut own = Sum { terms: Vec::new(), constant: sum.constant };
                for &(place, coefficient) in &sum.terms {
                    let value = sum_of(&simpler, moved(place));
                    match coefficient.lo == coefficient.hi {
                        true => own.add(coefficient.lo, &value),
                        false if value.terms.is_empty() => own.constant = own.constant + coefficient * value.constant,
                        false => own.terms.push((value.terms[0].0, coefficient)),
                    }
                }
                Formula::at_most(&own, &Sum::constant(0.0), *strict)
            }
            other => other.clone(),
        });
        std::mem::swap(&mut self.graph, &mut simpler);
        Ok(())
    }
}

/// The nodes whose value a truth value prescribes: itself, what it is made of, and the label of an arg-max. What leads to a label is asked for as well.
fn prescribed(
    graph: &Graph,
    place: Place,
    wanted: bool,
    found: &mut HashMap<NodeId, Tensor>,
    parts: &mut Vec<Formula>,
) -> Result<(), GraphError> {
    let place = origin(graph, place);
    let node = graph.node(place.node);
    if matches!(node.op, Op::Input(_) | Op::Constant(_)) || found.contains_key(&place.node) {
        return Ok(());
    }
    let arguments: Vec<Place> = (node.inputs.iter())
        .map(|&own| Place { node: own, element: if graph.elements(own) == 1 { 0 } else { place.element } })
        .collect();
    match &node.op {
        // A second label for the same choice contradicts the first, which the comparisons of the scores will show.
        Op::ArgMax(_) if wanted && is_one_vector(&node.shape) => {
            parts.push(takes(graph, node.inputs[0], place.element));
            let one_hot = (0..graph.elements(place.node)).map(|own| f64::from(u8::from(own == place.element)));
            found.insert(place.node, Tensor::new(node.shape.clone(), one_hot.collect())?);
            return Ok(());
        }
        Op::Not(_) | Op::And(_) | Op::Or(_) | Op::Compare(_) | Op::Reduce(_) => {}
        _ => return Ok(()),
    }
    if graph.elements(place.node) == 1 && is_truth(graph, place) {
        found.insert(place.node, Tensor::new(node.shape.clone(), vec![f64::from(u8::from(wanted))])?);
    }
    match &node.op {
        Op::Not(_) => prescribed(graph, arguments[0], !wanted, found, parts),
        Op::And(_) if wanted => arguments.iter().try_for_each(|&own| prescribed(graph, own, true, found, parts)),
        Op::Or(_) if !wanted => arguments.iter().try_for_each(|&own| prescribed(graph, own, false, found, parts)),
        Op::Reduce(reduce) if reduce.kind == ReduceKind::Min && wanted => {
            let whole = node.inputs[0];
            let targets = reduce.targets(graph.shape(whole));
            let mut own = (0..targets.len()).filter(|&element| targets[element] == place.element);
            own.try_for_each(|element| prescribed(graph, Place { node: whole, element }, true, found, parts))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use certus_graph::ops::{Gather, Relu};

    use super::*;

    fn number(node: NodeId, element: usize) -> Sum {
        Sum::element(Place { node, element })
    }

    /// Four free numbers, the last of which a node reads.
    fn question(formula: impl Fn(NodeId, NodeId) -> Formula) -> Question {
        let mut graph = Graph::new();
        let free = graph.input("free", &[4]);
        let last = graph.apply(Gather { axis: 0, indices: vec![3], index_shape: vec![1] }, &[free]).unwrap();
        let read = graph.apply(Relu, &[last]).unwrap();
        let formula = formula(free, read);
        Question { graph, free: vec![(0.0, 1.0); 4], formula }
    }

    #[test]
    fn numbers_that_matter_in_one_direction_have_their_best_value() {
        // Number 0 is only below others, number 1 on both sides, number 2 nowhere, number 3 inside of what is computed.
        let mut own = question(|free, read| {
            let below = |left: Sum, right: Sum| Formula::at_most(&left, &right, false);
            Formula::any([below(number(free, 0), number(free, 1)), below(number(free, 1), number(read, 0))])
        });
        own.pin();
        assert_eq!(own.free, [(0.0, 0.0), (0.0, 1.0), (0.0, 0.0), (0.0, 1.0)]);
        own.free[0] = (2.0, 1.0);
        own.pin();
        assert_eq!(own.free[0], (2.0, 1.0));
    }

    #[test]
    fn bounds_of_free_numbers_move_into_the_box_and_inexact_ones_stay_as_well() {
        let own = question(|free, read| {
            let mut third = Sum::constant(-1.0);
            third.add(3.0, &number(free, 1));
            Formula::all([
                Formula::at_most(&number(free, 3), &Sum::constant(0.5), false),
                Formula::at_most(&third, &Sum::constant(0.0), false),
                Formula::at_most(&Sum::constant(0.25), &number(read, 0), true),
            ])
        });
        let own = own.settled().unwrap();
        assert_eq!(own.free[3], (0.0, 0.5));
        // Number 1 matters no more: its range is a point within it.
        assert_eq!(own.free[1], (0.0, 0.0));
        assert!(!own.formula.is_false());
        let own = question(|free, read| {
            Formula::all([
                Formula::at_most(&number(free, 3), &Sum::constant(0.5), false),
                Formula::at_most(&Sum::constant(0.5), &number(read, 0), true),
            ])
        });
        assert!(own.settled().unwrap().formula.is_false());
    }
}
