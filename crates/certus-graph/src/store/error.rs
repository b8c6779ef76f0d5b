//! Why a text was not written or not read.

use std::fmt;
use std::io;

/// Why a graph was not written or not read.
#[derive(Debug)]
pub enum StoreError {
    /// The system could not read or write.
    Io(io::Error),
    /// Something in the text is wrong.
    Text {
        /// The line, from 1.
        line: usize,
        /// What is wrong.
        message: String,
    },
    /// What was to be written has no text.
    Unwritable(String),
}

impl StoreError {
    /// An error for what cannot be written.
    pub fn unwritable(message: impl Into<String>) -> Self {
        StoreError::Unwritable(message.into())
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StoreError::Io(error) => error.fmt(f),
            StoreError::Text { line, message } => write!(f, "line {line}: {message}"),
            StoreError::Unwritable(message) => f.write_str(message),
        }
    }
}

impl std::error::Error for StoreError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            StoreError::Io(error) => Some(error),
            _ => None,
        }
    }
}

impl From<io::Error> for StoreError {
    fn from(error: io::Error) -> Self {
        StoreError::Io(error)
    }
}
