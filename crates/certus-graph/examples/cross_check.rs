//! Evaluates networks at random points in single precision and writes points and results down, so that another runtime
//! can be compared with: `bench/cross_check.py` runs this and then onnxruntime on the same points.
//!
//!     cargo run -p certus-graph --release --example cross_check -- EXCHANGE POINTS RADIUS DIR|FILE…
//!
//! Networks are numbered in the order found. For network N the folder EXCHANGE gets `N.inputs` and `N.outputs`: raw
//! little-endian floats, one input (output) after the other, each with all its points; and `N.exact`, the outputs
//! computed in double precision. `index.tsv` has one line per network: its number, `ok` or what is wrong, its path, the
//! milliseconds that import took.

use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use certus_graph::eval::{Evaluator, Workspace};
use certus_graph::import::load_network;
use certus_graph::{Graph, Port, Real};

/// Points evaluated at once: large networks would need much memory for more.
const BATCH: usize = 100;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [exchange, points, radius, roots @ ..] = &arguments[..] else {
        return Err("usage: cross_check EXCHANGE POINTS RADIUS DIR|FILE…".into());
    };
    let (exchange, points, radius) = (Path::new(exchange), points.parse()?, radius.parse()?);
    let mut files = Vec::new();
    for root in roots {
        collect(Path::new(root), &mut files)?;
    }
    files.sort();
    fs::create_dir_all(exchange)?;
    let mut index = String::new();
    for (number, file) in files.iter().enumerate() {
        let start = Instant::now();
        let loaded = load_network(file);
        let elapsed = start.elapsed().as_secs_f64() * 1e3;
        let status = match loaded {
            Ok(graph) => {
                let inputs = sample(&graph, points, radius, number as u64);
                let wide: Vec<Vec<f64>> = inputs.iter().map(|x| x.iter().map(|&x| f64::from(x)).collect()).collect();
                let (outputs, exact) = (run(&graph, &inputs, points)?, run(&graph, &wide, points)?);
                let write = |kind: &str, bytes: Vec<u8>| fs::write(exchange.join(format!("{number}.{kind}")), bytes);
                write("inputs", inputs.concat().iter().flat_map(|x| x.to_le_bytes()).collect())?;
                write("outputs", outputs.iter().flat_map(|x| x.to_le_bytes()).collect())?;
                write("exact", exact.iter().flat_map(|x| x.to_le_bytes()).collect())?;
                "ok".to_owned()
            }
            Err(error) => error.to_string().replace(['\n', '\t'], " "),
        };
        writeln!(index, "{number}\t{status}\t{}\t{elapsed:.1}", file.display())?;
    }
    fs::write(exchange.join("index.tsv"), index)?;
    Ok(())
}

/// All network files at or below a path.
fn collect(path: &Path, files: &mut Vec<PathBuf>) -> Result<(), Box<dyn Error>> {
    if path.is_dir() {
        for entry in fs::read_dir(path)? {
            collect(&entry?.path(), files)?;
        }
    } else if path.extension().is_some_and(|extension| extension == "onnx") {
        files.push(path.to_path_buf());
    }
    Ok(())
}

/// Random inputs, each tensor with all its points one after the other.
fn sample(graph: &Graph, points: usize, radius: f32, seed: u64) -> Vec<Vec<f32>> {
    let mut random = Random(seed);
    let mut draw = |port: &Port| -> Vec<f32> {
        (0..graph.elements(port.node) * points).map(|_| radius * (2.0 * random.next() - 1.0)).collect()
    };
    graph.inputs().iter().map(&mut draw).collect()
}

/// The network's outputs at all points, one output after the other.
fn run<T: Real>(graph: &Graph, inputs: &[Vec<T>], points: usize) -> Result<Vec<T>, Box<dyn Error>> {
    let mut outputs: Vec<Vec<T>> = vec![Vec::new(); graph.outputs().len()];
    let evaluator = Evaluator::<T>::new(graph);
    let mut workspace = Workspace::default();
    for first in (0..points).step_by(BATCH) {
        let batch = BATCH.min(points - first);
        let columns: Vec<Vec<T>> = inputs.iter().map(|input| to_columns(input, points, first, batch)).collect();
        let slices: Vec<&[T]> = columns.iter().map(Vec::as_slice).collect();
        evaluator.run(&mut workspace, &slices, batch)?;
        for (index, output) in outputs.iter_mut().enumerate() {
            let values = evaluator.output(&workspace, &slices, index);
            let elements = values.len() / batch;
            output.extend((0..batch).flat_map(|point| (0..elements).map(move |i| values[i * batch + point])));
        }
    }
    Ok(outputs.concat())
}

/// Some of the points of a tensor, element by element as the evaluator wants them.
fn to_columns<T: Real>(input: &[T], points: usize, first: usize, batch: usize) -> Vec<T> {
    let elements = input.len() / points.max(1);
    (0..elements).flat_map(|i| (first..first + batch).map(move |point| input[point * elements + i])).collect()
}

/// SplitMix64, as floats in [0, 1).
struct Random(u64);

impl Random {
    fn next(&mut self) -> f32 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 40) as f32 / (1u64 << 24) as f32
    }
}
