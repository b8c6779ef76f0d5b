//! Matrix products: MatMul and Gemm.

use super::product::{Stack, computed, swap_last, times};
use super::selection::broadcast_to;
use crate::import::limits::checked_count;
use crate::import::literal::{Kind, Literal};
use crate::import::lowering::{Failure, Lowered, Lowering, invalid, one};
use crate::ops::{Add, Mul};
use crate::shape::{broadcast_strides, for_each_offset};
use crate::{NodeId, broadcast_shapes};

/// The extents of a matrix product after vectors were made into matrices.
struct Extents {
    batch: Vec<usize>,
    count: usize,
    rows: usize,
    inner: usize,
    columns: usize,
}

pub(super) fn matmul(l: &mut Lowering<'_, '_>) -> Lowered {
    let (mut a, mut b) = (l.shape(0)?, l.shape(1)?);
    if a.is_empty() || b.is_empty() {
        return invalid("a number without axes has no matrix product");
    }
    let (a_is_vector, b_is_vector) = (a.len() == 1, b.len() == 1);
    if a_is_vector {
        a.insert(0, 1);
    }
    if b_is_vector {
        b.push(1);
    }
    let (&[.., rows, inner], &[.., b_inner, columns]) = (&a[..], &b[..]) else {
        return invalid("its inputs are no matrices");
    };
    if inner != b_inner || inner == 0 {
        return invalid(format!("shapes {a:?} and {b:?} do not fit a matrix product"));
    }
    let batch = broadcast_shapes("MatMul", &a[..a.len() - 2], &b[..b.len() - 2])?;
    let count = checked_count(&batch).map_err(Failure::Limit)?;
    let extents = Extents { batch, count, rows, inner, columns };
    let mut full = extents.batch.clone();
    full.extend([rows, columns]);
    checked_count(&full).map_err(Failure::Limit)?;

    let product = if l.known(1).is_some() {
        constant_right(l, &a, &b, &extents)?
    } else if l.known(0).is_some() {
        constant_left(l, &a, &b, &extents)?
    } else {
        let (x, y) = (l.node(0)?, l.node(1)?);
        let (x, y) = (l.reshape(x, &a)?, l.reshape(y, &b)?);
        computed(l, x, y)?
    };
    let mut result = extents.batch;
    if !a_is_vector {
        result.push(rows);
    }
    if !b_is_vector {
        result.push(columns);
    }
    let product = l.reshape(product, &result)?;
    one(product, Kind::Float)
}

/// x W, as the transpose of Wᵀ xᵀ.
fn constant_right(l: &mut Lowering<'_, '_>, a: &[usize], b: &[usize], e: &Extents) -> Result<NodeId, Failure> {
    let weights = l.weights(1, "matrix")?;
    let x = l.node(0)?;
    l.produce(weights.data.len())?;
    if weights.data.len() == e.inner * e.columns {
        // One matrix for the whole batch: all rows of all batches are rows of one long matrix.
        let rows = checked_count(&a[..a.len() - 1]).map_err(Failure::Limit)?;
        let stack = Stack::transposed(1, e.columns, e.inner, &weights.data);
        let x = l.reshape(x, &[1, rows, e.inner])?;
        let x = swap_last(l, x)?;
        let product = times(l, stack, x, rows, None)?;
        return swap_last(l, product);
    }
    let data = repeat_matrices(l, &weights, b, e, [e.inner, e.columns])?;
    let stack = Stack::transposed(e.count, e.columns, e.inner, &data);
    let x = spread(l, x, a, e, [e.rows, e.inner])?;
    let x = swap_last(l, x)?;
    let product = times(l, stack, x, e.rows, None)?;
    swap_last(l, product)
}

/// W x.
fn constant_left(l: &mut Lowering<'_, '_>, a: &[usize], b: &[usize], e: &Extents) -> Result<NodeId, Failure> {
    let weights = l.weights(0, "matrix")?;
    let x = l.node(1)?;
    let data = repeat_matrices(l, &weights, a, e, [e.rows, e.inner])?;
    let stack = Stack { count: e.count, rows: e.rows, inner: e.inner, data };
    let x = spread(l, x, b, e, [e.inner, e.columns])?;
    times(l, stack, x, e.columns, None)
}

/// The constant matrices, repeated where the batch asks for it.
fn repeat_matrices(
    l: &mut Lowering<'_, '_>,
    weights: &Literal,
    shape: &[usize],
    e: &Extents,
    matrix: [usize; 2],
) -> Result<Vec<f64>, Failure> {
    let size = matrix[0] * matrix[1];
    l.produce(e.count.saturating_mul(size))?;
    let mut data = Vec::with_capacity(e.count * size);
    let strides = broadcast_strides(&shape[..shape.len() - 2], &e.batch);
    for_each_offset(&e.batch, &strides, |index| {
        data.extend_from_slice(&weights.data[index * size..][..size]);
    });
    Ok(data)
}

