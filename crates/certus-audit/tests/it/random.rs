//! Random networks with a formula that can be satisfied: no certificate may be accepted.
//!
//! The threshold is the least value of the output at sampled points, so the question has an answer by the narrowest of
//! margins. Certificates are random trees, and the ones that an honest but mistaken solver might write: regular splits
//! with refined bounds, as close to a proof as can be.

use crate::support::{atom, audit, certificate, dense, halving_tree};
use certus_audit::Problem;
use certus_graph::eval::evaluate;
use certus_graph::ops::{
    Abs, Add, Clip, Concat, Cos, Div, Elu, Exp, LeakyRelu, Max, Mul, Op, Relu, Sigmoid, Sin, Softmax, Softplus, Tanh,
};
use certus_graph::{Graph, NodeId};
use proptest::prelude::*;

/// A recipe for a network: weights of three layers, and what stands between them.
#[derive(Clone, Debug)]
struct Recipe {
    inputs: usize,
    width: usize,
    weights: Vec<f64>,
    curves: [usize; 2],
    product: bool,
}

/// Recipes with the first so many curves.
fn recipe(curves: usize) -> impl Strategy<Value = Recipe> {
    let weights = prop::collection::vec((-16i32..=16).prop_map(|w| f64::from(w) / 7.0), 80);
    (1..=2usize, 1..=4usize, weights, [0..curves, 0..curves], any::<bool>())
        .prop_map(|(inputs, width, weights, curves, product)| Recipe { inputs, width, weights, curves, product })
}

/// One of many functions of a vector; some of them only become curves and products when the graph is lowered.
fn curve(graph: &mut Graph, which: usize, argument: NodeId) -> NodeId {
    let mut apply = |op: Op, arguments: &[NodeId]| graph.apply(op, arguments).unwrap();
    match which {
        0 => apply(Tanh.into(), &[argument]),
        1 => apply(Clip { lower: -0.4, upper: 0.9 }.into(), &[argument]),
        2 => apply(LeakyRelu { alpha: 0.1 }.into(), &[argument]),
        3 => apply(Sigmoid.into(), &[argument]),
        4 => apply(Sin.into(), &[argument]),
        5 => apply(Abs.into(), &[argument]),
        6 => apply(Elu { alpha: 1.5 }.into(), &[argument]),
        7 => apply(Softplus.into(), &[argument]),
        8 => apply(Cos.into(), &[argument]),
        9 => apply(Mul.into(), &[argument, argument]),
        10 => apply(Softmax { axis: 0 }.into(), &[argument]),
        11 => {
            let tanh = apply(Tanh.into(), &[argument]);
            apply(Max.into(), &[argument, tanh])
        }
        12 => {
            // x / (1 + |x|)
            let size = apply(Abs.into(), &[argument]);
            let one = graph.scalar(1.0);
            let more = graph.apply(Add, &[size, one]).unwrap();
            graph.apply(Div, &[argument, more]).unwrap()
        }
        _ => apply(Relu.into(), &[argument]),
    }
}

impl Recipe {
    fn graph(&self) -> Graph {
        let mut graph = Graph::new();
        let mut weights = self.weights.iter().copied().cycle();
        let mut take = |count: usize| -> Vec<f64> { weights.by_ref().take(count).collect() };
        let x = graph.input("x", &[self.inputs]);
        let first = dense(&mut graph, x, &take(self.inputs * self.width), &take(self.width));
        let first = curve(&mut graph, self.curves[0], first);
        let second = dense(&mut graph, first, &take(self.width * self.width), &take(self.width));
        let mut second = curve(&mut graph, self.curves[1], second);
        if self.product {
            let product = graph.apply(Mul, &[first, second]).unwrap();
            let small = graph.apply(Clip { lower: -1.0, upper: 1.0 }, &[first]).unwrap();
            let grown = graph.apply(Exp, &[small]).unwrap();
            second = graph.apply(Concat { axis: 0 }, &[second, product, grown]).unwrap();
        }
        let columns = graph.elements(second);
        let y = dense(&mut graph, second, &take(columns), &take(1));
        graph.output("y", y);
        graph
    }

    /// The least and the greatest sampled value over [−1, 1]ⁿ.
    fn sampled(&self, graph: &Graph) -> (f64, f64) {
        let steps = if self.inputs == 1 { 128i32 } else { 16 };
        let place = |k: i32| f64::from(k) / f64::from(steps);
        let others = if self.inputs == 1 { 0..=0 } else { -steps..=steps };
        let points = (-steps..=steps).flat_map(|i| others.clone().map(move |j| [place(i), place(j)]));
        let value = |point: [f64; 2]| evaluate(graph, &[&point[..self.inputs]]).unwrap()[0][0];
        points.map(value).fold((f64::INFINITY, f64::NEG_INFINITY), |(lo, hi), y| (lo.min(y), hi.max(y)))
    }
}

