//! The graph that certificates speak of, prepared for bounding.
//!
//! Elements are counted through all nodes, so that everything that is known of a subproblem (a range per element)
//! and every linear expression (a coefficient per element) is one flat list.

use std::ops::Range;

use certus_graph::lower::lower;
use certus_graph::ops::{Affine, Movement, Op};
use certus_graph::{Graph, GraphError, Interval, Node};

use crate::formula::port_element;
use crate::parse::Place;
use crate::relaxation::Curve;

/// The form of a graph that certificates number the nodes of.
pub fn certified_form(graph: &Graph) -> Result<Graph, GraphError> {
    lower(graph)
}

/// What a node is, to a backward substitution.
#[derive(Debug)]
pub(crate) enum Kind {
    Input,
    Constant,
    Affine(Affine),
    /// Each element is an element of an earlier node.
    Move(Vec<usize>),
    /// Each element is a curve of the element of the argument in the same place.
    Curve {
        curve: Curve,
        argument: usize,
    },
    /// Each element is a product of the elements in the same place.
    Product {
        left: usize,
        right: usize,
    },
    /// Anything else: only its range is known.
    Opaque,
}

/// What reads an element, as far as smaller ranges help it.
#[derive(Clone, Copy, Debug)]
enum Reader {
    Curve(Curve),
    Product,
}

/// A node: its elements, what it is, and whether its ranges are worth a backward substitution.
#[derive(Debug)]
pub(crate) struct Layer {
    pub(crate) elements: Range<usize>,
    pub(crate) kind: Kind,
    /// The nodes it reads, by index.
    pub(crate) arguments: Vec<usize>,
    readers: Vec<Reader>,
    affine_in_inputs: bool,
}

impl Layer {
    /// Whether a range of an element of this node is worth tightening by a backward substitution.
    pub(crate) fn wants_refinement(&self, range: Interval) -> bool {
        let bends = |reader: &Reader| match reader {
            Reader::Curve(curve) => !curve.is_linear(range),
            Reader::Product => range.lo < range.hi,
        };
        // What a curve or a product makes of its arguments' ranges is as good as it gets.
        let linear = matches!(self.kind, Kind::Affine(_) | Kind::Move(_));
        linear && !self.affine_in_inputs && self.readers.iter().any(bends)
    }
}

/// A lowered graph with its elements counted through.
#[derive(Debug)]
pub(crate) struct Network {
    pub(crate) graph: Graph,
    pub(crate) layers: Vec<Layer>,
    /// The elements of the inputs, in the order in which questions count them.
    pub(crate) inputs: Vec<usize>,
}

impl Network {
    /// Prepares a graph as it was read.
    pub(crate) fn new(graph: &Graph) -> Result<Network, GraphError> {
        let graph = certified_form(graph)?;
        let mut layers: Vec<Layer> = Vec::with_capacity(graph.len());
        let mut start = 0;
        for node in graph.nodes() {
            let arguments: Vec<usize> = node.inputs.iter().map(|id| id.index()).collect();
            let kind = kind(&graph, node, &layers);
            let affine_in_inputs = match kind {
                Kind::Input | Kind::Constant => true,
                Kind::Affine(_) | Kind::Move(_) => arguments.iter().all(|&index| layers[index].affine_in_inputs),
                _ => false,
            };
            let reader = match kind {
                Kind::Curve { curve, .. } => Some(Reader::Curve(curve)),
                Kind::Product { .. } => Some(Reader::Product),
                _ => None,
            };
            for &argument in &arguments {
                layers[argument].readers.extend(reader);
            }
            let elements = start..start + node.shape.iter().product::<usize>();
            start = elements.end;
            layers.push(Layer { elements, kind, arguments, readers: Vec::new(), affine_in_inputs });
        }
        let elements = |port: &certus_graph::Port| layers[port.node.index()].elements.clone();
        let inputs = graph.inputs().iter().flat_map(elements).collect();
        Ok(Network { graph, layers, inputs })
    }

    /// The number of elements of all nodes.
    pub(crate) fn elements(&self) -> usize {
        self.layers.last().map_or(0, |layer| layer.elements.end)
    }

    /// The element that a place in a certificate is.
    pub(crate) fn element(&self, place: Place) -> Option<usize> {
        let elements = &self.layers.get(place.node)?.elements;
        (place.element < elements.len()).then(|| elements.start + place.element)
    }

    /// The element that an output is, outputs being flattened and counted through.
    pub(crate) fn output(&self, index: usize) -> Option<usize> {
        let (node, element) = port_element(&self.graph, self.graph.outputs(), index)?;
        self.element(Place { node, element })
    }
}

fn kind(graph: &Graph, node: &Node, layers: &[Layer]) -> Kind {
    let start = |position: usize| layers[node.inputs[position].index()].elements.start;
    match &node.op {
        Op::Input(_) => Kind::Input,
        Op::Constant(_) => Kind::Constant,
        Op::Affine(affine) => Kind::Affine(affine.clone()),
        Op::Reshape(op) => moved(op, graph, node, layers),
        Op::Slice(op) => moved(op, graph, node, layers),
        Op::Gather(op) => moved(op, graph, node, layers),
        Op::Transpose(op) => moved(op, graph, node, layers),
        Op::Concat(op) => moved(op, graph, node, layers),
        Op::Mul(_) if node.inputs.iter().all(|&id| graph.shape(id) == node.shape) => {
            Kind::Product { left: start(0), right: start(1) }
        }
        _ => match Curve::of(graph, node) {
            Some((curve, argument)) => Kind::Curve { curve, argument: layers[argument.index()].elements.start },
            None => Kind::Opaque,
        },
    }
}

fn moved(movement: &impl Movement, graph: &Graph, node: &Node, layers: &[Layer]) -> Kind {
    let shapes: Vec<&[usize]> = node.inputs.iter().map(|&id| graph.shape(id)).collect();
    let mut sources = Vec::with_capacity(node.shape.iter().product());
    movement.sources(&shapes, &node.shape, &mut |argument, element| {
        sources.push(layers[node.inputs[argument].index()].elements.start + element);
    });
    Kind::Move(sources)
}
