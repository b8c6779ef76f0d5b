//! A system's step as graphs over one vector of variables: the state, then the environment's choices, then free parameters.
//!
//! A *move* is one label for every random or discrete choice of the step. With its labels fixed the step is a function
//! of the variables, without the policy's network in it; the scores that the choices are made from are another.

use std::ops::Range;

use certus_graph::canonical::canonicalize;
use certus_graph::ops::{And, Compare, Concat, Max, Not, Op, Or, Reshape, Slice};
use certus_graph::{Graph, GraphError, NodeId, Tensor};
use certus_lang::system::{ActionRole, AtomId, Formula, System};

/// Something that is chosen in every step.
#[derive(Clone, Debug, PartialEq)]
pub enum Choice {
    /// A random choice with these probabilities.
    Chance(Vec<f64>),
    /// A random action; its scores begin at this place of the scores, and there are so many.
    Softmax(usize, usize),
    /// The action with the largest score.
    Argmax(usize, usize),
}

impl Choice {
    /// How many labels it has.
    pub fn labels(&self) -> usize {
        match self {
            Choice::Chance(probabilities) => probabilities.len(),
            Choice::Softmax(_, labels) | Choice::Argmax(_, labels) => *labels,
        }
    }
}

/// What a path formula is made of: `stay U<=steps goal`, or `stay W<=steps goal`, and whether the formula is its complement. Engines bound the
/// probability of a task from above; what has to be bounded from below is the complement of another task ([`Task::opposite`]).
#[derive(Clone, Debug, PartialEq)]
pub struct Task {
    /// What must hold until then; nothing if anything may.
    pub stay: Option<Formula>,
    /// What is to be reached.
    pub goal: Formula,
    /// In so many steps; none for any number.
    pub steps: Option<usize>,
    /// Whether staying up to the last step counts as reaching: then more steps make it less likely, not more.
    pub weak: bool,
    /// Whether the probability asked for is one minus that of this task.
    pub complement: bool,
}

/// The outputs of a plant: the next state of each move; the goal; what must hold before it; then what follows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Layout {
    /// How many moves there are.
    pub moves: usize,
    /// Whether there is, for each move, whether the environment's choice is allowed. In terminal states every choice counts as allowed: all of
    /// them have the same effect.
    pub assumed: bool,
    /// Whether there is, for each move, whether every operation of the step is inside of its domain.
    pub partial_step: bool,
    /// Whether there is whether every operation of the task's atoms is.
    pub partial_atoms: bool,
}

impl Layout {
    /// The outputs that say which choices are allowed.
    pub fn allowed(&self) -> Range<usize> {
        let start = self.moves + 2;
        start..start + if self.assumed { self.moves } else { 0 }
    }

    /// The outputs that say where steps are defined.
    pub fn defined(&self) -> Range<usize> {
        let start = self.allowed().end;
        start..start + if self.partial_step { self.moves } else { 0 }
    }

    /// The output that says where the atoms are defined.
    pub fn atoms_defined(&self) -> Option<usize> {
        self.partial_atoms.then(|| self.defined().end)
    }
}

/// A step over one vector of variables.
pub struct Joint {
    /// What is chosen in a step.
    pub choices: Vec<Choice>,
    /// For each move, the label of each choice.
    pub moves: Vec<Vec<usize>>,
    /// The step, with the outputs that the layout says.
    pub plant: Graph,
    /// What the outputs of the plant are.
    pub layout: Layout,
    /// If anything is assumed: for each move whether the environment's choice is allowed, then for each move by how much (positive only where it is).
    pub allowed: Option<Graph>,
    /// Output: all scores.
    pub scores: Graph,
    /// Lower ends of the variables.
    pub lower: Vec<f64>,
    /// Upper ends of the variables.
    pub upper: Vec<f64>,
    /// How many of the variables are the state.
    pub states: usize,
}

/// More moves than this are not unfolded.
const MOST_MOVES: usize = 256;

