//! Checked expressions.
//!
//! A term knows its sort, its length and what it speaks of. The constructors fold constants in
//! doubles, so a term without variables is always a [`TermKind::Number`] or a [`TermKind::Truth`].
//! A length of 1 broadcasts against every other length; there is no separate notion of a scalar.
//! Constructors expect operands whose lengths were checked to fit.

use std::rc::Rc;

use certus_graph::Interval;

use crate::syntax::ast::CompareOp;
use crate::system::{ChoiceId, Integers};

mod fold;
mod logic;
mod real;
mod vectors;

pub(crate) use logic::{and, choice_uses, compare, conditional, iff, is_label, matched, member, not, or, quantified};
pub(crate) use real::{add, apply, extremum, extremum_of, mul, power, sum};
pub(crate) use vectors::{broadcast, concat, pick, same, slice};

/// A shared checked expression.
pub(crate) type Term = Rc<TermNode>;

/// A checked expression.
#[derive(Debug)]
pub(crate) struct TermNode {
    pub kind: TermKind,
    pub sort: Sort,
    pub len: usize,
    pub uses: Uses,
    /// Whether its values are integers, as far as is obvious, where it is not constant.
    integral: bool,
    /// Whether some operation in it is not defined for all numbers. Names count: what they stand for is not looked at.
    partial: bool,
}

/// What kind of value a term has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sort {
    Real,
    Bool,
    /// One of some names, by the place of their list in the checker's enumerations; the value is the name's place in it.
    Label(usize),
}

/// What a term speaks of, as a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) struct Uses(pub u8);

impl Uses {
    pub const NONE: Uses = Uses(0);
    pub const STATE: Uses = Uses(1);
    pub const INPUT: Uses = Uses(2);
    pub const CHANCE: Uses = Uses(4);
    pub const POLICY: Uses = Uses(8);
    pub const ACTION: Uses = Uses(16);
    pub const NEXT: Uses = Uses(32);
    /// What happens within a step, between its state and the next one.
    pub const FLOW: Uses = Uses(64);
    /// Everything known before the successor is.
    pub const PRESENT: Uses = Uses(31);
    /// That, and the successor.
    pub const TRANSITION: Uses = Uses(63);
    pub const ALL: Uses = Uses(127);

    pub fn with(self, other: Uses) -> Uses {
        Uses(self.0 | other.0)
    }

    pub fn without(self, other: Uses) -> Uses {
        Uses(self.0 & !other.0)
    }

    pub fn includes(self, other: Uses) -> bool {
        self.0 & other.0 == other.0
    }
}

/// Functions of one argument, elementwise.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Function {
    Negate,
    Abs,
    Floor,
    Sqrt,
    Exp,
    Log,
    Sin,
    Cos,
    Tan,
    Tanh,
    Sign,
    Sigmoid,
    Relu,
    /// Into a constant range.
    Clip(f64, f64),
}

/// The kinds of term.
#[derive(Debug)]
pub(crate) enum TermKind {
    /// Constant reals; the flag says that a parameter had a part in them.
    Number(Vec<f64>, bool),
    /// Constant truth values, flagged likewise.
    Truth(Vec<bool>, bool),
    State(usize),
    /// The successor of a state variable.
    Next(usize),
    Input(usize),
    FreeParam(usize),
    Policy(usize),
    Define(usize),
    /// A network applied to the concatenation of the arguments.
    Net(usize, Vec<Term>),
    /// A network that is outside of the step, by its place in the model's open networks, with what it would see.
    OpenNet(usize, Vec<Term>),
    Apply(Function, Term),
    /// Terms to be added, or subtracted where flagged.
    Add(Vec<(bool, Term)>),
    /// Terms to be multiplied, or divided by where flagged.
    Mul(Vec<(bool, Term)>),
    Power(Term, Term),
    Max(Vec<Term>),
    Min(Vec<Term>),
    /// Sum of the elements.
    Sum(Term),
    MaxOf(Term),
    MinOf(Term),
    Concat(Vec<Term>),
    /// Elements at these positions.
    Pick(Term, Positions),
    If(Term, Term, Term),
    Compare(CompareOp, Term, Term),
    /// Whether an element is one of some integers.
    Member(Term, Integers),
    And(Vec<Term>),
    Or(Vec<Term>),
    Not(Term),
    All(Term),
    Any(Term),
    Iff(Term, Term),
    /// Whether an action or a chance variable has this label.
    IsLabel(ChoiceId, usize),
    /// One term per label.
    Match(ChoiceId, Vec<Term>),
    /// A condition at all instants of a part of the step's flow.
    Throughout(Term, Part),
}

