//! `certus optimise`: how large a linear expression can get.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Assignment, Members, Number, Provenance, Schema};

/// Bounds of an optimum.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Optimise {
    /// The kind and version of this document.
    pub schema: Schema<Optimise>,
    /// The network.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub network: Option<String>,
    /// The specification.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub specification: Option<String>,
    /// The query file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub query: Option<String>,
    /// The files of the networks that the specification declares.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub networks: Option<Members<String>>,
    /// The expression, if its minimum was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub minimise: Option<String>,
    /// The expression, if its maximum was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub maximise: Option<String>,
    /// Whether a point satisfies the assertion; `null` if that is not known.
    pub feasible: Option<bool>,
    /// The optimum is at least this; `null` if there is none.
    pub lower: Option<Number>,
    /// The optimum is at most this; `null` if there is none.
    pub upper: Option<Number>,
    /// How wide the interval was allowed to be.
    pub gap: Number,
    /// Whether it is as narrow as that.
    pub reached: bool,
    /// The best point that was found.
    pub point: Option<Assignment>,
    /// Why the interval is wider, in one word.
    pub reason: Option<String>,
    /// The subproblems that were verified.
    pub verified: u64,
    /// The subproblems that are open.
    pub open: u64,
    /// How long it took.
    pub seconds: Number,
    /// What the bounds are relative to.
    pub relative_to: String,
    /// Where they come from.
    pub provenance: Provenance,
}
