//! Elements of a comprehension that have one shape become one vector term.
//!
//! `[for c in 0..10: if c < used then shade[c] else 0]` is ten terms that differ in constants and in
//! positions only. Joined position by position they are one comparison, one selection and one slice,
//! which later stages handle as a whole. Nothing changes but the number of nodes.

use std::rc::Rc;

use super::term::{self, Positions, Term, TermKind};

/// The terms, each of length 1, as one vector term; nothing if their shapes differ.
pub(super) fn vectorize(terms: &[Term]) -> Option<Term> {
    if terms.len() < 2 || terms.iter().any(|t| t.len != 1) {
        return None;
    }
    // A term that is only repeated would come back with length 1.
    aligned(terms).map(|t| term::broadcast(&t, terms.len()))
}

fn aligned(terms: &[Term]) -> Option<Term> {
    let first = terms.first()?;
    if terms[1..].iter().all(|t| term::same(first, t)) {
        return (first.len == 1).then(|| Rc::clone(first));
    }
    if terms.iter().any(|t| t.len != 1 || t.sort != first.sort) {
        return None;
    }
    match &first.kind {
        TermKind::Number(..) | TermKind::Truth(..) => {
            let constant = |t: &Term| t.numbers().is_some() || t.truths().is_some();
            terms.iter().all(constant).then(|| term::concat(terms.to_vec(), first.sort))
        }
        TermKind::Pick(base, _) => {
            let mut list = Vec::with_capacity(terms.len());
            for t in terms {
                match &t.kind {
                    TermKind::Pick(other, positions) if term::same(base, other) => list.push(match positions {
                        Positions::From(start) => *start,
                        Positions::List(all) => *all.first()?,
                    }),
                    _ => return None,
                }
            }
            Some(term::pick(base, list))
        }
        TermKind::Apply(f, _) => {
            let inner = children(terms, |t| match &t.kind {
                TermKind::Apply(g, inner) if f == g => Some(vec![Rc::clone(inner)]),
                _ => None,
            })?;
            Some(term::apply(*f, aligned(&inner[0])?))
        }
        TermKind::Add(parts) | TermKind::Mul(parts) => {
            let is_sum = matches!(first.kind, TermKind::Add(_));
            let flags: Vec<bool> = parts.iter().map(|(flag, _)| *flag).collect();
            let columns = children(terms, |t| match &t.kind {
                TermKind::Add(p) if is_sum && same_flags(p, &flags) => Some(second(p)),
                TermKind::Mul(p) if !is_sum && same_flags(p, &flags) => Some(second(p)),
                _ => None,
            })?;
            let columns = align_all(&columns)?;
            let parts = flags.into_iter().zip(columns).collect();
            Some(if is_sum { term::add(parts) } else { term::mul(parts) })
        }
        TermKind::Power(..) => {
            let columns = children(terms, |t| match &t.kind {
                TermKind::Power(a, b) => Some(vec![Rc::clone(a), Rc::clone(b)]),
                _ => None,
            })?;
            let [a, b] = <[Term; 2]>::try_from(align_all(&columns)?).ok()?;
            Some(term::power(a, b))
        }
        TermKind::Max(_) | TermKind::Min(_) => {
            let largest = matches!(first.kind, TermKind::Max(_));
            let columns = children(terms, |t| match &t.kind {
                TermKind::Max(p) if largest => Some(p.clone()),
                TermKind::Min(p) if !largest => Some(p.clone()),
                _ => None,
            })?;
            Some(term::extremum(largest, align_all(&columns)?))
        }
        TermKind::If(..) => {
            let columns = children(terms, |t| match &t.kind {
                TermKind::If(c, a, b) => Some(vec![Rc::clone(c), Rc::clone(a), Rc::clone(b)]),
                _ => None,
            })?;
            let [c, a, b] = <[Term; 3]>::try_from(align_all(&columns)?).ok()?;
            Some(term::conditional(c, a, b))
        }
        TermKind::Compare(op, ..) => {
            let columns = children(terms, |t| match &t.kind {
                TermKind::Compare(other, a, b) if op == other => Some(vec![Rc::clone(a), Rc::clone(b)]),
                _ => None,
            })?;
            let [a, b] = <[Term; 2]>::try_from(align_all(&columns)?).ok()?;
            Some(term::compare(*op, a, b))
        }
        TermKind::And(_) | TermKind::Or(_) => {
            let is_and = matches!(first.kind, TermKind::And(_));
            let columns = children(terms, |t| match &t.kind {
                TermKind::And(p) if is_and => Some(p.clone()),
                TermKind::Or(p) if !is_and => Some(p.clone()),
                _ => None,
            })?;
            let columns = align_all(&columns)?;
            Some(if is_and { term::and(columns) } else { term::or(columns) })
        }
        TermKind::Not(_) => {
            let columns = children(terms, |t| match &t.kind {
                TermKind::Not(inner) => Some(vec![Rc::clone(inner)]),
                _ => None,
            })?;
            Some(term::not(aligned(&columns[0])?))
        }
        TermKind::Match(choice, _) => {
            let columns = children(terms, |t| match &t.kind {
                TermKind::Match(other, arms) if choice == other => Some(arms.clone()),
                _ => None,
            })?;
            Some(term::matched(*choice, align_all(&columns)?, first.sort))
        }
        _ => None,
    }
}

/// For each child position the children of all terms; nothing if a term does not fit.
fn children(terms: &[Term], parts: impl Fn(&Term) -> Option<Vec<Term>>) -> Option<Vec<Vec<Term>>> {
    let mut columns: Vec<Vec<Term>> = Vec::new();
    for t in terms {
        let parts = parts(t)?;
        if columns.is_empty() {
            columns = vec![Vec::with_capacity(terms.len()); parts.len()];
        }
        if columns.len() != parts.len() {
            return None;
        }
        columns.iter_mut().zip(parts).for_each(|(column, part)| column.push(part));
    }
    Some(columns)
}

fn align_all(columns: &[Vec<Term>]) -> Option<Vec<Term>> {
    columns.iter().map(|c| aligned(c)).collect()
}

fn same_flags(parts: &[(bool, Term)], flags: &[bool]) -> bool {
    parts.len() == flags.len() && parts.iter().zip(flags).all(|((a, _), b)| a == b)
}

fn second(parts: &[(bool, Term)]) -> Vec<Term> {
    parts.iter().map(|(_, t)| Rc::clone(t)).collect()
}
