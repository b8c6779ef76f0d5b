//! The transition relation of a system, partitioned by its discrete choices.
//!
//! A *transition* fixes one label for every discrete choice of a step: argmax actions, softmax actions, chances. With its labels fixed a step is a function of the state and of the
//! environment's numbers, free of selections between branches, so affine bounds of it are tight (a disjunctively partitioned transition relation, as in Burch, Clarke and
//! Long, "Symbolic model checking with partitioned transition relations", VLSI 1991). The union of all transitions is the step, so bounding each of those that a cell may take is sound.
//! For an *extracted* policy its outputs are inputs of the transitions, and no network is left in them.
//!
//! Terminal states are partitioned as well: staying for ever and going on are two transitions. A cell across the border has both, each with what it says about
//! the atoms; their hull would be neither, and would let a spurious run creep along the border.

use certus_graph::ops::{Gather, Op, Sub};
use certus_graph::{Graph, GraphError, NodeId, Tensor};
use certus_lang::system::{ActionRole, AtomId, Output, System};

/// A discrete choice of a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Choice {
    /// The action, by its place in the system, with the largest score.
    Argmax(usize),
    /// A random action, by its place in the system.
    Softmax(usize),
    /// A chance, by its place in the system.
    Chance(usize),
}

/// A step with every discrete choice fixed. Its inputs are the state variables, the environment's choices, and, for an extracted policy, its
/// outputs; its outputs the next state, then the atoms, then whether the transition is allowed, then whether operations are defined.
#[derive(Clone, Debug)]
pub struct Transition {
    /// The label of each choice.
    pub labels: Vec<usize>,
    /// Whether the run has ended, so that the state stays as it is.
    pub ended: bool,
    /// Whether it is the same for all labels.
    pub is_free: bool,
    /// The step.
    pub step: Graph,
}

/// The transition relation, partitioned.
#[derive(Clone, Debug)]
pub struct TransitionRelation {
    /// The discrete choices of a step.
    pub choices: Vec<Choice>,
    /// How many labels each choice has.
    pub labels: Vec<usize>,
    /// One transition for each combination of labels that can happen.
    pub transitions: Vec<Transition>,
    /// For each argmax action: its choice, and where the differences of its scores begin. The difference of labels
    /// i < j stands at the place of the pair among all pairs in their order.
    pub argmax: Vec<(usize, usize)>,
    /// The differences of scores, one after the other, of the state and the environment's choices; none without such actions.
    pub score_differences: Option<Graph>,
    /// The policies' outputs, then every argmax label as a one-hot vector: what an extraction samples.
    pub policy: Graph,
    /// How many numbers the policies' outputs have.
    pub outputs: usize,
    /// Whether a run has ended, as a function of the step's inputs; none if terminal states are part of the transitions.
    pub terminal: Option<Graph>,
}

/// What a node that was turned into an input stands for.
enum Meaning {
    Action(usize),
    Policy(usize),
    Terminal,
}

/// The most combinations of labels; with those of terminal states there are twice as many transitions, counted in eight bits.
const MOST_TRANSITIONS: usize = 64;

/// The most labels of an argmax action, whose scores are compared in pairs.
const MOST_LABELS: usize = 24;

/// A graph with some nodes turned into inputs; for each input what it was: an input of the graph's own, or a node by its place in the list.
fn opened(graph: &Graph, nodes: &[NodeId]) -> Result<(Graph, Vec<Result<usize, usize>>), GraphError> {
    let (mut own, mut result) = (0, Graph::new());
    let mut kinds = Vec::new();
    let mut mapped: Vec<NodeId> = Vec::with_capacity(graph.len());
    for (id, node) in graph.ids().zip(graph.nodes()) {
        let place = nodes.iter().position(|&other| other == id);
        if let Op::Input(_) = node.op {
            own += 1;
        }
        mapped.push(match (&node.op, place) {
            (Op::Input(_), _) => {
                kinds.push(Ok(own - 1));
                result.input(&graph.inputs()[own - 1].name, &node.shape)
            }
            (_, Some(place)) => {
                kinds.push(Err(place));
                result.input(&format!("given {place}"), &node.shape)
            }
            (op, None) => {
                let arguments: Vec<NodeId> = node.inputs.iter().map(|input| mapped[input.index()]).collect();
                result.apply(op.clone(), &arguments)?
            }
        });
    }
    for port in graph.outputs() {
        result.output(&port.name, mapped[port.node.index()]);
    }
    Ok((result, kinds))
}

