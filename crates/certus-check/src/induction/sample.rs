//! Points at which a query's formula holds: found by trying, in plain floats.
//!
//! Nothing is concluded from them. They say what an invariant or a ranking function must at least do, so that few candidates
//! reach the solver.

use certus_graph::eval::{Evaluator, Workspace};
use certus_graph::ops::Op;
use certus_graph::{Graph, GraphError, NodeId};
use certus_lang::system::Integers;
use certus_model::proof::{Face, Invariant};
use certus_numerics::Random;
use certus_solver::Place;
use certus_solver::formula::{Formula, Linear};

use super::invariant::elements;
use crate::query::RunQuery;
use crate::unroll::{Position, Unrolled};

/// Points that are evaluated at once.
const BATCH: usize = 256;

/// Where a number without a bound is tried.
const FAR: f64 = 1e3;

/// Tries points of a query's region.
pub struct Sampler {
    evaluator: Evaluator<f64>,
    workspace: Workspace<f64>,
    /// The number of the output that each node of the unrolled loop is.
    outputs: Vec<Option<usize>>,
    formula: Formula<Place>,
    lower: Vec<f64>,
    upper: Vec<f64>,
    /// The integers that free numbers are.
    integers: Vec<Option<Integers>>,
    /// Which free number each element of the first state is, if it is one.
    state: Vec<Option<usize>>,
    stream: Random,
    /// Points that were evaluated, and what one costs in scalar operations.
    evaluated: usize,
    cost: usize,
}

/// A point with the states of its run.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// What is free.
    pub free: Vec<f64>,
    /// The state at each position, flattened.
    pub states: Vec<Vec<f64>>,
    /// The policies' outputs at each position, flattened.
    pub policies: Vec<Vec<f64>>,
    /// The state after the last position, if the query has one.
    pub successor: Option<Vec<f64>>,
}

impl Sampler {
    /// For a query; the same seed gives the same points.
    pub fn new(query: &RunQuery, seed: u64) -> Sampler {
        let unrolled = query.unrolled();
        let mut graph: Graph = unrolled.graph.clone();
        let mut outputs = vec![None; graph.len()];
        let mut count = graph.outputs().len();
        let mut expose = |node: NodeId| {
            outputs[node.index()].get_or_insert_with(|| {
                graph.output("", node);
                count += 1;
                count - 1
            });
        };
        places(query.formula(), &mut expose);
        let seen =
            |position: &'_ Position| position.states.iter().chain(&position.policies).copied().collect::<Vec<_>>();
        unrolled.positions.iter().flat_map(seen).for_each(&mut expose);
        unrolled.positions.last().iter().flat_map(|position| &position.next).for_each(|&node| expose(node));
        let finite = |value: f64| value.clamp(-FAR, FAR);
        Sampler {
            evaluator: Evaluator::new(&graph),
            workspace: Workspace::default(),
            outputs,
            formula: query.formula().clone(),
            lower: unrolled.region.lower.iter().copied().map(finite).collect(),
            upper: unrolled.region.upper.iter().copied().map(finite).collect(),
            integers: unrolled.integers.clone(),
            state: free_elements(unrolled),
            stream: Random::new(seed, 0),
            evaluated: 0,
            cost: graph.parameters() + graph.len(),
        }
    }

    /// The scalar operations that evaluation has taken since this was last asked.
    pub fn operations(&mut self) -> u64 {
        (std::mem::take(&mut self.evaluated) * self.cost) as u64
    }

    /// Points anywhere in the region, of which about so many are tried.
    pub fn anywhere(&mut self, query: &RunQuery, tries: usize) -> Result<Vec<Sample>, GraphError> {
        let mut found = Vec::new();
        for _ in 0..tries.div_ceil(BATCH) {
            let (lower, upper) = (self.lower.clone(), self.upper.clone());
            let points: Vec<Vec<f64>> = (0..BATCH).map(|_| self.draw_from(&lower, &upper)).collect();
            found.extend(self.those_that_hold(query, &points)?);
        }
        Ok(found)
    }

    /// Points whose first state lies in an invariant, of which about so many are tried. What the invariant says of the state alone decides before
    /// anything is evaluated.
    pub fn within(&mut self, query: &RunQuery, invariant: &Invariant, tries: usize) -> Result<Vec<Sample>, GraphError> {
        let (lower, upper) = self.narrowed(invariant);
        if lower.iter().zip(&upper).any(|(low, high)| low > high) {
            return Ok(Vec::new());
        }
        let dimension = self.state.len();
        let about_state = |face: &&Face| face.coefficients.iter().skip(dimension).all(|own| *own == 0.0);
        let faces: Vec<&Face> = invariant.faces.iter().filter(about_state).collect();
        let known = self.state.iter().all(Option::is_some);
        let mut points = Vec::with_capacity(tries);
        for _ in 0..tries {
            let point = self.draw_from(&lower, &upper);
            let state: Vec<f64> = self.state.iter().flatten().map(|&element| point[element]).collect();
            if !known || faces.iter().all(|face| face.value(&state) <= face.bound) {
                points.push(point);
            }
        }
        let mut found = Vec::new();
        for batch in points.chunks(BATCH) {
            found.extend(self.those_that_hold(query, batch)?);
        }
        found.retain(|sample| match (sample.states.first(), sample.policies.first()) {
            (Some(state), Some(outputs)) => invariant.contains(&[&state[..], outputs].concat()),
            _ => false,
        });
        Ok(found)
    }

