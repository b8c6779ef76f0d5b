//! Words of the format: headers, identifiers, aliases, numbers, strings, punctuation, and the three markers.

use super::HoaError;

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token {
    /// A name with a colon.
    Header(String),
    Identifier(String),
    Alias(String),
    Number(u64),
    Text(String),
    Symbol(char),
    Body,
    End,
    Finished,
}

pub(super) struct Tokens<'a> {
    text: &'a str,
    at: usize,
    /// The token at hand.
    pub token: Token,
    /// Where it begins.
    pub start: usize,
}

impl<'a> Tokens<'a> {
    pub fn new(text: &'a str) -> Result<Self, HoaError> {
        let mut tokens = Tokens { text, at: 0, token: Token::Finished, start: 0 };
        tokens.advance()?;
        Ok(tokens)
    }

    /// The length of the file.
    pub fn length(&self) -> usize {
        self.text.len()
    }

    pub fn error<T>(&self, message: impl Into<String>) -> Result<T, HoaError> {
        let before = &self.text[..self.start];
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or("").chars().count() + 1;
        Err(HoaError { line, column, message: message.into() })
    }

    fn skip(&mut self) -> Result<(), HoaError> {
        loop {
            let rest = &self.text[self.at..];
            self.at += rest.len() - rest.trim_start().len();
            let rest = &self.text[self.at..];
            if !rest.starts_with("/*") {
                return Ok(());
            }
            self.start = self.at;
            match rest.find("*/") {
                Some(end) => self.at += end + 2,
                None => return self.error("this comment is never closed"),
            }
        }
    }

    /// Takes the token at hand and goes on to the next.
    pub fn take(&mut self) -> Result<Token, HoaError> {
        let token = std::mem::replace(&mut self.token, Token::Finished);
        self.advance()?;
        Ok(token)
    }

    /// Goes past a symbol if it is at hand.
    pub fn eat(&mut self, symbol: char) -> Result<bool, HoaError> {
        let here = self.token == Token::Symbol(symbol);
        if here {
            self.advance()?;
        }
        Ok(here)
    }

    pub fn number(&mut self) -> Result<u64, HoaError> {
        match self.token {
            Token::Number(number) => {
                self.advance()?;
                Ok(number)
            }
            _ => self.error("expected a number"),
        }
    }

    pub fn advance(&mut self) -> Result<(), HoaError> {
        self.skip()?;
        self.start = self.at;
        let rest = &self.text[self.at..];
        let word = |from: usize| {
            let end = |(_, c): &(usize, char)| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '-'));
            rest[from..].char_indices().find(end).map_or(rest.len(), |(i, _)| from + i)
        };
        let Some(first) = rest.chars().next() else {
            self.token = Token::Finished;
            return Ok(());
        };
        for (marker, token) in [("--BODY--", Token::Body), ("--END--", Token::End)] {
            if rest.starts_with(marker) {
                self.at += marker.len();
                self.token = token;
                return Ok(());
            }
        }
        if rest.starts_with("--ABORT--") {
            return self.error("whoever wrote this file gave up here");
        }
        match first {
            '"' => {
                let (mut text, mut escaped) = (String::new(), false);
                for (i, c) in rest.char_indices().skip(1) {
                    match c {
                        '\\' if !escaped => escaped = true,
                        '"' if !escaped => {
                            self.at += i + 1;
                            self.token = Token::Text(text);
                            return Ok(());
                        }
                        _ => {
                            text.push(c);
                            escaped = false;
                        }
                    }
                }
                self.error("this quotation mark is never closed")
            }
            '@' => {
                let end = word(1);
                self.token = Token::Alias(rest[1..end].to_string());
                self.at += end;
                Ok(())
            }
            c if c.is_ascii_digit() => {
                let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
                match rest[..end].parse() {
                    Ok(number) => self.token = Token::Number(number),
                    Err(_) => return self.error("this number is too large"),
                }
                self.at += end;
                Ok(())
            }
            c if c.is_ascii_alphabetic() || c == '_' => {
                let end = word(0);
                let name = rest[..end].to_string();
                self.at += end;
                if rest[end..].starts_with(':') {
                    self.at += 1;
                    self.token = Token::Header(name);
                } else {
                    self.token = Token::Identifier(name);
                }
                Ok(())
            }
            '[' | ']' | '{' | '}' | '(' | ')' | '!' | '&' | '|' => {
                self.at += 1;
                self.token = Token::Symbol(first);
                Ok(())
            }
            _ => self.error(format!("unexpected '{first}'")),
        }
    }
}
