//! `certus prob`: bounds of probabilities.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::check::PropertyResult;
use crate::{Provenance, Schema};

/// Bounds of probabilities. Its results have the form of those of `certus check`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Prob {
    /// The kind and version of this document.
    pub schema: Schema<Prob>,
    /// The system.
    pub system: String,
    /// One result for each property.
    pub results: Vec<PropertyResult>,
    /// Where the results come from.
    pub provenance: Provenance,
}
