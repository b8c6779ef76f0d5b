//! Outputs that are copies of an input.
//!
//! A bound of such an output is exact, and more can be said of it than a closed interval does: where an input is below a number, so is its copy.
//! Constants that a loop carries along, windows over its past and states that stay as they are, are all of this kind.

use certus_graph::ops::{Affine, Op};

use super::AffineForms;
use crate::bound::program::Role;

impl AffineForms {
    /// For each output, the place among all numbers of the inputs of the one that it is a copy of.
    pub fn copies(&self) -> Vec<Option<usize>> {
        self.outputs.iter().map(|&(node, element)| self.copied(node, element)).collect()
    }

    fn copied(&self, mut node: usize, mut element: usize) -> Option<usize> {
        loop {
            (node, element) = match &self.program.roles[node] {
                Role::Input(offset) => return Some(offset + element),
                Role::Movement(sources) => sources[element],
                Role::Affine(_) => {
                    let own = &self.program.graph.nodes()[node];
                    let Op::Affine(affine) = &own.op else { return None };
                    let (argument, column) = only_term(affine, element)?;
                    (own.inputs[argument].index(), column)
                }
                Role::Curve(..) | Role::Product(..) | Role::Opaque => return None,
            };
        }
    }
}

/// The one number, by its argument and its place there, that a row of an affine map hands on as it is.
fn only_term(affine: &Affine, row: usize) -> Option<(usize, usize)> {
    if affine.bias()[row] != 0.0 || affine.bias_error(row) != 0.0 || affine.weight_error(row) != 0.0 {
        return None;
    }
    let matrices = affine.matrices().iter().enumerate();
    let mut terms = matrices.flat_map(|(argument, matrix)| {
        matrix.row(row).filter(|&(_, weight)| weight != 0.0).map(move |(column, weight)| (argument, column, weight))
    });
    match (terms.next(), terms.next()) {
        (Some((argument, column, 1.0)), None) => Some((argument, column)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use certus_graph::Graph;
    use certus_graph::ops::{Add, Concat, Relu};

    use super::*;

    #[test]
    fn what_is_handed_on_is_told_from_what_is_changed() {
        let mut graph = Graph::new();
        let x = graph.input("x", &[2]);
        let y = graph.input("y", &[1]);
        let sum = graph.apply(Add, &[y, y]).unwrap();
        let relu = graph.apply(Relu, &[y]).unwrap();
        let all = graph.apply(Concat { axis: 0 }, &[y, sum, x, relu]).unwrap();
        // Rows: x1 as it is, twice x0, x0 and a bias, both.
        let rows = vec![0.0, 1.0, 2.0, 0.0, 1.0, 0.0, 1.0, 1.0];
        let affine = graph.apply(Affine::dense(rows, 4, 2, vec![0.0, 0.0, 0.5, 0.0]).unwrap(), &[x]).unwrap();
        graph.output("moved", all);
        graph.output("affine", affine);
        let copies = AffineForms::new(&graph).unwrap().copies();
        assert_eq!(copies, [Some(2), None, Some(0), Some(1), None, Some(1), None, None, None]);
    }
}