/// What an input of an opened step was.
#[derive(Clone, Copy)]
enum Opened {
    Own(usize),
    Argmax(usize),
}

/// The step with some nodes turned into inputs.
fn open(step: &Graph, nodes: &[NodeId]) -> Result<(Graph, Vec<Opened>), GraphError> {
    let mut graph = Graph::new();
    let mut kinds = Vec::new();
    let mut mapped: Vec<NodeId> = Vec::with_capacity(step.len());
    let mut own = 0;
    for (id, node) in step.ids().zip(step.nodes()) {
        let opened = nodes.iter().position(|&other| other == id);
        mapped.push(match (&node.op, opened) {
            (_, Some(place)) => {
                kinds.push(Opened::Argmax(place));
                graph.input(&format!("action {place}"), &node.shape)
            }
            (Op::Input(_), None) => {
                kinds.push(Opened::Own(own));
                own += 1;
                graph.input(&step.inputs()[own - 1].name, &node.shape)
            }
            (op, None) => {
                let arguments: Vec<NodeId> = node.inputs.iter().map(|input| mapped[input.index()]).collect();
                graph.apply(op.clone(), &arguments)?
            }
        });
    }
    for port in step.outputs() {
        graph.output(&port.name, mapped[port.node.index()]);
    }
    Ok((graph, kinds))
}

fn product(labels: &[usize]) -> Vec<Vec<usize>> {
    labels.iter().fold(vec![Vec::new()], |moves, &count| {
        let longer = |labels: &Vec<usize>| {
            let labels = labels.clone();
            (0..count).map(move |label| labels.iter().copied().chain([label]).collect())
        };
        moves.iter().flat_map(longer).collect()
    })
}

/// The graph with every equation as two inequalities, whose sides are half-spaces.
fn without_equations(graph: &Graph) -> Result<Graph, GraphError> {
    let mut rebuilt = Graph::new();
    let mut mapped: Vec<NodeId> = Vec::with_capacity(graph.len());
    let mut ports = graph.inputs().iter();
    for node in graph.nodes() {
        let arguments: Vec<NodeId> = node.inputs.iter().map(|input| mapped[input.index()]).collect();
        mapped.push(match &node.op {
            Op::Input(_) => rebuilt.input(ports.next().map_or("", |port| &port.name), &node.shape),
            Op::Compare(Compare::Equal) => {
                let sides = [Compare::LessEqual, Compare::GreaterEqual].map(|how| rebuilt.apply(how, &arguments));
                let [least, most] = sides;
                rebuilt.apply(And, &[least?, most?])?
            }
            Op::Compare(Compare::NotEqual) => {
                let sides = [Compare::Less, Compare::Greater].map(|how| rebuilt.apply(how, &arguments));
                let [less, more] = sides;
                rebuilt.apply(Or, &[less?, more?])?
            }
            op => rebuilt.apply(op.clone(), &arguments)?,
        });
    }
    for port in graph.outputs() {
        rebuilt.output(&port.name, mapped[port.node.index()]);
    }
    Ok(rebuilt)
}

/// A truth value as a node: 1 where the formula holds.
fn truth(graph: &mut Graph, formula: &Formula, atoms: &[NodeId]) -> Result<NodeId, String> {
    let failed = |error: GraphError| error.to_string();
    let all = |graph: &mut Graph, parts: &[Formula], and: bool| -> Result<NodeId, String> {
        let mut whole = graph.constant(Tensor::vector(vec![if and { 1.0 } else { 0.0 }]));
        for part in parts {
            let own = truth(graph, part, atoms)?;
            whole =
                if and { graph.apply(And, &[whole, own]) } else { graph.apply(Or, &[whole, own]) }.map_err(failed)?;
        }
        Ok(whole)
    };
    match formula {
        Formula::Constant(value) => Ok(graph.constant(Tensor::vector(vec![f64::from(u8::from(*value))]))),
        Formula::Atom(AtomId(place)) => Ok(atoms[*place]),
        Formula::Not(part) => {
            let own = truth(graph, part, atoms)?;
            graph.apply(Not, &[own]).map_err(failed)
        }
        Formula::And(parts) => all(graph, parts, true),
        Formula::Or(parts) => all(graph, parts, false),
        Formula::Implies(left, right) => {
            let parts = [Formula::Not(left.clone()), (**right).clone()];
            all(graph, &parts, false)
        }
        Formula::Iff(left, right) => {
            let (both, neither) = (
                Formula::And(vec![(**left).clone(), (**right).clone()]),
                Formula::And(vec![Formula::Not(left.clone()), Formula::Not(right.clone())]),
            );
            all(graph, &[both, neither], false)
        }
        _ => Err("nested temporal operators are not supported".to_owned()),
    }
}

