//! The sets of states that a property speaks of, for pictures: where it is violated, and where its goal is.
//!
//! `G φ` says that states outside of φ are unsafe, `F ψ` and `φ U ψ` that ψ is a goal; bounds say at which steps. A condition is followed back to the comparisons
//! that it is made of ([`crate::condition`]) and becomes a union of parts; a part is a conjunction of half-spaces of the state where its numbers are piecewise linear
//! (sums, multiples, magnitudes, minima and maxima, each with its cases), and a margin that can be evaluated where they are not. `throughout(φ)` is φ here. What
//! depends on more than the state is left out, and said so.
//!
//! Nothing is concluded from these sets, so doubles do.

use std::collections::{BTreeMap, BTreeSet};

use certus_automata::formula::Bounds;
use certus_graph::eval::{Evaluator, Workspace};
use certus_graph::ops::{Op, Quantity, ReduceKind};
use certus_graph::{Graph, GraphError, Interval, NodeId};
use certus_lang::system::{AtomId, Property, System};
use certus_model::{Nnf, formula_of, nnf};
use certus_solver::Place;
use certus_solver::formula::Formula;

use crate::condition::{condition, source};

/// What a set is to a property.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// A run that is in it violates the property.
    Unsafe,
    /// Runs are to get there.
    Goal,
}

/// A set of states.
#[derive(Clone, Debug)]
pub struct StateSet {
    /// What it is to the property.
    pub role: Role,
    /// The condition as it is written. Goals are where it holds, unsafe states where it does not.
    pub condition: String,
    /// The first instant at which it counts, in steps.
    pub from: u64,
    /// The last one; nothing if there is none.
    pub until: Option<u64>,
    /// The set is the union of these.
    pub parts: Vec<Part>,
    /// Whether it is; otherwise there are parts that depend on more than the state, or too many of them.
    pub is_all: bool,
}

/// The states that satisfy some inequalities.
#[derive(Clone, Debug)]
pub struct Part {
    /// The elements of the state that it depends on.
    pub elements: BTreeSet<usize>,
    /// Linear functions that are at most zero.
    pub faces: Vec<Linear>,
    /// Other functions that are at most zero.
    curved: Vec<Curved>,
}

/// A linear function of the state: factors by element, and a constant.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Linear {
    /// The factors that are not zero.
    pub factors: BTreeMap<usize, f64>,
    /// The constant.
    pub constant: f64,
}

/// A sum of outputs of a graph, each with a factor.
#[derive(Clone, Debug)]
struct Curved {
    graph: Graph,
    /// Each element of each input as a function of the state; nothing where none of the outputs reads it.
    inputs: Vec<Vec<Option<Linear>>>,
    /// The element of each output, and its factor.
    terms: Vec<(usize, f64)>,
    constant: f64,
}

/// Cases of a number that is piecewise linear, at most.
const MOST_CASES: usize = 8;
/// Parts of a set, at most.
const MOST_PARTS: usize = 64;
/// Numbers of a node that is looked into, at most: wider ones belong to networks.
const MOST_ELEMENTS: usize = 64;

/// The unsafe sets and the goals of a property.
pub fn state_sets(system: &System, property: &Property) -> Result<Vec<StateSet>, GraphError> {
    let Ok(formula) = formula_of(property) else { return Ok(Vec::new()) };
    let mut wanted = Vec::new();
    collect(&nnf(formula, true), (0, Some(0)), Under::All, &mut wanted);
    let mut found: Vec<StateSet> = Vec::new();
    for Wanted { role, formula, from, until } in wanted {
        let (parts, is_all, is_throughout) = parts_of(system, &formula, role == Role::Goal)?;
        // A condition throughout a period speaks of the instants after its step, too.
        let until = until.map(|step| step + u64::from(is_throughout));
        let set = StateSet { role, condition: in_words(system, &formula), from, until, parts, is_all };
        let is_new = |own: &StateSet| {
            (own.role, &own.condition, own.from, own.until) != (set.role, &set.condition, set.from, set.until)
        };
        if !set.parts.is_empty() && found.iter().all(is_new) {
            found.push(set);
        }
    }
    Ok(found)
}

