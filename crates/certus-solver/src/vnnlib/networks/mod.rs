//! Reading VNN-LIB 2.0: questions about named networks with named tensors, several networks if need be.
//!
//! ```text
//! (vnnlib-version <2.0>)
//! (declare-network f
//!     (declare-input  X float32 [1,2])
//!     (declare-output Y float32 [1,2]))
//! (declare-network g
//!     (equal-to f)
//!     (declare-input  U float32 [1,2])
//!     (declare-output V float32 [1,2]))
//! (assert (== X[0,0] U[0,0]))
//! (assert (> Y[0,0] (+ V[0,0] 0.1)))
//! ```
//!
//! [`parse`] reads the text alone: which networks are meant is said by whoever asks. [`NetworkSpecification::joint`]
//! takes their graphs and gives one graph with all of them inside, and a question about it of the kind that version 1
//! asks; what is known of solving one is known of the other.
//!
//! *Types.* `real`, `float32` and `float64` are accepted; a comparison may not mix them. The question is
//! about exact real arithmetic on the networks' weights whatever the type: each declaration keeps its type for those
//! who want more. Other element types are refused by name.
//!
//! *Beyond the standard.* The connectives, the division by constants and the chained comparisons of version 1 are read
//! here too.

mod declaration;
mod joint;
mod sharing;

use std::collections::HashMap;
use std::fmt;
use std::path::Path;

pub use joint::{Joint, JointError};

use super::error::Fault;
use super::file::{text, text_of};
use super::lexer::Token;
use super::script::Script;
use super::written::Written;
use super::{MAX_BYTES, Specification, Variable, VnnLibError, logic};
use crate::formula::{Formula, Linear};

/// The element type of a tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ElementType {
    /// Real numbers: no claim about floating point is asked for.
    Real,
    /// Single precision.
    Float32,
    /// Double precision.
    Float64,
}

impl fmt::Display for ElementType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ElementType::Real => "real",
            ElementType::Float32 => "float32",
            ElementType::Float64 => "float64",
        })
    }
}

/// What a tensor is to its network, in the order of declaration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// An input.
    Input,
    /// The result of a node inside.
    Hidden,
    /// An output.
    Output,
}

/// A declared tensor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TensorDeclaration {
    /// The name that assertions use.
    pub name: String,
    /// What it is to its network.
    pub role: Role,
    /// The type of its elements.
    pub element_type: ElementType,
    /// Its shape; empty for a scalar.
    pub shape: Vec<usize>,
    /// What the network file calls it, if that is said.
    pub onnx_name: Option<String>,
    /// The number of its first element: among all inputs of the text, or among all hidden tensors and outputs.
    pub first: usize,
}

impl TensorDeclaration {
    /// The number of elements.
    pub fn elements(&self) -> usize {
        self.shape.iter().product()
    }
}

/// How a network is related to one that was declared before it, by its place in the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Likeness {
    /// It is the same network.
    EqualTo(usize),
    /// It has the same structure and other weights.
    IsomorphicTo(usize),
}

/// A declared network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NetworkDeclaration {
    /// The name.
    pub name: String,
    /// Its relation to another network.
    pub likeness: Option<Likeness>,
    /// Inputs, then hidden tensors, then outputs, each in the order of the text.
    pub tensors: Vec<TensorDeclaration>,
}

impl NetworkDeclaration {
    /// The tensors in a role.
    pub fn tensors(&self, role: Role) -> impl Iterator<Item = &TensorDeclaration> {
        self.tensors.iter().filter(move |tensor| tensor.role == role)
    }
}

/// What a text of version 2 asks.
#[derive(Clone, Debug, PartialEq)]
pub struct NetworkSpecification {
    /// The networks, in the order of the text.
    pub networks: Vec<NetworkDeclaration>,
    /// How many elements all inputs have together.
    pub inputs: usize,
    /// How many elements all hidden tensors and outputs have together.
    pub outputs: usize,
    /// All assertions together, over the elements as [`TensorDeclaration::first`] numbers them.
    pub assertion: Formula<Variable>,
    /// The decimals of the text that are no doubles.
    written: Written,
}

