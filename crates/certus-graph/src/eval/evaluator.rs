//! Evaluation of many points: the graph compiled once, then run over batches.
//!
//! Compilation packs dense weights for the matrix kernels, applies an activation in the buffer of the layer before it
//! when nobody else reads that layer, and turns reshapes into other names for the same buffer. A point's result does
//! not depend on the batch it is evaluated in.

use std::sync::atomic::{AtomicU64, Ordering};

use super::check_inputs;
use super::conv::PackedConv;
use super::layer::Layer;
use crate::ops::{Arg, Op, Operator};
use crate::{Graph, GraphError, Real};

/// A graph compiled for evaluation in `T`. Immutable: threads share it, each with its own [`Workspace`].
pub struct Evaluator<T: Real> {
    identity: u64,
    graph: Graph,
    kernels: Vec<Kernel<T>>,
    /// For each node, the place where its value is: itself, or the node whose buffer it shares.
    places: Vec<usize>,
}

/// The buffers of a run, kept between runs so that nothing is allocated again.
#[derive(Default)]
pub struct Workspace<T> {
    buffers: Vec<Vec<T>>,
    /// Arguments gathered for one matrix product.
    gathered: Vec<T>,
    scratch: Vec<T>,
    /// The evaluator and the batch size that the buffers are laid out for; constants are filled in once per layout.
    layout: Option<(u64, usize)>,
}

/// Tells evaluators apart, so that a workspace used with another one is laid out anew.
static NEXT_IDENTITY: AtomicU64 = AtomicU64::new(0);

enum Kernel<T: Real> {
    /// The caller's slice, by input number.
    Input(usize),
    /// Filled when the batch size changes.
    Constant,
    /// Shares the buffer of another node.
    Shared,
    Affine(Layer<T>),
    Conv(PackedConv<T>),
    /// The operator's own evaluation.
    Operator,
}

/// For each node, whether exactly one node reads it and it is no output.
fn read_once(graph: &Graph) -> Vec<bool> {
    let mut readers = vec![0usize; graph.len()];
    for id in graph.nodes().iter().flat_map(|node| &node.inputs) {
        readers[id.index()] += 1;
    }
    for port in graph.outputs() {
        readers[port.node.index()] += 2;
    }
    readers.into_iter().map(|count| count == 1).collect()
}

impl<T: Real> Evaluator<T> {
    /// Compiles a graph. Canonicalise it first where speed matters: [`crate::canonical::canonicalize`].
    pub fn new(graph: &Graph) -> Self {
        let graph = graph.without_dead_nodes();
        let exclusive = read_once(&graph);
        let mut kernels: Vec<Kernel<T>> = Vec::with_capacity(graph.len());
        let mut places: Vec<usize> = Vec::with_capacity(graph.len());
        let mut inputs = 0;
        for (index, node) in graph.nodes().iter().enumerate() {
            let mut place = index;
            let argument = node.inputs.first().map(|id| id.index());
            let kernel = match (&node.op, argument) {
                (Op::Input(_), _) => {
                    inputs += 1;
                    Kernel::Input(inputs - 1)
                }
                (Op::Constant(_), _) => Kernel::Constant,
                (Op::Reshape(_), Some(argument)) => {
                    place = places[argument];
                    Kernel::Shared
                }
                (Op::Affine(affine), _) => Kernel::Affine(Layer::new(affine)),
                (Op::Conv(conv), Some(argument)) => {
                    Kernel::Conv(PackedConv::new(conv, &graph.nodes()[argument].shape, &node.shape))
                }
                (op, Some(argument)) if exclusive[argument] => {
                    let absorbed = match &mut kernels[argument] {
                        Kernel::Affine(layer) => layer.absorb(op),
                        _ => false,
                    };
                    if absorbed {
                        place = argument;
                    }
                    if absorbed { Kernel::Shared } else { Kernel::Operator }
                }
                _ => Kernel::Operator,
            };
            kernels.push(kernel);
            places.push(place);
        }
        let identity = NEXT_IDENTITY.fetch_add(1, Ordering::Relaxed);
        Evaluator { identity, graph, kernels, places }
    }

    /// The graph that is evaluated, without its dead nodes.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// Evaluates a batch: one element-major slice per input. Results are read with [`Evaluator::output`].
    pub fn run(&self, workspace: &mut Workspace<T>, inputs: &[&[T]], batch: usize) -> Result<(), GraphError> {
        check_inputs(&self.graph, inputs, batch)?;
        let layout = Some((self.identity, batch));
        let resized = workspace.layout != layout;
        if resized {
            workspace.buffers.resize_with(self.graph.len(), Vec::new);
            workspace.layout = layout;
        }
        for (index, (node, kernel)) in self.graph.nodes().iter().zip(&self.kernels).enumerate() {
            if matches!(kernel, Kernel::Input(_) | Kernel::Shared) || !resized && matches!(kernel, Kernel::Constant) {
                continue;
            }
            let mut out = std::mem::take(&mut workspace.buffers[index]);
            out.resize(node.shape.iter().product::<usize>() * batch, T::ZERO);
            let value = |id: crate::NodeId| self.value(&workspace.buffers, inputs, id.index());
            if batch > 0 {
                match kernel {
                    Kernel::Affine(layer) => {
                        let arg = |term: usize| value(node.inputs[term]);
                        layer.run(arg, batch, &mut out, &mut workspace.gathered, &mut workspace.scratch);
                    }
                    Kernel::Conv(conv) => {
                        let source = value(node.inputs[0]);
                        conv.run(source, batch, &mut out, &mut workspace.gathered, &mut workspace.scratch);
                    }
                    _ => {
                        let arg = |&id| Arg { shape: self.graph.shape(id), values: value(id) };
                        let args: Vec<Arg<'_, T>> = node.inputs.iter().map(arg).collect();
                        node.op.eval(&args, &node.shape, batch, &mut out);
                    }
                }
            }
            workspace.buffers[index] = out;
        }
        Ok(())
    }

    fn value<'a>(&self, buffers: &'a [Vec<T>], inputs: &[&'a [T]], index: usize) -> &'a [T] {
        let place = self.places[index];
        match self.kernels[place] {
            Kernel::Input(input) => inputs[input],
            _ => &buffers[place],
        }
    }

    /// An output of the last run, element-major; `inputs` are those of the run (an input may be an output).
    pub fn output<'a>(&self, workspace: &'a Workspace<T>, inputs: &[&'a [T]], index: usize) -> &'a [T] {
        self.value(&workspace.buffers, inputs, self.graph.outputs()[index].node.index())
    }
}
