//! The smallest box that the initial condition obviously implies.
//!
//! Conjuncts of the form `x <= c`, `x in [a, b]`, `abs(x) <= c`, `all(…)` of these and the like narrow
//! the declared ranges. If every conjunct is of that kind and none is strict, the box *is* the initial
//! set; otherwise it only contains it.

use std::collections::HashSet;

use crate::diagnostics::Diagnostic;
use crate::syntax::Span;
use crate::syntax::ast::{CompareOp, DeclarationKind};

use super::Checker;
use super::term::{Function, Positions, Term, TermKind};

/// The box so far, over the flattened state.
struct Narrowed {
    lower: Vec<f64>,
    upper: Vec<f64>,
    /// Whether nothing was lost.
    exact: bool,
}

impl Checker<'_> {
    pub(super) fn derive_init_box(&mut self) {
        let mut narrowed = Narrowed { lower: Vec::new(), upper: Vec::new(), exact: true };
        let mut offsets = Vec::new();
        for v in &self.model.states {
            offsets.push(narrowed.lower.len());
            narrowed.lower.extend(&v.lower);
            narrowed.upper.extend(&v.upper);
        }
        if let Some(init) = &self.model.init {
            self.narrow(init, &offsets, &mut narrowed);
        }
        for (v, offset) in self.model.states.iter().zip(&offsets) {
            let range = *offset..offset + v.len;
            if let Some(i) = range.clone().find(|i| narrowed.lower[*i] > narrowed.upper[*i]) {
                let span = self.first_init();
                let name = if v.is_vector { format!("{}[{}]", v.name, i - offset) } else { v.name.clone() };
                let found = format!(
                    "`{name}` would have to be at least {} and at most {}",
                    narrowed.lower[i], narrowed.upper[i]
                );
                let diagnostic = Diagnostic::error("init", "no state is initial").at(span, found).help(format!(
                    "the declared range of `{name}` is [{}, {}]",
                    v.lower[i - offset],
                    v.upper[i - offset]
                ));
                self.error(diagnostic);
                break;
            }
        }
        self.model.init_is_box = narrowed.exact;
        self.model.init_box = (narrowed.lower, narrowed.upper);
    }

    fn first_init(&self) -> Span {
        let init = self.file.declarations.iter().find(|d| matches!(d.kind, DeclarationKind::Init(_)));
        init.map_or(Span::default(), |d| d.span)
    }

    /// Narrows the box by a condition of which every element holds.
    fn narrow(&self, condition: &Term, offsets: &[usize], narrowed: &mut Narrowed) {
        // Defines can mention defines without end, so this follows them by a list, not by recursion.
        let mut pending = vec![condition];
        let mut followed = HashSet::new();
        while let Some(condition) = pending.pop() {
            match &condition.kind {
                TermKind::And(parts) | TermKind::Concat(parts) => pending.extend(parts),
                TermKind::All(inner) => pending.push(inner),
                TermKind::Define(i) if followed.insert(*i) => pending.push(&self.model.defines[*i].1),
                TermKind::Define(_) => {}
                TermKind::Truth(values, _) if values.iter().all(|v| *v) => {}
                TermKind::Compare(op, a, b) => {
                    let done = match (a.numbers(), b.numbers()) {
                        (None, Some(bound)) => bounded(a, *op, bound, offsets, narrowed),
                        (Some(bound), None) => bounded(b, mirrored(*op), bound, offsets, narrowed),
                        _ => false,
                    };
                    narrowed.exact &= done;
                }
                _ => narrowed.exact = false,
            }
        }
    }
}

/// Narrows by `t op bound`; tells whether the box expresses it fully.
fn bounded(t: &Term, op: CompareOp, bound: &[f64], offsets: &[usize], narrowed: &mut Narrowed) -> bool {
    let bound_at = |i: usize| if bound.len() == 1 { bound[0] } else { bound[i] };
    if let Some(elements) = elements_of(t, offsets) {
        let count = elements.len().max(bound.len());
        for i in 0..count {
            let at = if elements.len() == 1 { elements[0] } else { elements[i] };
            let value = bound_at(i);
            if !matches!(op, CompareOp::Less | CompareOp::LessEqual | CompareOp::NotEqual) {
                narrowed.lower[at] = narrowed.lower[at].max(value);
            }
            if !matches!(op, CompareOp::Greater | CompareOp::GreaterEqual | CompareOp::NotEqual) {
                narrowed.upper[at] = narrowed.upper[at].min(value);
            }
        }
        return matches!(op, CompareOp::LessEqual | CompareOp::GreaterEqual | CompareOp::Equal);
    }
    match &t.kind {
        TermKind::Apply(Function::Abs, inner) if matches!(op, CompareOp::Less | CompareOp::LessEqual) => {
            let negative: Vec<f64> = bound.iter().map(|v| -v).collect();
            let below = bounded(inner, op, bound, offsets, narrowed);
            let above = bounded(inner, mirrored(op), &negative, offsets, narrowed);
            below && above
        }
        TermKind::Apply(Function::Negate, inner) => {
            let negative: Vec<f64> = bound.iter().map(|v| -v).collect();
            bounded(inner, mirrored(op), &negative, offsets, narrowed)
        }
        _ => false,
    }
}

fn mirrored(op: CompareOp) -> CompareOp {
    match op {
        CompareOp::Less => CompareOp::Greater,
        CompareOp::LessEqual => CompareOp::GreaterEqual,
        CompareOp::Greater => CompareOp::Less,
        CompareOp::GreaterEqual => CompareOp::LessEqual,
        same => same,
    }
}

/// The places in the flattened state that a term consists of, if it is nothing else.
fn elements_of(t: &Term, offsets: &[usize]) -> Option<Vec<usize>> {
    match &t.kind {
        TermKind::State(i) => Some((offsets[*i]..offsets[*i] + t.len).collect()),
        TermKind::Pick(base, positions) => {
            let all = elements_of(base, offsets)?;
            Some(match positions {
                Positions::From(start) => all[*start..start + t.len].to_vec(),
                Positions::List(list) => list.iter().map(|i| all[*i]).collect(),
            })
        }
        TermKind::Concat(parts) => {
            let parts: Option<Vec<Vec<usize>>> = parts.iter().map(|p| elements_of(p, offsets)).collect();
            parts.map(|p| p.concat())
        }
        _ => None,
    }
}
