//! `certus region`, `certus check --region`: where in a space of parameters a property holds.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::check::Trace;
use crate::{Members, NamedRange, Number, Provenance, Schema, Scope};

/// Maps of parameters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Region {
    /// The kind and version of this document.
    pub schema: Schema<Region>,
    /// The system.
    pub system: String,
    /// One map for each property.
    pub regions: Vec<ParameterMap>,
    /// Where the maps come from.
    pub provenance: Provenance,
}

/// The map of one property. Where no map could be made, `reason` says why and the members of a map are absent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ParameterMap {
    /// The property.
    pub property: String,
    /// Why there is no map.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The engine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub engine: Option<String>,
    /// How many steps were looked at.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub steps: Option<usize>,
    /// The parameters that vary.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parameters: Option<Vec<NamedRange>>,
    /// Into how many pieces each range can be cut.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resolution: Option<usize>,
    /// The share of the whole volume that each verdict has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shares: Option<Members<Number>>,
    /// The cells, which cover the whole volume.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cells: Option<Vec<MapCell>>,
    /// Runs that show violations.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub witnesses: Option<Vec<Witness>>,
    /// What else a reader should know.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub notes: Option<Vec<String>>,
    /// How long it took.
    pub seconds: Number,
    /// The property's documentation.
    pub words: String,
    /// The property's text.
    pub formula: String,
    /// What the verdicts are relative to.
    pub relative_to: String,
}

words! {
    /// What is known of a cell.
    CellVerdict {
        /// The property holds for every value.
        Holds = "holds",
        /// It is violated at every value.
        Violated = "violated",
        /// It is violated at one value; of the others nothing is known.
        ViolatedAtAValue = "violated at a value",
        /// Nothing is known.
        #[default]
        Open = "open",
    }
}

/// A box of parameter values.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MapCell {
    /// The lower end for each parameter.
    pub lower: Vec<Number>,
    /// The upper end for each parameter.
    pub upper: Vec<Number>,
    /// What is known of it.
    pub verdict: CellVerdict,
    /// How far that reaches, where the property holds.
    pub scope: Option<Scope>,
    /// Which of `witnesses` shows the violation.
    pub witness: Option<usize>,
    /// Why nothing is known.
    pub reason: Option<String>,
}

/// A run that violates the property at one value of the parameters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Witness {
    /// The values.
    pub values: Vec<Number>,
    /// The run.
    pub trace: Trace,
    /// The position that its last state goes back to, if it goes on for ever.
    #[serde(rename = "loop")]
    pub loop_to: Option<usize>,
}
