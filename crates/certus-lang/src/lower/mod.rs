//! Model to system: one step of the closed loop as a graph.
//!
//! All nodes made here are vectors of one axis; a number is a vector of length 1. Policies, actions and
//! defines are lowered in their order of dependence, so lowering a term never has to follow a chain of
//! names.

mod builder;
mod defined;
mod environment;
mod exact;
mod integrate;
mod margin;
mod open;
mod terms;

use certus_graph::{GraphError, NodeId};

use crate::check::term::{Term, Uses};
use crate::check::{Item, Model};
use crate::diagnostics::Diagnostics;
use crate::system::{ActionKind, ActionRole, Assumption, Atom, NetworkRole, Output, Roles, System, Truth};

use builder::Builder;
use environment::Environment;

pub(crate) type Lowered<T> = Result<T, GraphError>;

/// Lowers a checked model.
pub(crate) fn lower(model: Model, warnings: Diagnostics) -> Lowered<System> {
    let mut lowering = Lowering {
        model: &model,
        builder: Builder::new(),
        ports: Vec::new(),
        open: Vec::new(),
        terminal: None,
        exact: None,
    };
    let environment = lowering.declare_inputs();
    let plan = lowering.step(environment)?;
    let Lowering { builder, ports, open, .. } = lowering;
    let paths: Vec<String> = open.iter().map(|own| model.open_networks[own.network].clone()).collect();
    let mut graph = builder.finish();
    for (name, node) in &ports {
        graph.output(name, *node);
    }
    let graph = graph.without_dead_nodes();
    let roles = plan.roles(&model, &graph);
    debug_assert_eq!(roles.next.len(), model.states.len(), "every state variable has a successor");
    debug_assert_eq!(roles.atoms.len(), model.atoms.len(), "every atom has a value");
    debug_assert_eq!(roles.atoms_defined.len(), model.atoms.len(), "every atom has a domain");
    debug_assert!(
        roles
            .next
            .iter()
            .chain(&roles.policies)
            .chain(&roles.defines)
            .all(|own| graph.outputs()[own.port].node == own.node),
        "an output is not where its port says"
    );
    let chosen = reads_choices(&graph, &roles);
    let networks = open::networks(&paths, &graph, &roles);
    let is_value = |i: &usize| !model.formula_defines.contains(i);
    let kept: Vec<usize> = (0..model.defines.len()).filter(is_value).collect();
    Ok(System {
        defines: kept.iter().map(|i| model.defines[*i].0.clone()).collect(),
        name: model.name,
        doc: model.doc,
        dt: model.dt,
        integrator: model.integrator,
        params: model.params,
        states: model.states,
        inputs: model.inputs,
        chances: model.chances,
        policies: model.policies.into_iter().map(|(p, _)| p).collect(),
        actions: model.actions.into_iter().map(|(a, _)| a).collect(),
        init_box: model.init_box,
        init_is_box: model.init_is_box,
        init_boxes: model.init_boxes,
        init_is_union: model.init_is_union,
        assumptions: model
            .assumptions
            .into_iter()
            .zip(plan.drawn)
            .map(|(own, drawn)| Assumption { drawn, ..own })
            .collect(),
        atoms: model.atoms.into_iter().zip(chosen).map(|((a, _), uses_choice)| Atom { uses_choice, ..a }).collect(),
        properties: model.properties,
        networks,
        step: graph,
        roles,
        warnings,
    })
}

/// Whether each atom reads something that is chosen anew at every position, directly or by way of a policy.
fn reads_choices(graph: &certus_graph::Graph, roles: &Roles) -> Vec<bool> {
    let random = roles.actions.iter().filter_map(|role| match role {
        ActionRole::Softmax { choice, .. } => Some(*choice),
        ActionRole::Argmax { .. } => None,
    });
    let mut reads = vec![false; graph.len()];
    for node in roles.inputs.iter().chain(&roles.chances).copied().chain(random) {
        reads[node.index()] = true;
    }
    for (index, node) in graph.nodes().iter().enumerate() {
        reads[index] = reads[index] || node.inputs.iter().any(|input| reads[input.index()]);
    }
    let of = |truth: &Truth| reads[truth.truth.node.index()];
    let pairs = roles.atoms.iter().zip(&roles.atoms_defined);
    pairs.map(|(atom, defined)| of(atom) || defined.as_ref().is_some_and(of)).collect()
}

