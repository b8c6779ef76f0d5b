//! `certus inspect`: what a network or a system is.

use std::collections::BTreeMap;
use std::io::Write;

use certus_documents::inspect as shown;
use certus_documents::{Document, Members, Schema, members, numbers};
use certus_graph::canonical::canonicalize;
use certus_graph::eval::evaluate;
use certus_graph::import::load_network;
use certus_graph::ops::Operator;
use certus_graph::{Graph, Port, Real};
use certus_lang::system::{ActionKind, Formula, Integrator, Property, PropertyKind, System, Variable};
use certus_tasks::Files;

use super::{load_system, loading};
use crate::Finding;
use crate::arguments::Inspect;
use crate::failure::Failure;
use crate::output::{Output, short};

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
            true => system_document(&system).write_indented(&mut output)?,
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
            true => network_document(&name, &graph, evaluation)?.write_indented(&mut output)?,
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

/// The same as documents have it.
fn operator_counts(graph: &Graph) -> Members<usize> {
    operators(graph).into_iter().map(|(name, count)| (name.to_owned(), count)).collect()
}

fn network_document(name: &str, graph: &Graph, evaluation: Option<Evaluation>) -> Result<shown::Network, Failure> {
    let canonical = canonicalize(graph).map_err(|error| Failure::message(error.to_string()))?;
    let port = |port: &Port| shown::Port { name: port.name.clone(), shape: graph.shape(port.node).to_vec() };
    let single = |output: &Vec<f32>| output.iter().map(|&value| f64::from(value).into()).collect();
    Ok(shown::Network {
        schema: Schema::default(),
        network: name.to_owned(),
        inputs: graph.inputs().iter().map(port).collect(),
        outputs: graph.outputs().iter().map(port).collect(),
        parameters: graph.parameters(),
        operators: operator_counts(graph),
        canonical_operators: operator_counts(&canonical),
        evaluation: evaluation.map(|own| shown::Evaluation {
            float32: own.single.iter().map(single).collect(),
            float64: own.double.iter().map(numbers).collect(),
        }),
    })
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

fn system_document(system: &System) -> shown::System {
    let variable = |own: &Variable| shown::Variable {
        name: own.name.clone(),
        length: own.len,
        lower: numbers(&own.lower),
        upper: numbers(&own.upper),
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
        fragment: fragment(own).to_owned(),
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
            number_count(policy.len),
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

fn number_count(count: usize) -> String {
    if count == 1 { "1 number".to_owned() } else { format!("{count} numbers") }
}

fn name_width(system: &System) -> usize {
    let variables = system.states.iter().chain(&system.inputs);
    let variables = variables.map(|v| v.name.len() + if v.is_vector { format!("[{}]", v.len).len() } else { 0 });
    let others = system.params.iter().map(|p| p.name.len()).chain(system.properties.iter().map(|p| p.name.len()));
    variables.chain(others).max().unwrap_or(0).min(24)
}
