//! A system whose free parameters are state variables that never change.
//!
//! A parameter that an analysis varies is an input of the step, the same at every position of a run. That is what a state
//! variable is whose successor is itself: its first value is free, an unrolled loop substitutes it everywhere, and a loop
//! returns to it by itself. So whatever can check a system can check it for all values of its parameters at once.

use certus_graph::{Graph, GraphError, NodeId};
use certus_lang::system::{ActionRole, Output, System, Truth, Variable};

/// The system with its free parameters as its last state variables, each in its declared range; those that are named come
/// last, in that order.
pub fn with_parameters_as_states(system: &System, last: &[String]) -> Result<System, GraphError> {
    let old = &system.step;
    let ports = old.inputs();
    let mut free: Vec<(usize, NodeId)> = system.roles.free_params.clone();
    free.sort_by_key(|(place, _)| {
        last.iter().position(|name| *name == system.params[*place].name).map_or(0, |at| at + 1)
    });
    // In the step, parameters come after what is chosen anew at each position; now they come after the state.
    let port_of = |node: NodeId| ports.iter().position(|port| port.node == node);
    let free_ports: Vec<usize> = free.iter().filter_map(|(_, node)| port_of(*node)).collect();
    let (states, rest) = (0..ports.len()).partition::<Vec<usize>, _>(|&port| port < system.states.len());
    let rest = rest.into_iter().filter(|port| !free_ports.contains(port));
    let order: Vec<usize> = states.into_iter().chain(free_ports.iter().copied()).chain(rest).collect();
    let mut step = Graph::new();
    let mut arguments: Vec<Option<NodeId>> = vec![None; ports.len()];
    for place in order {
        arguments[place] = Some(step.input(&ports[place].name, old.shape(ports[place].node)));
    }
    let arguments: Vec<NodeId> = arguments.into_iter().flatten().collect();
    let outputs = step.inline(old, &arguments)?;
    for (port, &node) in old.outputs().iter().zip(&outputs) {
        step.output(&port.name, node);
    }
    let place_of = |node: NodeId| port_of(node).map_or(node, |at| arguments[at]);
    let mut new = system.clone();
    let roles = &mut new.roles;
    let lists = [&mut roles.states, &mut roles.inputs, &mut roles.chances];
    lists.into_iter().flatten().for_each(|node| *node = place_of(*node));
    for network in &mut roles.networks {
        network.result = place_of(network.result);
    }
    let moved = |output: &mut Output| output.node = outputs[output.port];
    let moved_truth = |truth: &mut Truth| [&mut truth.truth, &mut truth.margin].into_iter().for_each(moved);
    [&mut roles.policies, &mut roles.next, &mut roles.defines].into_iter().flatten().for_each(moved);
    roles.atoms.iter_mut().for_each(moved_truth);
    let conditions = [&mut roles.init, &mut roles.assume, &mut roles.terminal, &mut roles.integral];
    conditions.into_iter().flatten().for_each(moved_truth);
    let defined = [&mut roles.choice_defined, &mut roles.defined, &mut roles.init_defined];
    defined.into_iter().flatten().chain(roles.atoms_defined.iter_mut().flatten()).for_each(moved_truth);
    roles.reward.iter_mut().for_each(moved);
    roles.networks.iter_mut().for_each(|network| moved(&mut network.arguments));
    for action in &mut roles.actions {
        match action {
            ActionRole::Argmax { choice, scores } => [choice, scores].into_iter().for_each(moved),
            ActionRole::Softmax { choice, probabilities, logits } => {
                *choice = place_of(*choice);
                [probabilities, logits].into_iter().for_each(moved);
            }
        }
    }
    roles.free_params.clear();
    for (&(place, _), port) in free.iter().zip(free_ports) {
        let parameter = &mut new.params[place];
        parameter.free = false;
        let node = arguments[port];
        step.output(&format!("next({})", parameter.name), node);
        roles.states.push(node);
        roles.next.push(Output { node, port: step.outputs().len() - 1 });
        new.states.push(Variable {
            name: parameter.name.clone(),
            len: 1,
            is_vector: false,
            lower: vec![parameter.lower],
            upper: vec![parameter.upper],
            integers: None,
            labels: Vec::new(),
            varying: false,
            before: Vec::new(),
            doc: parameter.doc.clone(),
        });
        for own in std::iter::once(&mut new.init_box).chain(&mut new.init_boxes) {
            own.0.push(parameter.lower);
            own.1.push(parameter.upper);
        }
    }
    new.step = step;
    Ok(new)
}

/// Narrows the last state variables, as [`with_parameters_as_states`] makes them, to a box.
pub fn narrow(system: &mut System, lower: &[f64], upper: &[f64]) {
    let first = system.states.len() - lower.len();
    let flat = system.init_box.0.len() - lower.len();
    for (number, (&low, &high)) in lower.iter().zip(upper).enumerate() {
        let variable = &mut system.states[first + number];
        (variable.lower[0], variable.upper[0]) = (low, high);
        for own in std::iter::once(&mut system.init_box).chain(&mut system.init_boxes) {
            (own.0[flat + number], own.1[flat + number]) = (low, high);
        }
    }
}
