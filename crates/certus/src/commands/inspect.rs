//! `certus inspect`: what a network or a system is.

use std::collections::BTreeMap;
use std::io::Write;

use certus_lang::system::{ActionKind, Integrator, System};
use certus_model::short;
use certus_tasks::commands::inspect::task;
use certus_tasks::inspect::{Inspected, InspectedNetwork, document, inspect, operators};

use crate::Finding;
use crate::call::{Call, show_warnings};
use crate::failure::Failure;

/// Tells what a network or a system is.
pub fn run(call: &Call) -> Result<Finding, Failure> {
    let inspected = inspect(&task(&call.request)?)?;
    if let Inspected::System(system) = &inspected {
        show_warnings(system, call.request.flag("json"));
    }
    call.print(
        || document(&inspected),
        |output| match &inspected {
            Inspected::System(system) => show_system(system, output),
            Inspected::Network(network) => show_network(network, output),
        },
    )?;
    Ok(Finding::Good)
}

fn counted(operators: &BTreeMap<&'static str, usize>) -> String {
    operators.iter().map(|(name, count)| format!("{name} {count}")).collect::<Vec<_>>().join(", ")
}

fn show_network(network: &InspectedNetwork, output: &mut impl Write) -> Result<(), Failure> {
    let InspectedNetwork { name, graph, canonical, evaluation } = network;
    writeln!(output, "{name}: a network with {}", certus_model::counted(graph.parameters() as u128, "parameter"))?;
    for (kind, ports) in [("input", graph.inputs()), ("output", graph.outputs())] {
        for port in ports {
            writeln!(output, "  {kind:<7} {} {:?}", port.name, graph.shape(port.node))?;
        }
    }
    writeln!(output, "  as read    {}", counted(&operators(graph)))?;
    writeln!(output, "  canonical  {}", counted(&operators(canonical)))?;
    if let Some(evaluation) = evaluation {
        for (index, port) in graph.outputs().iter().enumerate() {
            writeln!(output, "  {} in float32  {:?}", port.name, evaluation.single[index])?;
            writeln!(output, "  {} in float64  {:?}", port.name, evaluation.double[index])?;
        }
    }
    Ok(())
}

fn show_system(system: &System, output: &mut impl Write) -> Result<(), Failure> {
    let about = system.doc.replace('\n', " ");
    writeln!(output, "{}{}{about}", system.name, if about.is_empty() { "" } else { ": " })?;
    let step = match (system.dt, system.integrator) {
        (Some(dt), Some(Integrator::Euler)) => format!("one step is {} s, by Euler's method", short(dt)),
        (Some(dt), Some(Integrator::Rk4)) => {
            format!("one step is {} s, by the Runge-Kutta method of order 4", short(dt))
        }
        (Some(dt), Some(Integrator::Exact)) => {
            format!("one step is the flow of the differential equation over {} s", short(dt))
        }
        (Some(dt), None) => format!("one step is {} s", short(dt)),
        (None, _) => "steps without a duration".to_owned(),
    };
    writeln!(output, "  {step}\n")?;
    let width = name_width(system);
    for (kind, variables) in [("state", &system.states), ("input", &system.inputs)] {
        for variable in variables {
            let length = if variable.is_vector { format!("[{}]", variable.len) } else { String::new() };
            let name = format!("{}{length}", variable.name);
            let range = variable.range_in_words(short);
            writeln!(output, "  {kind:<8} {name:<width$}  {range}{}", doc(&variable.doc))?;
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
        writeln!(output, "           {:<width$}  {}{}", "", property.fragment(), doc(&property.doc))?;
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
