//! Operators that rearrange or rename values.

use std::rc::Rc;

use crate::import::limits::{MAX_RANK, checked_count};
use crate::import::literal::{Kind, Literal, Value};
use crate::import::lowering::{Failure, Lowered, Lowering, invalid, one, unsupported};
use crate::import::weights::kind_of;
use crate::ops::{Compare, Transpose};

pub(super) fn identity(l: &mut Lowering<'_, '_>) -> Lowered {
    Ok(vec![l.value(0)?])
}

/// Nothing is dropped when a network is used rather than trained; the optional mask is all true.
pub(super) fn dropout(l: &mut Lowering<'_, '_>) -> Lowered {
    if l.known(2).is_some_and(|training| training.data.iter().any(|&flag| flag != 0.0)) {
        return unsupported("it is in training mode; export the network for inference");
    }
    let mut outputs = vec![l.value(0)?];
    if l.wants_output(1) {
        let shape = l.shape(0)?;
        let count = checked_count(&shape).map_err(Failure::Limit)?;
        l.produce(count)?;
        outputs.push(Literal { kind: Kind::Bool, shape, data: vec![1.0; count] }.into());
    }
    Ok(outputs)
}

/// float32 in ONNX's numbering of types.
const FLOAT32: i64 = 1;

pub(super) fn cast(l: &mut Lowering<'_, '_>) -> Lowered {
    let Some(to) = l.attr_int("to")? else {
        return invalid("its attribute `to` is missing");
    };
    let kind = kind_of(to).map_err(Failure::Unsupported)?;
    convert(l, kind, to == FLOAT32)
}

pub(super) fn cast_like(l: &mut Lowering<'_, '_>) -> Lowered {
    let kind = l.kind(1)?;
    convert(l, kind, false)
}

/// Floats of all widths stand for reals, so casts between them change nothing but constants, which are rounded as
/// a runtime would round them.
fn convert(l: &mut Lowering<'_, '_>, to: Kind, round: bool) -> Lowered {
    let from = l.kind(0)?;
    if let Value::Known(literal) = l.value(0)? {
        if from == to && !round {
            return Ok(vec![Value::Known(literal)]);
        }
        l.produce(literal.data.len())?;
        let mut literal = Rc::unwrap_or_clone(literal);
        literal.kind = to;
        for value in &mut literal.data {
            *value = match to {
                Kind::Float if round => f64::from(*value as f32),
                Kind::Float => *value,
                Kind::Int => value.trunc(),
                Kind::Bool => f64::from(u8::from(*value != 0.0)),
            };
        }
        return Ok(vec![literal.into()]);
    }
    let x = l.node(0)?;
    match (from, to) {
        (Kind::Float, Kind::Int) => unsupported("it rounds values that depend on the network's input to integers"),
        (Kind::Float | Kind::Int, Kind::Bool) => {
            let zero = l.scalar(0.0);
            let y = l.apply(Compare::NotEqual, &[x, zero])?;
            one(y, Kind::Bool)
        }
        _ => one(x, to),
    }
}

/// Rearranges input 0, known or not.
fn rearrange(l: &mut Lowering<'_, '_>, shape: &[usize]) -> Lowered {
    let kind = l.kind(0)?;
    let x = l.node(0)?;
    let y = l.reshape(x, shape)?;
    one(y, kind)
}

pub(super) fn reshape(l: &mut Lowering<'_, '_>) -> Lowered {
    let shape = l.shape(0)?;
    let wanted = l.ints(1, "shape")?;
    let allow_zero = l.attr_flag("allowzero", false)?;
    let result = resolve_shape(&shape, &wanted, allow_zero)?;
    rearrange(l, &result)
}

