//! Questions that several tests ask, with proofs.

use certus_audit::{Formula, Problem};
use certus_graph::Graph;
use certus_graph::ops::{Clip, Concat, Mul, Relu, Slice, SliceRange, Tanh};

use super::{atom, canonical_argument, canonical_node, dense};

/// |x₀ + x₁| / 2, as relu(p) − p / 2.
pub fn half_magnitude() -> Graph {
    let mut graph = Graph::new();
    let x = graph.input("x", &[2]);
    let p = dense(&mut graph, x, &[1.0, 1.0], &[0.0]);
    let r = graph.apply(Relu, &[p]).unwrap();
    let both = graph.apply(Concat { axis: 0 }, &[r, p]).unwrap();
    let y = dense(&mut graph, both, &[1.0, -0.5], &[0.0]);
    graph.output("y", y);
    graph
}

/// tanh(x₀) · clip(x₁) and tanh(x₀) + clip(x₁), with clip to ±½.
pub fn many_kinds() -> Graph {
    let mut graph = Graph::new();
    let x = graph.input("x", &[2]);
    let mut part = |start| {
        let range = SliceRange { axis: 0, start, step: 1, len: 1 };
        graph.apply(Slice::new(vec![range]), &[x]).unwrap()
    };
    let (first, second) = (part(0), part(1));
    let t = graph.apply(Tanh, &[first]).unwrap();
    let c = graph.apply(Clip { lower: -0.5, upper: 0.5 }, &[second]).unwrap();
    let product = graph.apply(Mul, &[t, c]).unwrap();
    let both = graph.apply(Concat { axis: 0 }, &[t, c]).unwrap();
    let sum = dense(&mut graph, both, &[1.0, 1.0], &[0.0]);
    graph.output("product", product);
    graph.output("sum", sum);
    graph
}

pub fn square(graph: &Graph, formula: Formula) -> Problem<'_> {
    Problem { graph, lower: vec![-1.0; 2], upper: vec![1.0; 2], formula }
}

/// A proof that |x₀ + x₁| / 2 is nowhere below zero.
pub fn half_magnitude_tree(graph: &Graph) -> String {
    let p = canonical_argument(graph, canonical_node(graph, "Relu", 0));
    format!("split node {p} 0 0.0\nclose a0:1.0 n{p}.0:0.5\nclose a0:1.0 n{p}.0:-0.5")
}

/// With t = tanh(x₀) ≤ 0.7616 and c = clip(x₁) ≤ ½: t·c + (t + c)/10 ≤ 0.507 and t + c − t·c ≤ 0.881, so neither can
/// reach a little more.
pub fn too_large(first: f64, second: f64) -> Formula {
    let shared = atom(&[0.5, -1.0], 0.25);
    Formula::Or(vec![Formula::And(vec![atom(&[-1.0, -0.1], first), shared]), atom(&[1.0, -1.0], second)])
}

pub fn too_large_tree(graph: &Graph) -> String {
    let [tanh, clip, product] = ["Tanh", "Clip", "Mul"].map(|operator| canonical_node(graph, operator, 0));
    format!(
        "either 0\n\
         split input 0 0.0\nclose a0:1.0\n\
         split input 1 0.0\nclose a0:1.0 a1:0.25\n\
         refine\nclose a0:1.0 t{tanh}.0:1.0/1.0 t{clip}.0:0.0/0.0\n\
         bound\nclip a2:1.0 t{clip}.0:0.0/0.0 ; x0 >= -0.25\nbound\nclip a2:1.0 t{clip}.0:0.0/0.0 ; x0 >= 0.1\nbound\nclose a2:1.0 t{tanh}.0:1.0/1.0 t{clip}.0:0.0/0.0 t{product}.0:1.0/0.5"
    )
}
