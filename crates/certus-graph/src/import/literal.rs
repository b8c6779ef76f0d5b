//! Values that are known at import time: weights, constants, and what shape computations work out.

use std::rc::Rc;

use crate::NodeId;

/// What the elements of a tensor stand for. All are held as doubles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Real numbers.
    Float,
    /// Integers: indices, extents, axes.
    Int,
    /// Truth values, 0 or 1.
    Bool,
}

/// A tensor whose elements are known.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Literal {
    pub kind: Kind,
    pub shape: Vec<usize>,
    pub data: Vec<f64>,
}

/// What a name in the model stands for.
#[derive(Debug, Clone)]
pub(super) enum Value {
    /// Independent of the network's inputs.
    Known(Rc<Literal>),
    /// A node of the graph.
    Variable { node: NodeId, kind: Kind },
    /// The result of a node that is not supported: neither shape nor value can be told.
    Hidden,
}

impl Literal {
    /// A vector of integers.
    pub fn ints(values: impl IntoIterator<Item = usize>) -> Self {
        let data: Vec<f64> = values.into_iter().map(|value| value as f64).collect();
        Literal { kind: Kind::Int, shape: vec![data.len()], data }
    }

    /// A value without axes.
    pub fn scalar(kind: Kind, value: f64) -> Self {
        Literal { kind, shape: Vec::new(), data: vec![value] }
    }

    /// The elements as integers. Beyond 2^53 they are rounded, which only happens to the huge values that stand
    /// for 'to the end' in slices; those are clamped to the extent anyway.
    pub fn to_ints(&self) -> Vec<i64> {
        self.data.iter().map(|&value| value as i64).collect()
    }

    /// The one element, if there is just one.
    pub fn single(&self) -> Option<f64> {
        match self.data[..] {
            [value] => Some(value),
            _ => None,
        }
    }

    /// The first element that is not a finite number.
    pub fn non_finite(&self) -> Option<(usize, f64)> {
        self.data.iter().copied().enumerate().find(|(_, value)| !value.is_finite())
    }
}

impl From<Literal> for Value {
    fn from(literal: Literal) -> Self {
        Value::Known(Rc::new(literal))
    }
}