/// ONNX's rule: 0 copies the extent at that place, one −1 is worked out from the rest.
fn resolve_shape(shape: &[usize], wanted: &[i64], allow_zero: bool) -> Result<Vec<usize>, Failure> {
    let misfit = || Failure::Invalid(format!("shape {shape:?} cannot be arranged as {wanted:?}"));
    let mut free = None;
    let mut result = Vec::new();
    for (place, &extent) in wanted.iter().enumerate() {
        result.push(match extent {
            0 if !allow_zero => *shape.get(place).ok_or_else(misfit)?,
            -1 if free.is_none() => {
                free = Some(place);
                1
            }
            _ => usize::try_from(extent).map_err(|_| misfit())?,
        });
    }
    if let Some(place) = free {
        let total = checked_count(shape).map_err(Failure::Limit)?;
        let rest = checked_count(&result).map_err(|_| misfit())?;
        result[place] = total.checked_div(rest).filter(|extent| extent * rest == total).ok_or_else(misfit)?;
    }
    Ok(result)
}

pub(super) fn flatten(l: &mut Lowering<'_, '_>) -> Lowered {
    let shape = l.shape(0)?;
    let axis = match l.attr_int("axis")?.unwrap_or(1) {
        axis if axis == shape.len() as i64 => shape.len(),
        axis => l.axis(axis, shape.len())?,
    };
    let side = |extents: &[usize]| checked_count(extents).map_err(Failure::Limit);
    let result = [side(&shape[..axis])?, side(&shape[axis..])?];
    rearrange(l, &result)
}

pub(super) fn squeeze(l: &mut Lowering<'_, '_>) -> Lowered {
    let shape = l.shape(0)?;
    let axes = match l.ints_either("axes", 1)? {
        Some(axes) => l.axes(&axes, shape.len())?,
        None => (0..shape.len()).filter(|&axis| shape[axis] == 1).collect(),
    };
    if let Some(&axis) = axes.iter().find(|&&axis| shape[axis] != 1) {
        return invalid(format!("axis {axis} of {shape:?} has more than one element"));
    }
    let kept: Vec<usize> = (0..shape.len()).filter(|axis| !axes.contains(axis)).map(|axis| shape[axis]).collect();
    rearrange(l, &kept)
}

pub(super) fn unsqueeze(l: &mut Lowering<'_, '_>) -> Lowered {
    let shape = l.shape(0)?;
    let Some(axes) = l.ints_either("axes", 1)? else {
        return invalid("its `axes` are missing");
    };
    let rank = shape.len().saturating_add(axes.len());
    if rank > MAX_RANK {
        return Err(Failure::Limit(format!("its result has {rank} axes, more than {MAX_RANK}")));
    }
    let axes = l.axes(&axes, rank)?;
    let mut extents = shape.iter();
    let result: Vec<usize> =
        (0..rank).map(|axis| if axes.contains(&axis) { 1 } else { extents.next().copied().unwrap_or(1) }).collect();
    rearrange(l, &result)
}

pub(super) fn transpose(l: &mut Lowering<'_, '_>) -> Lowered {
    let rank = l.shape(0)?.len();
    let perm = match l.attr_ints("perm")? {
        Some(perm) => l.axes(&perm, rank)?,
        None => (0..rank).rev().collect(),
    };
    let kind = l.kind(0)?;
    let x = l.node(0)?;
    let y = l.apply(Transpose { perm }, &[x])?;
    one(y, kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_resolve_as_onnx_says() {
        let resolve = |wanted: &[i64]| resolve_shape(&[2, 3, 4], wanted, false).ok();
        assert_eq!(resolve(&[0, -1]), Some(vec![2, 12]));
        assert_eq!(resolve(&[-1]), Some(vec![24]));
        assert_eq!(resolve(&[4, 0, 2]), Some(vec![4, 3, 2]));
        assert_eq!(resolve(&[5, -1]), None);
        assert_eq!(resolve(&[-1, -1]), None);
        assert_eq!(resolve(&[1, 1, 1, 0]), None);
        assert_eq!(resolve(&[i64::MAX, -1]), None);
        assert_eq!(resolve_shape(&[0, 2], &[0, -1], true).ok(), None);
    }
}
