//! NNet files: fully connected ReLU networks as text, the format of the ACAS Xu networks.
//!
//! After comment lines (`//`) come, comma-separated: layers, inputs, outputs, largest layer; the layer sizes; a flag
//! that nobody uses; minima and maxima of the inputs; means and ranges (each for all inputs and then one for all
//! outputs); then per layer the weights, one line per row, and the biases, one line each. ReLU follows every layer
//! but the last.

use super::error::ImportError;
use super::limits::MAX_TENSOR;
use crate::Graph;
use crate::ops::{Add, Affine, Div, Matrix, Mul, Relu, Sub};
use crate::{NodeId, Tensor};

/// The numbers of the file, line by line.
struct Reader<'t> {
    lines: std::iter::Enumerate<std::str::Lines<'t>>,
    /// The line read last, counted from one.
    line: usize,
}

impl<'t> Reader<'t> {
    fn new(text: &'t str) -> Self {
        Reader { lines: text.lines().enumerate(), line: 0 }
    }

    fn error<T>(&self, message: impl Into<String>) -> Result<T, ImportError> {
        Err(ImportError::Nnet { line: self.line, message: message.into() })
    }

    /// The entries of the next line that is neither empty nor a comment.
    fn entries(&mut self, what: &str) -> Result<impl Iterator<Item = &'t str> + use<'t>, ImportError> {
        for (index, line) in self.lines.by_ref() {
            self.line = index + 1;
            let line = line.trim();
            if !line.is_empty() && !line.starts_with("//") {
                return Ok(line.split(',').map(str::trim).filter(|entry| !entry.is_empty()));
            }
        }
        self.error(format!("the file ends where {what} should stand"))
    }

    /// A line of numbers; `count` tells how many if that is known.
    fn numbers(&mut self, what: &str, count: Option<usize>) -> Result<Vec<f64>, ImportError> {
        let mut numbers = Vec::new();
        for entry in self.entries(what)? {
            match entry.parse::<f64>() {
                Ok(number) if number.is_finite() => numbers.push(number),
                _ => return self.error(format!("`{entry}` is no finite number; {what} should stand here")),
            }
        }
        match count {
            Some(count) if count != numbers.len() => {
                self.error(format!("{what} should be {count} numbers, and there are {}", numbers.len()))
            }
            _ => Ok(numbers),
        }
    }

    /// A line of positive sizes.
    fn sizes(&mut self, what: &str, count: Option<usize>) -> Result<Vec<usize>, ImportError> {
        let numbers = self.numbers(what, count)?;
        let is_size = |number: f64| number >= 1.0 && number <= MAX_TENSOR as f64 && number.fract() == 0.0;
        if numbers.iter().all(|&number| is_size(number)) {
            Ok(numbers.into_iter().map(|number| number as usize).collect())
        } else {
            self.error(format!("{what} should be positive integers"))
        }
    }
}

