//! Choices among the rows of affine maps: what `if` becomes in a lowered graph, found again.
//!
//! Lowering makes `if c then a else b` the sum b + c·(a − b), which is right and says too little: where c is open, enclosures of the two summands add up; and
//! where c is certain, what b leaves behind when it is taken away again is not exactly zero. So rows `rest + c·d` with a truth c are looked for, and both `rest` and `rest + d` are
//! written as combinations of earlier nodes. For any c in [0, 1] the row lies between the two.
//!
//! *Soundness.* Only combinations whose coefficients doubles add up exactly are kept.

use std::collections::BTreeMap;

use certus_graph::ops::Op;
use certus_solver::domain::{Curve, Program, Role};

/// An element of a node.
pub(crate) type Place = (usize, usize);

/// A combination of elements of earlier nodes.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Row {
    pub(crate) terms: Vec<(Place, f64)>,
    pub(crate) bias: f64,
}

/// `chosen` where the condition is 1, `refused` where it is 0, something between them elsewhere.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Choice {
    pub(crate) condition: Place,
    pub(crate) refused: Branch,
    pub(crate) chosen: Branch,
}

/// What a branch comes to.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Branch {
    Row(Row),
    Choice(Box<Choice>),
}

impl Choice {
    /// Its condition, and those of choices in its branches.
    pub(crate) fn conditions(&self) -> Vec<Place> {
        let mut found = vec![self.condition];
        for branch in [&self.refused, &self.chosen] {
            if let Branch::Choice(own) = branch {
                found.extend(own.conditions());
            }
        }
        found
    }

    /// The nodes whose values it is made of.
    pub(crate) fn nodes(&self) -> Vec<usize> {
        let mut found = vec![self.condition.0];
        for branch in [&self.refused, &self.chosen] {
            match branch {
                Branch::Row(row) => found.extend(row.terms.iter().map(|((node, _), _)| *node)),
                Branch::Choice(own) => found.extend(own.nodes()),
            }
        }
        found
    }
}

/// Longer rows are no choices that somebody wrote.
const LONGEST: usize = 64;

/// How deep choices may be nested.
const DEEPEST: usize = 6;

/// A graph, and which of its nodes are truths.
type Graph<'p> = (&'p Program, &'p [bool]);

/// All choices of a graph, by node and row.
pub(crate) fn choices(program: &Program) -> BTreeMap<Place, Choice> {
    let truths = truths(program);
    let mut found = BTreeMap::new();
    for (node, role) in program.roles.iter().enumerate() {
        let Role::Affine(layer) = role else { continue };
        if !layer.terms.iter().any(|term| matches!(program.roles[term.argument], Role::Product(..))) {
            continue;
        }
        for row in 0..program.sizes[node] {
            if let Some(choice) = choice((program, &truths), node, row) {
                found.insert((node, row), choice);
            }
        }
    }
    found
}

/// The choice that a row of a node is, if it is one.
fn choice(graph: Graph<'_>, node: usize, row: usize) -> Option<Choice> {
    match branch(graph, row_of(graph.0, node, row)?)? {
        Branch::Choice(own) => Some(*own),
        Branch::Row(_) => None,
    }
}

/// A row as a choice, if it has products with truths. Of several, the outermost is the one without which, or with which, fewest are left: where it is chosen,
/// what it stands before is taken away.
fn branch(graph: Graph<'_>, row: Row) -> Option<Branch> {
    let products = products_of(graph.0, &row);
    if products.is_empty() {
        return Some(Branch::Row(row));
    }
    if products.len() > DEEPEST {
        return None;
    }
    let splits = products.iter().filter_map(|&product| split(graph, &row, product));
    let left = |own: &Row| products_of(graph.0, own).len();
    let split =
        splits.min_by_key(|(_, refused, chosen)| (left(refused).max(left(chosen)), left(refused) + left(chosen)));
    let (condition, refused, chosen) = split.filter(|(_, _, chosen)| left(chosen) < products.len())?;
    let (refused, chosen) = (branch(graph, refused)?, branch(graph, chosen)?);
    Some(Branch::Choice(Box::new(Choice { condition, refused, chosen })))
}

