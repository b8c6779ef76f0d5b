//! Chosen indices along an axis.

use crate::ops::movement::movement_operator;
use crate::ops::{Arity, Movement};
use crate::{GraphError, Shape};

/// The slices of an axis at the given indices; the axis is replaced by `index_shape` (empty for one index).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gather {
    /// The axis.
    pub axis: usize,
    /// The indices, not negative.
    pub indices: Vec<usize>,
    /// The shape that the indices are arranged in.
    pub index_shape: Shape,
}

impl Movement for Gather {
    const NAME: &'static str = "Gather";
    const ARITY: Arity = Arity::Exactly(1);

    fn result_shape(&self, shapes: &[&[usize]]) -> Result<Shape, GraphError> {
        let shape = shapes[0];
        let fits = self.axis < shape.len()
            && crate::element_count(&self.index_shape) == Some(self.indices.len())
            && self.indices.iter().all(|&index| index < shape[self.axis]);
        if !fits {
            let message = format!("indices along axis {} leave the shape {shape:?}", self.axis);
            return Err(GraphError::shape("Gather", message));
        }
        let mut result = shape[..self.axis].to_vec();
        result.extend(&self.index_shape);
        result.extend(&shape[self.axis + 1..]);
        Ok(result)
    }

    fn sources(&self, shapes: &[&[usize]], _result: &[usize], visit: &mut dyn FnMut(usize, usize)) {
        let shape = shapes[0];
        let outer: usize = shape[..self.axis].iter().product();
        let inner: usize = shape[self.axis + 1..].iter().product();
        for block in 0..outer {
            for &index in &self.indices {
                let start = (block * shape[self.axis] + index) * inner;
                (start..start + inner).for_each(|element| visit(0, element));
            }
        }
    }
}

movement_operator!(Gather);
