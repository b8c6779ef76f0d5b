//! Which open comparisons a successor depends on, given what is certain.
//!
//! A set leaves many comparisons open whose outcome changes nothing: `a & b` is false where `a` is, whatever `b` is; the branch of an `if` that is certainly not
//! taken does not matter, nor does what it compares. Cases for these would multiply for nothing, so dependence is followed backwards from the successor's
//! elements, past factors of products that are certainly zero and along the branches of choices that are certainly taken (as dynamic slices
//! are: Agrawal, Horgan, "Dynamic program slicing", PLDI 1990).
//!
//! *Soundness.* A comparison without cases has both of its outcomes, so leaving one out is never wrong.

use std::collections::{BTreeMap, BTreeSet};

use certus_graph::ops::Op;
use certus_solver::domain::{Program, Role};

use crate::choice::{Branch, Choice, Place};

/// What a pass found to be certain.
pub(crate) struct Certain<'p> {
    /// Elements of products with a factor that does not count, since the other one is zero: whether it is the second one.
    pub(crate) idle: &'p BTreeSet<(Place, bool)>,
    /// The conditions of choices.
    pub(crate) conditions: BTreeMap<Place, bool>,
}

/// A program with its choices, and what is certain about it.
pub(crate) struct Dependence<'p> {
    pub(crate) program: &'p Program,
    pub(crate) choices: &'p BTreeMap<Place, Choice>,
    pub(crate) certain: Certain<'p>,
}

impl Dependence<'_> {
    /// For each node, which of its elements some of the last nodes' elements depend on.
    pub(crate) fn of(&self, roots: &[Place]) -> Vec<Vec<bool>> {
        let mut found: Vec<Vec<bool>> = self.program.sizes.iter().map(|&size| vec![false; size]).collect();
        roots.iter().for_each(|&(node, element)| found[node][element] = true);
        for node in (0..found.len()).rev() {
            for element in 0..found[node].len() {
                if found[node][element] {
                    self.mark((node, element), &mut found);
                }
            }
        }
        found
    }

    /// Marks what one element is made of.
    fn mark(&self, (node, element): Place, found: &mut [Vec<bool>]) {
        let own = &self.program.graph.nodes()[node];
        match (&self.program.roles[node], &own.op) {
            (Role::Input(_), _) => {}
            (Role::Movement(sources), _) => {
                let (argument, from) = sources[element];
                found[argument][from] = true;
            }
            (Role::Curve(_, argument), _) => found[*argument][element] = true,
            (Role::Product(left, right), _) => {
                for (argument, is_second) in [(*left, false), (*right, true)] {
                    if !self.certain.idle.contains(&((node, element), is_second)) {
                        found[argument][element] = true;
                    }
                }
            }
            (Role::Affine(_), Op::Affine(affine)) => match self.choices.get(&(node, element)) {
                Some(choice) if self.certain.conditions.contains_key(&choice.condition) => {
                    self.mark_choice(choice, found);
                }
                _ => {
                    for (matrix, argument) in affine.matrices().iter().zip(&own.inputs) {
                        matrix.row(element).for_each(|(column, _)| found[argument.index()][column] = true);
                    }
                }
            },
            _ => own.inputs.iter().for_each(|argument| found[argument.index()].fill(true)),
        }
    }

    fn mark_choice(&self, choice: &Choice, found: &mut [Vec<bool>]) {
        found[choice.condition.0][choice.condition.1] = true;
        let taken = self.certain.conditions.get(&choice.condition);
        for (branch, outcome) in [(&choice.refused, false), (&choice.chosen, true)] {
            if taken.is_some_and(|taken| *taken != outcome) {
                continue;
            }
            match branch {
                Branch::Row(row) => row.terms.iter().for_each(|&((node, element), _)| found[node][element] = true),
                Branch::Choice(inner) => self.mark_choice(inner, found),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use certus_graph::lower::lower;
    use certus_graph::ops::{Compare, Select};
    use certus_graph::{Graph, Tensor};

    use super::*;
    use crate::choice::choices;

    /// Which inputs `if a > 0 & b > 0 then c else d` depends on.
    fn inputs_of(certain: impl Fn(&Program) -> (Vec<(Place, bool)>, Vec<(Place, bool)>)) -> Vec<bool> {
        let mut graph = Graph::new();
        let inputs: Vec<_> = ["a", "b", "c", "d"].map(|name| graph.input(name, &[1])).into();
        let zero = graph.constant(Tensor::new([1], vec![0.0]).unwrap());
        let first = graph.apply(Compare::Greater, &[inputs[0], zero]).unwrap();
        let second = graph.apply(Compare::Greater, &[inputs[1], zero]).unwrap();
        let both = graph.apply(certus_graph::ops::Mul, &[first, second]).unwrap();
        let chosen = graph.apply(Select, &[both, inputs[2], inputs[3]]).unwrap();
        graph.output("y", chosen);
        let program = Program::new(lower(&graph).unwrap());
        let (idle, conditions) = certain(&program);
        let (choices, idle) = (choices(&program), idle.into_iter().collect());
        assert!(!choices.is_empty());
        let certain = Certain { idle: &idle, conditions: conditions.into_iter().collect() };
        let root = (program.graph.outputs()[0].node.index(), 0);
        let found = Dependence { program: &program, choices: &choices, certain }.of(&[root]);
        let inputs = program.roles.iter().zip(&found).filter(|(role, _)| matches!(role, Role::Input(_)));
        inputs.map(|(_, own)| own[0]).collect()
    }

    /// The product of the two truths, and which of its factors comes from the first input.
    fn both(program: &Program) -> (Place, bool) {
        let is_curve = |node: usize| matches!(program.roles[node], Role::Curve(..));
        let found = program.roles.iter().enumerate().find_map(|(node, role)| match role {
            Role::Product(left, right) if is_curve(*left) && is_curve(*right) => Some((node, left < right)),
            _ => None,
        });
        let (node, is_first) = found.unwrap();
        ((node, 0), is_first)
    }

    #[test]
    fn what_is_certain_takes_dependence_away() {
        assert_eq!(inputs_of(|_| (Vec::new(), Vec::new())), [true; 4]);
        // The first truth is zero, so the second one does not count.
        assert_eq!(inputs_of(|program| (vec![both(program)], Vec::new())), [true, false, true, true]);
        let refused = |program: &Program| (vec![both(program)], vec![(both(program).0, false)]);
        assert_eq!(inputs_of(refused), [true, false, false, true]);
        let chosen = |program: &Program| (Vec::new(), vec![(both(program).0, true)]);
        assert_eq!(inputs_of(chosen), [true, true, true, false]);
    }
}
