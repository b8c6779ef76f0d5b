//! Why a file was not written or not read.

use std::fmt;
use std::path::PathBuf;

use certus_graph::store::StoreError;

/// Why a query file was not written or not read.
#[derive(Debug)]
pub struct QueryFileError {
    /// What was done: `read` or `write`.
    pub action: &'static str,
    /// The file.
    pub path: PathBuf,
    /// What is wrong.
    pub source: StoreError,
}

impl fmt::Display for QueryFileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path.display();
        match &self.source {
            StoreError::Text { line, message } => write!(f, "{path}:{line}: {message}"),
            other => write!(f, "cannot {} {path}: {other}", self.action),
        }
    }
}

impl std::error::Error for QueryFileError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.source)
    }
}
