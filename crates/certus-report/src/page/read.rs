//! Why a document cannot be shown, with the place.

use std::fmt;

use certus_documents::ReadError;

/// Why a document cannot be shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Malformed {
    place: String,
    message: String,
}

impl Malformed {
    pub(crate) fn new(message: impl Into<String>) -> Malformed {
        Malformed { place: String::new(), message: message.into() }
    }

    /// The same, a level further out.
    pub(crate) fn within(mut self, outer: &str) -> Malformed {
        self.place.insert_str(0, outer);
        self
    }
}

impl From<ReadError> for Malformed {
    fn from(error: ReadError) -> Malformed {
        Malformed { place: error.place, message: error.message }
    }
}

impl fmt::Display for Malformed {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.place.trim_start_matches('.') {
            "" => write!(formatter, "{}", self.message),
            place => write!(formatter, "{place}: {}", self.message),
        }
    }
}

impl std::error::Error for Malformed {}

pub(crate) type Read<T> = Result<T, Malformed>;
