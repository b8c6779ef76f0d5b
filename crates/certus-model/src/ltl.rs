//! Properties as formulas in negation normal form.
//!
//! [`Nnf`] is the one temporal type that engines work on; it is the type of [`certus_automata::nnf`] over the atoms of a system. The
//! abbreviations of the language are written out here: `F φ` is `true U φ`, `G φ` is `false R φ`, and `φ W ψ` is `(φ U ψ) | G φ`
//! with the bounds that docs/semantics.md gives it.

use certus_lang::system::{AtomId, Bounds, Formula, Property};

use crate::error::CheckError;

/// A temporal formula in negation normal form, over the atoms of a system.
pub type Nnf = certus_automata::nnf::Nnf<AtomId>;

/// The negation normal form of a formula (`positive`) or of its negation.
pub fn nnf(formula: &Formula, positive: bool) -> Nnf {
    let inner = |formula: &Formula| Box::new(nnf(formula, positive));
    let all = |parts: &[Formula]| parts.iter().map(|part| nnf(part, positive)).collect();
    let eventually = |bounds: Bounds, goal: Box<Nnf>| Nnf::Until(bounds, Box::new(Nnf::truth()), goal);
    let always = |bounds: Bounds, kept: Box<Nnf>| Nnf::Release(bounds, Box::new(Nnf::falsity()), kept);
    match formula {
        Formula::Constant(value) => {
            if *value == positive {
                Nnf::truth()
            } else {
                Nnf::falsity()
            }
        }
        Formula::Atom(atom) => Nnf::Literal(*atom, positive),
        Formula::Not(negated) => nnf(negated, !positive),
        Formula::And(parts) if positive => Nnf::And(all(parts)),
        Formula::And(parts) => Nnf::Or(all(parts)),
        Formula::Or(parts) if positive => Nnf::Or(all(parts)),
        Formula::Or(parts) => Nnf::And(all(parts)),
        Formula::Implies(premise, conclusion) => {
            let parts = vec![nnf(premise, !positive), nnf(conclusion, positive)];
            if positive { Nnf::Or(parts) } else { Nnf::And(parts) }
        }
        Formula::Iff(left, right) => {
            let pair = |first: bool, second: bool| Nnf::And(vec![nnf(left, first), nnf(right, second)]);
            Nnf::Or(vec![pair(true, positive), pair(false, !positive)])
        }
        Formula::Next(next) => Nnf::Next(inner(next)),
        Formula::Finally(bounds, goal) if positive => eventually(*bounds, inner(goal)),
        Formula::Finally(bounds, goal) => always(*bounds, inner(goal)),
        Formula::Globally(bounds, kept) if positive => always(*bounds, inner(kept)),
        Formula::Globally(bounds, kept) => eventually(*bounds, inner(kept)),
        Formula::Until(bounds, left, right) if positive => Nnf::Until(*bounds, inner(left), inner(right)),
        Formula::Until(bounds, left, right) => Nnf::Release(*bounds, inner(left), inner(right)),
        Formula::Release(bounds, left, right) if positive => Nnf::Release(*bounds, inner(left), inner(right)),
        Formula::Release(bounds, left, right) => Nnf::Until(*bounds, inner(left), inner(right)),
        Formula::WeakUntil(bounds, left, right) => {
            let whole = Bounds { lower: 0, upper: bounds.upper };
            match positive {
                true => Nnf::Or(vec![Nnf::Until(*bounds, inner(left), inner(right)), always(whole, inner(left))]),
                false => {
                    Nnf::And(vec![Nnf::Release(*bounds, inner(left), inner(right)), eventually(whole, inner(left))])
                }
            }
        }
    }
}

/// The formula of a property about every run; an error for a property of another kind.
pub fn formula_of(property: &Property) -> Result<&Formula, CheckError> {
    let refused = |reason| CheckError::Unsupported(format!("{reason}, and this engine decides what every run does"));
    property.over_runs().map_err(refused)
}
