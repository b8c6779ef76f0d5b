//! Constant tensors: weights and folded values, held in double precision (every float32 is a double).

use crate::GraphError;
use crate::shape::{Shape, element_count};

/// A row-major tensor of doubles.
#[derive(Debug, Clone, PartialEq)]
pub struct Tensor {
    shape: Shape,
    data: Vec<f64>,
}

impl Tensor {
    /// A tensor with this shape and data; their sizes must agree.
    pub fn new(shape: impl Into<Shape>, data: Vec<f64>) -> Result<Self, GraphError> {
        let shape = shape.into();
        if element_count(&shape) == Some(data.len()) {
            Ok(Tensor { shape, data })
        } else {
            Err(GraphError::Data { shape, found: data.len() })
        }
    }

    /// A tensor of shape `[]`.
    pub fn scalar(value: f64) -> Self {
        Tensor { shape: Vec::new(), data: vec![value] }
    }

    /// A tensor of one axis.
    pub fn vector(data: Vec<f64>) -> Self {
        Tensor { shape: vec![data.len()], data }
    }

    /// The extents.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// The values, row-major.
    pub fn data(&self) -> &[f64] {
        &self.data
    }

    /// The number of elements.
    pub fn len(&self) -> usize {
        self.data.len()
    }

    /// Whether there is no element.
    pub fn is_empty(&self) -> bool {
        self.data.is_empty()
    }

    /// The values, row-major, by value.
    pub fn into_data(self) -> Vec<f64> {
        self.data
    }
}
