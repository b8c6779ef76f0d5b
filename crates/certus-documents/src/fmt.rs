//! `certus fmt`: files in canonical form.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Schema;

/// What became of the files.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Fmt {
    /// The kind and version of this document.
    pub schema: Schema<Fmt>,
    /// The files.
    pub files: Vec<FormattedFile>,
}

words! {
    /// What became of a file.
    Status {
        /// It is in canonical form.
        #[default]
        Canonical = "canonical",
        /// It is not, and was left as it is.
        NotCanonical = "not canonical",
        /// It was rewritten.
        Rewritten = "rewritten",
        /// It has errors.
        Failed = "failed",
    }
}

/// What became of a file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FormattedFile {
    /// The file.
    pub file: String,
    /// What became of it.
    pub status: Status,
    /// Its errors.
    pub error: Option<String>,
}
