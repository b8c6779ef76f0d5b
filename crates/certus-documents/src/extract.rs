//! `certus extract`: a policy with one action per grid cell.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Members, Number, Provenance, Schema};

/// An extracted policy and its returns.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Extract {
    /// The kind and version of this document.
    pub schema: Schema<Extract>,
    /// The system.
    pub system: String,
    /// How many points of a cell the network is asked at, at most.
    pub samples: usize,
    /// The significance at which sampling stops.
    pub significance: Number,
    /// The seed of the random numbers.
    pub seed: u64,
    /// The axes of the grid.
    pub axes: Vec<GridAxis>,
    /// In how many episodes both policies were compared.
    pub episodes: usize,
    /// The returns of both.
    pub returns: Returns,
    /// The cells that were met.
    pub cells: Vec<ExtractedCell>,
    /// What the returns are relative to.
    pub relative_to: String,
    /// Where they come from.
    pub provenance: Provenance,
}

/// An axis of a grid.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GridAxis {
    /// The element of the state.
    pub name: String,
    /// The width of a cell.
    pub width: Number,
    /// Where the grid is anchored: a border between two cells.
    pub cut_at: Number,
}

/// The returns of the network and of the extracted policy.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Returns {
    /// The network's.
    pub network: Quartiles,
    /// The extracted policy's.
    pub extracted: Quartiles,
}

/// Five numbers that summarise a sample.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Quartiles {
    /// The least.
    pub least: Number,
    /// A quarter is below.
    pub first_quartile: Number,
    /// Half is below.
    pub median: Number,
    /// Three quarters are below.
    pub third_quartile: Number,
    /// The greatest.
    pub most: Number,
}

/// A cell with its action.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExtractedCell {
    /// The lower corner.
    pub from: Vec<Number>,
    /// The policies' outputs and the labels of the actions.
    pub action: Members<ActionValue>,
    /// How many points the network was asked at.
    pub samples: usize,
}

/// An output of a policy, or the label of an action.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum ActionValue {
    /// An output.
    Output(Number),
    /// A label.
    Label(String),
}
