//! Formula progression: what is left to show of a formula after a position.
//!
//! Bacchus, Kabanza, "Using temporal logics to express search control knowledge for planning", Artificial Intelligence 116 (2000). A formula in negation normal form is
//! rewritten by the letter of a position into what must hold from the next one on. A literal whose value is not certain counts as false: the formula is monotone in its
//! literals, so what is shown then holds for every value.
//!
//! *Loops.* If a stretch of positions leads from a conjunction of releases back to the same conjunction, then repeating the stretch for ever satisfies it: every until
//! that the stretch brought up was fulfilled within it, or it would be left over. (This is acceptance of the very weak alternating automaton of the formula: Gastin,
//! Oddoux, "Fast LTL to Büchi automata translation", CAV 2001.)

use certus_automata::formula::Bounds;
use certus_automata::nnf::Nnf;
use certus_lang::system::AtomId;

/// What is left of a formula after a position with these truth values.
pub(crate) fn progress(formula: &Nnf<AtomId>, letter: &[Option<bool>]) -> Nnf<AtomId> {
    let of = |inner: &Nnf<AtomId>| progress(inner, letter);
    match formula {
        Nnf::Literal(atom, wanted) => {
            if letter[atom.0] == Some(*wanted) {
                Nnf::truth()
            } else {
                Nnf::falsity()
            }
        }
        Nnf::And(parts) => all(parts.iter().map(of)),
        Nnf::Or(parts) => any(parts.iter().map(of)),
        Nnf::Next(inner) => (**inner).clone(),
        Nnf::Until(bounds, left, right) => {
            let later = || later(bounds).map(|next| Nnf::Until(next, left.clone(), right.clone()));
            match (bounds.lower, later()) {
                (0, None) => of(right),
                (0, Some(next)) => any([of(right), all([of(left), next])]),
                (_, Some(next)) => all([of(left), next]),
                (_, None) => Nnf::falsity(),
            }
        }
        Nnf::Release(bounds, left, right) => {
            let later = || later(bounds).map(|next| Nnf::Release(next, left.clone(), right.clone()));
            match (bounds.lower, later()) {
                (0, None) => of(right),
                (0, Some(next)) => all([of(right), any([of(left), next])]),
                (_, Some(next)) => any([of(left), next]),
                (_, None) => Nnf::truth(),
            }
        }
    }
}

/// The bounds from the next position on; nothing if this one was the last.
fn later(bounds: &Bounds) -> Option<Bounds> {
    let upper = match bounds.upper {
        Some(0) => return None,
        other => other.map(|upper| upper - 1),
    };
    Some(Bounds { lower: bounds.lower.saturating_sub(1), upper })
}

/// A conjunction.
pub(crate) fn all(parts: impl IntoIterator<Item = Nnf<AtomId>>) -> Nnf<AtomId> {
    let mut found: Vec<Nnf<AtomId>> = Vec::new();
    for part in parts {
        match part {
            own if own.is_false() => return own,
            Nnf::And(inner) => inner.into_iter().for_each(|own| add(&mut found, own)),
            own => add(&mut found, own),
        }
    }
    single(found).unwrap_or_else(Nnf::And)
}

fn any(parts: impl IntoIterator<Item = Nnf<AtomId>>) -> Nnf<AtomId> {
    let mut found: Vec<Nnf<AtomId>> = Vec::new();
    for part in parts {
        match part {
            own if own.is_true() => return own,
            Nnf::Or(inner) => inner.into_iter().for_each(|own| add(&mut found, own)),
            own => add(&mut found, own),
        }
    }
    single(found).unwrap_or_else(Nnf::Or)
}

fn add(found: &mut Vec<Nnf<AtomId>>, own: Nnf<AtomId>) {
    if !found.contains(&own) {
        found.push(own);
    }
}

fn single(mut parts: Vec<Nnf<AtomId>>) -> Result<Nnf<AtomId>, Vec<Nnf<AtomId>>> {
    match (parts.len(), parts.pop()) {
        (1, Some(only)) => Ok(only),
        (_, last) => Err({
            parts.extend(last);
            parts
        }),
    }
}

/// What suffices of a formula and might be shown for ever by a stretch that leads back to it: the formula itself, or one of its disjuncts.
pub(crate) fn repeatable(formula: &Nnf<AtomId>) -> Option<&Nnf<AtomId>> {
    match formula {
        Nnf::Or(parts) => parts.iter().find(|part| may_repeat(part)),
        own => may_repeat(own).then_some(own),
    }
}

/// Whether what is left is a conjunction of releases without an end.
fn may_repeat(formula: &Nnf<AtomId>) -> bool {
    match formula {
        Nnf::And(parts) => !parts.is_empty() && parts.iter().all(may_repeat),
        Nnf::Release(bounds, ..) => bounds.lower == 0 && bounds.upper.is_none(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn atom(place: usize) -> Box<Nnf<AtomId>> {
        Box::new(Nnf::Literal(AtomId(place), true))
    }

    fn eventually(bounds: Bounds, inner: Box<Nnf<AtomId>>) -> Nnf<AtomId> {
        Nnf::Until(bounds, Box::new(Nnf::truth()), inner)
    }

    fn always(bounds: Bounds, inner: Box<Nnf<AtomId>>) -> Nnf<AtomId> {
        Nnf::Release(bounds, Box::new(Nnf::falsity()), inner)
    }

    const YES: &[Option<bool>] = &[Some(true)];
    const NO: &[Option<bool>] = &[Some(false)];
    const OPEN: &[Option<bool>] = &[None];

    #[test]
    fn bounds_count_down() {
        let within = |lower, upper| Bounds { lower, upper: Some(upper) };
        let soon = eventually(within(0, 1), atom(0));
        assert!(progress(&soon, YES).is_true());
        assert!(progress(&progress(&soon, NO), YES).is_true());
        assert!(progress(&progress(&soon, OPEN), NO).is_false());
        let window = always(within(1, 2), atom(0));
        assert!(progress(&progress(&progress(&window, NO), YES), YES).is_true());
        assert!(progress(&progress(&window, NO), OPEN).is_false());
    }

    #[test]
    fn an_open_until_does_not_repeat() {
        let again = always(Bounds::default(), Box::new(eventually(Bounds::default(), atom(0))));
        assert!(may_repeat(&again));
        let waiting = progress(&again, NO);
        assert!(!may_repeat(&waiting));
        assert_eq!(progress(&waiting, YES), again);
        assert_eq!(progress(&again, YES), again);
    }

    #[test]
    fn a_disjunct_that_repeats_suffices() {
        let for_ever = always(Bounds::default(), atom(0));
        let settles = eventually(Bounds::default(), Box::new(for_ever.clone()));
        assert!(repeatable(&settles).is_none());
        assert_eq!(repeatable(&progress(&settles, YES)), Some(&for_ever));
        assert!(repeatable(&progress(&settles, NO)).is_none());
    }
}
