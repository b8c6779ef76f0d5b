//! The lines of a text, one at a time.

use std::io::{BufRead, Read};

use super::{StoreError, Words};

/// Yields the lines of a text that mean something, and knows where it is.
pub struct Lines<'r> {
    reader: &'r mut dyn BufRead,
    buffer: Vec<u8>,
    number: usize,
    remaining: u64,
}

impl<'r> Lines<'r> {
    /// The lines of what a reader gives, which may be `limit` bytes.
    pub fn new(reader: &'r mut dyn BufRead, limit: u64) -> Self {
        Lines { reader, buffer: Vec::new(), number: 0, remaining: limit }
    }

    /// An error at the line read last.
    pub fn error(&self, message: impl Into<String>) -> StoreError {
        StoreError::Text { line: self.number, message: message.into() }
    }

    /// The words of the next line that is neither blank nor a comment, or `None` at the end of the text.
    pub fn next_line(&mut self) -> Result<Option<Words<'_>>, StoreError> {
        loop {
            self.buffer.clear();
            self.number += 1;
            let read =
                (&mut *self.reader).take(self.remaining.saturating_add(1)).read_until(b'\n', &mut self.buffer)?;
            if read == 0 {
                return Ok(None);
            }
            self.remaining = self
                .remaining
                .checked_sub(read as u64)
                .ok_or_else(|| self.error("the text is larger than is accepted"))?;
            if !matches!(self.buffer.trim_ascii_start().first(), None | Some(b'#')) {
                break;
            }
        }
        match std::str::from_utf8(&self.buffer) {
            Ok(text) => Ok(Some(Words::new(text, self.number))),
            Err(_) => Err(self.error("the text is not UTF-8")),
        }
    }

    /// The words of the next line; the text must not end here.
    pub fn line(&mut self, expected: &str) -> Result<Words<'_>, StoreError> {
        // Asked for first, because a line that was found keeps `self` borrowed.
        let end = StoreError::Text { line: self.number + 1, message: format!("the text ends before {expected}") };
        self.next_line()?.ok_or(end)
    }

    /// The words of the next line, which must be a row of data.
    pub fn row(&mut self) -> Result<Words<'_>, StoreError> {
        let mut words = self.line("a row of data")?;
        words.keyword(":")?;
        Ok(words)
    }

    /// The next line, which must be this word alone.
    pub fn heading(&mut self, word: &str) -> Result<(), StoreError> {
        let mut words = self.line(&format!("`{word}`"))?;
        words.keyword(word)?;
        words.end()
    }
}