/// A part of a step: the instants between two, both enclosed, since an end that is written as a decimal is no double.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Part {
    pub from: Interval,
    pub to: Interval,
}

/// Positions in a vector.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Positions {
    /// A contiguous run from here; its length is the term's.
    From(usize),
    /// Any positions.
    List(Vec<usize>),
}

impl Positions {
    fn at(&self, i: usize) -> usize {
        match self {
            Positions::From(start) => start + i,
            Positions::List(list) => list[i],
        }
    }
}

fn node(kind: TermKind, sort: Sort, len: usize, uses: Uses) -> Term {
    // A vector without elements is a constant, whatever it would be made of.
    let (kind, uses) = match (len, sort) {
        (0, Sort::Bool) => (TermKind::Truth(Vec::new(), false), Uses::NONE),
        (0, _) => (TermKind::Number(Vec::new(), false), Uses::NONE),
        _ => (kind, uses),
    };
    let integral = keeps_integers(&kind);
    let mut node = TermNode { kind, sort, len, uses, integral, partial: false };
    node.partial = node.is_partial_itself() || node.operands().iter().any(|t| t.partial);
    Rc::new(node)
}

/// Whether a term that is no name and no constant has integers for values, as far as its operands say.
fn keeps_integers(kind: &TermKind) -> bool {
    let all = |terms: &[Term]| terms.iter().all(|t| t.is_integral());
    match kind {
        TermKind::Apply(function, inner) => match function {
            Function::Floor | Function::Sign => true,
            Function::Negate | Function::Abs | Function::Relu => inner.is_integral(),
            Function::Clip(low, high) => inner.is_integral() && low.fract() == 0.0 && high.fract() == 0.0,
            _ => false,
        },
        TermKind::Add(parts) => parts.iter().all(|(_, t)| t.is_integral()),
        TermKind::Mul(parts) => parts.iter().all(|(divides, t)| !divides && t.is_integral()),
        TermKind::Power(base, exponent) => {
            let whole = |own: &f64| own.fract() == 0.0 && *own >= 0.0;
            base.is_integral() && exponent.numbers().is_some_and(|all| all.iter().all(whole))
        }
        TermKind::Max(parts) | TermKind::Min(parts) | TermKind::Concat(parts) | TermKind::Match(_, parts) => all(parts),
        TermKind::Sum(inner) | TermKind::MaxOf(inner) | TermKind::MinOf(inner) | TermKind::Pick(inner, _) => {
            inner.is_integral()
        }
        TermKind::If(_, then, otherwise) => then.is_integral() && otherwise.is_integral(),
        _ => false,
    }
}

fn uses_of<'a>(terms: impl IntoIterator<Item = &'a Term>) -> Uses {
    terms.into_iter().fold(Uses::NONE, |uses, t| uses.with(t.uses))
}

/// The common length of operands that broadcast.
pub(crate) fn common_len<'a>(terms: impl IntoIterator<Item = &'a Term>) -> usize {
    terms.into_iter().map(|t| t.len).fold(1, |len, other| if other == 1 { len } else { other })
}

impl TermNode {
    /// The value of a constant real term.
    pub fn numbers(&self) -> Option<&[f64]> {
        match &self.kind {
            TermKind::Number(values, _) => Some(values),
            _ => None,
        }
    }

    /// The value of a constant truth term.
    pub fn truths(&self) -> Option<&[bool]> {
        match &self.kind {
            TermKind::Truth(values, _) => Some(values),
            _ => None,
        }
    }

