//! How long a large page takes, and how large it is: a grid of 10⁴ cells, a partition of 10⁴ parts, a run of 5,000 steps.
//!
//! `cargo run --release -p certus-report --example large [FILE]` prints both, and writes the page if a file is named.

use std::time::Instant;

use certus_documents::check::{BoundedCell, Check, Grid, GridCell, Position, PropertyResult, Reachable, Verdict};
use certus_documents::{Document, Scope, members, numbers};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let side = 100;
    let boxes = || (0..side).flat_map(|i| (0..side).map(move |j| (i, j)));
    let ends = |i: i32, j: i32| {
        let (x, y) = (f64::from(i) / 37.0, f64::from(j) / 41.0);
        ([x, y], [x + 1.0 / 37.0, y + 1.0 / 41.0])
    };
    let axes = vec!["x".to_owned(), "v".to_owned()];
    let reached = boxes().map(|(i, j)| {
        let (lower, upper) = ends(i, j);
        let step = (i - 50).abs().max((j - 50).abs()) as usize;
        GridCell { step, ends: lower.iter().zip(upper).map(|(&low, high)| [low.into(), high.into()]).collect() }
    });
    let cells = boxes().map(|(i, j)| {
        let (lower, upper) = ends(i, j);
        let bound = (-f64::from((i - 30).pow(2) + (j - 60).pow(2)) / 900.0).exp() / 3.0;
        BoundedCell { lower: numbers(&lower), upper: numbers(&upper), bound: bound.into() }
    });
    let trace = (0..5000).map(|step| {
        let t = f64::from(step) * 0.01;
        let fading = (-t / 30.0).exp();
        let state =
            [("x", t.sin() * fading), ("v", t.cos() * fading), ("angle", (1.7 * t).sin()), ("rate", (0.3 * t).cos())];
        Position {
            state: members(state),
            input: members([("wind", (t * 7.0).sin() / 3.0)]),
            policy: members([("a", -t.sin() / 7.0)]),
            atoms: [("x < 1".to_owned(), step % 600 != 0)].into_iter().collect(),
            ..Position::default()
        }
    });
    let result = |property: &str, verdict: Verdict, engine: &str, scope: Scope| PropertyResult {
        property: property.to_owned(),
        verdict,
        engine: Some(engine.to_owned()),
        scope: Some(Some(scope)),
        seconds: Some(1.5.into()),
        ..PropertyResult::default()
    };
    let grid =
        Grid { axes: axes.clone(), reachable: Reachable { every: 1, cells: reached.collect() }, ..Grid::default() };
    let document = Check {
        system: "large".to_owned(),
        results: vec![
            PropertyResult { grid: Some(grid), ..result("grid", Verdict::Holds, "grid", Scope::Unbounded) },
            PropertyResult {
                probability: Some((0.1, 1.0 / 3.0).into()),
                axes: Some(axes),
                cells: Some(cells.collect()),
                ..result("probability", Verdict::Holds, "imdp", Scope::Bounded(20))
            },
            PropertyResult {
                trace: Some(Some(trace.collect())),
                ..result("run", Verdict::Violated, "bmc", Scope::Bounded(4999))
            },
        ],
        ..Check::default()
    };
    // What the command does: from the text of a document to the text of a page.
    let text = document.to_line()?;
    let started = Instant::now();
    let page = certus_report::page::report(vec![("large.json".to_owned(), serde_json::from_str(&text)?)])?;
    let seconds = started.elapsed().as_secs_f64();
    println!("document {:.2} MB, page {:.2} MB, {seconds:.3} s", text.len() as f64 / 1e6, page.html.len() as f64 / 1e6);
    if let Some(path) = std::env::args().nth(1) {
        std::fs::write(path, page.html)?;
    }
    Ok(())
}
