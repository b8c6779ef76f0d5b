//! A system with one more atom: that a position has no model error.
//!
//! Ranges, deadlocks and undefined operations are implicit properties of every system (docs/semantics.md). Written as an atom `ok` over
//! the step, whatever can prove `G φ` can prove `G ok`, and whatever finds runs finds those that end in an error:
//!
//! `ok` = policies, actions, `terminal` and `assume` are defined, and if the choice is allowed the successor is defined and in its range, and
//! the state is terminal or some *witness choice* is allowed; and the atoms that are asked about are defined.
//!
//! A witness choice is a constant, or an affine expression of the state, for each input, and a label for each random choice. That a state
//! has none of these does not make it a deadlock: the atom is stronger than what it stands for, so a proof is a proof, and an error
//! that is found is looked at again.

use certus_graph::ops::{Affine, And, Compare, Concat, Max, Min, Not, Or, Reduce, ReduceKind};
use certus_graph::{Graph, GraphError, NodeId, Tensor};
use certus_lang::system::{ActionRole, Atom, AtomId, Output, System, Truth};

/// A choice that shows that a state is no deadlock.
#[derive(Clone, Debug, PartialEq)]
pub struct WitnessChoice {
    /// For each element of the inputs: a constant, and a coefficient for each element of the state. Values are clamped into the range.
    pub inputs: Vec<(f64, Vec<f64>)>,
    /// The labels of the chances.
    pub chances: Vec<usize>,
    /// The labels of the random actions.
    pub actions: Vec<usize>,
}

impl WitnessChoice {
    /// The inputs in a state.
    pub fn inputs_at(&self, system: &System, state: &[f64]) -> Vec<f64> {
        let ranges = system.inputs.iter().flat_map(|input| input.lower.iter().zip(&input.upper));
        let value = |(constant, coefficients): &(f64, Vec<f64>)| {
            coefficients.iter().zip(state).fold(*constant, |sum, (factor, value)| sum + factor * value)
        };
        self.inputs.iter().zip(ranges).map(|(own, (low, high))| value(own).max(*low).min(*high)).collect()
    }
}

/// A system whose last atom says that a position has no model error.
pub struct Guarded {
    /// The system.
    pub system: System,
    /// The atom.
    pub ok: AtomId,
}

/// Adds the atom; some atoms of the system are to be defined too.
pub fn guarded(system: &System, witnesses: &[WitnessChoice], atoms: &[AtomId]) -> Result<Guarded, GraphError> {
    let mut new = system.clone();
    let roles = &system.roles;
    let mut build = Builder { graph: new.step.clone() };
    let truth = |own: Option<Truth>| own.map(|own| own.truth.node);
    let mut followed: Vec<NodeId> = truth(roles.defined).into_iter().collect();
    let mut inside = Vec::new();
    for (variable, next) in system.states.iter().zip(&roles.next) {
        inside.extend(build.within(next.node, &variable.lower, &variable.upper)?);
    }
    if let Some(inside) = build.all(&inside)? {
        // A terminal state keeps its value: said outright, nobody has to find it out.
        followed.push(match truth(roles.terminal) {
            Some(terminal) => build.graph.apply(Or, &[terminal, inside])?,
            None => inside,
        });
    }
    let mut parts: Vec<NodeId> = truth(roles.choice_defined).into_iter().collect();
    // What need not hold where the choice is not allowed.
    let mut allowed: Vec<NodeId> = build.all(&followed)?.into_iter().collect();
    for &id in atoms {
        let Some(defined) = truth(roles.atoms_defined[id.0]) else { continue };
        let reads = system.atoms[id.0].uses_choice || system.atoms[id.0].uses_next;
        if reads { allowed.push(defined) } else { parts.push(defined) }
    }
    if let Some(allowed) = build.all(&allowed)? {
        parts.push(match truth(roles.assume) {
            Some(assume) => {
                let refused = build.graph.apply(Not, &[assume])?;
                build.graph.apply(Or, &[refused, allowed])?
            }
            None => allowed,
        });
    }
    if roles.assume.is_some() {
        let mut ways: Vec<NodeId> = truth(roles.terminal).into_iter().collect();
        for witness in witnesses {
            ways.push(build.enabled(system, witness)?);
        }
        let way = match ways.split_first() {
            Some((&first, rest)) => {
                rest.iter().try_fold(first, |either, &way| build.graph.apply(Or, &[either, way]))?
            }
            None => build.constant(&[0.0]),
        };
        parts.push(way);
    }
    let ok = match build.all(&parts)? {
        Some(node) => node,
        None => build.constant(&[1.0]),
    };
    let mut graph = build.graph;
    let port = graph.outputs().len();
    graph.output("ok", ok);
    let output = Output { node: ok, port };
    new.step = graph;
    // It has a value at every position, whatever is chosen there.
    new.atoms.push(Atom { text: "ok".to_owned(), uses_next: false, state_only: true, uses_choice: false });
    new.roles.atoms.push(Truth { truth: output, margin: output });
    new.roles.atoms_defined.push(None);
    Ok(Guarded { ok: AtomId(new.atoms.len() - 1), system: new })
}