/// A text of either version.
#[derive(Clone, Debug, PartialEq)]
pub enum AnySpecification {
    /// Version 1: one network without a name.
    One(Specification),
    /// Version 2: named networks.
    Two(NetworkSpecification),
}

/// Reads a specification of version 2 from its text.
pub fn parse(text: &str) -> Result<NetworkSpecification, VnnLibError> {
    if text.len() > MAX_BYTES {
        return Err(VnnLibError::TooLarge { limit: MAX_BYTES });
    }
    declaration::specification(text).map_err(|fault| fault.locate(text))
}

/// Reads a specification of either version from its text; a later one begins by naming its version.
pub fn parse_any(text: &str) -> Result<AnySpecification, VnnLibError> {
    match declaration::names_version(text) {
        true => parse(text).map(AnySpecification::Two),
        false => super::parse(text).map(AnySpecification::One),
    }
}

/// Reads a specification of either version from a file, which may be compressed with gzip.
pub fn read_any(path: &Path) -> Result<AnySpecification, VnnLibError> {
    parse_any(&text(path)?)
}

/// The same from the bytes of a file.
pub fn parse_any_bytes(path: &Path, bytes: &[u8]) -> Result<AnySpecification, VnnLibError> {
    parse_any(&text_of(path, bytes)?)
}

/// The tensors that are declared so far.
#[derive(Default)]
pub(super) struct Tensors<'t> {
    by_name: HashMap<&'t str, (Role, Vec<usize>, usize)>,
    /// For inputs and for the rest: the type of the elements from each first number on, in order.
    input_types: Vec<(usize, ElementType)>,
    output_types: Vec<(usize, ElementType)>,
}

impl<'t> Tensors<'t> {
    pub fn get(&self, name: &str) -> Option<&(Role, Vec<usize>, usize)> {
        self.by_name.get(name)
    }

    fn insert(&mut self, name: &'t str, tensor: &TensorDeclaration) {
        let types = if tensor.role == Role::Input { &mut self.input_types } else { &mut self.output_types };
        types.push((tensor.first, tensor.element_type));
        self.by_name.insert(name, (tensor.role, tensor.shape.clone(), tensor.first));
    }

    fn element_type(&self, variable: Variable) -> Option<ElementType> {
        let (types, index) = match variable {
            Variable::Input(index) => (&self.input_types, index),
            Variable::Output(index) => (&self.output_types, index),
        };
        types[..types.partition_point(|&(first, _)| first <= index)].last().map(|&(_, element_type)| element_type)
    }

    /// Refuses a comparison of terms over different types.
    pub fn check_types(&self, head: &Token<'_>, terms: &[Linear<Variable>]) -> Result<(), Fault> {
        let variables = terms.iter().flat_map(|term| &term.terms).map(|(variable, _)| *variable);
        let mut types = variables.filter_map(|variable| self.element_type(variable));
        let first = types.next();
        match types.find(|&other| Some(other) != first) {
            Some(other) => {
                let first = first.unwrap_or(other);
                Err(head.fault(format!("the comparison mixes the element types {first} and {other}")))
            }
            None => Ok(()),
        }
    }
}

impl<'t> Script<'t> {
    /// The element of a declared tensor, with its indices.
    pub fn element(&mut self, name: &Token<'t>) -> Result<Variable, Fault> {
        let indices = if self.lexer.take_mark("[")? { self.indices(name)? } else { Vec::new() };
        let found = self.tensors.as_ref().and_then(|tensors| tensors.get(name.text));
        let Some((role, shape, first)) = found else {
            return Err(name.fault(format!("`{}` is not declared", name.text)));
        };
        let inside = indices.len() == shape.len() && indices.iter().zip(shape).all(|(index, extent)| index < extent);
        if !inside {
            return Err(name.fault(format!("`{}` has shape {shape:?} and no element {indices:?}", name.text)));
        }
        let flat = indices.iter().zip(shape).fold(0, |flat, (&index, &extent)| flat * extent + index);
        Ok(match role {
            Role::Input => Variable::Input(first + flat),
            Role::Hidden | Role::Output => Variable::Output(first + flat),
        })
    }
}

#[cfg(test)]
mod tests;
