//! Small questions, and certificates as text.

#![allow(dead_code, reason = "each test file uses its own part")]

pub mod questions;

use certus_audit::{Atom, Formula, Problem, Rejection, Summary, Variable, check, read_header};
use certus_graph::ops::Affine;
use certus_graph::{Graph, Interval, NodeId};

pub const HEADER: &str = "certus-certificate 1\n\
    network ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad net.onnx\n\
    specification ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad spec.vnnlib\n";

/// Σ coefficient · Yᵢ + constant ≤ 0.
pub fn atom(coefficients: &[f64], constant: f64) -> Formula {
    let terms = coefficients.iter().enumerate().filter(|(_, c)| **c != 0.0);
    let terms = terms.map(|(index, &c)| (Variable::Output(index), Interval::point(c))).collect();
    Formula::Atom(Atom { terms, constant: Interval::point(constant), strict: false })
}

/// The same formula with every atom strict.
pub fn strictly(formula: Formula) -> Formula {
    match formula {
        Formula::Atom(atom) => Formula::Atom(Atom { strict: true, ..atom }),
        Formula::And(parts) => Formula::And(parts.into_iter().map(strictly).collect()),
        Formula::Or(parts) => Formula::Or(parts.into_iter().map(strictly).collect()),
    }
}

/// A dense layer on top of a node.
pub fn dense(graph: &mut Graph, argument: NodeId, weights: &[f64], bias: &[f64]) -> NodeId {
    let columns = graph.elements(argument);
    let affine = Affine::dense(weights.to_vec(), bias.len(), columns, bias.to_vec()).unwrap();
    graph.apply(affine, &[argument]).unwrap()
}

/// The node of the canonical graph with this operator, the n-th of them.
pub fn canonical_node(graph: &Graph, operator: &str, nth: usize) -> usize {
    use certus_graph::ops::Operator;
    let graph = certus_audit::certified_form(graph).unwrap();
    graph.ids().filter(|&id| graph.node(id).op.name() == operator).nth(nth).unwrap().index()
}

/// The node that this node of the canonical graph reads.
pub fn canonical_argument(graph: &Graph, node: usize) -> usize {
    certus_audit::certified_form(graph).unwrap().nodes()[node].inputs[0].index()
}

/// A certificate of one case, with this tree.
pub fn certificate(tree: &str) -> String {
    format!("{HEADER}case 0\n{}\nend\n", tree.trim())
}

/// Checks a certificate, header included.
pub fn audit(problem: &Problem<'_>, text: &str) -> Result<Summary, Rejection> {
    let (_, certificate) = read_header(text.as_bytes())?;
    check(std::slice::from_ref(problem), certificate, &mut |_| {})
}

/// A tree that halves a box of inputs `depth` times, each time the input whose turn it is, with the same leaf
/// everywhere.
pub fn halving_tree(lower: &[f64], upper: &[f64], depth: usize, leaf: &str) -> String {
    fn grow(lower: &mut [f64], upper: &mut [f64], level: usize, depth: usize, leaf: &str, text: &mut String) {
        if level == depth {
            text.push_str(leaf);
            text.push('\n');
            return;
        }
        let input = level % lower.len();
        let (lo, hi) = (lower[input], upper[input]);
        let at = lo / 2.0 + hi / 2.0;
        text.push_str(&format!("split input {input} {at:?}\n"));
        upper[input] = at;
        grow(lower, upper, level + 1, depth, leaf, text);
        (lower[input], upper[input]) = (at, hi);
        grow(lower, upper, level + 1, depth, leaf, text);
        lower[input] = lo;
    }
    let mut text = String::new();
    grow(&mut lower.to_vec(), &mut upper.to_vec(), 0, depth, leaf, &mut text);
    text
}
