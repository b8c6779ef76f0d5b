//! What the lowering of one node works with: its inputs, its attributes, and the graph it adds to.
//!
//! The same lowering serves both ways of treating a node. If an input depends on the network's inputs, the node's
//! meaning goes into the network's graph. If all inputs are known, it goes into a scratch graph that is evaluated at
//! once; so there is one definition of each operator, and shape computations fold away by themselves.

use std::collections::HashMap;
use std::rc::Rc;

use super::limits::Budget;
use super::literal::{Kind, Literal, Value};
use super::proto::{AttributeValue, NodeProto, TensorProto};
use crate::ops::{Op, Reshape};
use crate::{Graph, GraphError, NodeId, Tensor};

/// Why a node could not be lowered.
#[derive(Debug)]
pub(super) enum Failure {
    /// It is valid ONNX that has no counterpart here.
    Unsupported(String),
    /// It breaks the rules of its operator.
    Invalid(String),
    /// It passes a bound on size.
    Limit(String),
    /// One of the constants that it reads is unusable.
    Tensor { name: String, message: String },
}

impl From<GraphError> for Failure {
    fn from(error: GraphError) -> Self {
        Failure::Invalid(error.to_string())
    }
}

/// What a lowering gives: one value per output of the node.
pub(super) type Lowered = Result<Vec<Value>, Failure>;

/// The lowering of one node.
pub(super) struct Lowering<'s, 'a> {
    pub proto: &'s NodeProto<'a>,
    /// The version of ONNX's operators that the model uses.
    pub opset: i64,
    /// The inputs; `None` where an optional one is left out.
    pub inputs: Vec<Option<Value>>,
    pub graph: &'s mut Graph,
    /// Constants that already are nodes of `graph`, by tensor name.
    pub constants: &'s mut HashMap<&'a str, NodeId>,
    pub budget: &'s mut Budget,
    /// Whether `graph` is a scratch graph that is evaluated now.
    pub folding: bool,
}

pub(super) fn unsupported<T>(reason: impl Into<String>) -> Result<T, Failure> {
    Err(Failure::Unsupported(reason.into()))
}

pub(super) fn invalid<T>(reason: impl Into<String>) -> Result<T, Failure> {
    Err(Failure::Invalid(reason.into()))
}

