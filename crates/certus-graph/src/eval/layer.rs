//! An affine map compiled for the matrix kernels, with the activation that follows it.

use certus_kernels::{PackedMatrix, fill_rows};

use crate::Real;
use crate::ops::{Affine, Matrix, Op, Unary};

/// b + Σⱼ Wⱼ xⱼ, then an activation. All dense Wⱼ are joined into one packed matrix over the joined arguments: one pass over
/// the result instead of one per argument.
pub(super) struct Layer<T: Real> {
    /// The joined dense matrices, and the arguments that they read.
    packed: Option<(PackedMatrix<T>, Vec<usize>)>,
    /// Sparse matrices, with the argument that each reads.
    sparse: Vec<(Matrix, usize)>,
    bias: Vec<T>,
    activation: Option<Op>,
}

impl<T: Real> Layer<T> {
    pub(super) fn new(affine: &Affine) -> Self {
        let rows = affine.bias().len();
        let all = affine.matrices().iter().enumerate();
        let (dense, sparse): (Vec<_>, Vec<_>) = all.partition(|(_, matrix)| matches!(matrix, Matrix::Dense { .. }));
        let columns: usize = dense.iter().map(|(_, matrix)| matrix.columns()).sum();
        let joined = (0..rows).flat_map(|row| dense.iter().flat_map(move |(_, matrix)| matrix.row(row)));
        let joined: Vec<T> = joined.map(|(_, weight)| T::from_f64(weight)).collect();
        let arguments = dense.iter().map(|&(argument, _)| argument).collect();
        let packed = (rows > 0 && columns > 0).then(|| (PackedMatrix::pack(rows, columns, &joined), arguments));
        Layer {
            packed,
            sparse: sparse.into_iter().map(|(argument, matrix)| (matrix.clone(), argument)).collect(),
            bias: affine.bias().iter().map(|&b| T::from_f64(b)).collect(),
            activation: None,
        }
    }

    /// Takes an operator that is applied to the result, if it is an activation and there is none yet.
    pub(super) fn absorb(&mut self, op: &Op) -> bool {
        let fits = matches!(op, Op::Relu(_) | Op::Tanh(_) | Op::Sigmoid(_) | Op::Clip(_)) && self.activation.is_none();
        if fits {
            self.activation = Some(op.clone());
        }
        fits
    }

    pub(super) fn run<'a>(
        &self,
        arg: impl Fn(usize) -> &'a [T],
        batch: usize,
        out: &mut [T],
        gathered: &mut Vec<T>,
        scratch: &mut Vec<T>,
    ) {
        let mut activation = self.activation.as_ref();
        match &self.packed {
            Some((matrix, arguments)) => {
                let x = match arguments[..] {
                    [single] => arg(single),
                    _ => {
                        gathered.clear();
                        arguments.iter().for_each(|&argument| gathered.extend_from_slice(arg(argument)));
                        gathered.as_slice()
                    }
                };
                if self.sparse.is_empty() && matches!(activation, Some(Op::Relu(_))) {
                    matrix.affine_relu(&self.bias, x, out, batch, scratch);
                    activation = None;
                } else {
                    matrix.affine(&self.bias, x, out, batch, scratch);
                }
            }
            None => fill_rows(&self.bias, out, batch),
        }
        self.sparse.iter().for_each(|(matrix, argument)| add_rows(matrix, arg(*argument), out, batch));
        match activation {
            Some(Op::Relu(_)) => certus_kernels::relu(out),
            Some(Op::Tanh(_)) => certus_kernels::tanh(out),
            Some(Op::Sigmoid(_)) => certus_kernels::sigmoid(out),
            Some(Op::Clip(clip)) => out.iter_mut().for_each(|y| *y = clip.real(*y)),
            _ => {}
        }
    }
}

/// Adds `W · x` to `out` by the stored entries of W.
fn add_rows<T: Real>(matrix: &Matrix, x: &[T], out: &mut [T], batch: usize) {
    for (row, target) in out.chunks_exact_mut(batch).enumerate() {
        for (column, weight) in matrix.row(row) {
            let weight = T::from_f64(weight);
            for (y, &x) in target.iter_mut().zip(&x[column * batch..][..batch]) {
                *y = *y + weight * x;
            }
        }
    }
}