/// What a subformula is asked for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Under {
    /// It must hold of every run: what violates it is unsafe.
    All,
    /// It is one way among others: only what is aimed at is told.
    Some,
    /// It must hold from some step on: a goal.
    Goal,
}

/// A condition on states with its window of time.
struct Wanted {
    role: Role,
    formula: Nnf,
    from: u64,
    until: Option<u64>,
}

/// The first and the last step at which something counts.
type Window = (u64, Option<u64>);

fn later((from, until): Window, bounds: &Bounds) -> Window {
    let last = until.and_then(|until| Some(until.saturating_add(bounds.upper?)));
    (from.saturating_add(bounds.lower), last)
}

fn is_of_one_state(formula: &Nnf) -> bool {
    match formula {
        Nnf::Literal(..) => true,
        Nnf::And(parts) | Nnf::Or(parts) => parts.iter().all(is_of_one_state),
        Nnf::Next(_) | Nnf::Until(..) | Nnf::Release(..) => false,
    }
}

fn collect(formula: &Nnf, window: Window, under: Under, found: &mut Vec<Wanted>) {
    if is_of_one_state(formula) {
        let role = match under {
            Under::All => Role::Unsafe,
            Under::Goal => Role::Goal,
            Under::Some => return,
        };
        if !formula.is_true() && !formula.is_false() {
            found.push(Wanted { role, formula: formula.clone(), from: window.0, until: window.1 });
        }
        return;
    }
    match formula {
        Nnf::And(parts) => parts.iter().for_each(|part| collect(part, window, under, found)),
        // Ways to satisfy it: none of them is asked of every run.
        Nnf::Or(parts) => {
            let under = if under == Under::Goal { Under::Goal } else { Under::Some };
            parts.iter().filter(|part| !is_of_one_state(part)).for_each(|part| collect(part, window, under, found));
        }
        Nnf::Next(inner) => collect(inner, later(window, &Bounds { lower: 1, upper: Some(1) }), under, found),
        Nnf::Until(bounds, left, right) => {
            if under == Under::All && is_of_one_state(left) {
                let until = later(window, &Bounds { lower: 0, ..*bounds }).1;
                collect(left, (window.0, until), under, found);
            }
            collect(right, later(window, bounds), Under::Goal, found);
        }
        Nnf::Release(bounds, _, right) => collect(right, later(window, bounds), under, found),
        Nnf::Literal(..) => {}
    }
}

/// A condition on states as it is written.
fn in_words(system: &System, formula: &Nnf) -> String {
    let joined = |parts: &[Nnf], sign: &str| {
        let part = |own: &Nnf| match own {
            Nnf::Literal(..) => in_words(system, own),
            _ => format!("({})", in_words(system, own)),
        };
        parts.iter().map(part).collect::<Vec<_>>().join(sign)
    };
    match formula {
        Nnf::Literal(atom, true) => system.atoms[atom.0].text.clone(),
        Nnf::Literal(atom, false) => format!("!({})", system.atoms[atom.0].text),
        Nnf::And(parts) => joined(parts, " & "),
        Nnf::Or(parts) => joined(parts, " | "),
        Nnf::Next(_) | Nnf::Until(..) | Nnf::Release(..) => String::new(),
    }
}

/// Parts of a set, some of them unknown.
struct Union {
    parts: Vec<Part>,
    is_all: bool,
    is_throughout: bool,
}

/// The parts where a condition on states is as wanted, whether these are all of them, and whether it speaks of whole periods.
fn parts_of(system: &System, formula: &Nnf, wanted: bool) -> Result<(Vec<Part>, bool, bool), GraphError> {
    let mut union = union_of(system, formula, wanted)?;
    let before = union.parts.len();
    union.parts.truncate(MOST_PARTS);
    Ok((union.parts, union.is_all && before <= MOST_PARTS, union.is_throughout))
}