/// Imports the text of an NNet file.
pub(super) fn import(text: &str) -> Result<Graph, ImportError> {
    let reader = &mut Reader::new(text);
    let header = reader.sizes("the number of layers, inputs and outputs and the largest layer", None)?;
    let &[layers, inputs, outputs, ..] = &header[..] else {
        return reader.error("the header should be the number of layers, inputs and outputs and the largest layer");
    };
    let sizes = reader.sizes("the layer sizes", None)?;
    if sizes.len() != layers.saturating_add(1) || sizes[0] != inputs || sizes[layers] != outputs {
        return reader.error(format!(
            "layer sizes {sizes:?} do not fit {layers} layers from {inputs} inputs to {outputs} outputs"
        ));
    }
    reader.entries("a flag").map(drop)?;
    reader.numbers("the minima of the inputs", Some(inputs))?;
    reader.numbers("the maxima of the inputs", Some(inputs))?;
    let means = reader.numbers("the means of inputs and outputs", Some(inputs + 1))?;
    let ranges = reader.numbers("the ranges of inputs and outputs", Some(inputs + 1))?;
    if ranges[..inputs].contains(&0.0) {
        return reader.error("an input has the range 0");
    }

    let mut graph = Graph::new();
    let x = graph.input("x", &[inputs]);
    let mut value = normalise(&mut graph, x, &means[..inputs], &ranges[..inputs])?;
    for layer in 0..layers {
        let (columns, rows) = (sizes[layer], sizes[layer + 1]);
        let mut weights = Vec::new();
        for _ in 0..rows {
            weights.extend(reader.numbers("a row of weights", Some(columns))?);
        }
        let mut bias = Vec::new();
        for _ in 0..rows {
            bias.extend(reader.numbers("a bias", Some(1))?);
        }
        let map = Affine::new(vec![Matrix::dense(rows, columns, weights)], bias, vec![rows]);
        value = map.and_then(|map| graph.apply(map, &[value])).map_err(internal)?;
        if layer + 1 < layers {
            value = graph.apply(Relu, &[value]).map_err(internal)?;
        }
    }
    let (range, mean) = (graph.scalar(ranges[inputs]), graph.scalar(means[inputs]));
    value = graph.apply(Mul, &[value, range]).map_err(internal)?;
    value = graph.apply(Add, &[value, mean]).map_err(internal)?;
    graph.output("y", value);
    Ok(graph)
}

fn normalise(graph: &mut Graph, x: NodeId, means: &[f64], ranges: &[f64]) -> Result<NodeId, ImportError> {
    let means = graph.constant(Tensor::vector(means.to_vec()));
    let ranges = graph.constant(Tensor::vector(ranges.to_vec()));
    let centred = graph.apply(Sub, &[x, means]).map_err(internal)?;
    graph.apply(Div, &[centred, ranges]).map_err(internal)
}

fn internal(error: crate::GraphError) -> ImportError {
    ImportError::Model(error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eval::evaluate;

    const SMALL: &str = "// a network by hand\n2,2,1,2,\n2,2,1,\n0,\n-1,-1,\n1,1,\n1.0,0.0,3.0,\n2.0,1.0,10.0,\n\
                         1.0,-1.0,\n0.5,2.0,\n0.25,\n-1.0,\n1.0,-2.0,\n0.125,\n";

    #[test]
    fn normalisation_is_part_of_the_network() {
        let graph = import(SMALL).unwrap();
        let (a, b): (f64, f64) = (4.0, 0.5);
        let (u, v) = ((a - 1.0) / 2.0, b);
        let (h, k) = ((u - v + 0.25f64).max(0.0), (0.5 * u + 2.0 * v - 1.0f64).max(0.0));
        let expected = (h - 2.0 * k + 0.125) * 10.0 + 3.0;
        assert_eq!(evaluate(&graph, &[&[a, b]]).unwrap(), [vec![expected]]);
    }

    #[test]
    fn inputs_beyond_the_maxima_are_not_clipped() {
        let graph = import(SMALL).unwrap();
        let far = evaluate(&graph, &[&[9.0f64, 0.0]]).unwrap();
        let edge = evaluate(&graph, &[&[1.0f64, 0.0]]).unwrap();
        assert_ne!(far, edge);
    }

    #[test]
    fn wrong_lines_are_named() {
        let check = |from: &str, to: &str, expected: &str| {
            let message = import(&SMALL.replacen(from, to, 1)).unwrap_err().to_string();
            assert!(message.contains(expected), "{message}");
        };
        check("2,2,1,\n0", "2,3,1,\n0", "line 11: a row of weights should be 2 numbers");
        check("2,2,1,\n0", "2,2,2,\n0", "line 3: layer sizes [2, 2, 2] do not fit");
        check("0.25", "nan", "line 11: `nan` is no finite number");
        check("2.0,1.0,10.0", "0.0,1.0,10.0", "line 8: an input has the range 0");
        check("2,2,1,2", "9999999999,2,1,2", "line 2");
        check("1.0,-2.0,\n0.125,\n", "", "the file ends where");
        assert!(import("").unwrap_err().to_string().contains("the file ends"));
    }
}
