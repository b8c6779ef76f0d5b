//! The network as an oracle: what it would do in many states at once.

use certus_graph::canonical::canonicalize;
use certus_graph::eval::{Evaluator, Workspace};
use certus_graph::{Graph, GraphError};
use certus_lang::system::System;

use crate::work_count::spend;

/// A network with what it sees of a state.
pub struct Network {
    arguments: Evaluator<f64>,
    evaluator: Evaluator<f32>,
    lengths: Vec<usize>,
    inputs: Vec<Vec<f64>>,
    results: usize,
    limits: Vec<(f64, f64)>,
    /// Multiplications that a state takes.
    cost: u64,
}

/// Buffers of an evaluation, kept between batches.
#[derive(Default)]
pub struct Scratch {
    arguments: Workspace<f64>,
    network: Workspace<f32>,
}

impl Network {
    /// The one network of an open system. Where it sees an input of the environment, it sees the middle of its range.
    pub fn new(system: &System, network: &Graph, limits: &[(f64, f64)]) -> Result<Network, GraphError> {
        let port = system.roles.networks.first().map(|role| role.arguments.port);
        let Some(port) = port else { return Err(GraphError::Inputs("the system applies no network".to_owned())) };
        let middle = |a: f64, b: f64| 0.5 * (a + b);
        let inputs = system.inputs.iter().map(|v| v.lower.iter().zip(&v.upper).map(|(&a, &b)| middle(a, b)).collect());
        Ok(Network {
            arguments: Evaluator::new(&canonicalize(&system.step.keep_outputs(&[port]))?),
            evaluator: Evaluator::new(&canonicalize(network)?),
            lengths: system.states.iter().map(|v| v.len).collect(),
            inputs: inputs.collect(),
            results: system.networks[0].results,
            limits: limits.to_vec(),
            cost: network.parameters() as u64,
        })
    }

    /// The actions, within their limits, for a batch of states; everything element-major.
    pub fn act(&self, states: &[f64], batch: usize, scratch: &mut Scratch) -> Result<Vec<f64>, GraphError> {
        spend(self.cost * batch as u64);
        let mut slices: Vec<&[f64]> = Vec::new();
        let mut start = 0;
        for len in &self.lengths {
            slices.push(&states[start * batch..(start + len) * batch]);
            start += len;
        }
        let repeated: Vec<Vec<f64>> = self
            .inputs
            .iter()
            .map(|values| values.iter().flat_map(|&x| std::iter::repeat_n(x, batch)).collect())
            .collect();
        slices.extend(repeated.iter().map(Vec::as_slice));
        let zeros = vec![0.0; self.results * batch];
        slices.push(&zeros);
        self.arguments.run(&mut scratch.arguments, &slices, batch)?;
        let seen: Vec<f32> = self.arguments.output(&scratch.arguments, &slices, 0).iter().map(|&x| x as f32).collect();
        // A network with several inputs sees consecutive parts of the arguments.
        let graph = self.evaluator.graph();
        let mut parts: Vec<&[f32]> = Vec::new();
        let mut at = 0;
        for port in graph.inputs() {
            let len = graph.elements(port.node) * batch;
            parts.push(&seen[at..at + len]);
            at += len;
        }
        self.evaluator.run(&mut scratch.network, &parts, batch)?;
        let mut actions = Vec::with_capacity(self.results * batch);
        for output in 0..graph.outputs().len() {
            actions.extend(self.evaluator.output(&scratch.network, &parts, output).iter().map(|&x| f64::from(x)));
        }
        for (row, &(lower, upper)) in actions.chunks_exact_mut(batch.max(1)).zip(&self.limits) {
            row.iter_mut().for_each(|a| *a = a.clamp(lower, upper));
        }
        Ok(actions)
    }
}
