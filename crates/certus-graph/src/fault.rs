//! Contradictions in Certus itself: two enclosures of one value that do not meet, two engines that disagree.
//!
//! A fault is never healed. Whoever finds one calls [`Fault::raise`], which notes it for the whole process, and hands it on as an
//! error (`GraphError::Fault`) where errors can be handed on. Since it is noted, it cannot get lost where an engine gives
//! up in favour of another one or an error becomes a text: whoever is about to tell a result asks [`noted`] first.

use std::fmt;
use std::sync::{Mutex, PoisonError};

use crate::GraphError;

/// A contradiction that only a mistake in Certus can explain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// What contradicts what, in one line.
    pub message: String,
    /// The numbers and names that are needed to find the mistake; any number of lines.
    pub details: String,
}

/// The first fault of this process.
static NOTED: Mutex<Option<Fault>> = Mutex::new(None);

impl Fault {
    /// A fault, noted for the process: from now on no result of it counts.
    pub fn raise(message: impl Into<String>, details: impl Into<String>) -> Fault {
        let fault = Fault { message: message.into(), details: details.into() };
        NOTED.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_with(|| fault.clone());
        fault
    }
}

/// The first fault that was raised in this process, if there was one.
pub fn noted() -> Option<Fault> {
    NOTED.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "internal fault: {}; please report it", self.message)
    }
}

impl std::error::Error for Fault {}

impl From<Fault> for GraphError {
    fn from(fault: Fault) -> GraphError {
        GraphError::Fault(Box::new(fault))
    }
}
