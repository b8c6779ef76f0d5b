//! Reductions along axes.

use crate::NodeId;
use crate::import::literal::Kind;
use crate::import::lowering::{Failure, Lowered, Lowering, invalid, one, unsupported};
use crate::ops::{Abs, Add, ArgMax, Exp, Gather, Log, Mul, Neg, Op, Pow, Reduce, ReduceKind, Sqrt, Sub, Transpose};

/// The axes of a reduction: an attribute or an input, all axes if there are none; and whether they stay.
struct Axes {
    axes: Vec<usize>,
    keep_dims: bool,
}

/// `None` where an empty list means that nothing is reduced.
fn axes(l: &Lowering<'_, '_>) -> Result<Option<Axes>, Failure> {
    let rank = l.shape(0)?.len();
    let named = l.ints_either("axes", 1)?.unwrap_or_default();
    let keep_dims = l.attr_flag("keepdims", true)?;
    if named.is_empty() {
        if l.attr_flag("noop_with_empty_axes", false)? {
            return Ok(None);
        }
        return Ok(Some(Axes { axes: (0..rank).collect(), keep_dims }));
    }
    Ok(Some(Axes { axes: l.axes(&named, rank)?, keep_dims }))
}

fn reduce(l: &mut Lowering<'_, '_>, axes: &Axes, kind: ReduceKind, x: NodeId) -> Result<NodeId, Failure> {
    l.apply(Reduce { kind, axes: axes.axes.clone(), keep_dims: axes.keep_dims }, &[x])
}

fn plain(l: &mut Lowering<'_, '_>, reduction: ReduceKind) -> Lowered {
    let kind = l.kind(0)?;
    match axes(l)? {
        None => Ok(vec![l.value(0)?]),
        Some(axes) => {
            let x = l.node(0)?;
            let y = reduce(l, &axes, reduction, x)?;
            one(y, kind)
        }
    }
}

/// A function of each element, summed; `after` the sum comes another function.
fn summed(
    l: &mut Lowering<'_, '_>,
    before: impl FnOnce(&mut Lowering<'_, '_>, NodeId) -> Result<NodeId, Failure>,
    after: Option<Op>,
) -> Lowered {
    let kind = l.kind(0)?;
    let axes = axes(l)?;
    let x = l.node(0)?;
    let mut y = before(l, x)?;
    if let Some(axes) = axes {
        y = reduce(l, &axes, ReduceKind::Sum, y)?;
    }
    if let Some(after) = after {
        y = l.apply(after, &[y])?;
    }
    one(y, kind)
}

pub(super) fn sum(l: &mut Lowering<'_, '_>) -> Lowered {
    plain(l, ReduceKind::Sum)
}

pub(super) fn mean(l: &mut Lowering<'_, '_>) -> Lowered {
    plain(l, ReduceKind::Mean)
}

pub(super) fn max(l: &mut Lowering<'_, '_>) -> Lowered {
    plain(l, ReduceKind::Max)
}

pub(super) fn min(l: &mut Lowering<'_, '_>) -> Lowered {
    plain(l, ReduceKind::Min)
}

pub(super) fn product(l: &mut Lowering<'_, '_>) -> Lowered {
    plain(l, ReduceKind::Product)
}

fn square(l: &mut Lowering<'_, '_>, x: NodeId) -> Result<NodeId, Failure> {
    let two = l.scalar(2.0);
    l.apply(Pow, &[x, two])
}

pub(super) fn sum_square(l: &mut Lowering<'_, '_>) -> Lowered {
    summed(l, square, None)
}

pub(super) fn l1(l: &mut Lowering<'_, '_>) -> Lowered {
    summed(l, |l, x| l.apply(Abs, &[x]), None)
}

pub(super) fn l2(l: &mut Lowering<'_, '_>) -> Lowered {
    summed(l, square, Some(Sqrt.into()))
}

/// log Σ exp(x − m) + m with m the maximum, which cannot overflow.
pub(super) fn log_sum_exp(l: &mut Lowering<'_, '_>) -> Lowered {
    let Some(axes) = axes(l)? else {
        return unsupported("it reduces nothing");
    };
    let x = l.node(0)?;
    let kept = Axes { axes: axes.axes.clone(), keep_dims: true };
    let largest = reduce(l, &kept, ReduceKind::Max, x)?;
    let shifted = l.apply(Sub, &[x, largest])?;
    let powers = l.apply(Exp, &[shifted])?;
    let total = reduce(l, &axes, ReduceKind::Sum, powers)?;
    let logarithm = l.apply(Log, &[total])?;
    let shape = l.shape_of(logarithm);
    let largest = l.reshape(largest, &shape)?;
    let y = l.apply(Add, &[logarithm, largest])?;
    one(y, Kind::Float)
}

fn global_pool(l: &mut Lowering<'_, '_>, kind: ReduceKind) -> Lowered {
    let shape = l.shape(0)?;
    if shape.len() < 3 {
        return invalid(format!("its input has shape {shape:?}, which has no positions to pool"));
    }
    let x = l.node(0)?;
    let y = l.apply(Reduce { kind, axes: (2..shape.len()).collect(), keep_dims: true }, &[x])?;
    one(y, Kind::Float)
}

pub(super) fn global_average_pool(l: &mut Lowering<'_, '_>) -> Lowered {
    global_pool(l, ReduceKind::Mean)
}

pub(super) fn global_max_pool(l: &mut Lowering<'_, '_>) -> Lowered {
    global_pool(l, ReduceKind::Max)
}

pub(super) fn argmax(l: &mut Lowering<'_, '_>) -> Lowered {
    let x = l.node(0)?;
    index_of_largest(l, x)
}

pub(super) fn argmin(l: &mut Lowering<'_, '_>) -> Lowered {
    let x = l.node(0)?;
    let x = l.apply(Neg, &[x])?;
    index_of_largest(l, x)
}

/// The graph's own ArgMax marks the first maximum of the last axis with a one; the index is the sum of the marks
/// weighted by their places. For the last maximum, the axis is read backwards.
fn index_of_largest(l: &mut Lowering<'_, '_>, x: NodeId) -> Lowered {
    let shape = l.shape_of(x);
    let axis = l.axis(l.attr_int("axis")?.unwrap_or(0), shape.len())?;
    let keep_dims = l.attr_flag("keepdims", true)?;
    let backwards = l.attr_flag("select_last_index", false)?;
    let extent = shape[axis];
    let last = shape.len() - 1;
    let perm: Vec<usize> = (0..shape.len()).filter(|&other| other != axis).chain([axis]).collect();
    let mut x = if axis == last { x } else { l.apply(Transpose { perm }, &[x])? };
    let mut places: Vec<f64> = (0..extent).map(|place| place as f64).collect();
    l.produce(extent)?;
    if backwards {
        places.reverse();
        let indices: Vec<usize> = (0..extent).rev().collect();
        x = l.apply(Gather { axis: last, index_shape: vec![extent], indices }, &[x])?;
    }
    let marks = l.apply(ArgMax, &[x])?;
    let places = l.constant(&[extent], places)?;
    let weighted = l.apply(Mul, &[marks, places])?;
    let y = l.apply(Reduce { kind: ReduceKind::Sum, axes: vec![last], keep_dims: false }, &[weighted])?;
    let mut result = shape;
    if keep_dims {
        result[axis] = 1;
    } else {
        result.remove(axis);
    }
    let y = l.reshape(y, &result)?;
    one(y, Kind::Int)
}
