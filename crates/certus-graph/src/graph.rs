//! The graph: nodes in topological order, named inputs and outputs.

use crate::ops::{Arity, Constant, Input, Op, Operator, Reshape};
use crate::shape::MAX_ELEMENTS;
use crate::{GraphError, Shape, Tensor, element_count};

/// A node of a graph, by its place in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(u32);

impl NodeId {
    /// The node's place in [`Graph::nodes`].
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// One application of an operator.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// The operator.
    pub op: Op,
    /// Its arguments: nodes that stand earlier in the graph.
    pub inputs: Vec<NodeId>,
    /// The shape of its result.
    pub shape: Shape,
}

/// A named input or output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Port {
    /// The name.
    pub name: String,
    /// The node.
    pub node: NodeId,
}

/// A function from named tensors to named tensors, as a directed acyclic graph of operators.
///
/// Nodes are in topological order by construction: [`Graph::apply`] takes nodes that exist already.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Graph {
    nodes: Vec<Node>,
    inputs: Vec<Port>,
    outputs: Vec<Port>,
}

impl Graph {
    /// A graph without nodes.
    pub fn new() -> Self {
        Graph::default()
    }

    fn push(&mut self, op: Op, inputs: Vec<NodeId>, shape: Shape) -> NodeId {
        let id = NodeId(u32::try_from(self.nodes.len()).expect("a graph has fewer than 2^32 nodes"));
        debug_assert!(inputs.iter().all(|input| input.index() < id.index()), "an argument comes after its operator");
        self.nodes.push(Node { op, inputs, shape });
        id
    }

    /// Declares a free tensor.
    pub fn input(&mut self, name: &str, shape: &[usize]) -> NodeId {
        let node = self.push(Op::Input(Input), Vec::new(), shape.to_vec());
        self.inputs.push(Port { name: name.to_owned(), node });
        node
    }

    /// Adds a constant.
    pub fn constant(&mut self, value: Tensor) -> NodeId {
        let shape = value.shape().to_vec();
        self.push(Op::Constant(Constant::exact(value)), Vec::new(), shape)
    }

    /// Adds a constant of shape `[]`.
    pub fn scalar(&mut self, value: f64) -> NodeId {
        self.constant(Tensor::scalar(value))
    }

    /// Applies an operator to nodes of this graph, after checking their number and shapes.
    pub fn apply(&mut self, op: impl Into<Op>, args: &[NodeId]) -> Result<NodeId, GraphError> {
        let op = op.into();
        let (fits, expected) = match op.arity() {
            Arity::Exactly(n) => (args.len() == n, format!("{n} arguments")),
            Arity::AtLeast(n) => (args.len() >= n, format!("at least {n} arguments")),
        };
        if !fits {
            return Err(GraphError::Arity { op: op.name(), expected, found: args.len() });
        }
        let shapes: Vec<&[usize]> = args.iter().map(|&arg| self.shape(arg)).collect();
        let shape = op.infer(&shapes)?;
        if element_count(&shape).is_none() {
            let message = format!("a result of shape {shape:?} is beyond {MAX_ELEMENTS} elements");
            return Err(GraphError::shape(op.name(), message));
        }
        Ok(self.push(op, args.to_vec(), shape))
    }

    /// Names a node as an output.
    pub fn output(&mut self, name: &str, node: NodeId) {
        self.outputs.push(Port { name: name.to_owned(), node });
    }

    /// Copies another graph's nodes into this one, its inputs replaced by `args` (reshaped where only the shape
    /// differs), and returns what its outputs have become.
    pub fn inline(&mut self, other: &Graph, args: &[NodeId]) -> Result<Vec<NodeId>, GraphError> {
        if args.len() != other.inputs.len() {
            let message = format!("a graph with {} inputs got {} arguments", other.inputs.len(), args.len());
            return Err(GraphError::Inputs(message));
        }
        let mut place: Vec<Option<NodeId>> = vec![None; other.nodes.len()];
        for (port, &arg) in other.inputs.iter().zip(args) {
            let shape = other.shape(port.node);
            let fitted = match self.shape(arg) == shape {
                true => arg,
                false => self.apply(Reshape { shape: shape.to_vec() }, &[arg])?,
            };
            place[port.node.index()] = Some(fitted);
        }
        let mut mapped: Vec<NodeId> = Vec::with_capacity(other.nodes.len());
        for (index, node) in other.nodes.iter().enumerate() {
            let id = match place[index] {
                Some(id) => id,
                None => {
                    let inputs = node.inputs.iter().map(|input| mapped[input.index()]).collect();
                    self.push(node.op.clone(), inputs, node.shape.clone())
                }
            };
            mapped.push(id);
        }
        Ok(other.outputs.iter().map(|port| mapped[port.node.index()]).collect())
    }

    /// All nodes, in topological order.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// All nodes' ids, in topological order.
    pub fn ids(&self) -> impl Iterator<Item = NodeId> + use<> {
        (0..self.nodes.len() as u32).map(NodeId)
    }

