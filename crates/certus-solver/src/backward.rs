//! Linear lower bounds by substitution backwards (CROWN, DeepPoly), for a batch of objectives.
//!
//! An objective is a linear function Λ·v of nodes' values, one per column; each column belongs to a box. From the last node to the
//! first, a node's coefficients are replaced by coefficients of its arguments: exactly for affine nodes and movements,
//! by the lower or upper line of an activation according to the coefficient's sign, and by the enclosure of an opaque
//! node. What remains is linear in the inputs, and its minimum over the box is a lower bound of the objective.
//!
//! *Rounding.* Coefficients are computed to nearest, so the function that arrives differs from the one that was meant. For an affine
//! node with m rows each new coefficient is off by at most γₘ Σᵢ|Λᵢ||Wᵢⱼ| ≤ γₘ ‖Λ‖₁ maxᵢ|Wᵢⱼ|; multiplied by |xⱼ| and summed this
//! is what rounding can have changed, and it is taken off the bound. Activations and constants are treated likewise. The
//! price is some 1e-13 of the objective's size, and no bound needs to be confirmed by another computation.

use crate::forward::{Bounds, gamma};
use crate::program::{Layer, Program, Role};
use crate::relaxation::lines;

/// Coefficients of a batch of objectives at some node, element-major over the columns.
pub(crate) struct Objectives {
    /// For each column, the box that it is about. Columns of one box stand together.
    pub(crate) boxes: Vec<usize>,
    /// For each node, its coefficients, or nothing while all are zero.
    pub(crate) coefficients: Vec<Option<Vec<f64>>>,
    /// Constants so far, one per column.
    pub(crate) constants: Vec<f64>,
}

/// What a substitution gives: a lower bound per column, and its coefficients at the inputs.
pub(crate) struct LowerBounds {
    pub(crate) bounds: Vec<f64>,
    /// The coefficients at the flattened inputs, element-major over the columns.
    pub(crate) inputs: Vec<f64>,
}

impl Objectives {
    pub(crate) fn new(nodes: usize, boxes: Vec<usize>) -> Self {
        let constants = vec![0.0; boxes.len()];
        Objectives { boxes, coefficients: vec![None; nodes], constants }
    }

    fn columns(&self) -> usize {
        self.boxes.len()
    }

    /// The coefficients of a node, as zeros if there are none yet.
    pub(crate) fn at(&mut self, node: usize, elements: usize) -> &mut [f64] {
        let columns = self.columns();
        self.coefficients[node].get_or_insert_with(|| vec![0.0; elements * columns])
    }
}

/// ‖Λ‖₁ of each column.
fn norms(coefficients: &[f64], columns: usize) -> Vec<f64> {
    let mut norms = vec![0.0; columns];
    for row in coefficients.chunks_exact(columns.max(1)) {
        row.iter().zip(&mut norms).for_each(|(value, norm)| *norm += value.abs());
    }
    norms
}

/// Takes account of coefficients that were added to others: each sum was rounded once more.
fn note_sums(objectives: &Objectives, bounds: &Bounds, node: usize, errors: &mut [f64]) {
    let columns = objectives.columns();
    let Some(coefficients) = &objectives.coefficients[node] else { return };
    for (element, row) in coefficients.chunks_exact(columns.max(1)).enumerate() {
        for (column, value) in row.iter().enumerate() {
            let magnitude = bounds.interval(node, element, objectives.boxes[column]).magnitude();
            errors[column] += 2.0 * f64::EPSILON * value.abs() * magnitude;
        }
    }
}

