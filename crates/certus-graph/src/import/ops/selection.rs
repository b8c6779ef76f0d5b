//! Operators that join, pick and repeat elements.

use crate::NodeId;
use crate::broadcast_shapes;
use crate::import::limits::checked_count;
use crate::import::literal::Kind;
use crate::import::lowering::{Failure, Lowered, Lowering, invalid, one};
use crate::ops::{Concat, Gather, Slice, SliceRange};

pub(super) fn concat(l: &mut Lowering<'_, '_>) -> Lowered {
    let Some(axis) = l.attr_int("axis")? else {
        return invalid("its attribute `axis` is missing");
    };
    let axis = l.axis(axis, l.shape(0)?.len())?;
    let kind = l.kind(0)?;
    let mut parts = Vec::with_capacity(l.inputs.len());
    for index in 0..l.inputs.len() {
        // Exporters like to join an empty list of extents with others.
        if !l.shape(index)?.contains(&0) || l.inputs.len() == 1 {
            parts.push(l.node(index)?);
        }
    }
    if parts.is_empty() {
        parts.push(l.node(0)?);
    }
    let y = l.apply(Concat { axis }, &parts)?;
    one(y, kind)
}

pub(super) fn gather(l: &mut Lowering<'_, '_>) -> Lowered {
    let shape = l.shape(0)?;
    let axis = l.axis(l.attr_int("axis")?.unwrap_or(0), shape.len())?;
    let wanted = l.literal(1, "indices")?;
    if wanted.kind != Kind::Int {
        return invalid("its indices must be integers");
    }
    l.produce(wanted.data.len())?;
    let extent = shape[axis] as i64;
    let mut indices = Vec::with_capacity(wanted.data.len());
    for index in wanted.to_ints() {
        let resolved = if index < 0 { index.saturating_add(extent) } else { index };
        if !(0..extent).contains(&resolved) {
            return invalid(format!("index {index} is outside of axis {axis} of {shape:?}"));
        }
        indices.push(resolved as usize);
    }
    let kind = l.kind(0)?;
    let x = l.node(0)?;
    let y = l.apply(Gather { axis, indices, index_shape: wanted.shape.clone() }, &[x])?;
    one(y, kind)
}

/// Bounds are attributes before operator set 10, inputs since.
pub(super) fn slice(l: &mut Lowering<'_, '_>) -> Lowered {
    let shape = l.shape(0)?;
    let (Some(starts), Some(ends)) = (l.ints_either("starts", 1)?, l.ints_either("ends", 2)?) else {
        return invalid("its starts or ends are missing");
    };
    let axes = match l.ints_either("axes", 3)? {
        Some(axes) => l.axes(&axes, shape.len())?,
        None if starts.len() <= shape.len() => (0..starts.len()).collect(),
        None => return invalid(format!("it names {} ranges for shape {shape:?}", starts.len())),
    };
    let steps = if l.has(4) { l.ints(4, "steps")? } else { vec![1; axes.len()] };
    if [starts.len(), ends.len(), steps.len()] != [axes.len(); 3] {
        return invalid("its starts, ends, axes and steps differ in number");
    }
    let mut ranges = Vec::with_capacity(axes.len());
    for (place, &axis) in axes.iter().enumerate() {
        match Slice::onnx_range(axis, shape[axis], starts[place], ends[place], steps[place]) {
            Some(range) => ranges.push(range),
            None => return invalid(format!("its step along axis {axis} is {}", steps[place])),
        }
    }
    let kind = l.kind(0)?;
    let x = l.node(0)?;
    let y = l.apply(Slice::new(ranges), &[x])?;
    one(y, kind)
}

