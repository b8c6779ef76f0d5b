//! The question that a certificate answers, and which of its atoms must hold where.
//!
//! A formula is a tree of conjunctions and disjunctions over atoms `linear ≤ 0`. Certificates number atoms, and
//! disjunctions, in preorder. What must hold is found by going through conjunctions only: from the root, and from
//! each disjunct that was chosen on the way to a subproblem. So the tree is flattened once into *conjuncts*: lists of
//! atoms and disjunctions that are required together.

use certus_graph::{Graph, Interval, Port};

use crate::error::Reason;

/// What a formula speaks of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variable {
    /// An element of the inputs, all of them flattened and counted through.
    Input(usize),
    /// An element of the outputs, all of them flattened and counted through.
    Output(usize),
}

/// Σ coefficient · variable + constant ≤ 0, or < 0 where strict. Each number is some real in its interval.
#[derive(Clone, Debug, PartialEq)]
pub struct Atom {
    /// The terms.
    pub terms: Vec<(Variable, Interval)>,
    /// The constant.
    pub constant: Interval,
    /// Whether zero is excluded.
    pub strict: bool,
}

/// A formula without negation.
#[derive(Clone, Debug, PartialEq)]
pub enum Formula {
    /// A comparison of a linear expression with zero.
    Atom(Atom),
    /// All of them; true if there is none.
    And(Vec<Formula>),
    /// One of them; false if there is none.
    Or(Vec<Formula>),
}

/// A question: does a point between `lower` and `upper` exist at which the formula holds? A certificate shows that
/// there is none.
///
/// Where a node of the graph has no value (a logarithm of a negative number, a division by zero), it counts as having
/// any: a certificate shows that the formula fails whatever it is.
#[derive(Clone, Debug)]
pub struct Problem<'a> {
    /// The graph, as it was read.
    pub graph: &'a Graph,
    /// The least value of each input, flattened; rounded downwards where the exact bound is no double.
    pub lower: Vec<f64>,
    /// The greatest value of each input; rounded upwards.
    pub upper: Vec<f64>,
    /// What is asked.
    pub formula: Formula,
}

/// An atom over elements of the lowered graph, each counted through all nodes; an element occurs at most once.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub(crate) terms: Vec<(usize, Interval)>,
    pub(crate) constant: Interval,
    pub(crate) strict: bool,
}

impl Row {
    /// The range that the atom leaves to its element, if it has just one.
    pub(crate) fn range(&self) -> Option<(usize, Interval)> {
        let &[(element, coefficient)] = self.terms.as_slice() else { return None };
        let bound = -self.constant / coefficient;
        if coefficient.lo > 0.0 {
            Some((element, Interval::new(f64::NEG_INFINITY, bound.hi)))
        } else if coefficient.hi < 0.0 {
            Some((element, Interval::new(bound.lo, f64::INFINITY)))
        } else {
            None
        }
    }
}

/// Atoms and disjunctions that are required together.
#[derive(Clone, Debug, Default)]
pub(crate) struct Conjunct {
    pub(crate) atoms: Vec<usize>,
    pub(crate) choices: Vec<usize>,
}

/// A formula with its atoms and disjunctions numbered in preorder.
#[derive(Debug)]
pub(crate) struct Flat {
    pub(crate) atoms: Vec<Row>,
    /// For each disjunction, what each of its disjuncts requires.
    pub(crate) choices: Vec<Vec<Conjunct>>,
    /// What the whole formula requires.
    pub(crate) root: Conjunct,
}

impl Flat {
    /// Numbers a formula; `element` finds the element of a variable. No recursion: formulas may be deep.
    pub(crate) fn new(formula: &Formula, element: impl Fn(Variable) -> Option<usize>) -> Result<Flat, Reason> {
        let mut atoms = Vec::new();
        // Conjunct 0 is the root; the others belong to disjunctions, as (first, number).
        let mut conjuncts = vec![Conjunct::default()];
        let mut spans: Vec<(usize, usize)> = Vec::new();
        let mut pending = vec![(formula, 0)];
        while let Some((formula, owner)) = pending.pop() {
            match formula {
                Formula::Atom(atom) => {
                    conjuncts[owner].atoms.push(atoms.len());
                    atoms.push(row(atom, &element)?);
                }
                Formula::And(parts) => pending.extend(parts.iter().rev().map(|part| (part, owner))),
                Formula::Or(parts) => {
                    conjuncts[owner].choices.push(spans.len());
                    let first = conjuncts.len();
                    spans.push((first, parts.len()));
                    conjuncts.resize(first + parts.len(), Conjunct::default());
                    pending.extend(parts.iter().enumerate().rev().map(|(index, part)| (part, first + index)));
                }
            }
        }
        let mut take = |index: usize| std::mem::take(&mut conjuncts[index]);
        let root = take(0);
        let choices = spans.into_iter().map(|(first, count)| (first..first + count).map(&mut take).collect()).collect();
        Ok(Flat { atoms, choices, root })
    }
}

