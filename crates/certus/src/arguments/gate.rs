//! What `gate` takes.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::common::{Common, Effort, Memory};
use super::values::parse_setting;

/// Checks every property with every checkpoint of a training
///
/// Each network takes the place of the one in the system, and every property is checked with it: one row per checkpoint,
/// one column per property. By simulation, inputs are first drawn at random, then, where the
/// environment has a choice, chosen by an adversary against each property. Simulation finds violations and proves nothing: a
/// cell is `violated`, with the run and the step that show it, or `open`. With `--engine bmc`, as `certus check` does it, a cell
/// holds up to `-k` steps, is violated, or is unknown within `--cell-timeout`.
///
/// Exit code 0: everything holds, as far as was asked (never by simulation). 1: some cell is violated. 2: bad input, or a run left
/// the model. 3: some cell is open.
#[derive(Args, Clone)]
#[command(after_help = "\
Examples:
  Two networks, all properties:
    certus gate zoo/pendulum/pendulum.certus zoo/pendulum/pendulum.onnx zoo/satellite/satellite.onnx
  Every checkpoint in a folder, one property, under changed physics:
    certus gate pendulum.certus checkpoints --property upright --set mass=1.3 --json
  What was learnt when, proved up to three steps:
    certus gate aurora.certus checkpoints --engine bmc -k 3 --cell-timeout 20 --picture learnt.svg")]
pub struct Gate {
    /// The system: a `.certus` file
    pub file: PathBuf,

    /// Networks, or folders of networks (`.onnx`, `.nnet`)
    #[arg(required = true, value_name = "NET")]
    pub networks: Vec<PathBuf>,

    /// Whose network the checkpoints replace: a policy, an action, or a path as the system writes it; needed if there are
    /// several
    #[arg(long, value_name = "NAME")]
    pub policy: Option<String>,

    /// A property to check; may be repeated. All of them if not given
    #[arg(long = "property", value_name = "NAME")]
    pub properties: Vec<String>,

    /// Sets a `param` of the system; may be repeated
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = parse_setting)]
    pub settings: Vec<(String, f64)>,

    /// How many runs
    #[arg(long, default_value_t = 500, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub runs: u64,

    /// How many steps each run makes at most
    #[arg(long, default_value_t = 200, value_name = "N")]
    pub steps: usize,

    /// How many choices the adversary tries at each step
    #[arg(long, default_value_t = 16, value_name = "N")]
    pub candidates: usize,

    /// What judges the checkpoints
    #[arg(long, value_enum, default_value_t = GateEngine::Simulation)]
    pub engine: GateEngine,

    /// How many steps model checking looks at; if not given, 10, or as far as a property's own bounds reach
    #[arg(short = 'k', value_name = "N")]
    pub depth: Option<usize>,

    /// How many seconds model checking may take for each checkpoint and property
    #[arg(long, value_name = "SECONDS")]
    pub cell_timeout: Option<f64>,

    /// Draws properties × checkpoints, as SVG
    #[arg(long, value_name = "FILE")]
    pub picture: Option<PathBuf>,

    #[command(flatten)]
    pub common: Common,

    #[command(flatten)]
    pub effort: Effort,

    #[command(flatten)]
    pub memory: Memory,
}

/// What judges checkpoints.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum GateEngine {
    /// Runs of the closed loop; finds violations, proves nothing
    Simulation,
    /// Bounded model checking
    Bmc,
}
