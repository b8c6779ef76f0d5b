//! `certus simulate`: runs of a system, and their summary.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Members, Number, Provenance, Schema};

/// A summary of simulated runs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Simulate {
    /// The kind and version of this document.
    pub schema: Schema<Simulate>,
    /// The system.
    pub system: String,
    /// How many runs were made.
    pub runs: u64,
    /// The number of the first one.
    pub first_run: u64,
    /// How many steps a run has, at most.
    pub steps: usize,
    /// The seed of the random numbers.
    pub seed: u64,
    /// How many runs ended in each way.
    pub ends: Ends,
    /// The first run that left the model.
    pub first_fault: Option<FirstFault>,
    /// The rewards of the runs, if the system has one.
    pub reward: Option<Rewards>,
    /// One summary for each property.
    pub properties: Vec<PropertySummary>,
    /// Whether fewer runs were made than were asked for.
    pub interrupted: bool,
    /// How long it took.
    pub seconds: Number,
    /// What the summary is relative to.
    pub relative_to: String,
    /// Where it comes from.
    pub provenance: Provenance,
}

/// How many runs ended in each way.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Ends {
    /// After all of their steps.
    pub completed: u64,
    /// In a terminal state.
    pub terminal: u64,
    /// Outside of a declared range.
    pub left_range: u64,
    /// In a deadlock.
    pub blocked: u64,
    /// At a value that is not a number.
    pub not_a_number: u64,
}

/// The first run that left the model.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FirstFault {
    /// Its number.
    pub run: u64,
    /// The step.
    pub step: usize,
    /// How it ended.
    pub end: RunEnd,
}

/// How a run ended.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", deny_unknown_fields)]
pub enum RunEnd {
    /// After all of its steps.
    #[default]
    #[serde(rename = "completed")]
    Completed,
    /// In a terminal state.
    #[serde(rename = "terminal")]
    Terminal,
    /// In a deadlock.
    #[serde(rename = "blocked")]
    Blocked,
    /// At a value that is not a number.
    #[serde(rename = "not a number")]
    NotANumber {
        /// The variable that has no value.
        variable: String,
    },
    /// Outside of a declared range.
    #[serde(rename = "left range")]
    LeftRange {
        /// The variable.
        variable: String,
        /// Its value.
        value: Number,
        /// Its range.
        range: [Number; 2],
    },
}

/// The total rewards of runs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Rewards {
    /// Their mean.
    pub mean: Number,
    /// The least.
    pub least: Number,
    /// The greatest.
    pub greatest: Number,
}

/// What the runs showed of one property.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PropertySummary {
    /// The property.
    pub property: String,
    /// Its text.
    pub formula: String,
    /// How many runs satisfy it.
    pub satisfied: u64,
    /// How many violate it.
    pub violated: u64,
    /// How many are too short to tell.
    pub open: u64,
    /// The least margin of all runs.
    pub worst_margin: Number,
    /// The run that has it.
    pub worst_run: Option<u64>,
    /// The step at which that run violates the property.
    pub worst_broken_at: Option<usize>,
    /// A confidence interval, for a property about a probability.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub estimate: Option<Estimate>,
}

/// A confidence interval of a probability.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Estimate {
    /// The lower end.
    pub lower: Number,
    /// The upper end.
    pub upper: Number,
    /// The confidence level.
    pub confidence: Number,
}

/// One run: a line of `certus simulate --format jsonl`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SimulatedRun {
    /// The kind and version of this document.
    pub schema: Schema<SimulatedRun>,
    /// Its number.
    pub run: u64,
    /// How many steps it made.
    pub steps: usize,
    /// How it ended.
    pub end: RunEnd,
    /// Its total reward.
    pub reward: Option<Number>,
    /// What it shows of each property.
    pub properties: Members<RunProperty>,
    /// Its positions.
    pub trace: Vec<Step>,
}

words! {
    /// What a run shows of a property.
    RunVerdict {
        /// Every continuation satisfies it.
        Satisfied = "satisfied",
        /// Every continuation violates it.
        Violated = "violated",
        /// The run is too short to tell.
        #[default]
        Open = "open",
    }
}

/// What a run shows of a property.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RunProperty {
    /// Whether the run satisfies it.
    pub verdict: RunVerdict,
    /// By how much: negative where it is violated.
    pub margin: Number,
    /// The step at which it is violated.
    pub broken_at: Option<usize>,
}

/// One position of a simulated run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// The state.
    pub state: Members<Number>,
    /// The environment's numbers.
    pub input: Members<Number>,
    /// The policies' outputs.
    pub policy: Members<Number>,
    /// The labels of the actions, if there are any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub action: Option<Members<String>>,
    /// The labels that chance chose, if there are any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chance: Option<Members<String>>,
    /// The reward, if the system has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reward: Option<Number>,
}
