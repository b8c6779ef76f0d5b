//! `certus audit`: whether a certificate is a proof.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::common::present;
use crate::{Members, Number, Schema};

words! {
    /// What the audit says of a certificate.
    AuditVerdict {
        /// It is a proof of its claim.
        Accepted = "accepted",
        /// It is none.
        Rejected = "rejected",
        /// The audit was stopped.
        #[default]
        Unknown = "unknown",
    }
}

/// What the audit says of a certificate. Which members there are depends on the verdict and on the kind of the certificate.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Audit {
    /// The kind and version of this document.
    pub schema: Schema<Audit>,
    /// The certificate's file.
    pub certificate: String,
    /// What the audit says.
    pub verdict: AuditVerdict,
    /// What is proved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub claim: Option<String>,
    /// The files that the claim is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub files: Option<Vec<AuditedFile>>,
    /// Particulars of the claim.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub about: Option<Members<String>>,
    /// The cases of the refutations that were checked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cases: Option<u64>,
    /// The leaves of their branch trees.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub leaves: Option<u64>,
    /// The refinements of bounds in them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refinements: Option<u64>,
    /// The records in the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub records: Option<u64>,
    /// The obligations that intervals alone discharge.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub settled_by_intervals: Option<usize>,
    /// The branches of a shield.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub branches: Option<Vec<AuditedBranch>>,
    /// The boxes that cover the initial states of a shield.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parts: Option<usize>,
    /// Within how many steps a shield leads to its target; `null` if it claims no target.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    pub steps_to_target: Option<Option<u64>>,
    /// The line of the certificate that is wrong; `null` if it is no single line.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    pub line: Option<Option<u64>>,
    /// Why the certificate is rejected.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// How long it took.
    pub seconds: Number,
}

/// A file that a claim is about.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AuditedFile {
    /// What it is.
    pub role: String,
    /// Where it is.
    pub path: String,
    /// The SHA-256 digest of its bytes.
    pub sha256: Option<String>,
}

/// A branch of a shield that was audited.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AuditedBranch {
    /// Its invariant, in words.
    pub invariant: String,
    /// How many claims were checked exactly.
    pub claims: usize,
    /// By how much a next state may be off.
    pub tolerance: Number,
}
