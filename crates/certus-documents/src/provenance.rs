//! Where an outcome comes from. Documents have it as their member `provenance`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Members, Number, Scope};

/// Where an outcome comes from.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Provenance {
    /// The version of Certus.
    pub certus: String,
    /// The files, with the digests of the bytes that were parsed.
    pub sources: Vec<SourceFile>,
    /// Every parameter that was set.
    pub settings: Vec<Setting>,
    /// Every network that took the place of one in the system's file.
    pub replaced: Vec<Replaced>,
    /// The engine that was asked.
    pub engine: String,
    /// The seed of the random numbers, if there are any.
    pub seed: Option<u64>,
    /// Limits and options by their names: seconds, bytes, steps, runs; `null` where there was no limit.
    pub budget: Members<Option<Limit>>,
    /// How derivatives became steps.
    pub time: Option<Time>,
    /// The property, in a document about one claim.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub property: Option<String>,
    /// Its text, in a document about one claim.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub formula: Option<String>,
    /// How far the claim reaches, in a document about one claim.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scope: Option<Scope>,
    /// What the claim is relative to, in a document about one claim.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub relative_to: Option<String>,
}

/// The one claim that a document is about.
#[derive(Clone, Debug, PartialEq)]
pub struct Claim {
    /// The property.
    pub property: String,
    /// Its text.
    pub formula: String,
    /// How far the claim reaches.
    pub scope: Scope,
    /// What it is relative to.
    pub relative_to: String,
}

impl Provenance {
    /// With the one claim that a document is about.
    pub fn claiming(mut self, claim: Claim) -> Provenance {
        let Claim { property, formula, scope, relative_to } = claim;
        (self.property, self.formula) = (Some(property), Some(formula));
        (self.scope, self.relative_to) = (Some(scope), Some(relative_to));
        self
    }
}

/// A file that an outcome was made from.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SourceFile {
    /// What it is: `system`, `network`, `weights`, `specification`, …
    pub role: String,
    /// The name under which another file speaks of it.
    pub name: Option<String>,
    /// Where it was.
    pub path: String,
    /// The SHA-256 digest of its bytes; `null` if they came through a pipe.
    pub sha256: Option<String>,
}

/// A parameter that was set.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Setting {
    /// The parameter.
    pub name: String,
    /// The value that it was set to.
    pub value: Number,
    /// The value in the file, if it is a parameter of a system.
    pub declared: Option<Number>,
}

/// A network that took the place of one in the system's file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Replaced {
    /// The network of the system's file.
    pub name: String,
    /// The file that was read in its place.
    pub path: String,
}

/// How differential equations become steps.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Time {
    /// The integrator: `euler` or `rk4`; `exact` where a step is the flow of the differential equation.
    pub scheme: String,
    /// The length of a step.
    pub dt: Number,
}

/// The value of a limit or an option.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Limit {
    /// Whether something was allowed.
    Flag(bool),
    /// How many.
    Count(u64),
    /// How much: seconds, a gap.
    Amount(Number),
    /// Which one.
    Text(String),
    /// Which ones.
    Names(Vec<String>),
}

impl From<bool> for Limit {
    fn from(value: bool) -> Limit {
        Limit::Flag(value)
    }
}

impl From<u64> for Limit {
    fn from(value: u64) -> Limit {
        Limit::Count(value)
    }
}

impl From<usize> for Limit {
    fn from(value: usize) -> Limit {
        Limit::Count(value as u64)
    }
}

impl From<f64> for Limit {
    fn from(value: f64) -> Limit {
        Limit::Amount(Number(value))
    }
}

impl From<&str> for Limit {
    fn from(value: &str) -> Limit {
        Limit::Text(value.to_owned())
    }
}

impl<'n> FromIterator<&'n str> for Limit {
    fn from_iter<I: IntoIterator<Item = &'n str>>(names: I) -> Limit {
        Limit::Names(names.into_iter().map(str::to_owned).collect())
    }
}
