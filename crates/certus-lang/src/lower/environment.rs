//! Which node every name stands for while terms are lowered.

use std::collections::HashMap;

use certus_graph::NodeId;

use crate::check::term::TermNode;
use crate::system::ActionKind;

use super::Lowering;

/// The nodes of all names. Integration evaluates the same terms at other states, in other environments.
#[derive(Clone)]
pub(super) struct Environment {
    pub states: Vec<NodeId>,
    pub next: Option<Vec<NodeId>>,
    pub inputs: Vec<NodeId>,
    pub chances: Vec<NodeId>,
    /// One-hot; known once the action is lowered, or from the start if it is sampled.
    pub actions: Vec<Option<NodeId>>,
    pub free_params: Vec<Option<NodeId>>,
    pub policies: Vec<Option<NodeId>>,
    pub defines: Vec<Option<NodeId>>,
    pub define_margins: Vec<Option<NodeId>>,
    /// Terms already lowered, by address: they are kept alive by the model.
    pub values: HashMap<*const TermNode, NodeId>,
    pub margins: HashMap<*const TermNode, NodeId>,
    /// Where terms are defined; nothing for everywhere.
    pub defined: HashMap<*const TermNode, Option<NodeId>>,
}

impl Environment {
    /// The same choices and policy outputs at another state.
    pub fn at_states(&self, states: Vec<NodeId>) -> Environment {
        Environment {
            states,
            next: None,
            inputs: self.inputs.clone(),
            chances: self.chances.clone(),
            actions: self.actions.clone(),
            free_params: self.free_params.clone(),
            policies: self.policies.clone(),
            defines: vec![None; self.defines.len()],
            define_margins: vec![None; self.define_margins.len()],
            values: HashMap::new(),
            margins: HashMap::new(),
            defined: HashMap::new(),
        }
    }
}

impl Lowering<'_> {
    /// Declares the inputs of the step, in their fixed order.
    pub(super) fn declare_inputs(&mut self) -> Environment {
        let model = self.model;
        let states = model.states.iter().map(|v| self.builder.input(&v.name, v.len)).collect();
        let inputs = model.inputs.iter().map(|v| self.builder.input(&v.name, v.len)).collect();
        let chances = model.chances.iter().map(|c| self.builder.input(&c.name, c.labels.len())).collect();
        let actions = model
            .actions
            .iter()
            .map(|(a, _)| (a.kind == ActionKind::Softmax).then(|| self.builder.input(&a.name, a.labels.len())))
            .collect();
        let free_params = model.params.iter().map(|p| p.free.then(|| self.builder.input(&p.name, 1))).collect();
        Environment {
            states,
            next: None,
            inputs,
            chances,
            actions,
            free_params,
            policies: vec![None; model.policies.len()],
            defines: vec![None; model.defines.len()],
            define_margins: vec![None; model.defines.len()],
            values: HashMap::new(),
            margins: HashMap::new(),
            defined: HashMap::new(),
        }
    }
}
