//! How far a condition is from changing its truth value, as a real.
//!
//! The margin of `a <= b` and of `a < b` is b - a; of a conjunction the minimum, of a disjunction the
//! maximum, of a negation the negative. So a positive margin means true and a negative one false; at
//! zero the truth value, which is lowered separately, decides. A condition on labels, or that a number
//! is one of some integers, has no distance: its margin is 1 or -1.

use std::rc::Rc;

use certus_graph::NodeId;
use certus_graph::ops::{Quantity, ReduceKind};

use crate::check::term::{Sort, Term, TermKind};
use crate::syntax::ast::CompareOp;

use super::builder::Binary;
use super::environment::Environment;
use super::{Lowered, Lowering};

impl Lowering<'_> {
    pub(super) fn margin(&mut self, t: &Term, env: &mut Environment) -> Lowered<NodeId> {
        if let Some(node) = env.margins.get(&Rc::as_ptr(t)) {
            return Ok(*node);
        }
        let node = self.new_margin(t, env)?;
        let node = self.stretched(node, t.len)?;
        env.margins.insert(Rc::as_ptr(t), node);
        Ok(node)
    }

    fn margins(&mut self, list: &[Term], env: &mut Environment) -> Lowered<Vec<NodeId>> {
        list.iter().map(|t| self.margin(t, env)).collect()
    }

    fn new_margin(&mut self, t: &Term, env: &mut Environment) -> Lowered<NodeId> {
        match &t.kind {
            TermKind::Compare(_, a, _) if matches!(a.sort, Sort::Label(_)) => self.sign_of_truth(t, env),
            TermKind::Compare(op, a, b) => {
                let (a, b) = (self.term(a, env)?, self.term(b, env)?);
                match op {
                    CompareOp::Less | CompareOp::LessEqual => self.builder.binary(Binary::Sub, b, a),
                    CompareOp::Greater | CompareOp::GreaterEqual => self.builder.binary(Binary::Sub, a, b),
                    CompareOp::Equal | CompareOp::NotEqual => {
                        let difference = self.builder.binary(Binary::Sub, a, b)?;
                        let distance = self.builder.abs(difference)?;
                        if *op == CompareOp::Equal { self.builder.negate(distance) } else { Ok(distance) }
                    }
                }
            }
            TermKind::And(parts) => {
                let parts = self.margins(parts, env)?;
                self.builder.join(Binary::Min, &parts)
            }
            TermKind::Or(parts) => {
                let parts = self.margins(parts, env)?;
                self.builder.join(Binary::Max, &parts)
            }
            TermKind::Not(a) => {
                let a = self.margin(a, env)?;
                self.builder.negate(a)
            }
            TermKind::All(a) => {
                let a = self.margin(a, env)?;
                self.builder.reduce(ReduceKind::Min, a)
            }
            TermKind::Any(a) => {
                let a = self.margin(a, env)?;
                self.builder.reduce(ReduceKind::Max, a)
            }
            TermKind::Iff(a, b) => {
                let (a, b) = (self.margin(a, env)?, self.margin(b, env)?);
                let both = self.builder.binary(Binary::Min, a, b)?;
                let (not_a, not_b) = (self.builder.negate(a)?, self.builder.negate(b)?);
                let neither = self.builder.binary(Binary::Min, not_a, not_b)?;
                self.builder.binary(Binary::Max, both, neither)
            }
            TermKind::If(c, a, b) => {
                let c = self.margin(c, env)?;
                let (a, b) = (self.margin(a, env)?, self.margin(b, env)?);
                let then = self.builder.binary(Binary::Min, c, a)?;
                let not_c = self.builder.negate(c)?;
                let otherwise = self.builder.binary(Binary::Min, not_c, b)?;
                self.builder.binary(Binary::Max, then, otherwise)
            }
            TermKind::Match(choice, arms) => {
                let one_hot = self.one_hot(*choice, env)?;
                let arms = self.margins(arms, env)?;
                self.selected(one_hot, &arms)
            }
            TermKind::Concat(parts) => {
                let parts = self.margins(parts, env)?;
                self.builder.concat(&parts)
            }
            TermKind::Pick(base, positions) => {
                let base = self.margin(base, env)?;
                self.picked(base, positions, t.len)
            }
            TermKind::Throughout(condition, part) => self.throughout(condition, *part, Quantity::Margin, env),
            TermKind::Define(i) => match env.define_margins[*i] {
                Some(margin) => Ok(margin),
                None => self.sign_of_truth(t, env),
            },
            _ => self.sign_of_truth(t, env),
        }
    }

    /// For constants and labels: -1 where false, 1 where true.
    fn sign_of_truth(&mut self, t: &Term, env: &mut Environment) -> Lowered<NodeId> {
        let truth = self.term(t, env)?;
        self.sign_of(truth)
    }

    /// -1 where a truth value is false, 1 where it is true.
    pub(super) fn sign_of(&mut self, truth: certus_graph::NodeId) -> Lowered<certus_graph::NodeId> {
        let (one, two) = (self.builder.constant(&[1.0]), self.builder.constant(&[2.0]));
        let doubled = self.builder.binary(Binary::Mul, two, truth)?;
        self.builder.binary(Binary::Sub, doubled, one)
    }
}
