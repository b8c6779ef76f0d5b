//! Times the evaluation of a network: `time_evaluation NET BATCH CALLS ROUNDS f32|f64` prints nanoseconds per call on one
//! thread, the best of so many rounds of so many calls. Made for the scripts in `bench/`, which run it beside a peer.

use std::error::Error;
use std::path::Path;
use std::time::Instant;

use certus_graph::canonical::canonicalize;
use certus_graph::eval::{Evaluator, Workspace};
use certus_graph::import::load_network;
use certus_graph::{Graph, Real};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [path, batch, calls, rounds, precision] = arguments.as_slice() else {
        return Err("usage: time_evaluation NET BATCH CALLS ROUNDS f32|f64".into());
    };
    let (batch, calls, rounds) = (batch.parse()?, calls.parse()?, rounds.parse()?);
    let graph = canonicalize(&load_network(Path::new(path))?)?;
    match precision.as_str() {
        "f32" => run::<f32>(&graph, batch, calls, rounds),
        "f64" => run::<f64>(&graph, batch, calls, rounds),
        other => Err(format!("'{other}' is neither f32 nor f64").into()),
    }
}

fn run<T: Real>(graph: &Graph, batch: usize, calls: u32, rounds: u32) -> Result<(), Box<dyn Error>> {
    let evaluator = Evaluator::<T>::new(graph);
    let mut workspace = Workspace::default();
    let value = |i: usize| T::from_f64(((i * 37 % 101) as f64 - 50.0) / 50.0);
    let inputs: Vec<Vec<T>> =
        graph.inputs().iter().map(|port| (0..graph.elements(port.node) * batch).map(value).collect()).collect();
    let slices: Vec<&[T]> = inputs.iter().map(Vec::as_slice).collect();
    let mut sum = 0.0;
    let mut best = f64::INFINITY;
    for _ in 0..rounds {
        let start = Instant::now();
        for _ in 0..calls {
            evaluator.run(&mut workspace, &slices, batch)?;
            sum += evaluator.output(&workspace, &slices, 0)[0].to_f64();
        }
        best = best.min(start.elapsed().as_nanos() as f64 / f64::from(calls));
    }
    println!("{best:.1} {sum}");
    Ok(())
}
