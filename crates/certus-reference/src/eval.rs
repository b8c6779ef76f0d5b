//! The value of an expression at a place.
//!
//! Everything is strict but `if` and `match`: an operation outside of its domain leaves the whole without a value,
//! whatever would have been made of its result. Where all operands are constants, the operation is one of doubles.

use std::cmp::Ordering;

use certus_lang::syntax::ast::{
    ActionRule, Arm, ChainOp, CompareOp, Comprehension, Expr, ExprKind, InfixOp, Member, PrefixOp, Set,
};

use crate::model::{Meaning, Model, Variable};
use crate::operations;
use crate::real::{Rational, Real};
use crate::value::{Evaluated, Stop, Term, Value, common_length, element, malformed};

/// What the environment and the dice choose at a position.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Choice {
    /// The inputs, flattened.
    pub inputs: Vec<Rational>,
    /// The label of each chance variable.
    pub chances: Vec<usize>,
    /// The label of each random action; none for those that are not random.
    pub actions: Vec<Option<usize>>,
}

/// Where `next(x)` comes from.
#[derive(Clone, Copy)]
pub(crate) enum Successor<'a> {
    /// There is none.
    None,
    /// This state.
    Known(&'a [Real]),
    /// Each variable's is computed when it is asked for.
    Computed,
}

/// Names that stand for each other without end are not followed further.
const DEEPEST: usize = 200;

/// A place at which expressions have values.
#[derive(Clone)]
pub(crate) struct Scene<'a> {
    pub model: &'a Model,
    /// The state; inside a step of an integrator, the state of its stage.
    pub state: Option<&'a [Real]>,
    /// The state in which policies and actions are evaluated.
    pub start: Option<&'a [Real]>,
    pub choice: Option<&'a Choice>,
    pub successor: Successor<'a>,
    pub locals: Vec<(String, f64)>,
    pub depth: usize,
}

impl<'a> Scene<'a> {
    /// Where there are constants only.
    pub fn nowhere(model: &'a Model) -> Scene<'a> {
        Scene {
            model,
            state: None,
            start: None,
            choice: None,
            successor: Successor::None,
            locals: Vec::new(),
            depth: 0,
        }
    }

    /// In a state.
    pub fn at(model: &'a Model, state: &'a [Real]) -> Scene<'a> {
        Scene { state: Some(state), start: Some(state), ..Scene::nowhere(model) }
    }