fn union_of(system: &System, formula: &Nnf, wanted: bool) -> Result<Union, GraphError> {
    let each = |parts: &[Nnf]| parts.iter().map(|part| union_of(system, part, wanted)).collect::<Result<Vec<_>, _>>();
    match formula {
        Nnf::Literal(atom, positive) => of_atom(system, *atom, *positive == wanted),
        Nnf::And(parts) if wanted => Ok(intersection(each(parts)?)),
        Nnf::Or(parts) if !wanted => Ok(intersection(each(parts)?)),
        Nnf::And(parts) | Nnf::Or(parts) => Ok(union(each(parts)?)),
        Nnf::Next(_) | Nnf::Until(..) | Nnf::Release(..) => Ok(Union::unknown()),
    }
}

impl Union {
    fn unknown() -> Union {
        Union { parts: Vec::new(), is_all: false, is_throughout: false }
    }

    fn one(part: Part) -> Union {
        Union { parts: vec![part], is_all: true, is_throughout: false }
    }
}

fn union(parts: Vec<Union>) -> Union {
    let mut all = Union { parts: Vec::new(), is_all: true, is_throughout: false };
    for part in parts {
        all.parts.extend(part.parts);
        all.is_all &= part.is_all;
        all.is_throughout |= part.is_throughout;
    }
    all
}

/// States in all of some unions. Where one of them is not known, nothing is.
fn intersection(parts: Vec<Union>) -> Union {
    let whole = Part { elements: BTreeSet::new(), faces: Vec::new(), curved: Vec::new() };
    let mut all = Union::one(whole);
    for part in parts {
        all.is_all &= part.is_all;
        all.is_throughout |= part.is_throughout;
        if all.parts.len() * part.parts.len() > MOST_PARTS {
            return Union { parts: Vec::new(), is_all: false, ..all };
        }
        all.parts = all.parts.iter().flat_map(|a| part.parts.iter().map(move |b| a.and(b))).collect();
    }
    all
}

/// Where an atom is as wanted.
fn of_atom(system: &System, atom: AtomId, wanted: bool) -> Result<Union, GraphError> {
    let graph = system.step.keep_outputs(&[system.roles.atoms[atom.0].truth.port]);
    let mut start = 0;
    let inputs: Vec<Vec<Option<Linear>>> = graph
        .inputs()
        .iter()
        .enumerate()
        .map(|(place, port)| {
            let len = graph.elements(port.node);
            let is_state = place < system.states.len();
            let from = start;
            start += if is_state { len } else { 0 };
            (0..len).map(|element| is_state.then(|| Linear::element(from + element))).collect()
        })
        .collect();
    let truth = graph.outputs()[0].node;
    View::new(graph, inputs).union(Place { node: truth, element: 0 }, wanted)
}

impl Linear {
    fn element(element: usize) -> Linear {
        Linear { factors: [(element, 1.0)].into(), constant: 0.0 }
    }

    fn constant(constant: f64) -> Linear {
        Linear { factors: BTreeMap::new(), constant }
    }

    /// self + factor · other.
    fn plus(&self, factor: f64, other: &Linear) -> Linear {
        let mut sum = self.clone();
        for (&element, own) in &other.factors {
            *sum.factors.entry(element).or_insert(0.0) += factor * own;
        }
        sum.factors.retain(|_, own| *own != 0.0);
        sum.constant += factor * other.constant;
        sum
    }

    fn times(&self, factor: f64) -> Linear {
        Linear::default().plus(factor, self)
    }

    /// Its value at a state.
    pub fn at(&self, state: &[f64]) -> f64 {
        self.factors.iter().fold(self.constant, |sum, (&element, factor)| sum + factor * state[element])
    }
}