/// The atoms that a formula without temporal operators mentions.
fn mentioned(formula: &Formula, atoms: &mut Vec<AtomId>) {
    match formula {
        Formula::Atom(own) => atoms.push(*own),
        Formula::Not(part) => mentioned(part, atoms),
        Formula::And(parts) | Formula::Or(parts) => parts.iter().for_each(|part| mentioned(part, atoms)),
        Formula::Implies(left, right) | Formula::Iff(left, right) => {
            mentioned(left, atoms);
            mentioned(right, atoms);
        }
        _ => {}
    }
}

/// Whether all atoms of a formula speak of the state alone.
fn about_states(system: &System, formula: &Formula) -> bool {
    match formula {
        Formula::Constant(_) => true,
        Formula::Atom(AtomId(place)) => system.atoms[*place].state_only && !system.atoms[*place].uses_next,
        Formula::Not(part) => about_states(system, part),
        Formula::And(parts) | Formula::Or(parts) => parts.iter().all(|part| about_states(system, part)),
        Formula::Implies(left, right) | Formula::Iff(left, right) => {
            about_states(system, left) && about_states(system, right)
        }
        _ => false,
    }
}

impl Task {
    /// Reads a path formula: `F<=k φ`, `ψ U<=k φ` or `G<=k φ` over formulas about the state.
    pub fn of(system: &System, path: &Formula, steps: Option<usize>) -> Result<Task, String> {
        let (bounds, stay, goal, complement) = match path {
            Formula::Finally(bounds, goal) => (bounds, None, (**goal).clone(), false),
            Formula::Until(bounds, stay, goal) => (bounds, Some((**stay).clone()), (**goal).clone(), false),
            Formula::Globally(bounds, safe) => (bounds, None, Formula::Not(safe.clone()), true),
            _ => return Err("only `F<=k φ`, `ψ U<=k φ` and `G<=k φ` are supported".to_owned()),
        };
        let own = bounds.upper.and_then(|upper| usize::try_from(upper).ok());
        let steps = steps.or(own);
        if bounds.lower != 0 {
            return Err("a formula that begins after the first step is not supported".to_owned());
        }
        if !about_states(system, &goal) || stay.as_ref().is_some_and(|stay| !about_states(system, stay)) {
            return Err("the formula must refer to the state only, not to actions, policies or next(x)".to_owned());
        }
        Ok(Task { stay, goal, steps, weak: false, complement })
    }

    /// The task whose probability is one minus that of this one: not to come to the goal by way of `stay`.
    pub fn opposite(self) -> Task {
        let not = |formula: Formula| Formula::Not(Box::new(formula));
        let lost = match self.stay {
            Some(stay) => Formula::And(vec![not(self.goal.clone()), not(stay)]),
            None => Formula::Constant(false),
        };
        Task { stay: Some(not(self.goal)), goal: lost, steps: self.steps, weak: true, complement: !self.complement }
    }
}

