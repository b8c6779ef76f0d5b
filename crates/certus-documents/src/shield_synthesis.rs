//! `certus shield`: whether a shield was found.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::common::present;
use crate::{Number, Provenance, Schema};

words! {
    /// Whether a shield was found.
    SynthesisVerdict {
        /// Yes, and its proof was checked.
        Verified = "verified",
        /// No.
        #[default]
        Unknown = "unknown",
    }
}

/// What came out of a synthesis. Of a failed one only `reason`, `programs` and `seconds` stand beside the verdict.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ShieldSynthesis {
    /// The kind and version of this document.
    pub schema: Schema<ShieldSynthesis>,
    /// The system.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub system: Option<String>,
    /// The property.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub property: Option<String>,
    /// Whether a shield was found.
    pub verdict: SynthesisVerdict,
    /// The branches of its program.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub branches: Option<Vec<SynthesisedBranch>>,
    /// The boxes that cover the initial states.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parts: Option<usize>,
    /// Within how many steps the target is reached; `null` if none was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    pub steps_to_target: Option<Option<u64>>,
    /// The size of the shield's file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<usize>,
    /// Whether the deadline ended the search for a shield that interferes less.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub improvement_cut_short: Option<bool>,
    /// The shield's file; `null` if none was named.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    pub file: Option<Option<String>>,
    /// The program, for readers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Why there is no shield.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// How many programs were tried.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub programs: Option<usize>,
    /// How long it took.
    pub seconds: Number,
    /// What the claim is relative to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub relative_to: Option<String>,
    /// Where the shield comes from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provenance: Option<Provenance>,
}

/// A branch of a shield that was found.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SynthesisedBranch {
    /// Its invariant, in words.
    pub invariant: String,
    /// Where its program comes from.
    pub program: String,
    /// How many claims were checked exactly.
    pub claims: usize,
    /// By how much a next state may be off.
    pub tolerance: Number,
}
