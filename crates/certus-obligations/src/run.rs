//! A finite run of a system as one graph.
//!
//! The step is laid out once for each position; the successor of one is the state of the next. What is free (the first
//! state, and what is chosen at each position) is one vector of numbers. Where a lasso makes two of these equal, they are one number: that
//! is what becomes of a window over the past that returns to itself.

use certus_graph::canonical::simplified;
use certus_graph::ops::{Affine, Concat, Gather, Max, Min, Op};
use certus_graph::{Graph, NodeId, Tensor};
use certus_lang::system::{ActionRole, AtomId, System, Truth};

use crate::Refused;
use crate::formula::{Formula, Place, Sum};
use crate::temporal::{After, Shape};
use crate::truth::{has_label, is_one_vector, origin, sum_of, sums_of, takes};
use crate::words::WitnessChoice;

/// Bounds of the numbers of a state, one after the other.
pub(crate) type Box = Vec<(f64, f64)>;

/// What the step is asked for, as places among the outputs of `step`.
struct Ports {
    step: Graph,
    outputs: usize,
    next: Vec<usize>,
    atoms: Vec<usize>,
    atoms_defined: Vec<Option<usize>>,
    policies: Vec<usize>,
    labels: Vec<usize>,
    init: Option<usize>,
    init_defined: Option<usize>,
    integral: Option<usize>,
    assume: Option<usize>,
    terminal: Option<usize>,
    choice_defined: Option<usize>,
    defined: Option<usize>,
}

impl Ports {
    fn new(system: &System) -> Result<Ports, Refused> {
        let roles = &system.roles;
        let mut ports = Vec::new();
        let mut keep = |port: usize| {
            ports.push(port);
            ports.len() - 1
        };
        let truth = |own: &Truth| own.truth.port;
        let next = roles.next.iter().map(|next| keep(next.port)).collect();
        let atoms = roles.atoms.iter().map(|atom| keep(truth(atom))).collect();
        let atoms_defined = roles.atoms_defined.iter().map(|own| own.as_ref().map(|own| keep(truth(own)))).collect();
        let policies = roles.policies.iter().map(|policy| keep(policy.port)).collect();
        let labels = roles.actions.iter().filter_map(|role| match role {
            ActionRole::Argmax { choice, .. } => Some(choice.port),
            ActionRole::Softmax { .. } => None,
        });
        let labels = labels.map(&mut keep).collect();
        let mut optional = |own: &Option<Truth>| own.as_ref().map(|own| keep(truth(own)));
        let (init, init_defined) = (optional(&roles.init), optional(&roles.init_defined));
        let integral = optional(&roles.integral);
        let (assume, terminal) = (optional(&roles.assume), optional(&roles.terminal));
        let (choice_defined, defined) = (optional(&roles.choice_defined), optional(&roles.defined));
        let step = simplified(&system.step.keep_outputs(&ports))?;
        let outputs = ports.len();
        Ok(Ports {
            step,
            outputs,
            next,
            atoms,
            atoms_defined,
            policies,
            labels,
            init,
            init_defined,
            integral,
            assume,
            terminal,
            choice_defined,
            defined,
        })
    }
}

/// One position of a run.
pub(crate) struct Position {
    pub(crate) states: Vec<NodeId>,
    chances: Vec<NodeId>,
    /// Random actions, one-hot.
    choices: Vec<NodeId>,
    /// All that was asked of the step here.
    outputs: Vec<NodeId>,
}

/// A finite run as a graph.
pub(crate) struct Run<'s> {
    pub(crate) system: &'s System,
    ports: Ports,
    pub(crate) graph: Graph,
    /// What the free numbers lie in.
    pub(crate) free: Box,
    pub(crate) positions: Vec<Position>,
    shape: Shape,
}

