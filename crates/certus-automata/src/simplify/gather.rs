//! Parts of a conjunction or disjunction that become one operator.

use super::Rules;
use crate::formula::{Formula, Formulas, Node};

#[derive(PartialEq)]
enum Kind {
    Next,
    /// `F G` in conjunctions, `G F` in disjunctions.
    Twice,
    /// An operator with this side fixed, until or release.
    Side(bool, Formula),
}

type Groups = Vec<(Kind, Vec<Formula>)>;

impl Rules<'_> {
    /// `X a & X b = X(a & b)`, `G a & G b = G(a & b)`, `F G a & F G b = F G(a & b)`, `a U c & b U c = (a & b) U c`,
    /// `a R b & a R c = a R (b & c)`, and the duals.
    pub(super) fn gather(&mut self, parts: Vec<Formula>, and: bool) -> Vec<Formula> {
        let mut groups = Groups::new();
        let mut rest = Vec::new();
        for part in parts {
            let inner = |store: &Formulas, f| if and { store.as_release(f) } else { store.as_until(f) };
            let outer = |store: &Formulas, f| if and { store.as_until(f) } else { store.as_release(f) };
            let unit = self.store.constant(!and);
            let kind = if let Node::Next(a) = self.store.node(part) {
                Some((Kind::Next, *a))
            } else if let Some((a, b)) = inner(self.store, part) {
                Some((Kind::Side(true, a), b))
            } else if let Some((a, b)) = outer(self.store, part) {
                match inner(self.store, b) {
                    Some((c, d)) if a != unit && c == unit && self.store.constant(and) == a => Some((Kind::Twice, d)),
                    _ if self.store.constant(and) != a => Some((Kind::Side(false, b), a)),
                    _ => None,
                }
            } else {
                None
            };
            match kind {
                None => rest.push(part),
                Some((kind, member)) => match groups.iter_mut().find(|(known, _)| *known == kind) {
                    Some((_, members)) => members.push(member),
                    None => groups.push((kind, vec![member])),
                },
            }
        }
        if !and {
            rest = self.wait_together(&mut groups, rest);
        }
        for (kind, mut members) in groups {
            let steps = if kind == Kind::Next { 1 + self.take_steps(&mut members) } else { 0 };
            let inner = if members.len() == 1 { members[0] } else { self.set(members, and) };
            let (store, and_unit) = (&mut *self.store, if and { Formulas::FALSE } else { Formulas::TRUE });
            rest.push(match kind {
                Kind::Next => self.later(inner, steps),
                Kind::Twice if and => {
                    let globally = store.r(and_unit, inner);
                    store.u(Formulas::TRUE, globally)
                }
                Kind::Twice => {
                    let finally = store.u(and_unit, inner);
                    store.r(Formulas::FALSE, finally)
                }
                Kind::Side(true, a) if and => store.r(a, inner),
                Kind::Side(true, a) => store.u(a, inner),
                Kind::Side(false, b) if and => store.u(inner, b),
                Kind::Side(false, b) => store.r(inner, b),
            });
        }
        rest
    }

    /// In a disjunction: a state that waits for one part waits for timeless ones too. Returns the rest without them.
    fn wait_together(&mut self, groups: &mut Groups, rest: Vec<Formula>) -> Vec<Formula> {
        let Some(waiting) = groups.iter().position(|(kind, _)| *kind == Kind::Side(true, Formulas::TRUE)) else {
            return rest;
        };
        let (timeless, rest): (Vec<_>, Vec<_>) = rest.into_iter().partition(|part| self.timeless(*part));
        let settles = |part: &Formula| matches!(self.store.as_release(*part), Some((Formulas::FALSE, _)));
        match groups.iter().position(|(kind, _)| *kind == Kind::Twice) {
            // G F a | F G b = G F(a | G b).
            Some(twice) if timeless.is_empty() && groups[waiting].1.iter().all(settles) => {
                let settled = std::mem::take(&mut groups[waiting].1);
                groups[twice].1.extend(settled);
                groups.remove(waiting);
            }
            // F a | timeless = F(a | timeless).
            twice => {
                groups[waiting].1.extend(timeless);
                if let Some(twice) = twice {
                    let often: Vec<_> = groups[twice].1.iter().map(|part| self.raw(*part, true)).collect();
                    groups[waiting].1.extend(often);
                    groups.remove(twice);
                }
            }
        }
        rest
    }

    /// Takes off the steps that all of the formulas wait, and says how many.
    fn take_steps(&self, formulas: &mut [Formula]) -> usize {
        let after = |f: &Formula| if let Node::Next(after) = self.store.node(*f) { Some(*after) } else { None };
        let mut steps = 0;
        while let Some(next) = formulas.iter().map(after).collect::<Option<Vec<_>>>() {
            formulas.copy_from_slice(&next);
            steps += 1;
        }
        steps
    }
}
