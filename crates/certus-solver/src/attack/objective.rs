//! How far a formula is from true, as a number to minimise.
//!
//! An atom `linear ≤ 0` is as far as its left side says, a conjunction as far as its worst part, a disjunction as far as its
//! best one. The distance decides which points are worth replaying and which are near. Its slope would be that of a single
//! atom, which makes gradient descent zigzag between the parts of a conjunction, so PGD follows all parts that are
//! violated at once; and as the best part of a disjunction at the start need not be the one that can be reached, each
//! point can be told to go for a given part.

use certus_graph::{Graph, Real};

use super::gradient::Tape;
use crate::formula::Formula;
use crate::query::place;
use crate::vnnlib::Variable;

/// A formula compiled for batches.
pub(crate) struct Objective {
    atoms: Vec<Linear>,
    tree: Tree,
}

/// An atom's left side in plain numbers: coefficients of (node, element), and a constant.
struct Linear {
    terms: Vec<(usize, usize, f64)>,
    constant: f64,
}

enum Tree {
    Atom(usize),
    And(Vec<Tree>),
    Or(Vec<Tree>),
}

/// Which part of a disjunction a point goes for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Aim {
    /// The part that is nearest at the moment.
    Nearest,
    /// Always the same part, picked by this number.
    Fixed(u64),
}

impl Objective {
    /// Compiles a formula over the inputs and outputs of a graph.
    pub(crate) fn new(graph: &Graph, formula: &Formula<Variable>) -> Self {
        let mut atoms = Vec::new();
        let tree = compile(graph, formula, &mut atoms);
        Objective { atoms, tree }
    }

    /// The number of atoms.
    pub(crate) fn atoms(&self) -> usize {
        self.atoms.len()
    }

    /// The values of all atoms, element-major.
    pub(crate) fn evaluate<T: Real>(&self, tape: &Tape<T>, batch: usize, values: &mut [f64]) {
        for (atom, row) in self.atoms.iter().zip(values.chunks_exact_mut(batch.max(1))) {
            row.fill(atom.constant);
            for &(node, element, coefficient) in &atom.terms {
                let source = tape.values(node, element);
                row.iter_mut().zip(source).for_each(|(value, &x)| *value += coefficient * x.to_f64());
            }
        }
    }

    /// How far the formula is from true at a point where atom i has the value `value(i)`. Not a number counts as far away.
    pub(crate) fn distance(&self, value: &impl Fn(usize) -> f64) -> f64 {
        distance(&self.tree, value)
    }

    /// Calls `weight` with each atom that a point with these values should make smaller.
    pub(crate) fn weigh(&self, aim: Aim, value: &impl Fn(usize) -> f64, weight: &mut impl FnMut(usize)) {
        weigh(&self.tree, aim, value, weight);
    }

    /// Writes the derivatives of Σ weight · atom into the tape; weights are element-major.
    pub(crate) fn seed<T: Real>(&self, tape: &mut Tape<T>, batch: usize, weights: &[f64]) {
        for (atom, row) in self.atoms.iter().zip(weights.chunks_exact(batch.max(1))) {
            for &(node, element, coefficient) in &atom.terms {
                let target = tape.adjoints_mut(node, element);
                target.iter_mut().zip(row).for_each(|(d, &w)| *d = *d + T::from_f64(coefficient * w));
            }
        }
    }
}

fn compile(graph: &Graph, formula: &Formula<Variable>, atoms: &mut Vec<Linear>) -> Tree {
    match formula {
        Formula::Atom(atom) => {
            let term = |(variable, coefficient): &(Variable, certus_graph::Interval)| {
                let place = place(graph, variable)?;
                Some((place.node.index(), place.element, coefficient.lo / 2.0 + coefficient.hi / 2.0))
            };
            let constant = atom.linear.constant.lo / 2.0 + atom.linear.constant.hi / 2.0;
            atoms.push(Linear { terms: atom.linear.terms.iter().filter_map(term).collect(), constant });
            Tree::Atom(atoms.len() - 1)
        }
        Formula::And(parts) => Tree::And(parts.iter().map(|part| compile(graph, part, atoms)).collect()),
        Formula::Or(parts) => Tree::Or(parts.iter().map(|part| compile(graph, part, atoms)).collect()),
    }
}

fn distance(tree: &Tree, value: &impl Fn(usize) -> f64) -> f64 {
    match tree {
        Tree::Atom(index) => match value(*index) {
            unknown if unknown.is_nan() => f64::INFINITY,
            known => known,
        },
        Tree::And(parts) => parts.iter().map(|part| distance(part, value)).fold(f64::NEG_INFINITY, f64::max),
        Tree::Or(parts) => parts.iter().map(|part| distance(part, value)).fold(f64::INFINITY, f64::min),
    }
}

fn weigh(tree: &Tree, aim: Aim, value: &impl Fn(usize) -> f64, weight: &mut impl FnMut(usize)) {
    match tree {
        Tree::Atom(index) => weight(*index),
        Tree::And(parts) => {
            let worst = distance(tree, value);
            for part in parts {
                let own = distance(part, value);
                if own > 0.0 || own >= worst {
                    weigh(part, aim, value, weight);
                }
            }
        }
        Tree::Or(parts) if !parts.is_empty() => match aim {
            Aim::Fixed(number) => {
                let (rest, pick) = (number / parts.len() as u64, number % parts.len() as u64);
                weigh(&parts[pick as usize], Aim::Fixed(rest), value, weight);
            }
            Aim::Nearest => {
                let distances = parts.iter().map(|part| (part, distance(part, value)));
                if let Some((part, _)) = distances.min_by(|a, b| a.1.total_cmp(&b.1)) {
                    weigh(part, aim, value, weight);
                }
            }
        },
        Tree::Or(_) => {}
    }
}
