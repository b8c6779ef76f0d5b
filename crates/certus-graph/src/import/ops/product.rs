//! Matrix products with a constant side, in terms of what the graph has.
//!
//! A constant matrix times one column is an affine map. Times several columns it would be a block-diagonal affine map
//! with many copies of the weights; it is a convolution of width one instead, whose channels are the rows and whose
//! positions are the columns, and which stores the weights once. A stack of different matrices is a convolution with
//! as many groups.

use crate::NodeId;
use crate::Tensor;
use crate::import::lowering::{Failure, Lowering};
use crate::ops::{Affine, Conv, Matrix, Mul, Reduce, ReduceKind, Transpose, Window};

/// `count` constant matrices of `rows` × `inner`, one after the other, row-major.
pub(super) struct Stack {
    pub count: usize,
    pub rows: usize,
    pub inner: usize,
    pub data: Vec<f64>,
}

impl Stack {
    /// Each matrix transposed: from `inner` × `rows` as stored to `rows` × `inner`.
    pub fn transposed(count: usize, rows: usize, inner: usize, stored: &[f64]) -> Self {
        let mut data = Vec::with_capacity(stored.len());
        for matrix in stored.chunks_exact((rows * inner).max(1)).take(count) {
            for row in 0..rows {
                data.extend((0..inner).map(|column| matrix[column * rows + row]));
            }
        }
        Stack { count, rows, inner, data }
    }
}

/// The products of the stacked matrices with the matrices of `x`, `[count, inner, columns]`; the result is
/// `[count, rows, columns]`. The bias, if any, has one entry per row of the stack.
pub(super) fn times(
    l: &mut Lowering<'_, '_>,
    stack: Stack,
    x: NodeId,
    columns: usize,
    bias: Option<Vec<f64>>,
) -> Result<NodeId, Failure> {
    let Stack { count, rows, inner, data } = stack;
    if count == 1 && columns == 1 {
        let bias = bias.unwrap_or_else(|| vec![0.0; rows]);
        let map = Affine::new(vec![Matrix::dense(rows, inner, data)], bias, vec![1, rows, 1])?;
        return l.apply(map, &[x]);
    }
    l.budget.work(count.saturating_mul(rows).saturating_mul(columns), inner, l.folding).map_err(Failure::Limit)?;
    let weight = Tensor::new(vec![count * rows, inner, 1], data)?;
    let conv = Conv::new(weight, bias, Window::simple(vec![1]), count)?;
    let x = l.reshape(x, &[1, count * inner, columns])?;
    let y = l.apply(conv, &[x])?;
    l.reshape(y, &[count, rows, columns])
}

/// `x`, `[count, rows, inner]`, with its last two axes exchanged.
pub(super) fn swap_last(l: &mut Lowering<'_, '_>, x: NodeId) -> Result<NodeId, Failure> {
    let shape = l.shape_of(x);
    let rank = shape.len();
    let mut swapped = shape.clone();
    swapped.swap(rank - 2, rank - 1);
    // With an extent of one there, the order of the elements does not change.
    if shape[rank - 2] == 1 || shape[rank - 1] == 1 {
        return l.reshape(x, &swapped);
    }
    let mut perm: Vec<usize> = (0..rank).collect();
    perm.swap(rank - 2, rank - 1);
    l.apply(Transpose { perm }, &[x])
}

/// The product of two computed matrices, `[…, rows, inner]` and `[…, inner, columns]`, as the sum of products.
pub(super) fn computed(l: &mut Lowering<'_, '_>, a: NodeId, b: NodeId) -> Result<NodeId, Failure> {
    let (mut left, mut right) = (l.shape_of(a), l.shape_of(b));
    left.push(1);
    right.insert(right.len() - 2, 1);
    let (a, b) = (l.reshape(a, &left)?, l.reshape(b, &right)?);
    let products = l.apply(Mul, &[a, b])?;
    let axis = l.shape_of(products).len() - 2;
    l.apply(Reduce { kind: ReduceKind::Sum, axes: vec![axis], keep_dims: false }, &[products])
}
