//! How many cells an exploration meets, and where its time goes.
//!
//!     cargo run --release -p certus-grid --example cells -- FILE PROPERTY WIDTHS [network|extracted] [name=value | written.onnx=other.onnx …]

use std::path::Path;
use std::time::Instant;

use certus_grid::{
    expand::Expander, extract::*, grid::Grid, product::Product, transition_relation::TransitionRelation,
    violation_automaton::ViolationAutomaton,
};
use certus_lang::{LowerOptions, load_file_with};
use certus_solver::Budget;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let mut options = LowerOptions::default();
    let mut networks = Vec::new();
    for pair in arguments.iter().skip(4) {
        let (name, value) = pair.split_once('=').unwrap();
        if value.ends_with(".onnx") {
            networks.push((name.to_owned(), value.into()));
            continue;
        }
        options.overrides.push((name.to_owned(), value.parse().unwrap()));
    }
    let system = load_file_with(Path::new(&arguments[0]), &networks, &options).unwrap();
    let property = system.property(&arguments[1]).unwrap();
    let formula = property.over_runs().unwrap();
    let mut widths: Vec<f64> = arguments[2].split(',').map(|text| text.parse().unwrap()).collect();
    widths.resize(system.state_len(), widths[widths.len() - 1]);
    let extracted = arguments.get(3).is_some_and(|word| word == "extracted");
    let (begun, before) = (Instant::now(), processor_seconds());
    let violations = ViolationAutomaton::new(&system, formula).unwrap();
    let grid = Grid::new(&system, &widths).unwrap();
    let relation = TransitionRelation::new(&system, &violations.atoms, extracted).unwrap();
    let extraction = extracted.then(|| Extraction::new(&system, &relation, ExtractOptions::default()).unwrap());
    let expander = Expander::new(&system, &grid, &relation, &violations.atoms, extraction).unwrap();
    println!("{} states, batch {}, words {}", violations.automaton.states(), expander.batch, grid.words());
    let mut product = Product::new(&system, &grid, violations);
    let budget =
        Budget { threads: 2, deadline: Some(Instant::now() + std::time::Duration::from_secs(60)), ..Budget::default() };
    let found = product.explore(&expander, &budget, &mut |round, cells| {
        if round % 20 == 0 || round < 12 {
            println!("{round}: {cells}");
        }
    });
    println!(
        "{found:?} after {} rounds: {} cells, {} expanded, {:.1} MB",
        product.layers.len(),
        product.cells.len(),
        product.expansions,
        product.bytes() as f64 / 1e6
    );
    println!("{:.3} s: {:?}", begun.elapsed().as_secs_f64(), product.seconds());
    println!("{:.2} s of processor time", processor_seconds() - before);
    let mut hulls: Vec<Vec<(f64, f64)>> = vec![Vec::new(); product.layers.len()];
    for cell in 0..product.cells.len() as u32 {
        let Some(round) = product.round(cell) else { continue };
        if hulls[round].is_empty() {
            hulls[round] = product.ends(cell);
        }
        for (all, own) in hulls[round].iter_mut().zip(product.ends(cell)) {
            *all = (all.0.min(own.0), all.1.max(own.1));
        }
    }
    for (round, hull) in hulls.iter().enumerate().filter(|(round, _)| round % 5 == 0) {
        let ends: Vec<String> = hull.iter().map(|(low, high)| format!("{low:.6}..{high:.6}")).collect();
        println!("step {round}: {} new cells in {}", product.layers[round], ends.join(" x "));
    }
}

/// What all threads have taken so far, of the user's time and of the system's, where the system tells.
fn processor_seconds() -> f64 {
    let told = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after_name = told.rsplit(')').next().unwrap_or_default();
    // Hundredths of a second; fields 14 and 15 of all, of which two are before the name's end.
    after_name.split_whitespace().skip(11).take(2).filter_map(|ticks| ticks.parse::<f64>().ok()).sum::<f64>() / 100.0
}
