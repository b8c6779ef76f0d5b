//! One step of a closed loop over a set of states.
//!
//! [`ClosedLoop`] prepares the part of the step that a property and its side conditions need; [`ClosedLoop::step`] carries a set through it and says
//! what is certain at that position: the letters of the property, that nothing is undefined, that the successor is in its ranges.

use std::collections::BTreeMap;

use std::rc::Rc;

use certus_graph::ops::Op;
use certus_graph::{GraphError, Interval};
use certus_lang::system::{AtomId, System, Truth};
use certus_solver::domain::{AbstractDomain, Curve, Keeps, Layer, Program, walk};

use crate::domain::{Guard, Pass, Prepared, Side};
use crate::flow::Pipe;
use crate::form::{Form, Space};

/// States as forms over one space.
#[derive(Clone, Debug)]
pub(crate) struct Set {
    pub(crate) space: Space,
    pub(crate) state: Vec<Form>,
}

/// A step that is prepared for passes.
pub(crate) struct ClosedLoop {
    prepared: Prepared,
    matters: Vec<bool>,
    state_len: usize,
    atoms: Vec<AtomId>,
    /// Places of truth and margin of each atom.
    truths: Vec<(usize, usize)>,
    /// Places of truths that must be certain at every position that a run is at.
    here: Vec<usize>,
    /// Places of truths that must be certain for the successor to count.
    onwards: Vec<usize>,
    /// The initial condition.
    initial: Option<usize>,
    ranges: Vec<Interval>,
    /// What the inputs of the step after the state are, flattened.
    others: Vec<Interval>,
    /// How many atoms the system has.
    all_atoms: usize,
    /// The atoms that mention the successor.
    of_successor: Vec<usize>,
    /// For the node that a flow starts from, the elements of the state that it has.
    integrated: BTreeMap<usize, Vec<usize>>,
}

/// What a pass over the step came to.
pub(crate) struct Step {
    /// The successor.
    pub(crate) next: Set,
    /// The truth of each atom of the system, where it is certain.
    pub(crate) letter: Vec<Option<bool>>,
    /// The margins of atoms that are open.
    pub(crate) margins: Vec<Form>,
    /// Whether nothing that the position evaluates can be undefined, nor any choice be forbidden.
    pub(crate) certain: bool,
    /// Whether the successor is certainly defined and in its ranges.
    pub(crate) goes_on: Result<(), String>,
    /// Whether every state of the set is initial, or none; as a truth value.
    pub(crate) initial: Option<bool>,
    /// A comparison that matters and is open, with its argument.
    pub(crate) open: Option<(Guard, Form)>,
    /// The solutions over the period, by the node that they start from.
    pipes: Vec<(usize, Rc<Pipe>)>,
}

impl ClosedLoop {
    pub(crate) fn new(system: &System, atoms: &[AtomId]) -> Result<ClosedLoop, GraphError> {
        let roles = &system.roles;
        let mut ports: Vec<usize> = roles.next.iter().map(|next| next.port).collect();
        let nexts = ports.len();
        let mut keep = |port: usize| {
            ports.push(port);
            ports.len() - 1
        };
        let truths: Vec<(usize, usize)> = atoms
            .iter()
            .map(|atom| {
                let own = &roles.atoms[atom.0];
                (keep(own.truth.port), keep(own.margin.port))
            })
            .collect();
        let mut certain = |own: &Option<Truth>| own.as_ref().map(|own| keep(own.truth.port));
        let mut here: Vec<usize> =
            [&roles.choice_defined, &roles.assume].into_iter().filter_map(&mut certain).collect();
        here.extend(atoms.iter().filter_map(|atom| certain(&roles.atoms_defined[atom.0])));
        let onwards: Vec<usize> = certain(&roles.defined).into_iter().collect();
        let initial = certain(&roles.init);
        let prepared = Prepared::new(&system.step.keep_outputs(&ports))?;
        let program = &prepared.program;
        // Ports become places of flattened outputs.
        let mut starts = Vec::with_capacity(ports.len());
        let mut at = 0;
        for port in program.graph.outputs() {
            starts.push(at);
            at += program.graph.elements(port.node);
        }
        let place = |port: usize| starts[port];
        let mut matters = vec![false; program.roles.len()];
        for port in &program.graph.outputs()[..nexts] {
            matters[port.node.index()] = true;
        }
        for (index, node) in program.graph.nodes().iter().enumerate().rev() {
            if matters[index] {
                node.inputs.iter().for_each(|input| matters[input.index()] = true);
            }
        }
        let ranges = system
            .states
            .iter()
            .flat_map(|state| state.lower.iter().zip(&state.upper).map(|(&lo, &hi)| Interval { lo, hi }))
            .collect();
        let inputs = system.inputs.iter();
        let mut others: Vec<Interval> = inputs
            .flat_map(|input| input.lower.iter().zip(&input.upper).map(|(&lo, &hi)| Interval::new(lo, hi)))
            .collect();
        let state_len = system.state_len();
        // What is left are labels, one-hot, and free parameters.
        let labels = program.inputs - state_len - others.len();
        let free: Vec<Interval> = roles
            .free_params
            .iter()
            .map(|(param, _)| Interval::new(system.params[*param].lower, system.params[*param].upper))
            .collect();
        others.extend(std::iter::repeat_n(Interval::UNKNOWN_TRUTH, labels.saturating_sub(free.len())));
        others.extend(free);
        Ok(ClosedLoop {
            matters,
            state_len,
            atoms: atoms.to_vec(),
            truths: truths.iter().map(|&(truth, margin)| (place(truth), place(margin))).collect(),
            here: here.into_iter().map(place).collect(),
            onwards: onwards.into_iter().map(place).collect(),
            initial: initial.map(place),
            ranges,
            others,
            all_atoms: system.atoms.len(),
            of_successor: (0..system.atoms.len()).filter(|&atom| system.atoms[atom].uses_next).collect(),
            integrated: integrated(&prepared),
            prepared,
        })
    }

