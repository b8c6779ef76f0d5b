//! Regular ranges along axes.

use crate::ops::movement::movement_operator;
use crate::ops::{Arity, Movement};
use crate::shape::strides;
use crate::{GraphError, Shape};

/// A range of one axis: `len` indices from `start`, `step` apart (negative steps run backwards).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SliceRange {
    /// The axis.
    pub axis: usize,
    /// The first index.
    pub start: usize,
    /// The distance between indices; not zero.
    pub step: i64,
    /// The number of indices.
    pub len: usize,
}

/// The elements whose indices lie in the given ranges; axes not named are kept whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slice {
    /// At most one range per axis.
    pub ranges: Vec<SliceRange>,
}

impl Slice {
    /// A slice by ranges.
    pub fn new(ranges: Vec<SliceRange>) -> Self {
        Slice { ranges }
    }

    /// `len` elements of a vector, from `start`.
    pub fn of_vector(start: usize, len: usize) -> Self {
        Slice::new(vec![SliceRange { axis: 0, start, step: 1, len }])
    }

    /// The range of an axis of this extent under ONNX's rule for `starts`, `ends` and `steps`: negative indices count
    /// from the end and everything is clamped to the axis.
    pub fn onnx_range(axis: usize, extent: usize, start: i64, end: i64, step: i64) -> Option<SliceRange> {
        let extent = i64::try_from(extent).ok()?;
        let from_end = |index: i64| if index < 0 { index.saturating_add(extent) } else { index };
        let (low, high) = if step > 0 { (0, extent) } else { (-1, extent - 1) };
        // A backwards slice may run down to before the first element, which only a very negative end can say.
        let start = from_end(start).clamp(low.max(0), high.max(0));
        let end = from_end(end).clamp(low, high);
        let distance = if step > 0 { end - start } else { start - end };
        let len = match step {
            0 => return None,
            _ if distance <= 0 || extent == 0 => 0,
            _ => (distance - 1) / step.checked_abs()? + 1,
        };
        Some(SliceRange { axis, start: start as usize, step, len: len as usize })
    }
}

impl Movement for Slice {
    const NAME: &'static str = "Slice";
    const ARITY: Arity = Arity::Exactly(1);

    fn result_shape(&self, shapes: &[&[usize]]) -> Result<Shape, GraphError> {
        let mut result = shapes[0].to_vec();
        let mut seen = vec![false; result.len()];
        for range in &self.ranges {
            if seen.get(range.axis) != Some(&false) {
                let message = format!("axis {} is outside of {:?} or named twice", range.axis, shapes[0]);
                return Err(GraphError::shape("Slice", message));
            }
            seen[range.axis] = true;
            let extent = shapes[0][range.axis];
            let last = i128::from(range.step) * range.len.saturating_sub(1) as i128 + range.start as i128;
            let inside = range.len == 0 || range.start < extent && (0..extent as i128).contains(&last);
            if !inside || range.step == 0 {
                let message = format!("{range:?} leaves axis {} of {:?}", range.axis, shapes[0]);
                return Err(GraphError::shape("Slice", message));
            }
            result[range.axis] = range.len;
        }
        Ok(result)
    }

    fn sources(&self, shapes: &[&[usize]], result: &[usize], visit: &mut dyn FnMut(usize, usize)) {
        let own = strides(shapes[0]);
        let mut offsets: Vec<Vec<usize>> = own
            .iter()
            .zip(shapes[0])
            .map(|(&stride, &extent)| (0..extent).map(|index| index * stride).collect())
            .collect();
        for range in &self.ranges {
            offsets[range.axis] = (0..range.len)
                .map(|k| (range.start as i64 + k as i64 * range.step) as usize * own[range.axis])
                .collect();
        }
        let positions = strides(result);
        for flat in 0..result.iter().product() {
            let axis_offset = |axis: usize| offsets[axis][flat / positions[axis] % result[axis]];
            visit(0, (0..result.len()).map(axis_offset).sum());
        }
    }
}

movement_operator!(Slice);
