//! A canonical graph prepared for bounds: weights packed in both directions, and what rounding needs to know of them.

use certus_graph::ops::{Affine, Matrix, Movement, Op};
use certus_graph::{Graph, NodeId};
use certus_kernels::PackedMatrix;

use crate::relaxation::is_activation;

/// What a node is to the propagation of bounds.
pub(crate) enum Role {
    /// An input; its elements begin at this place of the flattened region.
    Input(usize),
    Affine(Layer),
    /// An elementwise activation with lines of its own.
    Activation(Op),
    /// Elements of arguments in another order: for each element its argument and the element there.
    Movement(Vec<(usize, usize)>),
    /// Known only by its enclosure; bounds do not look behind it.
    Opaque,
}

/// An affine node.
pub(crate) struct Layer {
    pub(crate) terms: Vec<Term>,
    pub(crate) bias: Vec<f64>,
    /// How far the bias may be from the exact one, per row.
    pub(crate) bias_error: Vec<f64>,
}

/// One matrix of an affine node.
pub(crate) struct Term {
    pub(crate) weights: PackedMatrix<f64>,
    pub(crate) magnitudes: PackedMatrix<f64>,
    pub(crate) transposed: PackedMatrix<f64>,
    /// Σ|w| of each row, with the error of its weights; rounded up.
    pub(crate) row_sums: Vec<f64>,
    /// max|w| of each column, with the errors of its weights; rounded up.
    pub(crate) column_maxima: Vec<f64>,
    /// The largest error of a weight.
    pub(crate) weight_error: f64,
}

/// A graph prepared for bounds.
pub(crate) struct Program {
    pub(crate) graph: Graph,
    pub(crate) roles: Vec<Role>,
}

/// Matrices beyond this size (unrolled convolutions) are not packed; such a node is known by its enclosure.
const LARGEST_MATRIX: usize = 1 << 24;

fn fits(matrix: &Matrix) -> bool {
    matrix.rows().saturating_mul(matrix.columns()) <= LARGEST_MATRIX
}

fn up(value: f64) -> f64 {
    // Sums and maxima of many terms, rounded to nearest, are off by much less than this.
    value * (1.0 + 1e-12)
}

fn term(affine: &Affine, matrix: &Matrix) -> Term {
    let (rows, columns) = (matrix.rows(), matrix.columns());
    let dense = matrix.to_dense();
    let transposed: Vec<f64> =
        (0..columns).flat_map(|j| (0..rows).map(move |i| (i, j))).map(|(i, j)| dense[i * columns + j]).collect();
    let magnitudes: Vec<f64> = dense.iter().map(|w| w.abs()).collect();
    let error = |row: usize| affine.weight_error(row);
    let row_sums = magnitudes
        .chunks_exact(columns.max(1))
        .enumerate()
        .map(|(row, weights)| up(weights.iter().sum::<f64>() + columns as f64 * error(row)));
    let column_maxima = (0..columns)
        .map(|column| up((0..rows).map(|row| magnitudes[row * columns + column] + error(row)).fold(0.0, f64::max)));
    Term {
        row_sums: row_sums.collect(),
        column_maxima: column_maxima.collect(),
        weight_error: (0..rows).map(error).fold(0.0, f64::max),
        weights: PackedMatrix::pack(rows, columns, &dense),
        magnitudes: PackedMatrix::pack(rows, columns, &magnitudes),
        transposed: PackedMatrix::pack(columns, rows, &transposed),
    }
}

/// Where each element of a movement comes from.
fn sources(movement: &impl Movement, graph: &Graph, inputs: &[NodeId], shape: &[usize]) -> Role {
    let shapes: Vec<&[usize]> = inputs.iter().map(|&input| graph.shape(input)).collect();
    let mut sources = Vec::new();
    movement.sources(&shapes, shape, &mut |argument, element| sources.push((argument, element)));
    Role::Movement(sources)
}

impl Program {
    pub(crate) fn new(graph: &Graph) -> Self {
        let mut offset = 0;
        let mut roles = Vec::with_capacity(graph.len());
        for node in graph.nodes() {
            let elements: usize = node.shape.iter().product();
            let role = match &node.op {
                Op::Input(_) => {
                    offset += elements;
                    Role::Input(offset - elements)
                }
                Op::Affine(affine) if affine.matrices().iter().all(fits) => Role::Affine(Layer {
                    terms: affine.matrices().iter().map(|matrix| term(affine, matrix)).collect(),
                    bias: affine.bias().to_vec(),
                    bias_error: (0..affine.bias().len()).map(|row| affine.bias_error(row)).collect(),
                }),
                Op::Reshape(m) => sources(m, graph, &node.inputs, &node.shape),
                Op::Slice(m) => sources(m, graph, &node.inputs, &node.shape),
                Op::Gather(m) => sources(m, graph, &node.inputs, &node.shape),
                Op::Transpose(m) => sources(m, graph, &node.inputs, &node.shape),
                Op::Concat(m) => sources(m, graph, &node.inputs, &node.shape),
                op if is_activation(op) => Role::Activation(op.clone()),
                _ => Role::Opaque,
            };
            roles.push(role);
        }
        Program { graph: graph.clone(), roles }
    }

    pub(crate) fn elements(&self, node: usize) -> usize {
        self.graph.nodes()[node].shape.iter().product()
    }

    pub(crate) fn arguments(&self, node: usize) -> &[NodeId] {
        &self.graph.nodes()[node].inputs
    }
}
