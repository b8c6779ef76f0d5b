//! Abstract interpretation of a lowered graph: one walker, and a table of transfer functions per domain.
//!
//! A forward pass gives every node an abstract value from those of its arguments (Cousot and Cousot, *Abstract
//! Interpretation: A Unified Lattice Model for Static Analysis of Programs*, POPL 1977). What differs from domain to domain is
//! what happens at each of the few kinds of nodes: that is [`AbstractDomain`]. Zonotopes (`zonotope.rs`), affine forms
//! (`affine_forms`), reduced networks (`affine_forms/reduced_network.rs`), Jacobian enclosures (`jacobian.rs`) and Taylor models
//! (`certus-reach`) are domains.
//!
//! *Soundness.* If each transfer function encloses what its operator makes of all values that its arguments enclose, then by
//! induction over the nodes so does the value of every node.

use super::program::{Layer, Program, Role};
use crate::relaxation::Curve;

/// Transfer functions, one per kind of node. A domain keeps the values of nodes that are still to be read itself; `None` says
/// that it has no value for a node, which ends a walk.
pub trait AbstractDomain {
    /// What is known of all elements of a node.
    type Value;

    /// An input whose elements begin at `offset` of the flattened region.
    fn input(&mut self, node: usize, offset: usize) -> Option<Self::Value>;

    /// An affine map.
    fn affine(&mut self, node: usize, layer: &Layer) -> Option<Self::Value>;

    /// Elements of arguments in another order.
    fn movement(&mut self, sources: &[(usize, usize)]) -> Option<Self::Value>;

    /// An elementwise function.
    fn curve(&mut self, node: usize, curve: &Curve, argument: usize) -> Option<Self::Value>;

    /// An elementwise product.
    fn product(&mut self, node: usize, left: usize, right: usize) -> Option<Self::Value>;

    /// A node that is known by its operator's enclosure alone.
    fn opaque(&mut self, node: usize) -> Option<Self::Value>;
}

/// The value of one node, after those of its arguments.
pub fn transfer<D: AbstractDomain>(program: &Program, domain: &mut D, node: usize) -> Option<D::Value> {
    match &program.roles[node] {
        Role::Input(offset) => domain.input(node, *offset),
        Role::Affine(layer) => domain.affine(node, layer),
        Role::Movement(sources) => domain.movement(sources),
        Role::Curve(curve, argument) => domain.curve(node, curve, *argument),
        Role::Product(left, right) => domain.product(node, *left, *right),
        Role::Opaque => domain.opaque(node),
    }
}

/// A domain that keeps one value per node.
pub trait Keeps: AbstractDomain<Value: Default> {
    /// The values of the nodes so far, in their order.
    fn values(&mut self) -> &mut Vec<Self::Value>;
}

/// Walks through all nodes and drops each value after its last reader; `None` if some node has no value.
pub fn walk<D: Keeps>(program: &Program, domain: &mut D, last_reader: &[usize]) -> Option<()> {
    for node in 0..program.roles.len() {
        let value = transfer(program, domain, node)?;
        let values = domain.values();
        values.push(value);
        for argument in &program.graph.nodes()[node].inputs {
            if last_reader[argument.index()] == node {
                values[argument.index()] = D::Value::default();
            }
        }
    }
    Some(())
}

/// For each node, the last one that reads it; itself 0 where nothing does.
pub fn last_readers(program: &Program) -> Vec<usize> {
    let mut last_reader = vec![0; program.roles.len()];
    for (reader, node) in program.graph.nodes().iter().enumerate() {
        node.inputs.iter().for_each(|argument| last_reader[argument.index()] = reader);
    }
    last_reader
}

/// The outputs of a graph, flattened: for each its node and element.
pub fn flat_outputs(program: &Program) -> Vec<(usize, usize)> {
    let ports = program.graph.outputs().iter();
    ports.flat_map(|port| (0..program.graph.elements(port.node)).map(|element| (port.node.index(), element))).collect()
}

/// The same as `last_readers`, with outputs read at the very end.
pub fn last_readers_with(program: &Program, outputs: &[(usize, usize)]) -> Vec<usize> {
    let mut last_reader = last_readers(program);
    outputs.iter().for_each(|&(node, _)| last_reader[node] = usize::MAX);
    last_reader
}
