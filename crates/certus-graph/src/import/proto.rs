//! ONNX's messages, as far as an import needs them, decoded from the [wire](super::wire) format.
//!
//! Field numbers are those of `onnx.proto`. Text and raw data are borrowed from the file. Attributes that hold
//! graphs are noted but not decoded, so the depth of nesting is fixed by this file and not by the model.

use super::error::ImportError;
use super::wire::{Field, Fields, malformed};

/// A file may hold this many messages (nodes, tensors, attributes, …): far beyond any policy, and small enough
/// that a file of empty messages cannot exhaust the memory.
const MAX_MESSAGES: usize = 1 << 20;

/// Counts messages against [`MAX_MESSAGES`].
#[derive(Default)]
struct Count(usize);

impl Count {
    fn add(&mut self) -> Result<(), ImportError> {
        self.0 += 1;
        if self.0 > MAX_MESSAGES {
            return Err(ImportError::Limit(format!("the model has more than {MAX_MESSAGES} parts")));
        }
        Ok(())
    }
}

/// The whole file.
#[derive(Debug, Default)]
pub(super) struct Model<'a> {
    pub opsets: Vec<(&'a str, i64)>,
    pub graph: Option<GraphProto<'a>>,
}

/// The network.
#[derive(Debug, Default)]
pub(super) struct GraphProto<'a> {
    pub nodes: Vec<NodeProto<'a>>,
    pub initializers: Vec<TensorProto<'a>>,
    pub inputs: Vec<ValueInfo<'a>>,
    pub outputs: Vec<ValueInfo<'a>>,
    pub sparse_initializers: usize,
}

/// One operator applied to named tensors.
#[derive(Debug, Default)]
pub(super) struct NodeProto<'a> {
    pub inputs: Vec<&'a str>,
    pub outputs: Vec<&'a str>,
    pub name: &'a str,
    pub op_type: &'a str,
    pub domain: &'a str,
    pub attributes: Vec<Attribute<'a>>,
}

/// A named attribute.
#[derive(Debug)]
pub(super) struct Attribute<'a> {
    pub name: &'a str,
    pub value: AttributeValue<'a>,
}

/// The value of an attribute.
#[derive(Debug)]
pub(super) enum AttributeValue<'a> {
    Float(f32),
    Int(i64),
    Text(&'a [u8]),
    Tensor(TensorProto<'a>),
    Floats(Vec<f32>),
    Ints(Vec<i64>),
    /// Graphs, lists of strings, sparse tensors: what no supported operator takes.
    Other,
}

/// A constant tensor as stored.
#[derive(Debug, Default)]
pub(super) struct TensorProto<'a> {
    pub name: &'a str,
    pub dims: Vec<i64>,
    pub data_type: i64,
    pub floats: Vec<f32>,
    pub doubles: Vec<f64>,
    /// `int32_data`, `int64_data` and `uint64_data`: never more than one of them in a valid tensor.
    pub ints: Vec<i64>,
    pub raw: Option<&'a [u8]>,
    pub external: Vec<(&'a str, &'a str)>,
    pub is_external: bool,
}

/// An input or output: its name, type and shape.
#[derive(Debug, Default)]
pub(super) struct ValueInfo<'a> {
    pub name: &'a str,
    pub elem_type: i64,
    /// Whether the type is a tensor type at all.
    pub is_tensor: bool,
    pub dims: Option<Vec<Dim<'a>>>,
}

/// One axis of a declared shape.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dim<'a> {
    Value(i64),
    Symbol(&'a str),
    Missing,
}

impl<'a> Model<'a> {
    /// Decodes a whole file.
    pub fn decode(bytes: &'a [u8]) -> Result<Self, ImportError> {
        let mut model = Model::default();
        let count = &mut Count::default();
        for field in Fields::new(bytes, "the model") {
            let field = field?;
            match field.number {
                7 => model.graph = Some(GraphProto::decode(field.bytes()?, count)?),
                8 => {
                    count.add()?;
                    model.opsets.push(decode_opset(field.bytes()?)?);
                }
                _ => {}
            }
        }
        Ok(model)
    }
}

fn decode_opset(bytes: &[u8]) -> Result<(&str, i64), ImportError> {
    let mut opset = ("", 0);
    for field in Fields::new(bytes, "an operator set") {
        let field = field?;
        match field.number {
            1 => opset.0 = field.text()?,
            2 => opset.1 = field.int()?,
            _ => {}
        }
    }
    Ok(opset)
}

impl<'a> GraphProto<'a> {
    fn decode(bytes: &'a [u8], count: &mut Count) -> Result<Self, ImportError> {
        let mut graph = GraphProto::default();
        for field in Fields::new(bytes, "the graph") {
            let field = field?;
            if matches!(field.number, 1 | 5 | 11 | 12 | 15) {
                count.add()?;
            }
            match field.number {
                1 => graph.nodes.push(NodeProto::decode(field.bytes()?, count)?),
                5 => graph.initializers.push(TensorProto::decode(field.bytes()?, count)?),
                11 => graph.inputs.push(ValueInfo::decode(field.bytes()?)?),
                12 => graph.outputs.push(ValueInfo::decode(field.bytes()?)?),
                15 => graph.sparse_initializers += 1,
                _ => {}
            }
        }
        Ok(graph)
    }
}