fn row(atom: &Atom, element: &impl Fn(Variable) -> Option<usize>) -> Result<Row, Reason> {
    let mut terms: Vec<(usize, Interval)> = Vec::with_capacity(atom.terms.len());
    for &(variable, coefficient) in &atom.terms {
        let element =
            element(variable).ok_or(Reason::Problem("the formula speaks of a variable that does not exist"))?;
        terms.push((element, coefficient));
    }
    terms.sort_by_key(|&(element, _)| element);
    terms.dedup_by(|next, kept| {
        let same = next.0 == kept.0;
        if same {
            kept.1 = kept.1 + next.1;
        }
        same
    });
    terms.retain(|&(_, coefficient)| coefficient != Interval::ZERO);
    Ok(Row { terms, constant: atom.constant, strict: atom.strict })
}

/// Where a flattened index lies among ports: the node's index and the element of it.
pub(crate) fn port_element(graph: &Graph, ports: &[Port], index: usize) -> Option<(usize, usize)> {
    let mut rest = index;
    for port in ports {
        let elements = graph.elements(port.node);
        if rest < elements {
            return Some((port.node.index(), rest));
        }
        rest -= elements;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn atom(variable: usize, coefficient: f64, constant: f64) -> Formula {
        let terms = vec![(Variable::Input(variable), Interval::point(coefficient))];
        Formula::Atom(Atom { terms, constant: Interval::point(constant), strict: false })
    }

    fn inputs(variable: Variable) -> Option<usize> {
        match variable {
            Variable::Input(index) => Some(index),
            Variable::Output(_) => None,
        }
    }

    #[test]
    fn atoms_and_disjunctions_are_numbered_in_preorder() {
        let inner = Formula::Or(vec![atom(2, 1.0, 0.0), atom(3, 1.0, 0.0)]);
        let outer = Formula::Or(vec![Formula::And(vec![atom(1, 1.0, 0.0), inner]), atom(4, 1.0, 0.0)]);
        let last = Formula::Or(vec![]);
        let flat = Flat::new(&Formula::And(vec![atom(0, 1.0, 0.0), outer, atom(5, 1.0, 0.0), last]), inputs).unwrap();
        let elements: Vec<usize> = flat.atoms.iter().map(|row| row.terms[0].0).collect();
        assert_eq!(elements, [0, 1, 2, 3, 4, 5]);
        assert_eq!((flat.root.atoms.clone(), flat.root.choices.clone()), (vec![0, 5], vec![0, 2]));
        assert_eq!((flat.choices[0][0].atoms.clone(), flat.choices[0][0].choices.clone()), (vec![1], vec![1]));
        assert_eq!(flat.choices[0][1].atoms, [4]);
        assert_eq!(flat.choices[1][1].atoms, [3]);
        assert!(flat.choices[2].is_empty());
    }

    #[test]
    fn an_atom_of_one_variable_is_a_range() {
        let range = |coefficient, constant| {
            let flat = Flat::new(&atom(7, coefficient, constant), inputs).unwrap();
            flat.atoms[0].range()
        };
        assert_eq!(range(2.0, -3.0), Some((7, Interval { lo: f64::NEG_INFINITY, hi: 1.5 })));
        assert_eq!(range(-2.0, -3.0), Some((7, Interval { lo: -1.5, hi: f64::INFINITY })));
        assert_eq!(range(0.0, -3.0), None);
        // With numbers that are not known exactly, the range holds for all that they may be.
        let doubtful = |coefficient: f64| Row {
            terms: vec![(7, Interval::new(coefficient - 1.0, coefficient + 1.0))],
            constant: Interval::new(-6.0, -3.0),
            strict: false,
        };
        assert_eq!(doubtful(2.0).range(), Some((7, Interval { lo: f64::NEG_INFINITY, hi: 6.0 })));
        assert_eq!(doubtful(-2.0).range(), Some((7, Interval { lo: -6.0, hi: f64::INFINITY })));
        assert_eq!(doubtful(0.5).range(), None);
    }

    #[test]
    fn variables_that_occur_twice_are_added_up_and_unknown_ones_refused() {
        let terms = vec![(Variable::Input(1), Interval::ONE), (Variable::Input(1), -Interval::ONE)];
        let formula = Formula::Atom(Atom { terms, constant: Interval::ONE, strict: true });
        assert!(Flat::new(&formula, inputs).unwrap().atoms[0].terms.is_empty());
        assert!(Flat::new(&formula, |_| None).is_err());
    }
}
