//! Evaluation of a graph: in floats over batches of points, and in intervals over boxes.

mod conv;
mod enclose;
mod evaluator;
mod layer;

pub use enclose::{enclose, enclose_nodes};
pub use evaluator::{Evaluator, Workspace};

use crate::{Graph, GraphError, Real};

/// Evaluates a graph at one point: one slice per input, one vector per output, both in declaration order.
///
/// For many points build an [`Evaluator`] once.
pub fn evaluate<T: Real>(graph: &Graph, inputs: &[&[T]]) -> Result<Vec<Vec<T>>, GraphError> {
    let evaluator = Evaluator::new(graph);
    let mut workspace = Workspace::default();
    evaluator.run(&mut workspace, inputs, 1)?;
    Ok((0..graph.outputs().len()).map(|index| evaluator.output(&workspace, inputs, index).to_vec()).collect())
}

/// Checks that there is one slice per input, of the right length.
fn check_inputs<V>(graph: &Graph, inputs: &[&[V]], batch: usize) -> Result<(), GraphError> {
    if inputs.len() != graph.inputs().len() {
        let message = format!("a graph with {} inputs got {}", graph.inputs().len(), inputs.len());
        return Err(GraphError::Inputs(message));
    }
    for (port, values) in graph.inputs().iter().zip(inputs) {
        let expected = graph.elements(port.node) * batch;
        if values.len() != expected {
            let (name, found) = (&port.name, values.len());
            let message = format!("input '{name}' takes {expected} values for a batch of {batch}, got {found}");
            return Err(GraphError::Inputs(message));
        }
    }
    Ok(())
}
