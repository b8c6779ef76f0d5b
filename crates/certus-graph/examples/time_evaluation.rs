//! Times the evaluation of a network: `time_evaluation NET BATCH SECONDS f32|f64` prints nanoseconds per call on one
//! thread, the best of many rounds. Made for the scripts in `bench/`, which run it beside a peer.

use std::error::Error;
use std::path::Path;
use std::time::{Duration, Instant};

use certus_graph::canonical::canonicalize;
use certus_graph::eval::{Evaluator, Workspace};
use certus_graph::import::load_network;
use certus_graph::{Graph, Real};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [path, batch, seconds, precision] = arguments.as_slice() else {
        return Err("usage: time_evaluation NET BATCH SECONDS f32|f64".into());
    };
    let graph = canonicalize(&load_network(Path::new(path))?)?;
    match precision.as_str() {
        "f32" => run::<f32>(&graph, batch.parse()?, seconds.parse()?),
        "f64" => run::<f64>(&graph, batch.parse()?, seconds.parse()?),
        other => Err(format!("'{other}' is neither f32 nor f64").into()),
    }
}

fn run<T: Real>(graph: &Graph, batch: usize, seconds: f64) -> Result<(), Box<dyn Error>> {
    let evaluator = Evaluator::<T>::new(graph);
    let mut workspace = Workspace::default();
    let value = |i: usize| T::from_f64(((i * 37 % 101) as f64 - 50.0) / 50.0);
    let inputs: Vec<Vec<T>> =
        graph.inputs().iter().map(|port| (0..graph.elements(port.node) * batch).map(value).collect()).collect();
    let slices: Vec<&[T]> = inputs.iter().map(Vec::as_slice).collect();
    let mut sum = 0.0;
    let mut time = |calls: u32| -> Result<Duration, Box<dyn Error>> {
        let start = Instant::now();
        for _ in 0..calls {
            evaluator.run(&mut workspace, &slices, batch)?;
            sum += evaluator.output(&workspace, &slices, 0)[0].to_f64();
        }
        Ok(start.elapsed())
    };
    let mut calls = 8;
    while time(calls)? < Duration::from_millis(20) {
        calls *= 2;
    }
    let rounds = (seconds / 0.02).ceil().max(1.0) as u32;
    let mut best = f64::INFINITY;
    for _ in 0..rounds {
        best = best.min(time(calls)?.as_nanos() as f64 / f64::from(calls));
    }
    println!("{best:.1} {sum}");
    Ok(())
}
