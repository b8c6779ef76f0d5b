//! The kinds of nodes that a lowered graph is made of.

use crate::ops::{Compare, Op};
use crate::{Graph, NodeId};

/// What a node of a lowered graph is to an engine that bounds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A free tensor.
    Input,
    /// A known tensor.
    Constant,
    /// An affine map.
    Affine,
    /// A convolution with too many weights to be written as a matrix: linear too.
    Convolution,
    /// A reshape, slice, gather, transposition or concatenation.
    Movement,
    /// An elementwise function of the one argument that is not constant; the result has that argument's shape.
    Curve,
    /// The product of two nodes of the same shape, neither of them constant.
    Product,
    /// Anything else.
    Opaque,
}

impl Kind {
    /// The kind of a node.
    ///
    /// Curves with a second argument are `Pow(x, c)` with one exact exponent, `Div(1, x)`, and the inequalities
    /// `Compare(x, 0)`; the constant may have any shape that does not broadcast x.
    pub fn of(graph: &Graph, id: NodeId) -> Kind {
        let node = graph.node(id);
        let keeps_shape = |arg: usize| graph.shape(node.inputs[arg]) == node.shape;
        let filled = |arg: usize| {
            let data = graph.constant_value(node.inputs[arg])?.data();
            let first = *data.first()?;
            data.iter().all(|&x| x == first).then_some(first)
        };
        let is_constant = |arg: usize| matches!(graph.node(node.inputs[arg]).op, Op::Constant(_));
        let curve_if = |condition: bool| if condition { Kind::Curve } else { Kind::Opaque };
        match &node.op {
            Op::Input(_) => Kind::Input,
            Op::Constant(_) => Kind::Constant,
            Op::Affine(_) => Kind::Affine,
            Op::Conv(_) => Kind::Convolution,
            Op::Reshape(_) | Op::Slice(_) | Op::Gather(_) | Op::Transpose(_) | Op::Concat(_) => Kind::Movement,
            op if op.activation().is_some() => Kind::Curve,
            Op::Pow(_) => curve_if(filled(1).is_some() && keeps_shape(0)),
            Op::Div(_) => curve_if(filled(0) == Some(1.0) && keeps_shape(1)),
            Op::Compare(Compare::Equal | Compare::NotEqual) => Kind::Opaque,
            Op::Compare(_) => curve_if(filled(1) == Some(0.0) && keeps_shape(0)),
            Op::Mul(_) if keeps_shape(0) && keeps_shape(1) && !is_constant(0) && !is_constant(1) => Kind::Product,
            _ => Kind::Opaque,
        }
    }
}
