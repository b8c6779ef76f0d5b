//! The words of one line.

use super::StoreError;
use super::literal::{parse_interval, parse_name, parse_number};
use crate::Interval;

/// Takes the words of a line, from left to right.
pub struct Words<'t> {
    rest: &'t str,
    line: usize,
}

impl<'t> Words<'t> {
    /// The words of a text that stands at this line.
    pub fn new(text: &'t str, line: usize) -> Self {
        Words { rest: text.trim_ascii(), line }
    }

    /// The line's number.
    pub fn line(&self) -> usize {
        self.line
    }

    /// What is left of the line.
    pub fn rest(&self) -> &'t str {
        self.rest
    }

    /// An error at this line.
    pub fn error(&self, message: impl Into<String>) -> StoreError {
        StoreError::Text { line: self.line, message: message.into() }
    }

    fn unexpected(&self, expected: &str, found: Option<&str>) -> StoreError {
        match found {
            Some(word) => self.error(format!("expected {expected}, found {}", shown(word))),
            None => self.error(format!("expected {expected}, found the end of the line")),
        }
    }

    /// The next word, or `None` at the end of the line.
    pub fn next_word(&mut self) -> Option<&'t str> {
        if self.rest.is_empty() {
            return None;
        }
        let end = self.rest.bytes().position(|byte| byte.is_ascii_whitespace()).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest.trim_ascii_start();
        Some(word)
    }

    /// The next word; `expected` names it where there is none.
    pub fn word(&mut self, expected: &str) -> Result<&'t str, StoreError> {
        self.next_word().ok_or_else(|| self.unexpected(expected, None))
    }

    /// What the next word stands for.
    fn parsed<T>(&mut self, expected: &str, parse: impl FnOnce(&str) -> Option<T>) -> Result<T, StoreError> {
        let word = self.word(expected)?;
        parse(word).ok_or_else(|| self.unexpected(expected, Some(word)))
    }

    /// The next word, which must be this one.
    pub fn keyword(&mut self, word: &str) -> Result<(), StoreError> {
        self.parsed(&format!("`{word}`"), |found| (found == word).then_some(()))
    }

    /// The end of the line.
    pub fn end(&mut self) -> Result<(), StoreError> {
        match self.next_word() {
            None => Ok(()),
            found => Err(self.unexpected("the end of the line", found)),
        }
    }

    /// A number.
    pub fn number(&mut self) -> Result<f64, StoreError> {
        self.parsed("a number", parse_number)
    }

    /// A number or an interval.
    pub fn interval(&mut self) -> Result<Interval, StoreError> {
        self.parsed("a number or an interval", parse_interval)
    }

    /// A whole number.
    pub fn index(&mut self) -> Result<usize, StoreError> {
        self.parsed("a whole number", parse_index)
    }

    /// A list of whole numbers, `[1,2,3]`.
    pub fn list(&mut self) -> Result<Vec<usize>, StoreError> {
        self.parsed("a list of whole numbers", |word| parse_list(word, parse_index))
    }

    /// A quoted name.
    pub fn name(&mut self) -> Result<String, StoreError> {
        let (name, rest) = parse_name(self.rest).ok_or_else(|| self.error("expected a name in quotes"))?;
        if !rest.is_empty() && !rest.starts_with(|after: char| after.is_ascii_whitespace()) {
            return Err(self.error("expected a space after the name"));
        }
        self.rest = rest.trim_ascii_start();
        Ok(name)
    }

    /// The value of the attribute `key=value`.
    fn attribute<T>(&mut self, key: &str, kind: &str, parse: impl Fn(&str) -> Option<T>) -> Result<T, StoreError> {
        self.parsed(&format!("`{key}=` with {kind}"), |word| parse(word.strip_prefix(key)?.strip_prefix('=')?))
    }

    /// The attribute `key=NUMBER`.
    pub fn number_of(&mut self, key: &str) -> Result<f64, StoreError> {
        self.attribute(key, "a number", parse_number)
    }

    /// The attribute `key=INDEX`.
    pub fn index_of(&mut self, key: &str) -> Result<usize, StoreError> {
        self.attribute(key, "a whole number", parse_index)
    }

    /// The attribute `key=[…]` with whole numbers.
    pub fn list_of(&mut self, key: &str) -> Result<Vec<usize>, StoreError> {
        self.items_of(key, "a list of whole numbers", parse_index)
    }

    /// The attribute `key=[…]` with items of any kind.
    pub fn items_of<T>(
        &mut self,
        key: &str,
        kind: &str,
        item: impl Fn(&str) -> Option<T>,
    ) -> Result<Vec<T>, StoreError> {
        self.attribute(key, kind, |word| parse_list(word, &item))
    }

    /// The attribute `key=WORD`, one of those named.
    pub fn choice_of<T: Copy>(&mut self, key: &str, choices: &[(&str, T)]) -> Result<T, StoreError> {
        let names: Vec<&str> = choices.iter().map(|&(name, _)| name).collect();
        self.attribute(key, &format!("one of {}", names.join(", ")), |word| {
            choices.iter().find(|&&(name, _)| name == word).map(|&(_, choice)| choice)
        })
    }
}

/// A whole number, without sign or leading zeros.
pub(super) fn parse_index(word: &str) -> Option<usize> {
    let canonical = word == "0" || word.starts_with(|first: char| ('1'..='9').contains(&first));
    word.parse().ok().filter(|_| canonical)
}

/// The items of `[a,b,…]`.
fn parse_list<T>(word: &str, item: impl Fn(&str) -> Option<T>) -> Option<Vec<T>> {
    let inside = word.strip_prefix('[')?.strip_suffix(']')?;
    if inside.is_empty() {
        return Some(Vec::new());
    }
    inside.split(',').map(item).collect()
}

/// A piece of the text as messages show it.
fn shown(piece: &str) -> String {
    const LENGTH: usize = 40;
    let short: String = piece.chars().take(LENGTH).flat_map(char::escape_debug).collect();
    if piece.chars().nth(LENGTH).is_some() { format!("`{short}…`") } else { format!("`{short}`") }
}