impl Joint {
    /// Builds the graphs of a system for a task.
    pub fn new(system: &System, task: &Task) -> Result<Joint, String> {
        let failed = |error: GraphError| format!("the step cannot be prepared: {error}");
        if !system.networks.is_empty() {
            return Err("the loop is open: a probability needs all of its networks".to_owned());
        }
        let mut choices: Vec<Choice> = system.chances.iter().map(|c| Choice::Chance(c.probabilities.clone())).collect();
        let (mut softmax, mut argmax): (Vec<usize>, Vec<usize>) = (Vec::new(), Vec::new());
        let mut scored = Vec::new();
        let mut start = 0;
        for (place, role) in system.roles.actions.iter().enumerate() {
            let labels = system.actions[place].labels.len();
            let (choice, port) = match role {
                ActionRole::Softmax { logits, .. } => (Choice::Softmax(start, labels), logits.port),
                ActionRole::Argmax { scores, .. } => (Choice::Argmax(start, labels), scores.port),
            };
            let list = if matches!(choice, Choice::Softmax(..)) { &mut softmax } else { &mut argmax };
            list.push(choices.len());
            choices.push(choice);
            scored.push(port);
            start += labels;
        }
        let labels: Vec<usize> = choices.iter().map(Choice::labels).collect();
        if labels.iter().try_fold(1usize, |product, &count| product.checked_mul(count)).is_none_or(|n| n > MOST_MOVES) {
            return Err(format!("a step has more than {MOST_MOVES} combinations of labels"));
        }
        let moves = product(&labels);
        let opened: Vec<NodeId> = system
            .roles
            .actions
            .iter()
            .filter_map(|role| match role {
                ActionRole::Argmax { choice, .. } => Some(choice.node),
                ActionRole::Softmax { .. } => None,
            })
            .collect();
        let (step, kinds) = open(&system.step, &opened).map_err(failed)?;
        let states = system.state_len();
        let (mut lower, mut upper) = (Vec::new(), Vec::new());
        for variable in system.states.iter().chain(&system.inputs) {
            lower.extend_from_slice(&variable.lower);
            upper.extend_from_slice(&variable.upper);
        }
        for &(place, _) in &system.roles.free_params {
            lower.push(system.params[place].lower);
            upper.push(system.params[place].upper);
        }
        // Which part of the variables, or which choice, each input of the step is.
        let free = system.states.len() + system.inputs.len();
        let chances = system.chances.len();
        let build = |graph: &mut Graph, x: NodeId, labels: &[usize]| -> Result<Vec<NodeId>, GraphError> {
            let one_hot = |graph: &mut Graph, choice: usize| {
                let values = (0..choices[choice].labels()).map(|i| f64::from(u8::from(i == labels[choice])));
                graph.constant(Tensor::vector(values.collect()))
            };
            let mut at = 0;
            let mut arguments = Vec::new();
            for (kind, port) in kinds.iter().zip(step.inputs()) {
                let elements = step.elements(port.node);
                arguments.push(match *kind {
                    Opened::Argmax(place) => one_hot(graph, argmax[place]),
                    Opened::Own(own) if own < free || own >= free + chances + softmax.len() => {
                        at += elements;
                        graph.apply(Slice::of_vector(at - elements, elements), &[x])?
                    }
                    Opened::Own(own) if own < free + chances => one_hot(graph, own - free),
                    Opened::Own(own) => one_hot(graph, softmax[own - free - chances]),
                });
            }
            graph.inline(&step, &arguments)
        };
        let flat = |graph: &mut Graph, nodes: &[NodeId]| -> Result<NodeId, GraphError> {
            let parts = nodes.iter().map(|&node| {
                let elements = graph.elements(node);
                graph.apply(Reshape { shape: vec![elements] }, &[node])
            });
            let parts: Vec<NodeId> = parts.collect::<Result<_, _>>()?;
            graph.apply(Concat { axis: 0 }, &parts)
        };
        let mut plant = Graph::new();
        let x = plant.input("x", &[lower.len()]);
        let (mut atoms, mut permits, mut defined, mut partial) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for labels in &moves {
            let results = build(&mut plant, x, labels).map_err(failed)?;
            if let Some(assume) = system.roles.assume {
                let (mut truth, mut margin) = (results[assume.truth.port], results[assume.margin.port]);
                if let Some(terminal) = system.roles.terminal {
                    truth = plant.apply(Or, &[truth, results[terminal.truth.port]]).map_err(failed)?;
                    margin = plant.apply(Max, &[margin, results[terminal.margin.port]]).map_err(failed)?;
                }
                permits.push((truth, margin));
            }
            defined.extend(system.roles.defined.map(|own| results[own.truth.port]));
            let next: Vec<NodeId> = system.roles.next.iter().map(|output| results[output.port]).collect();
            let next = flat(&mut plant, &next).map_err(failed)?;
            plant.output("next", next);
            if atoms.is_empty() {
                atoms = system.roles.atoms.iter().map(|atom| results[atom.truth.port]).collect();
                let mut used = Vec::new();
                [Some(&task.goal), task.stay.as_ref()]
                    .into_iter()
                    .flatten()
                    .for_each(|part| mentioned(part, &mut used));
                let own = used.into_iter().filter_map(|AtomId(place)| system.roles.atoms_defined[place]);
                partial = own.map(|own| results[own.truth.port]).collect();
            }
        }
        let goal = truth(&mut plant, &task.goal, &atoms)?;
        plant.output("goal", goal);
        let stay = truth(&mut plant, task.stay.as_ref().unwrap_or(&Formula::Constant(true)), &atoms)?;
        plant.output("stay", stay);
        let layout = Layout {
            moves: moves.len(),
            assumed: !permits.is_empty(),
            partial_step: !defined.is_empty(),
            partial_atoms: !partial.is_empty(),
        };
        permits.iter().for_each(|&(truth, _)| plant.output("allowed", truth));
        defined.iter().for_each(|&own| plant.output("defined", own));
        if let Some((&first, rest)) = partial.split_first() {
            let all = rest.iter().try_fold(first, |all, &own| plant.apply(And, &[all, own])).map_err(failed)?;
            plant.output("atoms defined", all);
        }
        let outputs = plant.outputs().len();
        permits.iter().for_each(|&(_, margin)| plant.output("allowance", margin));
        let chosen: Vec<usize> = layout.allowed().chain(outputs..outputs + permits.len()).collect();
        let allowed = layout.assumed.then(|| plant.keep_outputs(&chosen));
        let plant = plant.keep_outputs(&(0..outputs).collect::<Vec<_>>());
        let plant = without_equations(&plant).map_err(failed)?.without_dead_nodes();
        let mut scores = Graph::new();
        let x = scores.input("x", &[lower.len()]);
        let results = build(&mut scores, x, &moves[0]).map_err(failed)?;
        let nodes: Vec<NodeId> = scored.iter().map(|&port| results[port]).collect();
        if !nodes.is_empty() {
            let all = flat(&mut scores, &nodes).map_err(failed)?;
            scores.output("scores", all);
        }
        // Scores that depend on another choice of the same step would need one network per move.
        for labels in &moves[1..] {
            let mut other = Graph::new();
            let x = other.input("x", &[lower.len()]);
            let results = build(&mut other, x, labels).map_err(failed)?;
            let nodes: Vec<NodeId> = scored.iter().map(|&port| results[port]).collect();
            if !nodes.is_empty() {
                let all = flat(&mut other, &nodes).map_err(failed)?;
                other.output("scores", all);
            }
            let alike = canonicalize(&other.without_dead_nodes()).map_err(failed)?
                == canonicalize(&scores.without_dead_nodes()).map_err(failed)?;
            if !alike {
                return Err(
                    "an action's scores depend on another choice of the same step, which is not supported".to_owned()
                );
            }
        }
        let scores = scores.without_dead_nodes();
        Ok(Joint { choices, moves, plant, layout, allowed, scores, lower, upper, states })
    }
}
