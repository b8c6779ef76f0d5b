//! Ranges of a graph's outputs over many boxes at once, in one pass from front to back.
//!
//! What [`crate::Lines`] finds by substitution backwards costs a pass per output; engines that cover a space with very many small
//! boxes want one pass, and over small boxes lose little by it. Interval propagation alone is cheapest; affine forms remember
//! how values depend on the inputs, which matters where a policy acts against what the plant does. Where both are made, each node
//! has the common part. Every range is sound over the reals.

use certus_graph::lower::lower;
use certus_graph::{Graph, GraphError};

use crate::bound::forward::enclose_node;
use crate::bound::program::{Program, Role};
use crate::bound::table::Bounds;
use crate::bound::zonotope::Zonotopes;

/// A graph prepared for ranges.
pub struct Ranges {
    program: Program,
    /// For each flattened output its node and element.
    outputs: Vec<(usize, usize)>,
}

/// How much is remembered of where values come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Forms {
    /// Nothing: intervals alone.
    None,
    /// Their dependence on the inputs, and on so many other numbers.
    Affine(usize),
}

impl Ranges {
    /// Prepares a graph.
    pub fn new(graph: &Graph) -> Result<Ranges, GraphError> {
        let program = Program::new(lower(graph)?);
        let ports = program.graph.outputs().iter();
        let outputs = ports
            .flat_map(|port| (0..program.graph.elements(port.node)).map(|element| (port.node.index(), element)))
            .collect();
        Ok(Ranges { program, outputs })
    }

    /// How many numbers the inputs have together.
    pub fn inputs(&self) -> usize {
        self.program.inputs
    }

    /// How many numbers the outputs have together.
    pub fn outputs(&self) -> usize {
        self.outputs.len()
    }

    /// The lower and the upper ends of every output over some boxes. Both the ends of the inputs and the result are element-major: element i
    /// of box b at `i * boxes + b`.
    pub fn enclose(&self, lower: &[f64], upper: &[f64], boxes: usize, forms: Forms) -> (Vec<f64>, Vec<f64>) {
        let program = &self.program;
        let nodes = program.roles.len();
        let mut bounds = Bounds::new(nodes, boxes);
        let mut scratch = Vec::new();
        let mut forms = match forms {
            Forms::None => None,
            Forms::Affine(symbols) => {
                let row = |ends: &[f64], input: usize| ends[input * boxes..(input + 1) * boxes].to_vec();
                let free: Vec<bool> =
                    (0..program.inputs).map(|input| row(lower, input) != row(upper, input)).collect();
                Some(Zonotopes::new(program, &free, boxes, symbols))
            }
        };
        for node in 0..nodes {
            if let Role::Input(offset) = program.roles[node] {
                let rows = offset * boxes..(offset + program.sizes[node]) * boxes;
                bounds.lower[node] = lower[rows.clone()].to_vec();
                bounds.upper[node] = upper[rows].to_vec();
            } else {
                enclose_node(program, &mut bounds, node, &mut scratch);
            }
            if let Some(forms) = &mut forms {
                forms.advance(program, &mut bounds, node, &mut scratch);
            }
        }
        let gather = |table: &[Vec<f64>]| -> Vec<f64> {
            let rows = self.outputs.iter().flat_map(|&(node, element)| &table[node][element * boxes..][..boxes]);
            rows.copied().collect()
        };
        (gather(&bounds.lower), gather(&bounds.upper))
    }
}

#[cfg(test)]
mod tests {
    use certus_graph::ops::{Add, Mul, Relu, Sin, Sub};
    use proptest::prelude::*;

    use super::*;

    /// relu(x − y) + sin(x)·y − x, in which x occurs again and again.
    fn sample() -> Graph {
        let mut graph = Graph::new();
        let x = graph.input("x", &[1]);
        let y = graph.input("y", &[1]);
        let difference = graph.apply(Sub, &[x, y]).unwrap();
        let bent = graph.apply(Relu, &[difference]).unwrap();
        let wave = graph.apply(Sin, &[x]).unwrap();
        let product = graph.apply(Mul, &[wave, y]).unwrap();
        let sum = graph.apply(Add, &[bent, product]).unwrap();
        let all = graph.apply(Sub, &[sum, x]).unwrap();
        graph.output("f", all);
        graph
    }

    fn value(x: f64, y: f64) -> f64 {
        (x - y).max(0.0) + x.sin() * y - x
    }

    proptest! {
        #[test]
        fn ranges_contain_samples(
            corner in prop::array::uniform2(-3.0..3.0f64),
            width in prop::array::uniform2(0.0..1.0f64),
            symbols in 0usize..4,
        ) {
            let ranges = Ranges::new(&sample()).unwrap();
            let (low, high) = (corner, [corner[0] + width[0], corner[1] + width[1]]);
            // Two boxes, so that the order of the elements matters.
            let lower = [low[0], 0.0, low[1], 0.0];
            let upper = [high[0], 1.0, high[1], 1.0];
            for forms in [Forms::None, Forms::Affine(symbols)] {
                let (below, above) = ranges.enclose(&lower, &upper, 2, forms);
                for (i, j) in (0..=8).flat_map(|i| (0..=8).map(move |j| (f64::from(i) / 8.0, f64::from(j) / 8.0))) {
                    let (x, y) = (low[0] + i * (high[0] - low[0]), low[1] + j * (high[1] - low[1]));
                    let f = value(x, y);
                    prop_assert!(below[0] <= f + 1e-12 && f - 1e-12 <= above[0], "{f} not in {}..{}", below[0], above[0]);
                    let f = value(i, j);
                    prop_assert!(below[1] <= f + 1e-12 && f - 1e-12 <= above[1], "{f} not in {}..{}", below[1], above[1]);
                }
            }
        }
    }

    #[test]
    fn forms_see_that_a_number_is_taken_from_itself() {
        let ranges = Ranges::new(&sample()).unwrap();
        let (lower, upper) = ([1.0, 0.0], [1.1, 0.0]);
        let width = |forms| {
            let (below, above) = ranges.enclose(&lower, &upper, 1, forms);
            above[0] - below[0]
        };
        // x − x = 0 for y = 0 and positive x.
        assert!(width(Forms::None) > 0.19);
        assert!(width(Forms::Affine(2)) < 1e-9);
    }
}
