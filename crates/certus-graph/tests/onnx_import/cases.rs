//! Models with expected results: how they are stored, loaded and compared.

use std::path::Path;

use certus_graph::eval::{enclose, evaluate};
use certus_graph::import::load_onnx;
use certus_graph::{Graph, Interval};
use serde::Deserialize;

/// A model in Base64 and what it computes.
#[derive(Deserialize)]
pub struct Case {
    pub name: String,
    pub model: String,
    /// The shapes of the outputs.
    pub shapes: Vec<Vec<usize>>,
    pub points: Vec<Point>,
}

/// Inputs and outputs at one point, flattened.
#[derive(Deserialize)]
pub struct Point {
    pub inputs: Vec<Vec<f32>>,
    pub outputs: Vec<Vec<f32>>,
}

/// Relative to the expected value and absolute near zero.
const TOLERANCE: f32 = 1e-5;

/// The graph of a case.
pub fn load_case(case: &Case) -> Result<Graph, String> {
    load_onnx(&decode_base64(&case.model)?, None).map_err(|error| error.to_string())
}

/// Compares a graph with expected results: in f32 with the outputs, in f64 with the f32, in intervals with the f64.
pub fn check_points(graph: &Graph, shapes: &[Vec<usize>], points: &[Point]) -> Result<(), String> {
    let found: Vec<&[usize]> = graph.outputs().iter().map(|port| graph.shape(port.node)).collect();
    if found != shapes {
        return Err(format!("output shapes are {found:?}, not {shapes:?}"));
    }
    for point in points {
        let inputs: Vec<&[f32]> = point.inputs.iter().map(Vec::as_slice).collect();
        let single = evaluate::<f32>(graph, &inputs).map_err(|error| error.to_string())?;
        compare(&single, &point.outputs, TOLERANCE)?;

        let wide: Vec<Vec<f64>> =
            point.inputs.iter().map(|input| input.iter().map(|&x| f64::from(x)).collect()).collect();
        let inputs: Vec<&[f64]> = wide.iter().map(Vec::as_slice).collect();
        let double = evaluate::<f64>(graph, &inputs).map_err(|error| error.to_string())?;
        let narrow: Vec<Vec<f32>> = double.iter().map(|y| y.iter().map(|&x| x as f32).collect()).collect();
        compare(&narrow, &point.outputs, TOLERANCE)?;

        let boxes: Vec<Vec<Interval>> =
            wide.iter().map(|input| input.iter().map(|&x| Interval::point(x)).collect()).collect();
        let inputs: Vec<&[Interval]> = boxes.iter().map(Vec::as_slice).collect();
        let enclosures = enclose(graph, &inputs).map_err(|error| error.to_string())?;
        for (value, interval) in double.iter().flatten().zip(enclosures.iter().flatten()) {
            // Rounding of the plain evaluation may leave the enclosure of the exact value by a little.
            let slack = 1e-12 * value.abs().max(1.0);
            if !(interval.lo - slack <= *value && *value <= interval.hi + slack) {
                return Err(format!("{value} is not in its enclosure {interval}"));
            }
        }
    }
    Ok(())
}

fn compare(found: &[Vec<f32>], expected: &[Vec<f32>], tolerance: f32) -> Result<(), String> {
    if found.iter().map(Vec::len).ne(expected.iter().map(Vec::len)) {
        return Err("the outputs differ in size".to_owned());
    }
    for (a, b) in found.iter().flatten().zip(expected.iter().flatten()) {
        if (a - b).abs() > tolerance * b.abs().max(1.0) || a.is_nan() != b.is_nan() {
            return Err(format!("found {found:?}, expected {expected:?}"));
        }
    }
    Ok(())
}

/// Decodes standard Base64.
pub fn decode_base64(text: &str) -> Result<Vec<u8>, String> {
    let digit = |byte: u8| match byte {
        b'A'..=b'Z' => Ok(u32::from(byte - b'A')),
        b'a'..=b'z' => Ok(u32::from(byte - b'a') + 26),
        b'0'..=b'9' => Ok(u32::from(byte - b'0') + 52),
        b'+' => Ok(62),
        b'/' => Ok(63),
        _ => Err(format!("byte {byte} is not Base64")),
    };
    let digits = text.trim_end_matches('=').bytes().map(digit).collect::<Result<Vec<u32>, String>>()?;
    let mut bytes = Vec::with_capacity(digits.len() * 3 / 4);
    for group in digits.chunks(4) {
        let word = group.iter().enumerate().fold(0, |word, (place, &value)| word | value << (18 - 6 * place));
        bytes.extend(word.to_be_bytes()[1..].iter().take(group.len() - 1));
    }
    Ok(bytes)
}

/// The folder of this crate's test data.
pub fn data_folder() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data"))
}
