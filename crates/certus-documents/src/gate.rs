//! `certus gate`: properties × checkpoints.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::common::present;
use crate::{Number, Provenance, Schema, Scope};

/// Verdicts about every property with every checkpoint.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Gate {
    /// The kind and version of this document.
    pub schema: Schema<Gate>,
    /// The system.
    pub system: String,
    /// The network that checkpoints take the place of.
    pub network: String,
    /// The engine.
    pub engine: String,
    /// How many runs were simulated; `null` for another engine.
    pub runs: Option<u64>,
    /// How many steps they had, or were looked at; `null` for as many as the engine likes.
    pub steps: Option<usize>,
    /// The seed of the random numbers.
    pub seed: u64,
    /// The checkpoints that were come to, in their order.
    pub checkpoints: Vec<Checkpoint>,
    /// How many checkpoints there are.
    pub of: usize,
    /// How long it took.
    pub seconds: Number,
    /// What the verdicts are relative to.
    pub relative_to: String,
    /// Where they come from.
    pub provenance: Provenance,
}

/// A checkpoint.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Checkpoint {
    /// Its file.
    pub network: String,
    /// The SHA-256 digest of the file.
    pub sha256: Option<String>,
    /// Whether every property holds.
    pub accepted: bool,
    /// How many simulated runs left the model.
    pub faults: u64,
    /// One result for each property.
    pub results: Vec<CheckpointResult>,
}

words! {
    /// What is known of a property with a checkpoint.
    GateVerdict {
        /// It holds, within the scope.
        Holds = "holds",
        /// No simulated run violates it.
        #[default]
        Open = "open",
        /// It was not decided.
        Unknown = "unknown",
        /// A run violates it.
        Violated = "violated",
    }
}

/// What is known of one property with one checkpoint.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CheckpointResult {
    /// The property.
    pub property: String,
    /// What is known of it.
    pub verdict: GateVerdict,
    /// The engine.
    pub engine: String,
    /// Why it was not decided.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// How far the verdict reaches.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    pub scope: Option<Option<Scope>>,
    /// The simulated run that violates it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run: Option<u64>,
    /// The step at which it is violated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<usize>,
    /// The position that the last state of the run goes back to, if it goes on for ever.
    #[serde(rename = "loop")]
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    pub loop_to: Option<Option<usize>>,
    /// How the inputs of that run were chosen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inputs: Option<String>,
    /// The margin of that run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub margin: Option<Number>,
}
