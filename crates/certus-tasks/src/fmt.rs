//! Puts `.certus` files into canonical form.

use std::path::{Path, PathBuf};

use certus_documents as documents;
use certus_documents::fmt::{FormattedFile, Status};
use certus_lang::diagnostics::Source;

use crate::failure::Failure;
use crate::output::write_atomically;

/// What is asked.
#[derive(Clone, Debug)]
pub struct Fmt {
    /// The files.
    pub files: Vec<PathBuf>,
    /// Whether they are only looked at.
    pub check: bool,
    /// Whether diagnostics are rendered in colour.
    pub colour: bool,
}

/// What became of a file.
pub enum Done {
    /// It is in canonical form.
    Unchanged,
    /// It is not, or was not.
    Changed,
    /// It has errors, and was left as it was.
    Failed(Failure),
}

/// A text in canonical form.
pub fn formatted(name: &str, text: &str, colour: bool) -> Result<String, Failure> {
    certus_lang::format(&Source::new(name.to_owned(), text))
        .map_err(|diagnostics| Failure::Diagnostics(diagnostics.render(colour)))
}

/// Formats a file, unless it is only looked at.
fn one(path: &Path, task: &Fmt) -> Result<Done, Failure> {
    let text = std::fs::read_to_string(path).map_err(|error| Failure::reading(path, &error))?;
    let formatted = formatted(&path.display().to_string(), &text, task.colour)?;
    if formatted == text {
        return Ok(Done::Unchanged);
    }
    if !task.check {
        write_atomically(path, &formatted)?;
    }
    Ok(Done::Changed)
}

/// Formats the files, each whole or not at all; goes on after a file with errors.
pub fn fmt(task: &Fmt) -> Vec<Done> {
    task.files.iter().map(|path| one(path, task).unwrap_or_else(Done::Failed)).collect()
}

/// What was done, as a document.
pub fn document(task: &Fmt, done: &[Done]) -> documents::fmt::Fmt {
    let files = task.files.iter().zip(done).map(|(path, done)| {
        let (status, error) = match done {
            Done::Unchanged => (Status::Canonical, None),
            Done::Changed if task.check => (Status::NotCanonical, None),
            Done::Changed => (Status::Rewritten, None),
            Done::Failed(failure) => (Status::Failed, Some(failure.to_string())),
        };
        FormattedFile { file: path.display().to_string(), status, error }
    });
    documents::fmt::Fmt { schema: documents::Schema::default(), files: files.collect() }
}
