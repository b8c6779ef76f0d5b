//! The same values under another shape.

use crate::ops::movement::movement_operator;
use crate::ops::{Arity, Movement};
use crate::{GraphError, Shape, element_count};

/// The same values under another shape with as many elements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reshape {
    /// The new shape.
    pub shape: Shape,
}

impl Movement for Reshape {
    const NAME: &'static str = "Reshape";
    const ARITY: Arity = Arity::Exactly(1);

    fn result_shape(&self, shapes: &[&[usize]]) -> Result<Shape, GraphError> {
        if element_count(shapes[0]).is_some() && element_count(shapes[0]) == element_count(&self.shape) {
            Ok(self.shape.clone())
        } else {
            let message = format!("{:?} cannot be arranged as {:?}", shapes[0], self.shape);
            Err(GraphError::shape("Reshape", message))
        }
    }

    fn sources(&self, _shapes: &[&[usize]], result: &[usize], visit: &mut dyn FnMut(usize, usize)) {
        (0..result.iter().product()).for_each(|element| visit(0, element));
    }
}

movement_operator!(Reshape);
