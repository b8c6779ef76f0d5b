//! Sets of states that pictures show: initial, unsafe and goal states, and what runs can reach.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::check::Face;
use crate::{NamedRange, Number};

/// The initial states.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct InitialStates {
    /// A box that contains them.
    pub ranges: Vec<NamedRange>,
    /// Whether every state of the box is initial.
    pub all: bool,
}

words! {
    /// What a set of states is to a property.
    SetRole {
        /// A run that is in it violates the property.
        #[default]
        Unsafe = "unsafe",
        /// Runs are to get there.
        Goal = "goal",
    }
}

/// A set of states that a property speaks of. Computed in floating point, for pictures.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StateSet {
    /// What it is to the property.
    pub role: SetRole,
    /// The condition as it is written: goals are where it holds, unsafe states where it does not.
    pub condition: String,
    /// The first instant at which it counts, in steps.
    pub from: u64,
    /// The last one; `null` if there is none.
    pub until: Option<u64>,
    /// The set is the union of these.
    pub parts: Vec<StatePart>,
    /// Whether it is; otherwise parts are missing that depend on more than the state, or that no picture could show.
    pub all: bool,
}

/// A part of a set of states: a polyhedron, or squares of a raster.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StatePart {
    /// The elements of the state that it depends on.
    pub variables: Vec<String>,
    /// The states in all of these.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub faces: Vec<Face>,
    /// The states in some square, where the condition is not linear.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raster: Option<Raster>,
}

/// Squares over one variable or two, of which those are listed whose middle is in a set.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Raster {
    /// Where it begins along each variable.
    pub lower: Vec<Number>,
    /// Where it ends.
    pub upper: Vec<Number>,
    /// How many squares there are along each variable.
    pub squares: usize,
    /// For each row, upwards along the second variable: stretches of squares along the first, each with its first and the one after its last.
    pub rows: Vec<Vec<[usize; 2]>>,
}

/// What the runs of a system reach, as boxes: each contains every state that the runs from some part of the initial states are in at its instants.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Flowpipe {
    /// The elements of the state, in the order of the ends of boxes and of the numbers of runs.
    pub axes: Vec<String>,
    /// The seconds of a step; `null` where a step has no duration.
    pub step_seconds: Option<Number>,
    /// Whether the sets show the property; otherwise they end where it was open.
    pub complete: bool,
    /// Up to this instant, in steps, every run is in some box.
    pub covered: Number,
    /// How many sets were computed. Several may share a box.
    pub sets: usize,
    /// The boxes.
    pub boxes: Vec<ReachedBox>,
    /// The states of some simulated runs, step by step.
    pub runs: Vec<Vec<Vec<Number>>>,
}

/// A box of states at some instants.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReachedBox {
    /// The first instant, in steps.
    pub from: Number,
    /// The last instant.
    pub to: Number,
    /// Two ends for each axis.
    #[serde(rename = "box")]
    pub ends: Vec<[Number; 2]>,
}
