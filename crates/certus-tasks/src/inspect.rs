//! Tells what a network or a system is.

use std::collections::BTreeMap;
use std::path::PathBuf;

use certus_documents::inspect as shown;
use certus_documents::{AnyDocument, Members, Schema, members, numbers};
use certus_graph::canonical::canonicalize;
use certus_graph::eval::evaluate;
use certus_graph::import::load_network;
use certus_graph::ops::Operator;
use certus_graph::{Graph, Port, Real};
use certus_lang::system::{ActionKind, System, Variable};

use crate::failure::Failure;
use crate::{Loading, load};

/// What is asked.
#[derive(Clone, Debug)]
pub struct Inspect {
    /// A network, or a system with settings.
    pub file: Loading,
    /// A point at which a network is evaluated: all inputs one after the other.
    pub eval: Option<Vec<f64>>,
}

impl Inspect {
    /// Whether the file is that of a system.
    pub fn is_system(&self) -> bool {
        self.file.path.extension().is_some_and(|extension| extension == "certus")
    }
}

/// What a file holds.
pub enum Inspected {
    /// A network.
    Network(Box<InspectedNetwork>),
    /// A system.
    System(Box<System>),
}

/// A network that was read.
pub struct InspectedNetwork {
    /// Its file.
    pub name: String,
    /// As it was read.
    pub graph: Graph,
    /// In canonical form.
    pub canonical: Graph,
    /// What it gives at a point.
    pub evaluation: Option<Evaluation>,
}

/// The outputs at a point, in single and in double precision.
pub struct Evaluation {
    /// In single precision.
    pub single: Vec<Vec<f32>>,
    /// In double precision.
    pub double: Vec<Vec<f64>>,
}

/// Looks at a file.
pub fn inspect(task: &Inspect) -> Result<Inspected, Failure> {
    if task.is_system() {
        if task.eval.is_some() {
            return Err(Failure::message("⟨eval⟩ evaluates a network; to run a system, simulate it"));
        }
        return Ok(Inspected::System(Box::new(load(&task.file)?.system)));
    }
    if !task.file.options.overrides.is_empty() {
        return Err(Failure::message("⟨set⟩ changes a parameter of a system; a network has none"));
    }
    let path: &PathBuf = &task.file.path;
    let graph = load_network(path).map_err(|error| Failure::message(error.to_string()))?;
    let evaluation = task.eval.as_deref().map(|point| eval(&graph, point)).transpose()?;
    let canonical = canonicalize(&graph).map_err(|error| Failure::message(error.to_string()))?;
    let name = path.display().to_string();
    Ok(Inspected::Network(Box::new(InspectedNetwork { name, graph, canonical, evaluation })))
}

/// What a file holds, as a document.
pub fn document(inspected: &Inspected) -> AnyDocument {
    match inspected {
        Inspected::Network(network) => network_document(network).into(),
        Inspected::System(system) => system_document(system).into(),
    }
}

fn eval(graph: &Graph, values: &[f64]) -> Result<Evaluation, Failure> {
    let sizes: Vec<usize> = graph.inputs().iter().map(|port| graph.elements(port.node)).collect();
    let wanted: usize = sizes.iter().sum();
    if values.len() != wanted {
        let found = values.len();
        return Err(Failure::message(format!("⟨eval⟩: the network takes {wanted} numbers, got {found}")));
    }
    fn at<T: Real>(graph: &Graph, values: &[f64], sizes: &[usize]) -> Result<Vec<Vec<T>>, Failure> {
        let values: Vec<T> = values.iter().map(|&value| T::from_f64(value)).collect();
        let mut rest = values.as_slice();
        let inputs: Vec<&[T]> = sizes
            .iter()
            .map(|&size| {
                let (own, after) = rest.split_at(size);
                rest = after;
                own
            })
            .collect();
        evaluate(graph, &inputs).map_err(|error| Failure::message(error.to_string()))
    }
    Ok(Evaluation { single: at(graph, values, &sizes)?, double: at(graph, values, &sizes)? })
}

/// How often each operator is applied.
pub fn operators(graph: &Graph) -> BTreeMap<&'static str, usize> {
    let mut counts = BTreeMap::new();
    for node in graph.nodes() {
        *counts.entry(node.op.name()).or_insert(0) += 1;
    }
    counts.remove("Input");
    counts
}

fn operator_counts(graph: &Graph) -> Members<usize> {
    operators(graph).into_iter().map(|(name, count)| (name.to_owned(), count)).collect()
}

fn network_document(network: &InspectedNetwork) -> shown::Network {
    let InspectedNetwork { name, graph, canonical, evaluation } = network;
    let port = |port: &Port| shown::Port { name: port.name.clone(), shape: graph.shape(port.node).to_vec() };
    let single = |output: &Vec<f32>| output.iter().map(|&value| f64::from(value).into()).collect();
    shown::Network {
        schema: Schema::default(),
        network: name.clone(),
        inputs: graph.inputs().iter().map(port).collect(),
        outputs: graph.outputs().iter().map(port).collect(),
        parameters: graph.parameters(),
        operators: operator_counts(graph),
        canonical_operators: operator_counts(canonical),
        evaluation: evaluation.as_ref().map(|own| shown::Evaluation {
            float32: own.single.iter().map(single).collect(),
            float64: own.double.iter().map(numbers).collect(),
        }),
    }
}

fn system_document(system: &System) -> shown::System {
    let variable = |own: &Variable| shown::Variable {
        name: own.name.clone(),
        length: own.len,
        lower: numbers(&own.lower),
        upper: numbers(&own.upper),
        integers: own.integers.iter().flat_map(|own| own.runs()).map(|&(from, to)| [from, to]).collect(),
        labels: own.labels.clone(),
        doc: own.doc.clone(),
    };
    let param = system.params.iter().map(|own| shown::Param {
        name: own.name.clone(),
        lower: own.lower.into(),
        upper: own.upper.into(),
        value: own.value.into(),
        doc: own.doc.clone(),
    });
    let property = system.properties.iter().map(|own| shown::Property {
        name: own.name.clone(),
        formula: own.source.clone(),
        fragment: own.fragment().to_owned(),
        expect: own.expect.map(|expect| format!("{expect:?}").to_lowercase()),
        doc: own.doc.clone(),
    });
    let policy = system.policies.iter().map(|own| shown::Policy {
        name: own.name.clone(),
        length: own.len,
        networks: own.networks.clone(),
    });
    let action = system.actions.iter().map(|own| shown::Action {
        name: own.name.clone(),
        labels: own.labels.clone(),
        random: own.kind == ActionKind::Softmax,
        networks: own.networks.clone(),
    });
    let chance = system.chances.iter().map(|own| {
        let labels = own.labels.iter().cloned().zip(own.probabilities.iter().copied());
        (own.name.clone(), members(labels))
    });
    shown::System {
        schema: Schema::default(),
        system: system.name.clone(),
        doc: system.doc.clone(),
        step: system.dt.map(Into::into),
        states: system.states.iter().map(variable).collect(),
        inputs: system.inputs.iter().map(variable).collect(),
        chances: chance.collect(),
        policies: policy.collect(),
        actions: action.collect(),
        params: param.collect(),
        initial_box: shown::InitialBox {
            lower: numbers(&system.init_box.0),
            upper: numbers(&system.init_box.1),
            exact: system.init_is_box,
        },
        properties: property.collect(),
        graph_operators: operator_counts(&system.step),
    }
}