/// A record of a random tree, before it is known what stands in the graph.
#[derive(Clone, Debug)]
enum Step {
    Refine,
    SplitInput(usize, f64),
    SplitNode(usize, usize, f64),
    Clip(Vec<(usize, usize, f64)>, usize, bool, f64),
    Close(Vec<(usize, usize, f64)>),
    Empty,
}

fn weights() -> impl Strategy<Value = Vec<(usize, usize, f64)>> {
    prop::collection::vec((0..20usize, 0..5usize, -1.0..1.0f64), 0..6)
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        1 => Just(Step::Refine),
        2 => (0..2usize, -1.0..1.0f64).prop_map(|(input, at)| Step::SplitInput(input, at)),
        2 => (0..20usize, 0..5usize, -1.0..1.0f64).prop_map(|(node, element, at)| Step::SplitNode(node, element, at)),
        1 => (weights(), 0..2usize, any::<bool>(), -1.0..1.0f64).prop_map(|(w, i, u, v)| Step::Clip(w, i, u, v)),
        3 => weights().prop_map(Step::Close),
        1 => Just(Step::Empty),
    ]
}

fn combination(weights: &[(usize, usize, f64)]) -> String {
    let word = |(position, &(node, element, weight)): (usize, &(usize, usize, f64))| match position % 2 {
        0 => format!(" t{node}.{element}:{:?}/{:?}", weight.abs(), 1.0 - weight.abs()),
        _ => format!(" n{node}.{element}:{weight:?}"),
    };
    let words: String = weights.iter().enumerate().map(word).collect();
    format!("a0:1.0{words}")
}

fn tree(steps: &[Step]) -> String {
    let line = |step: &Step| match step {
        Step::Refine => "refine\n".to_owned(),
        Step::SplitInput(input, at) => format!("split input {input} {at:?}\n"),
        Step::SplitNode(node, element, at) => format!("split node {node} {element} {at:?}\n"),
        Step::Clip(weights, input, is_upper, bound) => {
            let relation = if *is_upper { "<=" } else { ">=" };
            format!("clip {} ; x{input} {relation} {bound:?}\n", combination(weights))
        }
        Step::Close(weights) => format!("close {}\n", combination(weights)),
        Step::Empty => "empty\n".to_owned(),
    };
    steps.iter().map(line).collect()
}

/// What is left of a random tree when every record that is refused is replaced by a leaf, then by nothing more: walks
/// deeper into the checker than a tree that is refused at its first line.
fn repaired(problem: &Problem<'_>, steps: &[Step]) -> Vec<Step> {
    let mut kept: Vec<Step> = Vec::new();
    for step in steps {
        kept.push(step.clone());
        let refused_here = match audit(problem, &certificate(&tree(&kept))) {
            Err(rejection) => rejection.line <= 4 + kept.len() as u64,
            Ok(_) => false,
        };
        if refused_here {
            kept.pop();
        }
    }
    kept
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn no_certificate_is_accepted_where_there_is_an_answer(
        recipe in recipe(16),
        steps in prop::collection::vec(step(), 1..24),
        depth in 0..9usize,
    ) {
        let graph = recipe.graph();
        let (lower, upper) = (vec![-1.0; recipe.inputs], vec![1.0; recipe.inputs]);
        let (least, _) = recipe.sampled(&graph);
        // y − least − 10⁻⁹ ≤ 0 holds at the sample, whatever its rounding.
        let threshold = -least - 1e-9 * (1.0 + least.abs());
        let problem = Problem { graph: &graph, lower: lower.clone(), upper: upper.clone(), formula: atom(&[1.0], threshold) };
        for leaf in ["close a0:1.0", "refine\nclose a0:1.0", "refine\nempty"] {
            let text = certificate(&halving_tree(&lower, &upper, depth, leaf));
            prop_assert!(audit(&problem, &text).is_err());
        }
        let steps = repaired(&problem, &steps);
        prop_assert!(audit(&problem, &certificate(&tree(&steps))).is_err());
    }

    #[test]
    fn regular_splits_prove_what_is_clearly_so(recipe in recipe(9)) {
        let graph = recipe.graph();
        let (lower, upper) = (vec![-1.0; recipe.inputs], vec![1.0; recipe.inputs]);
        let (least, greatest) = recipe.sampled(&graph);
        // As far below the least value as the values are apart.
        let threshold = -least + 1.0 + (greatest - least);
        let problem = Problem { graph: &graph, lower: lower.clone(), upper: upper.clone(), formula: atom(&[1.0], threshold) };
        let text = certificate(&halving_tree(&lower, &upper, 6, "refine\nclose a0:1.0"));
        prop_assert!(audit(&problem, &text).is_ok());
    }
}
