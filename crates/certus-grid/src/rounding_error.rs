//! A priori rounding error bounds: how far an evaluation in doubles can be from the real value, anywhere in a box of inputs.
//!
//! Forward error analysis after Higham, "Accuracy and Stability of Numerical Algorithms", SIAM, 2nd edition 2002, chapter 3. An extracted policy consists of numbers that were computed in doubles, so
//! bounds of the network over the reals contain its actions only with this much room. The error is propagated from node to node: sums, in any order, are off by γₙ times the sum of magnitudes; functions by a few
//! units in the last place of a value that is at most one; clipping and moving elements add nothing.

use certus_graph::eval::enclose_nodes;
use certus_graph::ops::{Movement, Op};
use certus_graph::{Graph, GraphError, Interval};

/// Bounds of the rounding error.
#[derive(Clone, Debug, PartialEq)]
pub struct RoundingError {
    /// For each number of the outputs.
    pub outputs: Vec<f64>,
    /// For differences of scores, of which a label is the largest.
    pub scores: f64,
}

/// What `sin`, `cos`, `tanh` and the logistic function may be off by: far more than the three units in the last place that they are.
const FUNCTIONS: f64 = 16.0 * f64::EPSILON;

/// γₙ, rounded up generously.
fn gamma(terms: usize) -> f64 {
    (terms as f64 + 8.0) * f64::EPSILON
}

impl RoundingError {
    /// The errors of a graph over a box; nothing if it has an operator for which they are not known.
    pub fn of(graph: &Graph, inputs: &[&[Interval]]) -> Result<Option<RoundingError>, GraphError> {
        let ranges = enclose_nodes(graph, inputs)?;
        let sizes = |node: usize| ranges[node].iter().map(|range| range.magnitude());
        let mut errors: Vec<Vec<f64>> = Vec::with_capacity(graph.len());
        let mut scores = 0.0f64;
        for (node, ranges) in graph.nodes().iter().zip(&ranges) {
            let argument = |place: usize| node.inputs[place].index();
            let own: Vec<f64> = match &node.op {
                Op::Input(_) | Op::Constant(_) => vec![0.0; ranges.len()],
                Op::Affine(affine) => {
                    // Terms may be added to the bias one by one.
                    let terms: usize = affine.matrices().iter().map(|matrix| matrix.columns()).sum();
                    let factor = gamma(terms + affine.matrices().len());
                    let mut own: Vec<f64> = affine.bias().iter().map(|bias| bias.abs() * factor).collect();
                    for (place, matrix) in affine.matrices().iter().enumerate() {
                        let (dense, columns) = (matrix.to_dense(), matrix.columns());
                        let sizes: Vec<f64> = sizes(argument(place)).collect();
                        let sums = dense.chunks_exact(columns.max(1)).map(|row| {
                            let terms = row.iter().zip(sizes.iter().zip(&errors[argument(place)]));
                            terms.map(|(weight, (size, error))| weight.abs() * (error + factor * (size + error))).sum()
                        });
                        own.iter_mut().zip(sums).for_each(|(own, sum): (&mut f64, f64)| *own += sum);
                    }
                    own
                }
                Op::Relu(_) | Op::Clip(_) => errors[argument(0)].clone(),
                Op::Tanh(_) | Op::Sigmoid(_) | Op::Sin(_) | Op::Cos(_) => {
                    errors[argument(0)].iter().map(|error| error + FUNCTIONS).collect()
                }
                Op::ArgMax(_) => {
                    let largest = errors[argument(0)].iter().copied().fold(0.0, f64::max);
                    scores = scores.max(2.0 * largest);
                    vec![0.0; ranges.len()]
                }
                Op::Reshape(own) => moved(own, graph, node, &errors),
                Op::Slice(own) => moved(own, graph, node, &errors),
                Op::Gather(own) => moved(own, graph, node, &errors),
                Op::Transpose(own) => moved(own, graph, node, &errors),
                Op::Concat(own) => moved(own, graph, node, &errors),
                _ => return Ok(None),
            };
            // Sums of errors are rounded, too.
            errors.push(own.into_iter().map(|error| error * (1.0 + 1e-9)).collect());
        }
        let outputs: Vec<f64> =
            graph.outputs().iter().flat_map(|port| errors[port.node.index()].iter().copied()).collect();
        let known = scores.is_finite() && outputs.iter().all(|error| error.is_finite());
        Ok(known.then_some(RoundingError { outputs, scores }))
    }
}

fn moved(movement: &impl Movement, graph: &Graph, node: &certus_graph::Node, errors: &[Vec<f64>]) -> Vec<f64> {
    let shapes: Vec<&[usize]> = node.inputs.iter().map(|&input| graph.shape(input)).collect();
    let mut own = Vec::new();
    movement.sources(&shapes, &node.shape, &mut |argument, element| {
        own.push(errors[node.inputs[argument].index()][element]);
    });
    own
}

#[cfg(test)]
mod tests {
    use certus_graph::ops::{Affine, Relu, Tanh};

    use super::*;

    #[test]
    fn an_evaluation_is_within_its_error_of_the_enclosure_of_a_point() {
        let mut graph = Graph::new();
        let x = graph.input("x", &[3]);
        let weights: Vec<f64> = (0..12).map(|place| f64::from(place * place % 7) / 3.0 - 1.0).collect();
        let first = graph.apply(Affine::dense(weights, 4, 3, vec![0.1, -0.2, 0.3, 1e6]).unwrap(), &[x]).unwrap();
        let bent = graph.apply(Relu, &[first]).unwrap();
        let second = Affine::dense(vec![0.7, -1.3, 0.9, -1e-6], 1, 4, vec![0.01]).unwrap();
        let sum = graph.apply(second, &[bent]).unwrap();
        let last = graph.apply(Tanh, &[sum]).unwrap();
        graph.output("y", last);
        let box_of = |x: f64| vec![Interval::new(-x, x); 3];
        let rounding = RoundingError::of(&graph, &[&box_of(1.0)]).unwrap().unwrap();
        assert!(rounding.outputs[0] > 1e-16 && rounding.outputs[0] < 1e-12, "{rounding:?}");
        for place in 0..50 {
            let point = [0.3, -0.7, 0.9].map(|x: f64| (x * f64::from(place)).sin());
            let value = certus_graph::eval::evaluate(&graph, &[&point]).unwrap()[0][0];
            let exact = certus_graph::eval::enclose(&graph, &[&point.map(Interval::point)]).unwrap()[0][0];
            assert!(exact.widen(rounding.outputs[0]).contains(value));
        }
    }

    #[test]
    fn operators_that_are_not_known_are_refused() {
        let mut graph = Graph::new();
        let x = graph.input("x", &[1]);
        let root = graph.apply(certus_graph::ops::Sqrt, &[x]).unwrap();
        graph.output("y", root);
        assert_eq!(RoundingError::of(&graph, &[&[Interval::new(0.0, 1.0)]]).unwrap(), None);
    }
}