fn one_hot(labels: usize, chosen: usize) -> Tensor {
    Tensor::vector((0..labels).map(|label| f64::from(u8::from(label == chosen))).collect())
}

impl TransitionRelation {
    /// Partitions a system's step; `atoms` are those of the property, and `extracted` makes the policies' outputs inputs.
    pub fn new(system: &System, atoms: &[AtomId], extracted: bool) -> Result<TransitionRelation, String> {
        let roles = &system.roles;
        let truths = atoms.iter().map(|atom| roles.atoms[atom.0].truth);
        let truths = truths.chain(roles.assume.map(|assume| assume.truth));
        let wanted: Vec<Output> = truths.chain(definedness(system, atoms)).collect();
        let terminal = system.roles.terminal.map(|terminal| terminal.truth);
        TransitionRelation::build(
            system,
            &wanted,
            extracted,
            terminal.filter(|own| reads_states_only(system, own.node)),
        )
    }

    /// The same with some outputs of the step after the next state, and with terminal states as a part of the step.
    pub fn with(system: &System, wanted: &[Output], extracted: bool) -> Result<TransitionRelation, String> {
        TransitionRelation::build(system, wanted, extracted, None)
    }

    fn build(
        system: &System,
        wanted: &[Output],
        extracted: bool,
        terminal: Option<Output>,
    ) -> Result<TransitionRelation, String> {
        let failed = |error: GraphError| format!("the transition relation cannot be partitioned: {error}");
        if !system.roles.free_params.is_empty() {
            return Err("the grid engine needs a value for every parameter, not a range".to_owned());
        }
        if !system.networks.is_empty() {
            return Err("the system is open: a network is missing".to_owned());
        }
        let (mut choices, mut labels) = (Vec::new(), Vec::new());
        for (place, chance) in system.chances.iter().enumerate() {
            choices.push(Choice::Chance(place));
            labels.push(chance.labels.len());
        }
        for (place, (action, role)) in system.actions.iter().zip(&system.roles.actions).enumerate() {
            choices.push(match role {
                ActionRole::Argmax { .. } => Choice::Argmax(place),
                ActionRole::Softmax { .. } => Choice::Softmax(place),
            });
            labels.push(action.labels.len());
        }
        let count =
            labels.iter().try_fold(1usize, |all, &own| all.checked_mul(own)).filter(|&all| all <= MOST_TRANSITIONS);
        let Some(_) = count else {
            return Err(format!(
                "the grid engine supports at most {MOST_TRANSITIONS} combinations of actions and chances"
            ));
        };
        let mut relation = TransitionRelation {
            argmax: Vec::new(),
            score_differences: score_differences(system, &choices, &labels).map_err(failed)?,
            policy: policy(system).map_err(failed)?,
            outputs: system.policies.iter().map(|policy| policy.len).sum(),
            terminal: terminal.map(|own| system.step.keep_outputs(&[own.port])),
            transitions: Vec::new(),
            choices,
            labels,
        };
        let mut begin = 0;
        for (place, (choice, &labels)) in relation.choices.iter().zip(&relation.labels).enumerate() {
            if let Choice::Argmax(action) = choice {
                if labels > MOST_LABELS {
                    let name = &system.actions[*action].name;
                    return Err(format!("{name} has {labels} labels: the grid engine supports at most {MOST_LABELS}"));
                }
                relation.argmax.push((place, begin));
                begin += labels * (labels - 1) / 2;
            }
        }
        let combinations = relation.labels.iter().fold(vec![Vec::new()], |all: Vec<Vec<usize>>, &count| {
            let longer = |own: &Vec<usize>| {
                let own = own.clone();
                (0..count).map(move |label| own.iter().copied().chain([label]).collect())
            };
            all.iter().flat_map(longer).collect()
        });
        for labels in combinations {
            let happens = relation.choices.iter().zip(&labels).all(|(choice, &label)| match choice {
                Choice::Chance(place) => system.chances[*place].probabilities[label] > 0.0,
                _ => true,
            });
            if happens {
                let going_on = terminal.map(|own| (own, false));
                let step = relation.step(system, wanted, extracted, &labels, going_on).map_err(failed)?;
                relation.transitions.push(Transition { labels, ended: false, is_free: false, step });
            }
        }
        if let Some(own) = terminal {
            // In a terminal state the state stays whatever is chosen, but an atom may read the choice.
            let choices = choice_nodes(system);
            let is_free = !wanted.iter().any(|output| reads(&system.step, output.node, |node| choices.contains(&node)));
            let going_on: Vec<Vec<usize>> = relation.transitions.iter().map(|own| own.labels.clone()).collect();
            for labels in going_on.into_iter().take(if is_free { 1 } else { usize::MAX }) {
                let step = relation.step(system, wanted, extracted, &labels, Some((own, true))).map_err(failed)?;
                relation.transitions.push(Transition { labels, ended: true, is_free, step });
            }
        }
        Ok(relation)
    }

