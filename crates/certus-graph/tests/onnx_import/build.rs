//! ONNX files written by hand, so that tests can write wrong ones too.

/// Bytes of a message under construction.
#[derive(Clone, Default)]
pub struct Message(pub Vec<u8>);

impl Message {
    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }

    /// Adds an integer field.
    pub fn int(mut self, number: u64, value: i64) -> Self {
        self.varint(number << 3);
        self.varint(value as u64);
        self
    }

    /// Adds a field of bytes: text or a nested message.
    pub fn bytes(mut self, number: u64, bytes: impl AsRef<[u8]>) -> Self {
        self.varint(number << 3 | 2);
        self.varint(bytes.as_ref().len() as u64);
        self.0.extend_from_slice(bytes.as_ref());
        self
    }

    /// Adds a nested message.
    pub fn message(self, number: u64, message: &Message) -> Self {
        self.bytes(number, &message.0)
    }
}

/// A node without attributes.
pub fn node(op: &str, inputs: &[&str], outputs: &[&str]) -> Message {
    let node = inputs.iter().fold(Message::default(), |node, name| node.bytes(1, name));
    let node = outputs.iter().fold(node, |node, name| node.bytes(2, name));
    node.bytes(4, op)
}

/// An attribute that is a list of integers.
pub fn ints_attribute(name: &str, values: &[i64]) -> Message {
    let attribute = values.iter().fold(Message::default().bytes(1, name), |attribute, &value| attribute.int(8, value));
    attribute.int(20, 7)
}

/// A float32 weight.
pub fn floats(name: &str, dims: &[i64], values: &[f32]) -> Message {
    let raw: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    weight_header(name, dims, 1).bytes(9, raw)
}

/// A weight of 64-bit integers.
pub fn ints(name: &str, values: &[i64]) -> Message {
    let raw: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    weight_header(name, &[values.len() as i64], 7).bytes(9, raw)
}

/// Name, shape and type of a weight, without its data.
pub fn weight_header(name: &str, dims: &[i64], data_type: i64) -> Message {
    dims.iter().fold(Message::default(), |tensor, &dim| tensor.int(1, dim)).int(2, data_type).bytes(8, name)
}

/// A float32 input or output with these extents; a negative one is left open under the name `n`.
pub fn port(name: &str, dims: &[i64]) -> Message {
    let shape = dims.iter().fold(Message::default(), |shape, &dim| {
        let dim = if dim < 0 { Message::default().bytes(2, "n") } else { Message::default().int(1, dim) };
        shape.message(1, &dim)
    });
    let tensor = Message::default().int(1, 1).message(2, &shape);
    Message::default().bytes(1, name).message(2, &Message::default().message(1, &tensor))
}

/// A model of operator set 13 with input `x` and output `y`.
pub fn model(x: &[i64], nodes: &[Message], weights: &[Message]) -> Vec<u8> {
    model_with_inputs(&[port("x", x)], nodes, weights)
}

/// A model of operator set 13 with these inputs and output `y`.
pub fn model_with_inputs(inputs: &[Message], nodes: &[Message], weights: &[Message]) -> Vec<u8> {
    let graph = nodes.iter().fold(Message::default(), |graph, node| graph.message(1, node));
    let graph = weights.iter().fold(graph, |graph, weight| graph.message(5, weight));
    let graph = inputs.iter().fold(graph, |graph, input| graph.message(11, input));
    finish(graph.message(12, &port("y", &[])), 13)
}

/// Wraps a graph as a model of the given operator set.
pub fn finish(graph: Message, opset: i64) -> Vec<u8> {
    Message::default().int(1, 8).message(8, &Message::default().int(2, opset)).message(7, &graph).0
}
