//! Bounds beside what start states do: `cargo run --release -p certus-prob --example sampled_check [-- long [RUNS [SYSTEM]]]`.
//!
//! For each of the three benchmarks, bounds over cells of the initial states, then the probability from a thousand random start states
//! by following all sequences of actions (those less likely than 1e-12 left out). None may exceed the bound of its cell.
//!
//! With `long`, horizons that have too many sequences: as many simulated runs as asked for (a hundred thousand) from each start state. What can be
//! concluded from them is wrong for any of the thousand with a probability of at most one in a million, and may not exceed the cell's bound.

use std::path::Path;
use std::time::{Duration, Instant};

use certus_lang::{LowerOptions, load_file};
use certus_numerics::{Random, parallel};
use certus_prob::abstraction::{Abstraction, Task};
use certus_prob::engine::concrete::{Following, sampled};
use certus_prob::engine::simulate::{confident_lower, simulated};
use certus_prob::template_polyhedron::Template;
use certus_prob::{Budget, Method, Options, Outcome, check};

const STARTS: usize = 1000;

/// The probability that some confidence bound of a table's row is wrong.
const RISK: f64 = 1e-6;

/// A benchmark with bounds over the cells of its initial states.
struct Bounded {
    plain: Abstraction,
    found: Outcome,
    starts: Vec<Vec<f64>>,
}

impl Bounded {
    fn new(name: &str, steps: usize, options: &Options, budget: &Budget<'_>) -> Result<Bounded, String> {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../zoo/{name}/{name}.certus"));
        let system = load_file(path, &LowerOptions::default()).map_err(|error| error.to_string())?;
        let property = system.property("worst").ok_or("no property `worst`")?;
        let path = &property.probability().ok_or("no probability")?.path;
        let options = Options { steps: Some(steps), ..options.clone() };
        let found = check(&system, property, &options, budget, &mut |_| {})?;
        let task = Task::of(&system, path, Some(steps))?;
        let plain = Abstraction::new(&system, &task, Template::boxes(system.state_len()))?;
        let mut random = Random::new(11, 0);
        let (lower, upper) = &system.init_box;
        let starts = (0..STARTS)
            .map(|_| lower.iter().zip(upper).map(|(&low, &high)| random.between(low, high)).collect())
            .collect();
        Ok(Bounded { plain, found, starts })
    }

    /// The bound of a start state: of the cells that it is in.
    fn bound(&self, start: &[f64]) -> f64 {
        let own = self.found.cells.iter().filter(|cell| cell.region.contains_point(start));
        own.map(|cell| cell.upper).fold(f64::NEG_INFINITY, f64::max)
    }

    /// How many start states have a value above their bound.
    fn exceeding(&self, values: &[f64]) -> usize {
        self.starts.iter().zip(values).filter(|(start, value)| **value > self.bound(start)).count()
    }
}

fn largest(values: &[f64]) -> f64 {
    values.iter().copied().fold(0.0, f64::max)
}

fn followed() -> Result<(), String> {
    println!("| system | steps | cells | bound | largest of {STARTS} start states | exceeding |");
    println!("| --- | --- | --- | --- | --- | --- |");
    for (name, steps) in [("ball", 20), ("stopping_car", 7), ("stopping_car", 9), ("pendulum_softmax", 6)] {
        let options = Options { grid: 4, ..Options::default() };
        let own = Bounded::new(name, steps, &options, &Budget { threads: 2, ..Budget::default() })?;
        let values: Vec<f64> = own
            .starts
            .chunks(50)
            .flat_map(|starts| sampled(&own.plain, starts, Following { steps, behaviour: 0 }, 1e-12))
            .collect();
        let (exceeding, largest) = (own.exceeding(&values), largest(&values));
        let (cells, upper) = (own.found.cells.len(), own.found.upper);
        println!("| {name} | {steps} | {cells} | {upper:.3e} | {largest:.3e} | {exceeding} |");
        if exceeding > 0 {
            return Err(format!("{name}: {exceeding} start states exceed their bounds"));
        }
    }
    Ok(())
}

fn simulated_long(runs: usize, only: &str) -> Result<(), String> {
    println!(
        "| system | steps | cells | bounds over cells | runs of each of {STARTS} start states | largest share that fails | largest lower end \
         | states whose bound is below 1 | exceeding | s |"
    );
    println!("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |");
    // Within 60 steps the ball fails almost surely from some start states and no cell's bound is below 1: a shorter horizon says more of it.
    let search = Method::Search { containment: false };
    let rows = [
        ("stopping_car", 21, Method::Automatic, 1),
        ("pendulum_softmax", 18, Method::Automatic, 1),
        ("ball", 60, Method::Automatic, 1),
        ("ball", 30, search, 10),
    ];
    for (name, steps, method, grid) in rows.into_iter().filter(|(name, ..)| name.contains(only)) {
        let deadline = Some(Instant::now() + Duration::from_secs(60));
        let budget = Budget { threads: 2, deadline, ..Budget::default() };
        let own = Bounded::new(name, steps, &Options { method, grid, ..Options::default() }, &budget)?;
        let begun = Instant::now();
        let count = |index: usize| {
            let mut random = Random::new(12, index as u64);
            simulated(&own.plain, &own.starts[index], steps, runs, &mut random)
        };
        let reached = parallel::map(&(0..STARTS).collect::<Vec<usize>>(), 2, |&index| count(index));
        let shares: Vec<f64> = reached.iter().map(|&reached| reached as f64 / runs as f64).collect();
        let risk = RISK / STARTS as f64;
        let lower: Vec<f64> = reached.iter().map(|&reached| confident_lower(reached, runs, risk)).collect();
        let exceeding = own.exceeding(&lower);
        let telling = own.starts.iter().filter(|start| own.bound(start) < 1.0).count();
        let least = own.found.cells.iter().map(|cell| cell.upper).fold(1.0, f64::min);
        println!(
            "| {name} | {steps} | {} | {least:.2e} to {:.2e} | {runs} | {:.5} | {:.5} | {telling} | {exceeding} | {:.0} |",
            own.found.cells.len(),
            own.found.upper,
            largest(&shares),
            largest(&lower),
            begun.elapsed().as_secs_f64()
        );
        if exceeding > 0 || lower.len() != STARTS {
            return Err(format!("{name}: {exceeding} start states exceed their bounds"));
        }
    }
    Ok(())
}

fn main() -> Result<(), String> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match words.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        [] => followed(),
        ["long"] => simulated_long(100_000, ""),
        ["long", runs, rest @ ..] if rest.len() < 2 => {
            let runs = runs.parse().map_err(|_| format!("`{runs}` is no number of runs"))?;
            simulated_long(runs, rest.first().copied().unwrap_or_default())
        }
        _ => Err("say nothing, or `long`, how many runs, and a part of a system's name".to_owned()),
    }
}
