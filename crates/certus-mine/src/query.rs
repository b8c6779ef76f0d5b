//! A specification and a network as a query: is there an input at which the precondition holds and the output is not
//! allowed?
//!
//! Columns that a specification does not mention range over what was observed where its precondition held, inputs without a
//! column over the range that the configuration gives them. Inputs that a network does not read are fixed: they
//! change nothing, and branch and bound must not split them.

use certus_graph::eval::enclose;
use certus_graph::reads::elements_read;
use certus_graph::{Graph, Interval, Op};
use certus_solver::formula::{Atom, Formula, Linear};
use certus_solver::vnnlib::Variable;
use certus_solver::{Answer, Budget, Progress, Query, Region, UnknownReason, Witness, falsify, solve};

use crate::layout::Layout;
use crate::outputs::{Meaning, OutputSet, Outputs};
use crate::{MineError, Specification};

/// What is known of a specification and a network.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// The network obeys it, over the reals.
    Holds,
    /// The network decides something else at this input.
    Violated(Witness),
    /// Over the reals, the network's output takes a forbidden value somewhere between these two inputs: it is less at
    /// the first and greater at the second, and continuous.
    Crossed(Vec<f64>, Vec<f64>),
    /// Neither was found.
    Open(UnknownReason),
}

/// How comparisons are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Edges {
    /// As networks decide: the first of equal outputs wins, bands contain their lower end.
    Exact,
    /// With `<=` and `>=` alone, as VNN-LIB has it: a tie counts as a violation.
    Closed,
}

/// The range of each of a network's inputs where a specification applies. `read` tells which of them the network reads.
pub fn region(layout: &Layout, specification: &Specification, read: &[bool]) -> Result<Vec<(f64, f64)>, MineError> {
    if layout.inputs.is_some_and(|inputs| inputs != read.len()) {
        let message = format!("the network has {} inputs, the configuration says {:?}", read.len(), layout.inputs);
        return Err(MineError::new(message.replace("Some(", "").replace(')', "")));
    }
    let range = |(input, &read): (usize, &bool)| {
        let Some(column) = layout.column_of_input(input) else {
            return match layout.unread {
                Some((low, _)) if !read => Ok((low, low)),
                Some(range) => Ok(range),
                None if !read => Ok((0.0, 0.0)),
                None => Err(MineError::new(format!(
                    "the network reads input {input}, which has no column: name one, or give `unread` a range"
                ))),
            };
        };
        let (mut low, mut high) = (f64::NEG_INFINITY, f64::INFINITY);
        let valid = layout.columns[column].valid;
        let own = specification.bounds.iter().chain(&specification.observed).filter(|bound| bound.column == column);
        for (from, to) in own.map(|bound| (bound.low, bound.high)) {
            (low, high) = (low.max(from), high.min(to));
        }
        // An end that a specification leaves open is where valid values end.
        low = if low.is_finite() { low } else { valid.map_or(low, |valid| valid.0) };
        high = if high.is_finite() { high } else { valid.map_or(high, |valid| valid.1) };
        if !(low.is_finite() && high.is_finite()) {
            let name = &layout.columns[column].column;
            return Err(MineError::new(format!(
                "column `{name}` has no bound where the specification applies: nothing was observed there, and the configuration gives no `valid` range"
            )));
        }
        Ok(if read { (low, high) } else { (low, low) })
    };
    read.iter().enumerate().map(range).collect()
}

