//! A graph under construction in which equal nodes are made once.

use std::collections::{HashMap, HashSet};

use certus_graph::ops::{
    Abs, Add, And, ArgMax, Clip, Compare, Concat, Cos, Div, Exp, Floor, Gather, Log, Max, Min, Mul, Neg, Not, Op, Or,
    Pow, Reduce, ReduceKind, Relu, Reshape, Select, Sigmoid, Sin, Slice, Softmax, Sqrt, Sub, Tanh,
};
use certus_graph::{Graph, NodeId, Tensor};

use crate::check::term::Function;
use crate::syntax::ast::CompareOp;

use super::Lowered;

/// What makes a node: its operator, its attributes, its arguments.
type Key = (&'static str, Vec<u64>, Vec<NodeId>);

/// Elementwise operators of two arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Binary {
    Add,
    Sub,
    Mul,
    Div,
    Pow,
    Max,
    Min,
    And,
    Or,
}

pub(super) struct Builder {
    graph: Graph,
    known: HashMap<Key, NodeId>,
}

impl Builder {
    pub(super) fn new() -> Builder {
        Builder { graph: Graph::new(), known: HashMap::new() }
    }

    pub(super) fn finish(self) -> Graph {
        self.graph
    }

    pub(super) fn input(&mut self, name: &str, len: usize) -> NodeId {
        self.graph.input(name, &[len])
    }

    /// A vector without elements.
    pub(super) fn empty(&mut self) -> NodeId {
        self.constant(&[])
    }

    /// Adds an operator, unless an equal node exists.
    pub(super) fn apply(&mut self, op: impl Into<Op>, args: &[NodeId]) -> Lowered<NodeId> {
        let op = op.into();
        let equal = self.graph.ids().find(|&id| self.graph.node(id).inputs == args && self.graph.node(id).op == op);
        equal.map_or_else(|| self.graph.apply(op, args), Ok)
    }

    /// Whether a node is computed from any of some others.
    pub(super) fn depends_on(&self, node: NodeId, others: &[NodeId]) -> bool {
        let mut pending = vec![node];
        let mut seen = HashSet::new();
        while let Some(node) = pending.pop() {
            if others.contains(&node) {
                return true;
            }
            if seen.insert(node) {
                pending.extend(&self.graph.node(node).inputs);
            }
        }
        false
    }

    pub(super) fn len(&self, node: NodeId) -> usize {
        self.graph.elements(node)
    }

    fn shared(
        &mut self,
        name: &'static str,
        attributes: Vec<u64>,
        op: impl Into<Op>,
        args: &[NodeId],
    ) -> Lowered<NodeId> {
        let key = (name, attributes, args.to_vec());
        if let Some(node) = self.known.get(&key) {
            return Ok(*node);
        }
        let node = self.graph.apply(op, args)?;
        self.known.insert(key, node);
        Ok(node)
    }

    pub(super) fn constant(&mut self, values: &[f64]) -> NodeId {
        let key = ("constant", values.iter().map(|v| v.to_bits()).collect(), Vec::new());
        if let Some(node) = self.known.get(&key) {
            return *node;
        }
        let node = self.graph.constant(Tensor::vector(values.to_vec()));
        self.known.insert(key, node);
        node
    }

    pub(super) fn binary(&mut self, op: Binary, a: NodeId, b: NodeId) -> Lowered<NodeId> {
        let args = [a, b];
        let none = Vec::new();
        match op {
            Binary::Add => self.shared("add", none, Add, &args),
            Binary::Sub => self.shared("sub", none, Sub, &args),
            Binary::Mul => self.shared("mul", none, Mul, &args),
            Binary::Div => self.shared("div", none, Div, &args),
            Binary::Pow => self.shared("pow", none, Pow, &args),
            Binary::Max => self.shared("max", none, Max, &args),
            Binary::Min => self.shared("min", none, Min, &args),
            Binary::And => self.shared("and", none, And, &args),
            Binary::Or => self.shared("or", none, Or, &args),
        }
    }

    /// Joins several nodes by an operator, from left to right.
    pub(super) fn join(&mut self, op: Binary, nodes: &[NodeId]) -> Lowered<NodeId> {
        let Some((first, rest)) = nodes.split_first() else {
            // The neutral element; only connectives and sums can be empty.
            return Ok(self.constant(&[if op == Binary::And { 1.0 } else { 0.0 }]));
        };
        rest.iter().try_fold(*first, |acc, node| self.binary(op, acc, *node))
    }

    pub(super) fn negate(&mut self, a: NodeId) -> Lowered<NodeId> {
        self.shared("neg", Vec::new(), Neg, &[a])
    }

    pub(super) fn not(&mut self, a: NodeId) -> Lowered<NodeId> {
        self.shared("not", Vec::new(), Not, &[a])
    }

    pub(super) fn abs(&mut self, a: NodeId) -> Lowered<NodeId> {
        self.shared("abs", Vec::new(), Abs, &[a])
    }