    /// The place in which a name's own expression is evaluated.
    fn inside_a_name(&self) -> Evaluated<Scene<'a>> {
        if self.depth > DEEPEST {
            return malformed("names stand for each other without end");
        }
        Ok(Scene { locals: Vec::new(), depth: self.depth + 1, ..self.clone() })
    }

    /// The value of an expression.
    pub fn term(&mut self, expression: &Expr) -> Evaluated<Term> {
        match &expression.kind {
            ExprKind::Number(value, _) => Term::number(*value),
            ExprKind::Bool(truth) => Ok(Term::truths(vec![*truth], true)),
            ExprKind::Text(_) => malformed("a text has no value"),
            ExprKind::Name(name) => self.name(name),
            ExprKind::Vector(items) => {
                let items = self.terms(items)?;
                operations::joined(items)
            }
            ExprKind::Comprehension(own) => self.comprehension(own),
            ExprKind::Call(function, arguments) => self.call(&function.name, arguments),
            ExprKind::Index(base, index) => {
                let base = self.term(base)?;
                let at = position(self.term(index)?.integer()?, base.len())?;
                operations::picked(&base, [at])
            }
            ExprKind::Slice(base, from, to) => {
                let base = self.term(base)?;
                let mut end = |end: &Option<Box<Expr>>, usual: usize| match end {
                    None => Ok(usual),
                    Some(end) => position(self.term(end)?.integer()?, base.len()),
                };
                let (from, to) = (end(from, 0)?, end(to, base.len())?);
                operations::picked(&base, from..to)
            }
            ExprKind::Prefix(PrefixOp::Negate, inner) => operations::negated(&self.term(inner)?),
            ExprKind::Prefix(PrefixOp::Not, inner) => {
                let inner = self.term(inner)?;
                Ok(Term::truths(inner.booleans()?.iter().map(|truth| !truth).collect(), inner.constant))
            }
            ExprKind::Chain(first, rest) => {
                let mut left = self.term(first)?;
                for (op, right) in rest {
                    let right = self.term(right)?;
                    left = match op {
                        ChainOp::And => logical(&left, &right, |a, b| a && b)?,
                        ChainOp::Or => logical(&left, &right, |a, b| a || b)?,
                        ChainOp::Add => operations::sum(&left, &right)?,
                        ChainOp::Sub => operations::difference(&left, &right)?,
                        ChainOp::Mul => operations::product(&left, &right)?,
                        ChainOp::Div => operations::quotient(&left, &right)?,
                    };
                }
                Ok(left)
            }
            ExprKind::Infix(op, left, right) => {
                let (left, right) = (self.term(left)?, self.term(right)?);
                match op {
                    InfixOp::Implies => logical(&left, &right, |a, b| !a || b),
                    InfixOp::Iff => logical(&left, &right, |a, b| a == b),
                    InfixOp::Power => operations::power(&left, &right),
                    _ => malformed("a temporal operator has no value"),
                }
            }
            ExprKind::Compare(op, left, right) => self.comparison(*op, left, right),
            ExprKind::InRange(value, range) => {
                let value = self.term(value)?;
                let (low, high) = (self.term(&range.low)?, self.term(&range.high)?);
                let above = compared(CompareOp::GreaterEqual, &value, &low)?;
                logical(&above, &compared(CompareOp::LessEqual, &value, &high)?, |a, b| a && b)
            }
            ExprKind::InSet(value, set) => self.in_set(value, set),
            ExprKind::If(condition, then, otherwise) => {
                let condition = self.term(condition)?;
                let taken = if condition.truth()? { then } else { otherwise };
                Ok(self.term(taken)?.chosen_by(condition.constant))
            }
            ExprKind::Match(subject, arms) => self.matching(subject, arms),
            ExprKind::Prefix(..) => malformed("a temporal operator has no value"),
        }
    }

    pub fn terms(&mut self, expressions: &[Expr]) -> Evaluated<Vec<Term>> {
        expressions.iter().map(|expression| self.term(expression)).collect()
    }

    /// The truth of a condition.
    pub fn truth(&mut self, condition: &Expr) -> Evaluated<bool> {
        self.term(condition)?.truth()
    }

    fn name(&self, name: &str) -> Evaluated<Term> {
        if let Some((_, value)) = self.locals.iter().rev().find(|(own, _)| own == name) {
            return Term::number(*value);
        }
        match self.model.names.get(name) {
            None if self.model.is_label(name) => Ok(Term::labels(vec![name.to_owned()], true)),
            None => malformed(format!("nothing is called {name}")),
            Some(Meaning::Known(term)) => Ok(term.clone()),
            Some(Meaning::Constant(value)) => {
                let mut own = Scene { depth: self.depth + 1, ..Scene::nowhere(self.model) };
                if self.depth > DEEPEST { malformed("names stand for each other without end") } else { own.term(value) }
            }
            Some(Meaning::State(place)) => {
                let variable = &self.model.states[*place];
                let state = self.state.ok_or(Stop::Missing)?;
                value_of(variable, state[variable.start..variable.start + variable.len].to_vec())
            }
            Some(Meaning::Input(place)) => {
                let variable = &self.model.inputs[*place];
                let inputs = &self.choice.ok_or(Stop::Missing)?.inputs;
                let own = inputs[variable.start..variable.start + variable.len].iter();
                value_of(variable, own.cloned().map(Real::Exact).collect())
            }
            Some(Meaning::Policy(place)) => {
                let mut own = self.inside_a_name()?;
                own.state = own.start;
                Ok(own.term(&self.model.policies[*place])?.chosen_by(false))
            }
            Some(Meaning::Define(value)) => self.inside_a_name()?.term(value),
            Some(Meaning::Chance(_) | Meaning::Action(_)) => malformed(format!("{name} has labels, not a value")),
        }
    }

    fn comprehension(&mut self, own: &Comprehension) -> Evaluated<Term> {
        let (from, to) = (self.term(&own.from)?.integer()?, self.term(&own.to)?.integer()?);
        let mut parts = Vec::new();
        for value in from..to {
            self.locals.push((own.variable.name.clone(), value as f64));
            let part = self.term(&own.body);
            self.locals.pop();
            parts.push(part?);
        }
        operations::joined(parts)
    }

    fn call(&mut self, function: &str, arguments: &[Expr]) -> Evaluated<Term> {
        match (function, arguments) {
            ("next", [argument]) => self.next_of(argument),
            ("throughout", arguments) => Ok(Term::truths(vec![self.throughout(arguments)?], false)),
            ("net", [path, arguments @ ..]) => self.network(path, arguments),
            ("len", [argument]) => {
                let declared = match &argument.kind {
                    ExprKind::Name(name) => match self.model.names.get(name) {
                        Some(Meaning::State(place)) => Some(self.model.states[*place].len),
                        Some(Meaning::Input(place)) => Some(self.model.inputs[*place].len),
                        _ => None,
                    },
                    _ => None,
                };
                let length = declared.map_or_else(|| self.term(argument).map(|term| term.len()), Ok)?;
                Term::number(length as f64)
            }
            _ => operations::call(function, self.terms(arguments)?),
        }
    }

    fn network(&mut self, path: &Expr, arguments: &[Expr]) -> Evaluated<Term> {
        let ExprKind::Text(path) = &path.kind else { return malformed("`net` takes the path of a network") };
        let Some(network) = self.model.networks.get(path) else {
            return malformed(format!("there is no network {path}"));
        };
        let arguments = operations::joined(self.terms(arguments)?)?;
        network.apply(arguments.reals()?).map(Term::varying).map_err(Stop::Malformed)
    }

    fn next_of(&self, argument: &Expr) -> Evaluated<Term> {
        let ExprKind::Name(name) = &argument.kind else { return malformed("`next` takes a name") };
        let Some(Meaning::State(place)) = self.model.names.get(name) else {
            return malformed("only state variables have a next value");
        };
        let variable = &self.model.states[*place];
        match self.successor {
            Successor::None => Err(Stop::Missing),
            Successor::Known(state) => {
                value_of(variable, state[variable.start..variable.start + variable.len].to_vec())
            }
            Successor::Computed => {
                let own = Scene { successor: Successor::None, ..self.inside_a_name()? };
                value_of(variable, own.successor_of(*place)?)
            }
        }
    }

    /// The label of an action or a chance variable, if the expression is the name of one.
    fn label(&self, expression: &Expr) -> Option<(&'a [String], Evaluated<usize>)> {
        let ExprKind::Name(name) = &expression.kind else { return None };
        if self.locals.iter().any(|(own, _)| own == name) {
            return None;
        }
        let model = self.model;
        match model.names.get(name)? {
            Meaning::Chance(place) => {
                let label = self.choice.map(|choice| choice.chances[*place]).ok_or(Stop::Missing);
                Some((&model.chances[*place].labels, label))
            }
            Meaning::Action(place) => Some((&model.actions[*place].labels, self.action(*place))),
            _ => None,
        }
    }

    /// The label of an action.
    pub fn action(&self, place: usize) -> Evaluated<usize> {
        let action = &self.model.actions[place];
        let mut own = self.inside_a_name()?;
        own.state = own.start;
        match action.rule {
            ActionRule::Softmax => self.choice.and_then(|choice| choice.actions[place]).ok_or(Stop::Missing),
            ActionRule::Argmax => {
                let scores = own.term(&action.scores)?;
                let scores = scores.reals()?;
                let mut best = 0;
                for (label, score) in scores.iter().enumerate().skip(1) {
                    match score.compared(&scores[best]) {
                        Some(Ordering::Greater) => best = label,
                        Some(_) => {}
                        None => return Err(Stop::NotKnown("which score is the largest".to_owned())),
                    }
                }
                Ok(best)
            }
        }
    }

    fn comparison(&mut self, op: CompareOp, left: &Expr, right: &Expr) -> Evaluated<Term> {
        let labelled = self.label(left).map(|own| (own, right)).or_else(|| self.label(right).map(|own| (own, left)));
        if let Some(((labels, chosen), other)) = labelled {
            let ExprKind::Name(other) = &other.kind else { return malformed("a label is needed") };
            let Some(wanted) = labels.iter().position(|label| label == other) else {
                return malformed(format!("there is no label {other}"));
            };
            let equal = chosen? == wanted;
            return match op {
                CompareOp::Equal => Ok(Term::truths(vec![equal], false)),
                CompareOp::NotEqual => Ok(Term::truths(vec![!equal], false)),
                _ => malformed("labels have no order"),
            };
        }
        compared(op, &self.term(left)?, &self.term(right)?)
    }

    /// Whether a value is equal to one of a set's members, or a whole number of one of its runs; element by element.
    fn in_set(&mut self, value: &Expr, set: &Set) -> Evaluated<Term> {
        let value = self.term(value)?;
        let mut found = Term::truths(vec![false], true);
        for member in &set.members {
            let own = match member {
                Member::One(only) => compared(CompareOp::Equal, &value, &self.term(only)?)?,
                Member::Run(from, to) => {
                    let (from, to) = (self.term(from)?, self.term(to)?);
                    let above = compared(CompareOp::GreaterEqual, &value, &from)?;
                    let inside = logical(&above, &compared(CompareOp::LessEqual, &value, &to)?, |a, b| a && b)?;
                    let floor = operations::call("floor", vec![value.clone()])?;
                    logical(&inside, &compared(CompareOp::Equal, &value, &floor)?, |a, b| a && b)?
                }
            };
            found = logical(&found, &own, |a, b| a || b)?;
        }
        Ok(found.chosen_by(value.constant))
    }

    fn matching(&mut self, subject: &Expr, arms: &[Arm]) -> Evaluated<Term> {
        let chosen = match self.label(subject) {
            Some((labels, chosen)) => labels[chosen?].clone(),
            None => match self.term(subject)?.label() {
                Some(label) => label.to_owned(),
                None => return malformed("`match` takes something with labels"),
            },
        };
        let named = arms.iter().find(|arm| arm.labels.iter().any(|label| label.name == chosen));
        let Some(arm) = named.or_else(|| arms.iter().find(|arm| arm.labels.is_empty())) else {
            return malformed("`match` does not cover every label");
        };
        Ok(self.term(&arm.value)?.chosen_by(false))
    }
}

