//! What several kinds of documents have.

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

use crate::Number;

/// An object whose members are names of the system's, in their order.
pub type Members<T> = IndexMap<String, T>;

/// Numbers under their names.
pub fn members<N: Into<String>>(named: impl IntoIterator<Item = (N, f64)>) -> Members<Number> {
    named.into_iter().map(|(name, value)| (name.into(), Number(value))).collect()
}

/// Reads a member that is there; one that is not is left to `#[serde(default)]`.
pub(crate) fn present<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Option<T>>, D::Error> {
    Option::<T>::deserialize(deserializer).map(Some)
}

/// How far a verdict reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// Runs of any length.
    Unbounded,
    /// Runs of at most so many steps.
    Bounded(usize),
    /// Up to this step, where the bounds of the property itself end.
    Horizon(usize),
}

/// A lower and an upper bound of one number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Interval {
    /// The number is at least this.
    pub lower: Number,
    /// The number is at most this.
    pub upper: Number,
}

impl From<(f64, f64)> for Interval {
    fn from((lower, upper): (f64, f64)) -> Interval {
        Interval { lower: Number(lower), upper: Number(upper) }
    }
}

/// The range of something that has a name.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NamedRange {
    /// The name.
    pub name: String,
    /// The lower end.
    pub lower: Number,
    /// The upper end.
    pub upper: Number,
}

/// One number, or those of a tensor.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Values {
    /// A number.
    One(Number),
    /// The elements of a tensor, in row-major order.
    Many(Vec<Number>),
}

/// Inputs and outputs of networks by their names: `X_0`, `Y_0`, or the tensors that a specification declares.
pub type Assignment = Members<Values>;
