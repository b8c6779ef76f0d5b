//! Equivalent formulas that make smaller automata.
//!
//! Rules of Somenzi and Bloem ("Efficient Büchi Automata from LTL Formulae", CAV 2000), of Etessami and Holzmann ("Optimizing Büchi
//! Automata", CONCUR 2000), and those that Spot's manual lists as
//! basic, eventual/universal and implication-based; what only the long run decides is in `long_run.rs`, statements about
//! the first time of an event in `first_time.rs`. All of them work on the normal form and never on its negation. Formulas
//! are rebuilt from the leaves with constructors that apply the rules, until nothing changes; almost every rule makes the
//! formula smaller, moves `X` outwards, or takes something out of an operator, so few rounds suffice, and a fixed number of
//! them is a guard, not a limit that is met.

use crate::formula::{Bounds, Formula, Formulas, Node};
use crate::implication::Implications;
use std::collections::HashMap;

mod first_time;
mod gather;
mod long_run;

const ROUNDS: usize = 12;

/// A simpler formula that is equivalent to a formula in normal form.
pub fn simplify(store: &mut Formulas, formula: Formula) -> Formula {
    let mut rules = Rules { store, implications: Implications::default(), long_runs: HashMap::new() };
    let mut now = formula;
    for _ in 0..ROUNDS {
        let next = rules.round(now);
        if next == now {
            break;
        }
        now = next;
    }
    now
}

struct Rules<'a> {
    store: &'a mut Formulas,
    implications: Implications,
    /// What `G F` (true) and `F G` of formulas became.
    long_runs: HashMap<(Formula, bool), Option<Formula>>,
}

