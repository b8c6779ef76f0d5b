//! Informative bad prefixes.
//!
//! O. Kupferman, M. Y. Vardi: Model Checking of Safety Properties, Formal Methods in System Design 19(3), 2001. A finite word is a *bad prefix* of a
//! formula if no continuation satisfies it, and an *informative* one if unfolding the formula along the word ends in
//! `false`, whatever is assumed of the rest. Every informative prefix is bad; `X p & X !p` has a bad prefix of one letter that is
//! not informative: nothing contradicts itself before the second. Bounded model checking looks for informative prefixes only,
//! so it needs to know whether there are others.
//!
//! The formula is unfolded as it stands, without any simplification, into a generalised Büchi automaton whose states are
//! sets of formulas that the rest of the word must satisfy. A word after which some state is left is not informative. If
//! every state accepts some word, such a word is not bad either, so the two notions agree. If a state accepts nothing they
//! may still agree (another state may be reached by the same words); then the answer is `false`, the careful one.

use std::collections::HashMap;

use crate::automaton::{Automaton, Edge};
use crate::formula::Bounds;
use crate::label::{Cube, Label};
use crate::nnf::Nnf;
use crate::trim::trim;

/// What a formula asks of the next letter and of the rest, with the unbounded untils that it puts off.
#[derive(Clone, Default)]
struct Term {
    cube: Cube,
    rest: Vec<Nnf>,
    postponed: Vec<Nnf>,
}

/// Whether every bad prefix of a formula is informative, as far as an automaton of at most so many states tells.
pub fn bad_prefixes_are_informative(formula: &Nnf, most_states: usize) -> bool {
    has_one_polarity(formula) || unfolded(formula, most_states).is_some_and(|own| trim(&own).states() == own.states())
}

/// Whether each atom occurs only as it is, or only negated, and nothing is `false`: a future in which every literal is true then
/// satisfies whatever is left.
fn has_one_polarity(formula: &Nnf) -> bool {
    fn collect(formula: &Nnf, seen: &mut Cube) -> bool {
        match formula {
            Nnf::And(parts) => parts.iter().all(|part| collect(part, seen)),
            Nnf::Or(parts) => !parts.is_empty() && parts.iter().all(|part| collect(part, seen)),
            Nnf::Literal(atom, wanted) => {
                let own = Cube::literal(*atom, *wanted);
                *seen = Cube { yes: seen.yes | own.yes, no: seen.no | own.no };
                *atom < 64
            }
            Nnf::Next(inner) => collect(inner, seen),
            Nnf::Until(bounds, left, right) => {
                bounds.upper.is_none_or(|upper| upper >= bounds.lower) && collect(left, seen) && collect(right, seen)
            }
            // What is never released has `false` on its left.
            Nnf::Release(_, left, right) => {
                (**left == Nnf::Or(Vec::new()) || collect(left, seen)) && collect(right, seen)
            }
        }
    }
    let mut seen = Cube::TRUE;
    collect(formula, &mut seen) && seen.yes & seen.no == 0
}

fn unfolded(formula: &Nnf, most_states: usize) -> Option<Automaton> {
    let mut numbers: HashMap<Vec<Nnf>, u32> = HashMap::from([(vec![formula.clone()], 0)]);
    let mut sets = vec![vec![formula.clone()]];
    let mut untils: Vec<Nnf> = Vec::new();
    let mut automaton = Automaton { initial: vec![0], ..Default::default() };
    while automaton.edges.len() < sets.len() {
        let state = Nnf::And(sets[automaton.edges.len()].clone());
        let mut edges = Vec::new();
        for mut term in terms(&state, most_states)? {
            reduce(&mut term.rest);
            let target = *numbers.entry(term.rest).or_insert_with_key(|rest| {
                sets.push(rest.clone());
                sets.len() as u32 - 1
            });
            let mut postponed = 0u64;
            for until in term.postponed {
                let place = untils.iter().position(|own| *own == until).unwrap_or_else(|| {
                    untils.push(until);
                    untils.len() - 1
                });
                postponed |= 1u64.checked_shl(place as u32)?;
            }
            // Marks are those of what is *not* put off; which untils there are is known in the end.
            edges.push(Edge { target, marks: postponed, label: Label(vec![term.cube]) });
        }
        automaton.edges.push(edges);
        if sets.len() > most_states || untils.len() > 63 {
            return None;
        }
    }
    automaton.sets = untils.len() as u32;
    let full = automaton.full();
    automaton.edges.iter_mut().flatten().for_each(|edge| edge.marks = full & !edge.marks);
    Some(automaton)
}