    /// The terms that it is made of.
    pub fn operands(&self) -> Vec<&Term> {
        match &self.kind {
            TermKind::Number(..)
            | TermKind::Truth(..)
            | TermKind::State(_)
            | TermKind::Next(_)
            | TermKind::Input(_)
            | TermKind::FreeParam(_)
            | TermKind::Policy(_)
            | TermKind::Define(_)
            | TermKind::IsLabel(..) => Vec::new(),
            TermKind::Apply(_, a)
            | TermKind::Sum(a)
            | TermKind::MaxOf(a)
            | TermKind::MinOf(a)
            | TermKind::Pick(a, _)
            | TermKind::Member(a, _)
            | TermKind::Not(a)
            | TermKind::All(a)
            | TermKind::Any(a)
            | TermKind::Throughout(a, _) => vec![a],
            TermKind::Power(a, b) | TermKind::Compare(_, a, b) | TermKind::Iff(a, b) => vec![a, b],
            TermKind::If(a, b, c) => vec![a, b, c],
            TermKind::Add(parts) | TermKind::Mul(parts) => parts.iter().map(|(_, part)| part).collect(),
            TermKind::Net(_, parts)
            | TermKind::OpenNet(_, parts)
            | TermKind::Max(parts)
            | TermKind::Min(parts)
            | TermKind::Concat(parts)
            | TermKind::And(parts)
            | TermKind::Or(parts)
            | TermKind::Match(_, parts) => parts.iter().collect(),
        }
    }

    /// Whether its own operation is not defined for all numbers.
    fn is_partial_itself(&self) -> bool {
        match &self.kind {
            TermKind::Define(_) | TermKind::Power(..) | TermKind::Net(..) | TermKind::Throughout(..) => true,
            TermKind::Apply(function, _) => matches!(function, Function::Log | Function::Sqrt | Function::Tan),
            TermKind::Mul(parts) => parts.iter().any(|(divides, _)| *divides),
            _ => false,
        }
    }

    /// Whether some operation in it is not defined for all numbers. Names count: what they stand for is not looked at.
    pub fn may_be_undefined(&self) -> bool {
        self.partial
    }

    /// Whether its values are obviously integers.
    pub fn is_integral(&self) -> bool {
        match &self.kind {
            TermKind::Number(values, _) => values.iter().all(|value| value.fract() == 0.0),
            _ => self.integral,
        }
    }

    /// Whether a parameter had a part in it.
    pub fn is_from_param(&self) -> bool {
        matches!(self.kind, TermKind::Number(_, true) | TermKind::Truth(_, true))
    }
}

pub(crate) fn numbers(values: Vec<f64>, from_param: bool) -> Term {
    constants(values, from_param, Sort::Real)
}

/// Constant numbers, or labels by their places.
pub(crate) fn constants(values: Vec<f64>, from_param: bool, sort: Sort) -> Term {
    let len = values.len();
    node(TermKind::Number(values, from_param), sort, len, Uses::NONE)
}

pub(crate) fn number(value: f64) -> Term {
    numbers(vec![value], false)
}

pub(crate) fn truths(values: Vec<bool>, from_param: bool) -> Term {
    let len = values.len();
    node(TermKind::Truth(values, from_param), Sort::Bool, len, Uses::NONE)
}

/// A named term: a variable, a define, a policy.
pub(crate) fn leaf(kind: TermKind, sort: Sort, len: usize, uses: Uses) -> Term {
    node(kind, sort, len, uses)
}

/// A named term whose values are integers.
pub(crate) fn integral_leaf(kind: TermKind, sort: Sort, len: usize, uses: Uses) -> Term {
    let partial = matches!(kind, TermKind::Define(_));
    Rc::new(TermNode { kind, sort, len, uses, integral: true, partial })
}

/// A condition along the flow of a step.
pub(crate) fn throughout(condition: Term, part: Part) -> Term {
    let uses = condition.uses.with(Uses::NEXT).with(Uses::FLOW);
    node(TermKind::Throughout(condition, part), Sort::Bool, 1, uses)
}

pub(crate) fn net(network: usize, arguments: Vec<Term>, outputs: usize) -> Term {
    let uses = uses_of(&arguments).with(Uses::POLICY);
    node(TermKind::Net(network, arguments), Sort::Real, outputs, uses)
}

pub(crate) fn open_net(network: usize, arguments: Vec<Term>, outputs: usize) -> Term {
    let uses = uses_of(&arguments).with(Uses::POLICY);
    node(TermKind::OpenNet(network, arguments), Sort::Real, outputs, uses)
}
