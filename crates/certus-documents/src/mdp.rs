//! `certus mdp`: probabilities of (interval) MDPs.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Interval, Number, Provenance, Schema};

/// A probability of a model.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Mdp {
    /// The kind and version of this document.
    pub schema: Schema<Mdp>,
    /// The model.
    pub model: Model,
    /// The property, if there was one.
    pub property: Option<String>,
    /// The probability from the initial state.
    pub probability: Option<Interval>,
    /// Whether the property holds, if it compares the probability with a number.
    pub holds: Option<bool>,
    /// Whether the interval is as narrow as was asked for.
    pub narrow: Option<bool>,
    /// The probability on the model that the strategy leaves.
    pub rechecked: Option<Interval>,
    /// How long it took.
    pub seconds: Number,
    /// What the probability is relative to.
    pub relative_to: String,
    /// Where it comes from.
    pub provenance: Provenance,
}

words! {
    /// The kind of a model.
    ModelKind {
        /// Probabilities are numbers.
        #[default]
        Plain = "MDP",
        /// Probabilities are intervals.
        Interval = "interval MDP",
    }
}

/// How large a model is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Model {
    /// Its kind.
    pub kind: ModelKind,
    /// Its states.
    pub states: usize,
    /// Its choices.
    pub choices: usize,
    /// Its transitions.
    pub transitions: usize,
    /// Its labels.
    pub labels: Vec<String>,
}
