//! Terms to nodes; a truth value is 0 or 1.

use std::rc::Rc;

use certus_graph::NodeId;
use certus_graph::ops::{Quantity, ReduceKind};

use crate::check::term::{Function, Positions, Term, TermKind};
use crate::syntax::ast::CompareOp;
use crate::system::{ChoiceId, Integers};

use super::builder::Binary;
use super::environment::Environment;
use super::{Lowered, Lowering};

/// So many integers are told apart one by one.
const FEW_INTEGERS: u64 = 8;

impl Lowering<'_> {
    pub(super) fn term(&mut self, t: &Term, env: &mut Environment) -> Lowered<NodeId> {
        if let Some(node) = env.values.get(&Rc::as_ptr(t)) {
            return Ok(*node);
        }
        let node = self.new_term(t, env)?;
        let node = self.stretched(node, t.len)?;
        env.values.insert(Rc::as_ptr(t), node);
        Ok(node)
    }

    /// A node repeated to the length of its term, where operands alone did not give it that length.
    pub(super) fn stretched(&mut self, node: NodeId, len: usize) -> Lowered<NodeId> {
        if self.builder.len(node) == len { Ok(node) } else { self.builder.gather(node, &vec![0; len]) }
    }

    fn terms(&mut self, list: &[Term], env: &mut Environment) -> Lowered<Vec<NodeId>> {
        list.iter().map(|t| self.term(t, env)).collect()
    }

    fn new_term(&mut self, t: &Term, env: &mut Environment) -> Lowered<NodeId> {
        let named = |node: Option<NodeId>| {
            node.ok_or_else(|| certus_graph::GraphError::Inputs("a name is used before it is known".into()))
        };
        match &t.kind {
            TermKind::Number(values, _) => Ok(self.builder.constant(values)),
            TermKind::Truth(values, _) => {
                let values: Vec<f64> = values.iter().map(|v| f64::from(u8::from(*v))).collect();
                Ok(self.builder.constant(&values))
            }
            TermKind::State(i) => Ok(env.states[*i]),
            TermKind::Next(i) => named(env.next.as_ref().map(|next| next[*i])),
            TermKind::Input(i) => Ok(env.inputs[*i]),
            TermKind::FreeParam(i) => named(env.free_params[*i]),
            TermKind::Policy(i) => named(env.policies[*i]),
            TermKind::Define(i) => named(env.defines[*i]),
            TermKind::Net(network, arguments) => {
                let arguments = self.terms(arguments, env)?;
                let input = self.builder.concat(&arguments)?;
                self.builder.network(&self.model.networks[*network], input)
            }
            TermKind::OpenNet(network, arguments) => {
                let arguments = self.terms(arguments, env)?;
                let seen = self.builder.concat(&arguments)?;
                Ok(self.open_network(*network, seen, t.len))
            }
            TermKind::Apply(function, a) => {
                let a = self.term(a, env)?;
                self.builder.function(*function, a)
            }
            TermKind::Add(parts) => self.signed(parts, Binary::Add, Binary::Sub, 0.0, env),
            TermKind::Mul(parts) => self.signed(parts, Binary::Mul, Binary::Div, 1.0, env),
            TermKind::Power(base, exponent) => {
                let is_constant = exponent.numbers().is_some();
                let (base, exponent) = (self.term(base, env)?, self.term(exponent, env)?);
                if is_constant {
                    return self.builder.binary(Binary::Pow, base, exponent);
                }
                // A free parameter as exponent: the base has to be positive.
                let log = self.builder.function(Function::Log, base)?;
                let product = self.builder.binary(Binary::Mul, exponent, log)?;
                self.builder.function(Function::Exp, product)
            }
            TermKind::Max(parts) => {
                let parts = self.terms(parts, env)?;
                self.builder.join(Binary::Max, &parts)
            }
            TermKind::Min(parts) => {
                let parts = self.terms(parts, env)?;
                self.builder.join(Binary::Min, &parts)
            }
            TermKind::Sum(a) => self.reduced(ReduceKind::Sum, a, env),
            TermKind::MaxOf(a) | TermKind::Any(a) => self.reduced(ReduceKind::Max, a, env),
            TermKind::MinOf(a) | TermKind::All(a) => self.reduced(ReduceKind::Min, a, env),
            TermKind::Concat(parts) => {
                let parts = self.terms(parts, env)?;
                self.builder.concat(&parts)
            }
            TermKind::Pick(base, positions) => {
                let base = self.term(base, env)?;
                self.picked(base, positions, t.len)
            }
            TermKind::If(c, a, b) => {
                let c = self.term(c, env)?;
                let (a, b) = (self.term(a, env)?, self.term(b, env)?);
                self.builder.select(c, a, b)
            }
            TermKind::Compare(op, a, b) => {
                let (a, b) = (self.term(a, env)?, self.term(b, env)?);
                self.builder.compare(*op, a, b)
            }
            TermKind::Member(a, integers) => {
                let a = self.term(a, env)?;
                self.one_of(a, integers)
            }
            TermKind::And(parts) => {
                let parts = self.terms(parts, env)?;
                self.builder.join(Binary::And, &parts)
            }
            TermKind::Or(parts) => {
                let parts = self.terms(parts, env)?;
                self.builder.join(Binary::Or, &parts)
            }
            TermKind::Not(a) => {
                let a = self.term(a, env)?;
                self.builder.not(a)
            }
            TermKind::Iff(a, b) => {
                let (a, b) = (self.term(a, env)?, self.term(b, env)?);
                self.builder.compare(CompareOp::Equal, a, b)
            }
            TermKind::IsLabel(choice, label) => {
                let one_hot = self.one_hot(*choice, env)?;
                self.builder.slice(one_hot, *label, 1)
            }
            TermKind::Match(choice, arms) => self.matched(*choice, arms, t.len, env),
            TermKind::Throughout(condition, part) => self.throughout(condition, *part, Quantity::Truth, env),
        }
    }

    /// Whether each element is one of some integers: few are equalities, which engines split on; of many, an element is its own floor.
    fn one_of(&mut self, a: NodeId, integers: &Integers) -> Lowered<NodeId> {
        let mut alternatives = Vec::new();
        if integers.count() <= FEW_INTEGERS {
            for value in integers.iter() {
                let value = self.builder.constant(&[value]);
                alternatives.push(self.builder.compare(CompareOp::Equal, a, value)?);
            }
            return self.builder.join(Binary::Or, &alternatives);
        }
        let floor = self.builder.function(Function::Floor, a)?;
        let whole = self.builder.compare(CompareOp::Equal, a, floor)?;
        for &(from, to) in integers.runs() {
            let (low, high) = (self.builder.constant(&[from as f64]), self.builder.constant(&[to as f64]));
            let above = self.builder.compare(CompareOp::GreaterEqual, a, low)?;
            let below = self.builder.compare(CompareOp::LessEqual, a, high)?;
            alternatives.push(self.builder.binary(Binary::And, above, below)?);
        }
        let inside = self.builder.join(Binary::Or, &alternatives)?;
        self.builder.binary(Binary::And, whole, inside)
    }

    fn signed(
        &mut self,
        parts: &[(bool, Term)],
        plain: Binary,
        flagged: Binary,
        neutral: f64,
        env: &mut Environment,
    ) -> Lowered<NodeId> {
        let mut result = None;
        for (flag, t) in parts {
            let node = self.term(t, env)?;
            result = Some(match (result, flag) {
                (None, false) => node,
                (None, true) => {
                    let neutral = self.builder.constant(&[neutral]);
                    self.builder.binary(flagged, neutral, node)?
                }
                (Some(acc), false) => self.builder.binary(plain, acc, node)?,
                (Some(acc), true) => self.builder.binary(flagged, acc, node)?,
            });
        }
        Ok(result.unwrap_or_else(|| self.builder.constant(&[neutral])))
    }

    fn reduced(&mut self, kind: ReduceKind, a: &Term, env: &mut Environment) -> Lowered<NodeId> {
        let a = self.term(a, env)?;
        self.builder.reduce(kind, a)
    }

    pub(super) fn picked(&mut self, base: NodeId, positions: &Positions, len: usize) -> Lowered<NodeId> {
        match positions {
            Positions::From(start) => self.builder.slice(base, *start, len),
            Positions::List(list) => self.builder.gather(base, list),
        }
    }

    pub(super) fn one_hot(&mut self, choice: ChoiceId, env: &Environment) -> Lowered<NodeId> {
        let node = match choice {
            ChoiceId::Chance(i) => Some(env.chances[i]),
            ChoiceId::Action(i) => env.actions[i],
        };
        node.ok_or_else(|| certus_graph::GraphError::Inputs("an action is used before it is known".into()))
    }

    fn matched(&mut self, choice: ChoiceId, arms: &[Term], len: usize, env: &mut Environment) -> Lowered<NodeId> {
        let one_hot = self.one_hot(choice, env)?;
        let constants: Option<Vec<f64>> = match len {
            1 => arms.iter().map(|t| t.numbers().map(|v| v[0])).collect(),
            _ => None,
        };
        if let Some(constants) = constants {
            // Exactly one element is not zero, so the sum is that constant, and it is linear.
            let constants = self.builder.constant(&constants);
            let product = self.builder.binary(Binary::Mul, one_hot, constants)?;
            return self.builder.reduce(ReduceKind::Sum, product);
        }
        let nodes = self.terms(arms, env)?;
        self.selected(one_hot, &nodes)
    }

    /// The node whose label is chosen.
    pub(super) fn selected(&mut self, one_hot: NodeId, nodes: &[NodeId]) -> Lowered<NodeId> {
        let Some((last, others)) = nodes.split_last() else { return Ok(self.builder.constant(&[0.0])) };
        let mut result = *last;
        for (label, node) in others.iter().enumerate().rev() {
            if *node != result {
                let chosen = self.builder.slice(one_hot, label, 1)?;
                result = self.builder.select(chosen, *node, result)?;
            }
        }
        Ok(result)
    }
}
