//! One step of a closed loop over a set of states.
//!
//! [`ClosedLoop`] prepares the part of the step that a property and its side conditions need; [`ClosedLoop::step`] carries a set through it and says
//! what is certain at that position: the letters of the property, that nothing is undefined, that the successor is in its ranges.

use std::collections::BTreeMap;

use std::rc::Rc;

use certus_graph::ops::Op;
use certus_graph::{Graph, GraphError, Interval, NodeId};
use certus_lang::system::{AtomId, System, Truth};
use certus_solver::domain::{AbstractDomain, Curve, Keeps, Layer, Program, Role, walk};

use crate::domain::{Guard, Pass, Prepared, Side};
use crate::flow::Pipe;
use crate::form::{Form, Space};
use crate::set::symbols_of;

/// What it takes to look through an element of a node, in multiplications of a matrix product.
const COST_OF_ELEMENT: usize = 128;

/// A step that takes so many products of numbers is worth a unit of work.
const PRODUCTS_OF_UNIT: u64 = 1 << 21;

/// States as forms over one space.
#[derive(Clone, Debug)]
pub(crate) struct Set {
    pub(crate) space: Space,
    pub(crate) state: Vec<Form>,
    /// Which part of its first range, [−1, 1], each strong variable has after cuts.
    pub(crate) part: Vec<Interval>,
}

