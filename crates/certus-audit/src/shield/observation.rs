//! Whether what is observed is the state.
//!
//! A shield's program and monitor read the state, and their proof is about the state. If the network sees a state only together with
//! something that the environment chooses (a sensor with noise), or does not see it at all, then the
//! monitor has no state to read: a proof about the state would say nothing of what runs. A function of states alone, a scaled one
//! for instance, shows that the state is at hand.

use certus_graph::GraphError;
use certus_graph::ops::Slice;
use certus_graph::reads::elements_read;
use certus_lang::system::System;

use super::reading::{ReadError, refused};

/// Refuses a system whose network does not see every state as it is.
pub(super) fn exact(system: &System) -> Result<(), ReadError> {
    let seen = seen(system).map_err(|error| ReadError(error.to_string()))?;
    let names = system.state_names();
    let states = names.len();
    let clean = |reads: &&Vec<bool>| !reads[states..].contains(&true);
    let policy = system.policies.first().map_or("the network", |policy| policy.name.as_str());
    for (state, name) in names.iter().enumerate() {
        if seen.iter().filter(clean).any(|reads| reads[state]) {
            continue;
        }
        let Some(mixed) = seen.iter().find(|reads| reads[state]) else {
            return refused(format!(
                "the network of `policy {policy}` does not see '{name}', which a shield's program and monitor would have to see: \
                 let it see '{name}', or leave '{name}' out of the system"
            ));
        };
        let inputs = system.inputs.iter().flat_map(|input| std::iter::repeat_n(&input.name, input.lower.len()));
        let noise = inputs.zip(&mixed[states..]).find(|(_, read)| **read).map_or("something else", |(name, _)| name);
        return refused(format!(
            "the network of `policy {policy}` sees '{name}' only together with the input '{noise}', so what is observed differs from \
             the state; a shield's program and monitor are proved for the state itself and would have to see it: let the \
             network see '{name}' as it is (a disturbance may act in `next` or `der`), or check the loop without a shield"
        ));
    }
    Ok(())
}

/// For each number that the network sees: which elements of the step's inputs it may depend on.
fn seen(system: &System) -> Result<Vec<Vec<bool>>, GraphError> {
    let Some(role) = system.roles.networks.first() else { return Ok(Vec::new()) };
    let arguments = role.arguments.node;
    (0..system.step.elements(arguments))
        .map(|element| {
            let mut graph = system.step.clone();
            let one = graph.apply(Slice::of_vector(element, 1), &[arguments])?;
            graph.output("seen", one);
            let last = graph.outputs().len() - 1;
            Ok(elements_read(&graph.keep_outputs(&[last])))
        })
        .collect()
}
