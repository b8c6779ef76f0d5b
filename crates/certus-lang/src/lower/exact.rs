//! Steps that are flows of a differential equation: `step dt exact`.
//!
//! The derivatives are lowered into a graph of their own, over two vectors: the integrated numbers, and everything that is held over
//! the step (other state variables, inputs, chances, actions, parameters, policies) as far as the derivatives or a `throughout` read
//! it; what varies within a step comes last, or as a third vector. That graph is a [`Field`], and the successor is one node,
//! [`Flow`]. A condition along the flow is a graph over the same two vectors, and two nodes, [`Throughout`].
//!
//! In a terminal state nothing moves, so what holds throughout a step is what holds at its beginning.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;
use std::sync::Arc;

use certus_graph::flow::{Condition, Field};
use certus_graph::ops::{Flow, Quantity, Slice, Throughout};
use certus_graph::{Graph, Interval, NodeId, Tensor};

use crate::check::Item;
use crate::check::term::{Part, Term, TermKind, TermNode, Uses};

use super::builder::Builder;
use super::environment::Environment;
use super::{Lowered, Lowering};

/// Something that is held over a step, by its kind and place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Held {
    State(usize),
    Input(usize),
    Chance(usize),
    Action(usize),
    FreeParam(usize),
    Policy(usize),
}

/// A graph over the integrated numbers and everything that could be held, each an input of its own.
struct Inner {
    graph: Graph,
    /// Which held things it reads.
    reads: Vec<bool>,
}

/// The flow of a step.
pub(super) struct Exact {
    flow: Flow,
    /// The arguments of the flow, in the step.
    state: NodeId,
    held: NodeId,
    /// The conditions along it, by the term that is meant.
    conditions: HashMap<*const TermNode, Conditions>,
}

/// A condition, and where its operations are defined, if not everywhere.
struct Conditions {
    value: Condition,
    defined: Option<Condition>,
}

