//! Interval bound propagation: bounds of every node, for a batch of boxes at once.
//!
//! Interval arithmetic (Moore, *Interval Analysis*, 1966) in centre and radius form, as in interval bound propagation of
//! networks (Gowal et al., *On the Effectiveness of Interval Bound Propagation for Training Verifiably Robust Models*, 2018):
//! an affine node is two matrix products, one for the centres and one for the radii. Curves and products are enclosed
//! element by element, opaque nodes box by box with their operator.
//!
//! *Soundness.* Products are rounded to nearest; a row with n terms is off by at most γₙ Σ|w||x| ≤ γₙ (Σ|w|) max|x|, and that
//! much is added to its radius.

use certus_graph::Interval;
use certus_graph::ops::{Arg, Operator};

use super::program::{Layer, Program, Role};
use super::table::Bounds;
use super::{ROOM, gamma};

/// Encloses one node after its arguments.
pub(crate) fn enclose_node(program: &Program, bounds: &mut Bounds, node: usize, scratch: &mut Vec<f64>) {
    let (boxes, elements) = (bounds.boxes, program.sizes[node]);
    let (lower, upper) = match &program.roles[node] {
        // Filled in by the caller.
        Role::Input(_) => return,
        Role::Affine(layer) => affine(layer, bounds, elements, scratch),
        Role::Curve(curve, argument) => {
            let ends = bounds.lower[*argument].iter().zip(&bounds.upper[*argument]);
            ends.map(|(&lo, &hi)| curve.enclose(Interval::new(lo, hi))).map(|y| (y.lo, y.hi)).unzip()
        }
        Role::Movement(sources) => {
            let row = |table: &[Vec<f64>]| -> Vec<f64> {
                let rows = sources
                    .iter()
                    .flat_map(|&(argument, element)| &table[argument][element * boxes..(element + 1) * boxes]);
                rows.copied().collect()
            };
            (row(&bounds.lower), row(&bounds.upper))
        }
        Role::Product(left, right) => {
            let ends = |node: usize| bounds.lower[node].iter().zip(&bounds.upper[node]);
            let ranges = |node: usize| ends(node).map(|(&lo, &hi)| Interval::new(lo, hi));
            let pairs = ranges(*left).zip(ranges(*right));
            pairs.map(|(x, y)| x * y).map(|z| (z.lo, z.hi)).unzip()
        }
        Role::Opaque => opaque(program, bounds, node),
    };
    bounds.lower[node] = lower;
    bounds.upper[node] = upper;
}

fn affine(layer: &Layer, bounds: &Bounds, elements: usize, scratch: &mut Vec<f64>) -> (Vec<f64>, Vec<f64>) {
    let boxes = bounds.boxes;
    let mut centre = vec![0.0; elements * boxes];
    let mut radius = vec![0.0; elements * boxes];
    let mut slack = vec![0.0; elements * boxes];
    // Whether all that is added to the bias is zero, so that nothing was rounded.
    let mut exact = vec![true; elements * boxes];
    for (row, &bias) in layer.bias.iter().enumerate() {
        centre[row * boxes..(row + 1) * boxes].fill(bias);
    }
    for term in &layer.terms {
        let argument = term.argument;
        let pairs = || bounds.lower[argument].iter().zip(&bounds.upper[argument]);
        let middles: Vec<f64> = pairs().map(|(lo, hi)| lo / 2.0 + hi / 2.0).collect();
        // The radius covers both ends from the rounded middle.
        let radii: Vec<f64> = pairs().zip(&middles).map(|((lo, hi), m)| (hi - m).max(m - lo).next_up()).collect();
        term.weights.mul_acc(&middles, &mut centre, boxes, scratch);
        term.magnitudes.mul_acc(&radii, &mut radius, boxes, scratch);
        let largest = bounds.magnitudes(argument);
        let factor = gamma(term.weights.cols());
        for (row, sum) in term.row_sums.iter().enumerate() {
            let error = term.weight_error * term.weights.cols() as f64;
            let cells = row * boxes..(row + 1) * boxes;
            for ((s, exact), m) in slack[cells.clone()].iter_mut().zip(&mut exact[cells]).zip(&largest) {
                *s += (3.0 * factor * sum + error) * m;
                *exact &= *m == 0.0 || *sum == 0.0;
            }
        }
    }
    let total = gamma(layer.terms.len() + 2);
    let mut lower = Vec::with_capacity(centre.len());
    let mut upper = Vec::with_capacity(centre.len());
    for at in 0..centre.len() {
        let row = at / boxes.max(1);
        if exact[at] && layer.bias_error[row] == 0.0 {
            lower.push(layer.bias[row]);
            upper.push(layer.bias[row]);
            continue;
        }
        let size = centre[at].abs() + radius[at] + layer.bias[row].abs();
        let error = (slack[at] + total * size + layer.bias_error[row]) * ROOM + f64::MIN_POSITIVE;
        // `Interval::new` turns what is no number into everything.
        let range =
            Interval::new((centre[at] - radius[at] - error).next_down(), (centre[at] + radius[at] + error).next_up());
        lower.push(range.lo);
        upper.push(range.hi);
    }
    (lower, upper)
}

fn opaque(program: &Program, bounds: &Bounds, node: usize) -> (Vec<f64>, Vec<f64>) {
    let (boxes, elements) = (bounds.boxes, program.sizes[node]);
    let arguments = &program.graph.nodes()[node].inputs;
    let shape = &program.graph.nodes()[node].shape;
    let mut lower = vec![0.0; elements * boxes];
    let mut upper = vec![0.0; elements * boxes];
    let mut result = vec![Interval::ENTIRE; elements];
    for index in 0..boxes {
        let values: Vec<Vec<Interval>> = arguments
            .iter()
            .map(|id| (0..program.sizes[id.index()]).map(|i| bounds.interval(id.index(), i, index)).collect())
            .collect();
        let args: Vec<Arg<'_, Interval>> =
            arguments.iter().zip(&values).map(|(&id, values)| Arg { shape: program.graph.shape(id), values }).collect();
        program.graph.nodes()[node].op.enclose(&args, shape, &mut result);
        for (element, range) in result.iter().enumerate() {
            lower[element * boxes + index] = range.lo;
            upper[element * boxes + index] = range.hi;
        }
    }
    (lower, upper)
}