impl Rules<'_> {
    fn round(&mut self, formula: Formula) -> Formula {
        let mut made: HashMap<Formula, Formula> = HashMap::new();
        for part in self.store.below(formula) {
            let new = match self.store.node(part).clone() {
                Node::And(all) => self.set(all.iter().map(|a| made[a]).collect(), true),
                Node::Or(all) => self.set(all.iter().map(|a| made[a]).collect(), false),
                Node::Next(a) => self.next(made[&a]),
                Node::Finally(Bounds::ALL, b) => self.until(Formulas::TRUE, made[&b]),
                Node::Until(Bounds::ALL, a, b) => self.until(made[&a], made[&b]),
                Node::Globally(Bounds::ALL, b) => self.release(Formulas::FALSE, made[&b]),
                Node::Release(Bounds::ALL, a, b) => self.release(made[&a], made[&b]),
                _ => part,
            };
            made.insert(part, new);
        }
        made[&formula]
    }

    fn implies(&mut self, a: Formula, b: Formula) -> bool {
        self.implications.implies(self.store, a, b)
    }

    /// Whether a formula's truth does not depend on when one asks.
    fn timeless(&mut self, a: Formula) -> bool {
        self.implications.eventual(self.store, a) && self.implications.universal(self.store, a)
    }

    fn next(&mut self, a: Formula) -> Formula {
        if self.timeless(a) { a } else { self.store.next(a) }
    }

    fn later(&mut self, a: Formula, steps: usize) -> Formula {
        (0..steps).fold(a, |inner, _| self.next(inner))
    }

    /// The two sides of an operator without the steps that both wait, and how many these are. A constant waits with the other.
    fn common_steps(&self, a: Formula, b: Formula, constant: Formula) -> Option<(Formula, Formula, usize)> {
        let (mut left, mut right, mut steps) = (a, b, 0);
        while let Node::Next(after) = self.store.node(right) {
            match self.store.node(left) {
                Node::Next(before) => left = *before,
                _ if left == constant => {}
                _ => break,
            }
            (right, steps) = (*after, steps + 1);
        }
        (steps > 0).then_some((left, right, steps))
    }

    fn until(&mut self, a: Formula, b: Formula) -> Formula {
        if a == Formulas::FALSE || self.implies(a, b) || self.implications.eventual(self.store, b) {
            return b;
        }
        if let Some((a, b, steps)) = self.common_steps(a, b, Formulas::TRUE) {
            let inner = self.until(a, b);
            return self.later(inner, steps);
        }
        // a U (c U d) with a ⊢ c, and F(c U d).
        if let Some((c, d)) = self.store.as_until(b) {
            if a == Formulas::TRUE {
                return self.until(a, d);
            }
            if self.implies(a, c) {
                return b;
            }
        }
        // (c U b) U b.
        if let Some((_, d)) = self.store.as_until(a)
            && d == b
        {
            return a;
        }
        if a != Formulas::TRUE {
            let not_b = self.implications.negation(self.store, b);
            if self.implies(not_b, a) {
                return self.until(Formulas::TRUE, b);
            }
            // What b entails of a conjunction is not needed before b: none. What !b entails is: (x & !b) U b = x U b.
            if let Node::And(all) = self.store.node(a).clone() {
                let kept: Vec<_> = all.iter().copied().filter(|part| !self.implies(not_b, *part)).collect();
                if kept.len() < all.len() {
                    let a = self.store.and(&kept);
                    return self.until(a, b);
                }
            }
            return self.store.u(a, b);
        }
        // F(x & timeless), F(x & universal eventual): what does not change comes out.
        if let Node::And(all) = self.store.node(b).clone() {
            let (out, rest): (Vec<_>, Vec<_>) = all.iter().copied().partition(|part| self.timeless(*part));
            if !out.is_empty() {
                let rest = self.store.and(&rest);
                let inner = self.until(a, rest);
                return self.set([out, vec![inner]].concat(), true);
            }
        }
        if let Some((Formulas::FALSE, d)) = self.store.as_release(b)
            && let Some(simpler) = self.long_run(d, false, 0)
        {
            return simpler;
        }
        if let Node::Or(all) = self.store.node(b).clone()
            && let Some(parts) = self.each_settled(&all, false)
        {
            return self.set(parts, false);
        }
        self.store.u(a, b)
    }

    fn release(&mut self, a: Formula, b: Formula) -> Formula {
        if a == Formulas::TRUE || self.implies(b, a) || self.implications.universal(self.store, b) {
            return b;
        }
        if let Some((a, b, steps)) = self.common_steps(a, b, Formulas::FALSE) {
            let inner = self.release(a, b);
            return self.later(inner, steps);
        }
        if let Some((c, d)) = self.store.as_release(b) {
            if a == Formulas::FALSE {
                return self.release(a, d);
            }
            if self.implies(c, a) {
                return b;
            }
        }
        if let Some((_, d)) = self.store.as_release(a)
            && d == b
        {
            return a;
        }
        if a != Formulas::FALSE {
            let not_b = self.implications.negation(self.store, b);
            if self.implies(a, not_b) {
                return self.release(Formulas::FALSE, b);
            }
            if let Node::Or(all) = self.store.node(a).clone() {
                let kept: Vec<_> = all.iter().copied().filter(|part| !self.implies(*part, not_b)).collect();
                if kept.len() < all.len() {
                    let a = self.store.or(&kept);
                    return self.release(a, b);
                }
            }
            return self.store.r(a, b);
        }
        if let Node::Or(all) = self.store.node(b).clone() {
            let (out, rest): (Vec<_>, Vec<_>) = all.iter().copied().partition(|part| self.timeless(*part));
            if !out.is_empty() {
                let rest = self.store.or(&rest);
                let inner = self.release(a, rest);
                return self.set([out, vec![inner]].concat(), false);
            }
        }
        // G(x & timeless) = G x & timeless. Its dual would split F(x | timeless), which is the smaller automaton.
        if let Node::And(all) = self.store.node(b).clone() {
            let (out, rest): (Vec<_>, Vec<_>) = all.iter().copied().partition(|part| self.timeless(*part));
            if !out.is_empty() && !rest.is_empty() {
                let rest = self.store.and(&rest);
                let inner = self.release(a, rest);
                return self.set([out, vec![inner]].concat(), true);
            }
        }
        // G(c U d) with d ⊢ c says G c & G F d.
        if let Some((c, d)) = self.store.as_until(b)
            && c != Formulas::TRUE
            && self.implies(d, c)
        {
            let reached = self.until(Formulas::TRUE, d);
            let both = self.set(vec![c, reached], true);
            return self.release(a, both);
        }
        if let Some((Formulas::TRUE, d)) = self.store.as_until(b)
            && let Some(simpler) = self.long_run(d, true, 0)
        {
            return simpler;
        }
        if let Node::And(all) = self.store.node(b).clone() {
            if let Some(parts) = self.each_settled(&all, true) {
                return self.set(parts, true);
            }
            if let Some(parts) = self.without_known(&all) {
                return self.release(a, parts);
            }
        }
        self.store.r(a, b)
    }

    /// `G(x & F(y & z))` with x ⊢ z is `G(x & F y)`.
    fn without_known(&mut self, all: &[Formula]) -> Option<Formula> {
        let mut parts = all.to_vec();
        for i in 0..all.len() {
            let Some((Formulas::TRUE, inner)) = self.store.as_until(all[i]) else { continue };
            let Node::And(inner) = self.store.node(inner).clone() else { continue };
            let known = |rules: &mut Self, part| (0..all.len()).any(|j| j != i && rules.implies(all[j], part));
            let kept: Vec<_> = inner.iter().copied().filter(|part| !known(self, *part)).collect();
            if kept.len() < inner.len() {
                let kept = self.store.and(&kept);
                parts[i] = self.until(Formulas::TRUE, kept);
            }
        }
        (parts != all).then(|| self.store.and(&parts))
    }

    /// Conjunction or disjunction: parts that others make superfluous go, parts of one kind are gathered.
    fn set(&mut self, parts: Vec<Formula>, and: bool) -> Formula {
        let whole = if and { self.store.and(&parts) } else { self.store.or(&parts) };
        let all = match (self.store.node(whole), and) {
            (Node::And(all), true) | (Node::Or(all), false) => all.to_vec(),
            _ => return whole,
        };
        let mut kept: Vec<Formula> = Vec::with_capacity(all.len());
        for part in all {
            // In a conjunction the stronger part stays, in a disjunction the weaker one.
            if kept.iter().any(|other| if and { self.implies(*other, part) } else { self.implies(part, *other) }) {
                continue;
            }
            let not_part = self.implications.negation(self.store, part);
            if kept
                .iter()
                .any(|other| if and { self.implies(*other, not_part) } else { self.implies(not_part, *other) })
            {
                return self.store.constant(!and);
            }
            kept.retain(|other| if and { !self.implies(part, *other) } else { !self.implies(*other, part) });
            kept.push(part);
        }
        self.join_first_times(&mut kept, and);
        let gathered = self.gather(kept, and);
        if and { self.store.and(&gathered) } else { self.store.or(&gathered) }
    }
}
