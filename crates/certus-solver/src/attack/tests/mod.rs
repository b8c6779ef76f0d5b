mod gradients;
mod pgd;

use certus_graph::ops::Affine;
use certus_graph::{Graph, Interval, NodeId};

use crate::formula::{Atom, Formula, Linear};
use crate::vnnlib::Variable;
use certus_numerics::Random;

/// Uniform in [-1, 1).
fn signed(numbers: &mut Random) -> f64 {
    2.0 * numbers.unit() - 1.0
}

/// A dense layer with random weights.
fn layer(graph: &mut Graph, x: NodeId, rows: usize, numbers: &mut Random) -> NodeId {
    let columns = graph.elements(x);
    let weights = (0..rows * columns).map(|_| signed(numbers)).collect();
    let bias = (0..rows).map(|_| signed(numbers)).collect();
    graph.apply(Affine::dense(weights, rows, columns, bias).unwrap(), &[x]).unwrap()
}

/// Σ coefficient · variable + constant ≤ 0.
fn atom(terms: &[(Variable, f64)], constant: f64) -> Formula<Variable> {
    let terms = terms.iter().map(|&(variable, coefficient)| (variable, Interval::point(coefficient))).collect();
    Formula::Atom(Atom { linear: Linear { terms, constant: Interval::point(constant) }, strict: false })
}

/// |variable − centre| ≤ radius.
fn around(variable: Variable, centre: f64, radius: f64) -> Formula<Variable> {
    Formula::And(vec![atom(&[(variable, 1.0)], -centre - radius), atom(&[(variable, -1.0)], centre - radius)])
}
