//! `certus verify`: whether a point of a region satisfies an assertion about networks.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Assignment, Members, Number, Provenance, Schema};

words! {
    /// The answer to a query.
    Answer {
        /// A point satisfies the assertion.
        Sat = "sat",
        /// No point does.
        Unsat = "unsat",
        /// The query was not decided.
        #[default]
        Unknown = "unknown",
        /// It was not decided in time.
        Timeout = "timeout",
    }
}

/// The answer to a query.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Verify {
    /// The kind and version of this document.
    pub schema: Schema<Verify>,
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
    /// The answer.
    pub verdict: Answer,
    /// A point that satisfies the assertion.
    pub witness: Option<Assignment>,
    /// Why the query was not decided, in one word.
    pub reason: Option<String>,
    /// The file with the certificate.
    pub certificate: Option<String>,
    /// The boxes of inputs that the specification falls into.
    pub cases: usize,
    /// The subproblems that were verified.
    pub verified: u64,
    /// The subproblems that are open.
    pub open: u64,
    /// The share of the region that was verified.
    pub done: Number,
    /// The worst bound of the open subproblems.
    pub bound: Option<Number>,
    /// How long it took.
    pub seconds: Number,
    /// What the answer is relative to.
    pub relative_to: String,
    /// Where it comes from.
    pub provenance: Provenance,
}
