//! Any text as a `.certus` file: parsing, printing, checking, lowering, canonical form and enclosure of the
//! step must not panic, and printing must be stable.

#![no_main]

use std::sync::Arc;

use certus_graph::canonical::canonicalize;
use certus_graph::eval::enclose_nodes;
use certus_graph::ops::{Affine, Relu};
use certus_graph::{Graph, Interval};
use certus_lang::{LowerOptions, Networks, Source, format, load_str, parse};
use libfuzzer_sys::fuzz_target;

/// Steps with more elements are lowered but not evaluated.
const MAX_ELEMENTS: usize = 20_000;

fuzz_target!(|text: &str| {
    let source = Source::new("fuzz.certus", text);
    if let Err(diagnostics) = parse(&source) {
        assert!(!diagnostics.to_string().is_empty(), "a refusal needs a message");
        return;
    }
    let once = format(&source).expect("what parses can be printed");
    let again = format(&Source::new("printed.certus", once.as_str())).expect("what was printed parses");
    assert_eq!(once, again, "printing is stable");
    match load_str(text, &mut Stub, &LowerOptions::default()) {
        Ok(system) => enclose_step(&system.step),
        Err(diagnostics) => assert!(!diagnostics.to_string().is_empty(), "a refusal needs a message"),
    }
});

/// Brings a small step into canonical form, and encloses every node of both.
fn enclose_step(step: &Graph) {
    if step.ids().map(|id| step.elements(id)).sum::<usize>() > MAX_ELEMENTS {
        return;
    }
    let boxes: Vec<Vec<Interval>> =
        step.inputs().iter().map(|port| vec![Interval::new(-0.5, 0.75); step.elements(port.node)]).collect();
    let slices: Vec<&[Interval]> = boxes.iter().map(Vec::as_slice).collect();
    enclose_nodes(step, &slices).expect("the inputs fit");
    let canonical = canonicalize(step).expect("a step has a canonical form");
    enclose_nodes(&canonical, &slices).expect("the inputs are the same");
}

/// Networks whose file name tells their size: `3x2.onnx` has three inputs and two outputs.
struct Stub;

impl Networks for Stub {
    fn load(&mut self, path: &str) -> Result<Arc<Graph>, String> {
        let stem = path.split('/').next_back().and_then(|file| file.split('.').next()).unwrap_or("");
        let (inputs, outputs) = stem.split_once('x').ok_or("not found")?;
        let size = |text: &str| text.parse().ok().filter(|size| (1..=64).contains(size)).ok_or("not found");
        let (inputs, outputs): (usize, usize) = (size(inputs)?, size(outputs)?);
        let weights = (0..inputs * outputs).map(|index| 0.5 - (index % 3) as f64 / 4.0).collect();
        let mut graph = Graph::new();
        let x = graph.input("x", &[1, inputs]);
        let map = Affine::dense(weights, outputs, inputs, vec![0.125; outputs]).map_err(|error| error.to_string())?;
        let y = graph.apply(map, &[x]).map_err(|error| error.to_string())?;
        let y = graph.apply(Relu, &[y]).map_err(|error| error.to_string())?;
        graph.output("y", y);
        Ok(Arc::new(graph))
    }
}