    /// The region without what single bounds of an invariant cut off.
    fn narrowed(&self, invariant: &Invariant) -> (Vec<f64>, Vec<f64>) {
        let (mut lower, mut upper) = (self.lower.clone(), self.upper.clone());
        for face in &invariant.faces {
            let mut used = face.coefficients.iter().enumerate().filter(|(_, coefficient)| **coefficient != 0.0);
            let (Some((element, &coefficient)), None) = (used.next(), used.next()) else { continue };
            let Some(free) = self.state.get(element).copied().flatten() else { continue };
            let end = face.bound / coefficient;
            if coefficient > 0.0 {
                upper[free] = upper[free].min(end);
            } else {
                lower[free] = lower[free].max(end);
            }
        }
        (lower, upper)
    }

    /// Points near one at which the formula holds: moved a little or a lot, all coordinates or few.
    pub fn around(&mut self, query: &RunQuery, centre: &[f64], tries: usize) -> Result<Vec<Sample>, GraphError> {
        let mut found = Vec::new();
        for _ in 0..tries.div_ceil(BATCH) {
            let points: Vec<Vec<f64>> = (0..BATCH).map(|_| self.near(centre)).collect();
            found.extend(self.those_that_hold(query, &points)?);
        }
        Ok(found)
    }

    /// The point itself, if the formula holds there.
    pub fn at(&mut self, query: &RunQuery, point: &[f64]) -> Result<Option<Sample>, GraphError> {
        Ok(self.those_that_hold(query, &[point.to_vec()])?.pop())
    }

    fn draw_from(&mut self, lower: &[f64], upper: &[f64]) -> Vec<f64> {
        // Extremes matter: a third of the coordinates of every other point is at an end.
        let corners = self.stream.unit() < 0.5;
        let mut point: Vec<f64> = Vec::with_capacity(lower.len());
        for (&low, &high) in lower.iter().zip(upper) {
            point.push(match corners && self.stream.unit() < 0.6 {
                true if self.stream.unit() < 0.5 => low,
                true => high,
                false => self.stream.between(low, high),
            });
        }
        self.whole(point)
    }

    fn near(&mut self, centre: &[f64]) -> Vec<f64> {
        let size = 0.5f64.powf(8.0 * self.stream.unit());
        let share = self.stream.unit();
        let ends = self.lower.iter().zip(&self.upper).zip(centre);
        let moved = ends.map(|((&low, &high), &at)| match self.stream.unit() < share {
            true => (at + size * (high - low) * (2.0 * self.stream.unit() - 1.0)).clamp(low, high),
            false => at,
        });
        let point = moved.collect();
        self.whole(point)
    }

    /// A point whose integers are integers.
    fn whole(&self, mut point: Vec<f64>) -> Vec<f64> {
        for (value, integers) in point.iter_mut().zip(&self.integers) {
            if let Some(integers) = integers {
                *value = integers.nearest(*value);
            }
        }
        point
    }

    /// Those of some points at which the formula holds, with their states.
    fn those_that_hold(&mut self, query: &RunQuery, points: &[Vec<f64>]) -> Result<Vec<Sample>, GraphError> {
        let batch = points.len();
        let inputs = self.lower.len();
        let flat: Vec<f64> = (0..inputs).flat_map(|input| points.iter().map(move |point| point[input])).collect();
        let slices = [flat.as_slice()];
        self.evaluated += batch;
        self.evaluator.run(&mut self.workspace, &slices, batch)?;
        let value = |place: &Place, point: usize| -> f64 {
            self.outputs[place.node.index()].map_or(f64::NAN, |output| {
                self.evaluator.output(&self.workspace, &slices, output)[place.element * batch + point]
            })
        };
        let graph = &query.unrolled().graph;
        let mut found = Vec::new();
        for (point, free) in points.iter().enumerate() {
            if !self.formula.holds_nearly(&|place| value(place, point)) {
                continue;
            }
            let state = |nodes: &Vec<NodeId>| {
                nodes
                    .iter()
                    .flat_map(|&node| (0..graph.elements(node)).map(move |element| Place { node, element }))
                    .map(|place| value(&place, point))
                    .collect()
            };
            let positions = &query.unrolled().positions;
            let states = positions.iter().map(|position| state(&position.states)).collect();
            let policies = positions.iter().map(|position| state(&position.policies)).collect();
            let last = positions.last().filter(|_| query.has_successor());
            let successor = last.map(|position| state(&position.next));
            found.push(Sample { free: free.clone(), states, policies, successor });
        }
        Ok(found)
    }
}

/// Which free number each element of the first state is.
fn free_elements(unrolled: &Unrolled) -> Vec<Option<usize>> {
    let is_free = |linear: &Linear<Place>| match linear.terms.as_slice() {
        [(place, _)] if *linear == Linear::variable(*place) => {
            matches!(unrolled.graph.node(place.node).op, Op::Input(_)).then_some(place.element)
        }
        _ => None,
    };
    elements(unrolled, 0).iter().map(is_free).collect()
}

fn places(formula: &Formula<Place>, visit: &mut dyn FnMut(NodeId)) {
    match formula {
        Formula::Atom(atom) => atom.linear.terms.iter().for_each(|(place, _)| visit(place.node)),
        Formula::And(parts) | Formula::Or(parts) => parts.iter().for_each(|part| places(part, visit)),
    }
}