    /// How dear a step is, in products of numbers.
    pub(crate) fn cost(&self) -> u64 {
        let program = &self.prepared.program;
        program.graph.parameters() as u64 + program.roles.len() as u64
    }

    /// Carries a set through the step, in a case.
    pub(crate) fn step(&self, set: &Set, cases: &BTreeMap<Guard, Side>) -> Option<Step> {
        let mut space = set.space.clone();
        let mut inputs = set.state.clone();
        inputs.extend(self.others.iter().map(|range| space.noise(*range)));
        let mut pass = Pass::new(&self.prepared, space, &inputs, cases, &self.matters);
        pass.run()?;
        let output = |place: usize| pass.output(place);
        let truth = |place: usize| output(place).range.certainty();
        let mut letter = vec![None; self.all_atoms];
        for (atom, (own, margin)) in self.atoms.iter().zip(&self.truths) {
            let margin = output(*margin).range;
            letter[atom.0] = truth(*own).or(if margin.lo > 0.0 {
                Some(true)
            } else if margin.hi < 0.0 {
                Some(false)
            } else {
                None
            });
        }
        // Where a condition throughout a period is open, its margin at the worst instant says more than the infimum does.
        let mut margins: Vec<Form> = self
            .atoms
            .iter()
            .zip(&self.truths)
            .filter(|(atom, _)| letter[atom.0].is_none())
            .map(|(_, (_, margin))| output(*margin).clone())
            .collect();
        margins.extend(pass.hints.iter().cloned());
        let state: Vec<Form> = (0..self.state_len).map(|place| output(place).clone()).collect();
        let certain = self.here.iter().all(|&place| truth(place) == Some(true));
        let outside = state.iter().zip(&self.ranges).position(|(form, range)| !range.encloses(form.range));
        let goes_on = match outside {
            _ if self.onwards.iter().any(|&place| truth(place) != Some(true)) => {
                Err("an operation that may be undefined".to_owned())
            }
            Some(place) => {
                Err(format!("element {place} of the state may leave its range, being in {}", state[place].range))
            }
            None => Ok(()),
        };
        // What mentions a successor that may not be one has no value.
        if goes_on.is_err() {
            self.of_successor.iter().for_each(|&atom| letter[atom] = None);
        }
        let initial = match self.initial {
            None => Some(true),
            Some(place) => truth(place),
        };
        let Pass { space, open, pipes, .. } = pass;
        let pipes = pipes.into_iter().filter_map(|((node, _), pipe)| Some((node, pipe?))).collect();
        Some(Step { next: Set { space, state }, letter, margins, certain, goes_on, initial, open, pipes })
    }

    /// Boxes of states over parts of the period, in shares of it: nothing for systems in discrete time.
    pub(crate) fn over_period(&self, hull: &[Interval], step: &Step, cuts: usize) -> Vec<(f64, f64, Vec<Interval>)> {
        let mut found = Vec::new();
        for (node, pipe) in &step.pipes {
            let Some(elements) = self.integrated.get(node) else { continue };
            let mut space = step.next.space.clone();
            let duration = pipe.duration();
            for (instants, forms) in pipe.slices(&mut space, 0.0, duration, cuts) {
                let mut bounds = hull.to_vec();
                elements.iter().zip(&forms).for_each(|(&element, form)| bounds[element] = form.range);
                found.push((instants.lo / duration, instants.hi / duration, bounds));
            }
        }
        found
    }
}

/// Which elements of the state each flow starts from.
fn integrated(prepared: &Prepared) -> BTreeMap<usize, Vec<usize>> {
    let program = &prepared.program;
    let mut origins = Origins { program, values: Vec::new() };
    // Nothing is dropped: flows are looked at afterwards.
    if walk(program, &mut origins, &vec![usize::MAX; program.roles.len()]).is_none() {
        return BTreeMap::new();
    }
    let starts = program.graph.nodes().iter().filter(|node| matches!(node.op, Op::Flow(_)));
    let starts = starts.filter_map(|node| Some(node.inputs.first()?.index()));
    starts.filter_map(|node| Some((node, origins.values[node].iter().copied().collect::<Option<_>>()?))).collect()
}

/// A domain that knows which input an element is a copy of.
struct Origins<'p> {
    program: &'p Program,
    values: Vec<Vec<Option<usize>>>,
}

impl AbstractDomain for Origins<'_> {
    type Value = Vec<Option<usize>>;

    fn input(&mut self, node: usize, offset: usize) -> Option<Self::Value> {
        Some((offset..offset + self.program.sizes[node]).map(Some).collect())
    }

    fn affine(&mut self, node: usize, _: &Layer) -> Option<Self::Value> {
        self.opaque(node)
    }

    fn movement(&mut self, sources: &[(usize, usize)]) -> Option<Self::Value> {
        Some(sources.iter().map(|&(argument, element)| self.values[argument][element]).collect())
    }

    fn curve(&mut self, node: usize, _: &Curve, _: usize) -> Option<Self::Value> {
        self.opaque(node)
    }

    fn product(&mut self, node: usize, _: usize, _: usize) -> Option<Self::Value> {
        self.opaque(node)
    }

    fn opaque(&mut self, node: usize) -> Option<Self::Value> {
        Some(vec![None; self.program.sizes[node]])
    }
}

impl Keeps for Origins<'_> {
    fn values(&mut self) -> &mut Vec<Self::Value> {
        &mut self.values
    }
}
