//! The closed loop as one graph.
//!
//! The step of a system is laid out once for each position: the successor of one is the state of the next, so windows
//! over the past and other functional updates cost nothing. What is free is one vector: the first state, and the
//! environment's choices at each position. If the run returns to an earlier position, the state after the last one
//! equals an earlier state; wherever both sides only move free numbers (a window of measurements), these become *one* number. So
//! a cycle of period c through a window has c free measurements, whatever the window's length. What is left of the
//! equality, where a side is computed, is an equation of the query.

use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;

use certus_graph::canonical::simplified;
use certus_graph::ops::{Gather, Op};
use certus_graph::{Graph, GraphError, NodeId};
use certus_lang::system::{ActionRole, AtomId, Integers, System};
use certus_solver::formula::{Formula, Linear};
use certus_solver::{Place, Region};

use crate::condition::{always, and, at_most, condition, equal, label_cases, never, number, one_label, or, source};
use crate::ltl_encoding::Shape;
use crate::reach::reachable;

/// A run of some positions as a graph.
#[derive(Clone)]
pub struct Unrolled {
    /// The graph; its one input is the vector of all that is free.
    pub graph: Graph,
    /// What the free numbers lie in.
    pub region: Region,
    /// The integers that free numbers are, if they are such.
    pub integers: Vec<Option<Integers>>,
    /// Where each position's state, choices and outputs are in the graph.
    pub positions: Vec<Position>,
    /// That the states are initial, in their ranges, and follow each other.
    pub is_run: Formula<Place>,
}

/// One position of a run.
#[derive(Clone)]
pub struct Position {
    /// The state variables.
    pub states: Vec<NodeId>,
    /// The environment's choices.
    pub inputs: Vec<NodeId>,
    /// The random choices with known probabilities, one-hot.
    pub chances: Vec<NodeId>,
    /// The random actions, one-hot.
    pub choices: Vec<NodeId>,
    /// The labels that arg-max actions take, one-hot.
    pub labels: Vec<NodeId>,
    /// The policies' outputs.
    pub policies: Vec<NodeId>,
    /// Whether each atom holds.
    pub atoms: Vec<NodeId>,
    /// The successor.
    pub next: Vec<NodeId>,
    /// Where each atom is defined; none for everywhere.
    atoms_defined: Vec<Option<NodeId>>,
    init: Option<NodeId>,
    integral: Option<NodeId>,
    assume: Option<NodeId>,
    choice_defined: Option<NodeId>,
    defined: Option<NodeId>,
}

/// The outputs of the step that a run needs, as places among those that are kept.
struct Wanted {
    step: Graph,
    next: usize,
    atoms: usize,
    policies: usize,
    labels: Vec<usize>,
    atoms_defined: Vec<Option<usize>>,
    init: Option<usize>,
    integral: Option<usize>,
    assume: Option<usize>,
    choice_defined: Option<usize>,
    defined: Option<usize>,
}

impl Wanted {
    fn of(system: &System) -> Result<Wanted, GraphError> {
        let roles = &system.roles;
        let mut ports: Vec<usize> = roles.next.iter().map(|next| next.port).collect();
        let atoms = ports.len();
        ports.extend(roles.atoms.iter().map(|atom| atom.truth.port));
        let policies = ports.len();
        ports.extend(roles.policies.iter().map(|policy| policy.port));
        let labels = roles.actions.iter().filter_map(|role| match role {
            ActionRole::Argmax { choice, .. } => Some(choice.port),
            ActionRole::Softmax { .. } => None,
        });
        let labels = labels
            .map(|port| {
                ports.push(port);
                ports.len() - 1
            })
            .collect();
        let mut add = |port: Option<usize>| {
            port.map(|port| {
                ports.push(port);
                ports.len() - 1
            })
        };
        let init = add(roles.init.map(|init| init.truth.port));
        let integral = add(roles.integral.map(|integral| integral.truth.port));
        let assume = add(roles.assume.map(|assume| assume.truth.port));
        let choice_defined = add(roles.choice_defined.map(|defined| defined.truth.port));
        let defined = add(roles.defined.map(|defined| defined.truth.port));
        let atoms_defined = roles.atoms_defined.iter().map(|own| add(own.map(|own| own.truth.port))).collect();
        // What parameters decide is decided before conditions are read off the graph.
        let step = simplified(&system.step.keep_outputs(&ports))?;
        Ok(Wanted {
            step,
            next: 0,
            atoms,
            policies,
            labels,
            atoms_defined,
            init,
            integral,
            assume,
            choice_defined,
            defined,
        })
    }
}

