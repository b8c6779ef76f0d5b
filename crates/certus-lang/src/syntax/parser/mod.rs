//! Tokens to tree, by recursive descent.
//!
//! A mistake inside a declaration is reported once, the rest of that declaration is skipped, and
//! parsing goes on with the next one. Nesting is limited, so that no input exhausts the stack.

mod declarations;
mod expressions;

use crate::diagnostics::{Diagnostic, Report};

use super::ast::{Declaration, Expr, File, Ident};
use super::{Comment, Keyword, Lexed, Span, Symbol, Token, TokenKind, lex};

/// Deepest nesting of expressions.
pub const MAX_DEPTH: usize = 100;

/// A declaration that could not be read; the reason is already in the report.
pub(crate) struct Failed;

pub(crate) type Parsed<T> = Result<T, Failed>;

/// Reads a file. Mistakes go to the report; what could be read is returned in any case.
pub fn parse_file(text: &str, report: &mut Report) -> File {
    let Lexed { tokens, comments } = lex(text, report);
    let mut parser = Parser { text, tokens, comments: &comments, at: 0, brackets: 0, depth: 0, report };
    let declarations = parser.file();
    File { declarations, comments }
}

/// Reads one expression, for tests and for text that comes from the command line.
pub fn parse_expression(text: &str, report: &mut Report) -> Option<Expr> {
    let Lexed { tokens, comments } = lex(text, report);
    let mut parser = Parser { text, tokens, comments: &comments, at: 0, brackets: 0, depth: 0, report };
    let expr = parser.expression().ok()?;
    match parser.peek() {
        TokenKind::End => Some(expr),
        _ => {
            let _: Failed = parser.unexpected("the end of the expression");
            None
        }
    }
}

pub(crate) struct Parser<'a> {
    text: &'a str,
    tokens: Vec<Token>,
    comments: &'a [Comment],
    at: usize,
    /// Open brackets: inside them a line break means nothing.
    brackets: usize,
    depth: usize,
    report: &'a mut Report,
}

impl Parser<'_> {
    fn file(&mut self) -> Vec<Declaration> {
        let mut declarations = Vec::new();
        while !matches!(self.peek(), TokenKind::End) {
            if self.eat(Symbol::Semicolon) {
                continue;
            }
            self.brackets = 0;
            self.depth = 0;
            let start = self.at;
            match self.declaration() {
                Ok(declaration) => declarations.push(declaration),
                Err(Failed) => self.recover(start),
            }
        }
        declarations
    }

    /// Skips to the next place where a declaration can begin, past at least one token.
    fn recover(&mut self, start: usize) {
        if self.at == start {
            self.at += 1;
        }
        while let Some(token) = self.tokens.get(self.at) {
            let boundary = match &token.kind {
                TokenKind::End => true,
                TokenKind::Keyword(k) => k.starts_declaration() && token.starts_line,
                TokenKind::Symbol(Symbol::Semicolon) => true,
                _ => false,
            };
            if boundary {
                return;
            }
            self.at += 1;
        }
        self.at = self.tokens.len() - 1;
    }

    pub(crate) fn token(&self) -> &Token {
        // The last token is `End` and is never consumed.
        &self.tokens[self.at.min(self.tokens.len() - 1)]
    }

    pub(crate) fn peek(&self) -> &TokenKind {
        &self.token().kind
    }

    pub(crate) fn peek_second(&self) -> &TokenKind {
        &self.tokens[(self.at + 1).min(self.tokens.len() - 1)].kind
    }

    pub(crate) fn span(&self) -> Span {
        self.token().span
    }

    pub(crate) fn last_span(&self) -> Span {
        self.at.checked_sub(1).map_or(Span::default(), |i| self.tokens[i].span)
    }

    pub(crate) fn advance(&mut self) -> Span {
        let span = self.span();
        match self.peek() {
            TokenKind::Symbol(Symbol::LeftParen | Symbol::LeftBracket | Symbol::LeftBrace) => {
                self.brackets += 1;
            }
            TokenKind::Symbol(Symbol::RightParen | Symbol::RightBracket | Symbol::RightBrace) => {
                self.brackets = self.brackets.saturating_sub(1);
            }
            _ => {}
        }
        if !matches!(self.peek(), TokenKind::End) {
            self.at += 1;
        }
        span
    }

    pub(crate) fn at_symbol(&self, symbol: Symbol) -> bool {
        *self.peek() == TokenKind::Symbol(symbol)
    }

    pub(crate) fn at_keyword(&self, keyword: Keyword) -> bool {
        *self.peek() == TokenKind::Keyword(keyword)
    }

    pub(crate) fn eat(&mut self, symbol: Symbol) -> bool {
        let found = self.at_symbol(symbol);
        if found {
            self.advance();
        }
        found
    }

    pub(crate) fn expect(&mut self, symbol: Symbol, purpose: &str) -> Parsed<Span> {
        if self.at_symbol(symbol) {
            Ok(self.advance())
        } else {
            Err(self.unexpected(&format!("`{}` {purpose}", symbol.text())))
        }
    }

    pub(crate) fn expect_keyword(&mut self, keyword: Keyword, purpose: &str) -> Parsed<Span> {
        if self.at_keyword(keyword) {
            Ok(self.advance())
        } else {
            Err(self.unexpected(&format!("`{}` {purpose}", keyword.text())))
        }
    }

    pub(crate) fn name(&mut self, what: &str) -> Parsed<Ident> {
        match self.peek() {
            TokenKind::Name(name) => {
                let name = name.clone();
                let span = self.advance();
                Ok(Ident { name, span })
            }
            TokenKind::Keyword(keyword) if !self.token().starts_line => {
                let word = keyword.text();
                let span = self.span();
                self.report.push(
                    Diagnostic::error("reserved", format!("`{word}` is a reserved word"))
                        .at(span, format!("expected {what}"))
                        .help(format!("choose another name, for example `{}`", rename(word))),
                );
                Err(Failed)
            }
            _ => Err(self.unexpected(what)),
        }
    }

    /// Reports that something else stands where `expected` should.
    pub(crate) fn unexpected(&mut self, expected: &str) -> Failed {
        self.unexpected_with(expected, None)
    }

    /// What stands here, and where to mark it: what is missing at the end of a line is marked there,
    /// not at the next declaration.
    pub(crate) fn found(&self) -> (String, Span) {
        let token = self.token();
        if token.starts_line && self.at > 0 {
            let found = match &token.kind {
                TokenKind::End => "the end of the file",
                _ => "the end of the line",
            };
            (found.to_owned(), self.last_span().after())
        } else {
            (token.kind.describe(), token.span)
        }
    }

    pub(crate) fn unexpected_with(&mut self, expected: &str, help: Option<String>) -> Failed {
        let (found, span) = self.found();
        self.report.push(
            Diagnostic::error("syntax", format!("expected {expected}, found {found}"))
                .at(span, format!("expected {expected}"))
                .maybe_help(help),
        );
        Failed
    }
}

/// A name like a reserved word that is not reserved.
fn rename(word: &str) -> String {
    if word.len() == 1 { format!("{word}1") } else { format!("{word}_") }
}
