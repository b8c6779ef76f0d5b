//! Negation normal form.
//!
//! The automata construction knows only literals, `&`, `|`, `X`, `F`, `G`, `U` and `R`, without bounds. This pass gets
//! there: negations move to the atoms (dual operators swap), `a W b` becomes `b R (a | b)`, `a M b` becomes `b U (a & b)`,
//! implications and equivalences become disjunctions, and bounds are unrolled by the laws
//!
//! ```text
//!     a U[l,k] b = a & X(a U[l-1,k-1] b)          a U[0,k] b = b | a & X(a U[0,k-1] b)
//! ```
//!
//! and their duals. Unrolling shares every step, so `F[0,k]` costs k nodes; more than [`UNROLLED`] in all is refused.
//! Each part is needed in at most two polarities; both are computed bottom up for all parts, so nothing recurses and
//! equivalences do not explode.

use crate::formula::{Bounds, Formula, Formulas, Node};
use std::collections::HashMap;

/// How many steps of bounded operators are unrolled in one formula.
pub const UNROLLED: u64 = 20_000;

/// A formula or its automaton is larger than it is allowed to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TooLarge {
    /// Bounds with more than [`UNROLLED`] steps in all.
    Bounds,
    /// More than 64 atoms.
    Atoms,
    /// More than 64 acceptance sets.
    Sets,
    /// More states or transitions than the limits say.
    Automaton,
}

impl std::fmt::Display for TooLarge {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            TooLarge::Bounds => write!(f, "the bounds of its operators have more than {UNROLLED} steps in all"),
            TooLarge::Atoms => write!(f, "it has more than 64 atoms"),
            TooLarge::Sets => write!(f, "it needs more than 64 acceptance sets"),
            TooLarge::Automaton => write!(f, "its automaton is larger than the limit"),
        }
    }
}

impl std::error::Error for TooLarge {}

impl Formulas {
    /// `a U b`, with `F` where that is meant.
    pub(crate) fn u(&mut self, a: Formula, b: Formula) -> Formula {
        if a == Self::TRUE { self.finally(Bounds::ALL, b) } else { self.until(Bounds::ALL, a, b) }
    }

    /// `a R b`, with `G` where that is meant.
    pub(crate) fn r(&mut self, a: Formula, b: Formula) -> Formula {
        if a == Self::FALSE { self.globally(Bounds::ALL, b) } else { self.release(Bounds::ALL, a, b) }
    }

    /// The two sides of an until of the normal form; `F b` is `true U b`.
    pub(crate) fn as_until(&self, f: Formula) -> Option<(Formula, Formula)> {
        match self.node(f) {
            Node::Finally(_, b) => Some((Self::TRUE, *b)),
            Node::Until(_, a, b) => Some((*a, *b)),
            _ => None,
        }
    }

    /// The two sides of a release of the normal form; `G b` is `false R b`.
    pub(crate) fn as_release(&self, f: Formula) -> Option<(Formula, Formula)> {
        match self.node(f) {
            Node::Globally(_, b) => Some((Self::FALSE, *b)),
            Node::Release(_, a, b) => Some((*a, *b)),
            _ => None,
        }
    }
}