/// Where a run begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Start {
    /// In an initial state.
    Initial,
    /// In any state of a box that no run leaves; integers are integers there.
    Anywhere,
}

/// Unrolls one system again and again. What does not depend on the shape of the run is computed once, and so are the short runs that proofs by
/// induction are about: they ask hundreds of queries of them.
pub struct Unroller<'s> {
    system: &'s System,
    wanted: OnceCell<Wanted>,
    /// The box that no run leaves.
    reachable: OnceCell<(Vec<f64>, Vec<f64>)>,
    short: RefCell<HashMap<(usize, Start, bool), Unrolled>>,
}

/// Runs of up to so many positions are kept.
const MOST_KEPT: usize = 2;

impl<'s> Unroller<'s> {
    /// For a system.
    pub fn new(system: &'s System) -> Unroller<'s> {
        Unroller { system, wanted: OnceCell::new(), reachable: OnceCell::new(), short: RefCell::default() }
    }

    /// The system.
    pub fn system(&self) -> &'s System {
        self.system
    }

    /// The run of some shape, as [`unroll`] says.
    pub fn unrolled(&self, shape: Shape, start: Start, with_last: bool) -> Result<Unrolled, GraphError> {
        if shape.loop_to.is_some() || shape.positions > MOST_KEPT {
            return self.unroll(shape, start, with_last);
        }
        let key = (shape.positions, start, with_last);
        if let Some(known) = self.short.borrow().get(&key) {
            return Ok(known.clone());
        }
        let unrolled = self.unroll(shape, start, with_last)?;
        self.short.borrow_mut().insert(key, unrolled.clone());
        Ok(unrolled)
    }

    fn wanted(&self) -> Result<&Wanted, GraphError> {
        if let Some(known) = self.wanted.get() {
            return Ok(known);
        }
        let wanted = Wanted::of(self.system)?;
        Ok(self.wanted.get_or_init(|| wanted))
    }

    fn reachable(&self) -> Result<&(Vec<f64>, Vec<f64>), GraphError> {
        if let Some(known) = self.reachable.get() {
            return Ok(known);
        }
        let reachable = reachable(self.system)?;
        Ok(self.reachable.get_or_init(|| reachable))
    }
}

/// Unrolls a system into a run of some shape. Its atoms are those of the system. A position that has a successor (all but the last, and
/// that too if the run returns or `with_last`) has no model error, and a choice that `assume` allows.
pub fn unroll(system: &System, shape: Shape, start: Start, with_last: bool) -> Result<Unrolled, GraphError> {
    Unroller::new(system).unroll(shape, start, with_last)
}