impl Part {
    fn and(&self, other: &Part) -> Part {
        let mut both = self.clone();
        both.elements.extend(&other.elements);
        both.faces.extend(other.faces.iter().filter(|face| !self.faces.contains(face)).cloned());
        both.curved.extend(other.curved.iter().cloned());
        both
    }

    /// Whether all of it is linear.
    pub fn is_linear(&self) -> bool {
        self.curved.is_empty()
    }

    /// For each of some states, a number that is at most zero where the state is in the part.
    pub fn excess(&self, states: &[Vec<f64>]) -> Result<Vec<f64>, GraphError> {
        let linear = |state: &Vec<f64>| self.faces.iter().map(|face| face.at(state)).fold(f64::NEG_INFINITY, f64::max);
        let mut found: Vec<f64> = states.iter().map(linear).collect();
        for own in &self.curved {
            // Where a function has no value, nothing is in the part.
            let values = own.at(states)?.into_iter().map(|value| if value.is_nan() { f64::INFINITY } else { value });
            found.iter_mut().zip(values).for_each(|(most, value)| *most = most.max(value));
        }
        Ok(found)
    }
}

impl Curved {
    fn at(&self, states: &[Vec<f64>]) -> Result<Vec<f64>, GraphError> {
        let of = |own: &Option<Linear>, state: &[f64]| own.as_ref().map_or(0.0, |linear| linear.at(state));
        let columns = |input: &Vec<Option<Linear>>| -> Vec<f64> {
            input.iter().flat_map(|own| states.iter().map(move |state| of(own, state))).collect()
        };
        let inputs: Vec<Vec<f64>> = self.inputs.iter().map(columns).collect();
        let inputs: Vec<&[f64]> = inputs.iter().map(Vec::as_slice).collect();
        let evaluator = Evaluator::<f64>::new(&self.graph);
        let mut workspace = Workspace::default();
        evaluator.run(&mut workspace, &inputs, states.len())?;
        let mut sums = vec![self.constant; states.len()];
        for (output, &(element, factor)) in self.terms.iter().enumerate() {
            let values = evaluator.output(&workspace, &inputs, output);
            let values = &values[element * states.len()..(element + 1) * states.len()];
            sums.iter_mut().zip(values).for_each(|(sum, value)| *sum += factor * value);
        }
        Ok(sums)
    }
}

/// A number of a graph as a function of the state.
#[derive(Clone, Debug, Default)]
struct Value {
    /// Its linear functions, each where some others are at most zero; nothing if it has none, or too many.
    cases: Option<Vec<(Vec<Linear>, Linear)>>,
    /// Linear functions of which it is the largest, and others of which it is the smallest: these need no cases.
    tops: Option<Vec<Linear>>,
    bottoms: Option<Vec<Linear>>,
    /// The elements of the state that it depends on; nothing if it depends on more.
    elements: Option<BTreeSet<usize>>,
}

impl Value {
    fn linear(linear: Linear) -> Value {
        let elements = linear.factors.keys().copied().collect();
        let only = Some(vec![linear.clone()]);
        Value { cases: Some(vec![(Vec::new(), linear)]), tops: only.clone(), bottoms: only, elements: Some(elements) }
    }

    /// The only linear function that it is.
    fn only(&self) -> Option<&Linear> {
        match self.cases.as_deref() {
            Some([(guards, linear)]) if guards.is_empty() => Some(linear),
            _ => None,
        }
    }

    fn is_constant(&self) -> Option<f64> {
        self.only().filter(|own| own.factors.is_empty()).map(|own| own.constant)
    }