/// The negation normal form of a formula, or of its negation, without bounds.
pub fn normal(store: &mut Formulas, formula: Formula, negated: bool) -> Result<Formula, TooLarge> {
    if store.atoms(formula) > 64 {
        return Err(TooLarge::Atoms);
    }
    let mut steps = 0u64;
    // Each part with its form and the form of its negation.
    let mut forms: HashMap<Formula, (Formula, Formula)> = HashMap::new();
    for part in store.below(formula) {
        let node = store.node(part).clone();
        let form = match node {
            Node::True => (Formulas::TRUE, Formulas::FALSE),
            Node::False => (Formulas::FALSE, Formulas::TRUE),
            Node::Atom(_) => (part, store.not(part)),
            Node::Not(a) => (forms[&a].1, forms[&a].0),
            Node::And(all) => both(store, &forms, &all, true),
            Node::Or(all) => both(store, &forms, &all, false),
            Node::Implies(a, b) => {
                let (a, b) = (forms[&a], forms[&b]);
                (store.or(&[a.1, b.0]), store.and(&[a.0, b.1]))
            }
            Node::Iff(a, b) => {
                let (a, b) = (forms[&a], forms[&b]);
                let (same, none) = (store.and(&[a.0, b.0]), store.and(&[a.1, b.1]));
                let (first, second) = (store.and(&[a.0, b.1]), store.and(&[a.1, b.0]));
                (store.or(&[same, none]), store.or(&[first, second]))
            }
            Node::Next(a) => (store.next(forms[&a].0), store.next(forms[&a].1)),
            Node::Finally(bounds, a) => {
                let (a, not_a) = forms[&a];
                let yes = until(store, bounds, Formulas::TRUE, a, &mut steps)?;
                (yes, release(store, bounds, Formulas::FALSE, not_a, &mut steps)?)
            }
            Node::Globally(bounds, a) => {
                let (a, not_a) = forms[&a];
                let yes = release(store, bounds, Formulas::FALSE, a, &mut steps)?;
                (yes, until(store, bounds, Formulas::TRUE, not_a, &mut steps)?)
            }
            Node::Until(bounds, a, b) => {
                let (a, b) = (forms[&a], forms[&b]);
                let yes = until(store, bounds, a.0, b.0, &mut steps)?;
                (yes, release(store, bounds, a.1, b.1, &mut steps)?)
            }
            Node::Release(bounds, a, b) => {
                let (a, b) = (forms[&a], forms[&b]);
                let yes = release(store, bounds, a.0, b.0, &mut steps)?;
                (yes, until(store, bounds, a.1, b.1, &mut steps)?)
            }
            Node::WeakUntil(bounds, a, b) => {
                let (a, b) = (forms[&a], forms[&b]);
                let yes = weak(store, bounds, a.0, b.0, &mut steps)?;
                (yes, strong(store, bounds, a.1, b.1, &mut steps)?)
            }
            Node::StrongRelease(bounds, a, b) => {
                let (a, b) = (forms[&a], forms[&b]);
                let yes = strong(store, bounds, a.0, b.0, &mut steps)?;
                (yes, weak(store, bounds, a.1, b.1, &mut steps)?)
            }
        };
        forms.insert(part, form);
    }
    let (form, negation) = forms[&formula];
    Ok(if negated { negation } else { form })
}

fn both(
    store: &mut Formulas,
    forms: &HashMap<Formula, (Formula, Formula)>,
    all: &[Formula],
    and: bool,
) -> (Formula, Formula) {
    let yes: Vec<_> = all.iter().map(|a| forms[a].0).collect();
    let no: Vec<_> = all.iter().map(|a| forms[a].1).collect();
    if and { (store.and(&yes), store.or(&no)) } else { (store.or(&yes), store.and(&no)) }
}

/// How many steps the bounds unroll into, counted.
fn count(bounds: Bounds, steps: &mut u64) -> Result<(u64, Option<u64>), TooLarge> {
    let width = bounds.upper.map(|upper| upper.saturating_sub(bounds.lower));
    *steps = steps.saturating_add(bounds.lower).saturating_add(width.unwrap_or(0));
    if *steps > UNROLLED { Err(TooLarge::Bounds) } else { Ok((bounds.lower, width)) }
}

fn until(store: &mut Formulas, bounds: Bounds, a: Formula, b: Formula, steps: &mut u64) -> Result<Formula, TooLarge> {
    let (lower, width) = count(bounds, steps)?;
    let mut formula = match width {
        None => store.u(a, b),
        Some(width) => (0..width).fold(b, |rest, _| {
            let next = store.next(rest);
            let later = store.and(&[a, next]);
            store.or(&[b, later])
        }),
    };
    for _ in 0..lower {
        let next = store.next(formula);
        formula = store.and(&[a, next]);
    }
    Ok(formula)
}

fn release(store: &mut Formulas, bounds: Bounds, a: Formula, b: Formula, steps: &mut u64) -> Result<Formula, TooLarge> {
    let (lower, width) = count(bounds, steps)?;
    let mut formula = match width {
        None => store.r(a, b),
        Some(width) => (0..width).fold(b, |rest, _| {
            let next = store.next(rest);
            let later = store.or(&[a, next]);
            store.and(&[b, later])
        }),
    };
    for _ in 0..lower {
        let next = store.next(formula);
        formula = store.or(&[a, next]);
    }
    Ok(formula)
}

fn weak(store: &mut Formulas, bounds: Bounds, a: Formula, b: Formula, steps: &mut u64) -> Result<Formula, TooLarge> {
    if bounds.is_all() {
        let either = store.or(&[a, b]);
        return Ok(store.r(b, either));
    }
    let always = release(store, Bounds { lower: 0, upper: bounds.upper }, Formulas::FALSE, a, steps)?;
    let reached = until(store, bounds, a, b, steps)?;
    Ok(store.or(&[reached, always]))
}

fn strong(store: &mut Formulas, bounds: Bounds, a: Formula, b: Formula, steps: &mut u64) -> Result<Formula, TooLarge> {
    if bounds.is_all() {
        let both = store.and(&[a, b]);
        return Ok(store.u(b, both));
    }
    let sometime = until(store, Bounds { lower: 0, upper: bounds.upper }, Formulas::TRUE, a, steps)?;
    let kept = release(store, bounds, a, b, steps)?;
    Ok(store.and(&[kept, sometime]))
}