struct Builder {
    graph: Graph,
}

impl Builder {
    fn constant(&mut self, values: &[f64]) -> NodeId {
        self.graph.constant(Tensor::vector(values.to_vec()))
    }

    /// A conjunction of single truth values; nothing if there are none.
    fn all(&mut self, parts: &[NodeId]) -> Result<Option<NodeId>, GraphError> {
        let Some((&first, rest)) = parts.split_first() else { return Ok(None) };
        rest.iter().try_fold(first, |all, &part| self.graph.apply(And, &[all, part])).map(Some)
    }

    /// That all elements of a vector lie between bounds; nothing for bounds that are infinite.
    fn within(&mut self, value: NodeId, lower: &[f64], upper: &[f64]) -> Result<Vec<NodeId>, GraphError> {
        let mut found = Vec::new();
        for (bounds, compare) in [(lower, Compare::GreaterEqual), (upper, Compare::LessEqual)] {
            if bounds.iter().all(|bound| bound.is_infinite()) {
                continue;
            }
            let bounds = self.constant(bounds);
            let inside = self.graph.apply(compare, &[value, bounds])?;
            found.push(match self.graph.elements(inside) {
                1 => inside,
                _ => self.graph.apply(Reduce { kind: ReduceKind::Min, axes: vec![0], keep_dims: true }, &[inside])?,
            });
        }
        Ok(found)
    }

    /// Whether a witness choice is allowed in the state.
    fn enabled(&mut self, system: &System, witness: &WitnessChoice) -> Result<NodeId, GraphError> {
        let roles = &system.roles;
        let wanted: Vec<usize> =
            roles.assume.iter().chain(&roles.choice_defined).map(|truth| truth.truth.port).collect();
        let step = system.step.keep_outputs(&wanted);
        let states = roles.states.clone();
        let one_hot = |count: usize, label: usize| -> Vec<f64> {
            (0..count).map(|own| f64::from(u8::from(own == label))).collect()
        };
        let mut arguments = states.clone();
        let all = self.graph.apply(Concat { axis: 0 }, &states)?;
        let mut first = 0;
        for input in &system.inputs {
            let own = &witness.inputs[first..first + input.len];
            first += input.len;
            arguments.push(self.chosen(all, own, &input.lower, &input.upper)?);
        }
        for (chance, &label) in system.chances.iter().zip(&witness.chances) {
            arguments.push(self.constant(&one_hot(chance.labels.len(), label)));
        }
        let random = system.actions.iter().zip(&roles.actions);
        let random = random.filter(|(_, role)| matches!(role, ActionRole::Softmax { .. }));
        for ((action, _), &label) in random.zip(&witness.actions) {
            arguments.push(self.constant(&one_hot(action.labels.len(), label)));
        }
        // Parameters that are free in the step, and results of open networks, are what they are.
        let others = self.graph.inputs()[arguments.len()..].iter().map(|port| port.node).collect::<Vec<_>>();
        arguments.extend(others);
        let found = self.graph.inline(&step, &arguments)?;
        let all = self.all(&found)?;
        Ok(all.unwrap_or_else(|| self.constant(&[1.0])))
    }

    /// The values of an input in the state.
    fn chosen(
        &mut self,
        state: NodeId,
        own: &[(f64, Vec<f64>)],
        lower: &[f64],
        upper: &[f64],
    ) -> Result<NodeId, GraphError> {
        let constants: Vec<f64> = own
            .iter()
            .zip(lower.iter().zip(upper))
            .map(|((constant, _), (low, high))| constant.max(*low).min(*high))
            .collect();
        if own.iter().all(|(_, coefficients)| coefficients.iter().all(|&factor| factor == 0.0)) {
            return Ok(self.constant(&constants));
        }
        let rows: Vec<f64> = own.iter().flat_map(|(_, coefficients)| coefficients.iter().copied()).collect();
        let columns = self.graph.elements(state);
        let affine = Affine::dense(rows, own.len(), columns, own.iter().map(|(constant, _)| *constant).collect())?;
        let value = self.graph.apply(affine, &[state])?;
        let (lower, upper) = (self.constant(lower), self.constant(upper));
        let value = self.graph.apply(Max, &[value, lower])?;
        self.graph.apply(Min, &[value, upper])
    }
}