    /// One number from two, case by case.
    fn join(&self, other: &Value, of: impl Fn(&Linear, &Linear) -> Vec<(Vec<Linear>, Linear)>) -> Value {
        let elements = self.elements.as_ref().zip(other.elements.as_ref()).map(|(a, b)| a.union(b).copied().collect());
        let cases = self.cases.as_ref().zip(other.cases.as_ref()).map(|(a, b)| {
            let pairs = a.iter().flat_map(|a| b.iter().map(move |b| (a, b)));
            let joined = pairs.flat_map(|((guards, a), (more, b))| {
                of(a, b).into_iter().map(move |(own, value)| ([guards.as_slice(), more, &own].concat(), value))
            });
            joined.collect::<Vec<_>>()
        });
        Value { cases: cases.filter(|own| own.len() <= MOST_CASES), elements, ..Value::default() }
    }

    fn sum(&self, factor: f64, other: &Value) -> Value {
        let pairs = |own: &Option<Vec<Linear>>, other: &Option<Vec<Linear>>| {
            let (own, other) = own.as_ref().zip(other.as_ref())?;
            let sums = own.iter().flat_map(|a| other.iter().map(move |b| a.plus(factor, b)));
            (own.len() * other.len() <= MOST_CASES).then(|| sums.collect())
        };
        // A negative factor makes the largest the smallest.
        let (tops, bottoms) = if factor < 0.0 { (&other.bottoms, &other.tops) } else { (&other.tops, &other.bottoms) };
        Value {
            tops: pairs(&self.tops, tops),
            bottoms: pairs(&self.bottoms, bottoms),
            ..self.join(other, |a, b| vec![(Vec::new(), a.plus(factor, b))])
        }
    }

    /// The smaller of two numbers, or the larger one.
    fn extreme(&self, other: &Value, is_least: bool) -> Value {
        let both = |own: &Option<Vec<Linear>>, other: &Option<Vec<Linear>>| {
            let (own, other) = own.as_ref().zip(other.as_ref())?;
            (own.len() + other.len() <= MOST_CASES).then(|| [own.as_slice(), other].concat())
        };
        let joined = self.join(other, |a, b| {
            let (first, second) = if is_least { (a, b) } else { (b, a) };
            let below = vec![first.plus(-1.0, second)];
            let above = vec![second.plus(-1.0, first)];
            vec![(below, a.clone()), (above, b.clone())]
        });
        match is_least {
            true => Value { bottoms: both(&self.bottoms, &other.bottoms), ..joined },
            false => Value { tops: both(&self.tops, &other.tops), ..joined },
        }
    }
}

/// A graph whose inputs are functions of the state.
struct View {
    graph: Graph,
    inputs: Vec<Vec<Option<Linear>>>,
    /// Each number of each node.
    values: Vec<Vec<Value>>,
}

impl View {
    fn new(graph: Graph, inputs: Vec<Vec<Option<Linear>>>) -> View {
        let mut view = View { values: Vec::with_capacity(graph.len()), graph, inputs };
        for id in view.graph.ids() {
            let len = view.graph.elements(id);
            let own = if len <= MOST_ELEMENTS {
                (0..len).map(|element| view.value(id, element)).collect()
            } else {
                Vec::new()
            };
            view.values.push(own);
        }
        view
    }

    fn known(&self, node: NodeId, element: usize) -> Value {
        self.values[node.index()].get(element).cloned().unwrap_or_default()
    }

