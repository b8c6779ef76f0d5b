//! Two ways to speak of the same event, joined.
//!
//! 'It never happens, or once it happens and then e' is a statement about its first time, if e is eventual: e after a later
//! time is e after the first. With `a` as what must hold until then:
//!
//! ```text
//!     (!a R !t) | (a U (t & e))  =  (t | !a) R (!t | e)          e eventual
//!     (a U t) & (!a R (!t | u))  =  (a & !t) U (t & u)           u universal
//! ```
//!
//! The right sides need no guess whether, or when, it happens.

use super::Rules;
use crate::formula::{Formula, Node};

impl Rules<'_> {
    /// Joins such pairs among the parts of a disjunction, or of a conjunction.
    pub(super) fn join_first_times(&mut self, parts: &mut Vec<Formula>, and: bool) {
        let mut i = 0;
        while i < parts.len() {
            let joined = (0..parts.len()).find_map(|j| Some((j, self.first_time(parts[i], parts[j], and)?)));
            match joined {
                Some((j, joined)) => {
                    parts[i] = joined;
                    parts.remove(j);
                    i = 0;
                }
                None => i += 1,
            }
        }
    }

    /// The right side, where the formulas are those of a left side: the one that says never, or when, and the other one.
    fn first_time(&mut self, plain: Formula, other: Formula, and: bool) -> Option<Formula> {
        let (left, right) = if and {
            (self.store.as_until(plain)?, self.store.as_release(other)?)
        } else {
            (self.store.as_release(plain)?, self.store.as_until(other)?)
        };
        let parts = match (self.store.node(right.1), and) {
            (Node::Or(all), true) | (Node::And(all), false) => all.clone(),
            _ => return None,
        };
        // What must hold until then matters only before the first time.
        let kept = self.implications.negation(self.store, left.0);
        let (kept, same) = if and {
            (self.store.or(&[kept, left.1]), self.store.or(&[right.0, left.1]))
        } else {
            (self.store.and(&[kept, left.1]), self.store.and(&[right.0, left.1]))
        };
        if kept != same {
            return None;
        }
        // The event as it stands among the parts, and what is left of them.
        let event = self.implications.negation(self.store, left.1);
        let event_parts = match (self.store.node(event), and) {
            (Node::Or(all), true) | (Node::And(all), false) => all.clone(),
            _ => Box::new([event]) as Box<[Formula]>,
        };
        if !event_parts.iter().all(|part| parts.contains(part)) {
            return None;
        }
        let rest: Vec<Formula> = parts.iter().copied().filter(|part| !event_parts.contains(part)).collect();
        let fits = |rules: &mut Self, part| match and {
            true => rules.implications.universal(rules.store, part),
            false => rules.implications.eventual(rules.store, part),
        };
        if !rest.iter().all(|part| fits(self, *part)) {
            return None;
        }
        Some(if and {
            let (rest, before) = (self.store.or(&rest), self.store.and(&[left.0, event]));
            let then = self.store.and(&[left.1, rest]);
            self.store.u(before, then)
        } else {
            let (rest, before) = (self.store.and(&rest), self.store.or(&[left.0, event]));
            let then = self.store.or(&[left.1, rest]);
            self.store.r(before, then)
        })
    }
}
