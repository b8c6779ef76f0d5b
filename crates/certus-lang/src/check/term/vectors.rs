//! Vectors of terms: joining, and picking elements.

use std::rc::Rc;

use super::{Positions, Sort, Term, TermKind, TermNode, constants, node, numbers, truths, uses_of};

/// Terms of one sort after each other.
pub(crate) fn concat(parts: Vec<Term>, sort: Sort) -> Term {
    let mut flat: Vec<Term> = Vec::with_capacity(parts.len());
    for part in parts {
        match &part.kind {
            _ if part.len == 0 => {}
            TermKind::Concat(inner) => inner.iter().for_each(|t| push_joined(&mut flat, t)),
            _ => push_joined(&mut flat, &part),
        }
    }
    match (flat.as_slice(), sort) {
        ([], Sort::Bool) => truths(Vec::new(), false),
        ([], _) => numbers(Vec::new(), false),
        ([only], _) => Rc::clone(only),
        _ => {
            let len = flat.iter().map(|t| t.len).sum();
            let uses = uses_of(&flat);
            node(TermKind::Concat(flat), sort, len, uses)
        }
    }
}

/// Appends a term, joining constants and neighbouring runs of the same vector.
fn push_joined(list: &mut Vec<Term>, next: &Term) {
    let joined = match (list.last_mut().map(Rc::get_mut), &next.kind) {
        (Some(Some(TermNode { kind: TermKind::Number(a, p), len, .. })), TermKind::Number(b, q)) => {
            a.extend_from_slice(b);
            *p |= q;
            *len = a.len();
            true
        }
        (Some(Some(TermNode { kind: TermKind::Truth(a, p), len, .. })), TermKind::Truth(b, q)) => {
            a.extend_from_slice(b);
            *p |= q;
            *len = a.len();
            true
        }
        (
            Some(Some(TermNode { kind: TermKind::Pick(base, Positions::From(start)), len, .. })),
            TermKind::Pick(other, Positions::From(next_start)),
        ) if same(base, other) && *start + *len == *next_start => {
            *len += next.len;
            true
        }
        _ => false,
    };
    if joined {
        return;
    }
    // Constants and runs get a node of their own, so that what follows can be joined to it.
    list.push(match &next.kind {
        TermKind::Number(values, p) => constants(values.clone(), *p, next.sort),
        TermKind::Truth(values, p) => truths(values.clone(), *p),
        TermKind::Pick(base, positions) => {
            node(TermKind::Pick(Rc::clone(base), positions.clone()), next.sort, next.len, next.uses)
        }
        _ => Rc::clone(next),
    });
}

/// Whether two terms are the same variable or the same node.
pub(crate) fn same(a: &Term, b: &Term) -> bool {
    use TermKind::{Define, FreeParam, Input, Next, Policy, State};
    Rc::ptr_eq(a, b)
        || match (&a.kind, &b.kind) {
            (State(i), State(j))
            | (Next(i), Next(j))
            | (Input(i), Input(j))
            | (FreeParam(i), FreeParam(j))
            | (Policy(i), Policy(j))
            | (Define(i), Define(j)) => i == j,
            _ => false,
        }
}

/// A run of elements.
pub(crate) fn slice(t: &Term, start: usize, len: usize) -> Term {
    if start == 0 && len == t.len {
        return Rc::clone(t);
    }
    match &t.kind {
        TermKind::Number(values, p) => constants(values[start..start + len].to_vec(), *p, t.sort),
        TermKind::Truth(values, p) => truths(values[start..start + len].to_vec(), *p),
        TermKind::Pick(base, Positions::From(from)) => {
            node(TermKind::Pick(Rc::clone(base), Positions::From(from + start)), t.sort, len, t.uses)
        }
        TermKind::Pick(base, Positions::List(list)) => pick(base, list[start..start + len].to_vec()),
        TermKind::Concat(parts) => {
            let mut from = 0;
            let mut pieces = Vec::new();
            for part in parts {
                let (low, high) = (start.max(from), (start + len).min(from + part.len));
                if low < high {
                    pieces.push(slice(part, low - from, high - low));
                }
                from += part.len;
            }
            concat(pieces, t.sort)
        }
        _ => node(TermKind::Pick(Rc::clone(t), Positions::From(start)), t.sort, len, t.uses),
    }
}

/// Elements at any positions.
pub(crate) fn pick(t: &Term, list: Vec<usize>) -> Term {
    if list.windows(2).all(|w| w[0] + 1 == w[1]) {
        return match list.first() {
            Some(start) => slice(t, *start, list.len()),
            None => concat(Vec::new(), t.sort),
        };
    }
    match &t.kind {
        TermKind::Number(values, p) => constants(list.iter().map(|i| values[*i]).collect(), *p, t.sort),
        TermKind::Truth(values, p) => truths(list.iter().map(|i| values[*i]).collect(), *p),
        TermKind::Pick(base, positions) => pick(base, list.iter().map(|i| positions.at(*i)).collect()),
        _ => {
            let len = list.len();
            node(TermKind::Pick(Rc::clone(t), Positions::List(list)), t.sort, len, t.uses)
        }
    }
}

/// A term repeated to a length it broadcasts to.
pub(crate) fn broadcast(t: &Term, len: usize) -> Term {
    if t.len == len { Rc::clone(t) } else { pick(t, vec![0; len]) }
}
