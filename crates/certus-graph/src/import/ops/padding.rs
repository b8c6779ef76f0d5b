//! Padding.

use super::selection::pick;
use crate::NodeId;
use crate::import::limits::checked_count;
use crate::import::lowering::{Failure, Lowered, Lowering, invalid, one, unsupported};
use crate::ops::{Concat, Slice, SliceRange};

/// What is put at the ends of an axis.
#[derive(Clone, Copy, PartialEq)]
enum Mode {
    Constant(f64),
    Edge,
    Reflect,
    Wrap,
}

/// Pads are an attribute before operator set 11, an input since; negative pads cut.
pub(super) fn pad(l: &mut Lowering<'_, '_>) -> Lowered {
    let shape = l.shape(0)?;
    let pads = match if l.opset < 11 { l.attr_ints("pads")? } else { Some(l.ints(1, "pads")?) } {
        Some(pads) => pads,
        None => return invalid("its pads are missing"),
    };
    let axes = if l.has(3) { l.axes(&l.ints(3, "axes")?, shape.len())? } else { (0..shape.len()).collect() };
    if pads.len() != 2 * axes.len() {
        return invalid(format!("{} pads are given for {} axes", pads.len(), axes.len()));
    }
    let mode = match &l.attr_text("mode", "constant")?[..] {
        "constant" => Mode::Constant(fill_value(l)?),
        "edge" => Mode::Edge,
        "reflect" => Mode::Reflect,
        "wrap" => Mode::Wrap,
        other => return unsupported(format!("its mode `{other}` is not known")),
    };
    check_size(&shape, &axes, &pads)?;
    let kind = l.kind(0)?;
    let mut x = l.node(0)?;
    for (place, &axis) in axes.iter().enumerate() {
        let ends = [pads[place], pads[axes.len() + place]];
        if ends != [0, 0] {
            x = pad_axis(l, x, axis, ends, mode)?;
        }
    }
    one(x, kind)
}

/// Refuses a result out of bounds before the first axis is padded.
fn check_size(shape: &[usize], axes: &[usize], pads: &[i64]) -> Result<(), Failure> {
    let mut result = shape.to_vec();
    for (place, &axis) in axes.iter().enumerate() {
        let [before, after] = [pads[place], pads[axes.len() + place]];
        let extent = (shape[axis] as i64).saturating_add(before).saturating_add(after);
        let cut = before.min(0).saturating_add(after.min(0)).saturating_neg();
        match usize::try_from(extent) {
            Ok(extent) if cut <= shape[axis] as i64 => result[axis] = extent,
            _ => return invalid(format!("axis {axis} of {shape:?} cannot be padded by {before} and {after}")),
        }
    }
    checked_count(&result).map(drop).map_err(Failure::Limit)
}

fn fill_value(l: &Lowering<'_, '_>) -> Result<f64, Failure> {
    if l.opset < 11 {
        return l.attr_float("value", 0.0);
    }
    if !l.has(2) {
        return Ok(0.0);
    }
    match l.weights(2, "fill value")?.single() {
        Some(value) => Ok(value),
        None => invalid("its fill value must be one number"),
    }
}

fn pad_axis(
    l: &mut Lowering<'_, '_>,
    x: NodeId,
    axis: usize,
    [before, after]: [i64; 2],
    mode: Mode,
) -> Result<NodeId, Failure> {
    let shape = l.shape_of(x);
    let extent = shape[axis] as i64;
    let Mode::Constant(value) = mode else {
        return repeat_ends(l, x, axis, [before, after], mode);
    };
    // What is cut is cut first; what is added are blocks of the fill value.
    let start = (-before).clamp(0, extent);
    let len = (extent - start - (-after).max(0)).max(0);
    let range = SliceRange { axis, start: start.min((extent - 1).max(0)) as usize, step: 1, len: len as usize };
    let kept = if len == extent { x } else { l.apply(Slice::new(vec![range]), &[x])? };
    let mut parts = Vec::new();
    if before > 0 {
        parts.push(block(l, &shape, axis, before as usize, value)?);
    }
    parts.push(kept);
    if after > 0 {
        parts.push(block(l, &shape, axis, after as usize, value)?);
    }
    if parts.len() == 1 { Ok(kept) } else { l.apply(Concat { axis }, &parts) }
}

fn block(l: &mut Lowering<'_, '_>, shape: &[usize], axis: usize, extent: usize, value: f64) -> Result<NodeId, Failure> {
    let mut shape = shape.to_vec();
    shape[axis] = extent;
    let count = checked_count(&shape).map_err(Failure::Limit)?;
    l.produce(count)?;
    l.constant(&shape, vec![value; count])
}

fn repeat_ends(
    l: &mut Lowering<'_, '_>,
    x: NodeId,
    axis: usize,
    [before, after]: [i64; 2],
    mode: Mode,
) -> Result<NodeId, Failure> {
    let extent = l.shape_of(x)[axis] as i64;
    let reach = before.max(after);
    if before.min(after) < 0 || extent == 0 || mode == Mode::Reflect && reach >= extent {
        return unsupported(format!("it pads axis {axis} of extent {extent} by {before} and {after} in this mode"));
    }
    let total = before + extent + after;
    checked_count(&[total as usize]).map_err(Failure::Limit)?;
    l.produce(total as usize)?;
    let source = |place: i64| {
        let place = place - before;
        match mode {
            Mode::Reflect if place < 0 => -place,
            Mode::Reflect if place >= extent => 2 * (extent - 1) - place,
            Mode::Wrap => place.rem_euclid(extent),
            _ => place.clamp(0, extent - 1),
        }
    };
    let indices = (0..total).map(|place| source(place) as usize).collect();
    pick(l, x, axis, indices)
}
