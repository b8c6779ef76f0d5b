//! From a decoded model to a graph: inputs, weights, nodes in order, outputs.

use std::collections::HashMap;
use std::path::Path;
use std::rc::Rc;

use super::error::{ImportError, UnsupportedNode};
use super::limits::{Budget, MAX_WEIGHTS, checked_count};
use super::literal::{Kind, Literal, Value};
use super::lowering::{Failure, Lowered, Lowering};
use super::ops;
use super::proto::{AttributeValue, Dim, GraphProto, Model, NodeProto, ValueInfo};
use super::schedule::{label, schedule};
use super::weights::{decode_tensor, kind_of, type_name};
use crate::eval::{enclose, evaluate};
use crate::ops::Op;
use crate::{Graph, NodeId, Tensor};

/// The operator sets whose meaning is known.
const OPSETS: std::ops::RangeInclusive<i64> = 7..=28;

/// Imports the bytes of an ONNX file. External data, if the model has any, is looked for in `base_dir`.
pub(super) fn import(bytes: &[u8], base_dir: Option<&Path>) -> Result<Graph, ImportError> {
    let model = Model::decode(bytes)?;
    let opset = opset(&model)?;
    let Some(graph) = model.graph else {
        return Err(ImportError::Model("this is no ONNX model: it holds no graph".to_owned()));
    };
    Importer::new(opset, base_dir).run(&graph)
}

/// The files beside an ONNX file in which weights of it stand, as it names them; none if it cannot be read.
pub(super) fn external_files(bytes: &[u8]) -> Vec<String> {
    let Some(graph) = Model::decode(bytes).ok().and_then(|model| model.graph) else { return Vec::new() };
    let values = graph.nodes.iter().flat_map(|node| &node.attributes).filter_map(|attribute| match &attribute.value {
        AttributeValue::Tensor(tensor) => Some(tensor),
        _ => None,
    });
    let named = graph.initializers.iter().chain(values).flat_map(|tensor| &tensor.external);
    let mut files: Vec<String> =
        named.filter(|(key, _)| *key == "location").map(|(_, value)| (*value).to_owned()).collect();
    files.sort();
    files.dedup();
    files
}

fn opset(model: &Model<'_>) -> Result<i64, ImportError> {
    let version = model.opsets.iter().find(|(domain, _)| matches!(*domain, "" | "ai.onnx"));
    match version {
        Some(&(_, version)) if OPSETS.contains(&version) => Ok(version),
        Some(&(_, version)) => Err(ImportError::Model(format!(
            "it uses operator set {version}; {} to {} can be read (onnx.version_converter converts)",
            OPSETS.start(),
            OPSETS.end()
        ))),
        None if model.graph.is_none() => Ok(*OPSETS.end()),
        None => Err(ImportError::Model("it does not say which operator set it uses".to_owned())),
    }
}

struct Importer<'a, 'p> {
    opset: i64,
    base_dir: Option<&'p Path>,
    graph: Graph,
    values: HashMap<&'a str, Value>,
    constants: HashMap<&'a str, NodeId>,
    budget: Budget,
    allowance: usize,
    unsupported: Vec<(usize, UnsupportedNode)>,
}

impl<'a, 'p> Importer<'a, 'p> {
    fn new(opset: i64, base_dir: Option<&'p Path>) -> Self {
        Importer {
            opset,
            base_dir,
            graph: Graph::new(),
            values: HashMap::new(),
            constants: HashMap::new(),
            budget: Budget::new(),
            allowance: MAX_WEIGHTS,
            unsupported: Vec::new(),
        }
    }

    fn run(mut self, proto: &GraphProto<'a>) -> Result<Graph, ImportError> {
        self.add_initializers(proto)?;
        for input in &proto.inputs {
            self.add_input(input)?;
        }
        if proto.outputs.is_empty() {
            return Err(ImportError::Model("the network has no outputs".to_owned()));
        }
        let outputs: Vec<&str> = proto.outputs.iter().map(|output| output.name).collect();
        let order = schedule(&proto.nodes, &outputs, |name| self.values.contains_key(name))?;
        for index in order {
            self.add_node(index, &proto.nodes[index])?;
        }
        if !self.unsupported.is_empty() {
            self.unsupported.sort_by_key(|(index, _)| *index);
            let nodes = self.unsupported.into_iter().map(|(_, node)| node).collect();
            return Err(ImportError::Unsupported(nodes));
        }
        for name in outputs {
            self.add_output(name)?;
        }
        Ok(self.graph)
    }