struct Lowering<'m> {
    model: &'m Model,
    builder: Builder,
    /// The outputs, in their order.
    ports: Vec<(String, NodeId)>,
    /// The applications of networks that are outside of the step.
    open: Vec<open::Application>,
    /// The truth of `terminal`, once it is known.
    terminal: Option<NodeId>,
    /// The flow of the step, if it is one, once it is known.
    exact: Option<exact::Exact>,
}

/// A port of the graph.
type PortIndex = usize;

/// The ports of a Boolean.
#[derive(Clone, Copy)]
struct TruthPorts {
    truth: PortIndex,
    margin: PortIndex,
}

/// Which port means what.
#[derive(Default)]
struct Plan {
    policies: Vec<PortIndex>,
    /// One-hot and scores of an argmax action; probabilities and logits of a softmax action.
    actions: Vec<(PortIndex, PortIndex)>,
    next: Vec<PortIndex>,
    defines: Vec<PortIndex>,
    atoms: Vec<TruthPorts>,
    init: Option<TruthPorts>,
    assume: Option<TruthPorts>,
    /// For each `assume` declaration, whether it depends on a random outcome.
    drawn: Vec<bool>,
    choice_defined: Option<TruthPorts>,
    defined: Option<TruthPorts>,
    /// Where each atom is defined; nothing for everywhere.
    atoms_defined: Vec<Option<TruthPorts>>,
    init_defined: Option<TruthPorts>,
    integral: Option<TruthPorts>,
    terminal: Option<TruthPorts>,
    reward: Option<PortIndex>,
    /// What the open networks see.
    networks: Vec<PortIndex>,
}

