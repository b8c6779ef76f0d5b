//! What an operand has to be: its sort, its length, whether it is a constant.

use crate::diagnostics::Diagnostic;
use crate::syntax::Span;
use crate::syntax::ast::Expr;

use super::term::{Sort, Term};
use super::{Checker, Context, MAX_VECTOR};

impl Checker<'_> {
    /// Checks an expression that is a real or a vector of reals.
    pub(super) fn real(&mut self, e: &Expr) -> Option<Term> {
        let t = self.term(e)?;
        self.real_term(e, &t)?;
        Some(t)
    }

    /// Reports a term that is no real and no vector of reals.
    pub(super) fn real_term(&mut self, e: &Expr, t: &Term) -> Option<()> {
        if t.sort == Sort::Real {
            return Some(());
        }
        let help = match t.sort {
            Sort::Label(_) => "a number is made of a label by `match`",
            _ => "a number is made of a truth value by `if … then 1 else 0`",
        };
        self.error(Diagnostic::error("type", "a number is needed here").at(e.span, describe(t)).help(help));
        None
    }

    /// Checks an expression that is a truth value or a vector of them.
    pub(super) fn boolean(&mut self, e: &Expr) -> Option<Term> {
        let t = self.term(e)?;
        if t.sort == Sort::Bool {
            return Some(t);
        }
        let help = match t.sort {
            Sort::Label(_) => "a truth value is made of a label by a comparison with `==`",
            _ => "a truth value is made of a number by a comparison, such as `x > 0`",
        };
        self.error(Diagnostic::error("type", "a truth value is needed here").at(e.span, describe(&t)).help(help));
        None
    }

    /// Checks an expression that is one truth value.
    pub(super) fn scalar_bool(&mut self, e: &Expr, what: &str) -> Option<Term> {
        let t = self.boolean(e)?;
        if t.len == 1 {
            return Some(t);
        }
        self.error(
            Diagnostic::error("length", format!("{what} is a single truth value"))
                .at(e.span, describe(&t))
                .help("reduce it with `all(…)` or `any(…)`"),
        );
        None
    }

    /// A constant of any length, possibly through parameters.
    pub(super) fn constants(&mut self, e: &Expr, what: &str) -> Option<Term> {
        let t = self.within(Context::CONSTANT, |c| c.real(e))?;
        if t.numbers().is_some() {
            return Some(t);
        }
        self.error(
            Diagnostic::error("constant", format!("{what} cannot depend on a free parameter"))
                .at(e.span, "depends on a parameter without a value"),
        );
        None
    }

    /// A constant of any length in which no parameter has a part.
    pub(super) fn strict_constants(&mut self, e: &Expr, what: &str) -> Option<Term> {
        let t = self.within(Context::CONSTANT, |c| c.real(e))?;
        if t.numbers().is_some() && !t.is_from_param() {
            return Some(t);
        }
        self.error(
            Diagnostic::error("constant", format!("{what} cannot depend on a parameter"))
                .at(e.span, "depends on a parameter")
                .help("declare the parameter as a `const` instead"),
        );
        None
    }

    /// A constant integer in which no parameter has a part.
    pub(super) fn integer(&mut self, e: &Expr, what: &str) -> Option<i64> {
        let t = self.strict_constants(e, what)?;
        match t.numbers() {
            Some([v]) if v.fract() == 0.0 && v.abs() < 9e15 => Some(*v as i64),
            Some([v]) => {
                self.error(
                    Diagnostic::error("constant", format!("{what} is a whole number"))
                        .at(e.span, format!("this is {v}")),
                );
                None
            }
            _ => {
                self.error(Diagnostic::error("length", format!("{what} is a single number")).at(e.span, describe(&t)));
                None
            }
        }
    }

    /// Reports vectors that are too long.
    pub(super) fn vector_limit(&mut self, len: usize, span: Span) -> Option<()> {
        if len <= MAX_VECTOR {
            return Some(());
        }
        self.error(
            Diagnostic::error("size", "this vector is too long")
                .at(span, format!("{len} elements where {MAX_VECTOR} are allowed")),
        );
        None
    }

    /// Reports operands whose lengths neither agree nor broadcast.
    pub(super) fn fitting(&mut self, operands: &[(&Expr, &Term)], what: &str) -> Option<()> {
        let mut longest: Option<(&Expr, &Term)> = None;
        for (e, t) in operands {
            match longest {
                Some((other, o)) if o.len != 1 && t.len != 1 && o.len != t.len => {
                    self.error(
                        Diagnostic::error("length", format!("{what} have different lengths"))
                            .at(e.span, format!("length {}", t.len))
                            .at(other.span, format!("length {}", o.len)),
                    );
                    return None;
                }
                Some((_, o)) if o.len != 1 => {}
                _ => longest = Some((e, t)),
            }
        }
        Some(())
    }

    /// Reports operands of which some are numbers and some truth values.
    pub(super) fn same_sort(&mut self, operands: &[(&Expr, &Term)], what: &str) -> Option<()> {
        let Some((first_expr, first)) = operands.first() else { return Some(()) };
        let Some((e, t)) = operands.iter().find(|(_, t)| t.sort != first.sort) else { return Some(()) };
        let is_label = [first.sort, t.sort].iter().any(|sort| matches!(sort, Sort::Label(_)));
        let kinds = if is_label { "of one kind" } else { "all numbers or all truth values" };
        self.error(
            Diagnostic::error("type", format!("{what} are {kinds}"))
                .at(e.span, describe(t))
                .at(first_expr.span, describe(first)),
        );
        None
    }
}

/// How messages describe a term.
pub(super) fn describe(t: &Term) -> String {
    match (t.sort, t.len) {
        (Sort::Real, 1) => "this is a number".into(),
        (Sort::Bool, 1) => "this is a truth value".into(),
        (Sort::Real, n) => format!("this is a vector of {n} numbers"),
        (Sort::Bool, n) => format!("this is a vector of {n} truth values"),
        (Sort::Label(_), 1) => "this is a label".into(),
        (Sort::Label(_), n) => format!("this is a vector of {n} labels"),
    }
}
