//! Model errors that interval evaluation alone excludes.
//!
//! Most systems are written so that their ranges are plain: an update is clamped, a window only moves what was measured. Whether no
//! state of a box has a model error is then seen by one interval evaluation of the atom `ok` ([`crate::guarded`]), and nobody has to ask
//! a solver. Labels (random choices and arg-max actions) are tried one after the other, whatever the policy would do, so a network that
//! only scores labels is not even evaluated.

use certus_graph::eval::enclose;
use certus_graph::ops::Op;
use certus_graph::{Graph, GraphError, Interval, NodeId};
use certus_lang::system::{ActionRole, System};

use crate::guarded::Guarded;
use crate::replay::split;

/// Combinations of labels that are tried at most; if there are more, all labels are enclosed at once.
const MOST_CASES: usize = 256;

/// Whether intervals show that no state of a box has a model error, whatever is chosen.
pub fn no_error_in(guarded: &Guarded, state: &[Interval]) -> Result<bool, GraphError> {
    let system = &guarded.system;
    if !system.roles.free_params.is_empty() || !system.networks.is_empty() {
        return Ok(false);
    }
    let (graph, read) = without_scores(system, system.roles.atoms[guarded.ok.0].truth.node)?;
    let known = system.states.len() + system.inputs.len();
    let mut arguments: Vec<Vec<Interval>> = split(&system.states, state).map(<[Interval]>::to_vec).collect();
    for input in &system.inputs {
        arguments.push(input.lower.iter().zip(&input.upper).map(|(&lo, &hi)| Interval { lo, hi }).collect());
    }
    for port in &graph.inputs()[known..] {
        arguments.push(vec![Interval::new(0.0, 1.0); graph.elements(port.node)]);
    }
    let is_ok = |arguments: &[Vec<Interval>]| -> Result<bool, GraphError> {
        let slices: Vec<&[Interval]> = arguments.iter().map(Vec::as_slice).collect();
        let found = enclose(&graph, &slices)?;
        Ok(found[0].first().and_then(|value| value.certainty()) == Some(true))
    };
    let labels: Vec<usize> = (known..arguments.len()).filter(|&place| read[place]).collect();
    let cases = labels.iter().try_fold(1usize, |cases, &place| cases.checked_mul(arguments[place].len()));
    let Some(cases) = cases.filter(|&cases| cases <= MOST_CASES) else { return is_ok(&arguments) };
    for case in 0..cases {
        let mut rest = case;
        for &place in &labels {
            let count = arguments[place].len();
            let chosen = rest % count;
            rest /= count;
            for (label, value) in arguments[place].iter_mut().enumerate() {
                *value = if label == chosen { Interval::ONE } else { Interval::ZERO };
            }
        }
        if !is_ok(&arguments)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The part of the step that a node depends on, where the labels of arg-max actions are further inputs, and which inputs are read.
fn without_scores(system: &System, wanted: NodeId) -> Result<(Graph, Vec<bool>), GraphError> {
    let step = &system.step;
    let actions = system.roles.actions.iter().filter_map(|role| match role {
        ActionRole::Argmax { choice, .. } => Some(choice.node),
        ActionRole::Softmax { .. } => None,
    });
    let mut labels: Vec<NodeId> = actions.filter(|&node| !matches!(step.node(node).op, Op::Constant(_))).collect();
    labels.sort_unstable();
    labels.dedup();
    let mut live = vec![false; step.len()];
    live[wanted.index()] = true;
    for (id, node) in step.ids().zip(step.nodes()).collect::<Vec<_>>().into_iter().rev() {
        if live[id.index()] && !labels.contains(&id) {
            node.inputs.iter().for_each(|input| live[input.index()] = true);
        }
    }
    let mut graph = Graph::new();
    let mut mapped: Vec<Option<NodeId>> = vec![None; step.len()];
    for port in step.inputs() {
        mapped[port.node.index()] = Some(graph.input(&port.name, step.shape(port.node)));
    }
    for &label in &labels {
        mapped[label.index()] = Some(graph.input("label", step.shape(label)));
    }
    let mut read: Vec<bool> = step.inputs().iter().map(|port| live[port.node.index()]).collect();
    read.extend(labels.iter().map(|label| live[label.index()]));
    for (id, node) in step.ids().zip(step.nodes()) {
        if live[id.index()] && mapped[id.index()].is_none() {
            // What a live node reads is live and came before it.
            let inputs: Vec<NodeId> = node.inputs.iter().filter_map(|input| mapped[input.index()]).collect();
            mapped[id.index()] = Some(graph.apply(node.op.clone(), &inputs)?);
        }
    }
    if let Some(node) = mapped[wanted.index()] {
        graph.output("ok", node);
    }
    Ok((graph, read))
}
