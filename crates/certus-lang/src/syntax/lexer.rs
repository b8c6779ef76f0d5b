//! Text to tokens and comments.
//!
//! Comments are kept beside the tokens rather than among them: the parser need not step over them, and
//! the printer finds them by their position.

use crate::diagnostics::{Diagnostic, Report};

use super::{Keyword, Span, Symbol, Token, TokenKind};

/// A `//` comment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Comment {
    /// From the first slash to the end of the line.
    pub span: Span,
    /// The comment as written, slashes included, without trailing blanks.
    pub text: String,
    /// Whether nothing but blanks stands before it on its line.
    pub own_line: bool,
}

impl Comment {
    /// Whether it is a `///` comment, which documents the declaration that follows.
    pub fn is_doc(&self) -> bool {
        self.text.starts_with("///") && !self.text.starts_with("////")
    }
}

/// A source text cut into tokens.
#[derive(Clone, Debug, Default)]
pub struct Lexed {
    /// All tokens; the last one is [`TokenKind::End`].
    pub tokens: Vec<Token>,
    /// All comments, in order.
    pub comments: Vec<Comment>,
}

/// Cuts a text into tokens. Characters that belong to no token are reported and left out.
pub fn lex(text: &str, report: &mut Report) -> Lexed {
    let mut lexer = Lexer { text, at: 0, starts_line: true, out: Lexed::default(), report };
    lexer.run();
    lexer.out
}

struct Lexer<'a> {
    text: &'a str,
    at: usize,
    starts_line: bool,
    out: Lexed,
    report: &'a mut Report,
}

/// Ways of writing operators in other languages, and what to write here.
const FOREIGN: &[(&str, Symbol)] = &[
    ("&&", Symbol::And),
    ("||", Symbol::Or),
    ("/\\", Symbol::And),
    ("\\/", Symbol::Or),
    ("=>", Symbol::Implies),
    ("**", Symbol::Caret),
    ("≤", Symbol::LessEqual),
    ("≥", Symbol::GreaterEqual),
    ("≠", Symbol::NotEqual),
    ("∧", Symbol::And),
    ("∨", Symbol::Or),
    ("¬", Symbol::Not),
    ("→", Symbol::Implies),
    ("·", Symbol::Star),
    ("−", Symbol::Minus),
];