    fn step(
        &self,
        system: &System,
        wanted: &[Output],
        extracted: bool,
        labels: &[usize],
        terminal: Option<(Output, bool)>,
    ) -> Result<Graph, GraphError> {
        let roles = &system.roles;
        let mut nodes: Vec<NodeId> = Vec::new();
        let mut meanings: Vec<Meaning> = Vec::new();
        for (place, role) in roles.actions.iter().enumerate() {
            if let ActionRole::Argmax { choice, .. } = role {
                nodes.push(choice.node);
                meanings.push(Meaning::Action(place));
            }
        }
        if extracted {
            nodes.extend(roles.policies.iter().map(|policy| policy.node));
            meanings.extend((0..roles.policies.len()).map(Meaning::Policy));
        }
        if let Some((own, _)) = terminal {
            nodes.push(own.node);
            meanings.push(Meaning::Terminal);
        }
        let ended = terminal.is_some_and(|(_, ended)| ended);
        let (open, kinds) = opened(&system.step, &nodes)?;
        let mut graph = Graph::new();
        let numbers = system.states.iter().chain(&system.inputs);
        let numbers: Vec<NodeId> = numbers.map(|variable| graph.input(&variable.name, &[variable.len])).collect();
        let policies: Vec<NodeId> = match extracted {
            true => system.policies.iter().map(|policy| graph.input(&policy.name, &[policy.len])).collect(),
            false => Vec::new(),
        };
        let label_of = |wanted: Choice| {
            let place = self.choices.iter().position(|own| *own == wanted).unwrap_or(0);
            (self.labels[place], labels[place])
        };
        // Inputs of the step: state variables and inputs, then chances, then random actions.
        let mut random =
            (0..roles.actions.len()).filter(|&place| matches!(roles.actions[place], ActionRole::Softmax { .. }));
        let chances = (0..system.chances.len()).map(Choice::Chance).collect::<Vec<_>>();
        let given: Vec<Choice> = chances.into_iter().chain(random.by_ref().map(Choice::Softmax)).collect();
        let mut arguments = Vec::with_capacity(kinds.len());
        for kind in kinds {
            arguments.push(match kind {
                Ok(input) if input < numbers.len() => numbers[input],
                Ok(input) => {
                    let (count, label) = label_of(given[input - numbers.len()].clone());
                    graph.constant(one_hot(count, label))
                }
                Err(place) => match meanings[place] {
                    Meaning::Action(action) => {
                        let (count, label) = label_of(Choice::Argmax(action));
                        graph.constant(one_hot(count, label))
                    }
                    Meaning::Policy(policy) => policies[policy],
                    Meaning::Terminal => {
                        let shape = system.step.shape(nodes[place]);
                        let values = vec![f64::from(u8::from(ended)); shape.iter().product()];
                        graph.constant(Tensor::new(shape.to_vec(), values)?)
                    }
                },
            });
        }
        let outputs = graph.inline(&open, &arguments)?;
        for (place, output) in roles.next.iter().chain(wanted).enumerate() {
            let node = if ended && place < roles.next.len() { numbers[place] } else { outputs[output.port] };
            graph.output(&format!("output {place}"), node);
        }
        Ok(graph.without_dead_nodes())
    }
}

