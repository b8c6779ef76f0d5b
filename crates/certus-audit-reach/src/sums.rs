//! Sums whose terms undo each other.
//!
//! Lowering makes `if c then a else b` the sum b + c·(a − b). Where c is known, what is left of b should be nothing; forms only know that it is very little, which is too
//! much for a clock that is set back to the lower end of its range. So around products with truths, elements are known as sums of other elements besides, and where two
//! terms of such a sum are about the same element, the sum is what counts.
//!
//! *Soundness.* A sum is the very number that the element is, over the reals: its coefficients are kept only where doubles have them exactly, and a product is
//! replaced by one of its factors only where the other one is exactly 1.

use certus_graph::lower::Kind;
use certus_graph::ops::{Compare, Op};
use certus_graph::{Graph, NodeId};

use crate::series::moved;

/// An element of a node.
pub(crate) type Place = (usize, usize);

/// Longer sums are not kept.
const LONGEST: usize = 64;

/// Σ coefficient · element + bias, each element at most once.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Sum {
    pub(crate) terms: Vec<(Place, f64)>,
    pub(crate) bias: f64,
}

impl Sum {
    pub(crate) fn constant(bias: f64) -> Sum {
        Sum { terms: Vec::new(), bias }
    }

    pub(crate) fn element(place: Place) -> Sum {
        Sum { terms: vec![(place, 1.0)], bias: 0.0 }
    }

    /// Adds a multiple of another sum, and says whether terms of both met; nothing if doubles do not have the result exactly, or it is too long.
    pub(crate) fn add(&mut self, weight: f64, other: &Sum) -> Option<bool> {
        let mut met = false;
        self.bias = exact_sum(self.bias, exact_product(weight, other.bias)?)?;
        for &(place, coefficient) in &other.terms {
            let coefficient = exact_product(weight, coefficient)?;
            match self.terms.iter().position(|(own, _)| *own == place) {
                Some(at) => {
                    met = true;
                    self.terms[at].1 = exact_sum(self.terms[at].1, coefficient)?;
                    if self.terms[at].1 == 0.0 {
                        self.terms.remove(at);
                    }
                }
                None => self.terms.push((place, coefficient)),
            }
        }
        (self.terms.len() <= LONGEST).then_some(met)
    }
}

/// a + b, if that is a double (Knuth's two-sum).
fn exact_sum(a: f64, b: f64) -> Option<f64> {
    let sum = a + b;
    let from_b = sum - a;
    let error = (a - (sum - from_b)) + (b - from_b);
    (sum.is_finite() && error == 0.0).then_some(sum)
}

/// a·b, if that is a double. Below the normal numbers a residual may vanish, so nothing is said there.
fn exact_product(a: f64, b: f64) -> Option<f64> {
    let product = a * b;
    if a == 0.0 || b == 0.0 {
        return Some(0.0);
    }
    let is_certain = product.is_finite() && product.abs() > 1e-250;
    (is_certain && a.mul_add(b, -product) == 0.0).then_some(product)
}

/// For each node, whether its elements are to be known as sums: rows with products with truths, and what these are made of.
pub(crate) fn kept(graph: &Graph) -> Vec<bool> {
    let truths = truths(graph);
    let mut kept = vec![false; graph.len()];
    for id in graph.ids().collect::<Vec<NodeId>>().into_iter().rev() {
        let (node, index) = (graph.node(id), id.index());
        let is_choice = |input: &NodeId| {
            Kind::of(graph, *input) == Kind::Product
                && graph.node(*input).inputs.iter().any(|factor| truths[factor.index()])
        };
        match Kind::of(graph, id) {
            Kind::Affine => {
                kept[index] |= node.inputs.iter().any(is_choice);
                let columns: usize = match &node.op {
                    Op::Affine(affine) => affine.matrices().iter().map(|matrix| matrix.columns()).sum(),
                    _ => usize::MAX,
                };
                kept[index] &= columns <= LONGEST;
            }
            Kind::Product | Kind::Movement | Kind::Constant => {}
            _ => kept[index] = false,
        }
        if kept[index] {
            node.inputs.iter().for_each(|input| kept[input.index()] = true);
        }
    }
    kept
}

/// For each node, whether it is a comparison, or made of some as `and` and `not` are. Others may be, too: this only says where it is worth to look.
fn truths(graph: &Graph) -> Vec<bool> {
    let mut found: Vec<bool> = Vec::with_capacity(graph.len());
    for id in graph.ids() {
        let node = graph.node(id);
        let all = node.inputs.iter().all(|input| found[input.index()]);
        found.push(match (&node.op, Kind::of(graph, id)) {
            (Op::Compare(compare), _) => !matches!(compare, Compare::Equal | Compare::NotEqual),
            (_, Kind::Affine | Kind::Product | Kind::Movement) => all && !node.inputs.is_empty(),
            _ => false,
        });
    }
    found
}

