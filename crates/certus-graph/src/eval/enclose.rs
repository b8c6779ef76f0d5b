//! Sound interval evaluation: for every point of a box of inputs, each node's exact real value lies in its interval.

use super::check_inputs;
use crate::ops::{Arg, Op, Operator};
use crate::{Graph, GraphError, Interval};

/// Encloses every output over a box of inputs.
pub fn enclose(graph: &Graph, inputs: &[&[Interval]]) -> Result<Vec<Vec<Interval>>, GraphError> {
    let mut nodes = enclose_nodes(graph, inputs)?;
    let mut taken: Vec<Option<usize>> = vec![None; nodes.len()];
    let mut outputs: Vec<Vec<Interval>> = Vec::with_capacity(graph.outputs().len());
    for port in graph.outputs() {
        let index = port.node.index();
        let values = match taken[index] {
            Some(earlier) => outputs[earlier].clone(),
            None => std::mem::take(&mut nodes[index]),
        };
        taken[index] = Some(outputs.len());
        outputs.push(values);
    }
    Ok(outputs)
}

/// Encloses every node over a box of inputs.
pub fn enclose_nodes(graph: &Graph, inputs: &[&[Interval]]) -> Result<Vec<Vec<Interval>>, GraphError> {
    check_inputs(graph, inputs, 1)?;
    let mut values: Vec<Vec<Interval>> = Vec::with_capacity(graph.len());
    let mut free = inputs.iter();
    for node in graph.nodes() {
        let mut result = vec![Interval::ENTIRE; node.shape.iter().product()];
        if let Op::Input(_) = node.op {
            if let Some(input) = free.next() {
                result.copy_from_slice(input);
            }
        } else {
            let args: Vec<Arg<'_, Interval>> =
                node.inputs.iter().map(|&id| Arg { shape: graph.shape(id), values: &values[id.index()] }).collect();
            node.op.enclose(&args, &node.shape, &mut result);
            debug_assert!(result.iter().all(|own| own.is_well_formed()), "{:?} over {args:?}: {result:?}", node.op);
        }
        values.push(result);
    }
    Ok(values)
}