/// What must be true for every operation of a step, and of some atoms, to be defined.
pub(crate) fn definedness(system: &System, atoms: &[AtomId]) -> Vec<Output> {
    let roles = &system.roles;
    let own = atoms.iter().filter_map(|atom| roles.atoms_defined.get(atom.0).copied().flatten());
    roles.defined.into_iter().chain(own).map(|own| own.truth).collect()
}

/// Whether a node of a graph is one that is looked for, or depends on one.
pub(crate) fn reads(graph: &Graph, node: NodeId, wanted: impl Fn(NodeId) -> bool) -> bool {
    let (mut seen, mut pending) = (vec![false; graph.len()], vec![node]);
    while let Some(next) = pending.pop() {
        if !std::mem::replace(&mut seen[next.index()], true) {
            if wanted(next) {
                return true;
            }
            pending.extend(graph.nodes()[next.index()].inputs.iter().copied());
        }
    }
    false
}

/// The nodes of the step that are a label: chosen by a policy, or by chance.
fn choice_nodes(system: &System) -> Vec<NodeId> {
    let numbers = system.states.len() + system.inputs.len();
    let chosen = system.roles.actions.iter().filter_map(|role| match role {
        ActionRole::Argmax { choice, .. } => Some(choice.node),
        ActionRole::Softmax { .. } => None,
    });
    chosen.chain(system.step.inputs()[numbers..].iter().map(|port| port.node)).collect()
}

/// Whether a node of the step depends on the state alone.
fn reads_states_only(system: &System, node: NodeId) -> bool {
    let roles = &system.roles;
    let choices = choice_nodes(system);
    !reads(&system.step, node, |next| {
        let is_input = matches!(system.step.nodes()[next.index()].op, Op::Input(_));
        choices.contains(&next)
            || roles.policies.iter().any(|policy| policy.node == next)
            || (is_input && !roles.states.contains(&next))
    })
}

/// The differences of scores as a function of the state and the environment's choices. Scores may depend on earlier choices only through these.
fn score_differences(system: &System, choices: &[Choice], labels: &[usize]) -> Result<Option<Graph>, GraphError> {
    let mut graph = system.step.clone();
    let mut pairs = Vec::new();
    for (choice, &labels) in choices.iter().zip(labels) {
        let Choice::Argmax(action) = choice else { continue };
        let ActionRole::Argmax { scores, .. } = system.roles.actions[*action] else { continue };
        let all = || (0..labels).flat_map(|i| (i + 1..labels).map(move |j| (i, j)));
        if labels < 2 {
            continue;
        }
        let gather = |indices: Vec<usize>| Gather { axis: 0, index_shape: vec![indices.len()], indices };
        let left = graph.apply(gather(all().map(|(i, _)| i).collect()), &[scores.node])?;
        let right = graph.apply(gather(all().map(|(_, j)| j).collect()), &[scores.node])?;
        pairs.push(graph.apply(Sub, &[left, right])?);
    }
    if pairs.is_empty() {
        return Ok(None);
    }
    let kept = graph.outputs().len();
    for (place, node) in pairs.iter().enumerate() {
        graph.output(&format!("pairs {place}"), *node);
    }
    Ok(Some(graph.keep_outputs(&(kept..kept + pairs.len()).collect::<Vec<_>>())))
}

/// The policies' outputs and the chosen labels.
fn policy(system: &System) -> Result<Graph, GraphError> {
    let labels = system.roles.actions.iter().filter_map(|role| match role {
        ActionRole::Argmax { choice, .. } => Some(choice.port),
        ActionRole::Softmax { .. } => None,
    });
    let ports: Vec<usize> = system.roles.policies.iter().map(|policy| policy.port).chain(labels).collect();
    Ok(system.step.keep_outputs(&ports))
}