/// The products that a row is made of.
fn products_of(program: &Program, row: &Row) -> Vec<Place> {
    let is_product = |place: &Place| matches!(program.roles[place.0], Role::Product(..));
    row.terms.iter().map(|(place, _)| *place).filter(is_product).collect()
}

/// A truth that a row has a product with, and the row where it is 0 and where it is 1.
fn split((program, truths): Graph<'_>, row: &Row, (product, element): Place) -> Option<(Place, Row, Row)> {
    let Role::Product(left, right) = program.roles[product] else { return None };
    let (condition, change) = match (truths[left], truths[right]) {
        (true, _) => (left, right),
        (_, true) => (right, left),
        _ => return None,
    };
    let weight = row.terms.iter().find(|(place, _)| *place == (product, element))?.1;
    let others = row.terms.iter().filter(|(place, _)| *place != (product, element));
    let refused = Row { terms: others.copied().collect(), bias: row.bias };
    let change = row_of(program, change, element).unwrap_or(Row { terms: vec![((change, element), 1.0)], bias: 0.0 });
    let chosen = sum(&refused, &change, weight)?;
    Some(((condition, element), refused, chosen))
}

/// For each node, whether it is a comparison, or made of some as `and` and `not` are.
fn truths(program: &Program) -> Vec<bool> {
    let mut found = Vec::with_capacity(program.roles.len());
    for role in &program.roles {
        let is_truth = |node: usize| found[node];
        let own = match role {
            Role::Curve(Curve::Step { below, at, above }, _) => {
                [below, at, above].iter().all(|value| **value == 0.0 || **value == 1.0)
            }
            Role::Product(left, right) => is_truth(*left) && is_truth(*right),
            Role::Movement(sources) => sources.iter().all(|&(argument, _)| is_truth(argument)),
            // Sums of truths may be none; what they come to is looked at when there are values.
            Role::Affine(layer) => layer.terms.iter().all(|term| is_truth(term.argument)),
            _ => false,
        };
        found.push(own);
    }
    found
}

/// A row of an affine node, if it has no errors of its own.
fn row_of(program: &Program, node: usize, row: usize) -> Option<Row> {
    let nodes = program.graph.nodes();
    let Op::Affine(affine) = &nodes[node].op else { return None };
    let columns: usize = affine.matrices().iter().map(|matrix| matrix.columns()).sum();
    if affine.bias_error(row) != 0.0 || affine.weight_error(row) != 0.0 || columns > LONGEST {
        return None;
    }
    let mut own = Row { terms: Vec::new(), bias: affine.bias()[row] };
    for (matrix, argument) in affine.matrices().iter().zip(&nodes[node].inputs) {
        for (column, weight) in matrix.row(row) {
            add(&mut own, (argument.index(), column), weight)?;
        }
    }
    Some(own)
}

/// a + factor · b, if doubles add that up exactly.
fn sum(a: &Row, b: &Row, factor: f64) -> Option<Row> {
    if factor.abs() != 1.0 {
        return None;
    }
    let mut found = Row { terms: a.terms.clone(), bias: exact_sum(a.bias, factor * b.bias)? };
    b.terms.iter().try_for_each(|&(place, weight)| add(&mut found, place, factor * weight))?;
    found.terms.retain(|(_, weight)| *weight != 0.0);
    Some(found)
}

fn add(row: &mut Row, place: Place, weight: f64) -> Option<()> {
    match row.terms.iter_mut().find(|(own, _)| *own == place) {
        Some((_, own)) => *own = exact_sum(*own, weight)?,
        None => row.terms.push((place, weight)),
    }
    Some(())
}

/// a + b where no bit is lost.
fn exact_sum(a: f64, b: f64) -> Option<f64> {
    let sum = a + b;
    // Knuth's two-sum.
    let from_b = sum - a;
    let error = (a - (sum - from_b)) + (b - from_b);
    (error == 0.0 && sum.is_finite()).then_some(sum)
}