impl<'s> Run<'s> {
    /// Lays out a run whose first state lies in a box.
    pub(crate) fn new(system: &'s System, first: &Box, shape: Shape) -> Result<Run<'s>, Refused> {
        let columns = first.len() + shape.positions * chosen(system).len();
        let apart: Vec<usize> = (0..columns).collect();
        let run = Run::with_columns(system, first, shape, &apart)?;
        let equal = run.equal_free_numbers();
        if equal.is_empty() {
            return Ok(run);
        }
        let mut columns = apart;
        for (left, right) in equal {
            let (kept, gone) = (columns[left].min(columns[right]), columns[left].max(columns[right]));
            columns.iter_mut().filter(|own| **own == gone).for_each(|own| *own = kept);
        }
        Run::with_columns(system, first, shape, &columns)
    }

    /// The same, where free numbers of the same column are one number.
    fn with_columns(system: &'s System, first: &Box, shape: Shape, columns: &[usize]) -> Result<Run<'s>, Refused> {
        let ports = Ports::new(system)?;
        let chosen = chosen(system);
        let ranges = first.iter().chain((0..shape.positions).flat_map(|_| &chosen));
        let mut numbers: Vec<usize> = columns.to_vec();
        numbers.sort_unstable();
        numbers.dedup();
        let number = |column: usize| numbers.binary_search(&columns[column]).unwrap_or(0);
        let mut free = vec![(f64::NEG_INFINITY, f64::INFINITY); numbers.len()];
        for (column, range) in ranges.enumerate() {
            let own = &mut free[number(column)];
            *own = (own.0.max(range.0), own.1.min(range.1));
        }
        let mut graph = Graph::new();
        let vector = graph.input("free", &[free.len()]);
        let mut column = 0;
        let mut take = |graph: &mut Graph, length: usize| {
            let indices: Vec<usize> = (column..column + length).map(number).collect();
            column += length;
            graph.apply(Gather { axis: 0, index_shape: vec![indices.len()], indices }, &[vector])
        };
        let mut states = Vec::new();
        for variable in &system.states {
            states.push(take(&mut graph, variable.len)?);
        }
        let mut positions: Vec<Position> = Vec::with_capacity(shape.positions);
        for _ in 0..shape.positions {
            let mut choices_of = |lengths: Vec<usize>| -> Result<Vec<NodeId>, Refused> {
                lengths.into_iter().map(|length| Ok(take(&mut graph, length)?)).collect()
            };
            let inputs = choices_of(system.inputs.iter().map(|input| input.len).collect())?;
            let chances = choices_of(system.chances.iter().map(|chance| chance.labels.len()).collect())?;
            let choices = choices_of(random_actions(system).collect())?;
            let arguments: Vec<NodeId> =
                [&states, &inputs, &chances, &choices].into_iter().flatten().copied().collect();
            let outputs = graph.inline(&ports.step, &arguments)?;
            if outputs.len() != ports.outputs {
                return Err(Refused::new("the step has lost an output"));
            }
            let next = ports.next.iter().map(|&port| outputs[port]).collect();
            positions.push(Position { states: std::mem::replace(&mut states, next), chances, choices, outputs });
        }
        Ok(Run { system, ports, graph, free, positions, shape })
    }

    fn last(&self) -> usize {
        self.positions.len() - 1
    }

    /// The numbers of the state before a position, or after the last one.
    pub(crate) fn state(&self, position: usize) -> Vec<Sum> {
        match self.positions.get(position) {
            Some(own) => own.states.iter().flat_map(|&node| sums_of(&self.graph, node)).collect(),
            None => self.next(self.last()),
        }
    }

    /// The numbers of the state after a position.
    pub(crate) fn next(&self, position: usize) -> Vec<Sum> {
        self.next_nodes(position).into_iter().flat_map(|node| sums_of(&self.graph, node)).collect()
    }

    /// The numbers of the state at a position, and what the policies do there.
    pub(crate) fn observed(&self, position: usize) -> Vec<Sum> {
        let outputs = self.ports.policies.iter().map(|&port| self.positions[position].outputs[port]);
        self.state(position).into_iter().chain(outputs.flat_map(|node| sums_of(&self.graph, node))).collect()
    }

    fn next_nodes(&self, position: usize) -> Vec<NodeId> {
        self.ports.next.iter().map(|&port| self.positions[position].outputs[port]).collect()
    }

    fn places(&self, nodes: &[NodeId]) -> Vec<Place> {
        let elements = |&node: &NodeId| (0..self.graph.elements(node)).map(move |element| Place { node, element });
        nodes.iter().flat_map(elements).map(|place| origin(&self.graph, place)).collect()
    }

    fn is_free(&self, place: Place) -> bool {
        matches!(self.graph.node(place.node).op, Op::Input(_))
    }

    /// What a lasso makes equal.
    fn returns(&self) -> Vec<(Place, Place)> {
        let After::Return(start) = self.shape.after else { return Vec::new() };
        let (after, before) = (self.places(&self.next_nodes(self.last())), self.places(&self.positions[start].states));
        after.into_iter().zip(before).filter(|(left, right)| left != right).collect()
    }

    fn equal_free_numbers(&self) -> Vec<(usize, usize)> {
        let both_free = |(left, right): &(Place, Place)| self.is_free(*left) && self.is_free(*right);
        self.returns().into_iter().filter(both_free).map(|(left, right)| (left.element, right.element)).collect()
    }

    fn truth_at(&self, position: usize, port: Option<usize>, wanted: bool) -> Formula {
        match port {
            Some(port) => Formula::Truth(Place { node: self.positions[position].outputs[port], element: 0 }, wanted),
            // What the file does not say is no restriction.
            None => Formula::constant(wanted),
        }
    }

    /// That the first state is initial.
    pub(crate) fn initial(&self) -> Formula {
        self.truth_at(0, self.ports.init, true)
    }

    /// That `init` is not defined in the first state.
    pub(crate) fn init_undefined(&self) -> Formula {
        self.truth_at(0, self.ports.init_defined, false)
    }

    /// That the choice at a position is allowed.
    pub(crate) fn allowed(&self, position: usize) -> Formula {
        self.truth_at(position, self.ports.assume, true)
    }

    /// That the state at a position is not terminal.
    pub(crate) fn goes_on(&self, position: usize) -> Formula {
        match self.ports.terminal {
            Some(port) => self.truth_at(position, Some(port), false),
            None => Formula::TRUE,
        }
    }

    /// That an operation of the position itself is outside of its domain.
    pub(crate) fn choice_undefined(&self, position: usize) -> Formula {
        self.truth_at(position, self.ports.choice_defined, false)
    }

    /// That only the successor's operations are.
    pub(crate) fn successor_undefined(&self, position: usize) -> Formula {
        let undefined = self.truth_at(position, self.ports.defined, false);
        Formula::all([self.truth_at(position, self.ports.choice_defined, true), undefined])
    }

    /// That an atom is outside of its domain.
    pub(crate) fn atom_undefined(&self, position: usize, atom: AtomId) -> Formula {
        self.truth_at(position, self.ports.atoms_defined.get(atom.0).copied().flatten(), false)
    }

    pub(crate) fn atom(&self, position: usize, atom: AtomId, wanted: bool) -> Formula {
        self.truth_at(position, self.ports.atoms.get(atom.0).copied(), wanted)
    }

    /// That the successor of a position lies in its ranges, or that it does not.
    pub(crate) fn successor(&self, position: usize, in_range: bool) -> Formula {
        let ranges = self.system.states.iter().flat_map(|own| own.lower.iter().zip(&own.upper));
        let places = self.places(&self.next_nodes(position));
        let mut parts = Vec::new();
        for (place, (&low, &high)) in places.into_iter().zip(ranges) {
            let value = sum_of(&self.graph, place);
            let known = if self.is_free(place) { self.free[place.element] } else { (f64::NEG_INFINITY, f64::INFINITY) };
            let mut bound = |end: f64, upper: bool| {
                let end = Sum::constant(end);
                parts.push(match (upper, in_range) {
                    (true, true) => Formula::at_most(&value, &end, false),
                    (true, false) => Formula::at_most(&end, &value, true),
                    (false, true) => Formula::at_most(&end, &value, false),
                    (false, false) => Formula::at_most(&value, &end, true),
                });
            };
            if known.0 < low {
                bound(low, false);
            }
            if known.1 > high {
                bound(high, true);
            }
        }
        if in_range { Formula::all(parts) } else { Formula::any(parts) }
    }

    /// That the random choices of a position are labels that can happen.
    fn labels_happen(&self, position: usize) -> Formula {
        let own = &self.positions[position];
        let chances = own.chances.iter().zip(&self.system.chances).map(|(&node, chance)| {
            let happen = (0..chance.labels.len()).filter(|&label| chance.probabilities[label] > 0.0);
            Formula::any(happen.map(|label| has_label(&self.graph, node, label)))
        });
        // A softmax gives every label some probability.
        let choices = own
            .choices
            .iter()
            .map(|&node| Formula::any((0..self.graph.elements(node)).map(|label| has_label(&self.graph, node, label))));
        Formula::all(chances.chain(choices))
    }

    /// One case for each label of each arg-max. That is true of every position; with it, what depends on the label is known in each case.
    fn label_cases(&self, position: usize) -> Formula {
        let cases = self.ports.labels.iter().map(|&port| {
            let one_hot = self.positions[position].outputs[port];
            let node = self.graph.node(one_hot);
            if !matches!(node.op, Op::ArgMax(_)) || !is_one_vector(&node.shape) {
                return Formula::TRUE;
            }
            let case = |label| {
                Formula::all([takes(&self.graph, node.inputs[0], label), has_label(&self.graph, one_hot, label)])
            };
            Formula::any((0..self.graph.elements(one_hot)).map(case))
        });
        Formula::all(cases)
    }

    /// That a position is one of a run: its choice is allowed, and its successor is a state.
    pub(crate) fn followed(&self, position: usize) -> Formula {
        Formula::all([self.label_cases(position), self.allowed(position), self.successor(position, true)])
    }

    /// That positions follow each other, the last one as far as is asked. A lasso's last position is followed by the one it returns to.
    pub(crate) fn is_run(&self) -> Formula {
        let returns = matches!(self.shape.after, After::Return(_));
        let followed = 0..if returns { self.positions.len() } else { self.last() };
        let labels = (0..self.positions.len()).map(|position| self.labels_happen(position));
        let equal = self.returns().into_iter().flat_map(|(left, right)| {
            let (left, right) = (sum_of(&self.graph, left), sum_of(&self.graph, right));
            [Formula::at_most(&left, &right, false), Formula::at_most(&right, &left, false)]
        });
        // In a state, integers are integers; what follows one is a state unless its step has an error, which is asked about elsewhere.
        let integral = std::iter::once(self.truth_at(0, self.ports.integral, true));
        let followed = followed.map(|position| self.followed(position));
        let parts: Vec<Formula> = labels.chain(followed).chain(equal).chain(integral).collect();
        Formula::all(parts)
    }

    /// That the state at a position is not terminal and allows none of some choices.
    pub(crate) fn stuck(&mut self, position: usize, witnesses: &[WitnessChoice]) -> Result<Formula, Refused> {
        let Some(assume) = self.ports.assume else { return Ok(Formula::FALSE) };
        let mut parts = vec![self.goes_on(position)];
        for witness in witnesses {
            let arguments = self.witness_arguments(position, witness)?;
            let outputs = self.graph.inline(&self.ports.step, &arguments)?;
            parts.push(Formula::Truth(Place { node: outputs[assume], element: 0 }, false));
        }
        Ok(Formula::all(parts))
    }

    /// What the step reads where a witness chooses.
    fn witness_arguments(&mut self, position: usize, witness: &WitnessChoice) -> Result<Vec<NodeId>, Refused> {
        let wrong = || Refused::new("a witness choice does not fit the system");
        let system = self.system;
        let states = self.positions[position].states.clone();
        let width = system.state_len();
        let inputs: usize = system.inputs.iter().map(|input| input.len).sum();
        let random: Vec<usize> = random_actions(system).collect();
        let sizes = (witness.inputs.len(), witness.chances.len(), witness.actions.len());
        if sizes != (inputs, system.chances.len(), random.len()) {
            return Err(wrong());
        }
        let graph = &mut self.graph;
        let mut arguments = states.clone();
        let mut rows = witness.inputs.iter();
        for input in &system.inputs {
            let rows: Vec<&Vec<f64>> = rows.by_ref().take(input.len).collect();
            if rows.iter().any(|row| row.is_empty() || row.len() > width + 1) {
                return Err(wrong());
            }
            let bias = rows.iter().map(|row| row[0]).collect();
            let mut weights = Vec::with_capacity(input.len * width);
            for row in rows {
                weights.extend((0..width).map(|element| row.get(element + 1).copied().unwrap_or(0.0)));
            }
            let state = graph.apply(Concat { axis: 0 }, &states)?;
            let value = graph.apply(Affine::dense(weights, input.len, width, bias)?, &[state])?;
            let ends = |ends: &[f64]| Tensor::new([input.len], ends.to_vec());
            let (lower, upper) = (ends(&input.lower)?, ends(&input.upper)?);
            let (lower, upper) = (graph.constant(lower), graph.constant(upper));
            let raised = graph.apply(Max, &[value, lower])?;
            arguments.push(graph.apply(Min, &[raised, upper])?);
        }
        let happens = |chance: usize, label: usize| {
            system.chances[chance].probabilities.get(label).is_some_and(|probability| *probability > 0.0)
        };
        if witness.chances.iter().enumerate().any(|(chance, &label)| !happens(chance, label)) {
            return Err(wrong());
        }
        let labels = system.chances.iter().map(|chance| chance.labels.len()).chain(random);
        for (&label, count) in witness.chances.iter().chain(&witness.actions).zip(labels) {
            if label >= count {
                return Err(wrong());
            }
            let one_hot = (0..count).map(|own| f64::from(u8::from(own == label))).collect();
            arguments.push(graph.constant(Tensor::new([count], one_hot)?));
        }
        Ok(arguments)
    }
}

/// How many labels each random action has.
fn random_actions(system: &System) -> impl Iterator<Item = usize> + '_ {
    let actions = system.actions.iter().zip(&system.roles.actions);
    actions.filter_map(|(action, role)| matches!(role, ActionRole::Softmax { .. }).then_some(action.labels.len()))
}

/// The ranges of all that is chosen at a position.
pub(crate) fn chosen(system: &System) -> Box {
    let inputs = system.inputs.iter().flat_map(|own| own.lower.iter().copied().zip(own.upper.iter().copied()));
    let labels = system.chances.iter().map(|chance| chance.labels.len()).chain(random_actions(system));
    inputs.chain(labels.flat_map(|count| std::iter::repeat_n((0.0, 1.0), count))).collect()
}