/// The values of a variable: numbers, or what they are the numbers of.
fn value_of(variable: &Variable, numbers: Vec<Real>) -> Evaluated<Term> {
    match variable.labels.is_empty() {
        true => Ok(Term::varying(numbers)),
        false => Ok(Term::labels(variable.named(&numbers)?, false)),
    }
}

/// A position in a vector, counted from the end if negative.
fn position(index: i64, len: usize) -> Evaluated<usize> {
    let from_start = if index < 0 { index + len as i64 } else { index };
    usize::try_from(from_start).ok().filter(|place| *place <= len).map_or_else(|| malformed("no such element"), Ok)
}

/// A connective, element by element.
fn logical(left: &Term, right: &Term, f: impl Fn(bool, bool) -> bool) -> Evaluated<Term> {
    let (a, b) = (left.booleans()?, right.booleans()?);
    let len = common_length([a.len(), b.len()])?;
    let truths = (0..len).map(|i| f(*element(a, i), *element(b, i))).collect();
    Ok(Term::truths(truths, left.constant && right.constant))
}

/// A comparison, element by element.
fn compared(op: CompareOp, left: &Term, right: &Term) -> Evaluated<Term> {
    if let (Value::Labels(a), Value::Labels(b)) = (&left.value, &right.value) {
        let wanted = match op {
            CompareOp::Equal => true,
            CompareOp::NotEqual => false,
            _ => return malformed("labels have no order"),
        };
        let len = common_length([a.len(), b.len()])?;
        let truths = (0..len).map(|i| (element(a, i) == element(b, i)) == wanted).collect();
        return Ok(Term::truths(truths, left.constant && right.constant));
    }
    let (Value::Reals(a), Value::Reals(b)) = (&left.value, &right.value) else {
        return malformed("numbers are compared");
    };
    let len = common_length([a.len(), b.len()])?;
    let truth = |i: usize| {
        let (a, b) = (element(a, i), element(b, i));
        holds(op, a, b).ok_or_else(|| Stop::NotKnown(format!("whether a number is {} another", op.text())))
    };
    Ok(Term::truths((0..len).map(truth).collect::<Evaluated<_>>()?, left.constant && right.constant))
}

/// Whether a comparison holds, if that is known: ends that touch tell `<` from `<=`.
fn holds(op: CompareOp, a: &Real, b: &Real) -> Option<bool> {
    if let Some(order) = a.compared(b) {
        return Some(match op {
            CompareOp::Less => order.is_lt(),
            CompareOp::LessEqual => order.is_le(),
            CompareOp::Greater => order.is_gt(),
            CompareOp::GreaterEqual => order.is_ge(),
            CompareOp::Equal => order.is_eq(),
            CompareOp::NotEqual => order.is_ne(),
        });
    }
    match op {
        CompareOp::LessEqual | CompareOp::Greater if a.high() <= b.low() => Some(op == CompareOp::LessEqual),
        CompareOp::GreaterEqual | CompareOp::Less if a.low() >= b.high() => Some(op == CompareOp::GreaterEqual),
        _ => None,
    }
}
