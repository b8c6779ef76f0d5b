//! Tells what a network or a system is.

use std::collections::BTreeMap;
use std::path::PathBuf;

use certus_graph::canonical::canonicalize;
use certus_graph::eval::evaluate;
use certus_graph::import::load_network;
use certus_graph::ops::Operator;
use certus_graph::{Graph, Port, Real};
use certus_lang::system::{ActionKind, Formula, Property, PropertyKind, System, Variable};
use serde_json::{Map, Value, json};

use crate::failure::Failure;
use crate::output::json_number;
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
pub fn document(inspected: &Inspected) -> Value {
    match inspected {
        Inspected::Network(network) => json_network(network),
        Inspected::System(system) => json_system(system),
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

fn json_ports(graph: &Graph, ports: &[Port]) -> Vec<Value> {
    ports.iter().map(|port| json!({"name": port.name, "shape": graph.shape(port.node)})).collect()
}

fn json_network(network: &InspectedNetwork) -> Value {
    let InspectedNetwork { name, graph, canonical, evaluation } = network;
    let mut document = json!({
        "network": name,
        "inputs": json_ports(graph, graph.inputs()),
        "outputs": json_ports(graph, graph.outputs()),
        "parameters": graph.parameters(),
        "operators": operators(graph),
        "canonical_operators": operators(canonical),
    });
    if let (Some(evaluation), Some(document)) = (evaluation, document.as_object_mut()) {
        let single: Vec<Vec<Value>> =
            evaluation.single.iter().map(|y| y.iter().map(|&v| json_number(f64::from(v))).collect()).collect();
        let double: Vec<Vec<Value>> =
            evaluation.double.iter().map(|y| y.iter().map(|&v| json_number(v)).collect()).collect();
        document.insert("evaluation".to_owned(), json!({"float32": single, "float64": double}));
    }
    document
}

/// The fragment that a property belongs to, in the words of the engines.
pub fn fragment(property: &Property) -> &'static str {
    let temporal_free = |formula: &Formula| !has_temporal(formula);
    match &property.kind {
        PropertyKind::Probability { path: Formula::Finally(bounds, inner), .. } if temporal_free(inner) => {
            if bounds.upper.is_some() { "probability of bounded reachability" } else { "probability of reachability" }
        }
        PropertyKind::Probability { .. } => "probability of a path formula",
        PropertyKind::Ltl(formula) => match formula {
            Formula::Globally(bounds, inner) if temporal_free(inner) => {
                if bounds.upper.is_some() {
                    "bounded safety"
                } else {
                    "safety"
                }
            }
            Formula::Finally(bounds, inner) if temporal_free(inner) => {
                if bounds.upper.is_some() {
                    "bounded liveness"
                } else {
                    "liveness"
                }
            }
            formula if temporal_free(formula) => "initial condition",
            _ => "LTL",
        },
    }
}

fn has_temporal(formula: &Formula) -> bool {
    match formula {
        Formula::Constant(_) | Formula::Atom(_) => false,
        Formula::Not(a) => has_temporal(a),
        Formula::And(parts) | Formula::Or(parts) => parts.iter().any(has_temporal),
        Formula::Implies(a, b) | Formula::Iff(a, b) => has_temporal(a) || has_temporal(b),
        _ => true,
    }
}

fn json_variable(variable: &Variable) -> Value {
    let list = |values: &[f64]| values.iter().map(|&value| json_number(value)).collect::<Vec<_>>();
    json!({
        "name": variable.name, "length": variable.len, "lower": list(&variable.lower), "upper": list(&variable.upper),
        "doc": variable.doc,
    })
}

fn json_system(system: &System) -> Value {
    let params: Vec<Value> = system
        .params
        .iter()
        .map(|p| json!({"name": p.name, "lower": p.lower, "upper": p.upper, "value": p.value, "doc": p.doc}))
        .collect();
    let properties: Vec<Value> = system
        .properties
        .iter()
        .map(|p| {
            let expect = p.expect.map(|expect| format!("{expect:?}").to_lowercase());
            json!({"name": p.name, "formula": p.source, "fragment": fragment(p), "expect": expect, "doc": p.doc})
        })
        .collect();
    let policies: Vec<Value> =
        system.policies.iter().map(|p| json!({"name": p.name, "length": p.len, "networks": p.networks})).collect();
    let actions: Vec<Value> = system
        .actions
        .iter()
        .map(|a| {
            let random = a.kind == ActionKind::Softmax;
            json!({"name": a.name, "labels": a.labels, "random": random, "networks": a.networks})
        })
        .collect();
    let chances: Map<String, Value> = system
        .chances
        .iter()
        .map(|c| {
            let labels: Map<String, Value> =
                c.labels.iter().cloned().zip(c.probabilities.iter().map(|&p| json_number(p))).collect();
            (c.name.clone(), labels.into())
        })
        .collect();
    json!({
        "system": system.name,
        "doc": system.doc,
        "step": system.dt,
        "states": system.states.iter().map(json_variable).collect::<Vec<_>>(),
        "inputs": system.inputs.iter().map(json_variable).collect::<Vec<_>>(),
        "chances": chances,
        "policies": policies,
        "actions": actions,
        "params": params,
        "initial_box": {
            "lower": system.init_box.0.iter().map(|&v| json_number(v)).collect::<Vec<_>>(),
            "upper": system.init_box.1.iter().map(|&v| json_number(v)).collect::<Vec<_>>(),
            "exact": system.init_is_box,
        },
        "properties": properties,
        "graph_operators": operators(&system.step),
    })
}
