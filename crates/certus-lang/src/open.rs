//! What an open network can see.

use certus_graph::eval::enclose;
use certus_graph::{GraphError, Interval};

use crate::system::{ActionKind, System, Variable};

impl System {
    /// Encloses what an open network sees while the states and inputs are in their ranges, element by element.
    pub fn argument_bounds(&self, network: usize) -> Result<Vec<Interval>, GraphError> {
        let role = self.roles.networks.get(network);
        let role = role.ok_or_else(|| GraphError::Inputs(format!("there is no open network {network}")))?;
        let graph = self.step.keep_outputs(&[role.arguments.port]);
        let ranges = |variable: &Variable| -> Vec<Interval> {
            variable.lower.iter().zip(&variable.upper).map(|(&low, &high)| Interval::new(low, high)).collect()
        };
        let one_hot = |labels: &[String]| vec![Interval::new(0.0, 1.0); labels.len()];
        let mut inputs: Vec<Vec<Interval>> = self.states.iter().chain(&self.inputs).map(ranges).collect();
        inputs.extend(self.chances.iter().map(|chance| one_hot(&chance.labels)));
        let random = self.actions.iter().filter(|action| action.kind == ActionKind::Softmax);
        inputs.extend(random.map(|action| one_hot(&action.labels)));
        let free = self.params.iter().filter(|param| param.free);
        inputs.extend(free.map(|param| vec![Interval::new(param.lower, param.upper)]));
        inputs.extend(self.networks.iter().map(|network| vec![Interval::ENTIRE; network.results]));
        let inputs: Vec<&[Interval]> = inputs.iter().map(Vec::as_slice).collect();
        Ok(enclose(&graph, &inputs)?.pop().unwrap_or_default())
    }
}
