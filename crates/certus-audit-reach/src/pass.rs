//! One pass of a set through a lowered graph.

use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;
use std::sync::Arc;

use certus_graph::flow::Field;
use certus_graph::lower::{Kind, lower};
use certus_graph::ops::{Compare, Flow, Op, Quantity, Throughout};
use certus_graph::{Graph, GraphError, Interval, NodeId};

use crate::curve::{Curve, certainty};
use crate::flow::{Equation, Solutions};
use crate::form::{Form, Space};
use crate::series::{enclosed, moved};
use crate::sums::{Sum, kept, sums};

/// A comparison: its node and element.
pub(crate) type Guard = (usize, usize);

/// The sides that comparisons are on in a case: whether their argument is above zero.
pub(crate) type Cases = BTreeMap<Guard, bool>;

/// The solutions that a pass has met, by state, held numbers, equation and period.
type Flows = HashMap<(NodeId, NodeId, *const Field, u64), Option<Rc<Solutions>>>;

/// A graph that sets are passed through.
#[derive(Debug)]
pub(crate) struct Program {
    pub(crate) graph: Graph,
    curves: HashMap<NodeId, (Curve, NodeId)>,
    /// The differential equations and conditions along them, by node.
    equations: HashMap<NodeId, Equation>,
    conditions: HashMap<NodeId, Program>,
    /// Whether the first outputs depend on a node.
    matters: Vec<bool>,
    /// Which nodes are known as sums besides.
    as_sums: Vec<bool>,
    /// The order of Taylor series in time.
    order: usize,
}

/// How often a part of a period is halved before a condition along it is given up.
const MOST_HALVINGS: usize = 6;

impl Program {
    /// Prepares a graph; comparisons matter that its first outputs depend on.
    pub(crate) fn new(graph: &Graph, first: usize, order: usize) -> Result<Program, GraphError> {
        let graph = lower(graph)?;
        let curves = graph.ids().filter_map(|id| Some((id, Curve::of(&graph, graph.node(id))?))).collect();
        let mut matters = vec![false; graph.len()];
        graph.outputs().iter().take(first).for_each(|port| matters[port.node.index()] = true);
        for (index, node) in graph.nodes().iter().enumerate().rev() {
            if matters[index] {
                node.inputs.iter().for_each(|input| matters[input.index()] = true);
            }
        }
        let (mut equations, mut conditions) = (HashMap::new(), HashMap::new());
        for id in graph.ids() {
            let flow = match &graph.node(id).op {
                Op::Flow(flow) => flow,
                Op::Throughout(own) => {
                    conditions.insert(id, Program::new(own.condition.graph(), 0, order)?);
                    &own.flow
                }
                _ => continue,
            };
            equations.extend(Equation::new(&flow.field).map(|own| (id, own)));
        }
        let as_sums = kept(&graph);
        Ok(Program { graph, curves, equations, conditions, matters, as_sums, order })
    }