    fn add_initializers(&mut self, proto: &GraphProto<'a>) -> Result<(), ImportError> {
        if proto.sparse_initializers > 0 {
            let message = "its sparse weights are not supported; export them dense".to_owned();
            return Err(ImportError::Model(message));
        }
        for tensor in &proto.initializers {
            let literal = decode_tensor(tensor, tensor.name, self.base_dir, &mut self.allowance)?;
            self.budget.store(literal.data.len());
            if self.values.insert(tensor.name, literal.into()).is_some() {
                return Err(ImportError::Model(format!("the weight `{}` is there twice", tensor.name)));
            }
        }
        Ok(())
    }

    /// Adds an input, unless it is a weight with a default value (as files of old list all weights).
    fn add_input(&mut self, info: &ValueInfo<'a>) -> Result<(), ImportError> {
        match self.values.get(info.name) {
            Some(Value::Known(_)) => return Ok(()),
            Some(_) => return Err(ImportError::Model(format!("the input `{}` is there twice", info.name))),
            None => {}
        }
        if !info.is_tensor || kind_of(info.elem_type) != Ok(Kind::Float) {
            let found = if info.is_tensor { type_name(info.elem_type) } else { "not a tensor".to_owned() };
            let message = format!("the input `{}` is {found}; inputs must be tensors of floats", info.name);
            return Err(ImportError::Model(message));
        }
        let shape = input_shape(info)?;
        self.budget.tensor(&shape)?;
        let node = self.graph.input(info.name, &shape);
        self.values.insert(info.name, Value::Variable { node, kind: Kind::Float });
        Ok(())
    }

    fn add_output(&mut self, name: &str) -> Result<(), ImportError> {
        let node = match self.values.get(name) {
            Some(Value::Variable { node, .. }) => *node,
            Some(Value::Known(literal)) => {
                if let Some((element, value)) = literal.non_finite() {
                    return Err(ImportError::tensor(
                        name,
                        format!("it is an output, and its element {element} is {value}"),
                    ));
                }
                let tensor = Tensor::new(literal.shape.clone(), literal.data.clone())
                    .map_err(|error| ImportError::tensor(name, error.to_string()))?;
                self.graph.constant(tensor)
            }
            Some(Value::Hidden) | None => {
                return Err(ImportError::Model(format!("nothing computes the output `{name}`")));
            }
        };
        self.graph.output(name, node);
        Ok(())
    }

    fn add_node(&mut self, index: usize, proto: &NodeProto<'a>) -> Result<(), ImportError> {
        let outputs = match self.lower(proto) {
            Ok(outputs) => outputs,
            Err(Failure::Unsupported(reason)) => {
                let input_shapes = proto.inputs.iter().map(|name| self.shape_of(name)).collect();
                self.unsupported.push((index, UnsupportedNode { node: label(proto), input_shapes, reason }));
                vec![Value::Hidden; proto.outputs.len()]
            }
            Err(Failure::Tensor { name, message }) => return Err(ImportError::Tensor { name, message }),
            Err(Failure::Limit(message)) => {
                return Err(ImportError::Limit(format!("node {}: {message}", label(proto))));
            }
            Err(Failure::Invalid(message)) => return Err(ImportError::Node { node: label(proto), message }),
        };
        for (place, &name) in proto.outputs.iter().enumerate().filter(|(_, name)| !name.is_empty()) {
            let Some(value) = outputs.get(place) else {
                let message = format!("it has no output {place} (`{name}`)");
                return Err(ImportError::Node { node: label(proto), message });
            };
            self.values.insert(name, value.clone());
        }
        Ok(())
    }

    fn shape_of(&self, name: &str) -> Option<Vec<usize>> {
        match self.values.get(name)? {
            Value::Known(literal) => Some(literal.shape.clone()),
            Value::Variable { node, .. } => Some(self.graph.shape(*node).to_vec()),
            Value::Hidden => None,
        }
    }

    fn lower(&mut self, proto: &NodeProto<'a>) -> Lowered {
        let own = matches!(proto.domain, "" | "ai.onnx");
        if own && proto.op_type == "Constant" {
            return self.constant_node(proto);
        }
        let Some(lower) = ops::find(proto.op_type).filter(|_| own) else {
            return Err(Failure::Unsupported("the operator is not known".to_owned()));
        };
        let inputs: Vec<Option<Value>> = proto.inputs.iter().map(|name| self.values.get(name).cloned()).collect();
        if inputs.iter().flatten().any(|value| matches!(value, Value::Hidden)) {
            return Ok(vec![Value::Hidden; proto.outputs.len()]);
        }
        if inputs.iter().flatten().all(|value| matches!(value, Value::Known(_)))
            && let Some(folded) = self.fold(proto, inputs.clone(), lower)?
        {
            return Ok(folded);
        }
        lower(&mut Lowering {
            proto,
            opset: self.opset,
            inputs,
            graph: &mut self.graph,
            constants: &mut self.constants,
            budget: &mut self.budget,
            folding: false,
        })
    }

