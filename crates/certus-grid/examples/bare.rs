//! What the bare evaluations of an exploration cost: the network and the plant at one point per unit, without bounds.
//!
//!     cargo run --release -p certus-grid --example bare -- FILE [name=value…]

use std::path::Path;
use std::time::Instant;

use certus_graph::canonical::canonicalize;
use certus_graph::eval::{Evaluator, Workspace};
use certus_lang::{LowerOptions, load_file_with};
use certus_sim::Random;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let mut options = LowerOptions::default();
    for pair in arguments.iter().skip(1) {
        let (name, value) = pair.split_once('=').expect("name=value");
        options.overrides.push((name.to_owned(), value.parse().expect("a number")));
    }
    let system = load_file_with(Path::new(&arguments[0]), &[], &options).expect("a system");
    let ports: Vec<usize> = system.roles.next.iter().map(|next| next.port).collect();
    let step = canonicalize(&system.step.keep_outputs(&ports)).expect("a graph");
    let evaluator = Evaluator::<f64>::new(&step);
    let (batch, rounds) = (512, 1000);
    let mut random = Random::new(1, 1);
    let variables = system.states.iter().chain(&system.inputs);
    let mut inputs: Vec<Vec<f64>> = variables
        .map(|own| {
            let ends = own.lower.iter().zip(&own.upper);
            ends.flat_map(|(&low, &high)| (0..batch).map(|_| random.between(low, high)).collect::<Vec<_>>()).collect()
        })
        .collect();
    inputs.extend(step.inputs()[inputs.len()..].iter().map(|port| vec![1.0; step.elements(port.node) * batch]));
    let slices: Vec<&[f64]> = inputs.iter().map(Vec::as_slice).collect();
    let mut workspace = Workspace::default();
    let begun = Instant::now();
    for _ in 0..rounds {
        evaluator.run(&mut workspace, &slices, batch).expect("an evaluation");
    }
    let seconds = begun.elapsed().as_secs_f64();
    println!("{} evaluations of network and plant", batch * rounds);
    println!("{:.0} ns each on one thread", seconds / (batch * rounds) as f64 * 1e9);
}
