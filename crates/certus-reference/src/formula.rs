//! Temporal formulas over atoms, as a property's expression says them.

use std::collections::HashMap;

use certus_lang::syntax::ast::{Bound, ChainOp, Expr, ExprKind, InfixOp, PrefixOp};
use certus_lang::syntax::printer::print_expression;

use crate::eval::Scene;
use crate::model::{Meaning, Model};
use crate::uses::{Uses, is_temporal};
use crate::value::{Evaluated, Stop, malformed};

/// The steps that an operator speaks of: from the first one to the last one, or for ever.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Steps {
    /// First step.
    pub lower: u32,
    /// Last step; none for all.
    pub upper: Option<u32>,
}

impl Steps {
    /// Now and always.
    pub const ALL: Steps = Steps { lower: 0, upper: None };
}

/// A temporal formula over atoms.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Formula {
    /// True or false.
    Constant(bool),
    /// True where the atom is.
    Atom(usize),
    /// Negation.
    Not(Box<Formula>),
    /// Conjunction.
    And(Box<Formula>, Box<Formula>),
    /// Disjunction.
    Or(Box<Formula>, Box<Formula>),
    /// At the next step.
    Next(Box<Formula>),
    /// The second at some of the steps, the first at every step before that one.
    Until(Steps, Box<Formula>, Box<Formula>),
    /// `!(!a U !b)`.
    Release(Steps, Box<Formula>, Box<Formula>),
}

impl Formula {
    /// Negation.
    pub fn negated(self) -> Formula {
        Formula::Not(Box::new(self))
    }

    /// Conjunction.
    pub fn and(self, other: Formula) -> Formula {
        Formula::And(Box::new(self), Box::new(other))
    }

    /// Disjunction.
    pub fn or(self, other: Formula) -> Formula {
        Formula::Or(Box::new(self), Box::new(other))
    }

    /// At the next step.
    pub fn next(self) -> Formula {
        Formula::Next(Box::new(self))
    }

    /// At some of the steps.
    pub fn finally(self, steps: Steps) -> Formula {
        Formula::Constant(true).until(steps, self)
    }

    /// At all of the steps.
    pub fn globally(self, steps: Steps) -> Formula {
        Formula::Constant(false).release(steps, self)
    }

    /// `self U other`.
    pub fn until(self, steps: Steps, other: Formula) -> Formula {
        Formula::Until(steps, Box::new(self), Box::new(other))
    }

    /// `(self U other) | G self`, where `G` reaches as far as `U` does.
    pub fn weak_until(self, steps: Steps, other: Formula) -> Formula {
        let always = self.clone().globally(Steps { lower: 0, upper: steps.upper });
        self.until(steps, other).or(always)
    }

    /// `self R other`.
    pub fn release(self, steps: Steps, other: Formula) -> Formula {
        Formula::Release(steps, Box::new(self), Box::new(other))
    }
}

/// A Boolean expression without temporal operators.
#[derive(Clone, Debug)]
pub struct Atom {
    /// As it was written.
    pub text: String,
    /// What it reads.
    pub uses: Uses,
    pub(crate) condition: Expr,
}

/// A formula with its atoms.
#[derive(Clone, Debug)]
pub struct Specification {
    /// The formula.
    pub formula: Formula,
    /// What it is made of.
    pub atoms: Vec<Atom>,
}

impl Specification {
    /// What an expression says.
    pub fn new(model: &Model, expression: &Expr) -> Result<Specification, String> {
        let mut reader = Reader { model, atoms: Vec::new(), known: HashMap::new() };
        match reader.formula(expression, 0) {
            Ok(formula) => Ok(Specification { formula, atoms: reader.atoms }),
            Err(Stop::Malformed(message)) => Err(message),
            Err(other) => Err(format!("{other:?}")),
        }
    }

    /// Whether an atom reads something that is chosen, or the successor.
    pub fn reads_choices(&self) -> bool {
        self.atoms.iter().any(|atom| atom.uses.choice || atom.uses.next)
    }
}

/// Whether an implication stands in an expression, below nothing but connectives.
fn has_implication(expression: &Expr) -> bool {
    match &expression.kind {
        ExprKind::Infix(InfixOp::Implies, ..) => true,
        ExprKind::Infix(InfixOp::Iff, left, right) => has_implication(left) || has_implication(right),
        ExprKind::Prefix(PrefixOp::Not, inner) => has_implication(inner),
        ExprKind::Chain(first, rest) if matches!(rest.first(), Some((ChainOp::And | ChainOp::Or, _))) => {
            has_implication(first) || rest.iter().any(|(_, part)| has_implication(part))
        }
        _ => false,
    }
}

pub(crate) struct Reader<'a> {
    pub(crate) model: &'a Model,
    atoms: Vec<Atom>,
    known: HashMap<String, usize>,
}

/// Formulas are not nested deeper than this.
const DEEPEST: usize = 500;

