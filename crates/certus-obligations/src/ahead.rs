//! What a formula says of the next steps alone.
//!
//! A formula without negations is weakened by taking parts of it for true. Here these are the parts that speak of later positions than
//! are asked about, so what is left is a condition that every run on which the formula holds meets.

use certus_lang::system::Bounds;

use crate::temporal::{Nnf, all, any};

impl Nnf {
    /// What is left of it that speaks of no more than so many steps beyond its position.
    pub(crate) fn within(&self, steps: u64) -> Nnf {
        match self {
            own if own.horizon().is_some_and(|last| last <= steps) => own.clone(),
            Nnf::Constant(_) | Nnf::Literal(..) => self.clone(),
            Nnf::All(parts) => all(parts.iter().map(|part| part.within(steps))),
            Nnf::Any(parts) => any(parts.iter().map(|part| part.within(steps))),
            Nnf::Next(own) => soon(own, steps),
            // `a U b` is `b | a & X (a U b)`, with bounds that are one less each time.
            Nnf::Until(bounds, left, right) => {
                let go_on = match less(bounds) {
                    Some(bounds) => {
                        all([left.within(steps), soon(&Nnf::Until(bounds, left.clone(), right.clone()), steps)])
                    }
                    None => Nnf::Constant(false),
                };
                if bounds.lower == 0 { any([right.within(steps), go_on]) } else { go_on }
            }
            // `a R b` is `b & (a | X (a R b))`.
            Nnf::Release(bounds, left, right) => {
                let go_on = match less(bounds) {
                    Some(bounds) => {
                        any([left.within(steps), soon(&Nnf::Release(bounds, left.clone(), right.clone()), steps)])
                    }
                    None => Nnf::Constant(true),
                };
                if bounds.lower == 0 { all([right.within(steps), go_on]) } else { go_on }
            }
        }
    }

    /// A condition that holds so many steps after each position at which it does.
    pub(crate) fn at(&self, steps: u64) -> Nnf {
        match self {
            Nnf::Constant(_) | Nnf::Literal(..) if steps > 0 => Nnf::Constant(true),
            Nnf::All(parts) => all(parts.iter().map(|part| part.at(steps))),
            Nnf::Any(parts) => any(parts.iter().map(|part| part.at(steps))),
            Nnf::Next(_) if steps == 0 => Nnf::Constant(true),
            Nnf::Next(own) => own.at(steps - 1),
            // Without a release the second holds at each step within the bounds, and says something of those that follow.
            Nnf::Release(bounds, left, right) if **left == Nnf::Constant(false) => {
                let last = bounds.upper.unwrap_or(steps).min(steps);
                all((bounds.lower..=last).map(|begun| right.at(steps - begun)))
            }
            own if steps == 0 => own.here(),
            _ => Nnf::Constant(true),
        }
    }

    /// How far it looks beyond what it waits for.
    pub(crate) fn lookahead(&self) -> u64 {
        match self {
            Nnf::Constant(_) | Nnf::Literal(..) => 0,
            Nnf::All(parts) | Nnf::Any(parts) => parts.iter().map(Nnf::lookahead).max().unwrap_or(0),
            Nnf::Next(own) => own.lookahead().saturating_add(1),
            Nnf::Until(bounds, left, right) | Nnf::Release(bounds, left, right) => {
                let own = bounds.upper.unwrap_or(bounds.lower);
                left.lookahead().max(right.lookahead()).saturating_add(own)
            }
        }
    }

    /// A number of steps before which no prefix shows it; none if no prefix does.
    pub(crate) fn shows_after(&self) -> Option<u64> {
        match self {
            Nnf::Constant(value) => value.then_some(0),
            Nnf::Literal(..) => Some(0),
            Nnf::All(parts) => {
                let each: Option<Vec<u64>> = parts.iter().map(Nnf::shows_after).collect();
                Some(each?.into_iter().max().unwrap_or(0))
            }
            Nnf::Any(parts) => parts.iter().filter_map(Nnf::shows_after).min(),
            Nnf::Next(own) => own.shows_after().map(|steps| steps.saturating_add(1)),
            Nnf::Until(bounds, _, right) => right.shows_after().map(|steps| steps.saturating_add(bounds.lower)),
            Nnf::Release(bounds, left, right) => {
                if bounds.upper.is_some_and(|upper| upper < bounds.lower) {
                    return Some(0);
                }
                let (left, right) = (left.shows_after(), right.shows_after());
                let ended = bounds.upper.zip(right).map(|(upper, steps)| steps.saturating_add(upper));
                let released = if bounds.lower > 0 { left } else { left.zip(right).map(|(a, b)| a.max(b)) };
                match (ended, released) {
                    (Some(ended), Some(released)) => Some(ended.min(released)),
                    (ended, released) => ended.or(released),
                }
            }
        }
    }
}

/// What is left of a formula that holds at the next position.
fn soon(own: &Nnf, steps: u64) -> Nnf {
    match steps.checked_sub(1).map(|left| own.within(left)) {
        None | Some(Nnf::Constant(true)) => Nnf::Constant(true),
        Some(own) => Nnf::Next(Box::new(own)),
    }
}

/// Bounds as they are a step later; none if there is no later step within them.
fn less(bounds: &Bounds) -> Option<Bounds> {
    let upper = match bounds.upper {
        Some(upper) => Some(upper.checked_sub(1)?),
        None => None,
    };
    Some(Bounds { lower: bounds.lower.saturating_sub(1), upper })
}
