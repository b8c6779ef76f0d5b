//! Declarations.

use crate::diagnostics::{Diagnostic, nearest};
use crate::syntax::ast::{
    ActionRule, CompareOp, Declaration, DeclarationKind, Ident, Member, PathProbability, Property, PropertyBody,
    Quantifier, Range, Set, Update, Values, VariableDeclaration,
};
use crate::syntax::{Keyword, Span, Symbol, TokenKind};

use super::{Failed, Parsed, Parser};

impl Parser<'_> {
    pub(super) fn declaration(&mut self) -> Parsed<Declaration> {
        let start = self.span();
        // No keyword, like `before`: files may call something so.
        if matches!(self.peek(), TokenKind::Name(word) if word == "after") {
            self.advance();
            let kind = DeclarationKind::After(self.update()?);
            let span = start.to(self.last_span());
            self.end_of_declaration()?;
            return Ok(Declaration { kind, span, doc: self.documentation(start) });
        }
        let TokenKind::Keyword(keyword) = *self.peek() else {
            return Err(self.not_a_declaration());
        };
        if !keyword.starts_declaration() {
            return Err(self.not_a_declaration());
        }
        self.advance();
        let kind = match keyword {
            Keyword::System => DeclarationKind::System(self.name("the name of the system")?),
            Keyword::Const => self.constants()?,
            Keyword::Param => self.parameter()?,
            Keyword::State => DeclarationKind::State(self.variable()?),
            Keyword::Input => DeclarationKind::Input(self.input()?),
            Keyword::Chance => self.chance()?,
            Keyword::Policy => {
                let name = self.named_value("policy")?;
                DeclarationKind::Policy { name, value: self.expression()? }
            }
            Keyword::Action => self.action()?,
            Keyword::Define => {
                let name = self.named_value("define")?;
                DeclarationKind::Define { name, value: self.expression()? }
            }
            Keyword::Init => DeclarationKind::Init(self.expression()?),
            Keyword::Assume => DeclarationKind::Assume(self.expression()?),
            Keyword::Next => DeclarationKind::Next(self.update()?),
            Keyword::Der => DeclarationKind::Der(self.update()?),
            Keyword::Step => {
                let dt = self.expression()?;
                let method = match self.peek() {
                    TokenKind::Name(_) if !self.token().starts_line => Some(self.name("`exact`, `euler` or `rk4`")?),
                    _ => None,
                };
                DeclarationKind::Step { dt, method }
            }
            Keyword::Reward => DeclarationKind::Reward(self.expression()?),
            Keyword::Terminal => DeclarationKind::Terminal(self.expression()?),
            _ => self.property()?,
        };
        let span = start.to(self.last_span());
        self.end_of_declaration()?;
        Ok(Declaration { kind, span, doc: self.documentation(start) })
    }

    fn end_of_declaration(&mut self) -> Parsed<()> {
        if self.eat(Symbol::Semicolon) || self.token().starts_line || matches!(self.peek(), TokenKind::End) {
            return Ok(());
        }
        let help = match self.peek() {
            TokenKind::Symbol(Symbol::Assign) => Some("equality is written `==`".to_owned()),
            TokenKind::Name(word) => match word.as_str() {
                "and" => Some("conjunction is written `&`".to_owned()),
                "or" => Some("disjunction is written `|`".to_owned()),
                _ => None,
            },
            _ => None,
        };
        let help = help.or(Some("a declaration ends at the end of its line or at `;`".to_owned()));
        Err(self.unexpected_with("the end of the declaration", help))
    }

    fn not_a_declaration(&mut self) -> Failed {
        let starts = Keyword::ALL.iter().filter(|k| k.starts_declaration()).map(|k| k.text());
        let help = match self.peek() {
            TokenKind::Name(word) => nearest(word, starts).map(|k| format!("did you mean `{k}`?")),
            _ => None,
        };
        let help = help
            .unwrap_or_else(|| "every declaration begins with a word such as `state`, `next` or `property`".to_owned());
        let found = self.peek().describe();
        let span = self.span();
        self.report.push(
            Diagnostic::error("syntax", format!("expected a declaration, found {found}"))
                .at(span, "not the beginning of a declaration")
                .help(help),
        );
        Failed
    }

    /// The `///` lines directly above the declaration that starts at `start`.
    fn documentation(&self, start: Span) -> String {
        let mut expected_end = start.start;
        let mut lines = Vec::new();
        let before = self.comments.partition_point(|c| c.span.start < start.start);
        for comment in self.comments[..before].iter().rev() {
            let gap = &self.text[comment.span.end..expected_end];
            let adjacent = gap.bytes().filter(|b| *b == b'\n').count() == 1 && gap.trim().is_empty();
            if !(comment.is_doc() && comment.own_line && adjacent) {
                break;
            }
            lines.push(comment.text[3..].trim());
            expected_end = comment.span.start;
        }
        lines.reverse();
        lines.join("\n")
    }

    fn named_value(&mut self, keyword: &str) -> Parsed<Ident> {
        let name = self.name(&format!("a name after `{keyword}`"))?;
        self.expect(Symbol::Assign, "and a value")?;
        Ok(name)
    }

    fn constants(&mut self) -> Parsed<DeclarationKind> {
        let mut list = Vec::new();
        loop {
            let name = self.named_value("const")?;
            list.push((name, self.expression()?));
            if !self.eat(Symbol::Comma) {
                return Ok(DeclarationKind::Const(list));
            }
        }
    }

    fn parameter(&mut self) -> Parsed<DeclarationKind> {
        let name = self.name("a name after `param`")?;
        if self.at_symbol(Symbol::Assign) {
            let help = format!("a parameter has a range and a value: `param {} in [0, 1] = 0.5`", name.name);
            return Err(self.unexpected_with("`in [a, b]`", Some(help)));
        }
        self.expect_keyword(Keyword::In, "and the range of the parameter")?;
        let range = self.range()?;
        self.expect(Symbol::Assign, "and the value of the parameter")?;
        Ok(DeclarationKind::Param { name, range, value: self.expression()? })
    }

    fn variable(&mut self) -> Parsed<VariableDeclaration> {
        let name = self.name("the name of a variable")?;
        let mut size = None;
        if self.eat(Symbol::LeftBracket) {
            size = Some(self.expression()?);
            self.expect(Symbol::RightBracket, "after the length")?;
        }
        let mut varying = None;
        if matches!(self.peek(), TokenKind::Name(word) if word == "varying") && !self.token().starts_line {
            varying = Some(self.span());
            self.advance();
        }
        let mut range = None;
        if self.at_keyword(Keyword::In) {
            self.advance();
            let is_set = self.at_symbol(Symbol::LeftBrace);
            range = Some(if is_set { Values::Set(self.set()?) } else { Values::Range(self.range()?) });
        } else if self.at_keyword(Keyword::Of) {
            self.advance();
            range = Some(Values::Labels(self.labels()?));
        } else if self.at_symbol(Symbol::Assign) {
            let help = format!("initial values are given by `init {} == …`", name.name);
            return Err(self.unexpected_with("`in [a, b]` or the end of the line", Some(help)));
        }
        Ok(VariableDeclaration { name, size, range, varying, before: Vec::new() })
    }

    /// A variable, and the draws that it comes before. The word `before` is no keyword: files may call something so.
    fn input(&mut self) -> Parsed<VariableDeclaration> {
        let mut declared = self.variable()?;
        if matches!(self.peek(), TokenKind::Name(word) if word == "before") && !self.token().starts_line {
            self.advance();
            loop {
                declared.before.push(self.name("a chance variable or a random action")?);
                if !self.eat(Symbol::Comma) {
                    break;
                }
            }
        }
        Ok(declared)
    }

    /// `[a, b]` after `in`.
    pub(super) fn range(&mut self) -> Parsed<Range> {
        let start = self.expect(Symbol::LeftBracket, "and the ends of a range")?;
        let low = self.expression()?;
        self.expect(Symbol::Comma, "between the two ends of the range")?;
        let high = self.expression()?;
        let end = self.expect(Symbol::RightBracket, "after the two ends of the range")?;
        Ok(Range { low, high, span: start.to(end) })
    }

    /// `{a, b, 0..3}` after `in`.
    pub(super) fn set(&mut self) -> Parsed<Set> {
        let start = self.advance();
        let mut members = Vec::new();
        while !self.at_symbol(Symbol::RightBrace) {
            let first = self.expression()?;
            members.push(if self.eat(Symbol::Range) {
                Member::Run(first, self.expression()?)
            } else {
                Member::One(first)
            });
            if !self.eat(Symbol::Comma) {
                break;
            }
        }
        let end = self.expect(Symbol::RightBrace, "after the members of the set")?;
        Ok(Set { members, span: start.to(end) })
    }

    /// `{ idle, boot, up }` after `of`.
    fn labels(&mut self) -> Parsed<Vec<Ident>> {
        self.expect(Symbol::LeftBrace, "and the labels")?;
        let mut labels = Vec::new();
        while !self.at_symbol(Symbol::RightBrace) {
            labels.push(self.name("a label")?);
            if !self.eat(Symbol::Comma) {
                break;
            }
        }
        self.expect(Symbol::RightBrace, "after the labels")?;
        Ok(labels)
    }

    fn chance(&mut self) -> Parsed<DeclarationKind> {
        let name = self.name("a name after `chance`")?;
        self.expect_keyword(Keyword::Of, "and the outcomes in braces")?;
        self.expect(Symbol::LeftBrace, "and the outcomes")?;
        let mut cases = Vec::new();
        while !self.at_symbol(Symbol::RightBrace) {
            let label = self.name("the name of an outcome")?;
            self.expect(Symbol::Colon, "and a probability")?;
            cases.push((label, self.expression()?));
            if !self.eat(Symbol::Comma) {
                break;
            }
        }
        self.expect(Symbol::RightBrace, "after the outcomes")?;
        Ok(DeclarationKind::Chance { name, cases })
    }

    fn action(&mut self) -> Parsed<DeclarationKind> {
        let name = self.name("a name after `action`")?;
        let (rule, word) = if self.eat(Symbol::Assign) {
            (ActionRule::Argmax, "argmax")
        } else if self.eat(Symbol::Tilde) {
            (ActionRule::Softmax, "softmax")
        } else {
            return Err(self.unexpected("`= argmax(…)` or `~ softmax(…)`"));
        };
        match self.peek() {
            TokenKind::Name(found) if found == word => {
                self.advance();
            }
            _ => {
                let help = "a deterministic action is `= argmax(…)`, a random one `~ softmax(…)`";
                return Err(self.unexpected_with(&format!("`{word}(…)`"), Some(help.to_owned())));
            }
        }
        self.expect(Symbol::LeftParen, "and a vector of scores")?;
        let value = self.expression()?;
        self.expect(Symbol::RightParen, "after the scores")?;
        self.expect_keyword(Keyword::Of, "and the labels in braces")?;
        Ok(DeclarationKind::Action { name, rule, value, labels: self.labels()? })
    }

    fn update(&mut self) -> Parsed<Update> {
        let name = self.name("the name of a state variable")?;
        let mut index = None;
        if self.eat(Symbol::LeftBracket) {
            index = Some(self.expression()?);
            self.expect(Symbol::RightBracket, "after the index")?;
        }
        self.expect(Symbol::Assign, "and an expression")?;
        Ok(Update { name, index, value: self.expression()? })
    }

    fn property(&mut self) -> Parsed<DeclarationKind> {
        let name = self.named_value("property")?;
        let quantifier = match self.peek() {
            TokenKind::Keyword(Keyword::Probability) => Some(Quantifier::Every),
            TokenKind::Keyword(Keyword::ProbabilityMin) => Some(Quantifier::Min),
            TokenKind::Keyword(Keyword::ProbabilityMax) => Some(Quantifier::Max),
            _ => None,
        };
        let body = match quantifier {
            Some(quantifier) => PropertyBody::Probability(self.probability(quantifier)?),
            None => PropertyBody::Formula(self.expression()?),
        };
        let expect = match self.peek() {
            TokenKind::Name(word) if word == "expect" => {
                self.advance();
                Some(self.name("`holds` or `violated`")?)
            }
            _ => None,
        };
        Ok(DeclarationKind::Property(Property { name, body, expect }))
    }

    fn probability(&mut self, quantifier: Quantifier) -> Parsed<PathProbability> {
        self.advance();
        let operator = match self.peek() {
            TokenKind::Symbol(Symbol::LessEqual) => Some(CompareOp::LessEqual),
            TokenKind::Symbol(Symbol::Less) => Some(CompareOp::Less),
            TokenKind::Symbol(Symbol::GreaterEqual) => Some(CompareOp::GreaterEqual),
            TokenKind::Symbol(Symbol::Greater) => Some(CompareOp::Greater),
            TokenKind::Symbol(Symbol::Assign) => None,
            _ => return Err(self.unexpected("a bound such as `<= 0.01`, or `=?`")),
        };
        self.advance();
        let bound = match operator {
            Some(operator) => Some((operator, self.bound_value("a probability")?)),
            None => {
                self.expect(Symbol::Question, "after `=`")?;
                None
            }
        };
        self.expect(Symbol::LeftBracket, "and a path formula")?;
        let path = self.expression()?;
        self.expect(Symbol::RightBracket, "after the path formula")?;
        Ok(PathProbability { quantifier, bound, path })
    }
}
