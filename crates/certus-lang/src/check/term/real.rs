//! Arithmetic on terms.

use std::rc::Rc;

use super::{Function, Sort, Term, TermKind, common_len, fold, node, number, numbers, uses_of};

pub(crate) fn apply(function: Function, t: Term) -> Term {
    if let TermKind::Number(values, p) = &t.kind {
        return numbers(values.iter().map(|v| fold::function(function, *v)).collect(), *p);
    }
    let (len, uses) = (t.len, t.uses);
    node(TermKind::Apply(function, t), Sort::Real, len, uses)
}

pub(crate) fn add(parts: Vec<(bool, Term)>) -> Term {
    signed(parts, TermKind::Add, |a, b| a + b, |a, b| a - b, 0.0)
}

pub(crate) fn mul(parts: Vec<(bool, Term)>) -> Term {
    signed(parts, TermKind::Mul, |a, b| a * b, |a, b| a / b, 1.0)
}

fn signed(
    mut parts: Vec<(bool, Term)>,
    kind: fn(Vec<(bool, Term)>) -> TermKind,
    plain: fn(f64, f64) -> f64,
    flagged: fn(f64, f64) -> f64,
    neutral: f64,
) -> Term {
    // The leading constants are folded from left to right, as the text says they are computed.
    let constant = parts.iter().take_while(|(_, t)| t.numbers().is_some()).count();
    if constant > 0 {
        let folded = parts.drain(..constant).fold(None, |acc: Option<Term>, (flag, t)| {
            let op = if flag { flagged } else { plain };
            match acc {
                None if !flag => Some(t),
                None => Some(fold::zip(&number(neutral), &t, op)),
                Some(acc) => Some(fold::zip(&acc, &t, op)),
            }
        });
        parts.splice(0..0, folded.map(|t| (false, t)));
    }
    if let [(false, only)] = parts.as_slice() {
        return Rc::clone(only);
    }
    let len = common_len(parts.iter().map(|(_, t)| t));
    let uses = uses_of(parts.iter().map(|(_, t)| t));
    node(kind(parts), Sort::Real, len, uses)
}

pub(crate) fn power(base: Term, exponent: Term) -> Term {
    if base.numbers().is_some() && exponent.numbers().is_some() {
        return fold::zip(&base, &exponent, f64::powf);
    }
    let (len, uses) = (common_len([&base, &exponent]), uses_of([&base, &exponent]));
    node(TermKind::Power(base, exponent), Sort::Real, len, uses)
}

/// The largest (or smallest) of several terms, elementwise.
pub(crate) fn extremum(largest: bool, parts: Vec<Term>) -> Term {
    if let [only] = parts.as_slice() {
        return Rc::clone(only);
    }
    let op = if largest { f64::max } else { f64::min };
    if parts.iter().all(|t| t.numbers().is_some()) {
        let mut rest = parts.iter();
        if let Some(first) = rest.next() {
            return rest.fold(Rc::clone(first), |acc, t| fold::zip(&acc, t, op));
        }
    }
    let (len, uses) = (common_len(&parts), uses_of(&parts));
    let kind = if largest { TermKind::Max(parts) } else { TermKind::Min(parts) };
    node(kind, Sort::Real, len, uses)
}

/// The sum of the elements.
pub(crate) fn sum(t: Term) -> Term {
    match &t.kind {
        TermKind::Number(values, p) => numbers(vec![values.iter().sum()], *p),
        _ if t.len == 1 => t,
        _ => {
            let uses = t.uses;
            node(TermKind::Sum(t), Sort::Real, 1, uses)
        }
    }
}

/// The largest (or smallest) element of a vector that has one.
pub(crate) fn extremum_of(largest: bool, t: Term) -> Term {
    let op = if largest { f64::max } else { f64::min };
    match &t.kind {
        TermKind::Number(values, p) => {
            let start = if largest { f64::NEG_INFINITY } else { f64::INFINITY };
            numbers(vec![values.iter().copied().fold(start, op)], *p)
        }
        _ if t.len == 1 => t,
        _ => {
            let uses = t.uses;
            let kind = if largest { TermKind::MaxOf(t) } else { TermKind::MinOf(t) };
            node(kind, Sort::Real, 1, uses)
        }
    }
}
