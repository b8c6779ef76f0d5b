//! Variables of integers: what is demanded of states, successors and inputs.
//!
//! The values of such a variable are those of its set. So initial states have them, the environment chooses among them, and a step that leads to
//! anything else has a model error, as one that leaves a range has. Where arithmetic on integers obviously gives integers, nothing is left to be
//! demanded of a successor.

use std::collections::HashSet;

use crate::system::{Integers, Variable};

use super::Checker;
use super::term::{self, Sort, Term, TermKind, TermNode, Uses};

impl Checker<'_> {
    /// Adds to the model what is demanded.
    pub(super) fn demand_integers(&mut self) {
        let demanded = |variables: &[Variable], kind: fn(usize) -> TermKind, uses: Uses| -> Vec<Term> {
            let own = variables.iter().enumerate().filter_map(|(place, variable)| {
                let leaf = term::leaf(kind(place), Sort::Real, variable.len, uses);
                Some(is_one_of(leaf, variable.integers.clone()?))
            });
            own.collect()
        };
        let model = &mut self.model;
        model.integral = conjunction(demanded(&model.states, TermKind::State, Uses::STATE));
        model.integral_inputs = conjunction(demanded(&model.inputs, TermKind::Input, Uses::INPUT));
        let together =
            |demanded: &Option<Term>, own: Option<Term>| conjunction(demanded.iter().cloned().chain(own).collect());
        model.init = together(&model.integral, model.init.take());
        model.assumption = together(&model.integral_inputs, model.assumption.take());
        let mut successors = Vec::new();
        for (place, (variable, update)) in model.states.iter().zip(&model.updates).enumerate() {
            let Some(integers) = &variable.integers else { continue };
            let is_gapless = integers.runs().len() == 1;
            let mut known = HashSet::new();
            let obvious = (is_gapless && update.value.is_integral())
                || stays_in(&update.value, integers, &model.states, &mut known);
            if !obvious {
                let own = term::leaf(TermKind::Next(place), Sort::Real, variable.len, Uses::NEXT);
                successors.push(is_one_of(own, integers.clone()));
            }
        }
        model.integral_successors = conjunction(successors);
    }
}

/// That all elements are integers of a set.
fn is_one_of(t: Term, integers: Integers) -> Term {
    term::quantified(true, term::member(t, integers))
}

fn conjunction(parts: Vec<Term>) -> Option<Term> {
    if parts.is_empty() { None } else { Some(term::and(parts)) }
}

/// Whether a term is made of integers of a set by selection alone. Terms share parts, so each is looked at once.
fn stays_in(t: &Term, integers: &Integers, states: &[Variable], seen: &mut HashSet<*const TermNode>) -> bool {
    if !seen.insert(Term::as_ptr(t)) {
        return true;
    }
    let mut all = |parts: &[&Term]| parts.iter().all(|part| stays_in(part, integers, states, seen));
    match &t.kind {
        TermKind::Number(values, _) => values.iter().all(|value| integers.contains(*value)),
        TermKind::State(i) => states[*i].integers.as_ref().is_some_and(|own| own.is_within(integers)),
        TermKind::If(_, then, otherwise) => all(&[then, otherwise]),
        TermKind::Match(_, parts) | TermKind::Concat(parts) => all(&parts.iter().collect::<Vec<_>>()),
        TermKind::Pick(base, _) => all(&[base]),
        _ => false,
    }
}
