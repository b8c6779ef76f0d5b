//! Lowering: a canonical graph in terms of few kinds of nodes.
//!
//! An engine that bounds nodes by lines needs a relaxation for every kind of node it meets. This pass leaves it three
//! families ([`Kind`]): affine maps and movements, which are linear; *curves*, elementwise functions of one argument;
//! and *products* of two nodes of the same shape. Everything else is written in terms of these:
//!
//! | operator | becomes |
//! | --- | --- |
//! | `Max`, `Min`, `MaxPool`, `Reduce` of these | y + relu(x − y), y − relu(y − x); more than two as a balanced tree |
//! | `Compare(a, b)` | a step of a − b at zero; `Equal` and `NotEqual` from the two strict steps |
//! | `And`, `Or`, `Not` | a·b, a + b − a·b, 1 − a, with operands first made 0 or 1 |
//! | `Select(c, a, b)` | b + c·(a − b) |
//! | `ArgMax` | products of steps, one step per pair of entries, ties to the first |
//! | `Softmax` | 1 / Σⱼ exp(xⱼ − xᵢ); for two entries the logistic function of their difference |
//! | `Div(a, b)` | a · (1/b) |
//! | `Pow(a, b)` | curves by the value of a known exponent; exp(b · ln a) otherwise |
//! | `Reduce` of a product | a balanced tree of products |
//!
//! Nodes stay vectors: a rewrite adds one node per step of the formula, not one per element. The result goes through
//! [`canonicalize_around_outputs`], which fuses the differences and sums into affine maps (with their rounding errors) and shares
//! equal nodes; it has no rule that brings a lowered operator back.
//!
//! *What stays opaque*: `Softmax` and `ArgMax` with more than [`LARGEST_PAIRING`] pairs, windows of `MaxPool` without
//! elements, and arithmetic with a constant for which it is not defined (a division by zero, an infinite factor).
//!
//! *Domains.* Over the reals, wherever every node of the argument is defined, the result has the same value. Where a
//! node is undefined (1/0, the logarithm of a negative number), enclosures hold all reals and nothing can be concluded.
//! Two rewrites make such places larger. `Pow` with an exponent that is not known is defined for positive bases only.
//! A `Select` depends on the branch that was not chosen; a branch that contains a partial function is therefore always
//! multiplied by its own condition, so that a condition whose enclosure is exactly zero removes it (over intervals
//! 0 · x = 0 even where x has no bound). Plain evaluation in floats gives NaN there.

mod arithmetic;
mod extremes;
mod facts;
mod kind;
mod layout;
mod logic;

use std::collections::HashMap;

pub use kind::Kind;

use crate::canonical::canonicalize_around_outputs;
use crate::ops::{Clip, Compare, Op, ReduceKind};
use crate::{Graph, GraphError, NodeId};

/// `Softmax` and `ArgMax` compare entries pairwise; beyond this many pairs of a node they stay as they are.
pub const LARGEST_PAIRING: usize = 1 << 16;

/// A graph for the same real function in terms of the kinds of nodes in [`Kind`]; inputs and outputs keep their order,
/// names and shapes, and nothing is fused past an output. The argument is brought into canonical form first.
pub fn lower(graph: &Graph) -> Result<Graph, GraphError> {
    // Operators on constants are folded before they are rewritten: a sum folds with less rounding than an affine map.
    let graph = canonicalize_around_outputs(graph)?;
    let mut lowering = Lowering::default();
    let mut values: Vec<Value> = Vec::with_capacity(graph.len());
    let mut ports = graph.inputs().iter();
    for node in graph.nodes() {
        let args: Vec<Value> = node.inputs.iter().map(|input| values[input.index()]).collect();
        let lowered = match &node.op {
            Op::Input(_) => lowering.target.input(ports.next().map_or("", |port| &port.name), &node.shape),
            op => lowering.rewrite(op, &args, &node.shape)?,
        };
        let truth = facts::is_truth(&node.op, &args);
        let partial = lowering.is_partial(&node.op, &args);
        values.push(Value { node: lowered, truth, partial });
    }
    for port in graph.outputs() {
        lowering.target.output(&port.name, values[port.node.index()].node);
    }
    canonicalize_around_outputs(&lowering.target)
}

/// What a node of the source has become, with what is known of it.
#[derive(Clone, Copy, Debug)]
struct Value {
    node: NodeId,
    /// It has only the values 0 and 1.
    truth: bool,
    /// It depends on a function that is not defined everywhere.
    partial: bool,
}

/// The graph under construction.
#[derive(Default)]
struct Lowering {
    target: Graph,
    /// a − b by (a, b), so that comparisons and maxima of the same pair read the same node.
    differences: HashMap<(NodeId, NodeId), NodeId>,
    /// The steps of each difference, so that a comparison and its negation share one.
    steps: HashMap<(NodeId, Compare), NodeId>,
}

impl Lowering {
    /// Adds an operator in terms of the lowered kinds; `shape` is the shape of its result.
    fn rewrite(&mut self, op: &Op, args: &[Value], shape: &[usize]) -> Result<NodeId, GraphError> {
        if shape.contains(&0) {
            return self.filled(0.0, shape);
        }
        let nodes: Vec<NodeId> = args.iter().map(|arg| arg.node).collect();
        let rewritten = match op {
            Op::Max(_) => Some(self.larger(nodes[0], nodes[1])?),
            Op::Min(_) => Some(self.smaller(nodes[0], nodes[1])?),
            Op::MaxPool(pool) => self.max_pool(pool, nodes[0], shape)?,
            Op::Reduce(reduce) => match reduce.kind {
                ReduceKind::Sum | ReduceKind::Mean => None,
                _ => Some(self.reduce(reduce, nodes[0], shape)?),
            },
            Op::Compare(compare) => Some(self.compare(*compare, args[0], args[1])?),
            Op::Not(_) => Some(self.not(args[0])?),
            Op::And(_) => Some(self.and(args[0], args[1], shape)?),
            Op::Or(_) => Some(self.or(args[0], args[1], shape)?),
            Op::Select(_) => Some(self.select(args[0], args[1], args[2], shape)?),
            Op::ArgMax(_) => self.first_maximum(nodes[0], shape)?,
            Op::Softmax(softmax) => self.softmax(softmax.axis, nodes[0], shape)?,
            Op::Mul(_) => Some(self.product(nodes[0], nodes[1], shape)?),
            Op::Div(_) => self.quotient(nodes[0], nodes[1], shape)?,
            Op::Pow(_) => Some(self.power(nodes[0], nodes[1], shape)?),
            // Bounds that are crossed or equal leave one value.
            Op::Clip(Clip { lower, upper }) if lower >= upper && upper.is_finite() => Some(self.filled(*upper, shape)?),
            _ => None,
        };
        match rewritten {
            Some(node) => Ok(node),
            None => self.target.apply(op.clone(), &nodes),
        }
    }
}