    /// A number of a node, from those of the nodes before it.
    fn value(&self, id: NodeId, element: usize) -> Value {
        let place = source(&self.graph, Place { node: id, element });
        if place.node != id {
            return self.known(place.node, place.element);
        }
        let node = self.graph.node(id);
        let len = self.graph.elements(id);
        if let Some(constant) = self.graph.constant_value(id) {
            return Value::linear(Linear::constant(constant.data()[element]));
        }
        if let Some(input) = self.graph.inputs().iter().position(|port| port.node == id) {
            return self.inputs[input][element].clone().map(Value::linear).unwrap_or_default();
        }
        let is_elementwise = node.inputs.iter().all(|&own| [1, len].contains(&self.graph.elements(own)));
        let argument = |number: usize| {
            let own = node.inputs[number];
            self.known(own, if self.graph.elements(own) == 1 { 0 } else { element })
        };
        let zero = Value::linear(Linear::default());
        match &node.op {
            Op::Add(_) if is_elementwise => argument(0).sum(1.0, &argument(1)),
            Op::Sub(_) if is_elementwise => argument(0).sum(-1.0, &argument(1)),
            Op::Neg(_) => zero.sum(-1.0, &argument(0)),
            Op::Mul(_) if is_elementwise => match (argument(0).is_constant(), argument(1).is_constant()) {
                (Some(factor), _) => zero.sum(factor, &argument(1)),
                (_, Some(factor)) => zero.sum(factor, &argument(0)),
                _ => self.curved(&[argument(0), argument(1)]),
            },
            Op::Div(_) if is_elementwise => match argument(1).is_constant() {
                Some(divisor) if divisor != 0.0 => zero.sum(1.0 / divisor, &argument(0)),
                _ => self.curved(&[argument(0), argument(1)]),
            },
            Op::Abs(_) => {
                let own = argument(0);
                own.extreme(&zero.sum(-1.0, &own), false)
            }
            Op::Relu(_) => argument(0).extreme(&zero, false),
            Op::Clip(clip) => {
                let ends = [(clip.lower, false), (clip.upper, true)].into_iter().filter(|(end, _)| end.is_finite());
                ends.fold(argument(0), |own, (end, is_least)| {
                    own.extreme(&Value::linear(Linear::constant(end)), is_least)
                })
            }
            Op::Min(_) if is_elementwise => argument(0).extreme(&argument(1), true),
            Op::Max(_) if is_elementwise => argument(0).extreme(&argument(1), false),
            Op::Affine(affine) => {
                let start = Value::linear(Linear::constant(affine.bias()[element]));
                let terms = affine.matrices().iter().zip(&node.inputs).flat_map(|(matrix, &input)| {
                    matrix.row(element).filter(|own| own.1 != 0.0).map(move |(column, weight)| (input, column, weight))
                });
                let mut sum = start;
                for (input, column, weight) in terms {
                    sum = sum.sum(weight, &self.known(input, column));
                    if sum.elements.is_none() {
                        return Value::default();
                    }
                }
                sum
            }
            Op::Reduce(reduce) if matches!(reduce.kind, ReduceKind::Sum | ReduceKind::Min | ReduceKind::Max) => {
                let whole = node.inputs[0];
                let targets = reduce.targets(self.graph.shape(whole));
                let own = (0..targets.len()).filter(|&own| targets[own] == element).map(|own| self.known(whole, own));
                let joined = own.reduce(|a, b| match reduce.kind {
                    ReduceKind::Sum => a.sum(1.0, &b),
                    kind => a.extreme(&b, kind == ReduceKind::Min),
                });
                joined.unwrap_or_default()
            }
            Op::Flow(_) | Op::Throughout(_) => Value::default(),
            _ if is_elementwise => self.curved(&(0..node.inputs.len()).map(argument).collect::<Vec<_>>()),
            _ => {
                let all =
                    node.inputs.iter().flat_map(|&input| (0..self.graph.elements(input)).map(move |own| (input, own)));
                self.curved(&all.map(|(input, own)| self.known(input, own)).collect::<Vec<_>>())
            }
        }
    }

    /// A number that is no linear function of these.
    fn curved(&self, arguments: &[Value]) -> Value {
        let all = arguments.iter().try_fold(BTreeSet::new(), |mut all, own| {
            all.extend(own.elements.as_ref()?);
            Some(all)
        });
        Value { elements: all, ..Value::default() }
    }

    /// The states where a truth value is as wanted.
    fn union(&self, place: Place, wanted: bool) -> Result<Union, GraphError> {
        self.of_formula(&condition(&self.graph, place, wanted))
    }