/// The computed matrices, repeated where the batch asks for it, as `[count, …]`.
fn spread(
    l: &mut Lowering<'_, '_>,
    x: NodeId,
    shape: &[usize],
    e: &Extents,
    matrix: [usize; 2],
) -> Result<NodeId, Failure> {
    let mut wanted = e.batch.clone();
    wanted.extend(matrix);
    let x = l.reshape(x, shape)?;
    let x = broadcast_to(l, x, &wanted)?;
    l.reshape(x, &[e.count, matrix[0], matrix[1]])
}

/// alpha · A B + beta · C, with A and B transposed on request.
pub(super) fn gemm(l: &mut Lowering<'_, '_>) -> Lowered {
    let (alpha, beta) = (l.attr_float("alpha", 1.0)?, l.attr_float("beta", 1.0)?);
    let (flip_a, flip_b) = (l.attr_flag("transA", false)?, l.attr_flag("transB", false)?);
    let (a, b) = (l.shape(0)?, l.shape(1)?);
    let (&[a0, a1], &[b0, b1]) = (&a[..], &b[..]) else {
        return invalid(format!("its inputs have shapes {a:?} and {b:?}, not those of matrices"));
    };
    let (rows, inner) = if flip_a { (a1, a0) } else { (a0, a1) };
    let (b_inner, columns) = if flip_b { (b1, b0) } else { (b0, b1) };
    if inner != b_inner || inner == 0 {
        return invalid(format!("shapes {a:?} and {b:?} do not fit a matrix product"));
    }
    checked_count(&[rows, columns]).map_err(Failure::Limit)?;
    // A plain layer keeps its bias; any other use of C is a sum.
    let folded_bias = match l.known(2) {
        Some(c) if l.known(1).is_some() && rows == 1 && alpha == 1.0 && beta == 1.0 => {
            l.weights(2, "bias")?;
            bias_row(&c, columns)?
        }
        _ => None,
    };
    let has_folded_bias = folded_bias.is_some();
    let mut y = if l.known(1).is_some() {
        let weights = l.weights(1, "matrix")?;
        l.produce(weights.data.len())?;
        let stack = if flip_b {
            Stack { count: 1, rows: columns, inner, data: weights.data.clone() }
        } else {
            Stack::transposed(1, columns, inner, &weights.data)
        };
        let x = l.node(0)?;
        let x = l.reshape(x, &[1, a0, a1])?;
        let x = if flip_a { x } else { swap_last(l, x)? };
        let product = times(l, stack, x, rows, folded_bias)?;
        swap_last(l, product)?
    } else if l.known(0).is_some() {
        let weights = l.weights(0, "matrix")?;
        l.produce(weights.data.len())?;
        let stack = if flip_a {
            Stack::transposed(1, rows, inner, &weights.data)
        } else {
            Stack { count: 1, rows, inner, data: weights.data.clone() }
        };
        let x = l.node(1)?;
        let x = l.reshape(x, &[1, b0, b1])?;
        let x = if flip_b { swap_last(l, x)? } else { x };
        times(l, stack, x, columns, None)?
    } else {
        let (x, y) = (l.node(0)?, l.node(1)?);
        let x = if flip_a { swap_last(l, x)? } else { x };
        let y = if flip_b { swap_last(l, y)? } else { y };
        computed(l, x, y)?
    };
    y = l.reshape(y, &[rows, columns])?;
    if alpha != 1.0 {
        let alpha = l.scalar(alpha);
        y = l.apply(Mul, &[y, alpha])?;
    }
    if l.has(2) && !has_folded_bias && beta != 0.0 {
        let mut c = l.node(2)?;
        if broadcast_shapes("Gemm", &l.shape(2)?, &[rows, columns])? != [rows, columns] {
            return invalid(format!("its C does not broadcast to {:?}", [rows, columns]));
        }
        if beta != 1.0 {
            let beta = l.scalar(beta);
            c = l.apply(Mul, &[c, beta])?;
        }
        y = l.apply(Add, &[y, c])?;
    }
    one(y, Kind::Float)
}

/// C as the bias of a single row, if it is one.
fn bias_row(c: &Literal, columns: usize) -> Result<Option<Vec<f64>>, Failure> {
    if broadcast_shapes("Gemm", &c.shape, &[1, columns])? != [1, columns] {
        return invalid(format!("its C has shape {:?}, which does not broadcast to [1, {columns}]", c.shape));
    }
    Ok(match c.data[..] {
        [value] => Some(vec![value; columns]),
        _ if c.data.len() == columns => Some(c.data.clone()),
        _ => None,
    })
}