/// Lower bounds of the objectives, given bounds of every node that they look through.
pub(crate) fn minimise(
    program: &Program,
    bounds: &Bounds,
    mut objectives: Objectives,
    from: usize,
    inputs: usize,
    scratch: &mut Vec<f64>,
) -> LowerBounds {
    let columns = objectives.columns();
    let mut errors = vec![0.0; columns];
    let mut at_inputs = vec![0.0; inputs * columns];
    for node in (0..=from).rev() {
        let Some(coefficients) = objectives.coefficients[node].take() else { continue };
        let arguments = program.arguments(node);
        match &program.roles[node] {
            Role::Input(offset) => {
                at_inputs[offset * columns..][..coefficients.len()].copy_from_slice(&coefficients);
            }
            Role::Affine(layer) => {
                let arguments: Vec<usize> = arguments.iter().map(|id| id.index()).collect();
                affine(program, layer, &arguments, bounds, &coefficients, &mut objectives, &mut errors, scratch);
            }
            Role::Movement(sources) => {
                for (row, &(argument, element)) in coefficients.chunks_exact(columns.max(1)).zip(sources) {
                    let argument = arguments[argument].index();
                    let target = objectives.at(argument, program.elements(argument));
                    let target = &mut target[element * columns..(element + 1) * columns];
                    target.iter_mut().zip(row).for_each(|(sum, value)| *sum += value);
                }
                // An element that is read more than once gets a sum: every partial sum is below the norm.
                let norms = norms(&coefficients, columns);
                for argument in arguments {
                    let largest = bounds.magnitudes(argument.index());
                    for column in 0..columns {
                        errors[column] += gamma(sources.len()) * norms[column] * largest[objectives.boxes[column]];
                    }
                    note_sums(&objectives, bounds, argument.index(), &mut errors);
                }
            }
            Role::Activation(op) => {
                let argument = arguments[0].index();
                activation(program, op, argument, bounds, &coefficients, &mut objectives, &mut errors);
            }
            Role::Opaque => {
                // The minimum over the enclosure.
                let mut sizes = vec![0.0; columns];
                for (element, row) in coefficients.chunks_exact(columns.max(1)).enumerate() {
                    for (column, &value) in row.iter().enumerate().filter(|&(_, &value)| value != 0.0) {
                        let range = bounds.interval(node, element, objectives.boxes[column]);
                        let term = value * if value > 0.0 { range.lo } else { range.hi };
                        objectives.constants[column] += term;
                        sizes[column] += term.abs();
                    }
                }
                let factor = gamma(program.elements(node));
                (0..columns)
                    .for_each(|column| errors[column] += factor * (sizes[column] + objectives.constants[column].abs()));
            }
        }
    }
    finish(program, bounds, &objectives, at_inputs, errors)
}

#[allow(clippy::too_many_arguments)]
fn affine(
    program: &Program,
    layer: &Layer,
    arguments: &[usize],
    bounds: &Bounds,
    coefficients: &[f64],
    objectives: &mut Objectives,
    errors: &mut [f64],
    scratch: &mut Vec<f64>,
) {
    let columns = objectives.columns();
    let norms = norms(coefficients, columns);
    let rows = layer.bias.len();
    let factor = gamma(rows);
    for (term, &argument) in layer.terms.iter().zip(arguments) {
        let shared = objectives.coefficients[argument].is_some();
        let target = objectives.at(argument, program.elements(argument));
        term.transposed.mul_acc(coefficients, target, columns, scratch);
        if shared {
            note_sums(objectives, bounds, argument, errors);
        }
        // Σⱼ maxᵢ|Wᵢⱼ|·|xⱼ|, and Σⱼ|xⱼ| for weights that are not exact.
        let mut reach = vec![0.0; bounds.boxes];
        let mut spread = vec![0.0; bounds.boxes];
        for (element, maximum) in term.column_maxima.iter().enumerate() {
            for index in 0..bounds.boxes {
                let magnitude = bounds.interval(argument, element, index).magnitude();
                reach[index] += maximum * magnitude;
                spread[index] += magnitude;
            }
        }
        for column in 0..columns {
            let index = objectives.boxes[column];
            let rounding = factor * reach[index] + term.weight_error * spread[index];
            errors[column] += norms[column] * rounding * (1.0 + 1e-10);
        }
    }
    let mut sizes = vec![0.0; columns];
    for ((row, &bias), &error) in coefficients.chunks_exact(columns.max(1)).zip(&layer.bias).zip(&layer.bias_error) {
        for (column, &value) in row.iter().enumerate() {
            objectives.constants[column] += value * bias;
            sizes[column] += (value * bias).abs();
            errors[column] += value.abs() * error * (1.0 + 1e-10);
        }
    }
    for column in 0..columns {
        errors[column] += factor * (sizes[column] + objectives.constants[column].abs());
    }
}

