//! Building formulas: flat conjunctions and disjunctions, comparisons, negation.

use certus_graph::Interval;

use super::Variable;
use crate::formula::{Atom, Formula, Linear};

/// The formula that always holds, or never.
pub(super) fn truth(value: bool) -> Formula<Variable> {
    if value { Formula::And(Vec::new()) } else { Formula::Or(Vec::new()) }
}

/// All of them: nested conjunctions become one, and a part that never holds decides.
pub(super) fn conjunction(parts: impl IntoIterator<Item = Formula<Variable>>) -> Formula<Variable> {
    let mut flat = Vec::new();
    for part in parts {
        match part {
            Formula::And(inner) => flat.extend(inner),
            Formula::Or(inner) if inner.is_empty() => return truth(false),
            other => flat.push(other),
        }
    }
    single(flat).unwrap_or_else(Formula::And)
}

/// One of them: nested disjunctions become one, and a part that always holds decides.
pub(super) fn disjunction(parts: impl IntoIterator<Item = Formula<Variable>>) -> Formula<Variable> {
    let mut flat = Vec::new();
    for part in parts {
        match part {
            Formula::Or(inner) => flat.extend(inner),
            Formula::And(inner) if inner.is_empty() => return truth(true),
            other => flat.push(other),
        }
    }
    single(flat).unwrap_or_else(Formula::Or)
}

/// The one formula of a list, or the list.
fn single(mut parts: Vec<Formula<Variable>>) -> Result<Formula<Variable>, Vec<Formula<Variable>>> {
    match parts.pop() {
        Some(only) if parts.is_empty() => Ok(only),
        last => {
            parts.extend(last);
            Err(parts)
        }
    }
}

/// The formula that holds exactly where this one does not.
pub(super) fn negation(formula: Formula<Variable>) -> Formula<Variable> {
    match formula {
        Formula::Atom(Atom { linear, strict }) => Formula::Atom(Atom { linear: opposite(linear), strict: !strict }),
        Formula::And(parts) => disjunction(parts.into_iter().map(negation)),
        Formula::Or(parts) => conjunction(parts.into_iter().map(negation)),
    }
}

/// left ≤ right, or left < right. The sides may hold a variable several times; the atom does not.
pub(super) fn comparison(left: &Linear<Variable>, right: &Linear<Variable>, strict: bool) -> Formula<Variable> {
    let mut linear = left.clone();
    add(&mut linear, opposite(right.clone()));
    merge(&mut linear);
    let atom = Formula::Atom(Atom { linear, strict });
    match &atom {
        Formula::Atom(Atom { linear, .. }) if linear.terms.is_empty() => {
            atom.certainty(&|_| Interval::ENTIRE).map_or(atom, truth)
        }
        _ => atom,
    }
}

/// Appends the terms of another expression. Linear in its size, where keeping variables unique would be quadratic.
pub(super) fn add(sum: &mut Linear<Variable>, other: Linear<Variable>) {
    sum.terms.extend(other.terms);
    sum.constant = sum.constant + other.constant;
}

/// −expression, without rounding.
pub(super) fn opposite(mut linear: Linear<Variable>) -> Linear<Variable> {
    for (_, coefficient) in &mut linear.terms {
        *coefficient = -*coefficient;
    }
    linear.constant = -linear.constant;
    linear
}

/// Orders the terms by variable and adds up those of the same one.
fn merge(linear: &mut Linear<Variable>) {
    linear.terms.sort_by_key(|(variable, _)| *variable);
    linear.terms.dedup_by(|(variable, coefficient), (kept, sum)| {
        let same = variable == kept;
        if same {
            *sum = *sum + *coefficient;
        }
        same
    });
    linear.terms.retain(|(_, coefficient)| *coefficient != Interval::ZERO);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn input_at_most(bound: f64) -> Formula<Variable> {
        let input = Linear::variable(Variable::Input(0));
        comparison(&input, &Linear::constant(Interval::point(bound)), false)
    }

    #[test]
    fn nested_connectives_become_flat() {
        let [a, b, c] = [1.0, 2.0, 3.0].map(input_at_most);
        let nested = conjunction([a.clone(), conjunction([b.clone(), truth(true), c.clone()])]);
        assert_eq!(nested, Formula::And(vec![a.clone(), b.clone(), c.clone()]));
        assert_eq!(disjunction([disjunction([a.clone()]), truth(false)]), a);
        assert_eq!(conjunction([a.clone(), truth(false)]), truth(false));
        assert_eq!(disjunction([b, truth(true)]), truth(true));
        assert_eq!(conjunction([]), truth(true));
    }

    #[test]
    fn negation_flips_strictness_and_undoes_itself() {
        let formula = Formula::Or(vec![input_at_most(1.0), Formula::And(vec![input_at_most(2.0), input_at_most(3.0)])]);
        let negated = negation(formula.clone());
        for value in [0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5] {
            let at = |formula: &Formula<Variable>| formula.certainty(&|_| Interval::point(value)).unwrap();
            assert_ne!(at(&formula), at(&negated), "{value}");
        }
        assert_eq!(negation(negated), formula);
    }

    #[test]
    fn a_comparison_adds_up_each_variable() {
        let [x, y] = [Variable::Input(0), Variable::Output(0)];
        let mut left = Linear::variable(y);
        add(&mut left, Linear::variable(x));
        add(&mut left, Linear::variable(y));
        let Formula::Atom(atom) = comparison(&left, &Linear::variable(x), true) else { panic!("no atom") };
        assert_eq!(atom.linear.terms, [(y, Interval::point(2.0))]);
        assert_eq!(comparison(&Linear::variable(x), &Linear::variable(x), false), truth(true));
        assert_eq!(comparison(&Linear::variable(x), &Linear::variable(x), true), truth(false));
    }
}
