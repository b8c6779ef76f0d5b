//! Axes in another order.

use crate::ops::movement::movement_operator;
use crate::ops::{Arity, Movement};
use crate::shape::{for_each_offset, strides};
use crate::{GraphError, Shape};

/// Axes in another order: axis `i` of the result is axis `perm[i]` of the argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transpose {
    /// A permutation of the axes.
    pub perm: Vec<usize>,
}

impl Movement for Transpose {
    const NAME: &'static str = "Transpose";
    const ARITY: Arity = Arity::Exactly(1);

    fn result_shape(&self, shapes: &[&[usize]]) -> Result<Shape, GraphError> {
        let mut sorted = self.perm.clone();
        sorted.sort_unstable();
        if sorted.into_iter().eq(0..shapes[0].len()) {
            Ok(self.perm.iter().map(|&axis| shapes[0][axis]).collect())
        } else {
            let message = format!("{:?} is not a permutation of the axes of {:?}", self.perm, shapes[0]);
            Err(GraphError::shape("Transpose", message))
        }
    }

    fn sources(&self, shapes: &[&[usize]], result: &[usize], visit: &mut dyn FnMut(usize, usize)) {
        let own = strides(shapes[0]);
        let steps: Vec<usize> = self.perm.iter().map(|&axis| own[axis]).collect();
        for_each_offset(result, &steps, |offset| visit(0, offset));
    }
}

movement_operator!(Transpose);
