//! An affine map compiled for the matrix kernels, with the activation that follows it.

use certus_kernels::{PackedMatrix, fill_rows};

use crate::Real;
use crate::ops::{Affine, Matrix, Op, Unary};

/// b + Σⱼ Wⱼ xⱼ, then an activation. Dense Wⱼ are joined into one packed matrix over the joined arguments where copying those
/// costs less than a pass over the result per argument.
pub(super) struct Layer<T: Real> {
    /// Dense matrices, each with the arguments that it reads one after the other.
    packed: Vec<(PackedMatrix<T>, Vec<usize>)>,
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
        let groups: Vec<Vec<(usize, &Matrix)>> =
            if columns <= rows { vec![dense] } else { dense.into_iter().map(|one| vec![one]).collect() };
        let pack = |group: Vec<(usize, &Matrix)>| {
            let columns: usize = group.iter().map(|(_, matrix)| matrix.columns()).sum();
            let joined = (0..rows).flat_map(|row| group.iter().flat_map(move |(_, matrix)| matrix.row(row)));
            let joined: Vec<T> = joined.map(|(_, weight)| T::from_f64(weight)).collect();
            let arguments = group.iter().map(|&(argument, _)| argument).collect();
            (rows > 0 && columns > 0).then(|| (PackedMatrix::pack(rows, columns, &joined), arguments))
        };
        let packed = groups.into_iter().filter_map(pack).collect();
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
        if self.packed.is_empty() {
            fill_rows(&self.bias, out, batch);
        }
        for (index, (matrix, arguments)) in self.packed.iter().enumerate() {
            let x = match arguments[..] {
                [single] => arg(single),
                _ => {
                    gathered.clear();
                    arguments.iter().for_each(|&argument| gathered.extend_from_slice(arg(argument)));
                    gathered.as_slice()
                }
            };
            let alone = self.packed.len() == 1 && self.sparse.is_empty();
            if index > 0 {
                matrix.mul_acc(x, out, batch, scratch);
            } else if alone && matches!(activation, Some(Op::Relu(_))) {
                matrix.affine_relu(&self.bias, x, out, batch, scratch);
                activation = None;
            } else {
                matrix.affine(&self.bias, x, out, batch, scratch);
            }
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
