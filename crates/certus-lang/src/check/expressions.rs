//! Expressions without temporal operators: sorts, lengths, constants.

use crate::diagnostics::Diagnostic;
use crate::syntax::Span;
use crate::syntax::ast::{ChainOp, CompareOp, Comprehension, Expr, ExprKind, InfixOp, PrefixOp, Range};

use super::labels::type_of;
use super::operands::describe;
use super::term::{self, Function, Sort, Term, TermKind, Uses};
use super::{Checker, Context, MAX_WORK, TERM_WEIGHT, Value, vectorize};

impl Checker<'_> {
    /// Checks an expression that has a value.
    pub(super) fn term(&mut self, e: &Expr) -> Option<Term> {
        let result = self.term_unmetered(e);
        self.expected = None;
        let result = result?;
        if !matches!(e.kind, ExprKind::Name(_)) {
            self.work += TERM_WEIGHT + result.len;
        }
        if self.exhausted {
            return None;
        }
        if self.work > MAX_WORK {
            self.exhausted = true;
            self.error(
                Diagnostic::error("size", "this file expands to more than can be handled")
                    .at(e.span, "the limit is reached here")
                    .help("make vectors and comprehensions smaller"),
            );
            return None;
        }
        if result.numbers().is_some_and(|v| v.iter().any(|x| !x.is_finite())) {
            self.error(
                Diagnostic::error("constant", "this constant is not a finite number")
                    .at(e.span, "division by zero, or a function outside its domain"),
            );
            return None;
        }
        Some(result)
    }

    fn term_unmetered(&mut self, e: &Expr) -> Option<Term> {
        // Whatever else stands in it expects nothing.
        let expected = self.expected.take();
        match &e.kind {
            ExprKind::Number(value, _) => Some(term::number(*value)),
            ExprKind::Bool(value) => Some(term::truths(vec![*value], false)),
            ExprKind::Text(_) => {
                self.error(
                    Diagnostic::error("text", "a text has no value")
                        .at(e.span, "only the path of a network is written in quotes"),
                );
                None
            }
            ExprKind::Name(name) => self.name(name, expected, e.span),
            ExprKind::Vector(items) => self.joined(items, expected, e.span),
            ExprKind::Comprehension(c) => self.comprehension(c, e.span),
            ExprKind::Call(function, arguments) => self.call(function, arguments, e.span),
            ExprKind::Index(base, index) => self.index(base, index),
            ExprKind::Slice(base, from, to) => self.slice(base, from.as_deref(), to.as_deref(), e.span),
            ExprKind::Prefix(op, operand) => self.prefix(op, operand, e.span),
            ExprKind::Chain(first, rest) => self.chain(first, rest),
            ExprKind::Infix(op, a, b) => self.infix(op, a, b, e.span),
            ExprKind::Compare(op, a, b) => self.comparison(*op, a, b),
            ExprKind::InRange(value, range) => self.in_range(value, range),
            ExprKind::InSet(value, set) => self.in_set(value, set),
            ExprKind::If(c, a, b) => {
                let condition = self.scalar_bool(c, "the condition of `if`");
                let expected = expected.or_else(|| self.label_type(e));
                let (then, otherwise) = (self.term_as(a, expected), self.term_as(b, expected));
                let (condition, then, otherwise) = (condition?, then?, otherwise?);
                self.same_sort(&[(a, &then), (b, &otherwise)], "the two branches of `if`")?;
                self.fitting(&[(a, &then), (b, &otherwise)], "the two branches of `if`")?;
                Some(term::conditional(condition, then, otherwise))
            }
            ExprKind::Match(subject, arms) => {
                self.expected = expected;
                self.matching(subject, arms, e.span)
            }
        }
    }

    fn name(&mut self, name: &str, expected: Option<usize>, span: Span) -> Option<Term> {
        if let Some((_, value)) = self.locals.iter().rev().find(|(n, _)| n == name) {
            return Some(Term::clone(value));
        }
        let Some(&index) = self.by_name.get(name) else {
            return self.label_value(name, expected, span);
        };
        self.entries[index].is_used = true;
        match self.entries[index].value.clone() {
            Value::Term(t) => {
                self.allowed(&t, name, index, span)?;
                Some(t)
            }
            Value::Choice(_) => {
                let labels = self.labels_of(index);
                let what = self.entries[index].kind.describe();
                self.error(
                    Diagnostic::error("type", format!("`{name}` is {what}, it has no value"))
                        .at(span, "one of its labels, not a number")
                        .help(format!("write `match {name} {{ {}: …, … }}` or `{name} == {}`", labels[0], labels[0])),
                );
                None
            }
            Value::Formula(_) => {
                self.error(
                    Diagnostic::error("temporal", format!("`{name}` is a temporal formula"))
                        .at(span, "it can only be used in properties, outside of arithmetic and `if`"),
                );
                None
            }
            Value::Failed | Value::Pending => None,
        }
    }

    /// Whether the context may speak of what a name speaks of.
    fn allowed(&mut self, t: &Term, name: &str, index: usize, span: Span) -> Option<()> {
        let excess = t.uses.without(self.context.allowed);
        if excess == Uses::NONE {
            return Some(());
        }
        let place = self.context.place;
        let what = self.entries[index].kind.describe();
        let diagnostic = if self.context.allowed == Uses::NONE {
            Diagnostic::error("constant", "this is not a constant")
                .at(span, format!("`{name}` is {what}"))
                .help("constants are numbers, `const` declarations and what is computed from them")
        } else if excess.includes(Uses::FLOW) {
            Diagnostic::error("context", format!("{place} cannot speak of what happens within a step"))
                .at(span, format!("`{name}` mentions `throughout(…)`"))
                .help("`throughout(φ)` can be used in properties")
        } else if excess.includes(Uses::NEXT) {
            Diagnostic::error("context", format!("{place} cannot speak of the next state"))
                .at(span, format!("`{name}` mentions `next(…)`"))
                .help("`next(x)` can be used in `assume`, `reward` and properties")
        } else {
            let also = match excess {
                Uses::INPUT => "the environment's input",
                Uses::CHANCE => "a chance variable",
                Uses::POLICY => "the policy",
                Uses::ACTION => "an action",
                _ => "more than the state",
            };
            let label = match self.entries[index].kind {
                super::EntryKind::Define(_) => format!("`{name}` depends on {also}"),
                _ => format!("`{name}` is {what}"),
            };
            Diagnostic::error("context", format!("{place} speaks of the state only")).at(span, label)
        };
        self.error(diagnostic);
        None
    }

    /// Elements and vectors after each other.
    pub(super) fn joined(&mut self, items: &[Expr], expected: Option<usize>, span: Span) -> Option<Term> {
        let expected = expected.or_else(|| items.iter().find_map(|e| self.label_type(e)));
        let parts: Vec<Option<Term>> = items.iter().map(|e| self.term_as(e, expected)).collect();
        let parts: Vec<Term> = parts.into_iter().collect::<Option<_>>()?;
        let pairs: Vec<(&Expr, &Term)> = items.iter().zip(&parts).collect();
        self.same_sort(&pairs, "the elements of a vector")?;
        self.vector_limit(parts.iter().map(|t| t.len).sum(), span)?;
        let sort = parts.first().map_or(Sort::Real, |t| t.sort);
        Some(term::concat(parts, sort))
    }

    fn comprehension(&mut self, c: &Comprehension, span: Span) -> Option<Term> {
        let from = self.integer(&c.from, "the first value of a comprehension");
        let to = self.integer(&c.to, "the end of a comprehension");
        let (from, to) = (from?, to?);
        let count = usize::try_from(to.saturating_sub(from)).unwrap_or(0);
        self.vector_limit(count, span)?;
        let mut parts: Vec<Term> = Vec::with_capacity(count);
        let mut total = 0;
        for i in from..to {
            self.locals.push((c.variable.name.clone(), term::number(i as f64)));
            let part = self.term(&c.body);
            self.locals.pop();
            // One message for the first element is enough: the others would repeat it.
            let part = part?;
            if parts.first().is_some_and(|t| t.sort != part.sort) {
                self.error(
                    Diagnostic::error("type", "the elements of a vector are all numbers or all truth values")
                        .at(c.body.span, "changes its kind"),
                );
                return None;
            }
            total += part.len;
            self.vector_limit(total, span)?;
            parts.push(part);
        }
        if let Some(together) = vectorize::vectorize(&parts) {
            return Some(together);
        }
        let sort = parts.first().map_or(Sort::Real, |t| t.sort);
        Some(term::concat(parts, sort))
    }

    /// A position in a vector, counted from the end if negative.
    fn position(&mut self, e: &Expr, len: usize, is_end: bool, base: &Expr) -> Option<usize> {
        let value = self.integer(e, "an index")?;
        let from_start = if value < 0 { value + len as i64 } else { value };
        let limit = if is_end { len as i64 } else { len as i64 - 1 };
        if (0..=limit).contains(&from_start) {
            return Some(from_start as usize);
        }
        let name = self.source(base.span);
        let help = match len {
            0 => "the vector is empty".to_owned(),
            _ => format!("the elements are {name}[0] to {name}[{}], or {name}[-1] for the last", len - 1),
        };
        let help = if name.len() > 30 { format!("indices go from 0 to {}", len as i64 - 1) } else { help };
        self.error(
            Diagnostic::error("index", "this index is outside the vector")
                .at(e.span, format!("index {value}"))
                .at(base.span, format!("length {len}"))
                .help(help),
        );
        None
    }

    fn index(&mut self, base: &Expr, index: &Expr) -> Option<Term> {
        let vector = self.term(base)?;
        let at = self.position(index, vector.len, false, base)?;
        Some(term::slice(&vector, at, 1))
    }

    fn slice(&mut self, base: &Expr, from: Option<&Expr>, to: Option<&Expr>, span: Span) -> Option<Term> {
        let vector = self.term(base)?;
        let start = from.map_or(Some(0), |e| self.position(e, vector.len, true, base));
        let end = to.map_or(Some(vector.len), |e| self.position(e, vector.len, true, base));
        let (start, end) = (start?, end?);
        if start > end {
            self.error(
                Diagnostic::error("index", "this slice ends before it begins")
                    .at(span, format!("from {start} to {end}")),
            );
            return None;
        }
        Some(term::slice(&vector, start, end - start))
    }

    fn prefix(&mut self, op: &PrefixOp, operand: &Expr, span: Span) -> Option<Term> {
        match op {
            PrefixOp::Negate => Some(term::apply(Function::Negate, self.real(operand)?)),
            PrefixOp::Not => Some(term::not(self.boolean(operand)?)),
            PrefixOp::Next | PrefixOp::Globally(_) | PrefixOp::Finally(_) => self.misplaced_temporal(span),
        }
    }

    fn misplaced_temporal(&mut self, span: Span) -> Option<Term> {
        let place = self.context.place;
        let message = if place == Context::PROPERTY.place || place == Context::DEFINE.place {
            "a temporal formula cannot stand inside arithmetic, functions or `match`".to_owned()
        } else {
            format!("{place} has no temporal operators")
        };
        self.error(
            Diagnostic::error("temporal", message)
                .at(span, "temporal formula")
                .help("`G F X U W R` belong into properties, joined by `& | ! -> <->`"),
        );
        None
    }

    fn chain(&mut self, first: &Expr, rest: &[(ChainOp, Expr)]) -> Option<Term> {
        let Some((op, _)) = rest.first() else { return self.term(first) };
        let is_logical = matches!(op, ChainOp::And | ChainOp::Or);
        let mut parts: Vec<(bool, &Expr, Option<Term>)> = Vec::with_capacity(rest.len() + 1);
        for (op, e) in std::iter::once((op, first)).chain(rest.iter().map(|(op, e)| (op, e))) {
            let flagged = !parts.is_empty() && matches!(op, ChainOp::Sub | ChainOp::Div);
            let t = if is_logical { self.boolean(e) } else { self.real(e) };
            parts.push((flagged, e, t));
        }
        let mut checked: Vec<(bool, Term)> = Vec::with_capacity(parts.len());
        let mut widest: Option<(&Expr, Term)> = None;
        for ((flagged, e, t), (op, _)) in parts.into_iter().zip(std::iter::once(&rest[0]).chain(rest)) {
            let t = t?;
            if let Some((wide, wide_term)) = &widest {
                self.fitting(&[(wide, wide_term), (e, &t)], &format!("the operands of `{}`", op.text()))?;
            }
            if widest.is_none() || t.len != 1 {
                widest = Some((e, t.clone()));
            }
            if flagged && *op == ChainOp::Div && t.numbers().is_some_and(|v| v.contains(&0.0)) {
                self.error(Diagnostic::error("constant", "division by zero").at(e.span, "this is zero"));
                return None;
            }
            checked.push((flagged, t));
        }
        let unflagged = |list: Vec<(bool, Term)>| list.into_iter().map(|(_, t)| t).collect();
        Some(match op {
            ChainOp::Add | ChainOp::Sub => term::add(checked),
            ChainOp::Mul | ChainOp::Div => term::mul(checked),
            ChainOp::And => term::and(unflagged(checked)),
            ChainOp::Or => term::or(unflagged(checked)),
        })
    }

    fn infix(&mut self, op: &InfixOp, a: &Expr, b: &Expr, span: Span) -> Option<Term> {
        match op {
            InfixOp::Power => {
                let (base, exponent) = (self.real(a), self.real(b));
                let (base, exponent) = (base?, exponent?);
                self.fitting(&[(a, &base), (b, &exponent)], "the operands of `^`")?;
                let is_constant = exponent.numbers().is_some() || matches!(exponent.kind, TermKind::FreeParam(_));
                if !is_constant {
                    self.error(
                        Diagnostic::error("constant", "an exponent is a constant")
                            .at(b.span, "depends on a variable")
                            .help("for a positive base write `exp(b * log(a))`"),
                    );
                    return None;
                }
                Some(term::power(base, exponent))
            }
            InfixOp::Implies | InfixOp::Iff => {
                let (left, right) = (self.boolean(a), self.boolean(b));
                let (left, right) = (left?, right?);
                let what = format!("the operands of `{}`", op.text());
                self.fitting(&[(a, &left), (b, &right)], &what)?;
                Some(match op {
                    InfixOp::Implies => term::or(vec![term::not(left), right]),
                    _ => term::iff(left, right),
                })
            }
            InfixOp::Until(_) | InfixOp::WeakUntil(_) | InfixOp::Release(_) => self.misplaced_temporal(span),
        }
    }

    fn comparison(&mut self, op: CompareOp, a: &Expr, b: &Expr) -> Option<Term> {
        if let Some(choice) = self.choice_name(a) {
            return self.label_comparison(op, choice, a, b);
        }
        if let Some(choice) = self.choice_name(b) {
            return self.label_comparison(op, choice, b, a);
        }
        let expected = self.label_type(a).or_else(|| self.label_type(b));
        let (left, right) = (self.term_as(a, expected), self.term_as(b, expected));
        let (left, right) = (left?, right?);
        if type_of(&left).or(type_of(&right)).is_some() {
            self.same_labels(op, (a, &left), (b, &right))?;
        }
        for (e, t) in [(a, &left), (b, &right)] {
            if t.sort == Sort::Bool {
                let help = match op {
                    CompareOp::Equal => "two truth values are compared by `<->`",
                    CompareOp::NotEqual => "two truth values are compared by `<->`, as in `!(a <-> b)`",
                    _ => "comparisons cannot be chained: write `a < b & b < c`",
                };
                self.error(
                    Diagnostic::error("type", format!("`{}` compares numbers", op.text()))
                        .at(e.span, describe(t))
                        .help(help),
                );
                return None;
            }
        }
        self.fitting(&[(a, &left), (b, &right)], &format!("the operands of `{}`", op.text()))?;
        Some(term::compare(op, left, right))
    }

    fn in_range(&mut self, value: &Expr, range: &Range) -> Option<Term> {
        let t = self.real(value);
        let (low, high) = (self.real(&range.low), self.real(&range.high));
        let (t, low, high) = (t?, low?, high?);
        for (e, end) in [(&range.low, &low), (&range.high, &high)] {
            self.fitting(&[(value, &t), (e, end)], "a value and its range")?;
        }
        if let (Some([a]), Some([b])) = (low.numbers(), high.numbers())
            && a > b
        {
            self.error(
                Diagnostic::error("range", "this range is empty").at(range.span, format!("{a} is greater than {b}")),
            );
            return None;
        }
        let above = term::compare(CompareOp::GreaterEqual, t.clone(), low);
        let below = term::compare(CompareOp::LessEqual, t, high);
        Some(term::and(vec![above, below]))
    }
}
