//! Softmax and its logarithm.

use crate::NodeId;
use crate::import::limits::checked_count;
use crate::import::literal::Kind;
use crate::import::lowering::{Failure, Lowered, Lowering, one};
use crate::ops::{Exp, Log, Reduce, ReduceKind, Softmax, Sub};

/// The input arranged so that the normalised values lie along one axis, and that axis. Since operator set 13 that is
/// the axis named; before, it is everything from the axis named to the end.
fn arrange(l: &mut Lowering<'_, '_>) -> Result<(NodeId, usize), Failure> {
    let shape = l.shape(0)?;
    let x = l.node(0)?;
    if l.opset >= 13 {
        let axis = l.axis(l.attr_int("axis")?.unwrap_or(-1), shape.len())?;
        return Ok((x, axis));
    }
    let axis = l.attr_int("axis")?.unwrap_or(1);
    // With the axis just past the end, each element is normalised alone.
    let axis = if axis == shape.len() as i64 { shape.len() } else { l.axis(axis, shape.len())? };
    let side = |extents: &[usize]| checked_count(extents).map_err(Failure::Limit);
    let flat = [side(&shape[..axis])?, side(&shape[axis..])?];
    Ok((l.reshape(x, &flat)?, 1))
}

pub(super) fn softmax(l: &mut Lowering<'_, '_>) -> Lowered {
    let shape = l.shape(0)?;
    let (x, axis) = arrange(l)?;
    let y = l.apply(Softmax { axis }, &[x])?;
    let y = l.reshape(y, &shape)?;
    one(y, Kind::Float)
}

/// x − m − log Σ exp(x − m) with m the maximum, which cannot overflow.
pub(super) fn log_softmax(l: &mut Lowering<'_, '_>) -> Lowered {
    let shape = l.shape(0)?;
    let (x, axis) = arrange(l)?;
    let along = |kind| Reduce { kind, axes: vec![axis], keep_dims: true };
    let largest = l.apply(along(ReduceKind::Max), &[x])?;
    let shifted = l.apply(Sub, &[x, largest])?;
    let powers = l.apply(Exp, &[shifted])?;
    let total = l.apply(along(ReduceKind::Sum), &[powers])?;
    let total = l.apply(Log, &[total])?;
    let y = l.apply(Sub, &[shifted, total])?;
    let y = l.reshape(y, &shape)?;
    one(y, Kind::Float)
}
