//! What the bare evaluations of an exploration cost: the network and the plant at one point per cell, without bounds.
//!
//!     cargo run --release -p certus-grid --example bare -- FILE [name=value…]

use std::path::Path;
use std::time::Instant;

use certus_graph::canonical::canonicalize;
use certus_graph::eval::{Evaluator, Workspace};
use certus_lang::system::{ActionRole, System};
use certus_lang::{LowerOptions, load_file_with};
use certus_numerics::Random;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let mut options = LowerOptions::default();
    for pair in arguments.iter().skip(1) {
        let (name, value) = pair.split_once('=').expect("name=value");
        options.overrides.push((name.to_owned(), value.parse().expect("a number")));
    }
    let system = load_file_with(Path::new(&arguments[0]), &[], &options).expect("a system");
    let next: Vec<usize> = system.roles.next.iter().map(|next| next.port).collect();
    let labels = system.roles.actions.iter().filter_map(|role| match role {
        ActionRole::Argmax { choice, .. } => Some(choice.port),
        ActionRole::Softmax { .. } => None,
    });
    let policy: Vec<usize> = system.roles.policies.iter().map(|policy| policy.port).chain(labels).collect();
    println!("network and plant: {:.0} ns", nanoseconds(&system, &next));
    println!("network alone: {:.0} ns", nanoseconds(&system, &policy));
}

/// What it takes to evaluate some outputs of the step at one point, on one thread. The fastest of many short rounds: other work on the
/// machine makes rounds slower, never faster.
fn nanoseconds(system: &System, ports: &[usize]) -> f64 {
    let graph = canonicalize(&system.step.keep_outputs(ports)).expect("a graph");
    let evaluator = Evaluator::<f64>::new(&graph);
    let (batch, rounds) = (512, 2000);
    let mut random = Random::new(1, 1);
    let variables = system.states.iter().chain(&system.inputs);
    let mut inputs: Vec<Vec<f64>> = variables
        .map(|own| {
            let ends = own.lower.iter().zip(&own.upper);
            ends.flat_map(|(&low, &high)| (0..batch).map(|_| random.between(low, high)).collect::<Vec<_>>()).collect()
        })
        .collect();
    inputs.extend(graph.inputs()[inputs.len()..].iter().map(|port| vec![1.0; graph.elements(port.node) * batch]));
    let slices: Vec<&[f64]> = inputs.iter().map(Vec::as_slice).collect();
    let mut workspace = Workspace::default();
    let mut best = f64::INFINITY;
    for _ in 0..rounds {
        let begun = Instant::now();
        evaluator.run(&mut workspace, &slices, batch).expect("an evaluation");
        best = best.min(begun.elapsed().as_secs_f64());
    }
    best / batch as f64 * 1e9
}