/// Inputs and their forms.
impl<'a> Lowering<'_, 'a> {
    /// Whether input `index` is there.
    pub fn has(&self, index: usize) -> bool {
        matches!(self.inputs.get(index), Some(Some(_)))
    }

    /// Whether something reads output `index`, as far as the node tells.
    pub fn wants_output(&self, index: usize) -> bool {
        self.proto.outputs.get(index).is_some_and(|name| !name.is_empty())
    }

    /// Input `index` as it is.
    pub fn value(&self, index: usize) -> Result<Value, Failure> {
        match self.inputs.get(index) {
            Some(Some(value)) => Ok(value.clone()),
            _ => invalid(format!("its input {index} is missing")),
        }
    }

    /// The shape of input `index`.
    pub fn shape(&self, index: usize) -> Result<Vec<usize>, Failure> {
        Ok(match self.value(index)? {
            Value::Known(literal) => literal.shape.clone(),
            Value::Variable { node, .. } => self.graph.shape(node).to_vec(),
            Value::Hidden => return unsupported("it depends on a node that is not supported"),
        })
    }

    /// What the elements of input `index` are.
    pub fn kind(&self, index: usize) -> Result<Kind, Failure> {
        Ok(match self.value(index)? {
            Value::Known(literal) => literal.kind,
            Value::Variable { kind, .. } => kind,
            Value::Hidden => Kind::Float,
        })
    }

    /// Input `index` as a node, a constant one if its value is known.
    pub fn node(&mut self, index: usize) -> Result<NodeId, Failure> {
        match self.value(index)? {
            Value::Variable { node, .. } => Ok(node),
            Value::Hidden => unsupported("it depends on a node that is not supported"),
            Value::Known(literal) => {
                let name = self.proto.inputs[index];
                if let Some(&node) = self.constants.get(name) {
                    return Ok(node);
                }
                self.check_finite(index, &literal)?;
                let node = self.constant(&literal.shape, literal.data.clone())?;
                self.constants.insert(name, node);
                Ok(node)
            }
        }
    }

    /// Input `index` if its value is known.
    pub fn known(&self, index: usize) -> Option<Rc<Literal>> {
        match self.inputs.get(index) {
            Some(Some(Value::Known(literal))) => Some(Rc::clone(literal)),
            _ => None,
        }
    }

    /// Input `index`, whose value must be known; `what` is what the operator calls it.
    pub fn literal(&self, index: usize, what: &str) -> Result<Rc<Literal>, Failure> {
        self.value(index)?;
        self.known(index)
            .ok_or_else(|| Failure::Unsupported(format!("its {what} must be constant, and is computed here")))
    }

    /// Input `index` as constant weights: known, and finite throughout.
    pub fn weights(&self, index: usize, what: &str) -> Result<Rc<Literal>, Failure> {
        let literal = self.literal(index, what)?;
        self.check_finite(index, &literal)?;
        Ok(literal)
    }

    /// Input `index` as constant integers.
    pub fn ints(&self, index: usize, what: &str) -> Result<Vec<i64>, Failure> {
        let literal = self.literal(index, what)?;
        if literal.kind == Kind::Int { Ok(literal.to_ints()) } else { invalid(format!("its {what} must be integers")) }
    }

    /// Integers that older operator sets hold in an attribute and newer ones in an input; `None` if absent.
    pub fn ints_either(&self, attribute: &str, index: usize) -> Result<Option<Vec<i64>>, Failure> {
        if let Some(values) = self.attr_ints(attribute)? {
            Ok(Some(values))
        } else if self.has(index) {
            self.ints(index, attribute).map(Some)
        } else {
            Ok(None)
        }
    }

    fn check_finite(&self, index: usize, literal: &Literal) -> Result<(), Failure> {
        match literal.non_finite() {
            None => Ok(()),
            Some((element, value)) => Err(Failure::Tensor {
                name: self.proto.inputs[index].to_owned(),
                message: format!("element {element} is {value}, which is no weight; retrain or repair the model"),
            }),
        }
    }
}

