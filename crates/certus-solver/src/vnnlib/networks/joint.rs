//! All networks of a question as one graph.
//!
//! The joint graph has the inputs of every network, except where the assertion makes elements equal: those are one
//! element. Its outputs are the hidden tensors and outputs of every network, in the order of the text.

use std::collections::HashMap;
use std::fmt;

use certus_graph::ops::{Concat, Gather, Reshape};
use certus_graph::{Graph, GraphError, Interval, NodeId, Port};

use super::{Likeness, NetworkDeclaration, NetworkSpecification, Role, TensorDeclaration, sharing};
use crate::formula::{Atom, Formula, Linear};
use crate::vnnlib::{Specification, Variable, logic};

/// Why networks do not fit a specification.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JointError {
    /// The network's name.
    pub network: String,
    /// What does not fit.
    pub message: String,
}

impl fmt::Display for JointError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "network `{}`: {}", self.network, self.message)
    }
}

impl std::error::Error for JointError {}

/// A question about several networks as one about a single graph.
#[derive(Clone, Debug, PartialEq)]
pub struct Joint {
    /// The graph with all networks inside.
    pub graph: Graph,
    /// The question about its flattened inputs and outputs.
    pub specification: Specification,
    /// For each input element of the text, the graph's input element that it is.
    sources: Vec<usize>,
}

impl Joint {
    /// The values of a declared input where the graph's flattened input has these values.
    pub fn input_values(&self, tensor: &TensorDeclaration, point: &[f64]) -> Vec<f64> {
        self.sources[tensor.first..][..tensor.elements()].iter().map(|&source| point[source]).collect()
    }
}

impl NetworkSpecification {
    /// The joint graph, from one graph per network that is not said to be equal to another.
    ///
    /// Tensors are matched by order, or by ONNX name where the text gives names. A hidden tensor must be among the
    /// outputs of its graph under its ONNX name; such outputs are passed over where outputs are matched by order.
    pub fn joint(&self, graphs: &[(&str, &Graph)]) -> Result<Joint, JointError> {
        let mut by_name: HashMap<&str, &Graph> = HashMap::new();
        for &(name, graph) in graphs {
            let wanted = self.networks.iter().find(|network| network.name == name);
            let equal = matches!(wanted.and_then(|network| network.likeness), Some(Likeness::EqualTo(_)));
            let message = match wanted {
                None => "it is not declared",
                Some(_) if equal => "it is equal to another one and needs no file",
                Some(_) if by_name.insert(name, graph).is_some() => "it is given twice",
                Some(_) => continue,
            };
            return Err(JointError { network: name.to_owned(), message: message.to_owned() });
        }
        let representatives = sharing::representatives(&self.assertion, self.inputs);
        let mut builder = Builder { graph: Graph::new(), flat: Vec::new(), count: 0, sources: Vec::new() };
        for network in &self.networks {
            let fault = |message: String| JointError { network: network.name.clone(), message };
            let given = match network.likeness {
                Some(Likeness::EqualTo(other)) => &self.networks[other].name,
                _ => &network.name,
            };
            let graph = by_name.get(given.as_str()).ok_or_else(|| fault("its file is missing".to_owned()))?;
            builder.add(network, graph, &representatives).map_err(fault)?;
        }
        let sources = builder.sources;
        let assertion = rename(&self.assertion, &sources);
        let written = self.written.clone();
        let specification = Specification { inputs: builder.count, outputs: self.outputs, assertion, written };
        Ok(Joint { graph: builder.graph.without_dead_nodes(), specification, sources })
    }
}

struct Builder {
    graph: Graph,
    /// The inputs of the joint graph as vectors.
    flat: Vec<NodeId>,
    /// How many elements they have.
    count: usize,
    /// For each input element of the text so far, the joint graph's.
    sources: Vec<usize>,
}

impl Builder {
    fn add(&mut self, network: &NetworkDeclaration, graph: &Graph, representatives: &[usize]) -> Result<(), String> {
        let inputs: Vec<&TensorDeclaration> = network.tensors(Role::Input).collect();
        let all: Vec<usize> = (0..graph.inputs().len()).collect();
        let places = places(&inputs, graph, graph.inputs(), &all, "input")?;
        let mut args = vec![None; inputs.len()];
        for (tensor, place) in inputs.iter().zip(places) {
            args[place] = Some(self.input(tensor, representatives).map_err(|error| error.to_string())?);
        }
        let args: Option<Vec<NodeId>> = args.into_iter().collect();
        let args = args.ok_or("two inputs have the same ONNX name")?;
        let results = self.graph.inline(graph, &args).map_err(|error| error.to_string())?;

        let hidden: Vec<&TensorDeclaration> = network.tensors(Role::Hidden).collect();
        let inside = |port: &Port| hidden.iter().any(|tensor| tensor.onnx_name.as_deref() == Some(port.name.as_str()));
        for tensor in &hidden {
            let found = graph.outputs().iter().position(|port| tensor.onnx_name.as_deref() == Some(port.name.as_str()));
            let place = found.ok_or_else(|| {
                let name = tensor.onnx_name.as_deref().unwrap_or_default();
                format!("the hidden tensor `{}` is no output of its graph under the name {name:?}", tensor.name)
            })?;
            check_shape(tensor, graph, &graph.outputs()[place])?;
            self.graph.output(&tensor.name, results[place]);
        }
        let outputs: Vec<&TensorDeclaration> = network.tensors(Role::Output).collect();
        let by_name = outputs.iter().any(|tensor| tensor.onnx_name.is_some());
        let ports = graph.outputs();
        let candidates: Vec<usize> = (0..ports.len()).filter(|&port| by_name || !inside(&ports[port])).collect();
        for (tensor, place) in outputs.iter().zip(self::places(&outputs, graph, ports, &candidates, "output")?) {
            self.graph.output(&tensor.name, results[place]);
        }
        Ok(())
    }