    /// A node.
    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.index()]
    }

    /// The shape of a node's result.
    pub fn shape(&self, id: NodeId) -> &[usize] {
        &self.nodes[id.index()].shape
    }

    /// The number of elements of a node's result.
    pub fn elements(&self, id: NodeId) -> usize {
        self.shape(id).iter().product()
    }

    /// The named inputs, in the order of their declaration.
    pub fn inputs(&self) -> &[Port] {
        &self.inputs
    }

    /// The named outputs, in the order of their declaration.
    pub fn outputs(&self) -> &[Port] {
        &self.outputs
    }

    /// The number of nodes.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether there is no node.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// The value of a node that is an exact constant.
    pub fn constant_value(&self, id: NodeId) -> Option<&Tensor> {
        match &self.node(id).op {
            Op::Constant(constant) if constant.is_exact() => Some(constant.value()),
            _ => None,
        }
    }

    /// The number of weights and biases: all numbers of affine maps, convolutions and constants.
    pub fn parameters(&self) -> usize {
        let count = |node: &Node| match &node.op {
            Op::Affine(affine) => affine.matrices().iter().map(|m| m.stored()).sum::<usize>() + affine.bias().len(),
            Op::Conv(conv) => conv.weight().len() + conv.bias().len(),
            Op::Constant(constant) => constant.value().len(),
            _ => 0,
        };
        self.nodes.iter().map(count).sum()
    }

    /// The part of the graph that the given outputs (by index) depend on, with all inputs kept.
    pub fn keep_outputs(&self, outputs: &[usize]) -> Graph {
        let mut kept = self.clone();
        kept.outputs = outputs.iter().map(|&index| self.outputs[index].clone()).collect();
        kept.without_dead_nodes()
    }

    /// The same graph without the nodes that no output depends on. Inputs stay, used or not.
    pub fn without_dead_nodes(&self) -> Graph {
        let mut live = vec![false; self.nodes.len()];
        for port in self.outputs.iter().chain(&self.inputs) {
            live[port.node.index()] = true;
        }
        for index in (0..self.nodes.len()).rev().filter(|&index| live[index]).collect::<Vec<_>>() {
            mark(&self.nodes, index, &mut live);
        }
        let mut graph = Graph::new();
        let mut mapped = vec![NodeId(0); self.nodes.len()];
        for (index, node) in self.nodes.iter().enumerate().filter(|&(index, _)| live[index]) {
            let inputs = node.inputs.iter().map(|input| mapped[input.index()]).collect();
            mapped[index] = graph.push(node.op.clone(), inputs, node.shape.clone());
        }
        let renamed = |port: &Port| Port { name: port.name.clone(), node: mapped[port.node.index()] };
        graph.inputs = self.inputs.iter().map(renamed).collect();
        graph.outputs = self.outputs.iter().map(renamed).collect();
        graph
    }
}

/// Marks everything that a node depends on, without recursion: chains can be as long as the graph.
fn mark(nodes: &[Node], start: usize, live: &mut [bool]) {
    let mut pending = vec![start];
    while let Some(index) = pending.pop() {
        for input in &nodes[index].inputs {
            if !std::mem::replace(&mut live[input.index()], true) {
                pending.push(input.index());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::{Add, Relu};

    #[test]
    fn shapes_are_checked_when_a_node_is_added() {
        let mut graph = Graph::new();
        let a = graph.input("a", &[3]);
        let b = graph.input("b", &[4]);
        let error = graph.apply(Add, &[a, b]).unwrap_err();
        assert_eq!(error.to_string(), "Add: shapes [3] and [4] do not broadcast");
        assert_eq!(graph.apply(Add, &[a]).unwrap_err().to_string(), "Add takes 2 arguments, got 1");
    }

    #[test]
    fn inlining_reshapes_arguments_and_keeps_values() {
        let mut inner = Graph::new();
        let x = inner.input("x", &[1, 2]);
        let y = inner.apply(Relu, &[x]).unwrap();
        inner.output("y", y);
        let mut outer = Graph::new();
        let v = outer.input("v", &[2]);
        let result = outer.inline(&inner, &[v]).unwrap();
        outer.output("y", result[0]);
        let values = crate::eval::evaluate(&outer, &[&[-1.0f64, 2.0]]).unwrap();
        assert_eq!(values, [vec![0.0, 2.0]]);
        assert!(outer.inline(&inner, &[]).is_err());
    }

    #[test]
    fn dead_nodes_go_and_inputs_stay() {
        let mut graph = Graph::new();
        let a = graph.input("a", &[1]);
        graph.input("unused", &[1]);
        let dead = graph.apply(Relu, &[a]).unwrap();
        graph.apply(Relu, &[dead]).unwrap();
        graph.output("a", a);
        let live = graph.without_dead_nodes();
        assert_eq!((live.len(), live.inputs().len()), (2, 2));
    }
}