impl Lowering<'_> {
    fn port(&mut self, name: impl Into<String>, node: NodeId) -> PortIndex {
        self.ports.push((name.into(), node));
        self.ports.len() - 1
    }

    fn truth_ports(&mut self, name: &str, t: &Term, env: &mut Environment) -> Lowered<TruthPorts> {
        let truth = self.term(t, env)?;
        let margin = self.margin(t, env)?;
        Ok(TruthPorts {
            truth: self.port(format!("{name}.truth"), truth),
            margin: self.port(format!("{name}.margin"), margin),
        })
    }

    fn optional_truth(&mut self, name: &str, t: Option<&Term>, env: &mut Environment) -> Lowered<Option<TruthPorts>> {
        t.map(|t| self.truth_ports(name, t, env)).transpose()
    }

    /// Lowers everything, and says where it is.
    fn step(&mut self, mut env: Environment) -> Lowered<Plan> {
        let model = self.model;
        let mut plan = Plan::default();
        let mut scores = vec![None; model.actions.len()];
        for item in &model.order {
            match *item {
                Item::Policy(i) => env.policies[i] = Some(self.term(&model.policies[i].1, &mut env)?),
                Item::Action(i) => {
                    let node = self.term(&model.actions[i].1, &mut env)?;
                    scores[i] = Some(node);
                    if env.actions[i].is_none() {
                        env.actions[i] = Some(self.builder.argmax(node)?);
                    }
                }
                Item::Define(i) => self.define(i, &mut env, false)?,
            }
        }
        for (i, (policy, _)) in model.policies.iter().enumerate() {
            plan.policies.extend(env.policies[i].map(|node| self.port(&policy.name, node)));
        }
        for (i, (action, _)) in model.actions.iter().enumerate() {
            let (Some(choice), Some(scores)) = (env.actions[i], scores[i]) else { continue };
            let name = &action.name;
            plan.actions.push(match action.kind {
                ActionKind::Argmax => (self.port(name, choice), self.port(format!("{name}.scores"), scores)),
                ActionKind::Softmax => {
                    let probabilities = self.builder.softmax(scores)?;
                    let first = self.port(format!("{name}.probabilities"), probabilities);
                    (first, self.port(format!("{name}.logits"), scores))
                }
            });
        }
        plan.terminal = self.optional_truth("terminal", model.terminal.as_ref(), &mut env)?;
        self.terminal = plan.terminal.map(|t| self.ports[t.truth].1);
        let (next, next_defined) = self.successors(&mut env, self.terminal)?;
        for (variable, node) in model.states.iter().zip(&next) {
            plan.next.push(self.port(format!("next({})", variable.name), *node));
        }
        env.next = Some(next);
        for item in &model.order {
            if let Item::Define(i) = *item {
                self.define(i, &mut env, true)?;
            }
        }
        for (i, (define, _)) in model.defines.iter().enumerate() {
            if !model.formula_defines.contains(&i) {
                plan.defines.extend(env.defines[i].map(|node| self.port(&define.name, node)));
            }
        }
        for (i, (_, t)) in model.atoms.iter().enumerate() {
            plan.atoms.push(self.truth_ports(&format!("atom{i}"), t, &mut env)?);
        }
        plan.init = self.optional_truth("init", model.init.as_ref(), &mut env)?;
        plan.assume = self.optional_truth("assume", model.assumption.as_ref(), &mut env)?;
        let sampled = model.actions.iter().zip(&env.actions).filter(|((own, _), _)| own.kind == ActionKind::Softmax);
        let draws: Vec<NodeId> = env.chances.iter().copied().chain(sampled.filter_map(|(_, &choice)| choice)).collect();
        for assumption in &model.assume {
            let node = self.term(assumption, &mut env)?;
            plan.drawn.push(self.builder.depends_on(node, &draws));
        }
        self.definedness(&mut plan, next_defined, &mut env)?;
        if let Some(reward) = &model.reward {
            let node = self.term(reward, &mut env)?;
            plan.reward = Some(self.port("reward", node));
        }
        for place in 0..self.open.len() {
            plan.networks.push(self.port(format!("net{place}.arguments"), self.open[place].seen));
        }
        Ok(plan)
    }

    /// Where a step and the atoms are defined. The successor matters where a run goes on and the choice is allowed.
    fn definedness(&mut self, plan: &mut Plan, next: Option<NodeId>, env: &mut Environment) -> Lowered<()> {
        let model = self.model;
        let terminal = plan.terminal.map(|own| self.ports[own.truth].1);
        let assume = plan.assume.map(|own| self.ports[own.truth].1);
        plan.integral = self.optional_truth("integral", model.integral.as_ref(), env)?;
        // What is no integer is no choice, and no state.
        let no_choice = model.integral_inputs.as_ref().map(|t| self.negated(t, env)).transpose()?;
        let no_state = model.integral.as_ref().map(|t| self.negated(t, env)).transpose()?;
        let mut parts = Vec::new();
        for (_, t) in &model.policies {
            parts.push(self.all_defined(t, env)?);
        }
        for (_, t) in &model.actions {
            parts.push(self.all_defined(t, env)?);
        }
        if let Some(t) = &model.terminal {
            parts.push(self.all_defined(t, env)?);
        }
        for t in &model.assume {
            let own = self.all_defined(t, env)?;
            let exempt = terminal.filter(|_| t.uses.includes(Uses::NEXT));
            parts.push(self.unless(exempt, own)?);
        }
        // An assumption about the successor is evaluated for every choice, and so is the successor.
        if model.assume.iter().any(|own| own.uses.includes(Uses::NEXT)) {
            parts.push(self.unless(terminal, next)?);
        }
        let chosen = self.every(parts.iter().copied())?;
        let chosen = self.unless(no_choice, chosen)?;
        parts = vec![chosen];
        plan.choice_defined = self.defined_ports("choice.defined", chosen)?;
        let refused = assume.map(|assume| self.builder.not(assume)).transpose()?;
        let next = self.unless(refused, next)?;
        parts.push(self.unless(terminal, next)?);
        if let Some(t) = &model.integral_successors {
            let integral = self.term(t, env)?;
            parts.push(self.unless(refused, Some(integral))?);
        }
        let whole = self.every(parts)?;
        plan.defined = self.defined_ports("defined", whole)?;
        for (i, (_, t)) in model.atoms.iter().enumerate() {
            let own = self.all_defined(t, env)?;
            let own = self.defined_ports(&format!("atom{i}.defined"), own)?;
            plan.atoms_defined.push(own);
        }
        let init = match &model.init {
            Some(t) => self.all_defined(t, env)?,
            None => None,
        };
        let init = self.unless(no_state, init)?;
        plan.init_defined = self.defined_ports("init.defined", init)?;
        Ok(())
    }

    fn negated(&mut self, t: &Term, env: &mut Environment) -> Lowered<NodeId> {
        let node = self.term(t, env)?;
        self.builder.not(node)
    }

    /// A condition that need not hold where another one does.
    fn unless(&mut self, exempt: Option<NodeId>, condition: Option<NodeId>) -> Lowered<Option<NodeId>> {
        match (exempt, condition) {
            (Some(exempt), Some(condition)) => self.builder.binary(builder::Binary::Or, exempt, condition).map(Some),
            (_, condition) => Ok(condition),
        }
    }

    fn defined_ports(&mut self, name: &str, node: Option<NodeId>) -> Lowered<Option<TruthPorts>> {
        let Some(truth) = node else { return Ok(None) };
        let margin = self.sign_of(truth)?;
        Ok(Some(TruthPorts {
            truth: self.port(format!("{name}.truth"), truth),
            margin: self.port(format!("{name}.margin"), margin),
        }))
    }

    /// Lowers a define, if the successor is as known as it needs.
    fn define(&mut self, i: usize, env: &mut Environment, with_next: bool) -> Lowered<()> {
        let (define, t) = &self.model.defines[i];
        if t.uses.includes(Uses::NEXT) != with_next {
            return Ok(());
        }
        env.defines[i] = Some(self.term(t, env)?);
        self.defined(t, env)?;
        if define.is_bool {
            env.define_margins[i] = Some(self.margin(t, env)?);
        }
        Ok(())
    }
}

