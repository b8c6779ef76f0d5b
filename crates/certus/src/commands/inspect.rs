//! `certus inspect`: what a network or a system is.

use std::collections::BTreeMap;
use std::io::Write;

use certus_graph::canonical::canonicalize;
use certus_graph::eval::evaluate;
use certus_graph::import::load_network;
use certus_graph::ops::Operator;
use certus_graph::{Graph, Port, Real};
use certus_lang::system::{ActionKind, Formula, Integrator, Property, PropertyKind, System, Variable};
use certus_tasks::Files;
use serde_json::{Map, Value, json};

use super::{load_system, loading};
use crate::Finding;
use crate::arguments::Inspect;
use crate::failure::Failure;
use crate::output::{Output, json_number, short};

/// Tells what a network or a system is.
pub fn run(command: &Inspect) -> Result<Finding, Failure> {
    let is_system = command.file.extension().is_some_and(|extension| extension == "certus");
    let own = loading(&command.file, &command.settings);
    let files = Files::new().writes("-o", &command.common.output);
    let files = if is_system { files.reads_system(&own) } else { files.reads("the network", [&command.file]) };
    files.ready()?;
    let mut output = Output::open(command.common.output.as_deref())?;
    if is_system {
        if command.eval.is_some() {
            return Err(Failure::message(
                "--eval evaluates a network; for a system, use `certus simulate --format csv`",
            ));
        }
        let system = load_system(&own, command.common.json)?.system;
        match command.common.json {
            true => writeln!(output, "{:#}", json_system(&system))?,
            false => show_system(&system, &mut output)?,
        }
    } else {
        if !command.settings.is_empty() {
            return Err(Failure::message("--set changes a parameter of a system; a network has none"));
        }
        let graph = load_network(&command.file).map_err(|error| Failure::message(error.to_string()))?;
        let evaluation = command.eval.as_deref().map(|point| eval(&graph, point)).transpose()?;
        let name = command.file.display().to_string();
        match command.common.json {
            true => writeln!(output, "{:#}", json_network(&name, &graph, evaluation)?)?,
            false => show_network(&name, &graph, evaluation, &mut output)?,
        }
    }
    output.finish()?;
    Ok(Finding::Good)
}

/// The outputs at a point, in single and in double precision.
struct Evaluation {
    single: Vec<Vec<f32>>,
    double: Vec<Vec<f64>>,
}

