//! Bounds beside what start states do: `cargo run --release -p certus-prob --example sampled_check`.
//!
//! For each of the three benchmarks, bounds over cells of the initial states, then the probability from a thousand random start states
//! by following all sequences of actions (those less likely than 1e-12 left out). None may exceed the bound of its cell.

use std::path::Path;

use certus_lang::system::PropertyKind;
use certus_lang::{LowerOptions, load_file};
use certus_prob::abstraction::{Abstraction, Task};
use certus_prob::domain::Template;
use certus_prob::engine::concrete::sampled;
use certus_prob::{Budget, Options, check};
use certus_sim::Random;

const STARTS: usize = 1000;

fn main() -> Result<(), String> {
    println!("| system | steps | cells | bound | largest of {STARTS} start states | exceeding |");
    println!("| --- | --- | --- | --- | --- | --- |");
    for (name, steps) in [("ball", 20), ("stopping_car", 7), ("stopping_car", 9), ("pendulum_softmax", 6)] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../zoo/{name}/{name}.certus"));
        let system = load_file(path, &LowerOptions::default()).map_err(|error| error.to_string())?;
        let property = system.property("worst").ok_or("no property `worst`")?;
        let PropertyKind::Probability { path, .. } = &property.kind else { return Err("no probability".to_owned()) };
        let options = Options { steps: Some(steps), grid: 4, ..Options::default() };
        let budget = Budget { threads: 2, ..Budget::default() };
        let found = check(&system, property, &options, &budget, &mut |_| {})?;
        let task = Task::of(&system, path, Some(steps))?;
        let plain = Abstraction::new(&system, &task, Template::boxes(system.state_len()))?;
        let mut random = Random::new(11, 0);
        let (lower, upper) = &system.init_box;
        let starts: Vec<Vec<f64>> = (0..STARTS)
            .map(|_| lower.iter().zip(upper).map(|(&low, &high)| random.between(low, high)).collect())
            .collect();
        let values: Vec<f64> = starts.chunks(50).flat_map(|starts| sampled(&plain, starts, steps, 1e-12)).collect();
        let bound = |start: &Vec<f64>| {
            let own = found.cells.iter().filter(|cell| cell.region.contains_point(start));
            own.map(|cell| cell.upper).fold(f64::NEG_INFINITY, f64::max)
        };
        let exceeding = starts.iter().zip(&values).filter(|(start, value)| **value > bound(start)).count();
        let largest = values.iter().copied().fold(0.0, f64::max);
        println!("| {name} | {steps} | {} | {:.3e} | {largest:.3e} | {exceeding} |", found.cells.len(), found.upper);
        if exceeding > 0 {
            return Err(format!("{name}: {exceeding} start states exceed their bounds"));
        }
    }
    Ok(())
}
