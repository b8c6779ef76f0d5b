//! The examples of the language reference are what it says they are.

use std::sync::Arc;

use crate::support::Linear;
use certus_graph::Graph;
use certus_lang::{LowerOptions, Networks, Source, load_source};

/// The networks of the examples, by their sizes.
struct Examples;

impl Networks for Examples {
    fn load(&mut self, path: &str) -> Result<Arc<Graph>, String> {
        let size = match path {
            "toy.onnx" | "pendulum.onnx" => "linear_2x1",
            "ball.onnx" => "linear_2x2",
            "aurora.onnx" => "linear_30x1",
            other => return Err(format!("no example uses {other}")),
        };
        Linear.load(size)
    }
}

/// The blocks of the reference marked as the language, with the line they begin at.
fn blocks() -> Vec<(usize, String)> {
    let reference = include_str!("../../../../docs/language.md");
    let mut blocks = Vec::new();
    let mut current: Option<(usize, String)> = None;
    for (number, line) in reference.lines().enumerate() {
        match (&mut current, line.trim_end()) {
            (None, "```certus") => current = Some((number + 1, String::new())),
            (Some(_), "```") => blocks.extend(current.take()),
            (Some((_, text)), line) => *text += &format!("{line}\n"),
            (None, _) => {}
        }
    }
    blocks
}

#[test]
fn examples_are_right_and_canonical() {
    let blocks = blocks();
    assert!(blocks.len() >= 7, "only {} examples", blocks.len());
    let mut systems = 0;
    for (line, text) in blocks {
        let source = Source::new(format!("docs/language.md after line {line}"), text.as_str());
        let formatted = certus_lang::format(&source).unwrap_or_else(|d| panic!("{d}"));
        assert_eq!(formatted, text, "the example after line {line} is not in canonical form");
        if text.contains("\nsystem ") || text.starts_with("system ") {
            systems += 1;
            let system = load_source(&source, &mut Examples, &LowerOptions::default());
            let system = system.unwrap_or_else(|d| panic!("{d}"));
            assert!(system.warnings.is_empty(), "{}", system.warnings);
        }
    }
    assert!(systems >= 5, "only {systems} examples are whole systems");
}
