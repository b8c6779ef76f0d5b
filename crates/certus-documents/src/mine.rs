//! `certus mine`: specifications from observations, and what networks make of them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Members, Number, Provenance, Schema};

/// What came out of a mining.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Mine {
    /// The kind and version of this document.
    pub schema: Schema<Mine>,
    /// The name of the configuration.
    pub name: String,
    /// How specifications were mined; `null` if they were given.
    pub mined: Option<Mined>,
    /// The settings.
    pub configured: Configured,
    /// The settings that a search tried, best first.
    pub trials: Vec<Trial>,
    /// The observations, and how well all specifications fit them.
    pub observations: Vec<Observations>,
    /// The specifications.
    pub specifications: Vec<Specification>,
    /// How the observations are spread.
    pub spread: Option<Spread>,
    /// What networks make of the specifications.
    pub networks: Vec<NetworkResults>,
    /// Where the time went.
    pub seconds: Seconds,
    /// What the verdicts are relative to.
    pub relative_to: String,
    /// Where all of that comes from.
    pub provenance: Provenance,
}

/// Specifications alone: the file that `certus mine --write` writes and `--specifications` reads.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Specifications {
    /// The kind and version of this document.
    pub schema: Schema<Specifications>,
    /// The name of the configuration.
    pub name: String,
    /// The specifications.
    pub specifications: Vec<Specification>,
}

/// The statements that compute the statistics of a mining in a database.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MineSql {
    /// The kind and version of this document.
    pub schema: Schema<MineSql>,
    /// The statements.
    pub sql: String,
}

/// How specifications were mined.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Mined {
    /// The common bins of the input space.
    pub common: usize,
    /// The bins in which not everything is allowed.
    pub interesting: usize,
    /// How many neighbours a bin of a cluster needs (DBSCAN's minPts).
    pub least: u32,
    /// How far neighbours may be (DBSCAN's ε, in bins).
    pub radius: u16,
    /// The share of the common bins that specifications cover.
    pub coverage: Number,
    /// How many redundant specifications were left out.
    pub redundant: usize,
    /// How many were merged with others.
    pub merged: usize,
}

/// The settings of a mining.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Configured {
    /// The observations that a decision depends on.
    pub history: Option<usize>,
    /// The bins per column.
    pub parts: usize,
    /// The share of the observations that a common bin has, at least.
    pub representation: f64,
    /// How many outputs a specification may allow.
    pub most_outputs: usize,
}

/// Settings that were tried.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Trial {
    /// The observations that a decision depends on.
    pub history: Option<usize>,
    /// The bins per column.
    pub parts: usize,
    /// The share of the observations that a common bin has, at least.
    pub representation: f64,
    /// How many outputs a specification may allow.
    pub most_outputs: usize,
    /// How many specifications they give.
    pub specifications: usize,
    /// The share of the common bins that these cover.
    pub coverage: Number,
    /// How good that is.
    pub score: Number,
    /// How well they fit the rows that they were mined from, per reference.
    pub train: Vec<Quality>,
    /// How well they fit held-out rows, per reference.
    pub held_out: Vec<Quality>,
}

/// How well specifications fit rows.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Quality {
    /// The rows.
    pub rows: u64,
    /// The share of the rows that a specification speaks of.
    pub support: Number,
    /// The share of these that obey it; `null` if there are none.
    pub confidence: Option<Number>,
}

/// Observations of one algorithm.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Observations {
    /// Its name.
    pub name: String,
    /// Whether specifications were mined from it.
    pub reference: bool,
    /// The rows that were mined.
    pub train: Tally,
    /// The rows that were held out.
    pub test: Tally,
}

/// Rows of observations.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Tally {
    /// The rows.
    pub rows: u64,
    /// The rows without faults.
    pub used: u64,
    /// The faults by columns, where there are any.
    pub faults: Members<Faults>,
    /// How well the specifications fit.
    pub quality: Quality,
    /// How well those of the baseline fit; `null` if there is none.
    pub baseline: Option<Quality>,
}

/// Faulty values of a column.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Faults {
    /// There was none.
    pub missing: u64,
    /// It was not a number.
    pub not_a_number: u64,
    /// It was out of range.
    pub out_of_range: u64,
}

/// A lower and an upper end; `null` where there is none.
pub type Ends = [Option<f64>; 2];

/// A specification: when something is so, only some outputs are allowed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Specification {
    /// Its number, from 1.
    pub id: usize,
    /// When it applies: ranges of columns.
    pub when: Members<Ends>,
    /// The labels that are allowed then.
    pub allowed: Vec<String>,
    /// The ranges that were observed.
    pub observed: Members<Ends>,
    /// The specification in words.
    pub sentence: String,
    /// The share of the observations that lie in it, if it was mined.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub representation: Option<Number>,
    /// The share of the input space that it takes, if it was mined.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub volume: Option<Number>,
    /// How well it fits each algorithm, in the document of a mining.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quality: Option<Members<Quality>>,
}

/// How observations are spread.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Spread {
    /// The quantiles, as shares.
    pub shares: [f64; 5],
    /// The columns.
    pub columns: Vec<String>,
    /// All observations.
    pub all: Quantiles,
    /// Those inside of each specification.
    pub specifications: Vec<Quantiles>,
}

/// The quantiles of some rows.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Quantiles {
    /// The rows.
    pub rows: u64,
    /// Five quantiles for each column; empty if there is no row.
    pub columns: Vec<[Number; 5]>,
}

/// What a network makes of the specifications.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NetworkResults {
    /// Its file.
    pub network: String,
    /// One result for each specification.
    pub results: Vec<SpecificationResult>,
}

words! {
    /// Whether a network obeys a specification.
    MineVerdict {
        /// It does.
        Holds = "holds",
        /// It does not.
        Violated = "violated",
        /// That was not decided.
        #[default]
        Open = "open",
    }
}

/// What a network makes of one specification.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SpecificationResult {
    /// The specification.
    pub specification: usize,
    /// Whether the network obeys it.
    pub verdict: MineVerdict,
    /// An input at which it does not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input: Option<Vec<Number>>,
    /// The outputs there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<Vec<Number>>,
    /// Two inputs between which it does not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub between: Option<[Vec<Number>; 2]>,
    /// Why it was not decided, in one word.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// How long it took.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seconds: Option<Number>,
    /// Whether the verdict was kept from an earlier mining.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remembered: Option<bool>,
    /// Inputs at which the network leaves the specification as far as possible.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attacks: Option<Vec<Attack>>,
}

/// An input at which a network leaves a specification.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Attack {
    /// The label that it decides for.
    pub decided: String,
    /// The input.
    pub input: Vec<Number>,
    /// What each reference decides for the observation most like it; `null` if there is none.
    pub references: Members<Option<String>>,
}

/// Where the time of a mining went.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Seconds {
    /// Reading tables.
    pub reading: Number,
    /// Mining.
    pub mining: Number,
    /// Verification.
    pub verification: Number,
}