impl Lowering<'_> {
    /// The integrated numbers at the end of the step, as one vector, and whether the flow exists so long.
    pub(super) fn exact_flow(&mut self, env: &Environment, dt: f64) -> Lowered<(NodeId, Option<NodeId>)> {
        let model = self.model;
        let held = self.held(env);
        let slopes = self.inner(env, &held, |own, stage| {
            let slopes = own.all_slopes(stage)?;
            Ok(vec![own.builder.concat(&slopes)?])
        })?;
        let existence = self.inner(env, &held, |own, stage| {
            let mut parts = Vec::new();
            for update in model.updates.iter().filter(|update| update.is_derivative) {
                parts.push(own.all_defined(&update.value, stage)?);
            }
            let truth = match own.every(parts)? {
                Some(node) => node,
                None => own.builder.constant(&[1.0]),
            };
            Ok(vec![truth, own.sign_of(truth)?])
        })?;
        let mut inner: Vec<(*const TermNode, Inner, Option<Inner>)> = Vec::new();
        for t in throughouts(model) {
            let value = self.inner(env, &held, |own, stage| Ok(vec![own.term(&t, stage)?, own.margin(&t, stage)?]))?;
            let mut partial = false;
            let defined = self.inner(env, &held, |own, stage| {
                let found = own.all_defined(&t, stage)?;
                partial = found.is_some();
                let truth = found.unwrap_or_else(|| own.builder.constant(&[1.0]));
                Ok(vec![truth, own.sign_of(truth)?])
            })?;
            inner.push((Rc::as_ptr(&t), value, partial.then_some(defined)));
        }
        // One layout for everything along the flow.
        let mut reads = slopes.reads.clone();
        let conditions = inner.iter().flat_map(|(_, value, defined)| std::iter::once(value).chain(defined));
        for own in conditions.chain([&existence]) {
            reads.iter_mut().zip(&own.reads).for_each(|(so_far, read)| *so_far |= read);
        }
        let layout = Layout { states: self.integrated_len(), held: &held, reads: &reads, model };
        let varying = layout.varying();
        let field = Arc::new(Field::new(&layout.arranged(&slopes.graph, true)?, &varying)?);
        let complete = field.complete();
        let flow = Flow { field, duration: dt };
        let integrated = self.integrated().map(|i| env.states[i]).collect::<Vec<_>>();
        let state = self.builder.concat(&integrated)?;
        let kept: Vec<NodeId> = layout.order().map(|place| held[place].1).collect();
        let held_node = if kept.is_empty() { self.builder.empty() } else { self.builder.concat(&kept)? };
        let condition = |own: &Inner| Condition::new(layout.arranged(&own.graph, false)?);
        let mut conditions = HashMap::new();
        for (t, value, defined) in &inner {
            let defined = defined.as_ref().map(condition).transpose()?;
            conditions.insert(*t, Conditions { value: condition(value)?, defined });
        }
        let exists = match complete {
            true => None,
            false => {
                let part = Part { from: Interval::ZERO, to: Interval::point(dt) };
                let op = along(&flow, &condition(&existence)?, Quantity::Truth, part);
                Some(self.builder.apply(op, &[state, held_node])?)
            }
        };
        let end = self.builder.apply(flow.clone(), &[state, held_node])?;
        self.exact = Some(Exact { flow, state, held: held_node, conditions });
        Ok((end, exists))
    }

    /// A condition along the flow: its truth or its margin.
    pub(super) fn throughout(
        &mut self,
        t: &Term,
        part: Part,
        quantity: Quantity,
        env: &mut Environment,
    ) -> Lowered<NodeId> {
        let known = self.exact.as_ref().and_then(|own| Some((own, own.conditions.get(&Rc::as_ptr(t))?)));
        let Some((own, conditions)) = known else {
            return Err(certus_graph::GraphError::Inputs("a flow is used before it is known".into()));
        };
        let op = along(&own.flow, &conditions.value, quantity, part);
        let arguments = [own.state, own.held];
        let node = self.builder.apply(op, &arguments)?;
        let Some(terminal) = self.terminal else { return Ok(node) };
        let at_rest = match quantity {
            Quantity::Truth => self.term(t, env)?,
            Quantity::Margin => self.margin(t, env)?,
        };
        self.builder.select(terminal, at_rest, node)
    }

    /// Where a condition is defined at all instants of a part of the step.
    pub(super) fn throughout_defined(
        &mut self,
        t: &Term,
        part: Part,
        env: &mut Environment,
    ) -> Lowered<Option<NodeId>> {
        let known = self.exact.as_ref().and_then(|own| Some((own, own.conditions.get(&Rc::as_ptr(t))?)));
        let Some((own, Some(defined))) = known.map(|(own, conditions)| (own, conditions.defined.as_ref())) else {
            return Ok(None);
        };
        let op = along(&own.flow, defined, Quantity::Truth, part);
        let arguments = [own.state, own.held];
        let node = self.builder.apply(op, &arguments)?;
        match (self.terminal, self.all_defined(t, env)?) {
            (Some(terminal), Some(at_rest)) => self.builder.select(terminal, at_rest, node).map(Some),
            _ => Ok(Some(node)),
        }
    }

    fn integrated(&self) -> impl Iterator<Item = usize> + use<'_> {
        let updates = self.model.updates.iter().enumerate();
        updates.filter(|(_, update)| update.is_derivative).map(|(i, _)| i)
    }

    fn integrated_len(&self) -> usize {
        self.integrated().map(|i| self.model.states[i].len).sum()
    }

    fn all_slopes(&mut self, stage: &mut Environment) -> Lowered<Vec<NodeId>> {
        let updates = self.model.updates.iter().filter(|update| update.is_derivative);
        updates.map(|update| self.term(&update.value, stage)).collect()
    }

    /// Everything that is held over a step, with its node.
    fn held(&self, env: &Environment) -> Vec<(Held, NodeId)> {
        let model = self.model;
        let states = (0..model.states.len()).filter(|&i| !model.updates[i].is_derivative);
        let mut found: Vec<(Held, NodeId)> = states.map(|i| (Held::State(i), env.states[i])).collect();
        found.extend(env.inputs.iter().enumerate().map(|(i, &node)| (Held::Input(i), node)));
        found.extend(env.chances.iter().enumerate().map(|(i, &node)| (Held::Chance(i), node)));
        let known = |nodes: &[Option<NodeId>], kind: fn(usize) -> Held| -> Vec<(Held, NodeId)> {
            nodes.iter().enumerate().filter_map(|(i, node)| Some((kind(i), (*node)?))).collect()
        };
        found.extend(known(&env.actions, Held::Action));
        found.extend(known(&env.free_params, Held::FreeParam));
        found.extend(known(&env.policies, Held::Policy));
        found
    }

    /// Lowers something over the integrated numbers and what is held into a graph of its own.
    fn inner(
        &mut self,
        env: &Environment,
        held: &[(Held, NodeId)],
        make: impl FnOnce(&mut Self, &mut Environment) -> Lowered<Vec<NodeId>>,
    ) -> Lowered<Inner> {
        let lengths: Vec<usize> = held.iter().map(|(_, node)| self.builder.len(*node)).collect();
        let outer = std::mem::replace(&mut self.builder, Builder::new());
        let result = self.inner_nodes(env, held, &lengths, make);
        let builder = std::mem::replace(&mut self.builder, outer);
        let (inputs, outputs) = result?;
        let mut graph = builder.finish();
        for node in outputs {
            graph.output("", node);
        }
        let mut live: HashSet<NodeId> = graph.outputs().iter().map(|port| port.node).collect();
        for id in graph.ids().collect::<Vec<_>>().into_iter().rev().filter(|id| live.contains(id)).collect::<Vec<_>>() {
            mark(&graph, id, &mut live);
        }
        let reads = inputs.iter().map(|input| live.contains(input)).collect();
        Ok(Inner { graph, reads })
    }

    fn inner_nodes(
        &mut self,
        env: &Environment,
        held: &[(Held, NodeId)],
        lengths: &[usize],
        make: impl FnOnce(&mut Self, &mut Environment) -> Lowered<Vec<NodeId>>,
    ) -> Lowered<(Vec<NodeId>, Vec<NodeId>)> {
        let model = self.model;
        let state = self.builder.input("state", self.integrated_len());
        let inputs: Vec<NodeId> = lengths.iter().map(|&len| self.builder.input("held", len)).collect();
        let mut stage = env.at_states(env.states.clone());
        let mut start = 0;
        for i in self.integrated().collect::<Vec<_>>() {
            let len = model.states[i].len;
            stage.states[i] = self.builder.slice(state, start, len)?;
            start += len;
        }
        for (&(kind, _), &node) in held.iter().zip(&inputs) {
            match kind {
                Held::State(i) => stage.states[i] = node,
                Held::Input(i) => stage.inputs[i] = node,
                Held::Chance(i) => stage.chances[i] = node,
                Held::Action(i) => stage.actions[i] = Some(node),
                Held::FreeParam(i) => stage.free_params[i] = Some(node),
                Held::Policy(i) => stage.policies[i] = Some(node),
            }
        }
        self.stage_defines(&mut stage)?;
        let outputs = make(self, &mut stage)?;
        Ok((inputs, outputs))
    }

    /// Lowers the defines at another state than that of the step.
    pub(super) fn stage_defines(&mut self, stage: &mut Environment) -> Lowered<()> {
        for item in &self.model.order {
            if let Item::Define(i) = *item {
                let (define, t) = &self.model.defines[i];
                if !t.uses.includes(Uses::NEXT) {
                    stage.defines[i] = Some(self.term(t, stage)?);
                    self.defined(t, stage)?;
                    if define.is_bool {
                        stage.define_margins[i] = Some(self.margin(t, stage)?);
                    }
                }
            }
        }
        Ok(())
    }
}

