//! Conditions, and what depends on them.

use std::rc::Rc;

use crate::syntax::ast::CompareOp;
use crate::system::{ChoiceId, Integers};

use super::{Sort, Term, TermKind, Uses, broadcast, common_len, constants, fold, node, truths, uses_of};

pub(crate) fn conditional(condition: Term, then: Term, otherwise: Term) -> Term {
    let len = common_len([&condition, &then, &otherwise]);
    if let Some([value]) = condition.truths() {
        let chosen = broadcast(if *value { &then } else { &otherwise }, len);
        return if condition.is_from_param() { tainted(&chosen) } else { chosen };
    }
    let sort = then.sort;
    let uses = uses_of([&condition, &then, &otherwise]);
    node(TermKind::If(condition, then, otherwise), sort, len, uses)
}

/// Marks a constant as depending on a parameter.
fn tainted(t: &Term) -> Term {
    match &t.kind {
        TermKind::Number(values, _) => constants(values.clone(), true, t.sort),
        TermKind::Truth(values, _) => truths(values.clone(), true),
        _ => Rc::clone(t),
    }
}

pub(crate) fn compare(op: CompareOp, a: Term, b: Term) -> Term {
    if a.numbers().is_some() && b.numbers().is_some() {
        return fold::compare(op, &a, &b);
    }
    let (len, uses) = (common_len([&a, &b]), uses_of([&a, &b]));
    node(TermKind::Compare(op, a, b), Sort::Bool, len, uses)
}

/// Whether each element is one of some integers.
pub(crate) fn member(t: Term, integers: Integers) -> Term {
    if let TermKind::Number(values, p) = &t.kind {
        return truths(values.iter().map(|value| integers.contains(*value)).collect(), *p);
    }
    let (len, uses) = (t.len, t.uses);
    node(TermKind::Member(t, integers), Sort::Bool, len, uses)
}

pub(crate) fn and(parts: Vec<Term>) -> Term {
    connective(parts, true)
}

pub(crate) fn or(parts: Vec<Term>) -> Term {
    connective(parts, false)
}

/// A conjunction, or a disjunction; `neutral` is the truth value that changes nothing.
fn connective(mut parts: Vec<Term>, neutral: bool) -> Term {
    let len = common_len(&parts);
    let from_param = parts.iter().any(|t| t.is_from_param());
    if parts.iter().all(|t| t.truths().is_some()) {
        let at = |t: &Term, i: usize| t.truths().is_none_or(|v| v[if v.len() == 1 { 0 } else { i }]);
        let value = |i| parts.iter().fold(neutral, |acc, t| if neutral { acc & at(t, i) } else { acc | at(t, i) });
        return truths((0..len).map(value).collect(), from_param);
    }
    if len == 1 {
        // A part that decides does not excuse the others from having a value.
        let decided = parts.iter().any(|t| t.truths() == Some(&[!neutral]));
        if decided && !parts.iter().any(|t| t.may_be_undefined()) {
            return truths(vec![!neutral], from_param);
        }
        parts.retain(|t| t.truths() != Some(&[neutral]));
        if let [only] = parts.as_slice() {
            return Rc::clone(only);
        }
    }
    let uses = uses_of(&parts);
    let kind = if neutral { TermKind::And(parts) } else { TermKind::Or(parts) };
    node(kind, Sort::Bool, len, uses)
}

pub(crate) fn not(t: Term) -> Term {
    match &t.kind {
        TermKind::Truth(values, p) => truths(values.iter().map(|v| !v).collect(), *p),
        TermKind::Not(inner) => Rc::clone(inner),
        _ => {
            let (len, uses) = (t.len, t.uses);
            node(TermKind::Not(t), Sort::Bool, len, uses)
        }
    }
}

pub(crate) fn iff(a: Term, b: Term) -> Term {
    if a.truths().is_some() && b.truths().is_some() {
        return or(vec![and(vec![a.clone(), b.clone()]), and(vec![not(a), not(b)])]);
    }
    let (len, uses) = (common_len([&a, &b]), uses_of([&a, &b]));
    node(TermKind::Iff(a, b), Sort::Bool, len, uses)
}

/// Whether all (or any) elements are true.
pub(crate) fn quantified(all: bool, t: Term) -> Term {
    match &t.kind {
        TermKind::Truth(values, p) => {
            let value = if all { values.iter().all(|v| *v) } else { values.iter().any(|v| *v) };
            truths(vec![value], *p)
        }
        _ if t.len == 1 => t,
        _ => {
            let uses = t.uses;
            node(if all { TermKind::All(t) } else { TermKind::Any(t) }, Sort::Bool, 1, uses)
        }
    }
}

pub(crate) fn choice_uses(choice: ChoiceId) -> Uses {
    match choice {
        ChoiceId::Action(_) => Uses::ACTION,
        ChoiceId::Chance(_) => Uses::CHANCE,
    }
}

pub(crate) fn is_label(choice: ChoiceId, label: usize) -> Term {
    node(TermKind::IsLabel(choice, label), Sort::Bool, 1, choice_uses(choice))
}

/// One term per label, of one sort and fitting lengths.
pub(crate) fn matched(choice: ChoiceId, arms: Vec<Term>, sort: Sort) -> Term {
    let len = common_len(&arms);
    let uses = uses_of(&arms).with(choice_uses(choice));
    node(TermKind::Match(choice, arms), sort, len, uses)
}
