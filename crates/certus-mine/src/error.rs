//! What can go wrong, with the place and the way out.

use std::fmt;
use std::path::Path;

/// Why observations could not be read or specifications not be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MineError(String);

impl MineError {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        MineError(message.into())
    }

    /// An error about a file.
    pub(crate) fn in_file(path: &Path, message: impl fmt::Display) -> Self {
        MineError(format!("{}: {message}", path.display()))
    }
}

impl fmt::Display for MineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for MineError {}
