//! Shapes: lists of extents, row-major; `[]` is a scalar. A graph has no batch axis of its own.

use crate::GraphError;

/// The extents of a tensor, outermost first.
pub type Shape = Vec<usize>;

/// No tensor of a graph may have more elements than this: larger claims come from broken or hostile files.
pub const MAX_ELEMENTS: usize = 1 << 28;

/// The number of elements of a shape, or `None` if it is beyond `MAX_ELEMENTS`.
pub fn element_count(shape: &[usize]) -> Option<usize> {
    if shape.contains(&0) {
        return Some(0);
    }
    shape.iter().try_fold(1usize, |count, &extent| count.checked_mul(extent)).filter(|&count| count <= MAX_ELEMENTS)
}

/// The shape that two shapes broadcast to, by the rule of NumPy and ONNX.
pub fn broadcast_shapes(op: &'static str, a: &[usize], b: &[usize]) -> Result<Shape, GraphError> {
    let rank = a.len().max(b.len());
    let extent = |shape: &[usize], axis: usize| (axis + shape.len()).checked_sub(rank).map_or(1, |index| shape[index]);
    (0..rank)
        .map(|axis| match (extent(a, axis), extent(b, axis)) {
            (x, y) if x == y => Ok(x),
            (1, y) => Ok(y),
            (x, 1) => Ok(x),
            _ => Err(GraphError::shape(op, format!("shapes {a:?} and {b:?} do not broadcast"))),
        })
        .collect()
}

/// Row-major strides of a shape.
pub(crate) fn strides(shape: &[usize]) -> Vec<usize> {
    let mut strides = vec![1; shape.len()];
    for axis in (1..shape.len()).rev() {
        strides[axis - 1] = strides[axis] * shape[axis];
    }
    strides
}

/// For each element of `shape`, in order, calls `visit` with its offset under the given strides (one per axis).
pub(crate) fn for_each_offset(shape: &[usize], strides: &[usize], mut visit: impl FnMut(usize)) {
    if shape.contains(&0) {
        return;
    }
    let mut index = vec![0usize; shape.len()];
    let mut offset = 0;
    loop {
        visit(offset);
        let mut axis = shape.len();
        loop {
            if axis == 0 {
                return;
            }
            axis -= 1;
            index[axis] += 1;
            offset += strides[axis];
            if index[axis] < shape[axis] {
                break;
            }
            offset -= strides[axis] * shape[axis];
            index[axis] = 0;
        }
    }
}

/// Strides that read a tensor of shape `from` as if it had been broadcast to `to`.
pub(crate) fn broadcast_strides(from: &[usize], to: &[usize]) -> Vec<usize> {
    let own = strides(from);
    (0..to.len())
        .map(|axis| match (axis + from.len()).checked_sub(to.len()) {
            Some(index) if from[index] != 1 => own[index],
            _ => 0,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn broadcasting_follows_numpy() {
        assert_eq!(broadcast_shapes("t", &[3, 1], &[4]), Ok(vec![3, 4]));
        assert_eq!(broadcast_shapes("t", &[], &[2]), Ok(vec![2]));
        assert!(broadcast_shapes("t", &[3], &[4]).is_err());
    }

    #[test]
    fn counts_refuse_overflow() {
        assert_eq!(element_count(&[]), Some(1));
        assert_eq!(element_count(&[usize::MAX, 2]), None);
        assert_eq!(element_count(&[usize::MAX, 0]), Some(0));
    }

    #[test]
    fn offsets_walk_a_transposed_view() {
        let mut seen = Vec::new();
        for_each_offset(&[3, 2], &[1, 3], |offset| seen.push(offset));
        assert_eq!(seen, [0, 3, 1, 4, 2, 5]);
    }
}
