//! Moving elements about: constants, choices of elements, broadcasts, small affine maps.

use super::Lowering;
use crate::ops::{Add, Affine, Constant, Gather, Matrix, Op, Reshape, Sub};
use crate::shape::{broadcast_strides, for_each_offset};
use crate::{GraphError, NodeId, Tensor, element_count};

/// The entries of a row of an affine map: (column, weight).
pub(super) type Row = Vec<(usize, f64)>;

/// For each element of `result`, the element of a tensor of shape `from` that it reads under broadcasting.
pub(super) fn broadcast_sources(from: &[usize], result: &[usize]) -> Vec<usize> {
    let mut sources = Vec::new();
    for_each_offset(result, &broadcast_strides(from, result), |offset| sources.push(offset));
    sources
}

impl Lowering {
    /// A constant with one value everywhere.
    pub(super) fn filled(&mut self, value: f64, shape: &[usize]) -> Result<NodeId, GraphError> {
        let count = element_count(shape).unwrap_or(0);
        Ok(self.target.constant(Tensor::new(shape, vec![value; count])?))
    }

    /// The constant that a node is, if it is one.
    pub(super) fn constant(&self, id: NodeId) -> Option<&Constant> {
        match &self.target.node(id).op {
            Op::Constant(constant) => Some(constant),
            _ => None,
        }
    }

    /// Whether a node is exactly this value everywhere.
    pub(super) fn is_filled(&self, id: NodeId, value: f64) -> bool {
        self.target.constant_value(id).is_some_and(|tensor| tensor.data().iter().all(|&x| x == value))
    }

    /// The chosen elements of a node, in this shape.
    pub(super) fn pick(&mut self, x: NodeId, indices: Vec<usize>, shape: &[usize]) -> Result<NodeId, GraphError> {
        let identity = indices.len() == self.target.elements(x) && indices.iter().enumerate().all(|(i, &j)| i == j);
        if identity {
            return self.reshaped(x, shape);
        }
        let flat = self.reshaped(x, &[self.target.elements(x)])?;
        self.target.apply(Gather { axis: 0, indices, index_shape: shape.to_vec() }, &[flat])
    }

    fn reshaped(&mut self, x: NodeId, shape: &[usize]) -> Result<NodeId, GraphError> {
        if self.target.shape(x) == shape {
            return Ok(x);
        }
        self.target.apply(Reshape { shape: shape.to_vec() }, &[x])
    }

    /// A node in the shape that it is broadcast to.
    pub(super) fn broadcast(&mut self, x: NodeId, shape: &[usize]) -> Result<NodeId, GraphError> {
        if self.target.shape(x) == shape {
            return Ok(x);
        }
        let sources = broadcast_sources(self.target.shape(x), shape);
        self.pick(x, sources, shape)
    }

    /// bias + Σ rows · node, as one affine node.
    pub(super) fn affine(
        &mut self,
        terms: Vec<(NodeId, Vec<Row>)>,
        bias: Vec<f64>,
        shape: &[usize],
    ) -> Result<NodeId, GraphError> {
        let (nodes, rows): (Vec<NodeId>, Vec<Vec<Row>>) = terms.into_iter().unzip();
        let matrices = nodes.iter().zip(rows).map(|(&node, rows)| Matrix::sparse(self.target.elements(node), rows));
        let affine = Affine::new(matrices.collect(), bias, shape)?;
        self.target.apply(affine, &nodes)
    }

    /// a − b, or a itself where b is zero.
    pub(super) fn difference(&mut self, a: NodeId, b: NodeId) -> Result<NodeId, GraphError> {
        if let Some(&known) = self.differences.get(&(a, b)) {
            return Ok(known);
        }
        let broadcast = crate::broadcast_shapes("Sub", self.target.shape(a), self.target.shape(b))?;
        let node = match self.is_filled(b, 0.0) && broadcast == self.target.shape(a) {
            true => a,
            false => self.target.apply(Sub, &[a, b])?,
        };
        self.differences.insert((a, b), node);
        Ok(node)
    }

    /// a + b, or a itself where b is zero.
    pub(super) fn sum(&mut self, a: NodeId, b: NodeId) -> Result<NodeId, GraphError> {
        match self.is_filled(b, 0.0) && self.target.shape(a) == self.target.shape(b) {
            true => Ok(a),
            false => self.target.apply(Add, &[a, b]),
        }
    }
}
