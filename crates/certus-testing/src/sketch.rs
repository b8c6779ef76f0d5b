//! Random graphs, for tests of passes that must not change what a graph computes.

use certus_graph::eval::enclose;
use certus_graph::ops::*;
use certus_graph::{Graph, GraphError, Interval, NodeId, Op, Tensor};

/// Builds graphs from a list of choices: each entry picks an operator and its arguments among the nodes so far.
pub struct Sketch {
    pub graph: Graph,
    pub nodes: Vec<NodeId>,
}

impl Default for Sketch {
    fn default() -> Self {
        Self::new()
    }
}

impl Sketch {
    pub fn new() -> Self {
        let mut graph = Graph::new();
        let inputs = [graph.input("a", &[3]), graph.input("b", &[2, 3]), graph.input("c", &[])];
        let constant = graph.constant(Tensor::vector(vec![0.1, -2.0, 0.7]));
        let scalar = graph.scalar(-0.3);
        Sketch { graph, nodes: inputs.into_iter().chain([constant, scalar]).collect() }
    }

    pub fn pick(&self, choice: u32) -> NodeId {
        // Recent nodes are likelier, so that chains form.
        let count = self.nodes.len() as u32;
        let back = (choice % count).min(choice / 7 % count);
        self.nodes[(count - 1 - back) as usize]
    }

    pub fn step(&mut self, (kind, first, second, number): (u32, u32, u32, f64)) {
        let (a, b) = (self.pick(first), self.pick(second));
        let shape = self.graph.shape(a).to_vec();
        let count: usize = shape.iter().product();
        let weights = |n: usize| (0..n).map(|i| ((i as f64 * 1.7 + number) % 1.9) - 0.95).collect::<Vec<f64>>();
        let elementwise: [Op; 12] = [
            Add.into(),
            Sub.into(),
            Mul.into(),
            Min.into(),
            Max.into(),
            Add.into(),
            Sub.into(),
            Compare::Less.into(),
            Compare::GreaterEqual.into(),
            And.into(),
            Or.into(),
            Add.into(),
        ];
        let unary: [Op; 10] = [
            Relu.into(),
            Tanh.into(),
            Neg.into(),
            Abs.into(),
            Clip { lower: -0.5, upper: 0.5 }.into(),
            Clip { lower: 0.25, upper: f64::INFINITY }.into(),
            Not.into(),
            Sin.into(),
            Sigmoid.into(),
            LeakyRelu { alpha: 0.2 }.into(),
        ];
        let made = match kind % 12 {
            0..=3 => self.graph.apply(elementwise[first as usize % 12].clone(), &[a, b]),
            4..=5 => self.graph.apply(unary[second as usize % 10].clone(), &[a]),
            6 => {
                let rows = 1 + second as usize % 4;
                let affine =
                    Affine::new(vec![Matrix::dense(rows, count, weights(rows * count))], weights(rows), [rows]);
                self.graph.apply(affine.unwrap(), &[a])
            }
            7 if !shape.is_empty() => {
                let axis = second as usize % shape.len();
                let start = number.abs() as usize % shape[axis];
                let len = 1 + first as usize % (shape[axis] - start);
                self.graph.apply(Slice::new(vec![SliceRange { axis, start, step: 1, len }]), &[a])
            }
            8 if !shape.is_empty() => self.graph.apply(Concat { axis: 0 }, &[a, b]),
            9 => self.graph.apply(Reshape { shape: vec![count] }, &[a]),
            10 => {
                let kind = [ReduceKind::Sum, ReduceKind::Mean, ReduceKind::Max][second as usize % 3];
                self.graph.apply(Reduce::all(kind, shape.len()), &[a])
            }
            _ => {
                let condition = self.graph.apply(Compare::Less, &[a, b]);
                condition.and_then(|condition| self.graph.apply(Select, &[condition, a, b]))
            }
        };
        self.keep(made);
    }

    /// Adds a node to choose from; a choice whose shapes do not fit is passed over.
    pub fn keep(&mut self, made: Result<NodeId, GraphError>) {
        if let Ok(node) = made
            && self.graph.elements(node) <= 64
        {
            self.nodes.push(node);
        }
    }

    pub fn finish(mut self) -> Graph {
        let last = self.nodes.len();
        for (index, &node) in self.nodes[last.saturating_sub(3)..].iter().enumerate() {
            self.graph.output(&format!("y{index}"), node);
        }
        self.graph
    }
}

/// Encloses the outputs over a box around a point.
pub fn enclose_around(graph: &Graph, inputs: &[&[f64]], radius: f64) -> Vec<Vec<Interval>> {
    let boxes: Vec<Vec<Interval>> =
        inputs.iter().map(|x| x.iter().map(|&v| Interval::new(v - radius, v + radius)).collect()).collect();
    let slices: Vec<&[Interval]> = boxes.iter().map(Vec::as_slice).collect();
    enclose(graph, &slices).unwrap()
}
