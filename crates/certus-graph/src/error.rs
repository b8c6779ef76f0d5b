//! What can go wrong while a graph is built or evaluated.

use std::fmt;

use crate::Fault;

/// An error in the construction or use of a graph.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GraphError {
    /// An operator got a number of arguments that it does not take.
    Arity {
        /// The operator's name.
        op: &'static str,
        /// What it takes, in words.
        expected: String,
        /// How many it got.
        found: usize,
    },
    /// The shapes of the arguments do not fit the operator.
    Shape {
        /// The operator's name.
        op: &'static str,
        /// What does not fit, with the shapes.
        message: String,
    },
    /// A tensor's data does not have the number of elements of its shape.
    Data {
        /// The shape.
        shape: Vec<usize>,
        /// The number of elements given.
        found: usize,
    },
    /// A call supplied inputs that do not fit the graph's inputs.
    Inputs(String),
    /// Certus contradicts itself.
    Fault(Box<Fault>),
}

impl GraphError {
    /// A shape error of the operator `op`.
    pub fn shape(op: &'static str, message: impl Into<String>) -> Self {
        GraphError::Shape { op, message: message.into() }
    }
}

impl fmt::Display for GraphError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            GraphError::Arity { op, expected, found } => {
                write!(f, "{op} takes {expected}, got {found}")
            }
            GraphError::Shape { op, message } => write!(f, "{op}: {message}"),
            GraphError::Data { shape, found } => {
                write!(f, "a tensor of shape {shape:?} cannot hold {found} values")
            }
            GraphError::Inputs(message) => f.write_str(message),
            GraphError::Fault(fault) => fault.fmt(f),
        }
    }
}

impl std::error::Error for GraphError {}
