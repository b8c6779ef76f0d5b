//! A lowered graph prepared for bounds: weights packed in both directions, and what rounding needs to know of them.

use super::backward::COST_OF_ELEMENT;
use certus_graph::ops::{Affine, Matrix, Movement, Op};
use certus_graph::{Graph, NodeId};
use certus_kernels::PackedMatrix;

use crate::relaxation::Curve;

/// What a node is to the propagation of bounds.
pub enum Role {
    /// An input; its elements begin at this place of the flattened region.
    Input(usize),
    /// An affine map.
    Affine(Layer),
    /// An elementwise function of one argument, with a line below and one above.
    Curve(Curve, usize),
    /// The elementwise product of two arguments, with planes below and above.
    Product(usize, usize),
    /// Elements of arguments in another order: for each element its argument and the element there.
    Movement(Vec<(usize, usize)>),
    /// Known by its operator's enclosure alone; bounds do not look behind it.
    Opaque,
}

impl Role {
    fn is_smooth(&self) -> bool {
        match self {
            Role::Curve(curve, _) => !curve.is_piecewise_linear(),
            Role::Product(..) | Role::Opaque => true,
            Role::Input(_) | Role::Affine(_) | Role::Movement(_) => false,
        }
    }
}

/// An affine node.
pub struct Layer {
    /// A matrix per argument.
    pub terms: Vec<Term>,
    /// What is added, per row.
    pub bias: Vec<f64>,
    /// How far the bias may be from the exact one, per row.
    pub bias_error: Vec<f64>,
    pub(crate) largest_bias: f64,
    /// How many weights the terms have together, zeros included.
    pub(crate) weights: usize,
    pub(crate) largest_bias_error: f64,
}

/// One matrix of an affine node.
pub struct Term {
    /// The node that it is applied to.
    pub argument: usize,
    /// The weights.
    pub weights: PackedMatrix<f64>,
    /// Their magnitudes.
    pub magnitudes: PackedMatrix<f64>,
    pub(crate) transposed: PackedMatrix<f64>,
    /// As many zeros as the transposed matrix has rows.
    pub(crate) zeros: Vec<f64>,
    /// Σ|w| of each row, with the error of its weights; rounded up.
    pub(crate) row_sums: Vec<f64>,
    /// max|w| of each column, with the errors of its weights; rounded up.
    pub(crate) column_maxima: Vec<f64>,
    /// The largest error of a weight.
    pub weight_error: f64,
}

/// A graph prepared for bounds.
pub struct Program {
    /// The lowered graph.
    pub graph: Graph,
    /// What each of its nodes is.
    pub roles: Vec<Role>,
    /// For each node, how many elements it has.
    pub sizes: Vec<usize>,
    /// For each node, the curves and products that read it.
    pub(crate) readers: Vec<Vec<usize>>,
    /// Whether backward bounds can improve a node's enclosure, and something reads it that would gain.
    pub(crate) refinable: Vec<bool>,
    /// How many elements the inputs have together.
    pub inputs: usize,
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

fn term(affine: &Affine, matrix: &Matrix, argument: usize) -> Term {
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
        argument,
        zeros: vec![0.0; columns],
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
    movement.sources(&shapes, shape, &mut |argument, element| sources.push((inputs[argument].index(), element)));
    Role::Movement(sources)
}

/// What visiting a node costs, and a relaxation of an element that is not piecewise linear, in multiplications of a matrix product.
const COST_OF_NODE: usize = 1 << 16;
const COST_OF_RELAXATION: usize = 1 << 12;

impl Program {
    /// What one pass over all nodes takes, in multiplications, for each column.
    pub(crate) fn sweep(&self) -> usize {
        self.graph.parameters() + COST_OF_ELEMENT * self.sizes.iter().sum::<usize>()
    }

