//! Expressions, by precedence climbing.

use crate::diagnostics::Diagnostic;
use crate::syntax::ast::{
    Arm, Bound, ChainOp, CompareOp, Comprehension, Expr, ExprKind, Ident, InfixOp, Level, PrefixOp,
};
use crate::syntax::{Keyword, Span, Symbol, TokenKind};

use super::{Failed, MAX_DEPTH, Parsed, Parser};

/// An operator between two operands.
enum Between {
    Chain(ChainOp),
    Infix(InfixOp),
    Compare(CompareOp),
    In,
}

impl Parser<'_> {
    pub(super) fn expression(&mut self) -> Parsed<Expr> {
        self.expression_at(Level::Iff)
    }

    /// An expression whose operators bind at least as tightly as `minimum`.
    fn expression_at(&mut self, minimum: Level) -> Parsed<Expr> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            let span = self.span();
            self.report.push(
                Diagnostic::error("nesting", "this expression is nested too deeply")
                    .at(span, format!("more than {MAX_DEPTH} levels"))
                    .help("give parts of it names with `define`"),
            );
            return Err(Failed);
        }
        let mut left = self.prefixed(minimum)?;
        while let Some((operator, level)) = self.operator_between() {
            if level < minimum {
                break;
            }
            left = self.operation(left, operator, level)?;
        }
        self.depth -= 1;
        Ok(left)
    }

    fn operation(&mut self, left: Expr, operator: Between, level: Level) -> Parsed<Expr> {
        let operator_span = self.advance();
        match operator {
            Between::Chain(op) => {
                let right = self.expression_at(tighter(level))?;
                Ok(Expr::chain(left, op, right))
            }
            Between::Infix(op) => {
                let op = match op {
                    InfixOp::Until(_) => InfixOp::Until(self.bound()?),
                    InfixOp::WeakUntil(_) => InfixOp::WeakUntil(self.bound()?),
                    InfixOp::Release(_) => InfixOp::Release(self.bound()?),
                    op => op,
                };
                // `2^-3` needs no parentheses.
                let level = if level == Level::Power { Level::Negation } else { level };
                let right = self.expression_at(level)?;
                let span = left.span.to(right.span);
                Ok(Expr { kind: ExprKind::Infix(op, Box::new(left), Box::new(right)), span })
            }
            Between::Compare(op) => {
                let right = self.expression_at(Level::Sum)?;
                let span = left.span.to(right.span);
                let kind = ExprKind::Compare(op, Box::new(left), Box::new(right));
                self.no_second_comparison(operator_span)?;
                Ok(Expr { kind, span })
            }
            Between::In => {
                let (span, kind) = if self.at_symbol(Symbol::LeftBrace) {
                    let set = self.set()?;
                    (left.span.to(set.span), ExprKind::InSet(Box::new(left), Box::new(set)))
                } else {
                    let range = self.range()?;
                    (left.span.to(range.span), ExprKind::InRange(Box::new(left), Box::new(range)))
                };
                self.no_second_comparison(operator_span)?;
                Ok(Expr { kind, span })
            }
        }
    }

    fn no_second_comparison(&mut self, first: Span) -> Parsed<()> {
        let Some((_, Level::Comparison)) = self.operator_between() else { return Ok(()) };
        let span = self.span();
        self.report.push(
            Diagnostic::error("comparison", "comparisons cannot be chained")
                .at(span, "second comparison")
                .at(first, "first comparison")
                .help("write `a < b & b < c`, or `b in [a, c]`"),
        );
        Err(Failed)
    }

    fn operator_between(&self) -> Option<(Between, Level)> {
        let chain = |op: ChainOp| Some((Between::Chain(op), op.level()));
        let infix = |op: InfixOp| {
            let level = op.level();
            Some((Between::Infix(op), level))
        };
        let compare = |op| Some((Between::Compare(op), Level::Comparison));
        match self.peek() {
            TokenKind::Symbol(symbol) => match symbol {
                Symbol::Iff => infix(InfixOp::Iff),
                Symbol::Implies => infix(InfixOp::Implies),
                Symbol::Or => chain(ChainOp::Or),
                Symbol::And => chain(ChainOp::And),
                Symbol::Plus => chain(ChainOp::Add),
                Symbol::Minus => chain(ChainOp::Sub),
                Symbol::Star => chain(ChainOp::Mul),
                Symbol::Slash => chain(ChainOp::Div),
                Symbol::Caret => infix(InfixOp::Power),
                Symbol::Less => compare(CompareOp::Less),
                Symbol::LessEqual => compare(CompareOp::LessEqual),
                Symbol::Greater => compare(CompareOp::Greater),
                Symbol::GreaterEqual => compare(CompareOp::GreaterEqual),
                Symbol::Equal => compare(CompareOp::Equal),
                Symbol::NotEqual => compare(CompareOp::NotEqual),
                _ => None,
            },
            TokenKind::Keyword(Keyword::Until) => infix(InfixOp::Until(None)),
            TokenKind::Keyword(Keyword::WeakUntil) => infix(InfixOp::WeakUntil(None)),
            TokenKind::Keyword(Keyword::Release) => infix(InfixOp::Release(None)),
            TokenKind::Keyword(Keyword::In) => Some((Between::In, Level::Comparison)),
            _ => None,
        }
    }

    fn prefixed(&mut self, minimum: Level) -> Parsed<Expr> {
        let start = self.span();
        let (op, level) = match self.peek() {
            TokenKind::Symbol(Symbol::Minus) => (PrefixOp::Negate, Level::Negation),
            TokenKind::Symbol(Symbol::Not) => (PrefixOp::Not, Level::Prefix),
            TokenKind::Keyword(Keyword::NextTime) => (PrefixOp::Next, Level::Prefix),
            TokenKind::Keyword(Keyword::Globally) => (PrefixOp::Globally(None), Level::Prefix),
            TokenKind::Keyword(Keyword::Finally) => (PrefixOp::Finally(None), Level::Prefix),
            _ => return self.postfixed(),
        };
        if level < minimum {
            let found = self.peek().describe();
            self.report.push(
                Diagnostic::error("syntax", format!("{found} needs parentheses here"))
                    .at(start, "binds more loosely than the operator before it"),
            );
            return Err(Failed);
        }
        self.advance();
        let op = match op {
            PrefixOp::Globally(_) => PrefixOp::Globally(self.bound()?),
            PrefixOp::Finally(_) => PrefixOp::Finally(self.bound()?),
            op => op,
        };
        let operand = self.expression_at(level)?;
        let span = start.to(operand.span);
        Ok(Expr { kind: ExprKind::Prefix(op, Box::new(operand)), span })
    }

    /// `<=k` or `[l, k]` after a temporal operator.
    fn bound(&mut self) -> Parsed<Option<Box<Bound>>> {
        if self.eat(Symbol::LessEqual) {
            let upper = self.bound_value("a number of steps or of seconds")?;
            let seconds = self.unit();
            return Ok(Some(Box::new(Bound { lower: None, upper, seconds })));
        }
        if self.eat(Symbol::LeftBracket) {
            let lower = self.expression()?;
            let seconds = self.unit();
            self.expect(Symbol::Comma, "between the first and the last step")?;
            let upper = self.expression()?;
            if self.unit() != seconds {
                let help = "both ends are steps, `[2, 5]`, or both are seconds, `[0.2s, 0.5s]`".to_owned();
                return Err(self.unexpected_with("two ends in the same unit", Some(help)));
            }
            self.expect(Symbol::RightBracket, "after the bound")?;
            return Ok(Some(Box::new(Bound { lower: Some(lower), upper, seconds })));
        }
        if let TokenKind::Symbol(Symbol::Less | Symbol::Greater | Symbol::GreaterEqual) = self.peek() {
            let help = "the bounded forms are `F<=k` and `F[l, k]`".to_owned();
            return Err(self.unexpected_with("`<=`, `[` or a formula", Some(help)));
        }
        Ok(None)
    }

    /// The unit `s` right after a number or a closing parenthesis. Anywhere else `s` is a name like any other.
    fn unit(&mut self) -> bool {
        let adjacent = self.span().start == self.last_span().end;
        let found = adjacent && matches!(self.peek(), TokenKind::Name(word) if word == "s");
        if found {
            self.advance();
        }
        found
    }

    /// A number, a name or a constant expression in parentheses.
    pub(super) fn bound_value(&mut self, what: &str) -> Parsed<Expr> {
        match self.peek() {
            TokenKind::Number(_) | TokenKind::Name(_) => self.primary(false),
            TokenKind::Symbol(Symbol::LeftParen) => {
                self.advance();
                let inner = self.expression()?;
                self.expect(Symbol::RightParen, "after the bound")?;
                Ok(inner)
            }
            _ => Err(self.unexpected(&format!("{what} (a number, a name, or an expression in parentheses)"))),
        }
    }

    fn postfixed(&mut self) -> Parsed<Expr> {
        let mut expr = self.primary(true)?;
        let mut count = 0;
        // On a new line outside brackets `[` begins nothing, and is reported as such.
        while self.at_symbol(Symbol::LeftBracket) && (self.brackets > 0 || !self.token().starts_line) {
            count += 1;
            if count > MAX_DEPTH {
                return Err(self.unexpected("fewer indices"));
            }
            expr = self.index(expr)?;
        }
        Ok(expr)
    }

    fn index(&mut self, base: Expr) -> Parsed<Expr> {
        self.advance();
        let from = if self.at_symbol(Symbol::Range) { None } else { Some(Box::new(self.expression()?)) };
        let is_slice = self.eat(Symbol::Range);
        let to =
            if !is_slice || self.at_symbol(Symbol::RightBracket) { None } else { Some(Box::new(self.expression()?)) };
        let end = self.expect(Symbol::RightBracket, "after the index")?;
        let span = base.span.to(end);
        let kind = match from {
            Some(index) if !is_slice => ExprKind::Index(Box::new(base), index),
            from => ExprKind::Slice(Box::new(base), from, to),
        };
        Ok(Expr { kind, span })
    }

    fn primary(&mut self, calls: bool) -> Parsed<Expr> {
        let span = self.span();
        let kind = match self.peek().clone() {
            TokenKind::Number(value) => {
                self.advance();
                ExprKind::Number(value, self.text[span.start..span.end].to_owned())
            }
            TokenKind::Text(text) => {
                self.advance();
                ExprKind::Text(text)
            }
            TokenKind::Keyword(word @ (Keyword::True | Keyword::False)) => {
                self.advance();
                ExprKind::Bool(word == Keyword::True)
            }
            TokenKind::Keyword(Keyword::Next) if *self.peek_second() == TokenKind::Symbol(Symbol::LeftParen) => {
                self.advance();
                return self.call(Ident { name: "next".into(), span });
            }
            TokenKind::Name(name) => {
                self.advance();
                let same_line = self.brackets > 0 || !self.token().starts_line;
                if calls && self.at_symbol(Symbol::LeftParen) && same_line {
                    return self.call(Ident { name, span });
                }
                ExprKind::Name(name)
            }
            TokenKind::Symbol(Symbol::LeftParen) => {
                self.advance();
                let inner = self.expression()?;
                self.closing(Symbol::RightParen, span)?;
                return Ok(inner);
            }
            TokenKind::Symbol(Symbol::LeftBracket) => return self.vector(),
            TokenKind::Keyword(Keyword::If) => return self.conditional(),
            TokenKind::Keyword(Keyword::Match) => return self.matching(),
            TokenKind::Keyword(word @ (Keyword::Probability | Keyword::ProbabilityMin | Keyword::ProbabilityMax)) => {
                self.report.push(
                    Diagnostic::error(
                        "probability",
                        format!("`{}` can only stand at the beginning of a property", word.text()),
                    )
                    .at(span, "not inside a formula"),
                );
                return Err(Failed);
            }
            _ => return Err(self.unexpected("an expression")),
        };
        Ok(Expr { kind, span })
    }

    fn closing(&mut self, symbol: Symbol, opened: Span) -> Parsed<Span> {
        if self.at_symbol(symbol) {
            return Ok(self.advance());
        }
        let (found, span) = self.found();
        self.report.push(
            Diagnostic::error("syntax", format!("expected `{}`, found {found}", symbol.text()))
                .at(span, format!("expected `{}` or an operator", symbol.text()))
                .at(opened, "opened here"),
        );
        Err(Failed)
    }

    /// Expressions up to `end`, which is consumed; a comma may follow the last one.
    fn list(&mut self, end: Symbol, opened: Span) -> Parsed<(Vec<Expr>, Span)> {
        let mut items = Vec::new();
        while !self.at_symbol(end) {
            items.push(self.expression()?);
            if !self.eat(Symbol::Comma) {
                break;
            }
        }
        let close = self.closing(end, opened)?;
        Ok((items, close))
    }

    fn call(&mut self, function: Ident) -> Parsed<Expr> {
        let opened = self.advance();
        let (arguments, end) = self.list(Symbol::RightParen, opened)?;
        let span = function.span.to(end);
        Ok(Expr { kind: ExprKind::Call(function, arguments), span })
    }

    fn vector(&mut self) -> Parsed<Expr> {
        let start = self.advance();
        let is_for = matches!(self.peek(), TokenKind::Name(word) if word == "for")
            && matches!(self.peek_second(), TokenKind::Name(_));
        if !is_for {
            let (items, end) = self.list(Symbol::RightBracket, start)?;
            return Ok(Expr { kind: ExprKind::Vector(items), span: start.to(end) });
        }
        self.advance();
        let variable = self.name("a variable")?;
        self.expect_keyword(Keyword::In, "and the values of the variable")?;
        let from = self.expression()?;
        self.expect(Symbol::Range, "between the first value and the end")?;
        let to = self.expression()?;
        self.expect(Symbol::Colon, "and the expression to repeat")?;
        let body = self.expression()?;
        let end = self.closing(Symbol::RightBracket, start)?;
        let comprehension = Comprehension { variable, from, to, body };
        Ok(Expr { kind: ExprKind::Comprehension(Box::new(comprehension)), span: start.to(end) })
    }

    fn conditional(&mut self) -> Parsed<Expr> {
        let start = self.advance();
        let condition = self.expression()?;
        self.expect_keyword(Keyword::Then, "after the condition")?;
        let then = self.expression()?;
        if !self.at_keyword(Keyword::Else) {
            let help = "`if` is an expression: it needs a value for both cases".to_owned();
            return Err(self.unexpected_with("`else`", Some(help)));
        }
        self.advance();
        let otherwise = self.expression()?;
        let span = start.to(otherwise.span);
        let kind = ExprKind::If(Box::new(condition), Box::new(then), Box::new(otherwise));
        Ok(Expr { kind, span })
    }

    fn matching(&mut self) -> Parsed<Expr> {
        let start = self.advance();
        let subject = self.expression_at(Level::Postfix)?;
        let opened = self.expect(Symbol::LeftBrace, "and the cases")?;
        let mut arms = Vec::new();
        while !self.at_symbol(Symbol::RightBrace) {
            arms.push(self.arm()?);
            if !self.eat(Symbol::Comma) {
                break;
            }
        }
        let end = self.closing(Symbol::RightBrace, opened)?;
        Ok(Expr { kind: ExprKind::Match(Box::new(subject), arms), span: start.to(end) })
    }

    fn arm(&mut self) -> Parsed<Arm> {
        let start = self.span();
        let mut labels = vec![self.name("a label or `_`")?];
        if labels[0].name == "_" {
            labels.clear();
        } else {
            while self.eat(Symbol::Or) {
                labels.push(self.name("a label")?);
            }
        }
        let pattern_span = start.to(self.last_span());
        self.expect(Symbol::Colon, "and the value of this case")?;
        Ok(Arm { labels, value: self.expression()?, pattern_span })
    }
}

/// The next tighter level: what the right operand of a left-associative operator needs.
fn tighter(level: Level) -> Level {
    match level {
        Level::Or => Level::And,
        Level::And => Level::Prefix,
        Level::Sum => Level::Product,
        _ => Level::Negation,
    }
}