/// Attributes.
impl<'a> Lowering<'_, 'a> {
    fn attribute(&self, name: &str) -> Option<&AttributeValue<'a>> {
        self.proto.attributes.iter().find(|attribute| attribute.name == name).map(|attribute| &attribute.value)
    }

    fn wrong_type<T>(name: &str, expected: &str) -> Result<T, Failure> {
        invalid(format!("its attribute `{name}` must be {expected}"))
    }

    /// An integer attribute.
    pub fn attr_int(&self, name: &str) -> Result<Option<i64>, Failure> {
        match self.attribute(name) {
            None => Ok(None),
            Some(AttributeValue::Int(value)) => Ok(Some(*value)),
            Some(_) => Self::wrong_type(name, "an integer"),
        }
    }

    /// An attribute that is a flag.
    pub fn attr_flag(&self, name: &str, default: bool) -> Result<bool, Failure> {
        Ok(self.attr_int(name)?.map_or(default, |value| value != 0))
    }

    /// A list of integers.
    pub fn attr_ints(&self, name: &str) -> Result<Option<Vec<i64>>, Failure> {
        match self.attribute(name) {
            None => Ok(None),
            Some(AttributeValue::Ints(values)) => Ok(Some(values.clone())),
            Some(_) => Self::wrong_type(name, "a list of integers"),
        }
    }

    /// A float attribute; it must be finite.
    pub fn attr_float(&self, name: &str, default: f64) -> Result<f64, Failure> {
        match self.attribute(name) {
            None => Ok(default),
            Some(AttributeValue::Float(value)) if value.is_finite() => Ok(f64::from(*value)),
            Some(_) => Self::wrong_type(name, "a finite float"),
        }
    }

    /// A float attribute that may be infinite: a bound.
    pub fn attr_bound(&self, name: &str, default: f64) -> Result<f64, Failure> {
        match self.attribute(name) {
            None => Ok(default),
            Some(AttributeValue::Float(value)) if !value.is_nan() => Ok(f64::from(*value)),
            Some(_) => Self::wrong_type(name, "a float"),
        }
    }

    /// A text attribute.
    pub fn attr_text(&self, name: &str, default: &str) -> Result<String, Failure> {
        match self.attribute(name) {
            None => Ok(default.to_owned()),
            Some(AttributeValue::Text(bytes)) => Ok(String::from_utf8_lossy(bytes).into_owned()),
            Some(_) => Self::wrong_type(name, "text"),
        }
    }

    /// A tensor attribute.
    pub fn attr_tensor(&self, name: &str) -> Result<Option<&TensorProto<'a>>, Failure> {
        match self.attribute(name) {
            None => Ok(None),
            Some(AttributeValue::Tensor(tensor)) => Ok(Some(tensor)),
            Some(_) => Self::wrong_type(name, "a tensor"),
        }
    }

    /// An axis attribute or argument, resolved against a rank; negative ones count from the end.
    pub fn axis(&self, axis: i64, rank: usize) -> Result<usize, Failure> {
        let resolved = if axis < 0 { axis.saturating_add(rank as i64) } else { axis };
        match usize::try_from(resolved) {
            Ok(resolved) if resolved < rank => Ok(resolved),
            _ => invalid(format!("axis {axis} is outside of a tensor of rank {rank}")),
        }
    }

    /// Several axes, resolved, each named once.
    pub fn axes(&self, axes: &[i64], rank: usize) -> Result<Vec<usize>, Failure> {
        let mut resolved = Vec::with_capacity(axes.len().min(rank));
        for &axis in axes {
            let axis = self.axis(axis, rank)?;
            if resolved.contains(&axis) {
                return invalid(format!("axis {axis} is named twice"));
            }
            resolved.push(axis);
        }
        Ok(resolved)
    }
}

/// Additions to the graph.
impl Lowering<'_, '_> {
    /// Adds an operator, within the bounds on size.
    pub fn apply(&mut self, op: impl Into<Op>, args: &[NodeId]) -> Result<NodeId, Failure> {
        let node = self.graph.apply(op, args)?;
        let shape = self.graph.shape(node);
        self.budget.tensor(shape).map_err(Failure::Limit)?;
        if self.folding {
            self.budget.produce(self.graph.elements(node)).map_err(Failure::Limit)?;
        }
        Ok(node)
    }

    /// Adds a constant.
    pub fn constant(&mut self, shape: &[usize], data: Vec<f64>) -> Result<NodeId, Failure> {
        self.produce(data.len())?;
        let node = self.graph.constant(Tensor::new(shape, data)?);
        Ok(node)
    }

    /// Adds a constant without axes.
    pub fn scalar(&mut self, value: f64) -> NodeId {
        self.graph.scalar(value)
    }

    /// The same values under another shape; the node itself if that is its shape already.
    pub fn reshape(&mut self, node: NodeId, shape: &[usize]) -> Result<NodeId, Failure> {
        if self.graph.shape(node) == shape {
            return Ok(node);
        }
        self.apply(Reshape { shape: shape.to_vec() }, &[node])
    }

    /// The shape of a node of the graph.
    pub fn shape_of(&self, node: NodeId) -> Vec<usize> {
        self.graph.shape(node).to_vec()
    }

    /// Accounts for weights, constants and index lists of this many elements before they are made.
    pub fn produce(&mut self, elements: usize) -> Result<(), Failure> {
        self.budget.produce(elements).map_err(Failure::Limit)
    }
}

/// The result of a node with one output.
pub(super) fn one(node: NodeId, kind: Kind) -> Lowered {
    Ok(vec![Value::Variable { node, kind }])
}

/// The result of a node with one output whose value is known.
pub(super) fn known(literal: Literal) -> Lowered {
    Ok(vec![literal.into()])
}