    /// The node of a declared input; elements that are equal to earlier ones are taken from these.
    fn input(&mut self, tensor: &TensorDeclaration, representatives: &[usize]) -> Result<NodeId, GraphError> {
        let elements = tensor.first..tensor.first + tensor.elements();
        let free = elements.clone().filter(|&element| representatives[element] == element).count();
        for element in elements {
            let representative = representatives[element];
            if representative == element {
                self.sources.push(self.count);
                self.count += 1;
            } else {
                self.sources.push(self.sources[representative]);
            }
        }
        if free == tensor.elements() {
            let node = self.graph.input(&tensor.name, &tensor.shape);
            let flat = self.flattened(node, free)?;
            self.flat.push(flat);
            return Ok(node);
        }
        if free > 0 {
            let node = self.graph.input(&tensor.name, &[free]);
            self.flat.push(node);
        }
        // The flattened inputs one after the other are numbered as the sources are.
        let own = &self.sources[tensor.first..];
        if free == 0 && own.windows(2).all(|pair| pair[1] == pair[0] + 1) {
            let mut first = 0;
            for &node in &self.flat {
                if first == own[0] && self.graph.elements(node) == own.len() {
                    return Ok(node);
                }
                first += self.graph.elements(node);
            }
        }
        let indices = own.to_vec();
        let all = if let [only] = self.flat[..] { only } else { self.graph.apply(Concat { axis: 0 }, &self.flat)? };
        self.graph.apply(Gather { axis: 0, indices, index_shape: tensor.shape.clone() }, &[all])
    }

    fn flattened(&mut self, node: NodeId, elements: usize) -> Result<NodeId, GraphError> {
        if self.graph.shape(node) == [elements] {
            return Ok(node);
        }
        self.graph.apply(Reshape { shape: vec![elements] }, &[node])
    }
}

/// For each tensor, its place among the ports: by name if names are given, otherwise by order.
fn places(
    tensors: &[&TensorDeclaration],
    graph: &Graph,
    ports: &[Port],
    candidates: &[usize],
    kind: &str,
) -> Result<Vec<usize>, String> {
    let by_name = tensors.iter().any(|tensor| tensor.onnx_name.is_some());
    if tensors.len() != candidates.len() && !(by_name && kind == "output") {
        return Err(format!("the text declares {} {kind}s, the file has {}", tensors.len(), candidates.len()));
    }
    let mut places = Vec::new();
    for (order, tensor) in tensors.iter().enumerate() {
        let place = match &tensor.onnx_name {
            None => candidates[order],
            Some(name) => ports
                .iter()
                .position(|port| &port.name == name)
                .ok_or_else(|| format!("the file has no {kind} of the name {name:?}"))?,
        };
        check_shape(tensor, graph, &ports[place])?;
        places.push(place);
    }
    Ok(places)
}

/// Shapes must agree but for axes of extent one, which exporters add and remove.
fn check_shape(tensor: &TensorDeclaration, graph: &Graph, port: &Port) -> Result<(), String> {
    let shape = graph.shape(port.node);
    let extents = |shape: &[usize]| shape.iter().copied().filter(|&extent| extent != 1).collect::<Vec<_>>();
    if extents(&tensor.shape) == extents(shape) {
        return Ok(());
    }
    Err(format!("`{}` is declared with shape {:?}, the file has {shape:?}", tensor.name, tensor.shape))
}

/// The formula over the joint graph's inputs. Equations between elements that became one are true.
fn rename(formula: &Formula<Variable>, sources: &[usize]) -> Formula<Variable> {
    let renamed = |variable: Variable| match variable {
        Variable::Input(index) => Variable::Input(sources[index]),
        output => output,
    };
    match formula {
        Formula::Atom(Atom { linear, strict }) => {
            let terms = linear.terms.iter().map(|&(variable, coefficient)| (renamed(variable), coefficient)).collect();
            let linear = Linear { terms, constant: linear.constant };
            logic::comparison(&linear, &Linear::constant(Interval::ZERO), *strict)
        }
        Formula::And(parts) => logic::conjunction(parts.iter().map(|part| rename(part, sources))),
        Formula::Or(parts) => logic::disjunction(parts.iter().map(|part| rename(part, sources))),
    }
}