impl Lexer<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn run(&mut self) {
        while let Some(c) = self.rest().chars().next() {
            match c {
                '\n' => {
                    self.starts_line = true;
                    self.at += 1;
                }
                c if c.is_whitespace() || c == '\u{feff}' => self.at += c.len_utf8(),
                '/' if self.rest().starts_with("//") => self.comment(),
                '"' => self.quoted(),
                '0'..='9' => self.number(),
                'a'..='z' | 'A'..='Z' | '_' => self.word(),
                '.' if self.rest()[1..].starts_with(|d: char| d.is_ascii_digit()) => self.number(),
                _ => self.symbol(c),
            }
        }
        let end = self.text.len();
        self.starts_line = true;
        self.push(TokenKind::End, Span::new(end, end));
    }

    fn push(&mut self, kind: TokenKind, span: Span) {
        self.out.tokens.push(Token { kind, span, starts_line: self.starts_line });
        self.starts_line = false;
    }

    fn take(&mut self, len: usize) -> Span {
        let span = Span::new(self.at, self.at + len);
        self.at += len;
        span
    }

    fn comment(&mut self) {
        let line = self.rest().split('\n').next().unwrap_or_default();
        let text = line.trim_end().to_owned();
        let own_line = self.starts_line;
        let span = self.take(line.len());
        self.out.comments.push(Comment { span, text, own_line });
    }

    fn word(&mut self) {
        let len = self.rest().find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(self.rest().len());
        let span = self.take(len);
        let text = &self.text[span.start..span.end];
        let kind = match Keyword::from_text(text) {
            Some(keyword) => TokenKind::Keyword(keyword),
            None => TokenKind::Name(text.to_owned()),
        };
        self.push(kind, span);
    }

    fn number(&mut self) {
        let bytes = self.rest().as_bytes();
        let digits = |from: usize| bytes[from..].iter().take_while(|b| b.is_ascii_digit()).count();
        let mut len = digits(0);
        let leading = len;
        // `0..n` is a range, not the number `0.` followed by `.n`.
        if bytes.get(len) == Some(&b'.') && bytes.get(len + 1).is_some_and(u8::is_ascii_digit) {
            len += 1 + digits(len + 1);
        }
        if matches!(bytes.get(len), Some(b'e' | b'E')) {
            let sign = usize::from(matches!(bytes.get(len + 1), Some(b'+' | b'-')));
            let exponent = digits(len + 1 + sign);
            if exponent > 0 {
                len += 1 + sign + exponent;
            }
        }
        let tail = bytes[len..].iter().take_while(|b| b.is_ascii_alphanumeric() || **b == b'_').count();
        let span = self.take(len);
        let text = &self.text[span.start..span.end];
        let value: f64 = text.parse().unwrap_or(f64::NAN);
        if leading == 0 {
            self.report
                .push(Diagnostic::error("number", "a number begins with a digit").at(span, format!("write `0{text}`")));
        } else if !value.is_finite() {
            self.report.push(
                Diagnostic::error("number", "this number is too large").at(span, "the largest number is about 1.8e308"),
            );
        }
        self.push(TokenKind::Number(if value.is_finite() { value } else { 0.0 }), span);
        // `5s` is five seconds: the parser wants the unit right after a number.
        if tail == 1 && self.rest().starts_with('s') {
            let unit = self.take(1);
            self.push(TokenKind::Name("s".to_owned()), unit);
        } else if tail > 0 {
            let tail_span = self.take(tail);
            let tail_text = &self.text[tail_span.start..tail_span.end];
            self.report.push(
                Diagnostic::error("number", "letters right after a number")
                    .at(tail_span, "not part of the number")
                    .help(format!("a product is written `{text} * {tail_text}`; a name begins with a letter")),
            );
        }
    }

    fn quoted(&mut self) {
        let start = self.at;
        let mut value = String::new();
        let mut chars = self.rest().char_indices().skip(1);
        while let Some((i, c)) = chars.next() {
            match c {
                '"' => {
                    let span = self.take(i + 1);
                    self.push(TokenKind::Text(value), span);
                    return;
                }
                '\n' => break,
                '\\' => match chars.next() {
                    Some((_, escaped @ ('"' | '\\'))) => value.push(escaped),
                    Some((_, '\n')) | None => break,
                    Some((_, other)) => value.extend(['\\', other]),
                },
                c => value.push(c),
            }
        }
        // Most likely only the path was meant: what follows it is still read.
        let line = self.rest().find('\n').unwrap_or(self.rest().len());
        let len = self.rest()[1..line].find([',', ')']).map_or(line, |i| i + 1);
        let span = self.take(len);
        self.report.push(
            Diagnostic::error("text", "this text has no closing quote").at(Span::new(start, start + 1), "opened here"),
        );
        self.push(TokenKind::Text(value), span);
    }

    fn symbol(&mut self, first: char) {
        for (foreign, symbol) in FOREIGN {
            if self.rest().starts_with(foreign) {
                let span = self.take(foreign.len());
                self.report.push(
                    Diagnostic::error("operator", format!("`{foreign}` is not an operator here"))
                        .at(span, format!("write `{}`", symbol.text())),
                );
                self.push(TokenKind::Symbol(*symbol), span);
                return;
            }
        }
        // `ALL` lists longer symbols before their prefixes.
        if let Some(symbol) = Symbol::ALL.iter().find(|s| self.rest().starts_with(s.text())) {
            let span = self.take(symbol.text().len());
            self.push(TokenKind::Symbol(*symbol), span);
            return;
        }
        if first.is_alphabetic() {
            let word = |c: char| !c.is_alphanumeric() && c != '_';
            let len = self.rest().find(word).unwrap_or(self.rest().len());
            let span = self.take(len);
            let name = self.text[span.start..span.end].to_owned();
            self.report.push(
                Diagnostic::error("character", format!("`{name}` cannot be a name"))
                    .at(span, "names are made of the letters a-z, A-Z, digits and `_`"),
            );
            // Still a name to the parser, so that one letter is one mistake.
            self.push(TokenKind::Name(name), span);
            return;
        }
        let span = self.take(first.len_utf8());
        let character = first.escape_debug();
        self.report.push(
            Diagnostic::error("character", format!("unexpected character `{character}`"))
                .at(span, "not part of the language")
                .help("a comment begins with `//`"),
        );
    }
}