/// Drops repeated formulas, and of bounded operators that differ in their last step alone those that another one entails. What is
/// left entails the whole set, so every word that the automaton accepts still satisfies the formula; and who can satisfy a set
/// letter by letter can do so with fewer formulas.
fn reduce(rest: &mut Vec<Nnf>) {
    rest.sort_unstable();
    rest.dedup();
    let all = rest.clone();
    rest.retain(|own| {
        !all.iter().any(|other| match (own, other) {
            (
                Nnf::Until(Bounds { lower: 0, upper: Some(late) }, a, b),
                Nnf::Until(Bounds { lower: 0, upper: Some(soon) }, c, d),
            ) => soon < late && a == c && b == d,
            (
                Nnf::Release(Bounds { lower: 0, upper: Some(short) }, a, b),
                Nnf::Release(Bounds { lower: 0, upper: Some(long) }, c, d),
            ) => long > short && a == c && b == d,
            _ => false,
        })
    });
}

/// The ways to satisfy a formula; nothing if there are too many.
fn terms(formula: &Nnf, most: usize) -> Option<Vec<Term>> {
    let later = |formula: Nnf| Term { rest: vec![formula], ..Term::default() };
    let step = |bounds: &Bounds| Bounds {
        lower: bounds.lower.saturating_sub(1),
        upper: bounds.upper.map(|upper| upper.saturating_sub(1)),
    };
    let found = match formula {
        Nnf::Literal(atom, wanted) => {
            let cube = (*atom < 64).then(|| Cube::literal(*atom, *wanted))?;
            vec![Term { cube, ..Term::default() }]
        }
        Nnf::And(parts) => {
            let mut all = vec![Term::default()];
            for part in parts {
                all = both(&all, &terms(part, most)?, most)?;
            }
            all
        }
        Nnf::Or(parts) => {
            let mut any = Vec::new();
            for part in parts {
                any.extend(terms(part, most)?);
            }
            any
        }
        Nnf::Next(inner) => vec![later((**inner).clone())],
        Nnf::Until(bounds, ..) if bounds.upper.is_some_and(|upper| upper < bounds.lower) => Vec::new(),
        Nnf::Until(bounds, left, right) => {
            let mut any = if bounds.lower == 0 { terms(right, most)? } else { Vec::new() };
            if bounds.upper != Some(0) {
                let mut off = later(Nnf::Until(step(bounds), left.clone(), right.clone()));
                if bounds.upper.is_none() && bounds.lower == 0 {
                    off.postponed.push(formula.clone());
                }
                any.extend(both(&terms(left, most)?, &[off], most)?);
            }
            any
        }
        Nnf::Release(bounds, ..) if bounds.upper.is_some_and(|upper| upper < bounds.lower) => vec![Term::default()],
        Nnf::Release(bounds, left, right) => {
            let mut any = match bounds.upper {
                Some(0) => vec![Term::default()],
                _ => {
                    let mut any = terms(left, most)?;
                    any.push(later(Nnf::Release(step(bounds), left.clone(), right.clone())));
                    any
                }
            };
            if bounds.lower == 0 {
                any = both(&any, &terms(right, most)?, most)?;
            }
            any
        }
    };
    (found.len() <= most).then_some(found)
}

