//! Times the evaluation of a network: `time_evaluation NET BATCH SECONDS` prints nanoseconds per call, single
//! precision, one thread. Made for `bench/evaluation.py`, which runs it beside a peer.

use std::error::Error;
use std::path::Path;
use std::time::{Duration, Instant};

use certus_graph::canonical::canonicalize;
use certus_graph::eval::{Evaluator, Workspace};
use certus_graph::import::load_network;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [path, batch, seconds] = arguments.as_slice() else {
        return Err("usage: time_evaluation NET BATCH SECONDS".into());
    };
    let (batch, seconds): (usize, f64) = (batch.parse()?, seconds.parse()?);
    let graph = canonicalize(&load_network(Path::new(path))?)?;
    let evaluator = Evaluator::<f32>::new(&graph);
    let mut workspace = Workspace::default();
    let inputs: Vec<Vec<f32>> = graph
        .inputs()
        .iter()
        .map(|port| (0..graph.elements(port.node) * batch).map(|i| ((i * 37 % 101) as f32 - 50.0) / 50.0).collect())
        .collect();
    let slices: Vec<&[f32]> = inputs.iter().map(Vec::as_slice).collect();
    let mut sum = 0.0;
    let mut time = |calls: u32| -> Result<Duration, Box<dyn Error>> {
        let start = Instant::now();
        for _ in 0..calls {
            evaluator.run(&mut workspace, &slices, batch)?;
            sum += evaluator.output(&workspace, &slices, 0)[0];
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