/// What holds of a network's outputs exactly where it decides something that is not allowed.
pub fn violation(outputs: &Outputs, allowed: OutputSet, edges: Edges) -> Formula<Variable> {
    let closed = edges == Edges::Closed;
    if outputs.meaning == Meaning::Choice {
        let beats = |other: usize, label: usize| {
            let difference = Linear::variable(Variable::Output(label));
            let linear = difference.plus(Interval::point(-1.0), &Linear::variable(Variable::Output(other)));
            Formula::Atom(Atom { linear, strict: label < other && !closed })
        };
        let wins = |other: usize| Formula::And(allowed.labels().map(|label| beats(other, label)).collect());
        return Formula::Or(outputs.all().without(allowed).labels().map(wins).collect());
    }
    let at_least = |(value, strict): (f64, bool)| {
        let linear = Linear::constant(Interval::point(value));
        let linear = linear.plus(Interval::point(-1.0), &Linear::variable(Variable::Output(0)));
        Formula::Atom(Atom { linear, strict: strict && !closed })
    };
    let at_most = |(value, strict): (f64, bool)| {
        let linear =
            Linear::variable(Variable::Output(0)).plus(Interval::ONE, &Linear::constant(Interval::point(-value)));
        Formula::Atom(Atom { linear, strict: strict && !closed })
    };
    let bands = bands(outputs);
    let mut runs = Vec::new();
    let mut label = 0;
    while label < bands.len() {
        if allowed.contains(label) {
            label += 1;
            continue;
        }
        let first = label;
        while label < bands.len() && !allowed.contains(label) {
            label += 1;
        }
        let ends = bands[first].0.map(at_least).into_iter().chain(bands[label - 1].1.map(at_most));
        runs.push(Formula::And(ends.collect()));
    }
    Formula::Or(runs)
}

type End = Option<(f64, bool)>;

/// For each label of a number, where its band begins and ends, and whether that end is excluded.
fn bands(outputs: &Outputs) -> Vec<(End, End)> {
    match &outputs.meaning {
        Meaning::Choice => Vec::new(),
        Meaning::Sign { margin } => {
            let strict = *margin == 0.0;
            let zero = Some((0.0, false));
            vec![(None, Some((-margin, strict))), (zero, zero), (Some((*margin, strict)), None)]
        }
        Meaning::Bands(thresholds) => {
            let begin = std::iter::once(None).chain(thresholds.iter().map(|&value| Some((value, false))));
            let end = thresholds.iter().map(|&value| Some((value, true))).chain(std::iter::once(None));
            begin.zip(end).collect()
        }
    }
}

/// Subproblems that a query may bound before its labels are queried one by one.
const EASY: u64 = 256;

/// An input on either side of a value.
type Ends = (Vec<f64>, Vec<f64>);

/// A network to verify.
pub struct Network {
    graph: Graph,
    read: Vec<bool>,
}

impl Network {
    /// Prepares a network; it must have the outputs that the labels need.
    pub fn new(graph: Graph, layout: &Layout) -> Result<Network, MineError> {
        let outputs: usize = graph.outputs().iter().map(|port| graph.elements(port.node)).sum();
        let wanted = layout.outputs.network_outputs();
        if outputs != wanted {
            return Err(MineError::new(format!("the network has {outputs} outputs, the labels need {wanted}")));
        }
        Ok(Network { read: elements_read(&graph), graph })
    }

    /// How many inputs it has.
    pub fn inputs(&self) -> usize {
        self.read.len()
    }

    /// The graph.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// The range of each input where a specification applies.
    pub fn region(&self, layout: &Layout, specification: &Specification) -> Result<Vec<(f64, f64)>, MineError> {
        region(layout, specification, &self.read)
    }

    /// The query for a formula over the outputs where a specification applies.
    pub fn query(
        &self,
        layout: &Layout,
        specification: &Specification,
        formula: Formula<Variable>,
    ) -> Result<Query, MineError> {
        let (low, high) = self.region(layout, specification)?.into_iter().unzip();
        Query::new(&self.graph, Region::new(low, high), formula).map_err(|error| MineError::new(error.to_string()))
    }

