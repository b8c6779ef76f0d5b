//! Operators whose results follow from shapes and constants alone.

use crate::import::limits::{MAX_TENSOR, checked_count};
use crate::import::literal::{Kind, Literal};
use crate::import::lowering::{Failure, Lowered, Lowering, invalid, known};
use crate::import::weights::decode_tensor;

/// The extents of the input, or of the axes from `start` to `end`.
pub(super) fn shape(l: &mut Lowering<'_, '_>) -> Lowered {
    let shape = l.shape(0)?;
    let rank = shape.len() as i64;
    let clamp = |axis: i64| {
        let axis = if axis < 0 { axis.saturating_add(rank) } else { axis };
        axis.clamp(0, rank) as usize
    };
    let start = clamp(l.attr_int("start")?.unwrap_or(0));
    let end = clamp(l.attr_int("end")?.unwrap_or(rank));
    known(Literal::ints(shape[start..end.max(start)].iter().copied()))
}

/// The number of elements of the input.
pub(super) fn size(l: &mut Lowering<'_, '_>) -> Lowered {
    let count = checked_count(&l.shape(0)?).map_err(Failure::Limit)?;
    known(Literal::scalar(Kind::Int, count as f64))
}

/// One value throughout a given shape.
pub(super) fn constant_of_shape(l: &mut Lowering<'_, '_>) -> Lowered {
    let shape = l.ints(0, "shape")?;
    let extents: Option<Vec<usize>> = shape.iter().map(|&extent| usize::try_from(extent).ok()).collect();
    let Some(extents) = extents else {
        return invalid(format!("the shape {shape:?} has a negative extent"));
    };
    let count = checked_count(&extents).map_err(Failure::Limit)?;
    l.produce(count)?;
    let (kind, value) = match l.attr_tensor("value")? {
        None => (Kind::Float, 0.0),
        Some(tensor) => {
            let literal =
                decode_tensor(tensor, "value", None, &mut 1).map_err(|error| Failure::Invalid(error.to_string()))?;
            match literal.single() {
                Some(value) => (literal.kind, value),
                None => return invalid("its attribute `value` must hold one element"),
            }
        }
    };
    known(Literal { kind, shape: extents, data: vec![value; count] })
}

/// start, start + delta, … below limit.
pub(super) fn range(l: &mut Lowering<'_, '_>) -> Lowered {
    let mut bounds = [0.0; 3];
    for (index, (bound, what)) in bounds.iter_mut().zip(["start", "limit", "delta"]).enumerate() {
        *bound = match l.literal(index, what)?.single() {
            Some(value) if value.is_finite() => value,
            _ => return invalid(format!("its {what} must be one finite number")),
        };
    }
    let [start, limit, delta] = bounds;
    let count = ((limit - start) / delta).ceil().max(0.0);
    if !count.is_finite() {
        return invalid("its delta is zero");
    }
    if count > MAX_TENSOR as f64 {
        return Err(Failure::Limit(format!("it has {count} elements, more than {MAX_TENSOR}")));
    }
    let count = count as usize;
    l.produce(count)?;
    let data = (0..count).map(|index| start + index as f64 * delta).collect();
    known(Literal { kind: l.kind(0)?, shape: vec![count], data })
}