impl Reader<'_> {
    /// Whether the connectives of an expression are the formula's: it is temporal, it mentions `next`, or it has an implication.
    fn is_taken_apart(&self, expression: &Expr) -> bool {
        is_temporal(self.model, expression, 0) || Uses::of(self.model, expression).next || has_implication(expression)
    }

    pub(crate) fn formula(&mut self, expression: &Expr, depth: usize) -> Evaluated<Formula> {
        if depth > DEEPEST {
            return malformed("this formula is nested too deeply");
        }
        if !self.is_taken_apart(expression) {
            return self.atom(expression);
        }
        let temporal = is_temporal(self.model, expression, 0);
        match &expression.kind {
            ExprKind::Prefix(PrefixOp::Globally(Some(bound)), inner) if bound.seconds && self.model.is_exact() => {
                self.always_between(bound, inner, depth)
            }
            ExprKind::Prefix(op, inner) => {
                let steps = match op {
                    PrefixOp::Globally(bound) | PrefixOp::Finally(bound) => self.steps(bound.as_deref())?,
                    PrefixOp::Negate => return self.atom(expression),
                    PrefixOp::Not | PrefixOp::Next => Steps::ALL,
                };
                let inner = self.formula(inner, depth + 1)?;
                Ok(match op {
                    PrefixOp::Not | PrefixOp::Negate => inner.negated(),
                    PrefixOp::Next => inner.next(),
                    PrefixOp::Globally(_) => inner.globally(steps),
                    PrefixOp::Finally(_) => inner.finally(steps),
                })
            }
            ExprKind::Infix(op, left, right) => {
                let steps = match op {
                    InfixOp::Until(bound) | InfixOp::WeakUntil(bound) | InfixOp::Release(bound) => {
                        self.steps(bound.as_deref())?
                    }
                    InfixOp::Power => return self.atom(expression),
                    InfixOp::Iff | InfixOp::Implies => Steps::ALL,
                };
                let (left, right) = (self.formula(left, depth + 1)?, self.formula(right, depth + 1)?);
                Ok(match op {
                    InfixOp::Until(_) => left.until(steps, right),
                    InfixOp::WeakUntil(_) => left.weak_until(steps, right),
                    InfixOp::Release(_) => left.release(steps, right),
                    InfixOp::Implies => left.negated().or(right),
                    InfixOp::Iff | InfixOp::Power => {
                        left.clone().and(right.clone()).or(left.negated().and(right.negated()))
                    }
                })
            }
            ExprKind::Chain(first, rest) if matches!(rest.first(), Some((ChainOp::And | ChainOp::Or, _))) => {
                // The chain goes to the left: its last operator is the outermost one.
                let Some(((op, last), before)) = rest.split_last() else { return self.formula(first, depth + 1) };
                let left = match before {
                    [] => (**first).clone(),
                    _ => Expr { kind: ExprKind::Chain(first.clone(), before.to_vec()), span: expression.span },
                };
                let (left, right) = (self.formula(&left, depth + 1)?, self.formula(last, depth + 1)?);
                Ok(if *op == ChainOp::And { left.and(right) } else { left.or(right) })
            }
            ExprKind::If(condition, then, otherwise) if temporal => {
                let condition = self.formula(condition, depth + 1)?;
                let (then, otherwise) = (self.formula(then, depth + 1)?, self.formula(otherwise, depth + 1)?);
                Ok(condition.clone().negated().or(then).and(condition.or(otherwise)))
            }
            ExprKind::Name(name) if temporal => match self.model.names.get(name) {
                Some(Meaning::Define(value)) => self.formula(value, depth + 1),
                _ => self.atom(expression),
            },
            _ if temporal => malformed("a temporal formula cannot stand inside of an expression"),
            _ => self.atom(expression),
        }
    }

    pub(crate) fn atom(&mut self, expression: &Expr) -> Evaluated<Formula> {
        if let Ok(term) = Scene::nowhere(self.model).term(expression)
            && term.constant
        {
            return Ok(Formula::Constant(term.truth()?));
        }
        let text = print_expression(expression);
        if let Some(place) = self.known.get(&text) {
            return Ok(Formula::Atom(*place));
        }
        let place = self.atoms.len();
        let uses = Uses::of(self.model, expression);
        self.atoms.push(Atom { text: text.clone(), uses, condition: expression.clone() });
        self.known.insert(text, place);
        Ok(Formula::Atom(place))
    }

    pub(crate) fn steps(&self, bound: Option<&Bound>) -> Evaluated<Steps> {
        let Some(bound) = bound else { return Ok(Steps::ALL) };
        if bound.seconds {
            return self.times(bound)?.steps();
        }
        let step = |expression: &Expr| {
            let step = u32::try_from(self.model.constant(expression)?.integer()?);
            step.map_or_else(|_| malformed("no bound of a temporal operator"), Ok)
        };
        let lower = bound.lower.as_ref().map_or(Ok(0), step)?;
        let upper = step(&bound.upper)?;
        if lower > upper { malformed("these bounds contain no step") } else { Ok(Steps { lower, upper: Some(upper) }) }
    }
}