fn eval(graph: &Graph, point: &str) -> Result<Evaluation, Failure> {
    let values = point
        .split(',')
        .map(|text| text.trim().parse::<f64>().map_err(|_| Failure::message(format!("--eval: '{text}' is no number"))))
        .collect::<Result<Vec<f64>, _>>()?;
    let sizes: Vec<usize> = graph.inputs().iter().map(|port| graph.elements(port.node)).collect();
    let wanted: usize = sizes.iter().sum();
    if values.len() != wanted {
        let found = values.len();
        return Err(Failure::message(format!("--eval: the network takes {wanted} numbers, got {found}")));
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
    Ok(Evaluation { single: at(graph, &values, &sizes)?, double: at(graph, &values, &sizes)? })
}

fn operators(graph: &Graph) -> BTreeMap<&'static str, usize> {
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

fn json_network(name: &str, graph: &Graph, evaluation: Option<Evaluation>) -> Result<Value, Failure> {
    let canonical = canonicalize(graph).map_err(|error| Failure::message(error.to_string()))?;
    let mut document = json!({
        "network": name,
        "inputs": json_ports(graph, graph.inputs()),
        "outputs": json_ports(graph, graph.outputs()),
        "parameters": graph.parameters(),
        "operators": operators(graph),
        "canonical_operators": operators(&canonical),
    });
    if let (Some(evaluation), Some(document)) = (evaluation, document.as_object_mut()) {
        let single: Vec<Vec<Value>> =
            evaluation.single.iter().map(|y| y.iter().map(|&v| json_number(f64::from(v))).collect()).collect();
        let double: Vec<Vec<Value>> =
            evaluation.double.iter().map(|y| y.iter().map(|&v| json_number(v)).collect()).collect();
        document.insert("evaluation".to_owned(), json!({"float32": single, "float64": double}));
    }
    Ok(document)
}

fn counted(operators: &BTreeMap<&'static str, usize>) -> String {
    operators.iter().map(|(name, count)| format!("{name} {count}")).collect::<Vec<_>>().join(", ")
}

fn show_network(
    name: &str,
    graph: &Graph,
    evaluation: Option<Evaluation>,
    output: &mut impl Write,
) -> Result<(), Failure> {
    let canonical = canonicalize(graph).map_err(|error| Failure::message(error.to_string()))?;
    writeln!(output, "{name}: a network with {} parameters", graph.parameters())?;
    for (kind, ports) in [("input", graph.inputs()), ("output", graph.outputs())] {
        for port in ports {
            writeln!(output, "  {kind:<7} {} {:?}", port.name, graph.shape(port.node))?;
        }
    }
    writeln!(output, "  as read    {}", counted(&operators(graph)))?;
    writeln!(output, "  canonical  {}", counted(&operators(&canonical)))?;
    if let Some(evaluation) = evaluation {
        for (index, port) in graph.outputs().iter().enumerate() {
            writeln!(output, "  {} in float32  {:?}", port.name, evaluation.single[index])?;
            writeln!(output, "  {} in float64  {:?}", port.name, evaluation.double[index])?;
        }
    }
    Ok(())
}

/// The fragment that a property belongs to, in the words of the engines.
fn fragment(property: &Property) -> &'static str {
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

fn show_system(system: &System, output: &mut impl Write) -> Result<(), Failure> {
    let about = system.doc.replace('\n', " ");
    writeln!(output, "{}{}{about}", system.name, if about.is_empty() { "" } else { ": " })?;
    let step = match (system.dt, system.integrator) {
        (Some(dt), Some(Integrator::Euler)) => format!("one step is {} s, by Euler's method", short(dt)),
        (Some(dt), Some(Integrator::Rk4)) => {
            format!("one step is {} s, by the Runge-Kutta method of order 4", short(dt))
        }
        (Some(dt), None) => format!("one step is {} s", short(dt)),
        (None, _) => "steps without a duration".to_owned(),
    };
    writeln!(output, "  {step}\n")?;
    let width = name_width(system);
    for (kind, variables) in [("state", &system.states), ("input", &system.inputs)] {
        for variable in variables {
            let length = if variable.is_vector { format!("[{}]", variable.len) } else { String::new() };
            let range = |bounds: &[f64], pick: fn(f64, f64) -> f64| {
                bounds.iter().copied().reduce(pick).map_or_else(String::new, short)
            };
            let (low, high) = (range(&variable.lower, f64::min), range(&variable.upper, f64::max));
            let name = format!("{}{length}", variable.name);
            writeln!(output, "  {kind:<8} {name:<width$}  in [{low}, {high}]{}", doc(&variable.doc))?;
        }
    }
    for chance in &system.chances {
        let labels = chance.labels.iter().zip(&chance.probabilities).map(|(label, p)| format!("{label} {}", short(*p)));
        let labels = labels.collect::<Vec<_>>().join(", ");
        writeln!(output, "  chance   {:<width$}  of {labels}{}", chance.name, doc(&chance.doc))?;
    }
    for policy in &system.policies {
        let networks = policy.networks.join(", ");
        writeln!(
            output,
            "  policy   {:<width$}  {} from {networks}{}",
            policy.name,
            numbers(policy.len),
            doc(&policy.doc)
        )?;
    }
    for action in &system.actions {
        let how = if action.kind == ActionKind::Softmax { "at random" } else { "by argmax" };
        let labels = action.labels.join(", ");
        writeln!(output, "  action   {:<width$}  {how} among {labels}{}", action.name, doc(&action.doc))?;
    }
    for param in &system.params {
        let (low, high, value) = (short(param.lower), short(param.upper), short(param.value));
        writeln!(output, "  param    {:<width$}  = {value} in [{low}, {high}]{}", param.name, doc(&param.doc))?;
    }
    writeln!(output)?;
    for property in &system.properties {
        writeln!(output, "  property {:<width$}  {}", property.name, property.source)?;
        writeln!(output, "           {:<width$}  {}{}", "", fragment(property), doc(&property.doc))?;
    }
    writeln!(output, "\n  one step as a graph: {}", counted(&operators(&system.step)))?;
    Ok(())
}

fn doc(text: &str) -> String {
    if text.is_empty() { String::new() } else { format!("  – {}", text.replace('\n', " ")) }
}

fn numbers(count: usize) -> String {
    if count == 1 { "1 number".to_owned() } else { format!("{count} numbers") }
}

fn name_width(system: &System) -> usize {
    let variables = system.states.iter().chain(&system.inputs);
    let variables = variables.map(|v| v.name.len() + if v.is_vector { format!("[{}]", v.len).len() } else { 0 });
    let others = system.params.iter().map(|p| p.name.len()).chain(system.properties.iter().map(|p| p.name.len()));
    variables.chain(others).max().unwrap_or(0).min(24)
}
