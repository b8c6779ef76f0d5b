//! Formula progression: what is left to show of a property after a position.
//!
//! Bacchus, Kabanza, "Using temporal logics to express search control knowledge for planning", Artificial Intelligence 116 (2000). Formulas have no negation but in
//! literals, so counting a literal that is not certain as false leaves more to show, never less.
//!
//! *For ever.* Let a stretch of at least one position lead from a conjunction of releases without bounds back to the same conjunction, whatever happens. A run that is
//! made of such stretches satisfies it: unfolded as an alternating automaton (Vardi, "Nontraditional applications of automata theory", TACS 1994), every branch of its run stays
//! for ever in one formula from some position on, and at the ends of stretches there are releases only, so that one is a release, never an until that waits.

use certus_automata::formula::Bounds;
use certus_obligations::Nnf;

/// What is left of a formula after a position with these truth values.
pub(crate) fn progressed(formula: &Nnf, letter: &[Option<bool>]) -> Nnf {
    let here = |own: &Nnf| progressed(own, letter);
    match formula {
        Nnf::Constant(value) => Nnf::Constant(*value),
        Nnf::Literal(atom, wanted) => Nnf::Constant(letter.get(atom.0).copied().flatten() == Some(*wanted)),
        Nnf::All(parts) => all(parts.iter().map(here)),
        Nnf::Any(parts) => any(parts.iter().map(here)),
        Nnf::Next(own) => (**own).clone(),
        Nnf::Until(bounds, left, right) => {
            let go_on = match next(bounds) {
                Some(bounds) => all([here(left), Nnf::Until(bounds, left.clone(), right.clone())]),
                None => Nnf::Constant(false),
            };
            if bounds.lower == 0 { any([here(right), go_on]) } else { go_on }
        }
        Nnf::Release(bounds, left, right) => {
            let go_on = match next(bounds) {
                Some(bounds) => any([here(left), Nnf::Release(bounds, left.clone(), right.clone())]),
                None => Nnf::Constant(true),
            };
            if bounds.lower == 0 { all([here(right), go_on]) } else { go_on }
        }
    }
}

/// Bounds as they are one position later; none if nothing is left of them.
fn next(bounds: &Bounds) -> Option<Bounds> {
    let upper = match bounds.upper {
        Some(upper) => Some(upper.checked_sub(1)?),
        None => None,
    };
    Some(Bounds { lower: bounds.lower.saturating_sub(1), upper })
}

fn all(parts: impl IntoIterator<Item = Nnf>) -> Nnf {
    joined(parts, true)
}

fn any(parts: impl IntoIterator<Item = Nnf>) -> Nnf {
    joined(parts, false)
}

/// A conjunction, or a disjunction: flat, without repetitions and without constants.
fn joined(parts: impl IntoIterator<Item = Nnf>, conjunction: bool) -> Nnf {
    let mut found: Vec<Nnf> = Vec::new();
    for part in parts {
        let inner = match part {
            Nnf::Constant(value) if value == conjunction => continue,
            Nnf::Constant(value) => return Nnf::Constant(value),
            Nnf::All(inner) if conjunction => inner,
            Nnf::Any(inner) if !conjunction => inner,
            other => vec![other],
        };
        for own in inner {
            if !found.contains(&own) {
                found.push(own);
            }
        }
    }
    match found.len() {
        0 => Nnf::Constant(conjunction),
        1 => found.remove(0),
        _ if conjunction => Nnf::All(found),
        _ => Nnf::Any(found),
    }
}

/// What suffices of a formula and can last: the formula itself, or some of its disjuncts.
pub(crate) fn lasting(formula: &Nnf) -> Vec<&Nnf> {
    let parts = match formula {
        Nnf::Any(parts) => parts.as_slice(),
        own => std::slice::from_ref(own),
    };
    parts.iter().filter(|part| can_last(part)).collect()
}

/// Whether a formula is a conjunction of releases without bounds.
fn can_last(formula: &Nnf) -> bool {
    match formula {
        Nnf::All(parts) => !parts.is_empty() && parts.iter().all(can_last),
        Nnf::Release(bounds, ..) => bounds.lower == 0 && bounds.upper.is_none(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use certus_lang::system::AtomId;

    use super::*;

    fn atom(place: usize) -> Box<Nnf> {
        Box::new(Nnf::Literal(AtomId(place), true))
    }

    fn within(lower: u64, upper: u64) -> Bounds {
        Bounds { lower, upper: Some(upper) }
    }

    fn truth(value: bool) -> Box<Nnf> {
        Box::new(Nnf::Constant(value))
    }

    #[test]
    fn bounds_count_down_and_open_letters_show_nothing() {
        let soon = Nnf::Until(within(1, 2), truth(true), atom(0));
        let after = |letters: &[Option<bool>]| {
            letters.iter().fold(soon.clone(), |formula, letter| progressed(&formula, &[*letter]))
        };
        assert_eq!(after(&[Some(true), Some(true)]), Nnf::Constant(true));
        assert_eq!(after(&[Some(true), Some(false), Some(true)]), Nnf::Constant(true));
        assert_eq!(after(&[Some(true), None, Some(false)]), Nnf::Constant(false));
        let always = Nnf::Release(within(0, 1), truth(false), atom(0));
        assert_eq!(progressed(&progressed(&always, &[Some(true)]), &[Some(true)]), Nnf::Constant(true));
        assert_eq!(progressed(&always, &[None]), Nnf::Constant(false));
        assert_eq!(progressed(&Nnf::Literal(AtomId(0), false), &[Some(false)]), Nnf::Constant(true));
        assert_eq!(progressed(&Nnf::Literal(AtomId(3), false), &[Some(false)]), Nnf::Constant(false));
    }

    #[test]
    fn what_waits_cannot_last() {
        let response = Nnf::Release(
            Bounds::default(),
            truth(false),
            Box::new(Nnf::Until(Bounds::default(), truth(true), atom(0))),
        );
        assert!(can_last(&response));
        let waiting = progressed(&response, &[Some(false)]);
        assert!(!can_last(&waiting));
        assert_eq!(progressed(&waiting, &[Some(true)]), response);
        assert_eq!(progressed(&response, &[Some(true)]), response);
        let settles = Nnf::Until(Bounds::default(), truth(true), Box::new(response.clone()));
        assert!(lasting(&settles).is_empty());
        assert_eq!(lasting(&progressed(&settles, &[Some(true)])), [&response]);
        assert!(lasting(&progressed(&settles, &[Some(false)])).is_empty());
        assert!(!can_last(&Nnf::Release(within(0, 3), truth(false), atom(0))) && !can_last(&Nnf::Constant(true)));
    }
}
