//! `observe`: a table of observations that was written.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Schema;

/// A table of observations that was written.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Observe {
    /// The kind and version of this document.
    pub schema: Schema<Observe>,
    /// The table.
    pub file: String,
    /// How many rows it has.
    pub rows: u64,
}