fn both(left: &[Term], right: &[Term], most: usize) -> Option<Vec<Term>> {
    let mut found = Vec::new();
    for a in left {
        for b in right {
            if let Some(cube) = a.cube.and(b.cube) {
                let rest = [a.rest.as_slice(), &b.rest].concat();
                found.push(Term { cube, rest, postponed: [a.postponed.as_slice(), &b.postponed].concat() });
            }
        }
        if found.len() > most {
            return None;
        }
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    const EVER: Bounds = Bounds { lower: 0, upper: None };

    fn p(wanted: bool) -> Box<Nnf> {
        Box::new(Nnf::Literal(0, wanted))
    }

    fn q(wanted: bool) -> Box<Nnf> {
        Box::new(Nnf::Literal(1, wanted))
    }

    fn globally(inner: Box<Nnf>) -> Box<Nnf> {
        Box::new(Nnf::Release(EVER, Box::new(Nnf::Or(Vec::new())), inner))
    }

    fn finally(inner: Box<Nnf>) -> Box<Nnf> {
        Box::new(Nnf::Until(EVER, Box::new(Nnf::And(Vec::new())), inner))
    }

    fn informative(formula: &Nnf) -> bool {
        bad_prefixes_are_informative(formula, 1000)
    }

    #[test]
    fn contradictions_that_show_later_are_found() {
        let next = |inner| Nnf::Next(inner);
        assert!(!informative(&Nnf::And(vec![next(p(true)), next(p(false))])));
        assert!(!informative(&Nnf::And(vec![*globally(p(true)), *finally(p(false))])));
        let recurs = globally(finally(p(true)));
        let settles = finally(globally(p(false)));
        assert!(!informative(&Nnf::And(vec![*recurs.clone(), *settles.clone()])));
        assert!(informative(&Nnf::Or(vec![*recurs, *settles])));
        // `(G[1,3] (p -> p)) <-> q`: unfolded, `!G[1,3] …` waits for what never comes.
        let bounds = Bounds { lower: 1, upper: Some(3) };
        let trivial = Nnf::Release(bounds, Box::new(Nnf::Or(Vec::new())), Box::new(Nnf::Or(vec![*p(false), *p(true)])));
        let absurd = Nnf::Until(bounds, Box::new(Nnf::And(Vec::new())), Box::new(Nnf::And(vec![*p(true), *p(false)])));
        let both = [Nnf::And(vec![trivial, *q(true)]), Nnf::And(vec![absurd, *q(false)])];
        assert!(!informative(&Nnf::Or(both.to_vec())));
    }

    #[test]
    fn common_properties_have_informative_prefixes_only() {
        assert!(informative(&globally(p(true))) && informative(&finally(p(true))));
        // `G (p -> X p)`, `G (p -> F !p)`, `p U (q & !p)`.
        let stays = Nnf::Or(vec![*p(false), Nnf::Next(p(true))]);
        assert!(informative(&globally(Box::new(stays))));
        assert!(informative(&globally(Box::new(Nnf::Or(vec![*p(false), *finally(p(false))])))));
        let until = Nnf::Until(EVER, p(true), Box::new(Nnf::And(vec![*q(true), *p(false)])));
        assert!(informative(&until));
        let bounded = Bounds { lower: 1, upper: Some(4) };
        let soon = |inner| Nnf::Until(bounded, Box::new(Nnf::And(Vec::new())), inner);
        assert!(informative(&globally(Box::new(Nnf::Or(vec![*p(false), soon(q(true))])))));
        // Both polarities, and many that are waited for at once.
        let answered = |asked: Box<Nnf>, answer| globally(Box::new(Nnf::Or(vec![*asked, soon(answer)])));
        assert!(informative(&Nnf::And(vec![*answered(p(false), q(true)), *answered(q(false), p(true))])));
    }
}
