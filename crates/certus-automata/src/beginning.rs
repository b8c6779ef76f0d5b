//! What the first steps of a word on which a formula holds must show.
//!
//! Each answer is a necessary condition, read off the expansion laws of the operators (Baier, Katoen: Principles of Model Checking, 2008, section
//! 5.1.4): `φ U ψ = ψ | φ & X (φ U ψ)` and dually for release. What lies beyond the steps in question is taken for true, and since formulas in negation
//! normal form only grow with their parts, what is left is weaker than the formula. So a word whose first steps do not show it does not satisfy
//! the formula, whatever follows: `G !q` says at least `!q & X !q`.

use crate::formula::Bounds;
use crate::nnf::{Nnf, all, any};

impl<A: Copy> Nnf<A> {
    /// What holds wherever the formula does and speaks of no more than so many steps beyond: the formula itself if it looks no further.
    pub fn within(&self, steps: u64) -> Nnf<A> {
        if self.horizon().is_some_and(|horizon| horizon <= steps) {
            return self.clone();
        }
        match self {
            Nnf::Literal(..) => self.clone(),
            Nnf::And(parts) => all(parts.iter().map(|part| part.within(steps))),
            Nnf::Or(parts) => any(parts.iter().map(|part| part.within(steps))),
            Nnf::Next(inner) => match steps.checked_sub(1) {
                Some(left) => next(inner.within(left)),
                None => Nnf::truth(),
            },
            Nnf::Until(bounds, left, right) => {
                let ended = bounds.upper.is_some_and(|upper| upper <= steps);
                let mut result = if ended { Nnf::falsity() } else { Nnf::truth() };
                for step in (0..=bounds.upper.unwrap_or(steps).min(steps)).rev() {
                    // After the last step there is nothing to go on to.
                    let go_on = match result.is_false() {
                        true => Nnf::falsity(),
                        false => all([left.within(steps - step), result]),
                    };
                    let own = if step >= bounds.lower { any([right.within(steps - step), go_on]) } else { go_on };
                    result = if step == 0 { own } else { next(own) };
                }
                result
            }
            Nnf::Release(bounds, left, right) => {
                let mut result = Nnf::truth();
                for step in (0..=bounds.upper.unwrap_or(steps).min(steps)).rev() {
                    let go_on = any([left.within(steps - step), result]);
                    let own = if step >= bounds.lower { all([right.within(steps - step), go_on]) } else { go_on };
                    result = if step == 0 { own } else { next(own) };
                }
                result
            }
        }
    }

    /// A condition of single positions that holds so many steps after every position at which the formula does; `true` if none is known.
    pub fn at(&self, steps: u64) -> Nnf<A> {
        match self {
            Nnf::And(parts) => all(parts.iter().map(|part| part.at(steps))),
            Nnf::Or(parts) => any(parts.iter().map(|part| part.at(steps))),
            Nnf::Next(inner) => steps.checked_sub(1).map_or_else(Nnf::truth, |left| inner.at(left)),
            Nnf::Release(bounds, left, right) if left.is_false() => {
                let last = bounds.upper.map_or(steps, |upper| upper.min(steps));
                all((bounds.lower..=last).map(|step| right.at(steps - step)))
            }
            _ if steps == 0 => self.here(),
            _ => Nnf::truth(),
        }
    }
}

impl<A> Nnf<A> {
    /// How many steps beyond its position a finite word must reach to show that the formula holds, at least; none if no finite word shows it.
    pub fn earliest(&self) -> Option<u64> {
        match self {
            Nnf::Literal(..) => Some(0),
            Nnf::And(parts) => parts.iter().try_fold(0, |most: u64, part| Some(most.max(part.earliest()?))),
            Nnf::Or(parts) => parts.iter().filter_map(Nnf::earliest).min(),
            Nnf::Next(inner) => Some(inner.earliest()?.saturating_add(1)),
            Nnf::Until(bounds, _, right) => Some(right.earliest()?.saturating_add(bounds.lower)),
            Nnf::Release(bounds, left, right) => {
                let kept = bounds.upper.and_then(|upper| Some(right.earliest()?.saturating_add(upper)));
                // Before the lower bound a release needs the first alone.
                let released = match bounds.lower {
                    0 => left.earliest().and_then(|left| Some(left.max(right.earliest()?))),
                    _ => left.earliest(),
                };
                let is_void = *bounds != Bounds::ALL && bounds.upper.is_some_and(|upper| upper < bounds.lower);
                if is_void { Some(0) } else { kept.into_iter().chain(released).min() }
            }
        }
    }
}

/// At the next position; what is always true needs none.
fn next<A>(inner: Nnf<A>) -> Nnf<A> {
    if inner.is_true() { inner } else { Nnf::Next(Box::new(inner)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn literal(atom: u32, wanted: bool) -> Nnf {
        Nnf::Literal(atom, wanted)
    }

    fn always(upper: Option<u64>, inner: Nnf) -> Nnf {
        Nnf::Release(Bounds { lower: 0, upper }, Box::new(Nnf::falsity()), Box::new(inner))
    }

    /// The violation of a response: p, and q not within so many steps.
    fn unanswered(upper: Option<u64>) -> Nnf {
        Nnf::And(vec![literal(0, true), always(upper, literal(1, false))])
    }

    #[test]
    fn a_response_that_is_due_shows_step_by_step() {
        let (p, not_q) = (literal(0, true), literal(1, false));
        for upper in [Some(5), None] {
            let own = unanswered(upper);
            assert_eq!(own.at(0), Nnf::And(vec![p.clone(), Nnf::And(vec![not_q.clone()])]));
            assert_eq!(own.at(3), Nnf::And(vec![Nnf::And(vec![not_q.clone()])]));
            assert_eq!(own.within(2).horizon(), Some(2));
            assert_eq!(own.earliest(), upper);
        }
        assert_eq!(unanswered(Some(5)).within(5), unanswered(Some(5)));
        assert!(unanswered(Some(5)).at(6).is_true());
    }

    #[test]
    fn what_may_come_later_asks_nothing_now() {
        let finally = Nnf::Until(Bounds::ALL, Box::new(Nnf::truth()), Box::new(literal(0, true)));
        assert!(finally.within(7).is_true() && finally.at(3).is_true());
        assert_eq!(finally.earliest(), Some(0));
        assert_eq!(always(None, finally).earliest(), None);
    }
}