impl Unroller<'_> {
    #[tracing::instrument(level = "debug", name = "unrolling", skip_all)]
    fn unroll(&self, shape: Shape, start: Start, with_last: bool) -> Result<Unrolled, GraphError> {
        debug_assert!(shape.positions > 0, "a run has a position");
        debug_assert!(shape.loop_to.is_none_or(|to| to < shape.positions), "a run returns to one of its positions");
        let (system, wanted) = (self.system, self.wanted()?);
        let mut graph = Graph::new();
        let mut bounds: Vec<(f64, f64)> = Vec::new();
        let mut integers: Vec<Option<Integers>> = Vec::new();
        let mut declare = |graph: &mut Graph, name: String, own: &[(f64, f64)], integral: Option<&Integers>| {
            bounds.extend_from_slice(own);
            integers.extend(own.iter().map(|_| integral.cloned()));
            graph.input(&name, &[own.len()])
        };
        let labels: Vec<usize> = system
            .actions
            .iter()
            .zip(&system.roles.actions)
            .filter_map(|(action, role)| matches!(role, ActionRole::Softmax { .. }).then_some(action.labels.len()))
            .collect();
        let (mut positions, mut states) = (Vec::with_capacity(shape.positions), Vec::new());
        let (lowest, highest) = match start {
            Start::Anywhere => self.reachable()?,
            Start::Initial => &system.init_box,
        };
        let mut offset = 0;
        for variable in &system.states {
            let own: Vec<(f64, f64)> = (0..variable.len)
                .map(|element| {
                    let (low, high) = (variable.lower[element], variable.upper[element]);
                    (low.max(lowest[offset + element]), high.min(highest[offset + element]))
                })
                .collect();
            offset += variable.len;
            states.push(declare(&mut graph, variable.name.clone(), &own, variable.integers.as_ref()));
        }
        for position in 0..shape.positions {
            let mut inputs = Vec::new();
            for variable in &system.inputs {
                let own: Vec<(f64, f64)> = variable.lower.iter().copied().zip(variable.upper.iter().copied()).collect();
                let name = format!("{}@{position}", variable.name);
                inputs.push(declare(&mut graph, name, &own, variable.integers.as_ref()));
            }
            let mut one_hots = |graph: &mut Graph, name: &str, labels: usize| {
                declare(graph, format!("{name}@{position}"), &vec![(0.0, 1.0); labels], None)
            };
            let chances: Vec<NodeId> =
                system.chances.iter().map(|chance| one_hots(&mut graph, &chance.name, chance.labels.len())).collect();
            let choices: Vec<NodeId> = labels.iter().map(|&labels| one_hots(&mut graph, "action", labels)).collect();
            let arguments: Vec<NodeId> =
                states.iter().chain(&inputs).chain(&chances).chain(&choices).copied().collect();
            let outputs = graph.inline(&wanted.step, &arguments)?;
            let next: Vec<NodeId> = outputs[wanted.next..wanted.atoms].to_vec();
            positions.push(Position {
                states: std::mem::replace(&mut states, next.clone()),
                inputs,
                chances,
                choices,
                atoms: outputs[wanted.atoms..wanted.atoms + system.atoms.len()].to_vec(),
                policies: outputs[wanted.policies..wanted.policies + system.policies.len()].to_vec(),
                labels: wanted.labels.iter().map(|&port| outputs[port]).collect(),
                next,
                atoms_defined: wanted.atoms_defined.iter().map(|own| own.map(|port| outputs[port])).collect(),
                init: wanted.init.map(|port| outputs[port]),
                integral: wanted.integral.map(|port| outputs[port]),
                assume: wanted.assume.map(|port| outputs[port]),
                choice_defined: wanted.choice_defined.map(|port| outputs[port]),
                defined: wanted.defined.map(|port| outputs[port]),
            });
        }
        debug_assert!(
            positions.windows(2).all(|pair| pair[0].next == pair[1].states),
            "a position begins where the one before it does not lead"
        );
        let region = Region::new(Vec::new(), Vec::new());
        let mut unrolled = Unrolled { graph, region, integers, positions, is_run: always() };
        unrolled.join(&bounds, shape)?;
        unrolled.is_run = unrolled.constraints(system, shape, start, with_last);
        Ok(unrolled)
    }
}

impl Unrolled {
    /// Makes one vector of all that is free, and one number of what a loop makes equal.
    fn join(&mut self, bounds: &[(f64, f64)], shape: Shape) -> Result<(), GraphError> {
        let mut starts = vec![0; self.graph.len()];
        let mut count = 0;
        for port in self.graph.inputs() {
            starts[port.node.index()] = count;
            count += self.graph.elements(port.node);
        }
        let mut classes = Classes::new(count);
        for (left, right) in self.loop_pairs(shape) {
            let (left, right) = (source(&self.graph, left), source(&self.graph, right));
            let free = |place: Place| matches!(self.graph.node(place.node).op, Op::Input(_));
            if free(left) && free(right) {
                classes.merge(starts[left.node.index()] + left.element, starts[right.node.index()] + right.element);
            }
        }
        debug_assert_eq!(count, bounds.len(), "every free number has bounds");
        let (numbers, classes) = classes.numbered();
        let (mut lower, mut upper) = (vec![f64::NEG_INFINITY; classes], vec![f64::INFINITY; classes]);
        for (&class, &(low, high)) in numbers.iter().zip(bounds) {
            lower[class] = lower[class].max(low);
            upper[class] = upper[class].min(high);
        }
        self.region = Region::new(lower, upper);
        let mut integers = vec![None; classes];
        for (&class, own) in numbers.iter().zip(std::mem::take(&mut self.integers)) {
            integers[class] = own.or(integers[class].take());
        }
        self.integers = integers;
        let mut joined = Graph::new();
        let free = joined.input("free", &[classes]);
        let mut place = Vec::with_capacity(self.graph.len());
        let mut arguments = Vec::new();
        for port in self.graph.inputs() {
            let start = starts[port.node.index()];
            let indices: Vec<usize> = numbers[start..start + self.graph.elements(port.node)].to_vec();
            let index_shape = vec![indices.len()];
            arguments.push(joined.apply(Gather { axis: 0, indices, index_shape }, &[free])?);
        }
        // Every node becomes an output, so that its place in the new graph is known.
        let mut whole = self.graph.clone();
        for id in self.graph.ids() {
            whole.output("", id);
        }
        place.extend(joined.inline(&whole, &arguments)?);
        self.renamed(&place);
        self.graph = joined;
        Ok(())
    }

