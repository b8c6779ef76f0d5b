//! Points that may satisfy the formula, and the replay that decides whether they do.

use certus_graph::eval::{Evaluator, Workspace};
use certus_graph::{Graph, GraphError, Interval, Real};

use crate::answer::Witness;
use crate::formula::Formula;
use crate::query::Query;
use crate::vnnlib::Variable;

/// Evaluates many points and replays those at which the formula seems to hold.
pub(crate) struct Attack<'q> {
    query: &'q Query,
    fast: Evaluator<f64>,
    single: Evaluator<f32>,
    double: Evaluator<f64>,
}

/// Splits flattened, element-major inputs by the graph's inputs.
fn split<'a, T>(graph: &Graph, flat: &'a [T], batch: usize) -> Vec<&'a [T]> {
    let mut rest = flat;
    let mut slices = Vec::with_capacity(graph.inputs().len());
    for port in graph.inputs() {
        let (own, after) = rest.split_at(graph.elements(port.node) * batch);
        slices.push(own);
        rest = after;
    }
    slices
}

/// All outputs one after the other, element-major.
fn outputs<T: Real>(
    evaluator: &Evaluator<T>,
    workspace: &mut Workspace<T>,
    flat: &[T],
    batch: usize,
) -> Result<Vec<T>, GraphError> {
    let slices = split(evaluator.graph(), flat, batch);
    evaluator.run(workspace, &slices, batch)?;
    let ports = 0..evaluator.graph().outputs().len();
    Ok(ports.flat_map(|port| evaluator.output(workspace, &slices, port).iter().copied()).collect())
}

/// Whether the formula certainly holds at a point with these outputs.
fn holds(formula: &Formula<Variable>, input: &dyn Fn(usize) -> f64, output: &dyn Fn(usize) -> f64) -> bool {
    let value = |variable: &Variable| match *variable {
        Variable::Input(index) => Interval::point(input(index)),
        Variable::Output(index) => Interval::point(output(index)),
    };
    formula.certainty(&value) == Some(true)
}

impl<'q> Attack<'q> {
    pub(crate) fn new(query: &'q Query) -> Self {
        Attack {
            query,
            fast: Evaluator::new(&query.graph),
            single: Evaluator::new(&query.original),
            double: Evaluator::new(&query.original),
        }
    }

    /// The first of some points (element-major, `batch` of them) at which the formula holds under replay.
    pub(crate) fn try_points(&self, points: &[f64], batch: usize) -> Result<Option<Witness>, GraphError> {
        let results = outputs(&self.fast, &mut Workspace::default(), points, batch)?;
        for point in 0..batch {
            let input = |index: usize| points[index * batch + point];
            let output = |index: usize| results[index * batch + point];
            if results.iter().skip(point).step_by(batch).all(|value| value.is_finite())
                && holds(&self.query.formula, &input, &output)
            {
                let inputs: Vec<f64> = (0..points.len() / batch).map(input).collect();
                if let Some(witness) = self.replay(&inputs)? {
                    return Ok(Some(witness));
                }
            }
        }
        Ok(None)
    }

    /// The point as a runtime would see it: each coordinate in the region as written, a float32 wherever there is one.
    fn cast(&self, inputs: &[f64]) -> Option<Vec<f64>> {
        let region = &self.query.region;
        inputs
            .iter()
            .enumerate()
            .map(|(index, &value)| {
                let (low, high) = (region.inner_lower[index], region.inner_upper[index]);
                if low > high {
                    // The decimal that was written lies between two doubles: the upper one stands for it.
                    return Some(low);
                }
                let value = value.clamp(low, high);
                let nearest = value as f32;
                let candidates = [nearest, nearest.next_up(), nearest.next_down()].map(f64::from);
                let inside = candidates.into_iter().find(|candidate| low <= *candidate && *candidate <= high);
                Some(inside.unwrap_or(value)).filter(|value| value.is_finite())
            })
            .collect()
    }

    /// Evaluates the graph as it was given, in both precisions, with no tolerance on the formula.
    fn replay(&self, inputs: &[f64]) -> Result<Option<Witness>, GraphError> {
        let Some(inputs) = self.cast(inputs) else { return Ok(None) };
        let narrow: Vec<f32> = inputs.iter().map(|&value| value as f32).collect();
        let single = outputs(&self.single, &mut Workspace::default(), &narrow, 1)?;
        let double = outputs(&self.double, &mut Workspace::default(), &inputs, 1)?;
        let input = |index: usize| inputs[index];
        let finite = single.iter().all(|y| y.is_finite()) && double.iter().all(|y| y.is_finite());
        let agreed = finite
            && holds(&self.query.formula, &input, &|index| f64::from(single[index]))
            && holds(&self.query.formula, &input, &|index| double[index]);
        Ok(agreed.then_some(Witness { inputs, outputs: single }))
    }
}