/// A step that is prepared for passes.
pub(crate) struct ClosedLoop {
    prepared: Prepared,
    matters: Vec<bool>,
    state_len: usize,
    atoms: Vec<AtomId>,
    /// Places of truth and margin of each atom.
    truths: Vec<(usize, usize)>,
    /// Where every choice is defined, allowed or not.
    choice_defined: Option<usize>,
    /// Places of truths that must be certain at every position that a run is at.
    here: Vec<usize>,
    /// Places of truths that must be certain for the successor to count.
    onwards: Vec<usize>,
    /// Of the initial condition, and of the restriction of choices: the truth, and the margins of its conjuncts.
    initial: Option<(usize, Vec<usize>)>,
    assume: Option<(usize, Vec<usize>)>,
    /// Whether inputs are all that is chosen, so that a witness may show that some choice is allowed.
    only_inputs: bool,
    /// Whether a state is terminal.
    terminal: Option<usize>,
    /// For each node, whether it depends on the state alone.
    of_state: Vec<bool>,
    pub(crate) ranges: Vec<Interval>,
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
    /// What the step took, in units of work.
    pub(crate) cost: u64,
    /// The truth of each atom of the system, where it is certain.
    pub(crate) letter: Vec<Option<bool>>,
    /// The atoms that are open, with their margins.
    pub(crate) open_atoms: Vec<(AtomId, Form)>,
    /// Margins of conditions throughout the period that are open, where they were smallest.
    pub(crate) hints: Vec<Form>,
    /// Whether nothing that the position evaluates can be undefined, nor any choice be forbidden.
    pub(crate) certain: bool,
    /// Whether the successor is certainly defined and in its ranges.
    pub(crate) goes_on: Result<(), String>,
    /// Whether every state of the set is initial, or none; as a truth value. And the margins, where it is open.
    pub(crate) initial: Option<bool>,
    pub(crate) initial_margins: Vec<Form>,
    /// Whether every state of the set, in this case, is terminal: the successor is the state.
    pub(crate) ended: bool,
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
        let mut graph = system.step.clone();
        let mut parts = |own: &Option<Truth>| {
            own.as_ref().map(|own| {
                let margins = conjuncts(&system.step, own.margin.port).into_iter().map(|node| {
                    graph.output("conjunct", node);
                    keep(graph.outputs().len() - 1)
                });
                let margins = margins.collect::<Vec<usize>>();
                (keep(own.truth.port), margins)
            })
        };
        let (initial, assume) = (parts(&roles.init), parts(&roles.assume));
        let mut certain = |own: &Option<Truth>| own.as_ref().map(|own| keep(own.truth.port));
        let choice_defined = certain(&roles.choice_defined);
        let here: Vec<usize> = atoms.iter().filter_map(|atom| certain(&roles.atoms_defined[atom.0])).collect();
        let onwards: Vec<usize> = certain(&roles.defined).into_iter().collect();
        let terminal = certain(&roles.terminal);
        let prepared = Prepared::new(&graph.keep_outputs(&ports))?;
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
        let state_len = system.state_len();
        let mut of_state = vec![true; program.roles.len()];
        for (index, node) in program.graph.nodes().iter().enumerate() {
            of_state[index] = match (&program.roles[index], &node.op) {
                (Role::Input(offset), _) => *offset < state_len,
                // Inputs may vary along it.
                (_, Op::Flow(_) | Op::Throughout(_)) => false,
                _ => node.inputs.iter().all(|input| of_state[input.index()]),
            };
        }
        let inputs = system.inputs.iter();
        let mut others: Vec<Interval> = inputs
            .flat_map(|input| input.lower.iter().zip(&input.upper).map(|(&lo, &hi)| Interval::new(lo, hi)))
            .collect();
        // What is left are labels, one-hot, and free parameters.
        let labels = program.inputs - state_len - others.len();
        let free: Vec<Interval> = roles
            .free_params
            .iter()
            .map(|(param, _)| Interval::new(system.params[*param].lower, system.params[*param].upper))
            .collect();
        let labels = labels.saturating_sub(free.len());
        others.extend(std::iter::repeat_n(Interval::UNKNOWN_TRUTH, labels));
        others.extend(free);
        let only_inputs = labels == 0 && roles.free_params.is_empty();
        let places = |(truth, margins): (usize, Vec<usize>)| (place(truth), margins.into_iter().map(place).collect());
        Ok(ClosedLoop {
            matters,
            state_len,
            atoms: atoms.to_vec(),
            truths: truths.iter().map(|&(truth, margin)| (place(truth), place(margin))).collect(),
            choice_defined: choice_defined.map(place),
            here: here.into_iter().map(place).collect(),
            onwards: onwards.into_iter().map(place).collect(),
            initial: initial.map(places),
            assume: assume.map(places),
            only_inputs,
            terminal: terminal.map(place),
            of_state,
            ranges,
            others,
            all_atoms: system.atoms.len(),
            of_successor: (0..system.atoms.len()).filter(|&atom| system.atoms[atom].uses_next).collect(),
            integrated: integrated(&prepared),
            prepared,
        })
    }

    /// What a step takes at least, in units of work.
    pub(crate) fn least_cost(&self) -> u64 {
        self.cost(1 + self.state_len + symbols_of(self.state_len) + self.others.len())
    }

    /// What a step takes, in units of work: each weight and each element meets each monomial and symbol.
    fn cost(&self, columns: usize) -> u64 {
        let program = &self.prepared.program;
        let elements: usize = program.sizes.iter().sum();
        let products = (program.graph.parameters() + COST_OF_ELEMENT * elements) as u64 * columns as u64;
        (products / PRODUCTS_OF_UNIT).max(1)
    }

    /// How many numbers are chosen at each step: the first symbols that it adds.
    pub(crate) fn choices(&self) -> usize {
        self.others.len()
    }

    /// Whether the outcome of a comparison is a matter of the state alone.
    pub(crate) fn is_of_state(&self, guard: Guard) -> bool {
        self.of_state[guard.0]
    }

    /// Carries a set through the step, in a case.
    pub(crate) fn step(&self, set: &Set, cases: &BTreeMap<Guard, Side>) -> Option<Step> {
        let mut space = set.space.clone();
        let mut inputs = set.state.clone();
        inputs.extend(self.others.iter().map(|range| space.noise(*range)));
        let known = space.clone();
        let allowed;
        let mut pass = Pass::new(&self.prepared, space, &inputs, cases, &self.matters);
        pass.run()?;
        let is_true = |pass: &Pass<'_>, place: usize| pass.output(place).range.certainty() == Some(true);
        let choices_are_defined = self.choice_defined.is_none_or(|place| is_true(&pass, place));
        let ended = self.terminal.is_some_and(|place| is_true(&pass, place));
        // Where a run has ended, nothing need be allowed.
        let restriction = self.assume.as_ref().filter(|(own, _)| !ended && !is_true(&pass, *own));
        let goes_on_somehow = restriction.is_none() || self.some_choice_is_allowed(set, cases);
        // The position again, with the choices that may be allowed. What is known of the state stays, so that comparisons speak of the same set.
        if restriction.is_some()
            && let Some(own) = self.narrowed(
                Set { space: known, state: inputs.clone(), part: set.part.clone() },
                set.space.columns,
                cases,
            )
        {
            allowed = own;
            pass = Pass::new(&self.prepared, allowed.space, &allowed.state, cases, &self.matters);
            pass.run()?;
        }
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
        let open = self.atoms.iter().zip(&self.truths).filter(|(atom, _)| letter[atom.0].is_none());
        let open_atoms = open.map(|(atom, (_, margin))| (*atom, output(*margin).clone())).collect();
        let certain =
            goes_on_somehow && choices_are_defined && self.here.iter().all(|&place| truth(place) == Some(true));
        let state: Vec<Form> = match ended {
            true => set.state.clone(),
            false => (0..self.state_len).map(|place| output(place).clone()).collect(),
        };
        let mut next = Set { space: pass.space.clone(), state, part: set.part.clone() };
        // What no allowed choice leads to is no successor.
        if let Some((_, margins)) = restriction {
            let margins: Vec<&Form> = margins.iter().map(|place| output(*place)).collect();
            next = next.cut_from(1, &margins, Side::Above).unwrap_or(next);
        }
        let outside = next.state.iter().zip(&self.ranges).position(|(form, range)| !range.encloses(form.range));
        let goes_on = match outside {
            _ if self.onwards.iter().any(|&place| truth(place) != Some(true)) => {
                Err("an operation that may be undefined".to_owned())
            }
            Some(place) => {
                Err(format!("element {place} of the state may leave its range, being in {}", next.state[place].range))
            }
            None => Ok(()),
        };
        // What mentions a successor that may not be one has no value.
        if goes_on.is_err() {
            self.of_successor.iter().for_each(|&atom| letter[atom] = None);
        }
        let initial = self.initial.as_ref().map_or(Some(true), |(own, _)| truth(*own));
        let margins_of = self.initial.iter().filter(|_| initial.is_none()).flat_map(|(_, margins)| margins);
        let initial_margins = margins_of.map(|place| output(*place).clone()).collect();
        let Pass { open, hints, pipes, .. } = pass;
        let pipes = pipes.into_iter().filter_map(|((node, _), pipe)| Some((node, pipe?))).collect();
        let cost = self.cost(next.space.columns);
        Some(Step {
            next,
            cost,
            letter,
            open_atoms,
            hints,
            certain,
            goes_on,
            initial,
            initial_margins,
            ended,
            open,
            pipes,
        })
    }

    /// States and choices without choices that are certainly forbidden; nothing if that leaves them as they are. `first` is the first symbol of a choice.
    fn narrowed(&self, mut whole: Set, first: usize, cases: &BTreeMap<Guard, Side>) -> Option<Set> {
        let (truth, margins) = self.assume.as_ref()?;
        let mut is_narrower = false;
        for _ in 0..MOST_NARROWINGS {
            let mut pass = Pass::new(&self.prepared, whole.space.clone(), &whole.state, cases, &self.matters);
            pass.run()?;
            if pass.output(*truth).range.certainty() == Some(true) {
                break;
            }
            let margins: Vec<&Form> = margins.iter().map(|place| pass.output(*place)).collect();
            let Some(cut) = whole.cut_from(first, &margins, Side::Above) else { break };
            (whole, is_narrower) = (cut, true);
        }
        is_narrower.then_some(whole)
    }

    /// Whether one choice is allowed in every state of a set, in a case: constants are tried.
    fn some_choice_is_allowed(&self, set: &Set, cases: &BTreeMap<Guard, Side>) -> bool {
        let Some((truth, _)) = self.assume.as_ref().filter(|_| self.only_inputs) else { return false };
        // A witness need not be in the case: only what the case says of states counts.
        let mut cases = cases.clone();
        cases.retain(|guard, _| self.is_of_state(*guard));
        witnesses(&self.others).into_iter().any(|choice| {
            let mut inputs = set.state.clone();
            inputs.extend(choice.iter().map(|value| set.space.constant(Interval::point(*value))));
            let mut pass = Pass::new(&self.prepared, set.space.clone(), &inputs, &cases, &self.matters);
            pass.run().is_some() && pass.output(*truth).range.certainty() == Some(true)
        })
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

/// The nodes whose values are all at least zero where that of an output is: the arguments of minima.
fn conjuncts(graph: &Graph, port: usize) -> Vec<NodeId> {
    let mut found = Vec::new();
    let mut open = vec![graph.outputs()[port].node];
    while let Some(id) = open.pop() {
        let node = graph.node(id);
        match node.op {
            Op::Min(_) if node.inputs.iter().all(|input| graph.elements(*input) == 1) => open.extend(&node.inputs),
            _ => found.push(id),
        }
    }
    found
}

/// How often choices are narrowed to those that may be allowed: what one conjunct leaves narrows what another one does.
const MOST_NARROWINGS: usize = 3;

/// Up to this many, all corners are tried as witnesses.
const FEW_CHOICES: usize = 4;

/// Choices that may be allowed everywhere: points on the diagonal of their box, and its corners.
fn witnesses(ranges: &[Interval]) -> Vec<Vec<f64>> {
    let at = |range: &Interval, share: f64| (range.lo + share * range.width()).clamp(range.lo, range.hi);
    let mut found: Vec<Vec<f64>> = [0.5, 0.0, 1.0, 0.25, 0.75]
        .iter()
        .map(|&share| ranges.iter().map(|range| at(range, share)).collect())
        .collect();
    if ranges.len() <= FEW_CHOICES {
        let side = |corner: usize, place: usize| if corner >> place & 1 == 1 { 1.0 } else { 0.0 };
        let corner = |corner: usize| ranges.iter().enumerate().map(|(i, range)| at(range, side(corner, i))).collect();
        found.extend((0..1usize << ranges.len()).map(corner));
    }
    found
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
