//! Linear bounds (CROWN) of a graph's outputs, over many boxes at once: what other engines bound regions with.
//!
//! A thin front of `bound::backward`. Every linear bound is sound as it stands: over the whole of its box, and over the
//! reals, the objective is nowhere below it. So an engine that knows more of a region than its box can minimise the linear
//! bound over the region and has a sound bound too.

use certus_graph::lower::lower;
use certus_graph::{Fault, Graph, GraphError, Interval};

use crate::bound::backward::{Objectives, minimise};
use crate::bound::domain::flat_outputs;
use crate::bound::program::{Program, Role};
use crate::bound::refine::{Refinement, Subdomain, bound_subdomains};

/// A linear function of a graph's flattened inputs that lies below some objective over a box.
#[derive(Clone, Debug, PartialEq)]
pub struct LinearBound {
    /// Its slopes.
    pub slopes: Vec<f64>,
    /// Its value at the origin; −∞ where nothing is known.
    pub constant: f64,
    /// A lower bound of the objective over the box, at least as good as the line's own minimum.
    pub bound: f64,
}

/// A graph prepared for lines.
pub struct LinearBounds {
    program: Program,
    /// For each flattened output its node and element.
    outputs: Vec<(usize, usize)>,
    linear: bool,
}

/// Values that one table of coefficients may hold.
const TABLE_VALUES: usize = 1 << 17;

impl LinearBounds {
    /// Prepares a graph.
    pub fn new(graph: &Graph) -> Result<LinearBounds, GraphError> {
        let program = Program::new(lower(graph)?);
        let outputs = flat_outputs(&program);
        let mut live = vec![false; program.roles.len()];
        outputs.iter().for_each(|&(node, _)| live[node] = true);
        let mut linear = true;
        for node in (0..live.len()).rev() {
            if !live[node] {
                continue;
            }
            let arguments = &program.graph.nodes()[node].inputs;
            let plain = matches!(program.roles[node], Role::Input(_) | Role::Affine(_) | Role::Movement(_));
            linear &= plain || arguments.is_empty();
            arguments.iter().for_each(|id| live[id.index()] = true);
        }
        Ok(LinearBounds { program, outputs, linear })
    }

    /// Whether every output is linear in the inputs: lines then have the same slopes over every box, up to rounding.
    pub fn is_linear(&self) -> bool {
        self.linear
    }

    /// How many numbers the inputs have together.
    pub fn inputs(&self) -> usize {
        self.program.inputs
    }

    /// How many numbers the outputs have together.
    pub fn outputs(&self) -> usize {
        self.outputs.len()
    }

    /// For each box (lower and upper corner) and each objective, given as weights of outputs, a line below it.
    pub fn below(&self, boxes: &[(Vec<f64>, Vec<f64>)], objectives: &[Vec<(usize, f64)>]) -> Vec<Vec<LinearBound>> {
        let largest = self.program.sizes.iter().max().copied().unwrap_or(1).max(1);
        let chunk = (TABLE_VALUES / (largest * objectives.len().max(1))).clamp(1, 64);
        boxes.chunks(chunk).flat_map(|boxes| self.below_batch(boxes, objectives)).collect()
    }

