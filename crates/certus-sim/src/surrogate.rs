//! The objective of the greedy adversary: the robustness of a property at one position, with temporal operators replaced by their bodies.
//!
//! Robustness-guided falsification (Annpureddy, Liu, Fainekos and Sankaranarayanan, "S-TaLiRo: A Tool for Temporal Logic Falsification for Hybrid Systems", TACAS 2011), one step at a
//! time. To falsify `G φ` one makes φ's robustness small; to falsify `F φ` one keeps it small as well; an until is falsified while neither side holds. So one position's robustness of the
//! formula without its temporal operators guides all of them. It is a heuristic: what it finds is judged by `semantics.rs`.

use certus_lang::system::{AtomId, Formula};

/// The margin of a formula at one position.
pub(crate) fn margin(formula: &Formula, atom: &dyn Fn(AtomId) -> f64) -> f64 {
    let of = |inner: &Formula| margin(inner, atom);
    match formula {
        Formula::Constant(true) => f64::INFINITY,
        Formula::Constant(false) => f64::NEG_INFINITY,
        Formula::Atom(id) => atom(*id),
        Formula::Not(inner) => -of(inner),
        Formula::And(parts) => parts.iter().map(of).fold(f64::INFINITY, f64::min),
        Formula::Or(parts) => parts.iter().map(of).fold(f64::NEG_INFINITY, f64::max),
        Formula::Implies(a, b) => (-of(a)).max(of(b)),
        Formula::Iff(a, b) => {
            let (a, b) = (of(a), of(b));
            (-a).max(b).min(a.max(-b))
        }
        Formula::Next(inner) | Formula::Finally(_, inner) | Formula::Globally(_, inner) => of(inner),
        Formula::Until(_, a, b) | Formula::WeakUntil(_, a, b) => of(a).max(of(b)),
        Formula::Release(_, _, b) => of(b),
    }
}
