//! `certus inspect`: what a network or a system is.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Members, Number, Schema};

/// A network.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Network {
    /// The kind and version of this document.
    pub schema: Schema<Network>,
    /// Its file.
    pub network: String,
    /// Its inputs.
    pub inputs: Vec<Port>,
    /// Its outputs.
    pub outputs: Vec<Port>,
    /// How many parameters it has.
    pub parameters: usize,
    /// How often each operator occurs in the file.
    pub operators: Members<usize>,
    /// The same in canonical form.
    pub canonical_operators: Members<usize>,
    /// Its outputs at the point that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evaluation: Option<Evaluation>,
}

/// An input or output.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Port {
    /// Its name.
    pub name: String,
    /// Its shape.
    pub shape: Vec<usize>,
}

/// The outputs at a point.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Evaluation {
    /// In single precision.
    pub float32: Vec<Vec<Number>>,
    /// In double precision.
    pub float64: Vec<Vec<Number>>,
}

/// A system.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct System {
    /// The kind and version of this document.
    pub schema: Schema<System>,
    /// Its name.
    pub system: String,
    /// Its documentation.
    pub doc: String,
    /// The length of a step, in seconds.
    pub step: Option<Number>,
    /// Its state variables.
    pub states: Vec<Variable>,
    /// The environment's variables.
    pub inputs: Vec<Variable>,
    /// The probabilities of the labels of each random choice.
    pub chances: Members<Members<Number>>,
    /// Its policies.
    pub policies: Vec<Policy>,
    /// Its actions.
    pub actions: Vec<Action>,
    /// Its parameters.
    pub params: Vec<Param>,
    /// A box around its initial states.
    pub initial_box: InitialBox,
    /// Its properties.
    pub properties: Vec<Property>,
    /// How often each operator occurs in the graph of one step.
    pub graph_operators: Members<usize>,
}

/// A variable.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// How many elements it has.
    pub length: usize,
    /// The lower ends of their ranges.
    pub lower: Vec<Number>,
    /// The upper ends of their ranges.
    pub upper: Vec<Number>,
    /// The integers that its elements can be, as runs with both ends; absent if they are real numbers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub integers: Vec<[i64; 2]>,
    /// The names of these integers from 0 on; absent if they have none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub labels: Vec<String>,
    /// Its documentation.
    pub doc: String,
}

/// A policy.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Policy {
    /// Its name.
    pub name: String,
    /// How many outputs it has.
    pub length: usize,
    /// The networks that it applies.
    pub networks: Vec<String>,
}

/// An action.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Action {
    /// Its name.
    pub name: String,
    /// Its labels.
    pub labels: Vec<String>,
    /// Whether it is drawn at random (softmax), not chosen by argmax.
    pub random: bool,
    /// The networks that it comes from.
    pub networks: Vec<String>,
}

/// A parameter.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Param {
    /// Its name.
    pub name: String,
    /// The lower end of its range.
    pub lower: Number,
    /// The upper end of its range.
    pub upper: Number,
    /// Its value.
    pub value: Number,
    /// Its documentation.
    pub doc: String,
}

/// A box around the initial states.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct InitialBox {
    /// The lower ends.
    pub lower: Vec<Number>,
    /// The upper ends.
    pub upper: Vec<Number>,
    /// Whether every state of the box is initial.
    pub exact: bool,
}

/// A property.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Property {
    /// Its name.
    pub name: String,
    /// Its text.
    pub formula: String,
    /// The fragment of the logic that it belongs to.
    pub fragment: String,
    /// The verdict that the file expects.
    pub expect: Option<String>,
    /// Its documentation.
    pub doc: String,
}