    /// What the inputs become, in a case.
    pub(crate) fn run(&self, space: &mut Space, inputs: &[Rc<Form>], cases: &Cases) -> Passed {
        let mut values: Vec<Vec<Rc<Form>>> = Vec::with_capacity(self.graph.len());
        let mut known: Vec<Vec<Sum>> = vec![Vec::new(); self.graph.len()];
        let (mut open, mut hints) = (None, Vec::new());
        let mut rest = inputs;
        // Flow and conditions along it share their solutions.
        let mut flows: Flows = HashMap::new();
        for (index, id) in self.graph.ids().enumerate() {
            let node = self.graph.node(id);
            let count = self.graph.elements(id);
            let own: Vec<Rc<Form>> = match (&node.op, Kind::of(&self.graph, id)) {
                (Op::Input(_), _) => {
                    let (own, after) = rest.split_at(count.min(rest.len()));
                    rest = after;
                    own.to_vec()
                }
                (Op::Constant(constant), _) => {
                    (0..count).map(|place| Rc::new(Form::within(constant.interval(place)))).collect()
                }
                (Op::Affine(affine), _) => (0..count)
                    .map(|row| {
                        let matrices = affine.matrices().iter().enumerate();
                        let terms = matrices.flat_map(|(argument, matrix)| {
                            let inputs = &values[node.inputs[argument].index()];
                            matrix.row(row).map(move |(column, weight)| (weight, inputs[column].as_ref()))
                        });
                        let terms: Vec<(f64, &Form)> = terms.collect();
                        let bias = Interval::point(affine.bias()[row]).widen(affine.bias_error(row));
                        Rc::new(space.combine(terms.into_iter(), affine.weight_error(row), bias))
                    })
                    .collect(),
                (_, Kind::Movement) => match moved(&self.graph, node) {
                    Some(sources) => {
                        sources.into_iter().map(|(input, place)| Rc::clone(&values[input.index()][place])).collect()
                    }
                    None => Vec::new(),
                },
                (_, Kind::Product) => {
                    let [left, right] = [0, 1].map(|place| &values[node.inputs[place].index()]);
                    let product = |(x, y): (&Rc<Form>, &Rc<Form>)| match (x.exactly(), y.exactly()) {
                        (Some(1.0), _) => Rc::clone(y),
                        (_, Some(1.0)) => Rc::clone(x),
                        _ => Rc::new(space.mul(x, y)),
                    };
                    left.iter().zip(right).map(product).collect()
                }
                (_, Kind::Curve) if self.curves.contains_key(&id) => {
                    let (curve, argument) = self.curves[&id];
                    let arguments = values[argument.index()].clone();
                    let mut own = Vec::with_capacity(count);
                    for (place, x) in arguments.iter().enumerate() {
                        if let Curve::Step(compare) = curve
                            && certainty(compare, x.range).is_none()
                        {
                            let above = cases.get(&(index, place));
                            if above.is_none() && self.matters[index] && open.is_none() {
                                open = Some(((index, place), Rc::clone(x)));
                            }
                            let truth = above
                                .map(|&above| above == matches!(compare, Compare::Greater | Compare::GreaterEqual));
                            own.push(Rc::new(Form::within(Interval::from_certainty(truth))));
                            continue;
                        }
                        let mut form = curve.apply(space, x);
                        space.name_error(&mut form);
                        own.push(Rc::new(form));
                    }
                    own
                }
                (Op::Flow(flow), _) => {
                    let found = self.solutions(space, &mut flows, &values, id, flow);
                    match found {
                        Some(found) => found.end.iter().map(|form| Rc::new(form.clone())).collect(),
                        None => unknown(count),
                    }
                }
                (Op::Throughout(own), _) => {
                    let found = self.solutions(space, &mut flows, &values, id, &own.flow);
                    let held = &values[node.inputs[1].index()];
                    let range = match (found, self.conditions.get(&id)) {
                        (Some(found), Some(condition)) => condition.throughout(space, own, &found, held, &mut hints),
                        _ if own.quantity == Quantity::Truth => Interval::UNKNOWN_TRUTH,
                        _ => Interval::ENTIRE,
                    };
                    vec![Rc::new(Form::within(range))]
                }
                _ => {
                    let ranges: Vec<Vec<Interval>> = values
                        .iter()
                        .enumerate()
                        .map(|(at, own)| match node.inputs.iter().any(|input| input.index() == at) {
                            true => own.iter().map(|form| form.range).collect(),
                            false => Vec::new(),
                        })
                        .collect();
                    enclosed(&self.graph, node, &ranges).into_iter().map(|own| Rc::new(Form::within(own))).collect()
                }
            };
            // What could not be computed is anything.
            let mut own = if own.len() == count { own } else { unknown(count) };
            if self.as_sums[index] {
                let number = |(node, element): (usize, usize)| values[node][element].exactly();
                for (place, (sum, met)) in sums(&self.graph, id, &known, &number).into_iter().enumerate() {
                    if met {
                        let terms =
                            sum.terms.iter().map(|&((node, element), weight)| (weight, values[node][element].as_ref()));
                        let form = space.combine(terms, 0.0, Interval::point(sum.bias));
                        own[place] = Rc::new(space.limited(form, own[place].range));
                    }
                    known[index].push(sum);
                }
            }
            values.push(own);
        }
        let outputs = self.graph.outputs().iter().map(|port| values[port.node.index()].clone()).collect();
        Passed { outputs, open, hints }
    }

    fn solutions(
        &self,
        space: &mut Space,
        flows: &mut Flows,
        values: &[Vec<Rc<Form>>],
        id: NodeId,
        flow: &Flow,
    ) -> Option<Rc<Solutions>> {
        let node = self.graph.node(id);
        let key = (node.inputs[0], node.inputs[1], Arc::as_ptr(&flow.field), flow.duration.to_bits());
        if let Some(known) = flows.get(&key) {
            return known.clone();
        }
        let (state, held) = (&values[key.0.index()], &values[key.1.index()]);
        let found =
            self.equations.get(&id).and_then(|own| own.solutions(space, state, held, flow.duration, self.order));
        let found = found.map(Rc::new);
        flows.insert(key, found.clone());
        found
    }

