//! Elements chosen by indices that the network computes, such as the value of the action it takes.

use crate::NodeId;
use crate::import::literal::Kind;
use crate::import::lowering::{Failure, Lowered, Lowering, invalid, one, unsupported};
use crate::ops::{Add, Compare, Select, Slice, SliceRange};

/// More places than this to choose from are not spelt out.
const MAX_CHOICES: usize = 256;

/// The element at place `indices[…]` of the axis, as a cascade: if the index is 0 the first, else if it is 1 the second,
/// and so on.
pub(super) fn gather_elements(l: &mut Lowering<'_, '_>) -> Lowered {
    let (shape, chosen) = (l.shape(0)?, l.shape(1)?);
    let axis = l.axis(l.attr_int("axis")?.unwrap_or(0), shape.len())?;
    let fits = |other: usize| other == axis || chosen[other] <= shape[other];
    if chosen.len() != shape.len() || !(0..shape.len()).all(fits) {
        return invalid(format!("indices of shape {chosen:?} do not fit {shape:?}"));
    }
    if l.kind(1)? != Kind::Int {
        return invalid("its indices must be integers");
    }
    let extent = shape[axis];
    if extent > MAX_CHOICES || extent == 0 {
        return unsupported(format!("it chooses among {extent} elements; 1 to {MAX_CHOICES} can be"));
    }
    let kind = l.kind(0)?;
    let x = l.node(0)?;
    let index = non_negative(l, extent)?;
    let candidate = |l: &mut Lowering<'_, '_>, place: usize| {
        let ranges = (0..shape.len()).map(|other| match other == axis {
            true => SliceRange { axis, start: place, step: 1, len: 1 },
            false => SliceRange { axis: other, start: 0, step: 1, len: chosen[other] },
        });
        l.apply(Slice::new(ranges.collect()), &[x])
    };
    // The last candidate is chosen like the others: that gives the result the shape of the indices.
    let mut result = candidate(l, extent - 1)?;
    for place in (0..extent).rev() {
        let value = candidate(l, place)?;
        let number = l.scalar(place as f64);
        let hit = l.apply(Compare::Equal, &[index, number])?;
        result = l.apply(Select, &[hit, value, result])?;
    }
    one(result, kind)
}

/// The indices with negative ones counted from the end.
fn non_negative(l: &mut Lowering<'_, '_>, extent: usize) -> Result<NodeId, Failure> {
    let index = l.node(1)?;
    if let Some(literal) = l.known(1) {
        let limit = extent as f64;
        if let Some(index) = literal.data.iter().find(|&&index| !(-limit..limit).contains(&index)) {
            return invalid(format!("index {index} is outside of an axis of extent {extent}"));
        }
        if literal.data.iter().all(|&index| index >= 0.0) {
            return Ok(index);
        }
    }
    let (zero, extent) = (l.scalar(0.0), l.scalar(extent as f64));
    let negative = l.apply(Compare::Less, &[index, zero])?;
    let wrapped = l.apply(Add, &[index, extent])?;
    l.apply(Select, &[negative, wrapped, index])
}
