//! Model errors that interval evaluation alone excludes.
//!
//! Most systems are written so that their ranges are plain: an update is clamped, a window only moves what was measured. Whether no
//! state of a box has a model error is then seen by one interval evaluation of the atom `ok` ([`crate::guarded`]), and nobody has to ask
//! a solver. For a few steps, boxes are carried along from the initial states (interval reachability). Labels (random choices and arg-max actions) are tried one after the other, whatever the policy would do, so a network that
//! only scores labels is not even evaluated.

use certus_graph::eval::enclose;
use certus_graph::ops::Op;
use certus_graph::{Graph, GraphError, Interval, NodeId};
use certus_lang::system::{ActionRole, System, Variable};

use crate::guarded::Guarded;

/// Combinations of labels that are tried at most; if there are more, all labels are enclosed at once.
const MOST_CASES: usize = 256;

/// The atom `ok` and the successor, prepared for interval evaluation.
pub struct IntervalCheck {
    graph: Graph,
    /// For each state variable, input and label its intervals; those of the state are put in.
    arguments: Vec<Vec<Interval>>,
    /// The arguments that are labels and matter.
    labels: Vec<usize>,
    /// Combinations of labels; nothing if these are too many.
    cases: Option<usize>,
    declared: Vec<Interval>,
    /// The elements of each state variable.
    lengths: Vec<usize>,
}

impl IntervalCheck {
    /// Prepares a system; nothing for one with parameters or networks that are open.
    pub fn new(guarded: &Guarded) -> Result<Option<IntervalCheck>, GraphError> {
        let system = &guarded.system;
        let roles = &system.roles;
        if !roles.free_params.is_empty() || !system.networks.is_empty() {
            return Ok(None);
        }
        let ok = roles.atoms[guarded.ok.0].truth.node;
        let wanted: Vec<NodeId> = std::iter::once(ok).chain(roles.next.iter().map(|next| next.node)).collect();
        let (graph, read) = without_scores(system, &wanted)?;
        let ranges = |variable: &Variable| -> Vec<Interval> {
            variable.lower.iter().zip(&variable.upper).map(|(&lo, &hi)| Interval { lo, hi }).collect()
        };
        let mut arguments: Vec<Vec<Interval>> = system.states.iter().chain(&system.inputs).map(ranges).collect();
        let known = arguments.len();
        for port in &graph.inputs()[known..] {
            arguments.push(vec![Interval::new(0.0, 1.0); graph.elements(port.node)]);
        }
        let labels: Vec<usize> = (known..arguments.len()).filter(|&place| read[place]).collect();
        let cases = labels.iter().try_fold(1usize, |cases, &place| cases.checked_mul(arguments[place].len()));
        Ok(Some(IntervalCheck {
            graph,
            arguments,
            labels,
            cases: cases.filter(|&cases| cases <= MOST_CASES),
            declared: system.states.iter().flat_map(ranges).collect(),
            lengths: system.states.iter().map(|state| state.len).collect(),
        }))
    }

    /// A box of all successors of a box of states, if intervals show that none of these has a model error, whatever is chosen.
    pub fn successors(&self, state: &[Interval]) -> Result<Option<Vec<Interval>>, GraphError> {
        let mut arguments = self.arguments.clone();
        let mut rest = state;
        for (argument, &length) in arguments.iter_mut().zip(&self.lengths) {
            let (own, after) = rest.split_at(length);
            argument.copy_from_slice(own);
            rest = after;
        }
        let mut hull: Option<Vec<Interval>> = None;
        for case in 0..self.cases.unwrap_or(1) {
            if self.cases.is_some() {
                self.choose(case, &mut arguments);
            }
            let slices: Vec<&[Interval]> = arguments.iter().map(Vec::as_slice).collect();
            let mut found = enclose(&self.graph, &slices)?.into_iter();
            let ok = found.next().and_then(|value| value.first().and_then(|value| value.certainty()));
            if ok != Some(true) {
                return Ok(None);
            }
            // An allowed choice leads into the declared ranges, since there is no error.
            let next = found.flatten().zip(&self.declared).map(|(own, range)| own.intersection(*range));
            let Some(next) = next.collect::<Option<Vec<Interval>>>() else { continue };
            hull = Some(match hull {
                Some(before) => before.into_iter().zip(next).map(|(before, next)| before.hull(next)).collect(),
                None => next,
            });
        }
        // Without an allowed choice there is no successor, and the box stands for none.
        Ok(Some(hull.unwrap_or_else(|| state.to_vec())))
    }

    /// Puts in a combination of labels.
    fn choose(&self, case: usize, arguments: &mut [Vec<Interval>]) {
        let mut rest = case;
        for &place in &self.labels {
            let count = arguments[place].len();
            let chosen = rest % count;
            rest /= count;
            for (label, value) in arguments[place].iter_mut().enumerate() {
                *value = if label == chosen { Interval::ONE } else { Interval::ZERO };
            }
        }
    }
}

/// The part of the step that some nodes depend on, where the labels of arg-max actions are further inputs, and which inputs are read.
fn without_scores(system: &System, wanted: &[NodeId]) -> Result<(Graph, Vec<bool>), GraphError> {
    let step = &system.step;
    let actions = system.roles.actions.iter().filter_map(|role| match role {
        ActionRole::Argmax { choice, .. } => Some(choice.node),
        ActionRole::Softmax { .. } => None,
    });
    let mut labels: Vec<NodeId> = actions.filter(|&node| !matches!(step.node(node).op, Op::Constant(_))).collect();
    labels.sort_unstable();
    labels.dedup();
    let mut live = vec![false; step.len()];
    wanted.iter().for_each(|node| live[node.index()] = true);
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
    for node in wanted.iter().filter_map(|node| mapped[node.index()]) {
        graph.output("", node);
    }
    Ok((graph, read))
}