    pub(super) fn function(&mut self, function: Function, a: NodeId) -> Lowered<NodeId> {
        let none = Vec::new();
        let args = [a];
        match function {
            Function::Negate => self.negate(a),
            Function::Abs => self.abs(a),
            Function::Floor => self.shared("floor", none, Floor, &args),
            Function::Sqrt => self.shared("sqrt", none, Sqrt, &args),
            Function::Exp => self.shared("exp", none, Exp, &args),
            Function::Log => self.shared("log", none, Log, &args),
            Function::Sin => self.shared("sin", none, Sin, &args),
            Function::Cos => self.shared("cos", none, Cos, &args),
            Function::Tan => {
                let sine = self.function(Function::Sin, a)?;
                let cosine = self.function(Function::Cos, a)?;
                self.binary(Binary::Div, sine, cosine)
            }
            Function::Tanh => self.shared("tanh", none, Tanh, &args),
            Function::Sigmoid => self.shared("sigmoid", none, Sigmoid, &args),
            Function::Relu => self.shared("relu", none, Relu, &args),
            Function::Clip(lower, upper) => {
                let bits = vec![lower.to_bits(), upper.to_bits()];
                self.shared("clip", bits, Clip { lower, upper }, &args)
            }
            Function::Sign => {
                let zero = self.constant(&[0.0]);
                let (one, minus_one) = (self.constant(&[1.0]), self.constant(&[-1.0]));
                let positive = self.compare(CompareOp::Greater, a, zero)?;
                let negative = self.compare(CompareOp::Less, a, zero)?;
                let otherwise = self.select(negative, minus_one, zero)?;
                self.select(positive, one, otherwise)
            }
        }
    }

    pub(super) fn compare(&mut self, op: CompareOp, a: NodeId, b: NodeId) -> Lowered<NodeId> {
        let compare = match op {
            CompareOp::Less => Compare::Less,
            CompareOp::LessEqual => Compare::LessEqual,
            CompareOp::Greater => Compare::Greater,
            CompareOp::GreaterEqual => Compare::GreaterEqual,
            CompareOp::Equal => Compare::Equal,
            CompareOp::NotEqual => Compare::NotEqual,
        };
        self.shared("compare", vec![op as u64], compare, &[a, b])
    }

    pub(super) fn select(&mut self, condition: NodeId, a: NodeId, b: NodeId) -> Lowered<NodeId> {
        self.shared("select", Vec::new(), Select, &[condition, a, b])
    }

    pub(super) fn argmax(&mut self, a: NodeId) -> Lowered<NodeId> {
        self.shared("argmax", Vec::new(), ArgMax, &[a])
    }

    pub(super) fn softmax(&mut self, a: NodeId) -> Lowered<NodeId> {
        self.shared("softmax", Vec::new(), Softmax { axis: 0 }, &[a])
    }

    pub(super) fn slice(&mut self, a: NodeId, start: usize, len: usize) -> Lowered<NodeId> {
        if start == 0 && len == self.len(a) {
            return Ok(a);
        }
        self.shared("slice", vec![start as u64, len as u64], Slice::of_vector(start, len), &[a])
    }

    pub(super) fn gather(&mut self, a: NodeId, positions: &[usize]) -> Lowered<NodeId> {
        let gather = Gather { axis: 0, indices: positions.to_vec(), index_shape: vec![positions.len()] };
        self.shared("gather", positions.iter().map(|i| *i as u64).collect(), gather, &[a])
    }

    pub(super) fn concat(&mut self, nodes: &[NodeId]) -> Lowered<NodeId> {
        match nodes {
            [only] => Ok(*only),
            _ => self.shared("concat", Vec::new(), Concat { axis: 0 }, nodes),
        }
    }

    pub(super) fn reduce(&mut self, kind: ReduceKind, a: NodeId) -> Lowered<NodeId> {
        if self.len(a) == 1 {
            return Ok(a);
        }
        let reduce = Reduce { kind, axes: vec![0], keep_dims: true };
        self.shared("reduce", vec![kind as u64], reduce, &[a])
    }

    /// A network's outputs after each other, as a vector.
    pub(super) fn network(&mut self, network: &Graph, input: NodeId) -> Lowered<NodeId> {
        let outputs = self.network_outputs(network, input)?;
        self.concat(&outputs)
    }

    /// A network's outputs, each as a vector.
    pub(super) fn network_outputs(&mut self, network: &Graph, input: NodeId) -> Lowered<Vec<NodeId>> {
        let mut start = 0;
        let mut arguments = Vec::new();
        for port in network.inputs() {
            let len = network.elements(port.node);
            arguments.push(self.slice(input, start, len)?);
            start += len;
        }
        let mut outputs = Vec::new();
        for node in self.graph.inline(network, &arguments)? {
            let len = self.len(node);
            let is_flat = self.graph.shape(node) == [len];
            outputs.push(if is_flat { node } else { self.graph.apply(Reshape { shape: vec![len] }, &[node])? });
        }
        Ok(outputs)
    }
}