    fn below_batch(&self, boxes: &[(Vec<f64>, Vec<f64>)], objectives: &[Vec<(usize, f64)>]) -> Vec<Vec<LinearBound>> {
        let subdomains: Vec<Subdomain<'_>> = boxes
            .iter()
            .map(|(lower, upper)| Subdomain { lower, upper, ranges: Vec::new(), inherited: None })
            .collect();
        let nothing = || LinearBound {
            slopes: vec![0.0; self.program.inputs],
            constant: f64::NEG_INFINITY,
            bound: f64::NEG_INFINITY,
        };
        let Some(bounds) = bound_subdomains(&self.program, &subdomains, Refinement::Forward, &|| false) else {
            return vec![vec![nothing(); objectives.len()]; boxes.len()];
        };
        let columns: Vec<usize> =
            (0..boxes.len()).flat_map(|index| std::iter::repeat_n(index, objectives.len())).collect();
        let count = columns.len();
        let mut table = Objectives::new(self.program.roles.len(), columns);
        for column in 0..count {
            for &(output, weight) in &objectives[column % objectives.len()] {
                let (node, element) = self.outputs[output];
                table.add(&self.program, &bounds, (node, element, column), weight, 0.0);
            }
        }
        let found = minimise(&self.program, &bounds, table, self.program.roles.len() - 1, &mut Vec::new());
        let line = |column: usize| {
            let index = column / objectives.len();
            let enclosed =
                objectives[column % objectives.len()].iter().fold(Interval::ZERO, |sum, &(output, weight)| {
                    let (node, element) = self.outputs[output];
                    sum + Interval::point(weight) * bounds.interval(node, element, index)
                });
            let slopes: Vec<f64> = (0..self.program.inputs).map(|input| found.inputs[input * count + column]).collect();
            if slopes.iter().any(|slope| !slope.is_finite()) || !found.constants[column].is_finite() {
                return LinearBound { bound: enclosed.lo, ..nothing() };
            }
            let (lower, upper) = &boxes[index];
            if found.bounds[column] > enclosed.hi && lower.iter().zip(upper).all(|(low, high)| low <= high) {
                let details = format!("{} below, {enclosed} around, from {lower:?} to {upper:?}", found.bounds[column]);
                Fault::raise("a lower bound is above what encloses the same value", details);
                return nothing();
            }
            LinearBound { slopes, constant: found.constants[column], bound: found.bounds[column].max(enclosed.lo) }
        };
        (0..boxes.len())
            .map(|index| (0..objectives.len()).map(|place| line(index * objectives.len() + place)).collect())
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use certus_graph::ops::{Add, Relu, Sin};

    use super::*;

    /// |x₀| as two ReLUs, plus sin x₁.
    fn sample() -> Graph {
        let mut graph = Graph::new();
        let x = graph.input("x", &[1]);
        let y = graph.input("y", &[1]);
        let minus = graph.apply(certus_graph::ops::Neg, &[x]).unwrap();
        let (left, right) = (graph.apply(Relu, &[x]).unwrap(), graph.apply(Relu, &[minus]).unwrap());
        let sum = graph.apply(Add, &[left, right]).unwrap();
        let wave = graph.apply(Sin, &[y]).unwrap();
        let all = graph.apply(Add, &[sum, wave]).unwrap();
        graph.output("f", all);
        graph
    }

    #[test]
    fn lines_lie_below_the_function() {
        let lines = LinearBounds::new(&sample()).unwrap();
        let boxes = vec![(vec![-1.0, 0.0], vec![2.0, 3.0]), (vec![1.0, 0.5], vec![1.25, 0.75])];
        let found = lines.below(&boxes, &[vec![(0, 1.0)], vec![(0, -1.0)]]);
        for ((lower, upper), own) in boxes.iter().zip(&found) {
            for (i, j) in (0..=20).flat_map(|i| (0..=20).map(move |j| (i as f64 / 20.0, j as f64 / 20.0))) {
                let x = [lower[0] + i * (upper[0] - lower[0]), lower[1] + j * (upper[1] - lower[1])];
                let value = x[0].abs() + x[1].sin();
                for (line, sign) in own.iter().zip([1.0, -1.0]) {
                    let at = line.constant + line.slopes[0] * x[0] + line.slopes[1] * x[1];
                    assert!(at <= sign * value + 1e-12 && line.bound <= sign * value + 1e-12, "{line:?} at {x:?}");
                }
            }
        }
        // Over the small box the function is nearly linear, and so are its bounds.
        let (low, high) = (found[1][0].bound, -found[1][1].bound);
        assert!(low > 1.45 && high < 1.95, "{low} {high}");
        assert!(!lines.is_linear());
    }
}