    /// Takes every node for the one that it has become.
    pub(crate) fn renamed(&mut self, place: &[NodeId]) {
        let renamed = |node: &mut NodeId| *node = place[node.index()];
        for position in &mut self.positions {
            let lists = [&mut position.states, &mut position.inputs, &mut position.chances, &mut position.choices];
            lists.into_iter().flatten().for_each(renamed);
            let lists = [&mut position.atoms, &mut position.policies, &mut position.labels, &mut position.next];
            lists.into_iter().flatten().for_each(renamed);
            position.init.iter_mut().chain(&mut position.integral).chain(&mut position.assume).for_each(renamed);
            position.choice_defined.iter_mut().chain(&mut position.defined).for_each(renamed);
            position.atoms_defined.iter_mut().flatten().for_each(renamed);
        }
    }

    /// What a loop makes equal: the successor of the last position, and the state that it returns to.
    pub(crate) fn loop_pairs(&self, shape: Shape) -> Vec<(Place, Place)> {
        let (Some(start), Some(last)) = (shape.loop_to, self.positions.last()) else { return Vec::new() };
        let nodes = last.next.iter().zip(&self.positions[start].states);
        nodes
            .flat_map(|(&after, &before)| {
                (0..self.graph.elements(after))
                    .map(move |element| (Place { node: after, element }, Place { node: before, element }))
            })
            .collect()
    }

    fn constraints(&self, system: &System, shape: Shape, start: Start, with_last: bool) -> Formula<Place> {
        let graph = &self.graph;
        let truth = |node: NodeId| condition(graph, Place { node, element: 0 }, true);
        let mut parts: Vec<Formula<Place>> = Vec::new();
        let first = &self.positions[0];
        parts.extend(match start {
            Start::Initial => first.init.map(truth),
            // What follows a state is one; only the first could be anything in its box.
            Start::Anywhere => first.integral.map(truth),
        });
        for (index, position) in self.positions.iter().enumerate() {
            for (&one_hot, chance) in position.chances.iter().zip(&system.chances) {
                let happens = (0..chance.labels.len()).filter(|&label| chance.probabilities[label] > 0.0);
                parts.push(or(happens.map(|label| one_label(graph, one_hot, label)).collect()));
            }
            // A softmax gives every label some probability.
            parts.extend(position.choices.iter().map(|&one_hot| {
                let labels = 0..graph.elements(one_hot);
                or(labels.map(|label| one_label(graph, one_hot, label)).collect())
            }));
            let followed = index + 1 < self.positions.len() || shape.loop_to.is_some() || with_last;
            if followed {
                parts.push(self.is_followed(system, index));
            }
        }
        parts.extend(self.loop_pairs(shape).into_iter().map(|(left, right)| {
            if source(graph, left) == source(graph, right) { always() } else { equal(graph, left, right) }
        }));
        and(parts)
    }

    /// That the choice at a position is allowed.
    pub(crate) fn is_allowed(&self, index: usize) -> Formula<Place> {
        let position = &self.positions[index];
        let truth = |node: NodeId| condition(&self.graph, Place { node, element: 0 }, true);
        let mut parts: Vec<Formula<Place>> =
            position.labels.iter().map(|&one_hot| label_cases(&self.graph, one_hot)).collect();
        parts.extend(position.assume.map(truth));
        parts.extend(position.choice_defined.map(truth));
        and(parts)
    }

