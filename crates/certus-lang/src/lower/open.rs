//! Networks that are left outside of the step.
//!
//! For training, the network is somebody else's: its result is an input of the step, what it would see is an output.
//! Nothing else changes, so feeding back what the network says gives the closed step. An action that is chosen from the
//! network's result itself can be given as one-hot scores, whose greatest element is the choice.

use certus_graph::ops::Op;
use certus_graph::{Graph, NodeId};

use crate::system::{ActionRole, OpenNetwork, ResultRange, Roles};

use super::Lowering;

/// One application of a network that is outside.
pub(super) struct Application {
    /// Its place in the model's open networks.
    pub(super) network: usize,
    /// Its arguments, as one vector.
    pub(super) seen: NodeId,
    result: NodeId,
}

impl Lowering<'_> {
    /// The result of an open network where it sees `seen`: an input of the step, one for each thing that is seen.
    pub(super) fn open_network(&mut self, network: usize, seen: NodeId, outputs: usize) -> NodeId {
        if let Some(known) = self.open.iter().find(|a| a.network == network && a.seen == seen) {
            return known.result;
        }
        let result = self.builder.input(&format!("net{}", self.open.len()), outputs);
        self.open.push(Application { network, seen, result });
        result
    }
}

/// What is known of the open networks. They are in the order of their inputs.
pub(super) fn networks(paths: &[String], graph: &Graph, roles: &Roles) -> Vec<OpenNetwork> {
    let described = roles.networks.iter().zip(paths).map(|(role, path)| OpenNetwork {
        path: path.clone(),
        arguments: graph.elements(role.arguments.node),
        results: graph.elements(role.result),
        action: roles.actions.iter().position(|action| {
            let scores = match action {
                ActionRole::Argmax { scores, .. } => scores,
                ActionRole::Softmax { logits, .. } => logits,
            };
            scores.node == role.result
        }),
        range: range(graph, role.result),
    });
    described.collect()
}

/// What the step does first with a network's result.
fn range(graph: &Graph, result: NodeId) -> ResultRange {
    let mut found: Option<ResultRange> = None;
    for (index, node) in graph.nodes().iter().enumerate().filter(|(_, node)| node.inputs.contains(&result)) {
        let this = match &node.op {
            Op::Clip(clip) => {
                let len = graph.elements(result);
                ResultRange::Clamped { lower: vec![clip.lower; len], upper: vec![clip.upper; len] }
            }
            Op::Tanh(_) | Op::Sigmoid(_) => ResultRange::Squashed,
            Op::Max(_) => clamped_above(graph, index, result).unwrap_or(ResultRange::Free),
            _ => ResultRange::Free,
        };
        match &found {
            None => found = Some(this),
            Some(before) if *before == this => {}
            Some(_) => return ResultRange::Free,
        }
    }
    found.unwrap_or(ResultRange::Free)
}

/// `min(max(x, lower), upper)` with constants that differ from element to element.
fn clamped_above(graph: &Graph, max: usize, result: NodeId) -> Option<ResultRange> {
    let len = graph.elements(result);
    let other = |node: usize, known: NodeId| -> Option<Vec<f64>> {
        let other = graph.nodes()[node].inputs.iter().find(|id| **id != known)?;
        let values = graph.constant_value(*other)?.data();
        let stretched = if values.len() == 1 { vec![values[0]; len] } else { values.to_vec() };
        (stretched.len() == len).then_some(stretched)
    };
    let lower = other(max, result)?;
    let max = graph.ids().nth(max)?;
    let mut readers = (0..graph.len()).filter(|&index| graph.nodes()[index].inputs.contains(&max));
    let (reader, more) = (readers.next()?, readers.next());
    if more.is_some() || !matches!(graph.nodes()[reader].op, Op::Min(_)) {
        return None;
    }
    Some(ResultRange::Clamped { lower, upper: other(reader, max)? })
}
