//! What an expression reads, directly or through names.

use certus_lang::syntax::ast::{ActionRule, Expr, ExprKind, InfixOp, Member, PrefixOp};

use crate::model::{Meaning, Model};

/// What an expression reads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Uses {
    /// The successor of a state variable.
    pub next: bool,
    /// An input, a chance variable or a random action.
    pub choice: bool,
    /// A random outcome.
    pub random: bool,
    /// A policy or an action.
    pub policy: bool,
}

/// Names that stand for each other without end are not followed further.
const DEEPEST: usize = 200;

impl Uses {
    /// What an expression reads.
    pub fn of(model: &Model, expression: &Expr) -> Uses {
        let mut uses = Uses::default();
        uses.add(model, expression, 0);
        uses
    }

    fn add(&mut self, model: &Model, expression: &Expr, depth: usize) {
        if depth > DEEPEST {
            return;
        }
        match &expression.kind {
            ExprKind::Name(name) => match model.names.get(name) {
                Some(Meaning::Input(_)) => self.choice = true,
                Some(Meaning::Chance(_)) => (self.choice, self.random) = (true, true),
                Some(Meaning::Action(place)) => {
                    self.policy = true;
                    let action = &model.actions[*place];
                    if action.rule == ActionRule::Softmax {
                        (self.choice, self.random) = (true, true);
                    }
                    self.add(model, &action.scores, depth + 1);
                }
                Some(Meaning::Policy(place)) => {
                    self.policy = true;
                    self.add(model, &model.policies[*place], depth + 1);
                }
                Some(Meaning::Define(value)) => self.add(model, value, depth + 1),
                _ => {}
            },
            ExprKind::Call(function, _) if function.name == "next" => self.next = true,
            ExprKind::Call(function, arguments) if function.name == "throughout" => {
                // The way to the successor, where there is one.
                self.next |= model.is_exact();
                arguments.iter().for_each(|argument| self.add(model, argument, depth + 1));
            }
            _ => children(expression).into_iter().for_each(|child| self.add(model, child, depth + 1)),
        }
    }
}

/// Whether an expression has a temporal operator, directly or through names.
pub(crate) fn is_temporal(model: &Model, expression: &Expr, depth: usize) -> bool {
    match &expression.kind {
        _ if depth > DEEPEST => false,
        ExprKind::Prefix(PrefixOp::Next | PrefixOp::Globally(_) | PrefixOp::Finally(_), _)
        | ExprKind::Infix(InfixOp::Until(_) | InfixOp::WeakUntil(_) | InfixOp::Release(_), ..) => true,
        ExprKind::Name(name) => match model.names.get(name) {
            Some(Meaning::Define(value)) => is_temporal(model, value, depth + 1),
            _ => false,
        },
        _ => children(expression).into_iter().any(|child| is_temporal(model, child, depth + 1)),
    }
}

/// The expressions that an expression is made of.
pub(crate) fn children(expression: &Expr) -> Vec<&Expr> {
    match &expression.kind {
        ExprKind::Number(..) | ExprKind::Bool(_) | ExprKind::Text(_) | ExprKind::Name(_) => Vec::new(),
        ExprKind::Vector(items) | ExprKind::Call(_, items) => items.iter().collect(),
        ExprKind::Comprehension(own) => vec![&own.from, &own.to, &own.body],
        ExprKind::Index(base, index) => vec![base, index],
        ExprKind::Slice(base, from, to) => {
            std::iter::once(base).chain(from.iter()).chain(to.iter()).map(|part| &**part).collect()
        }
        // Bounds are constants.
        ExprKind::Prefix(_, inner) => vec![inner],
        ExprKind::Chain(first, rest) => std::iter::once(&**first).chain(rest.iter().map(|(_, part)| part)).collect(),
        ExprKind::Infix(_, left, right) | ExprKind::Compare(_, left, right) => vec![left, right],
        ExprKind::InRange(value, range) => vec![value, &range.low, &range.high],
        ExprKind::InSet(value, set) => {
            std::iter::once(&**value).chain(set.members.iter().flat_map(Member::expressions)).collect()
        }
        ExprKind::If(condition, then, otherwise) => vec![condition, then, otherwise],
        ExprKind::Match(subject, arms) => {
            std::iter::once(&**subject).chain(arms.iter().map(|arm| &arm.value)).collect()
        }
    }
}