    fn of_formula(&self, formula: &Formula<Place>) -> Result<Union, GraphError> {
        let each =
            |parts: &[Formula<Place>]| parts.iter().map(|part| self.of_formula(part)).collect::<Result<Vec<_>, _>>();
        let atom = match formula {
            Formula::And(parts) => return Ok(intersection(each(parts)?)),
            Formula::Or(parts) => return Ok(union(each(parts)?)),
            Formula::Atom(atom) => atom,
        };
        let terms: Vec<(Place, f64)> =
            atom.linear.terms.iter().map(|(place, factor)| (*place, middle(*factor))).collect();
        let constant = middle(atom.linear.constant);
        if let [(place, factor)] = terms.as_slice()
            && let Op::Throughout(own) = &self.graph.node(place.node).op
            && own.quantity == Quantity::Truth
        {
            // A truth value that is compared with one half.
            return Ok(Union { is_throughout: true, ..self.within(place.node, *factor < 0.0)? });
        }
        let value = terms.iter().fold(Value::linear(Linear::constant(constant)), |sum, (place, factor)| {
            sum.sum(*factor, &self.known(place.node, place.element))
        });
        let Some(elements) = value.elements else { return Ok(Union::unknown()) };
        if let Some(tops) = value.tops {
            // The largest is at most zero where all are: a part without seams.
            let parts = part_of(tops.into_iter()).into_iter().collect();
            return Ok(Union { parts, is_all: true, is_throughout: false });
        }
        if let Some(bottoms) = value.bottoms {
            let parts = bottoms.into_iter().filter_map(|own| part_of([own].into_iter()));
            return Ok(Union { parts: parts.collect(), is_all: true, is_throughout: false });
        }
        if let Some(cases) = value.cases {
            let parts = cases.into_iter().filter_map(|(guards, linear)| part_of(guards.into_iter().chain([linear])));
            return Ok(Union { parts: parts.collect(), is_all: true, is_throughout: false });
        }
        let mut graph = self.graph.clone();
        let first = graph.outputs().len();
        terms.iter().for_each(|(place, _)| graph.output("", place.node));
        let graph = graph.keep_outputs(&(first..first + terms.len()).collect::<Vec<_>>());
        let terms = terms.into_iter().map(|(place, factor)| (place.element, factor)).collect();
        let curved = Curved { graph, inputs: self.inputs.clone(), terms, constant };
        Ok(Union::one(Part { elements, faces: Vec::new(), curved: vec![curved] }))
    }

    /// Where the condition inside of a `throughout` is as wanted.
    fn within(&self, node: NodeId, wanted: bool) -> Result<Union, GraphError> {
        let own = self.graph.node(node);
        let Op::Throughout(throughout) = &own.op else { return Ok(Union::unknown()) };
        let inner = throughout.condition.graph().clone();
        let lengths = throughout.condition.lengths();
        // Inputs that vary come last, and are no functions of the state.
        let of = |input: usize, len: usize| -> Vec<Option<Linear>> {
            (0..len).map(|element| self.known(own.inputs[input], element).only().cloned()).collect()
        };
        let truth = inner.outputs()[0].node;
        let inputs = vec![of(0, lengths.0), of(1, lengths.1)];
        View::new(inner, inputs).union(Place { node: truth, element: 0 }, wanted)
    }
}

fn middle(own: Interval) -> f64 {
    own.lo / 2.0 + own.hi / 2.0
}

/// A conjunction of linear functions that are at most zero; nothing if one of them is a constant that is not.
fn part_of(faces: impl Iterator<Item = Linear>) -> Option<Part> {
    let mut part = Part { elements: BTreeSet::new(), faces: Vec::new(), curved: Vec::new() };
    for face in faces {
        if face.factors.is_empty() {
            if face.constant > 0.0 {
                return None;
            }
            continue;
        }
        // Functions of very different sizes are drawn alike.
        let size = face.factors.values().fold(0.0f64, |most, own| most.max(own.abs()));
        let face = face.times(1.0 / size);
        part.elements.extend(face.factors.keys());
        if !part.faces.contains(&face) {
            part.faces.push(face);
        }
    }
    Some(part)
}