impl Plan {
    /// The roles in a graph whose ports are those of the plan.
    fn roles(&self, model: &Model, graph: &certus_graph::Graph) -> Roles {
        let output = |port: PortIndex| Output { node: graph.outputs()[port].node, port };
        let truth = |t: TruthPorts| Truth { truth: output(t.truth), margin: output(t.margin) };
        let mut inputs = graph.inputs().iter().map(|p| p.node);
        let mut take = |count: usize| inputs.by_ref().take(count).collect::<Vec<NodeId>>();
        let states = take(model.states.len());
        let environment = take(model.inputs.len());
        let chances = take(model.chances.len());
        let is_random = |kind: ActionKind| kind == ActionKind::Softmax;
        let random = model.actions.iter().filter(|(a, _)| is_random(a.kind)).count();
        let mut samples = take(random).into_iter();
        let free: Vec<usize> = (0..model.params.len()).filter(|i| model.params[*i].free).collect();
        let free_params = free.iter().copied().zip(take(free.len())).collect();
        let answers = take(self.networks.len());
        let actions = model.actions.iter().zip(&self.actions).filter_map(|((action, _), (first, second))| {
            Some(match action.kind {
                ActionKind::Argmax => ActionRole::Argmax { choice: output(*first), scores: output(*second) },
                ActionKind::Softmax => ActionRole::Softmax {
                    choice: samples.next()?,
                    probabilities: output(*first),
                    logits: output(*second),
                },
            })
        });
        Roles {
            actions: actions.collect(),
            states,
            inputs: environment,
            chances,
            free_params,
            policies: self.policies.iter().map(|p| output(*p)).collect(),
            next: self.next.iter().map(|p| output(*p)).collect(),
            defines: self.defines.iter().map(|p| output(*p)).collect(),
            atoms: self.atoms.iter().map(|t| truth(*t)).collect(),
            init: self.init.map(truth),
            assume: self.assume.map(truth),
            choice_defined: self.choice_defined.map(truth),
            defined: self.defined.map(truth),
            atoms_defined: self.atoms_defined.iter().map(|own| own.map(truth)).collect(),
            init_defined: self.init_defined.map(truth),
            integral: self.integral.map(truth),
            terminal: self.terminal.map(truth),
            reward: self.reward.map(output),
            networks: answers
                .into_iter()
                .zip(&self.networks)
                .map(|(result, seen)| NetworkRole { result, arguments: output(*seen) })
                .collect(),
        }
    }
}