    /// That the choice at a position is allowed and the step leads to a state, with nothing undefined on the way.
    fn is_followed(&self, system: &System, index: usize) -> Formula<Place> {
        let position = &self.positions[index];
        let truth = |node: NodeId| condition(&self.graph, Place { node, element: 0 }, true);
        let mut parts: Vec<Formula<Place>> =
            position.labels.iter().map(|&one_hot| label_cases(&self.graph, one_hot)).collect();
        parts.extend(position.assume.map(truth));
        parts.extend(position.defined.map(truth));
        parts.extend(self.in_range(system, &position.next));
        and(parts)
    }

    /// That an atom has no truth value at a position because it is not defined there.
    pub(crate) fn is_undefined(&self, index: usize, id: AtomId) -> Formula<Place> {
        let own = self.positions[index].atoms_defined[id.0];
        own.map_or_else(never, |node| condition(&self.graph, Place { node, element: 0 }, false))
    }

    /// That an atom has a truth value at a position. At one that is not followed, an atom that reads a choice needs an allowed one,
    /// and an atom that reads the successor needs one that is a state.
    pub(crate) fn has_value(&self, system: &System, index: usize, id: AtomId, followed: bool) -> Formula<Place> {
        let truth = |node: NodeId| condition(&self.graph, Place { node, element: 0 }, true);
        let atom = &system.atoms[id.0];
        let position = &self.positions[index];
        let mut parts: Vec<Formula<Place>> = position.atoms_defined[id.0].map(truth).into_iter().collect();
        if !followed {
            if atom.uses_next {
                parts.push(self.is_followed(system, index));
            } else if atom.uses_choice {
                parts.push(self.is_allowed(index));
            } else if !atom.state_only {
                parts.extend(position.choice_defined.map(truth));
            }
        }
        and(parts)
    }

    /// That a computed state lies in its declared ranges; what only moves free numbers of a smaller range does anyway.
    fn in_range(&self, system: &System, states: &[NodeId]) -> Vec<Formula<Place>> {
        let mut parts = Vec::new();
        for (variable, &node) in system.states.iter().zip(states) {
            for element in 0..variable.len {
                let place = source(&self.graph, Place { node, element });
                let value = number(&self.graph, place);
                let (mut low, mut high) = (f64::NEG_INFINITY, f64::INFINITY);
                if matches!(self.graph.node(place.node).op, Op::Input(_)) {
                    (low, high) = (self.region.lower[place.element], self.region.upper[place.element]);
                }
                let constant = |value: f64| Linear::constant(certus_graph::Interval::point(value));
                if low < variable.lower[element] {
                    parts.push(at_most(&constant(variable.lower[element]), &value, false));
                }
                if high > variable.upper[element] {
                    parts.push(at_most(&value, &constant(variable.upper[element]), false));
                }
            }
        }
        parts
    }

    /// The values of a node's elements at a point of what is free, if these only move it.
    pub fn values(&self, node: NodeId, free: &[f64]) -> Vec<f64> {
        let value = |element: usize| {
            let place = source(&self.graph, Place { node, element });
            match self.graph.constant_value(place.node) {
                Some(constant) => constant.data()[place.element],
                None => free.get(place.element).copied().unwrap_or(f64::NAN),
            }
        };
        (0..self.graph.elements(node)).map(value).collect()
    }
}

/// Sets of free numbers that are equal (union-find).
struct Classes {
    parent: Vec<usize>,
}

impl Classes {
    fn new(count: usize) -> Classes {
        Classes { parent: (0..count).collect() }
    }

    fn root(&mut self, mut at: usize) -> usize {
        while self.parent[at] != at {
            self.parent[at] = self.parent[self.parent[at]];
            at = self.parent[at];
        }
        at
    }

    fn merge(&mut self, left: usize, right: usize) {
        let (left, right) = (self.root(left), self.root(right));
        self.parent[left.max(right)] = left.min(right);
    }

    /// The number of each element's class, and how many there are.
    fn numbered(mut self) -> (Vec<usize>, usize) {
        let mut numbers = vec![usize::MAX; self.parent.len()];
        let mut count = 0;
        for at in 0..self.parent.len() {
            let root = self.root(at);
            if numbers[root] == usize::MAX {
                numbers[root] = count;
                count += 1;
            }
            numbers[at] = numbers[root];
        }
        (numbers, count)
    }
}