/// Sizes are an attribute before operator set 13, an input since; without them the parts are equal, and since 18 the
/// last may be smaller.
pub(super) fn split(l: &mut Lowering<'_, '_>) -> Lowered {
    let shape = l.shape(0)?;
    let axis = l.axis(l.attr_int("axis")?.unwrap_or(0), shape.len())?;
    let extent = shape[axis];
    let count = l.proto.outputs.len();
    let sizes = match l.ints_either("split", 1)? {
        Some(sizes) => sizes,
        None => {
            let parts = l.attr_int("num_outputs")?.unwrap_or(count as i64);
            if parts != count as i64 || count == 0 {
                return invalid(format!("it is to give {parts} parts to {count} outputs"));
            }
            let size = extent.div_ceil(count);
            let size_of = |part: usize| size.min(extent.saturating_sub(part * size)) as i64;
            (0..count).map(size_of).collect()
        }
    };
    let total = sizes.iter().try_fold(0i64, |sum, &size| if size < 0 { None } else { sum.checked_add(size) });
    if sizes.len() != count || total != Some(extent as i64) {
        return invalid(format!("parts of {sizes:?} do not cover axis {axis} of {shape:?} in {count} outputs"));
    }
    let kind = l.kind(0)?;
    let x = l.node(0)?;
    let mut start = 0;
    let mut parts = Vec::with_capacity(count);
    for size in sizes {
        let len = size as usize;
        let first = start.min(extent.saturating_sub(1));
        let node = l.apply(Slice::new(vec![SliceRange { axis, start: first, step: 1, len }]), &[x])?;
        parts.extend(one(node, kind)?);
        start += len;
    }
    Ok(parts)
}

/// Repeats axis `axis` of `x` so that place i of the result is place `indices[i]`.
pub(super) fn pick(l: &mut Lowering<'_, '_>, x: NodeId, axis: usize, indices: Vec<usize>) -> Result<NodeId, Failure> {
    l.produce(indices.len())?;
    l.apply(Gather { axis, index_shape: vec![indices.len()], indices }, &[x])
}

/// `x` repeated along its axes of extent one until it has this shape.
pub(super) fn broadcast_to(l: &mut Lowering<'_, '_>, x: NodeId, shape: &[usize]) -> Result<NodeId, Failure> {
    checked_count(shape).map_err(Failure::Limit)?;
    let own = l.shape_of(x);
    if broadcast_shapes("Expand", &own, shape)? != shape {
        return invalid(format!("shape {own:?} does not broadcast to {shape:?}"));
    }
    let mut padded = vec![1; shape.len() - own.len()];
    padded.extend(&own);
    let mut x = l.reshape(x, &padded)?;
    // From the last axis inwards out, so that the intermediate results stay small for as long as possible.
    for axis in (0..shape.len()).rev().filter(|&axis| padded[axis] != shape[axis]) {
        l.produce(shape[axis])?;
        x = pick(l, x, axis, vec![0; shape[axis]])?;
    }
    Ok(x)
}

fn extents(wanted: &[i64]) -> Result<Vec<usize>, Failure> {
    let extents: Option<Vec<usize>> = wanted.iter().map(|&extent| usize::try_from(extent).ok()).collect();
    extents.ok_or_else(|| Failure::Invalid(format!("{wanted:?} has a negative entry")))
}

/// Broadcasts the input with a shape; either may have the extents of one.
pub(super) fn expand(l: &mut Lowering<'_, '_>) -> Lowered {
    let wanted = extents(&l.ints(1, "shape")?)?;
    let result = broadcast_shapes("Expand", &l.shape(0)?, &wanted)?;
    let kind = l.kind(0)?;
    let x = l.node(0)?;
    let y = broadcast_to(l, x, &result)?;
    one(y, kind)
}

pub(super) fn tile(l: &mut Lowering<'_, '_>) -> Lowered {
    let shape = l.shape(0)?;
    let repeats = extents(&l.ints(1, "repeats")?)?;
    if repeats.len() != shape.len() {
        return invalid(format!("{} repeats are given for shape {shape:?}", repeats.len()));
    }
    let result: Vec<usize> = shape.iter().zip(&repeats).map(|(&extent, &times)| extent.saturating_mul(times)).collect();
    checked_count(&result).map_err(Failure::Limit)?;
    let kind = l.kind(0)?;
    let mut x = l.node(0)?;
    for axis in (0..shape.len()).filter(|&axis| repeats[axis] != 1) {
        l.produce(result[axis])?;
        let indices = (0..result[axis]).map(|place| place % shape[axis]).collect();
        x = pick(l, x, axis, indices)?;
    }
    one(x, kind)
}