    /// What bounds take beside passes: each node has its overhead for a whole batch, and relaxations of what is not piecewise linear are
    /// dear.
    pub(crate) fn overhead(&self, boxes: usize) -> usize {
        let smooth = self.roles.iter().zip(&self.sizes).filter(|(role, _)| role.is_smooth()).map(|(_, size)| size);
        COST_OF_NODE * self.roles.len() + COST_OF_RELAXATION * boxes * smooth.sum::<usize>()
    }

    /// Prepares a lowered graph.
    pub fn new(graph: Graph) -> Self {
        let sizes: Vec<usize> = graph.nodes().iter().map(|node| node.shape.iter().product()).collect();
        let mut offset = 0;
        let mut roles = Vec::with_capacity(graph.len());
        for (id, node) in graph.ids().zip(graph.nodes()) {
            let role = match &node.op {
                Op::Input(_) => {
                    offset += sizes[id.index()];
                    Role::Input(offset - sizes[id.index()])
                }
                Op::Affine(affine) if affine.matrices().iter().all(fits) => Role::Affine(Layer {
                    terms: affine
                        .matrices()
                        .iter()
                        .zip(&node.inputs)
                        .map(|(matrix, argument)| term(affine, matrix, argument.index()))
                        .collect(),
                    weights: affine.matrices().iter().map(|matrix| matrix.rows() * matrix.columns()).sum(),
                    largest_bias: affine.bias().iter().fold(0.0, |largest, bias| bias.abs().max(largest)),
                    largest_bias_error: (0..affine.bias().len()).map(|row| affine.bias_error(row)).fold(0.0, f64::max),
                    bias: affine.bias().to_vec(),
                    bias_error: (0..affine.bias().len()).map(|row| affine.bias_error(row)).collect(),
                }),
                Op::Reshape(m) => sources(m, &graph, &node.inputs, &node.shape),
                Op::Slice(m) => sources(m, &graph, &node.inputs, &node.shape),
                Op::Gather(m) => sources(m, &graph, &node.inputs, &node.shape),
                Op::Transpose(m) => sources(m, &graph, &node.inputs, &node.shape),
                Op::Concat(m) => sources(m, &graph, &node.inputs, &node.shape),
                Op::Mul(_) if node.inputs.iter().all(|id| sizes[id.index()] == sizes_of(&node.shape)) => {
                    Role::Product(node.inputs[0].index(), node.inputs[1].index())
                }
                _ => match Curve::of(&graph, id) {
                    Some((curve, argument)) => Role::Curve(curve, argument.index()),
                    None => Role::Opaque,
                },
            };
            roles.push(role);
        }
        let mut program = Program {
            roles,
            readers: vec![Vec::new(); sizes.len()],
            refinable: Vec::new(),
            inputs: offset,
            sizes,
            graph,
        };
        program.find_readers();
        program
    }

    fn find_readers(&mut self) {
        for (node, role) in self.roles.iter().enumerate() {
            match role {
                Role::Curve(_, argument) => self.readers[*argument].push(node),
                Role::Product(left, right) => {
                    self.readers[*left].push(node);
                    if left != right {
                        self.readers[*right].push(node);
                    }
                }
                _ => {}
            }
        }
        // Behind what is linear in the inputs there is nothing to gain: its intervals are exact.
        let mut linear: Vec<bool> = Vec::with_capacity(self.roles.len());
        for (node, role) in self.roles.iter().enumerate() {
            let arguments = &self.graph.nodes()[node].inputs;
            let behind = arguments.iter().all(|id| linear[id.index()]);
            linear.push(match role {
                Role::Input(_) => true,
                Role::Affine(_) | Role::Movement(_) => behind,
                _ => false,
            });
        }
        self.refinable = (0..self.roles.len())
            .map(|node| {
                let layer = matches!(self.roles[node], Role::Affine(_) | Role::Movement(_));
                layer && !linear[node] && !self.readers[node].is_empty()
            })
            .collect();
    }
}

fn sizes_of(shape: &[usize]) -> usize {
    shape.iter().product()
}
