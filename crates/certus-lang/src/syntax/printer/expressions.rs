//! Expressions to documents, with no more parentheses than the grammar needs.

use crate::syntax::ast::{Arm, Bound, ChainOp, Expr, ExprKind, InfixOp, Level, Member, PrefixOp, Range, Set};
use crate::syntax::{Comment, Span};

use super::Printer;
use super::doc::{Doc, concat, group, nest, text};

impl Printer<'_> {
    pub(super) fn expr(&mut self, expr: &Expr) -> Doc {
        self.expr_at(expr, Level::Iff)
    }

    /// An expression in a place that takes operators of `minimum` and tighter ones.
    pub(super) fn expr_at(&mut self, expr: &Expr, minimum: Level) -> Doc {
        let mut docs = comment_lines(self.take_before(expr.span.start));
        let needs_parentheses = expr.level() < minimum;
        let body = self.bare(expr);
        if needs_parentheses {
            docs.push(group(concat([text("("), body, text(")")])));
        } else {
            docs.push(body);
        }
        if docs.len() == 1 { docs.remove(0) } else { nest(concat(docs)) }
    }

    fn bare(&mut self, expr: &Expr) -> Doc {
        match &expr.kind {
            ExprKind::Number(_, spelling) => text(spelling.clone()),
            ExprKind::Bool(value) => text(value.to_string()),
            ExprKind::Text(value) => text(quoted(value)),
            ExprKind::Name(name) => text(name.clone()),
            ExprKind::Vector(items) => self.list("[".into(), items, "]", expr.span.end),
            ExprKind::Comprehension(c) => {
                let head = concat([
                    text(format!("[for {} in ", c.variable.name)),
                    self.expr(&c.from),
                    text(".."),
                    self.expr(&c.to),
                    text(":"),
                ]);
                let body = self.expr(&c.body);
                let close = self.closing_comments(expr.span.end);
                let body = nest(concat([Doc::Line, body]));
                group(concat([head, body, close, Doc::SoftLine, text("]")]))
            }
            ExprKind::Call(function, arguments) => {
                self.list(format!("{}(", function.name), arguments, ")", expr.span.end)
            }
            ExprKind::Index(base, index) => {
                let base = self.expr_at(base, Level::Postfix);
                let index = self.expr(index);
                concat([base, text("["), index, self.closing_comments(expr.span.end), text("]")])
            }
            ExprKind::Slice(base, from, to) => {
                let mut docs = vec![self.expr_at(base, Level::Postfix), text("[")];
                docs.extend(from.as_ref().map(|e| self.expr(e)));
                docs.push(text(".."));
                docs.extend(to.as_ref().map(|e| self.expr(e)));
                docs.push(self.closing_comments(expr.span.end));
                docs.push(text("]"));
                concat(docs)
            }
            ExprKind::Prefix(op, operand) => self.prefix(op, operand),
            ExprKind::Chain(first, rest) => self.chain(first, rest),
            ExprKind::Infix(op, left, right) => self.infix(op, left, right),
            ExprKind::Compare(op, left, right) => {
                let left = self.expr_at(left, Level::Sum);
                let mut docs = vec![left, text(format!(" {} ", op.text()))];
                docs.push(self.expr_at(right, Level::Sum));
                concat(docs)
            }
            ExprKind::InRange(value, range) => {
                let value = self.expr_at(value, Level::Sum);
                concat([value, text(" in "), self.range(range)])
            }
            ExprKind::InSet(value, set) => {
                let value = self.expr_at(value, Level::Sum);
                concat([value, text(" in "), self.set(set)])
            }
            ExprKind::If(condition, then, otherwise) => self.conditional(condition, then, otherwise),
            ExprKind::Match(subject, arms) => {
                let head = concat([text("match "), self.expr_at(subject, Level::Postfix), text(" ")]);
                let body = self.braces(arms, expr.span.end, Self::arm, |arm| arm.pattern_span.start);
                group(concat([head, body]))
            }
        }
    }

    /// `if a then b`, with every `else if` on a line of its own if it does not fit on one.
    fn conditional(&mut self, condition: &Expr, then: &Expr, otherwise: &Expr) -> Doc {
        let first = self.case(condition, then);
        let mut tail = Vec::new();
        let mut rest = otherwise;
        while let ExprKind::If(condition, then, otherwise) = &rest.kind {
            tail.extend([Doc::Line, text("else ")]);
            tail.extend(comment_lines(self.take_before(rest.span.start)));
            tail.push(self.case(condition, then));
            rest = otherwise;
        }
        tail.extend([Doc::Line, text("else "), self.expr(rest)]);
        group(concat([first, nest(concat(tail))]))
    }

    fn case(&mut self, condition: &Expr, then: &Expr) -> Doc {
        let condition = self.expr(condition);
        let then = self.expr(then);
        group(concat([text("if "), condition, nest(concat([Doc::Line, text("then "), then]))]))
    }

    fn arm(&mut self, arm: &Arm) -> Doc {
        let labels: Vec<&str> = arm.labels.iter().map(|l| l.name.as_str()).collect();
        let pattern = if labels.is_empty() { "_".to_owned() } else { labels.join(" | ") };
        concat([text(format!("{pattern}: ")), self.expr(&arm.value)])
    }

    pub(super) fn range(&mut self, range: &Range) -> Doc {
        let low = self.expr(&range.low);
        let high = self.expr(&range.high);
        let close = self.closing_comments(range.span.end);
        concat([text("["), low, text(", "), high, close, text("]")])
    }

    pub(super) fn set(&mut self, set: &Set) -> Doc {
        let print = |printer: &mut Self, member: &Member| match member {
            Member::One(only) => printer.expr(only),
            Member::Run(from, to) => {
                let from = printer.expr(from);
                concat([from, text(".."), printer.expr(to)])
            }
        };
        self.filled("{".into(), &set.members, "}", set.span.end, print, Member::span)
    }

    fn prefix(&mut self, op: &PrefixOp, operand: &Expr) -> Doc {
        match op {
            PrefixOp::Negate => concat([text("-"), self.expr_at(operand, Level::Negation)]),
            PrefixOp::Not => {
                // `!x < 1` would be read as it should be, but not by everyone.
                let is_prefixed = operand.level() == Level::Prefix;
                let minimum = if is_prefixed { Level::Prefix } else { Level::Postfix };
                concat([text("!"), self.expr_at(operand, minimum)])
            }
            PrefixOp::Next => concat([text("X "), self.expr_at(operand, Level::Prefix)]),
            PrefixOp::Globally(bound) | PrefixOp::Finally(bound) => {
                let letter = if matches!(op, PrefixOp::Globally(_)) { "G" } else { "F" };
                let is_bounded = bound.is_some();
                let bound = self.bound(bound.as_deref());
                let operand = self.expr_at(operand, Level::Prefix);
                concat([text(letter), bound, text(" "), not_a_bound(operand, is_bounded)])
            }
        }
    }

    fn bound(&mut self, bound: Option<&Bound>) -> Doc {
        match bound {
            None => concat([]),
            Some(Bound { lower: None, upper, seconds: true }) => concat([text("<="), self.seconds(upper)]),
            Some(Bound { lower: Some(lower), upper, seconds: true }) => {
                let lower = self.seconds(lower);
                concat([text("["), lower, text(", "), self.seconds(upper), text("]")])
            }
            Some(Bound { lower: None, upper, .. }) => concat([text("<="), self.bound_value(upper)]),
            Some(Bound { lower: Some(lower), upper, .. }) => {
                let lower = self.expr(lower);
                concat([text("["), lower, text(", "), self.expr(upper), text("]")])
            }
        }
    }

    /// A number with its unit; anything else in parentheses.
    fn seconds(&mut self, value: &Expr) -> Doc {
        let comments = comment_lines(self.take_before(value.span.start));
        let body = self.bare(value);
        let alone = matches!(value.kind, ExprKind::Number(..));
        let body = if alone { body } else { concat([text("("), body, text(")")]) };
        concat(comments.into_iter().chain([body, text("s")]))
    }

    /// A number or a name stands alone, anything else in parentheses.
    pub(super) fn bound_value(&mut self, value: &Expr) -> Doc {
        let comments = comment_lines(self.take_before(value.span.start));
        let body = self.bare(value);
        let alone = matches!(value.kind, ExprKind::Number(..) | ExprKind::Name(_));
        let body = if alone { body } else { concat([text("("), body, text(")")]) };
        concat(comments.into_iter().chain([body]))
    }

    fn chain(&mut self, first: &Expr, rest: &[(ChainOp, Expr)]) -> Doc {
        let level = rest.first().map_or(Level::Postfix, |(op, _)| op.level());
        // A chain of the same operators on the left would be read as one chain.
        let operand_level = match level {
            Level::Or => Level::And,
            Level::And => Level::Prefix,
            Level::Sum => Level::Product,
            _ => Level::Negation,
        };
        let mut docs = vec![self.expr_at(first, operand_level)];
        let mut tail = Vec::new();
        for (op, operand) in rest {
            let behind = self.take_before(operand.span.start);
            if behind.is_empty() {
                tail.push(Doc::Line);
            } else {
                tail.extend(comments_behind(behind));
            }
            tail.push(text(format!("{} ", op.text())));
            tail.push(self.expr_at(operand, operand_level));
        }
        docs.push(nest(concat(tail)));
        group(concat(docs))
    }

    fn infix(&mut self, op: &InfixOp, left: &Expr, right: &Expr) -> Doc {
        let level = op.level();
        if *op == InfixOp::Power {
            let base = self.expr_at(left, Level::Postfix);
            return concat([base, text("^"), self.expr_at(right, Level::Negation)]);
        }
        let left_level = match level {
            Level::Iff => Level::Implies,
            Level::Implies => Level::Until,
            _ => Level::Or,
        };
        let left = self.expr_at(left, left_level);
        let mut docs = vec![Doc::Line, text(op.text())];
        let mut is_bounded = true;
        if let InfixOp::Until(bound) | InfixOp::WeakUntil(bound) | InfixOp::Release(bound) = op {
            is_bounded = bound.is_some();
            docs.push(self.bound(bound.as_deref()));
        }
        docs.push(text(" "));
        // `if` is as loose as can be, so it is told apart by its kind.
        let right_level = if matches!(right.kind, ExprKind::If(..)) { Level::Postfix } else { level };
        let right = self.expr_at(right, right_level);
        docs.push(not_a_bound(right, is_bounded));
        group(concat([left, nest(concat(docs))]))
    }

    /// Elements between brackets, filled into lines. Where the source begins a new line between two of
    /// them, as in the rows of a matrix, so does the result.
    fn list(&mut self, open: String, items: &[Expr], close: &'static str, end: usize) -> Doc {
        self.filled(open, items, close, end, Self::expr, |item| item.span)
    }

    /// The same of anything that is written with expressions.
    fn filled<T>(
        &mut self,
        open: String,
        items: &[T],
        close: &'static str,
        end: usize,
        print: impl Fn(&mut Self, &T) -> Doc,
        span: impl Fn(&T) -> Span,
    ) -> Doc {
        let mut words = Vec::new();
        let mut separator = None;
        for (i, item) in items.iter().enumerate() {
            let mut word: Vec<Doc> = separator.take().into_iter().collect();
            word.push(print(self, item));
            if let Some(next) = items.get(i + 1) {
                word.push(text(","));
                let comments = self.take_same_line(span(next).start);
                for comment in comments {
                    word.extend([text("  "), Doc::Comment(comment.text.clone())]);
                }
                let breaks = !comments.is_empty() || self.is_line_break(span(item).end, span(next).start);
                separator = Some(if breaks { Doc::HardLine } else { Doc::Line });
            }
            words.push(group(concat(word)));
        }
        let ending = self.closing_comments(end);
        match items {
            [] => concat([text(open), ending, text(close)]),
            // A single argument breaks inside itself.
            [_] => concat([text(open)].into_iter().chain(words).chain([ending, text(close)])),
            _ => {
                let inside = nest(concat([Doc::SoftLine, Doc::Fill(words)]));
                group(concat([text(open), inside, ending, Doc::SoftLine, text(close)]))
            }
        }
    }

    /// Entries between braces, on one line or on a line each.
    pub(super) fn braces<T>(
        &mut self,
        items: &[T],
        end: usize,
        print: impl Fn(&mut Self, &T) -> Doc,
        start: impl Fn(&T) -> usize,
    ) -> Doc {
        if items.is_empty() {
            return concat([text("{"), self.closing_comments(end), text("}")]);
        }
        let mut docs = vec![Doc::Line];
        for (i, item) in items.iter().enumerate() {
            docs.extend(comment_lines(self.take_before(start(item))));
            docs.push(print(self, item));
            match items.get(i + 1) {
                Some(next) => {
                    docs.push(text(","));
                    for comment in self.take_same_line(start(next)) {
                        docs.extend([text("  "), Doc::Comment(comment.text.clone())]);
                    }
                    docs.push(Doc::Line);
                }
                None => docs.push(Doc::IfBroken(",")),
            }
        }
        let ending = self.closing_comments(end);
        group(concat([text("{"), nest(concat(docs)), ending, Doc::Line, text("}")]))
    }

    /// The comments between the last element and a closing bracket that ends at `end`.
    fn closing_comments(&mut self, end: usize) -> Doc {
        let comments = self.take_before(end.saturating_sub(1));
        if comments.is_empty() { concat([]) } else { nest(concat(comments_behind(comments))) }
    }
}

/// Comments before something, each on a line of its own.
fn comment_lines(comments: &[Comment]) -> Vec<Doc> {
    comments.iter().flat_map(|c| [Doc::Comment(c.text.clone()), Doc::HardLine]).collect()
}

/// Comments behind something: the first on its line if it was there, each ended by a line break.
fn comments_behind(comments: &[Comment]) -> Vec<Doc> {
    let mut docs = Vec::new();
    for (i, comment) in comments.iter().enumerate() {
        if i == 0 {
            docs.push(if comment.own_line { Doc::HardLine } else { text("  ") });
        }
        docs.push(Doc::Comment(comment.text.clone()));
        docs.push(Doc::HardLine);
    }
    docs
}

/// Right after a temporal operator without a bound, `[` would be read as the beginning of one.
fn not_a_bound(operand: Doc, is_bounded: bool) -> Doc {
    if !is_bounded && operand.first_char() == Some('[') { concat([text("("), operand, text(")")]) } else { operand }
}

fn quoted(value: &str) -> String {
    format!("\"{}\"", value.replace('\\', "\\\\").replace('"', "\\\""))
}
