//! How long a large page takes, and how large it is: a grid of 10⁴ cells, a partition of 10⁴ parts, a run of 5,000 steps.
//!
//! `cargo run --release -p certus-report --example large [FILE]` prints both, and writes the page if a file is named.

use std::time::Instant;

use serde_json::{Value, json};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let side = 100;
    let boxes = || (0..side).flat_map(|i| (0..side).map(move |j| (i, j)));
    let ends = |i: i32, j: i32| {
        let (x, y) = (f64::from(i) / 37.0, f64::from(j) / 41.0);
        (json!([x, y]), json!([x + 1.0 / 37.0, y + 1.0 / 41.0]))
    };
    let reachable: Vec<Value> = boxes()
        .map(|(i, j)| {
            let (lower, upper) = ends(i, j);
            json!({"box": [[lower[0], upper[0]], [lower[1], upper[1]]], "step": (i - 50).abs().max((j - 50).abs())})
        })
        .collect();
    let cells: Vec<Value> = boxes()
        .map(|(i, j)| {
            let (lower, upper) = ends(i, j);
            json!({"lower": lower, "upper": upper, "bound": (-f64::from((i - 30).pow(2) + (j - 60).pow(2)) / 900.0).exp() / 3.0})
        })
        .collect();
    let trace: Vec<Value> = (0..5000)
        .map(|step| {
            let t = f64::from(step) * 0.01;
            json!({
                "state": {"x": t.sin() * (-t / 30.0).exp(), "v": t.cos() * (-t / 30.0).exp(), "angle": (1.7 * t).sin(), "rate": (0.3 * t).cos()},
                "input": {"wind": (t * 7.0).sin() / 3.0}, "policy": {"a": -t.sin() / 7.0}, "atoms": {"x < 1": step % 600 != 0},
            })
        })
        .collect();
    let document = json!({"system": "large", "results": [
        {"property": "grid", "verdict": "holds", "engine": "grid", "scope": "unbounded", "seconds": 1.5, "grid": {"axes": ["x", "v"], "reachable": {"every": 1, "cells": reachable}}},
        {"property": "probability", "verdict": "holds", "engine": "imdp", "scope": {"bounded": 20}, "seconds": 2.5,
         "probability": {"lower": 0.1, "upper": 1.0 / 3.0}, "axes": ["x", "v"], "cells": cells},
        {"property": "run", "verdict": "violated", "engine": "bmc", "scope": {"bounded": 4999}, "seconds": 3.5, "trace": trace, "loop": null},
    ]});
    // What the command does: from the text of a document to the text of a page.
    let text = document.to_string();
    let started = Instant::now();
    let read: Value = serde_json::from_str(&text)?;
    let page = certus_report::page::report(&[("large.json".to_owned(), read)])?;
    let seconds = started.elapsed().as_secs_f64();
    println!("document {:.2} MB, page {:.2} MB, {seconds:.3} s", text.len() as f64 / 1e6, page.html.len() as f64 / 1e6);
    if let Some(path) = std::env::args().nth(1) {
        std::fs::write(path, page.html)?;
    }
    Ok(())
}
