//! `new`: a system file that was started.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Schema;

/// A system file that was started.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct New {
    /// The kind and version of this document.
    pub schema: Schema<New>,
    /// Where it was written; `null` if no file was named.
    pub file: Option<String>,
    /// Its text.
    pub text: String,
}
