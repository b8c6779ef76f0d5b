//! The canonical form of a graph: what every engine works on.
//!
//! One pass from the inputs to the outputs rebuilds the graph, node by node:
//! * constants are folded, with an enclosure of what rounding did to them;
//! * linear operators (sums, differences, scalings, means, average pooling, convolutions of moderate size, batch
//!   normalisation as the importer writes it) become [`Affine`](crate::ops::Affine) nodes, and chains of them are fused
//!   where that does not make the matrices larger than they were together;
//! * movements (slices, concatenations, …) before an affine map are absorbed into its columns, those after it into its
//!   rows;
//! * trivial operators go: whole slices, reshapes to the same shape, selections by a known condition, `max(x, 0)`
//!   becomes `Relu`, other limits become `Clip`, `x · x` becomes a square;
//! * equal nodes are shared, and nodes that no output needs are dropped.
//!
//! *Soundness.* Over the reals the canonical graph computes the same function as the original one, up to numbers that
//! were rounded while folding or fusing; those carry their error ([`Constant`],
//! [`RowError`](crate::ops::RowError)), so enclosures of the canonical graph contain the original's exact values.

mod linear;
mod simplify;

use std::collections::{HashMap, HashSet};

use crate::eval::enclose_nodes;
use crate::ops::{Constant, Op, Operator};
use crate::{Graph, GraphError, NodeId};

/// A canonical graph for the same function; inputs and outputs keep their order, names and shapes.
pub fn canonicalize(graph: &Graph) -> Result<Graph, GraphError> {
    rebuilt(graph, Extent { linear: true, around_outputs: false })
}

/// The same, but what reads an output reads the output's own node: nothing is fused past it. What is known of an
/// output (a state that stays in its range) then serves everything behind it.
pub fn canonicalize_around_outputs(graph: &Graph) -> Result<Graph, GraphError> {
    rebuilt(graph, Extent { linear: true, around_outputs: true })
}

/// The graph without what is constant or trivial and without equal nodes, but with its operators as they were: for
/// those who read conditions off them.
pub fn simplified(graph: &Graph) -> Result<Graph, GraphError> {
    rebuilt(graph, Extent { linear: false, around_outputs: false })
}

/// How far a graph is rewritten.
#[derive(Clone, Copy)]
struct Extent {
    /// Whether linear operators become affine maps.
    linear: bool,
    /// Whether nothing is fused past an output.
    around_outputs: bool,
}

fn rebuilt(graph: &Graph, extent: Extent) -> Result<Graph, GraphError> {
    let graph = graph.without_dead_nodes();
    let mut builder = Builder::new(&graph, extent.linear);
    let is_output = |index: usize| graph.outputs().iter().any(|port| port.node.index() == index);
    let barriers: Vec<bool> = (0..graph.len()).map(|index| extent.around_outputs && is_output(index)).collect();
    for (index, node) in graph.nodes().iter().enumerate() {
        let id = match &node.op {
            Op::Input(_) => {
                let port = graph.inputs().iter().find(|port| port.node.index() == index);
                let name = port.map_or("", |port| port.name.as_str());
                builder.target.input(name, &node.shape)
            }
            op => {
                let args: Vec<NodeId> = node.inputs.iter().map(|input| builder.mapped[input.index()]).collect();
                builder.rewrite(op, &args)?
            }
        };
        builder.place(id, index);
        if barriers[index] {
            builder.barriers.insert(id);
        }
    }
    for port in graph.outputs() {
        let id = builder.mapped[port.node.index()];
        builder.target.output(&port.name, id);
    }
    Ok(builder.target.without_dead_nodes())
}

/// The graph under construction, with what is needed to decide on rewrites.
struct Builder {
    target: Graph,
    /// Whether linear operators become affine maps.
    fuses: bool,
    /// For each node of the source, the node of the target that computes it.
    mapped: Vec<NodeId>,
    /// For each node of the source, how many nodes and outputs read it.
    source_readers: Vec<usize>,
    /// For each node of the target, how many readers the source nodes that it stands for have.
    readers: HashMap<NodeId, usize>,
    /// Nodes of the target that are not fused into their readers.
    barriers: HashSet<NodeId>,
    /// Nodes by operator name and arguments, to find equal ones.
    known: HashMap<(&'static str, Vec<NodeId>), Vec<NodeId>>,
}

impl Builder {
    fn new(source: &Graph, fuses: bool) -> Self {
        let mut source_readers = vec![0; source.len()];
        for id in source.nodes().iter().flat_map(|node| &node.inputs) {
            source_readers[id.index()] += 1;
        }
        for port in source.outputs() {
            source_readers[port.node.index()] += 1;
        }
        Builder {
            target: Graph::new(),
            fuses,
            mapped: Vec::with_capacity(source.len()),
            source_readers,
            readers: HashMap::new(),
            barriers: HashSet::new(),
            known: HashMap::new(),
        }
    }

    fn place(&mut self, id: NodeId, source: usize) {
        *self.readers.entry(id).or_default() += self.source_readers[source];
        self.mapped.push(id);
    }

    /// How many readers of the source a node of the target serves.
    fn readers(&self, id: NodeId) -> usize {
        self.readers.get(&id).copied().unwrap_or(0)
    }

    fn is_constant(&self, id: NodeId) -> bool {
        matches!(self.target.node(id).op, Op::Constant(_))
    }

    /// Adds an operator in its canonical form, or finds the node that computes it already.
    fn rewrite(&mut self, op: &Op, args: &[NodeId]) -> Result<NodeId, GraphError> {
        if let Op::Constant(_) = op {
            return self.add(op.clone(), args);
        }
        // An affine map is fused with its constants instead: that sees where nothing is rounded.
        let fused = matches!(op, Op::Affine(_)) && !args.is_empty();
        if !fused && args.iter().all(|&arg| self.is_constant(arg)) {
            return self.fold(op, args);
        }
        if let Some(id) = self.simplify(op, args)? {
            return Ok(id);
        }
        if self.fuses
            && let Some(id) = self.linear(op, args)?
        {
            return Ok(id);
        }
        self.add(op.clone(), args)
    }

    /// Adds an operator as it is, unless an equal node exists.
    fn add(&mut self, op: Op, args: &[NodeId]) -> Result<NodeId, GraphError> {
        let key = (op.name(), args.to_vec());
        let equal = self.known.get(&key).and_then(|nodes| nodes.iter().find(|&&id| self.target.node(id).op == op));
        if let Some(&id) = equal {
            return Ok(id);
        }
        let id = self.target.apply(op, args)?;
        self.known.entry(key).or_default().push(id);
        Ok(id)
    }

    /// Computes an operator whose arguments are all known.
    fn fold(&mut self, op: &Op, args: &[NodeId]) -> Result<NodeId, GraphError> {
        let mut small = Graph::new();
        let inputs = args
            .iter()
            .map(|&arg| small.apply(self.target.node(arg).op.clone(), &[]))
            .collect::<Result<Vec<_>, _>>()?;
        let result = small.apply(op.clone(), &inputs)?;
        let enclosed = enclose_nodes(&small, &[])?;
        let values = &enclosed[result.index()];
        if values.iter().all(|x| x.width() <= 1e-9 * (1.0 + x.magnitude())) {
            let constant = Constant::enclosed(small.shape(result), values)?;
            return self.add(Op::Constant(constant), &[]);
        }
        // Not a number, unbounded, or on one side of a jump that rounding hides: left for evaluation to decide.
        self.add(op.clone(), args)
    }
}