/// The order of what is held: first what is constant, then what varies.
struct Layout<'l> {
    states: usize,
    held: &'l [(Held, NodeId)],
    reads: &'l [bool],
    model: &'l crate::check::Model,
}

impl Layout<'_> {
    fn is_varying(&self, place: usize) -> bool {
        matches!(self.held[place].0, Held::Input(i) if self.model.inputs[i].varying)
    }

    /// The places that are kept, in order.
    fn order(&self) -> impl Iterator<Item = usize> + '_ {
        let kept = move |varying: bool| {
            (0..self.held.len()).filter(move |&place| self.reads[place] && self.is_varying(place) == varying)
        };
        kept(false).chain(kept(true))
    }

    /// The ranges of what varies.
    fn varying(&self) -> Vec<Interval> {
        let ranges = self.order().filter(|&place| self.is_varying(place)).flat_map(|place| match self.held[place].0 {
            Held::Input(i) => {
                let input = &self.model.inputs[i];
                input.lower.iter().zip(&input.upper).map(|(&lo, &hi)| Interval::new(lo, hi)).collect()
            }
            _ => Vec::new(),
        });
        ranges.collect()
    }

    /// A graph over everything that could be held as one over the vectors of the flow; what varies is a vector of its own, or the end
    /// of the held one.
    fn arranged(&self, inner: &Graph, separate: bool) -> Lowered<Graph> {
        let len = |place: usize| inner.elements(inner.inputs()[1 + place].node);
        let (varying, constant): (Vec<usize>, Vec<usize>) = self.order().partition(|&place| self.is_varying(place));
        let total = |places: &[usize]| places.iter().map(|&place| len(place)).sum::<usize>();
        let mut graph = Graph::new();
        let state = graph.input("state", &[self.states]);
        let apart = separate && !varying.is_empty();
        let held = graph.input("held", &[total(&constant) + if apart { 0 } else { total(&varying) }]);
        let other = if apart { graph.input("varying", &[total(&varying)]) } else { held };
        let mut arguments = vec![None; self.held.len()];
        let mut start = 0;
        for &place in &constant {
            arguments[place] = Some(graph.apply(Slice::of_vector(start, len(place)), &[held])?);
            start += len(place);
        }
        start = if apart { 0 } else { start };
        for &place in &varying {
            arguments[place] = Some(graph.apply(Slice::of_vector(start, len(place)), &[other])?);
            start += len(place);
        }
        let mut all = vec![state];
        for (place, argument) in arguments.into_iter().enumerate() {
            all.push(match argument {
                Some(node) => node,
                None => graph.constant(Tensor::vector(vec![0.0; len(place)])),
            });
        }
        for (place, node) in graph.inline(inner, &all)?.into_iter().enumerate() {
            graph.output(["first", "second"][place.min(1)], node);
        }
        Ok(graph.without_dead_nodes())
    }
}

