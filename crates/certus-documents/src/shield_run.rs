//! `certus shield run`: runs of a system without and with its shield.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::state_sets::{InitialStates, StateSet};
use crate::{Number, Provenance, Schema};

words! {
    /// Whether shielded runs stayed safe.
    RunsVerdict {
        /// All of them.
        Safe = "safe",
        /// Not all of them.
        Unsafe = "unsafe",
        /// The runs were not made.
        #[default]
        Unknown = "unknown",
    }
}

/// Runs without and with a shield. If they were stopped, only `system` and `reason` stand beside the verdict.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ShieldRun {
    /// The kind and version of this document.
    pub schema: Schema<ShieldRun>,
    /// The system.
    pub system: String,
    /// The property.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub property: Option<String>,
    /// The names of the states.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub states: Option<Vec<String>>,
    /// The initial states.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub initial: Option<InitialStates>,
    /// The unsafe states, as far as pictures can show them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub state_sets: Vec<StateSet>,
    /// How many runs were made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub runs: Option<u64>,
    /// How many steps a run has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub steps: Option<usize>,
    /// The seed of the random numbers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// Whether shielded runs stayed safe.
    pub verdict: RunsVerdict,
    /// Why the runs were not made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The runs of the network alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub network_alone: Option<Runs>,
    /// The runs with the shield.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub with_shield: Option<Runs>,
    /// Nanoseconds that the network takes for a step.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub network_nanoseconds: Option<Number>,
    /// Nanoseconds that the monitor takes for a step.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub monitor_nanoseconds: Option<Number>,
    /// What the verdict is relative to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub relative_to: Option<String>,
    /// Where the runs come from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provenance: Option<Provenance>,
}

/// What runs of one kind showed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Runs {
    /// How many became unsafe.
    pub unsafe_runs: u64,
    /// The steps of all of them.
    pub steps: u64,
    /// How often the program decided in place of the network.
    pub interventions: u64,
    /// How many states were in no branch.
    pub alarms: u64,
    /// The steps until a run settles, on average.
    pub steps_to_settle: Number,
    /// How long the runs took.
    pub seconds: Number,
    /// Interventions over time.
    pub history: History,
    /// The first runs.
    pub samples: Vec<SampledRun>,
}

/// Interventions over time, in stretches of equal length.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct History {
    /// The steps of a stretch.
    pub width: usize,
    /// How many steps the runs made in each stretch.
    pub steps: Vec<u64>,
    /// In how many of them the program decided.
    pub interventions: Vec<u64>,
}

/// A run at some of its steps.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SampledRun {
    /// Its number.
    pub run: u64,
    /// The steps.
    pub steps: Vec<usize>,
    /// The states at these steps.
    pub states: Vec<Vec<Number>>,
    /// Whether the program decided there.
    pub overridden: Vec<bool>,
    /// The step at which it became unsafe.
    pub unsafe_at: Option<usize>,
}
