//! What holds again and again (`G F`), and what holds from some step on (`F G`).
//!
//! Only the far end of a word counts for them, so much of a formula below them can go: steps (`G F X a = G F a`), what an
//! until waits through (`G F(a U b) = G F b`), and conjunctions of which one side is eventual or universal
//! (`G F(a & F b) = G F a & G F b`, `G F(a & G b) = G F a & F G b`). Each rule stands for its dual as well.

use super::Rules;
use crate::formula::{Formula, Formulas, Node};

/// How deep the rules go into a formula at once; what is deeper waits for the next round.
const DEPTH: usize = 50;

impl Rules<'_> {
    /// `G F x` (if `often`) or `F G x` by simpler formulas; none where no rule fits.
    pub(super) fn long_run(&mut self, x: Formula, often: bool, depth: usize) -> Option<Formula> {
        if depth > DEPTH {
            return None;
        }
        if let Some(known) = self.long_runs.get(&(x, often)) {
            return *known;
        }
        let found = self.look_ahead(x, often, depth);
        self.long_runs.insert((x, often), found);
        found
    }

    fn look_ahead(&mut self, x: Formula, often: bool, depth: usize) -> Option<Formula> {
        match self.store.node(x).clone() {
            Node::Next(next) => return Some(self.in_long_run(next, often, depth)),
            // One of finitely many is met again and again; all of finitely many hold from some step on.
            Node::Or(all) if often => return self.each_in_long_run(&all, often, depth),
            Node::And(all) if !often => return self.each_in_long_run(&all, often, depth),
            Node::And(all) | Node::Or(all) => {
                let classes = (self.implications.eventual(self.store, x), self.implications.universal(self.store, x));
                if classes == (false, false) {
                    let (still, moving): (Vec<_>, Vec<_>) = all.iter().partition(|part| {
                        self.implications.eventual(self.store, **part)
                            || self.implications.universal(self.store, **part)
                    });
                    if still.is_empty() {
                        return None;
                    }
                    let mut parts: Vec<_> =
                        still.into_iter().map(|part| self.in_long_run(part, often, depth)).collect();
                    if !moving.is_empty() {
                        let rest = if often { self.store.and(&moving) } else { self.store.or(&moving) };
                        parts.push(self.in_long_run(rest, often, depth));
                    }
                    return Some(self.set(parts, often));
                }
            }
            _ => {}
        }
        let waits = if often { self.store.as_until(x) } else { self.store.as_release(x) };
        if let Some((_, b)) = waits {
            return Some(self.in_long_run(b, often, depth));
        }
        match (self.implications.eventual(self.store, x), self.implications.universal(self.store, x)) {
            (true, true) => Some(x),
            (true, false) => Some(self.store.r(Formulas::FALSE, x)),
            (false, true) => Some(self.store.u(Formulas::TRUE, x)),
            (false, false) => None,
        }
    }

    /// `G F x` or `F G x`, as simple as the rules make it.
    fn in_long_run(&mut self, x: Formula, often: bool, depth: usize) -> Formula {
        if x == Formulas::TRUE || x == Formulas::FALSE {
            return x;
        }
        self.long_run(x, often, depth + 1).unwrap_or_else(|| self.raw(x, often))
    }

    /// The disjunction of `G F` of all, the conjunction of `F G` of all; none where that makes nothing simpler.
    fn each_in_long_run(&mut self, all: &[Formula], often: bool, depth: usize) -> Option<Formula> {
        let simpler: Vec<_> = all.iter().map(|part| self.long_run(*part, often, depth + 1)).collect();
        if simpler.iter().all(Option::is_none) {
            return None;
        }
        let parts = all.iter().zip(simpler).map(|(part, simpler)| simpler.unwrap_or_else(|| self.raw(*part, often)));
        let parts = parts.collect();
        Some(self.set(parts, !often))
    }

    /// `G F x` or `F G x` as it stands.
    pub(super) fn raw(&mut self, x: Formula, often: bool) -> Formula {
        if often {
            let finally = self.store.u(Formulas::TRUE, x);
            self.store.r(Formulas::FALSE, finally)
        } else {
            let globally = self.store.r(Formulas::FALSE, x);
            self.store.u(Formulas::TRUE, globally)
        }
    }

    /// `G` of each part of a conjunction, where eventual parts become simpler by that; `F` of each part of a disjunction with
    /// universal ones.
    pub(super) fn each_settled(&mut self, all: &[Formula], and: bool) -> Option<Vec<Formula>> {
        let (mut parts, mut rest, mut simpler) = (Vec::new(), Vec::new(), false);
        for &part in all {
            let class = if and {
                self.implications.eventual(self.store, part)
            } else {
                self.implications.universal(self.store, part)
            };
            if !class {
                rest.push(part);
                continue;
            }
            let (settled, as_it_was) = if and {
                (self.release(Formulas::FALSE, part), self.store.r(Formulas::FALSE, part))
            } else {
                (self.until(Formulas::TRUE, part), self.store.u(Formulas::TRUE, part))
            };
            simpler |= settled != as_it_was;
            parts.push(settled);
        }
        if !simpler {
            return None;
        }
        if !rest.is_empty() {
            parts.push(if and {
                let rest = self.store.and(&rest);
                self.release(Formulas::FALSE, rest)
            } else {
                let rest = self.store.or(&rest);
                self.until(Formulas::TRUE, rest)
            });
        }
        Some(parts)
    }
}
