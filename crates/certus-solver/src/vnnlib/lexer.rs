//! Text to tokens: parentheses, symbols and numbers, and quoted pieces. Brackets and commas are tokens of version 2 only;
//! in version 1 they belong to symbols.

use super::error::Fault;

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// `(`
    Open,
    /// `)`
    Close,
    /// A name, a keyword, an operator or a number.
    Symbol,
    /// A `"string"` or a `|quoted symbol|`.
    Quoted,
    /// `[`, `]` or `,`
    Mark,
}

/// A token and where it begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Token<'t> {
    pub kind: Kind,
    pub text: &'t str,
    pub offset: usize,
}

impl Token<'_> {
    /// An error at this token.
    pub fn fault(&self, message: impl Into<String>) -> Fault {
        Fault::new(self.offset, message)
    }
}

/// Yields the tokens of a text.
pub(super) struct Lexer<'t> {
    text: &'t str,
    offset: usize,
    marks: bool,
}

impl<'t> Lexer<'t> {
    pub fn new(text: &'t str) -> Self {
        Lexer { text, offset: 0, marks: false }
    }

    /// The lexer of version 2, where brackets and commas are tokens.
    pub fn with_marks(text: &'t str) -> Self {
        Lexer { text, offset: 0, marks: true }
    }

    /// Passes over the next token if it is this mark.
    pub fn take_mark(&mut self, mark: &str) -> Result<bool, Fault> {
        let before = self.offset;
        let found = self.next()?.is_some_and(|token| token.kind == Kind::Mark && token.text == mark);
        if !found {
            self.offset = before;
        }
        Ok(found)
    }

    /// The next token, or `None` at the end of the text.
    pub fn next(&mut self) -> Result<Option<Token<'t>>, Fault> {
        self.skip_blanks();
        let start = self.offset;
        let rest = &self.text.as_bytes()[start..];
        let (kind, length) = match rest.first() {
            None => return Ok(None),
            Some(b'(') => (Kind::Open, 1),
            Some(b')') => (Kind::Close, 1),
            Some(&mark @ (b'"' | b'|')) => match rest[1..].iter().position(|&byte| byte == mark) {
                // A doubled quote inside a string simply begins the next token: what is quoted is never looked at.
                Some(inside) => (Kind::Quoted, inside + 2),
                None => return Err(Fault::new(start, format!("the `{}` is not closed", char::from(mark)))),
            },
            Some(&byte) if self.marks && is_mark(byte) => (Kind::Mark, 1),
            Some(_) => {
                let ends = |&byte: &u8| ends_symbol(byte) || self.marks && is_mark(byte);
                (Kind::Symbol, rest.iter().position(ends).unwrap_or(rest.len()))
            }
        };
        // Tokens begin and end at ASCII bytes or at the end of the text, so the slice is at character boundaries.
        self.offset = start + length;
        Ok(Some(Token { kind, text: &self.text[start..self.offset], offset: start }))
    }

    fn skip_blanks(&mut self) {
        let bytes = self.text.as_bytes();
        while let Some(&byte) = bytes.get(self.offset) {
            if byte == b';' {
                let comment = &bytes[self.offset..];
                self.offset += comment.iter().position(|&byte| byte == b'\n').unwrap_or(comment.len());
            } else if byte.is_ascii_whitespace() {
                self.offset += 1;
            } else {
                break;
            }
        }
    }
}

fn is_mark(byte: u8) -> bool {
    matches!(byte, b'[' | b']' | b',')
}

fn ends_symbol(byte: u8) -> bool {
    byte.is_ascii_whitespace() || matches!(byte, b'(' | b')' | b';' | b'"' | b'|')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> Vec<(Kind, &str)> {
        let mut lexer = Lexer::new(text);
        std::iter::from_fn(|| lexer.next().unwrap()).map(|token| (token.kind, token.text)).collect()
    }

    #[test]
    fn comments_and_quotes_hide_parentheses() {
        let tokens = kinds("(a; (((\r\n|b)(| \"c)\")é\u{2003}x");
        let expected = [
            (Kind::Open, "("),
            (Kind::Symbol, "a"),
            (Kind::Quoted, "|b)(|"),
            (Kind::Quoted, "\"c)\""),
            (Kind::Close, ")"),
            (Kind::Symbol, "é\u{2003}x"),
        ];
        assert_eq!(tokens, expected);
    }

    #[test]
    fn a_comment_may_end_the_text() {
        assert_eq!(kinds(";"), []);
        assert_eq!(kinds("a;"), [(Kind::Symbol, "a")]);
    }

    #[test]
    fn an_open_quote_is_reported_where_it_begins() {
        let mut lexer = Lexer::new("a |b");
        lexer.next().unwrap();
        assert_eq!(lexer.next().unwrap_err().offset, 2);
    }
}
