//! `shield_export`: a shield as source code.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Schema;

words! {
    /// The language of the source code.
    Language {
        /// C99: a header and a source.
        #[default]
        C = "c",
        /// Rust.
        Rust = "rust",
        /// Python.
        Python = "python",
    }
}

/// A shield as source code.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ShieldExport {
    /// The kind and version of this document.
    pub schema: Schema<ShieldExport>,
    /// Its language.
    pub language: Language,
    /// The files that were written; none if none was named.
    pub files: Vec<String>,
    /// The code.
    pub text: String,
}
