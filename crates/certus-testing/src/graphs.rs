//! Random graphs of all operators.

use certus_graph::ops::*;
use certus_graph::{Graph, GraphError, NodeId, Op, Tensor};
use proptest::prelude::*;

use crate::sketch::Sketch;

type Choice = (u32, u32, u32, f64);

/// 1 + |x|: an argument for functions that are defined for positive numbers.
fn positive(graph: &mut Graph, x: NodeId) -> Result<NodeId, GraphError> {
    let (magnitude, one) = (graph.apply(Abs, &[x])?, graph.scalar(1.0));
    graph.apply(Add, &[magnitude, one])
}

fn limited(graph: &mut Graph, x: NodeId) -> Result<NodeId, GraphError> {
    graph.apply(Clip { lower: -3.0, upper: 3.0 }, &[x])
}

fn comparison(choice: u32) -> Compare {
    let all =
        [Compare::Less, Compare::LessEqual, Compare::Greater, Compare::GreaterEqual, Compare::Equal, Compare::NotEqual];
    all[choice as usize % 6]
}

fn reduction(choice: u32, shape: &[usize]) -> Reduce {
    let kinds = [ReduceKind::Max, ReduceKind::Min, ReduceKind::Product, ReduceKind::Sum, ReduceKind::Mean];
    let axes = match shape.len() {
        0 => vec![],
        rank if choice.is_multiple_of(3) => (0..rank).collect(),
        rank => vec![choice as usize / 3 % rank],
    };
    Reduce { kind: kinds[choice as usize % 5], axes, keep_dims: choice.is_multiple_of(2) }
}

fn pooled(graph: &mut Graph, x: NodeId, choice: u32) -> Result<NodeId, GraphError> {
    let image = graph.apply(Reshape { shape: vec![1, 1, graph.elements(x)] }, &[x])?;
    let window = Window {
        kernel: vec![1 + choice as usize % 3],
        strides: vec![1 + choice as usize / 3 % 2],
        pads: vec![choice as usize / 6 % 2, choice as usize / 12 % 2],
        dilations: vec![1],
    };
    graph.apply(MaxPool { window }, &[image])
}

/// Adds one of the operators that the shared sketch leaves out.
fn step_beyond(sketch: &mut Sketch, (kind, first, second, number): Choice) {
    let (a, b) = (sketch.pick(first), sketch.pick(second));
    let graph = &mut sketch.graph;
    let shape = graph.shape(a).to_vec();
    let mut make = || match kind % 12 {
        0 => {
            let divisor = positive(graph, b)?;
            graph.apply(Div, &[a, divisor])
        }
        1 => {
            let curves: [Op; 6] =
                [Softplus.into(), Elu { alpha: 0.7 }.into(), Floor.into(), Cos.into(), Exp.into(), Sigmoid.into()];
            let x = limited(graph, a)?;
            graph.apply(curves[second as usize % 6].clone(), &[x])
        }
        2 => {
            let x = positive(graph, a)?;
            let curves: [Op; 2] = [Sqrt.into(), Log.into()];
            graph.apply(curves[second as usize % 2].clone(), &[x])
        }
        3 => {
            let (base, exponent) = (positive(graph, a)?, limited(graph, b)?);
            let base = limited(graph, base)?;
            graph.apply(Pow, &[base, exponent])
        }
        4 => {
            let x = limited(graph, a)?;
            let exponents =
                Tensor::vector([vec![2.0, 1.0, 3.0], vec![0.0, 2.0, 2.0], vec![2.0; 3]][second as usize % 3].clone());
            let exponents = graph.constant(exponents);
            graph.apply(Pow, &[x, exponents])
        }
        5 => {
            let x = positive(graph, a)?;
            let exponent = graph.scalar([-1.0, 0.5, -2.0, 1.5][second as usize % 4]);
            graph.apply(Pow, &[x, exponent])
        }
        6 if !shape.is_empty() => graph.apply(Softmax { axis: second as usize % shape.len() }, &[a]),
        7 => graph.apply(ArgMax, &[a]),
        8 => pooled(graph, a, second),
        9 => graph.apply(reduction(second, &shape), &[a]),
        10 => {
            let condition = graph.apply(comparison(first + second), &[a, b])?;
            let other = graph.constant(Tensor::vector(vec![number, 0.5, -number]));
            graph.apply(Select, &[condition, other, b])
        }
        // Any number is a condition.
        _ => graph.apply(Select, &[a, b, a]),
    };
    let made = make();
    sketch.keep(made);
}

fn choices(most: usize) -> impl Strategy<Value = Vec<(bool, Choice)>> {
    prop::collection::vec((any::<bool>(), (0u32..1000, 0u32..1000, 0u32..1000, -3.0f64..3.0)), 1..most)
}

/// Graphs of all operators, whose partial functions are defined everywhere.
pub fn graphs() -> impl Strategy<Value = Graph> {
    choices(20).prop_map(|steps| {
        let mut sketch = Sketch::new();
        for (beyond, choice) in steps {
            if beyond { step_beyond(&mut sketch, choice) } else { sketch.step(choice) }
        }
        sketch.finish()
    })
}

/// Graphs of operators that are exact on numbers with few binary digits, and the same with every node as an output.
pub fn exact_graphs() -> impl Strategy<Value = (Graph, Graph)> {
    choices(16).prop_map(|steps| {
        let mut graph = Graph::new();
        let inputs = [graph.input("a", &[3]), graph.input("b", &[2, 3]), graph.input("c", &[])];
        let constant = graph.constant(Tensor::vector(vec![0.5, -2.0, 0.0]));
        let mut sketch = Sketch { graph, nodes: inputs.into_iter().chain([constant]).collect() };
        steps.into_iter().for_each(|(_, choice)| exact_step(&mut sketch, choice));
        let mut all = sketch.graph.clone();
        sketch.graph.ids().for_each(|node| all.output("node", node));
        (sketch.finish(), all)
    })
}

fn exact_step(sketch: &mut Sketch, (kind, first, second, number): Choice) {
    let (a, b) = (sketch.pick(first), sketch.pick(second));
    let graph = &mut sketch.graph;
    let shape = graph.shape(a).to_vec();
    let mut make = || match kind % 11 {
        0 | 1 => graph.apply(comparison(second), &[a, b]),
        2 => {
            let ops: [Op; 5] = [Max.into(), Min.into(), Add.into(), Sub.into(), Mul.into()];
            let x = graph.apply(ops[second as usize % 5].clone(), &[a, b])?;
            limited(graph, x)
        }
        3 => {
            let ops: [Op; 2] = [And.into(), Or.into()];
            graph.apply(ops[second as usize % 2].clone(), &[a, b])
        }
        4 => {
            let ops: [Op; 5] =
                [Not.into(), Floor.into(), Abs.into(), Relu.into(), Clip { lower: 1.0, upper: 0.5 }.into()];
            graph.apply(ops[second as usize % 5].clone(), &[a])
        }
        5 => graph.apply(ArgMax, &[a]),
        6 => pooled(graph, a, second),
        7 => graph.apply(reduction(second - second % 5 + second % 4, &shape), &[a]),
        8 => {
            let condition = graph.apply(comparison(first + second), &[a, b])?;
            let other = graph.constant(Tensor::vector(vec![number.round(), 0.5, -1.0]));
            graph.apply(Select, &[condition, other, b])
        }
        9 => graph.apply(Select, &[a, b, a]),
        _ => {
            let exponents = graph.constant(Tensor::vector(vec![2.0, 1.0, number.round().abs()]));
            graph.apply(Pow, &[a, exponents])
        }
    };
    let made = make();
    sketch.keep(made);
}