fn activation(
    program: &Program,
    op: &certus_graph::Op,
    argument: usize,
    bounds: &Bounds,
    coefficients: &[f64],
    objectives: &mut Objectives,
    errors: &mut [f64],
) {
    let columns = objectives.columns();
    let elements = program.elements(argument);
    objectives.at(argument, elements);
    let segments = segments(&objectives.boxes);
    let Objectives { coefficients: tables, constants, .. } = objectives;
    let Some(target) = tables[argument].as_mut() else { return };
    let factor = gamma(elements);
    for (element, row) in coefficients.chunks_exact(columns.max(1)).enumerate() {
        let target = &mut target[element * columns..(element + 1) * columns];
        for &(index, start, end) in &segments {
            let row = &row[start..end];
            if row.iter().all(|&value| value == 0.0) {
                continue;
            }
            let range = bounds.interval(argument, element, index);
            let lines = lines(op, range);
            let magnitude = range.magnitude();
            let below = lines.lower_slope.abs() * magnitude + lines.lower_offset.abs();
            let above = lines.upper_slope.abs() * magnitude + lines.upper_offset.abs();
            // One bound serves the products and the sum of constants; another the sum with what was there.
            let size = factor * below.max(above);
            let before = f64::EPSILON * magnitude;
            let cells = target[start..end].iter_mut().zip(&mut constants[start..end]).zip(&mut errors[start..end]);
            for (((sum, constant), error), &value) in cells.zip(row) {
                let (positive, negative) = (value.max(0.0), value.min(0.0));
                *sum += positive * lines.lower_slope + negative * lines.upper_slope;
                *constant += positive * lines.lower_offset + negative * lines.upper_offset;
                *error += value.abs() * size + sum.abs() * before;
            }
        }
    }
    for column in 0..columns {
        errors[column] += factor * constants[column].abs();
    }
}

/// The runs of columns that belong to one box: (box, start, end).
fn segments(boxes: &[usize]) -> Vec<(usize, usize, usize)> {
    let mut segments: Vec<(usize, usize, usize)> = Vec::new();
    for (column, &index) in boxes.iter().enumerate() {
        match segments.last_mut() {
            Some((last, _, end)) if *last == index => *end = column + 1,
            _ => segments.push((index, column, column + 1)),
        }
    }
    segments
}

/// The minimum over the input boxes, less everything that rounding may have changed.
fn finish(
    program: &Program,
    bounds: &Bounds,
    objectives: &Objectives,
    at_inputs: Vec<f64>,
    errors: Vec<f64>,
) -> LowerBounds {
    let columns = objectives.columns();
    let mut sums = objectives.constants.clone();
    let mut sizes: Vec<f64> = sums.iter().map(|value| value.abs()).collect();
    let mut terms = 1;
    for (node, role) in program.roles.iter().enumerate() {
        let Role::Input(offset) = role else { continue };
        for element in 0..program.elements(node) {
            terms += 1;
            for column in 0..columns {
                let value = at_inputs[(offset + element) * columns + column];
                if value != 0.0 {
                    let range = bounds.interval(node, element, objectives.boxes[column]);
                    sums[column] += value * if value > 0.0 { range.lo } else { range.hi };
                    sizes[column] += value.abs() * range.magnitude();
                }
            }
        }
    }
    let factor = gamma(terms);
    let lower = sums.iter().zip(&sizes).zip(&errors).map(|((sum, size), error)| {
        let bound = (sum - (factor * size + error) * (1.0 + 1e-10) - f64::MIN_POSITIVE).next_down();
        if bound.is_nan() { f64::NEG_INFINITY } else { bound }
    });
    LowerBounds { bounds: lower.collect(), inputs: at_inputs }
}