#[cfg(test)]
mod tests {
    use certus_graph::Tensor;
    use certus_graph::lower::lower;
    use certus_graph::ops::{Add, Compare, Constant, Select};

    use super::*;

    #[test]
    fn branches_are_found_again() {
        // if x > 0 then 3 else x + 1.
        let mut graph = certus_graph::Graph::new();
        let x = graph.input("x", &[1]);
        let number =
            |graph: &mut certus_graph::Graph, value: f64| graph.constant(Tensor::new([1], vec![value]).unwrap());
        let (zero, one, three) = (number(&mut graph, 0.0), number(&mut graph, 1.0), number(&mut graph, 3.0));
        let positive = graph.apply(Compare::Greater, &[x, zero]).unwrap();
        let next = graph.apply(Add, &[x, one]).unwrap();
        let chosen = graph.apply(Select, &[positive, three, next]).unwrap();
        graph.output("y", chosen);
        let program = Program::new(lower(&graph).unwrap());
        let found: Vec<Choice> = choices(&program).into_values().collect();
        assert_eq!(found.len(), 1, "{found:?}");
        let values = |row: &Row| (row.bias, row.terms.iter().map(|(_, weight)| *weight).collect::<Vec<_>>());
        let constants = |row: &Row| {
            row.terms
                .iter()
                .all(|((node, _), _)| matches!(program.graph.nodes()[*node].op, Op::Constant(Constant { .. })))
        };
        let Branch::Row(row) = &found[0].chosen else { panic!("{found:?}") };
        assert!(constants(row) || values(row) == (3.0, Vec::new()), "{found:?}");
        assert_eq!(found[0].condition.1, 0);
    }

    #[test]
    fn a_choice_in_a_branch_is_found_too() {
        // if x > 0 then x else (if x + 1 > 0 then 0 else y).
        let mut graph = certus_graph::Graph::new();
        let (x, y) = (graph.input("x", &[1]), graph.input("y", &[1]));
        let zero = graph.constant(Tensor::new([1], vec![0.0]).unwrap());
        let one = graph.constant(Tensor::new([1], vec![1.0]).unwrap());
        let outer = graph.apply(Compare::Greater, &[x, zero]).unwrap();
        let moved = graph.apply(Add, &[x, one]).unwrap();
        let inner = graph.apply(Compare::Greater, &[moved, zero]).unwrap();
        let inside = graph.apply(Select, &[inner, zero, y]).unwrap();
        let all = graph.apply(Select, &[outer, x, inside]).unwrap();
        graph.output("y", all);
        let program = Program::new(lower(&graph).unwrap());
        let place = program.graph.outputs()[0].node.index();
        let truths = truths(&program);
        let Some(found) = choice((&program, &truths), place, 0) else { panic!("no choice") };
        assert_eq!(found.chosen, Branch::Row(Row { terms: vec![((0, 0), 1.0)], bias: 0.0 }));
        match &found.refused {
            Branch::Choice(inner) => {
                assert_eq!(inner.refused, Branch::Row(Row { terms: vec![((1, 0), 1.0)], bias: 0.0 }))
            }
            // The inner choice may be a node of its own.
            Branch::Row(row) => {
                assert!(row.terms.len() == 1 && choice((&program, &truths), row.terms[0].0.0, 0).is_some())
            }
        }
    }

    #[test]
    fn what_doubles_do_not_add_up_exactly_is_no_choice() {
        assert_eq!(exact_sum(1.0, -1.0), Some(0.0));
        assert_eq!(exact_sum(0.1, 0.2), None);
        assert_eq!(exact_sum(f64::MAX, f64::MAX), None);
        let row = |terms: &[(usize, f64)], bias: f64| Row {
            terms: terms.iter().map(|&(node, w)| ((node, 0), w)).collect(),
            bias,
        };
        assert_eq!(sum(&row(&[(1, 2.0)], 1.0), &row(&[(1, 2.0), (2, 1.0)], 0.5), -1.0), Some(row(&[(2, -1.0)], 0.5)));
        assert_eq!(sum(&row(&[], 0.0), &row(&[(1, 1.0)], 0.0), 0.5), None);
    }
}
