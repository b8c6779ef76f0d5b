//! Why a command could not do its work.

use std::fmt;
use std::io;
use std::path::Path;

use certus_graph::Fault;

/// Why a command could not do its work; all of these exit with code 2.
#[derive(Debug)]
pub enum Failure {
    /// One line that names the place and the way out.
    Message(String),
    /// Rendered diagnostics of a `.certus` file, complete as they are.
    Diagnostics(String),
    /// Certus contradicts itself: nothing that it found counts.
    Fault(Box<Fault>),
    /// Standard output was closed by its reader.
    ClosedPipe,
}

impl Failure {
    /// A message.
    pub fn message(text: impl Into<String>) -> Failure {
        Failure::Message(text.into())
    }

    /// A file that could not be read.
    pub fn reading(path: &Path, error: &io::Error) -> Failure {
        Failure::Message(format!("cannot read {}: {error}", path.display()))
    }

    /// A file that could not be written.
    pub fn writing(path: &Path, error: &io::Error) -> Failure {
        Failure::Message(format!("cannot write {}: {error}; nothing was left behind", path.display()))
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Message(text) => write!(f, "error: {text}"),
            Failure::Diagnostics(text) => f.write_str(text.trim_end()),
            Failure::Fault(fault) => fault.fmt(f),
            Failure::ClosedPipe => f.write_str("error: the output was closed"),
        }
    }
}

impl From<Fault> for Failure {
    fn from(fault: Fault) -> Failure {
        Failure::Fault(Box::new(fault))
    }
}

impl From<certus_engine::JobError> for Failure {
    fn from(error: certus_engine::JobError) -> Failure {
        Failure::Message(error.to_string())
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Failure {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Failure::ClosedPipe,
            _ => Failure::Message(format!("cannot write the output: {error}")),
        }
    }
}