    /// Of a condition: its truth at all instants of a part of a period, or the infimum of its margin.
    ///
    /// Slices of time cover all instants that are asked for, so what is true on all of them is true; a slice within the part that is false throughout makes it false.
    fn throughout(
        &self,
        space: &Space,
        asked: &Throughout,
        found: &Solutions,
        held: &[Rc<Form>],
        hints: &mut Vec<Rc<Form>>,
    ) -> Interval {
        let field = &asked.flow.field;
        let ranges = field.varying();
        let mut truth = Some(true);
        let mut margin: Option<Interval> = None;
        for segment in &found.segments {
            let (from, to) = (asked.from.lo.max(segment.from), asked.to.hi.min(segment.to));
            if from > to {
                continue;
            }
            let mut slices = vec![(from, to, 0)];
            while let Some((from, to, halvings)) = slices.pop() {
                let mut local = space.clone();
                let states = segment.over(&mut local, from, to);
                let own = held.iter().take(field.held()).cloned();
                let free: Vec<Rc<Form>> = ranges.iter().map(|range| Rc::new(local.noise(*range))).collect();
                let inputs: Vec<Rc<Form>> = states.into_iter().map(Rc::new).chain(own).chain(free).collect();
                let passed = self.run(&mut local, &inputs, &Cases::new());
                let at = |port: usize| passed.outputs[port][0].range;
                let certain = at(0).certainty().or(sign(at(1)));
                let decided = match asked.quantity {
                    Quantity::Truth => certain == Some(true),
                    Quantity::Margin => at(1).lo > 0.0,
                };
                // It has an instant that is certainly asked for.
                let within = from.max(asked.from.hi) <= to.min(asked.to.lo);
                let refuted = within && (certain == Some(false) || at(1).hi < 0.0);
                let half = from + (to - from) / 2.0;
                if !decided && !refuted && halvings < MOST_HALVINGS && from < half && half < to {
                    slices.extend([(half, to, halvings + 1), (from, half, halvings + 1)]);
                    continue;
                }
                if !decided {
                    hints.push(Rc::clone(&passed.outputs[1][0]));
                }
                truth = match (truth, certain) {
                    (Some(false), _) => Some(false),
                    (_, Some(false)) if within => Some(false),
                    (Some(true), Some(true)) => Some(true),
                    _ => None,
                };
                let own = if within { at(1) } else { Interval { hi: f64::INFINITY, ..at(1) } };
                margin = Some(margin.map_or(own, |least| least.min(own)));
                if asked.quantity == Quantity::Truth && truth != Some(true) {
                    // No other slice makes it true; false is only claimed where one says so.
                    break;
                }
            }
        }
        match (asked.quantity, margin) {
            (Quantity::Truth, Some(_)) => Interval::from_certainty(truth),
            (Quantity::Margin, Some(own)) => own,
            // No instant was looked at.
            (Quantity::Truth, None) => Interval::UNKNOWN_TRUTH,
            (Quantity::Margin, None) => Interval::ENTIRE,
        }
    }
}

/// Numbers of which nothing is known. Each is a form of its own: products take one and the same form for a square.
fn unknown(count: usize) -> Vec<Rc<Form>> {
    (0..count).map(|_| Rc::new(Form::within(Interval::ENTIRE))).collect()
}

/// What the sign of a margin says of a truth value.
pub(crate) fn sign(margin: Interval) -> Option<bool> {
    if margin.lo > 0.0 { Some(true) } else { (margin.hi < 0.0).then_some(false) }
}

/// What a pass came to.
pub(crate) struct Passed {
    /// The elements of each output.
    pub(crate) outputs: Vec<Vec<Rc<Form>>>,
    /// The first comparison that matters and is open, with its argument.
    pub(crate) open: Option<(Guard, Rc<Form>)>,
    /// Margins along flows that are open, at the instants where they are: nothing but hints, to split by.
    pub(crate) hints: Vec<Rc<Form>>,
}

impl Passed {
    /// The first elements of some outputs.
    pub(crate) fn of(&self, ports: &[usize]) -> Vec<&Form> {
        ports.iter().filter_map(|port| self.outputs[*port].first()).map(Rc::as_ref).collect()
    }
}
