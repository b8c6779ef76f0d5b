//! What `observe` and `mine` take.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::common::{Common, Effort, Memory};

/// Runs a reference algorithm over traces and writes what it saw and decided
///
/// For video (`pensieve`): `buffer-based` and `mpc` (robust model-predictive control), or a network, in Pensieve's test
/// simulator. The files are bandwidth traces. For congestion control (`aurora`): `cubic` and `bbr`, or a network, over
/// Aurora's links. The files are tables of links with the columns `trace`, `delay_ms`, `loss` and `queue`.
///
/// The result is a table of comma-separated values, one row per decision, that `certus mine` reads.
#[derive(Args, Clone)]
#[command(after_help = "\
Examples:
  certus observe pensieve mpc traces.txt -o mpc.csv
  certus observe pensieve policy.onnx traces/*.log -o policy.csv
  certus observe aurora cubic links.csv -o cubic.csv")]
pub struct Observe {
    /// The simulator
    #[arg(value_enum)]
    pub world: ObservedWorld,

    /// Who decides: `buffer-based`, `mpc`, `cubic`, `bbr`, or a network (`.onnx`, `.nnet`)
    #[arg(value_name = "REFERENCE")]
    pub decider: String,

    /// Traces (`pensieve`), or tables of links (`aurora`)
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,

    /// Length of a monitor interval, in seconds (`aurora`)
    #[arg(long, default_value_t = 0.075, value_name = "SECONDS")]
    pub interval: f64,

    /// How long each link is observed; traces begin again where they end (`aurora`)
    #[arg(long, default_value_t = 60.0, value_name = "SECONDS")]
    pub seconds: f64,

    /// Names the random losses
    #[arg(long, default_value_t = 0, value_name = "N")]
    pub seed: u64,

    /// Writes the table to a file, whole or not at all
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// Where references are observed.
#[derive(Clone, Copy, ValueEnum)]
pub enum ObservedWorld {
    /// A video player over recorded networks
    Pensieve,
    /// A sender over a link with a queue
    Aurora,
}

/// Finds specifications in observations of reference algorithms
///
/// Reads tables (CSV, Parquet) of what algorithms saw and what they decided, as a configuration describes them; finds boxes
/// of the inputs in which all of them decided within few outputs; and says how well these specifications fit each algorithm, on
/// the tables that were mined and on others. With `--verify` every specification is decided for every network: exit code 1 if
/// some network breaks one, 3 if a question stayed open.
#[derive(Args, Clone)]
#[command(after_help = "\
Examples:
  certus mine zoo/pensieve/mining/video.toml
  certus mine video.toml --verify small.onnx big.onnx --attack
  certus mine video.toml --write specifications
  The statistics computed where the logs are:
    certus mine video.toml --emit-sql duckdb > regions.sql
    certus mine video.toml --regions stats.parquet")]
pub struct Mine {
    /// The configuration: a TOML file
    pub config: PathBuf,

    /// Networks to verify every specification against
    #[arg(long, value_name = "NET", num_args = 1..)]
    pub verify: Vec<PathBuf>,

    /// Finds the most extreme violations of what `--verify` found violated
    #[arg(long, requires = "verify")]
    pub attack: bool,

    /// Verdicts of earlier runs: questions that the file answers are not asked again, new answers are added to it (with
    /// `--write`, the file `verdicts.json` of the folder if none is named)
    #[arg(long, value_name = "FILE", requires = "verify")]
    pub cache: Option<PathBuf>,

    /// Searches for settings first, as the configuration's `[search]` says, and mines with the best
    #[arg(long, conflicts_with = "regions")]
    pub search: bool,

    /// Judges and verifies these specifications (JSON) instead of mining
    #[arg(long, value_name = "FILE")]
    pub specifications: Option<PathBuf>,

    /// Specifications (JSON) to compare with: they are judged beside those that were mined
    #[arg(long, value_name = "FILE", conflicts_with = "regions")]
    pub baseline: Option<PathBuf>,

    /// Goes on from statistics that the statements of `--emit-sql` gave (Parquet or CSV)
    #[arg(long, value_name = "FILE")]
    pub regions: Option<PathBuf>,

    /// Prints the statements that compute the statistics in a database, and does nothing else
    #[arg(long, value_enum, value_name = "DIALECT")]
    pub emit_sql: Option<SqlDialect>,

    /// Writes the specifications to a folder: JSON, VNN-LIB, a `.certus` file, a picture
    #[arg(long, value_name = "FOLDER")]
    pub write: Option<PathBuf>,

    #[command(flatten)]
    pub common: Common,

    #[command(flatten)]
    pub effort: Effort,

    #[command(flatten)]
    pub memory: Memory,
}

/// Whose SQL.
#[derive(Clone, Copy, ValueEnum)]
pub enum SqlDialect {
    /// DuckDB
    Duckdb,
    /// Apache Spark
    Spark,
    /// Trino
    Trino,
}