impl<'a> NodeProto<'a> {
    fn decode(bytes: &'a [u8], count: &mut Count) -> Result<Self, ImportError> {
        let mut node = NodeProto::default();
        for field in Fields::new(bytes, "a node") {
            let field = field?;
            match field.number {
                1 => node.inputs.push(field.text()?),
                2 => node.outputs.push(field.text()?),
                3 => node.name = field.text()?,
                4 => node.op_type = field.text()?,
                5 => {
                    count.add()?;
                    node.attributes.push(Attribute::decode(field.bytes()?, count)?);
                }
                7 => node.domain = field.text()?,
                _ => {}
            }
        }
        Ok(node)
    }
}

impl<'a> Attribute<'a> {
    fn decode(bytes: &'a [u8], count: &mut Count) -> Result<Self, ImportError> {
        let mut name = "";
        let mut declared = None;
        let (mut float, mut int, mut text, mut tensor) = (None, None, None, None);
        let (mut floats, mut ints) = (Vec::new(), Vec::new());
        for field in Fields::new(bytes, "an attribute") {
            let field = field?;
            match field.number {
                1 => name = field.text()?,
                2 => float = Some(field.float()?),
                3 => int = Some(field.int()?),
                4 => text = Some(field.bytes()?),
                5 => tensor = Some(TensorProto::decode(field.bytes()?, count)?),
                7 => field.floats(&mut floats)?,
                8 => field.ints(&mut ints)?,
                20 => declared = Some(field.int()?),
                _ => {}
            }
        }
        // A default value may be left out of the file, so a declared type stands even if its field is missing;
        // files from before the type was recorded show it by the field that is there.
        let value = match declared.filter(|&kind| kind != 0) {
            Some(1) => AttributeValue::Float(float.unwrap_or(0.0)),
            Some(2) => AttributeValue::Int(int.unwrap_or(0)),
            Some(3) => AttributeValue::Text(text.unwrap_or_default()),
            Some(4) => AttributeValue::Tensor(tensor.unwrap_or_default()),
            Some(6) => AttributeValue::Floats(floats),
            Some(7) => AttributeValue::Ints(ints),
            Some(_) => AttributeValue::Other,
            None => match (tensor, text, int, float) {
                (Some(tensor), ..) => AttributeValue::Tensor(tensor),
                (_, Some(text), ..) => AttributeValue::Text(text),
                (_, _, Some(int), _) => AttributeValue::Int(int),
                (_, _, _, Some(float)) => AttributeValue::Float(float),
                _ if !floats.is_empty() => AttributeValue::Floats(floats),
                _ if !ints.is_empty() => AttributeValue::Ints(ints),
                _ => AttributeValue::Other,
            },
        };
        Ok(Attribute { name, value })
    }
}

impl<'a> TensorProto<'a> {
    fn decode(bytes: &'a [u8], count: &mut Count) -> Result<Self, ImportError> {
        let mut tensor = TensorProto::default();
        for field in Fields::new(bytes, "a tensor") {
            let field = field?;
            match field.number {
                1 => field.ints(&mut tensor.dims)?,
                2 => tensor.data_type = field.int()?,
                3 => return Err(malformed("a tensor", "the tensor is split into segments")),
                4 => field.floats(&mut tensor.floats)?,
                5 | 7 | 11 => field.ints(&mut tensor.ints)?,
                8 => tensor.name = field.text()?,
                9 => tensor.raw = Some(field.bytes()?),
                10 => field.doubles(&mut tensor.doubles)?,
                13 => {
                    count.add()?;
                    tensor.external.push(decode_entry(&field)?);
                }
                14 => tensor.is_external = field.int()? == 1,
                _ => {}
            }
        }
        Ok(tensor)
    }
}

fn decode_entry<'a>(field: &Field<'a>) -> Result<(&'a str, &'a str), ImportError> {
    let mut entry = ("", "");
    for field in Fields::new(field.bytes()?, "an external data entry") {
        let field = field?;
        match field.number {
            1 => entry.0 = field.text()?,
            2 => entry.1 = field.text()?,
            _ => {}
        }
    }
    Ok(entry)
}

impl<'a> ValueInfo<'a> {
    fn decode(bytes: &'a [u8]) -> Result<Self, ImportError> {
        let mut info = ValueInfo::default();
        for field in Fields::new(bytes, "an input or output") {
            let field = field?;
            match field.number {
                1 => info.name = field.text()?,
                2 => info.decode_type(field.bytes()?)?,
                _ => {}
            }
        }
        Ok(info)
    }

    fn decode_type(&mut self, bytes: &'a [u8]) -> Result<(), ImportError> {
        for field in Fields::new(bytes, "a type") {
            let field = field?;
            if field.number == 1 {
                self.is_tensor = true;
                for field in Fields::new(field.bytes()?, "a tensor type") {
                    let field = field?;
                    match field.number {
                        1 => self.elem_type = field.int()?,
                        2 => self.dims = Some(decode_dims(field.bytes()?)?),
                        _ => {}
                    }
                }
            }
        }
        Ok(())
    }
}

fn decode_dims(bytes: &[u8]) -> Result<Vec<Dim<'_>>, ImportError> {
    let mut dims = Vec::new();
    for field in Fields::new(bytes, "a shape") {
        let field = field?;
        if field.number == 1 {
            let mut dim = Dim::Missing;
            for field in Fields::new(field.bytes()?, "a dimension") {
                let field = field?;
                match field.number {
                    1 => dim = Dim::Value(field.int()?),
                    2 => dim = Dim::Symbol(field.text()?),
                    _ => {}
                }
            }
            dims.push(dim);
        }
    }
    Ok(dims)
}
