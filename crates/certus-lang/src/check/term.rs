//! Checked expressions.
//!
//! A term knows its sort, its length and what it speaks of. The constructors fold constants in
//! doubles, so a term without variables is always a [`TermKind::Number`] or a [`TermKind::Truth`].
//! A length of 1 broadcasts against every other length; there is no separate notion of a scalar.
//! Constructors expect operands whose lengths were checked to fit.

use std::rc::Rc;

use crate::syntax::ast::CompareOp;
use crate::system::ChoiceId;

use super::fold;

/// A shared checked expression.
pub(crate) type Term = Rc<TermNode>;

/// A checked expression.
#[derive(Debug)]
pub(crate) struct TermNode {
    pub kind: TermKind,
    pub sort: Sort,
    pub len: usize,
    pub uses: Uses,
}

/// What kind of value a term has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sort {
    Real,
    Bool,
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
    /// Everything known before the successor is.
    pub const PRESENT: Uses = Uses(31);
    pub const ALL: Uses = Uses(63);

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
    Rc::new(TermNode { kind, sort, len, uses })
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

    /// Whether a parameter had a part in it.
    pub fn from_param(&self) -> bool {
        matches!(self.kind, TermKind::Number(_, true) | TermKind::Truth(_, true))
    }
}

pub(crate) fn numbers(values: Vec<f64>, from_param: bool) -> Term {
    let len = values.len();
    node(TermKind::Number(values, from_param), Sort::Real, len, Uses::NONE)
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

pub(crate) fn apply(function: Function, t: Term) -> Term {
    if let TermKind::Number(values, p) = &t.kind {
        return numbers(values.iter().map(|v| fold::function(function, *v)).collect(), *p);
    }
    let (len, uses) = (t.len, t.uses);
    node(TermKind::Apply(function, t), Sort::Real, len, uses)
}

pub(crate) fn add(parts: Vec<(bool, Term)>) -> Term {
    signed(parts, TermKind::Add, |a, b| a + b, |a, b| a - b, 0.0)
}

pub(crate) fn mul(parts: Vec<(bool, Term)>) -> Term {
    signed(parts, TermKind::Mul, |a, b| a * b, |a, b| a / b, 1.0)
}

fn signed(
    mut parts: Vec<(bool, Term)>,
    kind: fn(Vec<(bool, Term)>) -> TermKind,
    plain: fn(f64, f64) -> f64,
    flagged: fn(f64, f64) -> f64,
    neutral: f64,
) -> Term {
    // The leading constants are folded from left to right, as the text says they are computed.
    let constant = parts.iter().take_while(|(_, t)| t.numbers().is_some()).count();
    if constant > 0 {
        let folded = parts.drain(..constant).fold(None, |acc: Option<Term>, (flag, t)| {
            let op = if flag { flagged } else { plain };
            match acc {
                None if !flag => Some(t),
                None => Some(fold::zip(&number(neutral), &t, op)),
                Some(acc) => Some(fold::zip(&acc, &t, op)),
            }
        });
        parts.splice(0..0, folded.map(|t| (false, t)));
    }
    if let [(false, only)] = parts.as_slice() {
        return Rc::clone(only);
    }
    let len = common_len(parts.iter().map(|(_, t)| t));
    let uses = uses_of(parts.iter().map(|(_, t)| t));
    node(kind(parts), Sort::Real, len, uses)
}

pub(crate) fn power(base: Term, exponent: Term) -> Term {
    if base.numbers().is_some() && exponent.numbers().is_some() {
        return fold::zip(&base, &exponent, f64::powf);
    }
    let (len, uses) = (common_len([&base, &exponent]), uses_of([&base, &exponent]));
    node(TermKind::Power(base, exponent), Sort::Real, len, uses)
}

/// The largest (or smallest) of several terms, elementwise.
pub(crate) fn extremum(largest: bool, parts: Vec<Term>) -> Term {
    if let [only] = parts.as_slice() {
        return Rc::clone(only);
    }
    let op = if largest { f64::max } else { f64::min };
    if parts.iter().all(|t| t.numbers().is_some()) {
        let mut rest = parts.iter();
        if let Some(first) = rest.next() {
            return rest.fold(Rc::clone(first), |acc, t| fold::zip(&acc, t, op));
        }
    }
    let (len, uses) = (common_len(&parts), uses_of(&parts));
    let kind = if largest { TermKind::Max(parts) } else { TermKind::Min(parts) };
    node(kind, Sort::Real, len, uses)
}

/// The sum of the elements.
pub(crate) fn sum(t: Term) -> Term {
    match &t.kind {
        TermKind::Number(values, p) => numbers(vec![values.iter().sum()], *p),
        _ if t.len == 1 => t,
        _ => {
            let uses = t.uses;
            node(TermKind::Sum(t), Sort::Real, 1, uses)
        }
    }
}

/// The largest (or smallest) element of a vector that has one.
pub(crate) fn extremum_of(largest: bool, t: Term) -> Term {
    let op = if largest { f64::max } else { f64::min };
    match &t.kind {
        TermKind::Number(values, p) => {
            let start = if largest { f64::NEG_INFINITY } else { f64::INFINITY };
            numbers(vec![values.iter().copied().fold(start, op)], *p)
        }
        _ if t.len == 1 => t,
        _ => {
            let uses = t.uses;
            let kind = if largest { TermKind::MaxOf(t) } else { TermKind::MinOf(t) };
            node(kind, Sort::Real, 1, uses)
        }
    }
}

/// Terms of one sort after each other.
pub(crate) fn concat(parts: Vec<Term>, sort: Sort) -> Term {
    let mut flat: Vec<Term> = Vec::with_capacity(parts.len());
    for part in parts {
        match &part.kind {
            _ if part.len == 0 => {}
            TermKind::Concat(inner) => inner.iter().for_each(|t| push_joined(&mut flat, t)),
            _ => push_joined(&mut flat, &part),
        }
    }
    match (flat.as_slice(), sort) {
        ([], Sort::Real) => numbers(Vec::new(), false),
        ([], Sort::Bool) => truths(Vec::new(), false),
        ([only], _) => Rc::clone(only),
        _ => {
            let len = flat.iter().map(|t| t.len).sum();
            let uses = uses_of(&flat);
            node(TermKind::Concat(flat), sort, len, uses)
        }
    }
}

/// Appends a term, joining constants and neighbouring runs of the same vector.
fn push_joined(list: &mut Vec<Term>, next: &Term) {
    let joined = match (list.last_mut().map(Rc::get_mut), &next.kind) {
        (Some(Some(TermNode { kind: TermKind::Number(a, p), len, .. })), TermKind::Number(b, q)) => {
            a.extend_from_slice(b);
            *p |= q;
            *len = a.len();
            true
        }
        (Some(Some(TermNode { kind: TermKind::Truth(a, p), len, .. })), TermKind::Truth(b, q)) => {
            a.extend_from_slice(b);
            *p |= q;
            *len = a.len();
            true
        }
        (
            Some(Some(TermNode { kind: TermKind::Pick(base, Positions::From(start)), len, .. })),
            TermKind::Pick(other, Positions::From(next_start)),
        ) if same(base, other) && *start + *len == *next_start => {
            *len += next.len;
            true
        }
        _ => false,
    };
    if joined {
        return;
    }
    // Constants and runs get a node of their own, so that what follows can be joined to it.
    list.push(match &next.kind {
        TermKind::Number(values, p) => numbers(values.clone(), *p),
        TermKind::Truth(values, p) => truths(values.clone(), *p),
        TermKind::Pick(base, positions) => {
            node(TermKind::Pick(Rc::clone(base), positions.clone()), next.sort, next.len, next.uses)
        }
        _ => Rc::clone(next),
    });
}

/// Whether two terms are the same variable or the same node.
pub(crate) fn same(a: &Term, b: &Term) -> bool {
    use TermKind::{Define, FreeParam, Input, Next, Policy, State};
    Rc::ptr_eq(a, b)
        || match (&a.kind, &b.kind) {
            (State(i), State(j))
            | (Next(i), Next(j))
            | (Input(i), Input(j))
            | (FreeParam(i), FreeParam(j))
            | (Policy(i), Policy(j))
            | (Define(i), Define(j)) => i == j,
            _ => false,
        }
}

/// A run of elements.
pub(crate) fn slice(t: &Term, start: usize, len: usize) -> Term {
    if start == 0 && len == t.len {
        return Rc::clone(t);
    }
    match &t.kind {
        TermKind::Number(values, p) => numbers(values[start..start + len].to_vec(), *p),
        TermKind::Truth(values, p) => truths(values[start..start + len].to_vec(), *p),
        TermKind::Pick(base, Positions::From(from)) => {
            node(TermKind::Pick(Rc::clone(base), Positions::From(from + start)), t.sort, len, t.uses)
        }
        TermKind::Pick(base, Positions::List(list)) => {
            pick(base, list[start..start + len].to_vec())
        }
        TermKind::Concat(parts) => {
            let mut from = 0;
            let mut pieces = Vec::new();
            for part in parts {
                let (low, high) = (start.max(from), (start + len).min(from + part.len));
                if low < high {
                    pieces.push(slice(part, low - from, high - low));
                }
                from += part.len;
            }
            concat(pieces, t.sort)
        }
        _ => node(TermKind::Pick(Rc::clone(t), Positions::From(start)), t.sort, len, t.uses),
    }
}

/// Elements at any positions.
pub(crate) fn pick(t: &Term, list: Vec<usize>) -> Term {
    if list.windows(2).all(|w| w[0] + 1 == w[1]) {
        return match list.first() {
            Some(start) => slice(t, *start, list.len()),
            None => concat(Vec::new(), t.sort),
        };
    }
    match &t.kind {
        TermKind::Number(values, p) => numbers(list.iter().map(|i| values[*i]).collect(), *p),
        TermKind::Truth(values, p) => truths(list.iter().map(|i| values[*i]).collect(), *p),
        TermKind::Pick(base, positions) => {
            pick(base, list.iter().map(|i| positions.at(*i)).collect())
        }
        _ => {
            let len = list.len();
            node(TermKind::Pick(Rc::clone(t), Positions::List(list)), t.sort, len, t.uses)
        }
    }
}

/// A term repeated to a length it broadcasts to.
pub(crate) fn broadcast(t: &Term, len: usize) -> Term {
    if t.len == len { Rc::clone(t) } else { pick(t, vec![0; len]) }
}

pub(crate) fn conditional(condition: Term, then: Term, otherwise: Term) -> Term {
    let len = common_len([&condition, &then, &otherwise]);
    if let Some([value]) = condition.truths() {
        let chosen = broadcast(if *value { &then } else { &otherwise }, len);
        return if condition.from_param() { tainted(&chosen) } else { chosen };
    }
    let sort = then.sort;
    let uses = uses_of([&condition, &then, &otherwise]);
    node(TermKind::If(condition, then, otherwise), sort, len, uses)
}

/// Marks a constant as depending on a parameter.
fn tainted(t: &Term) -> Term {
    match &t.kind {
        TermKind::Number(values, _) => numbers(values.clone(), true),
        TermKind::Truth(values, _) => truths(values.clone(), true),
        _ => Rc::clone(t),
    }
}

pub(crate) fn compare(op: CompareOp, a: Term, b: Term) -> Term {
    if a.numbers().is_some() && b.numbers().is_some() {
        return fold::compare(op, &a, &b);
    }
    let (len, uses) = (common_len([&a, &b]), uses_of([&a, &b]));
    node(TermKind::Compare(op, a, b), Sort::Bool, len, uses)
}

pub(crate) fn and(parts: Vec<Term>) -> Term {
    connective(parts, true)
}

pub(crate) fn or(parts: Vec<Term>) -> Term {
    connective(parts, false)
}

/// A conjunction, or a disjunction; `neutral` is the truth value that changes nothing.
fn connective(mut parts: Vec<Term>, neutral: bool) -> Term {
    let len = common_len(&parts);
    let from_param = parts.iter().any(|t| t.from_param());
    if parts.iter().all(|t| t.truths().is_some()) {
        let at = |t: &Term, i: usize| t.truths().is_none_or(|v| v[if v.len() == 1 { 0 } else { i }]);
        let value = |i| parts.iter().fold(neutral, |acc, t| if neutral { acc & at(t, i) } else { acc | at(t, i) });
        return truths((0..len).map(value).collect(), from_param);
    }
    if len == 1 {
        if parts.iter().any(|t| t.truths() == Some(&[!neutral])) {
            return truths(vec![!neutral], from_param);
        }
        parts.retain(|t| t.truths().is_none());
        if let [only] = parts.as_slice() {
            return Rc::clone(only);
        }
    }
    let uses = uses_of(&parts);
    let kind = if neutral { TermKind::And(parts) } else { TermKind::Or(parts) };
    node(kind, Sort::Bool, len, uses)
}

pub(crate) fn not(t: Term) -> Term {
    match &t.kind {
        TermKind::Truth(values, p) => truths(values.iter().map(|v| !v).collect(), *p),
        TermKind::Not(inner) => Rc::clone(inner),
        _ => {
            let (len, uses) = (t.len, t.uses);
            node(TermKind::Not(t), Sort::Bool, len, uses)
        }
    }
}

pub(crate) fn iff(a: Term, b: Term) -> Term {
    if a.truths().is_some() && b.truths().is_some() {
        return or(vec![and(vec![a.clone(), b.clone()]), and(vec![not(a), not(b)])]);
    }
    let (len, uses) = (common_len([&a, &b]), uses_of([&a, &b]));
    node(TermKind::Iff(a, b), Sort::Bool, len, uses)
}

/// Whether all (or any) elements are true.
pub(crate) fn quantified(all: bool, t: Term) -> Term {
    match &t.kind {
        TermKind::Truth(values, p) => {
            let value = if all { values.iter().all(|v| *v) } else { values.iter().any(|v| *v) };
            truths(vec![value], *p)
        }
        _ if t.len == 1 => t,
        _ => {
            let uses = t.uses;
            node(if all { TermKind::All(t) } else { TermKind::Any(t) }, Sort::Bool, 1, uses)
        }
    }
}

pub(crate) fn choice_uses(choice: ChoiceId) -> Uses {
    match choice {
        ChoiceId::Action(_) => Uses::ACTION,
        ChoiceId::Chance(_) => Uses::CHANCE,
    }
}

pub(crate) fn is_label(choice: ChoiceId, label: usize) -> Term {
    node(TermKind::IsLabel(choice, label), Sort::Bool, 1, choice_uses(choice))
}

/// One term per label, of one sort and fitting lengths.
pub(crate) fn matched(choice: ChoiceId, arms: Vec<Term>, sort: Sort) -> Term {
    let len = common_len(&arms);
    let uses = uses_of(&arms).with(choice_uses(choice));
    node(TermKind::Match(choice, arms), sort, len, uses)
}

pub(crate) fn net(network: usize, arguments: Vec<Term>, outputs: usize) -> Term {
    let uses = uses_of(&arguments).with(Uses::POLICY);
    node(TermKind::Net(network, arguments), Sort::Real, outputs, uses)
}