    /// Decides whether the network obeys a specification. Labels that are shown to be impossible where it applies are
    /// added to `impossible` and not queried again, so a later call with more effort begins where this one ended.
    pub fn verify(
        &self,
        layout: &Layout,
        specification: &Specification,
        impossible: &mut OutputSet,
        budget: &Budget<'_>,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Verdict, MineError> {
        let formula = violation(&layout.outputs, specification.allowed, Edges::Exact);
        if let Some(value) = single_value(&formula)
            && let Some((below, above)) = self.crossing(layout, specification, value, budget)?
        {
            return Ok(Verdict::Crossed(below, above));
        }
        let mut answer = |formula: Formula<Variable>, budget: &Budget<'_>| -> Result<Verdict, MineError> {
            let query = self.query(layout, specification, formula)?;
            let found = solve(&query, budget, progress).map_err(|error| MineError::new(error.to_string()))?;
            Ok(match found {
                Answer::Unsat(_) => Verdict::Holds,
                Answer::Sat(witness) => Verdict::Violated(witness),
                Answer::Unknown(reason, _) => Verdict::Open(reason),
            })
        };
        let forbidden: Vec<usize> = layout.outputs.all().without(specification.allowed).labels().collect();
        if layout.outputs.meaning != Meaning::Choice || forbidden.len() == 1 {
            return answer(formula, budget);
        }
        if impossible.is_empty() {
            // What is easy is easy with all labels at once.
            let few = Budget { subproblems: budget.subproblems.min(EASY), ..*budget };
            match answer(formula, &few)? {
                Verdict::Open(UnknownReason::Subproblems) => {}
                verdict => return Ok(verdict),
            }
        }
        // One after the other: a label wins against all others, not only against those that are allowed, so each query
        // is about less than its share of the whole.
        let mut open = None;
        for label in forbidden {
            if impossible.contains(label) {
                continue;
            }
            let wins = violation(&layout.outputs, layout.outputs.all().without(OutputSet::of(label)), Edges::Exact);
            match answer(wins, budget)? {
                Verdict::Holds => *impossible = impossible.union(OutputSet::of(label)),
                Verdict::Open(reason) if !matches!(reason, UnknownReason::Deadline | UnknownReason::Stopped) => {
                    // More parts may still help with one of them.
                    open = Some(if open == Some(UnknownReason::Subproblems) {
                        UnknownReason::Subproblems
                    } else {
                        reason
                    });
                }
                verdict => return Ok(verdict),
            }
        }
        Ok(open.map_or(Verdict::Holds, Verdict::Open))
    }

    /// Two inputs of the region between which a continuous output takes a value: it lies below at one and above at the
    /// other for certain, and the region has no holes.
    fn crossing(
        &self,
        layout: &Layout,
        specification: &Specification,
        value: f64,
        budget: &Budget<'_>,
    ) -> Result<Option<Ends>, MineError> {
        if !self.is_continuous() {
            return Ok(None);
        }
        let output = Linear::variable(Variable::Output(0));
        let below = output.clone().plus(Interval::ONE, &Linear::constant(Interval::point(-value)));
        let above = Linear::constant(Interval::point(value)).plus(Interval::point(-1.0), &output);
        let mut ends = Vec::new();
        for linear in [below, above] {
            let query = self.query(layout, specification, Formula::Atom(Atom { linear, strict: true }))?;
            let stop = || budget.deadline.is_some_and(|deadline| std::time::Instant::now() >= deadline);
            let found =
                falsify(&query, 512, 100, budget.seed, &stop).map_err(|error| MineError::new(error.to_string()))?;
            let Some(witness) = found.witness else { return Ok(None) };
            ends.push(witness.inputs);
        }
        match (ends.pop(), ends.pop()) {
            (Some(above), Some(below)) if self.certainly_between(&below, &above, value)? => Ok(Some((below, above))),
            _ => Ok(None),
        }
    }

    /// Whether the first output is certainly less than a value at one point, and greater at another.
    fn certainly_between(&self, below: &[f64], above: &[f64], value: f64) -> Result<bool, MineError> {
        Ok(self.enclosed(below)?.hi < value && self.enclosed(above)?.lo > value)
    }

    /// What the network does at an input, if that breaks a specification: the input lies where the specification applies,
    /// and a replay says so.
    pub fn replay(
        &self,
        layout: &Layout,
        specification: &Specification,
        inputs: &[f64],
    ) -> Result<Option<Witness>, MineError> {
        if !self.is_inside(layout, specification, inputs)? {
            return Ok(None);
        }
        let formula = violation(&layout.outputs, specification.allowed, Edges::Exact);
        let point = Region::new(inputs.to_vec(), inputs.to_vec());
        let query = Query::new(&self.graph, point, formula).map_err(|error| MineError::new(error.to_string()))?;
        let found = falsify(&query, 1, 1, 0, &|| false).map_err(|error| MineError::new(error.to_string()))?;
        Ok(found.witness)
    }

    /// Whether two inputs show that the output takes a forbidden value between them, as [`Verdict::Crossed`] says.
    pub fn is_crossed(
        &self,
        layout: &Layout,
        specification: &Specification,
        below: &[f64],
        above: &[f64],
    ) -> Result<bool, MineError> {
        let formula = violation(&layout.outputs, specification.allowed, Edges::Exact);
        let Some(value) = single_value(&formula) else { return Ok(false) };
        Ok(self.is_continuous()
            && self.is_inside(layout, specification, below)?
            && self.is_inside(layout, specification, above)?
            && self.certainly_between(below, above, value)?)
    }

    fn is_continuous(&self) -> bool {
        self.graph.nodes().iter().all(|node| is_continuous(&node.op))
    }

    fn is_inside(&self, layout: &Layout, specification: &Specification, inputs: &[f64]) -> Result<bool, MineError> {
        let region = self.region(layout, specification)?;
        let inside = |(&value, &(low, high)): (&f64, &(f64, f64))| low <= value && value <= high;
        Ok(inputs.len() == region.len() && inputs.iter().zip(&region).all(inside))
    }

    /// The first output at a point, over the reals.
    fn enclosed(&self, inputs: &[f64]) -> Result<Interval, MineError> {
        let points: Vec<Interval> = inputs.iter().map(|&value| Interval::point(value)).collect();
        let mut rest = points.as_slice();
        let mut slices = Vec::new();
        for port in self.graph.inputs() {
            let (own, after) = rest.split_at(self.graph.elements(port.node));
            slices.push(own);
            rest = after;
        }
        let outputs = enclose(&self.graph, &slices).map_err(|error| MineError::new(error.to_string()))?;
        outputs.iter().flatten().next().copied().ok_or_else(|| MineError::new("the network has no output"))
    }
}

/// The only value that a violation consists of, if it is one.
fn single_value(formula: &Formula<Variable>) -> Option<f64> {
    let Formula::Or(runs) = formula else { return None };
    let [Formula::And(ends)] = &runs[..] else { return None };
    let [Formula::Atom(low), Formula::Atom(high)] = &ends[..] else { return None };
    let value = low.linear.constant.lo;
    (!low.strict && !high.strict && high.linear.constant.lo == -value).then_some(value)
}

/// Whether an operator is a continuous function of its arguments wherever they are finite.
fn is_continuous(op: &Op) -> bool {
    matches!(
        op,
        Op::Input(_)
            | Op::Constant(_)
            | Op::Affine(_)
            | Op::Conv(_)
            | Op::Relu(_)
            | Op::LeakyRelu(_)
            | Op::Tanh(_)
            | Op::Sigmoid(_)
            | Op::Softplus(_)
            | Op::Add(_)
            | Op::Sub(_)
            | Op::Mul(_)
            | Op::Neg(_)
            | Op::Abs(_)
            | Op::Min(_)
            | Op::Max(_)
            | Op::Reshape(_)
            | Op::Slice(_)
            | Op::Gather(_)
            | Op::Transpose(_)
            | Op::Concat(_)
    )
}