    /// Works a node out whose inputs are all known. `None` if its result is rounded: then it stays in the graph,
    /// whose enclosures account for that.
    fn fold(
        &mut self,
        proto: &NodeProto<'a>,
        inputs: Vec<Option<Value>>,
        lower: ops::Lower,
    ) -> Result<Option<Vec<Value>>, Failure> {
        let mut scratch = Graph::new();
        let outputs = lower(&mut Lowering {
            proto,
            opset: self.opset,
            inputs,
            graph: &mut scratch,
            constants: &mut HashMap::new(),
            budget: &mut self.budget,
            folding: true,
        })?;
        for value in &outputs {
            if let Value::Variable { node, .. } = value {
                scratch.output("", *node);
            }
        }
        let Some(computed) = exact_values(&scratch)? else {
            return Ok(None);
        };
        let mut computed = computed.into_iter();
        let literals = outputs.into_iter().map(|value| match value {
            Value::Variable { node, kind } => {
                let shape = scratch.shape(node).to_vec();
                let data = computed.next().unwrap_or_default();
                Value::Known(Rc::new(Literal { kind, shape, data }))
            }
            other => other,
        });
        Ok(Some(literals.collect()))
    }

    /// A Constant node, in any of its forms.
    fn constant_node(&mut self, proto: &NodeProto<'a>) -> Lowered {
        let name = proto.outputs.first().copied().unwrap_or("");
        let [attribute] = &proto.attributes[..] else {
            return Err(Failure::Invalid("it must have exactly one value".to_owned()));
        };
        let vector = |kind, data: Vec<f64>| Literal { kind, shape: vec![data.len()], data };
        let literal = match (attribute.name, &attribute.value) {
            ("value", AttributeValue::Tensor(tensor)) => {
                decode_tensor(tensor, name, self.base_dir, &mut self.allowance)
                    .map_err(|error| Failure::Invalid(error.to_string()))?
            }
            ("value_float", AttributeValue::Float(value)) => Literal::scalar(Kind::Float, f64::from(*value)),
            ("value_int", AttributeValue::Int(value)) => Literal::scalar(Kind::Int, *value as f64),
            ("value_floats", AttributeValue::Floats(values)) => {
                vector(Kind::Float, values.iter().map(|&value| f64::from(value)).collect())
            }
            ("value_ints", AttributeValue::Ints(values)) => {
                vector(Kind::Int, values.iter().map(|&value| value as f64).collect())
            }
            (other, _) => return Err(Failure::Unsupported(format!("its value has the form `{other}`"))),
        };
        self.budget.store(literal.data.len());
        Ok(vec![literal.into()])
    }
}

/// The outputs of a graph without inputs, if they can be had without rounding.
fn exact_values(scratch: &Graph) -> Result<Option<Vec<Vec<f64>>>, Failure> {
    let only_moves = scratch.nodes().iter().all(|node| {
        matches!(
            node.op,
            Op::Constant(_) | Op::Reshape(_) | Op::Transpose(_) | Op::Concat(_) | Op::Slice(_) | Op::Gather(_)
        )
    });
    if only_moves {
        return Ok(Some(evaluate::<f64>(scratch, &[])?));
    }
    let enclosures = enclose(scratch, &[])?;
    let exact = enclosures.iter().flatten().all(|interval| interval.lo == interval.hi);
    let points = enclosures.iter().map(|output| output.iter().map(|interval| interval.lo).collect());
    Ok(exact.then(|| points.collect()))
}

/// The shape of an input: a leading axis that is left open is the batch, and holds one point.
fn input_shape(info: &ValueInfo<'_>) -> Result<Vec<usize>, ImportError> {
    let name = info.name;
    let Some(dims) = &info.dims else {
        let message = format!("the input `{name}` has no shape; export the network with a sample input");
        return Err(ImportError::Model(message));
    };
    let mut shape = Vec::with_capacity(dims.len().min(64));
    for (axis, dim) in dims.iter().enumerate() {
        let extent = match dim {
            Dim::Value(value) => usize::try_from(*value).ok().filter(|&extent| extent > 0),
            Dim::Symbol(_) | Dim::Missing => None,
        };
        shape.push(match extent {
            Some(extent) => extent,
            None if axis == 0 => 1,
            None => {
                let open = match dim {
                    Dim::Symbol(symbol) => format!("called `{symbol}`"),
                    Dim::Value(value) => format!("{value}"),
                    Dim::Missing => "missing".to_owned(),
                };
                return Err(ImportError::Model(format!(
                    "the extent of axis {axis} of the input `{name}` is left open ({open}); only the first may be. \
                     Export the network with fixed extents"
                )));
            }
        });
    }
    checked_count(&shape)?;
    Ok(shape)
}
