//! Why a text is refused, and where.

use std::fmt;
use std::io;
use std::path::PathBuf;

/// Why a VNN-LIB text was not read.
#[derive(Debug)]
pub enum VnnLibError {
    /// The file cannot be read or decompressed.
    Read {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The text is larger than is accepted.
    TooLarge {
        /// The largest accepted size in bytes.
        limit: usize,
    },
    /// Something in the text is wrong or not supported.
    Text {
        /// The line, from 1.
        line: usize,
        /// The column in characters, from 1.
        column: usize,
        /// What is wrong, naming the construct.
        message: String,
    },
}

impl fmt::Display for VnnLibError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            VnnLibError::Read { path, source } => write!(f, "cannot read {}: {source}", path.display()),
            VnnLibError::TooLarge { limit } => write!(f, "the specification has more than {} MB", limit >> 20),
            VnnLibError::Text { line, column, message } => write!(f, "line {line}, column {column}: {message}"),
        }
    }
}

impl std::error::Error for VnnLibError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            VnnLibError::Read { source, .. } => Some(source),
            _ => None,
        }
    }
}

/// An error at a byte of the text. Lines are only counted when there is something to report.
#[derive(Debug)]
pub(super) struct Fault {
    pub offset: usize,
    pub message: String,
}

impl Fault {
    pub fn new(offset: usize, message: impl Into<String>) -> Self {
        Fault { offset, message: message.into() }
    }

    /// The error with the line and column of its place in `text`.
    pub fn locate(self, text: &str) -> VnnLibError {
        let before = text.get(..self.offset).unwrap_or(text);
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        VnnLibError::Text {
            line: before.bytes().filter(|&byte| byte == b'\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
            message: self.message,
        }
    }
}

/// A piece of the text as it is shown in messages: short and without control characters.
pub(super) fn quoted(piece: &str) -> String {
    const SHOWN: usize = 40;
    let shown: String = piece.chars().take(SHOWN).flat_map(char::escape_debug).collect();
    if piece.chars().nth(SHOWN).is_some() { format!("`{shown}…`") } else { format!("`{shown}`") }
}