/// What the elements of a node are as sums, given those of earlier nodes; `factor` says of an element which number it certainly is. Beside each, whether terms met.
pub(crate) fn sums(
    graph: &Graph,
    id: NodeId,
    known: &[Vec<Sum>],
    factor: &dyn Fn(Place) -> Option<f64>,
) -> Vec<(Sum, bool)> {
    let (node, index) = (graph.node(id), id.index());
    let of = |(at, element): Place| known[at].get(element).cloned().unwrap_or_else(|| Sum::element((at, element)));
    let itself = |element: usize| (Sum::element((index, element)), false);
    let elements = 0..graph.elements(id);
    match (&node.op, Kind::of(graph, id)) {
        (Op::Constant(constant), _) => elements
            .map(|element| match constant.interval(element) {
                own if own.lo == own.hi => (Sum::constant(own.lo), false),
                _ => itself(element),
            })
            .collect(),
        (Op::Affine(affine), _) => elements
            .map(|row| {
                let mut own = Sum::constant(affine.bias()[row]);
                let mut met = false;
                if affine.bias_error(row) != 0.0 || affine.weight_error(row) != 0.0 {
                    return itself(row);
                }
                for (matrix, input) in affine.matrices().iter().zip(&node.inputs) {
                    for (column, weight) in matrix.row(row) {
                        match own.add(weight, &of((input.index(), column))) {
                            Some(both) => met |= both,
                            None => return itself(row),
                        }
                    }
                }
                (own, met)
            })
            .collect(),
        (_, Kind::Product) => elements
            .map(|element| {
                let [left, right] = [0, 1].map(|place: usize| (node.inputs[place].index(), element));
                match (factor(left), factor(right)) {
                    (Some(0.0), _) | (_, Some(0.0)) => (Sum::constant(0.0), false),
                    (Some(1.0), _) => (of(right), false),
                    (_, Some(1.0)) => (of(left), false),
                    _ => itself(element),
                }
            })
            .collect(),
        (_, Kind::Movement) => match moved(graph, node) {
            Some(sources) => {
                sources.into_iter().map(|(input, element)| (of((input.index(), element)), false)).collect()
            }
            None => Vec::new(),
        },
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn terms_that_undo_each_other_leave_nothing() {
        let (a, b) = ((0, 0), (1, 0));
        let mut own = Sum { terms: vec![(a, 1.0), (b, 0.5)], bias: 1.0 };
        assert_eq!(own.add(-1.0, &Sum { terms: vec![(a, 1.0)], bias: 1.0 }), Some(true));
        assert_eq!(own, Sum { terms: vec![(b, 0.5)], bias: 0.0 });
        assert_eq!(own.add(2.0, &Sum::element(a)), Some(false));
        assert_eq!(own, Sum { terms: vec![(b, 0.5), (a, 2.0)], bias: 0.0 });
        // What doubles do not have exactly is not said.
        assert_eq!(Sum::constant(0.1).add(1.0, &Sum::constant(0.2)), None);
        assert_eq!(Sum::constant(0.0).add(0.1, &Sum::constant(0.1)), None);
        assert_eq!(Sum::constant(f64::MAX).add(1.0, &Sum::constant(f64::MAX)), None);
        assert_eq!(Sum::constant(0.0).add(1e-200, &Sum::constant(1e-200)), None);
        let long = Sum { terms: (0..=LONGEST).map(|element| ((7, element), 1.0)).collect(), bias: 0.0 };
        assert_eq!(Sum::element(a).add(1.0, &long), None);
    }

    proptest! {
        #[test]
        fn sums_and_products_are_exact_or_nothing(m in -1i64 << 53..1i64 << 53, n in -1i64 << 53..1i64 << 53, digits in 0u32..53) {
            // Few digits often fit, many hardly ever.
            let (m, n) = ((m >> digits) << digits, (n >> digits) << digits);
            let (a, b) = (m as f64, n as f64);
            let fits = |exact: i128| (exact as f64 as i128 == exact).then_some(exact as f64);
            prop_assert_eq!(exact_sum(a, b), fits(i128::from(m) + i128::from(n)));
            prop_assert_eq!(exact_product(a, b), fits(i128::from(m) * i128::from(n)));
        }
    }
}
