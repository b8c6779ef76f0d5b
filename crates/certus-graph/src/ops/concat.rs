//! Concatenation along an axis.

use crate::ops::movement::movement_operator;
use crate::ops::{Arity, Movement};
use crate::{GraphError, Shape};

/// The arguments one after the other along `axis`; their other extents agree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Concat {
    /// The axis along which the arguments are joined.
    pub axis: usize,
}

impl Movement for Concat {
    const NAME: &'static str = "Concat";
    const ARITY: Arity = Arity::AtLeast(1);

    fn result_shape(&self, shapes: &[&[usize]]) -> Result<Shape, GraphError> {
        let mut result = shapes[0].to_vec();
        if self.axis >= result.len() {
            let message = format!("axis {} is outside of shape {:?}", self.axis, shapes[0]);
            return Err(GraphError::shape("Concat", message));
        }
        for shape in &shapes[1..] {
            let fits = shape.len() == result.len()
                && (0..result.len()).all(|axis| axis == self.axis || shape[axis] == result[axis]);
            if !fits {
                let message = format!("{:?} and {shape:?} differ beside axis {}", shapes[0], self.axis);
                return Err(GraphError::shape("Concat", message));
            }
            result[self.axis] = result[self.axis].saturating_add(shape[self.axis]);
        }
        Ok(result)
    }

    fn sources(&self, shapes: &[&[usize]], _result: &[usize], visit: &mut dyn FnMut(usize, usize)) {
        let outer: usize = shapes[0][..self.axis].iter().product();
        for block in 0..outer {
            for (arg, shape) in shapes.iter().enumerate() {
                let length: usize = shape[self.axis..].iter().product();
                (block * length..(block + 1) * length).for_each(|element| visit(arg, element));
            }
        }
    }
}

movement_operator!(Concat);
