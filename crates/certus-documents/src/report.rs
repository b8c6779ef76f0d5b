//! `report`: a page that was made from outcomes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Schema;

/// A page that was made from outcomes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Report {
    /// The kind and version of this document.
    pub schema: Schema<Report>,
    /// Where the page was written; `null` if no file was named.
    pub file: Option<String>,
    /// How many results it shows.
    pub results: usize,
    /// The names of its pictures.
    pub figures: Vec<String>,
    /// The page itself; `null` if it was written to a file.
    pub html: Option<String>,
}
