//! What `simulate` takes.

use std::path::PathBuf;

use certus_tasks::simulate::Inputs;
use clap::{Args, ValueEnum};

use super::common::{Common, Effort};
use super::values::{parse_inputs, parse_network, parse_setting};

/// Runs the closed loop and watches every property
///
/// Draws initial states, the environment's inputs and random actions, and steps many runs at once. Every run reports
/// how it ended (all steps made, a terminal state, a state outside of its declared range, no transition that `assume`
/// allows) and what each property says of it: broken at which step, with which margin. A simulation without a broken
/// property proves nothing; one with a broken property shows a run that breaks it.
///
/// Runs are named by the seed and their number, whatever the number of threads: to look at run 77 of a simulation,
/// repeat it with `--first-run 77 --runs 1 --format csv`.
#[derive(Args)]
#[command(after_help = "\
Examples:
  A thousand runs of the pendulum, and a table of what happened:
    certus simulate zoo/pendulum/pendulum.certus --runs 1000 --steps 500
  The same under changed physics:
    certus simulate zoo/pendulum/pendulum.certus --runs 1000 --set mass=1.3
  An adversary chooses the disturbance that is worst for one property:
    certus simulate zoo/lanekeeping/lanekeeping.certus --inputs adversary --property in_lane
  Every state of ten runs, as a table for other tools:
    certus simulate zoo/ball/ball.certus --runs 10 --format csv -o runs.csv")]
pub struct Simulate {
    /// The system: a `.certus` file
    pub file: PathBuf,

    /// How many runs
    #[arg(long, default_value_t = 100, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub runs: u64,

    /// How many steps each run makes at most
    #[arg(long, default_value_t = 100, value_name = "N")]
    pub steps: usize,

    /// The number of the first run; runs 100 to 199 are `--first-run 100 --runs 100`
    #[arg(long, default_value_t = 0, value_name = "N")]
    pub first_run: u64,

    /// Sets a `param` of the system; may be repeated
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = parse_setting)]
    pub settings: Vec<(String, f64)>,

    /// A network in place of one of the system's, named by the policy or action that applies it or as the file writes it;
    /// may be repeated
    #[arg(long = "network", value_name = "NAME=FILE", value_parser = parse_network)]
    pub networks: Vec<(String, PathBuf)>,

    /// Where the environment's choices come from: `uniform`, `adversary`, or a table of comma-separated values
    ///
    /// `adversary` tries several choices at each step and takes the one after which the margin of the property is
    /// smallest. A table has a column for each element of each input (`d`, `u[0]`), a row for each step, and
    /// optionally a column `run`; what `--format csv` writes can be read back.
    #[arg(long, default_value = "uniform", value_name = "HOW", value_parser = parse_inputs)]
    pub inputs: Inputs,

    /// The property that the adversary wants to break; the first one if not given
    #[arg(long, value_name = "NAME")]
    pub property: Option<String>,

    /// How many choices the adversary tries at each step
    #[arg(long, default_value_t = 16, value_name = "N")]
    pub candidates: usize,

    /// How the choices of a random policy are made
    #[arg(long, value_enum, default_value_t = Actions::Sample)]
    pub actions: Actions,

    /// What to print
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub format: Format,

    #[command(flatten)]
    pub common: Common,

    #[command(flatten)]
    pub effort: Effort,
}

/// How random actions are chosen.
#[derive(Clone, Copy, ValueEnum)]
pub enum Actions {
    /// Sampled from the policy's probabilities
    Sample,
    /// The most likely one
    Argmax,
}

/// What `simulate` prints.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// A summary for a person
    Table,
    /// Every step of every run, comma-separated
    Csv,
    /// Every run as one line of JSON, with its steps
    Jsonl,
}