fn along(flow: &Flow, condition: &Condition, quantity: Quantity, part: Part) -> Throughout {
    Throughout { flow: flow.clone(), condition: condition.clone(), quantity, from: part.from, to: part.to }
}

fn mark(graph: &Graph, start: NodeId, live: &mut HashSet<NodeId>) {
    let mut pending = vec![start];
    while let Some(id) = pending.pop() {
        for &input in &graph.node(id).inputs {
            if live.insert(input) {
                pending.push(input);
            }
        }
    }
}

/// The conditions that a file wants throughout steps.
fn throughouts(model: &crate::check::Model) -> Vec<Term> {
    let mut seen: HashSet<*const TermNode> = HashSet::new();
    let mut found: Vec<Term> = Vec::new();
    let mut pending: Vec<Term> = model.atoms.iter().map(|(_, t)| Rc::clone(t)).collect();
    pending.extend(model.defines.iter().map(|(_, t)| Rc::clone(t)));
    while let Some(t) = pending.pop() {
        if !t.uses.includes(Uses::FLOW) || !seen.insert(Rc::as_ptr(&t)) {
            continue;
        }
        match &t.kind {
            TermKind::Throughout(condition, _) if !found.iter().any(|own| Rc::ptr_eq(own, condition)) => {
                found.push(Rc::clone(condition));
            }
            _ => pending.extend(t.operands().into_iter().map(Rc::clone)),
        }
    }
    found
}
