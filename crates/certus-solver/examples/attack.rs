//! Searches for a witness by gradient descent alone: `attack NET SPEC [--restarts N] [--steps N] [--seed N]`.
//!
//! Prints, per box of the specification, the time, the descents and evaluations made, and the smallest distance of the
//! formula from true; then the witness if there is one.

use std::error::Error;
use std::path::Path;
use std::time::Instant;

use certus_graph::import::load_network;
use certus_solver::{Query, falsify, vnnlib};

/// The number after a flag.
fn number(arguments: &[String], flag: &str, otherwise: usize) -> Result<usize, Box<dyn Error>> {
    match arguments.iter().position(|argument| argument == flag) {
        Some(place) => Ok(arguments.get(place + 1).ok_or(format!("{flag} takes a number"))?.parse()?),
        None => Ok(otherwise),
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [network, specification, ..] = arguments.as_slice() else {
        return Err("usage: attack NET SPEC [--restarts N] [--steps N] [--seed N]".into());
    };
    let graph = load_network(Path::new(network))?;
    let specification = vnnlib::read(Path::new(specification))?;
    let restarts = number(&arguments, "--restarts", 100_000)?;
    let steps = number(&arguments, "--steps", 100)?;
    let seed = number(&arguments, "--seed", 0)?;
    for query in Query::from_specification(&graph, &specification, specification.cases(10_000)?)? {
        let begin = Instant::now();
        let result = falsify(&query, restarts, steps, seed as u64, &|| false)?;
        println!(
            "{} in {:.3} s: {} restarts, {} evaluations, distance {:e}",
            if result.witness.is_some() { "sat" } else { "unknown" },
            begin.elapsed().as_secs_f64(),
            result.restarts,
            result.evaluations,
            result.distance
        );
        if let Some(witness) = result.witness {
            println!("inputs {:?}\noutputs {:?}", witness.inputs, witness.outputs);
            break;
        }
    }
    Ok(())
}
