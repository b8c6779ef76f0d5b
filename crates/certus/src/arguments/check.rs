//! What `check` and `extract` take.

use std::path::PathBuf;

use certus_tasks::check::EngineChoice;
use clap::{Args, ValueEnum};

use super::common::{Common, Effort, Memory};
use super::values::{
    parse_names, parse_network, parse_region, parse_setting, parse_significance, parse_trace, parse_width,
};

/// Checks properties of a closed loop
///
/// Bounded model checking: the loop is unrolled for 0, 1, 2, … steps, and a query asks whether some run of that length
/// violates the property. A violation is a run, replayed by the system itself, with the environment's choices that it
/// needs; where only an infinite run can violate the property, it is one that returns to an earlier state, or one that provably
/// converges to an equilibrium over the reals, with a note that says so. `holds up to k steps` says that no prefix of k steps, and no loop within them, shows a violation; it is a proof over the reals about the model's
/// runs: from initial states, in the declared ranges, by transitions that `assume` allows.
///
/// A property about a probability gets an interval that contains the worst one over all initial states (`certus prob` has the flags), for the
/// steps that its formula names.
///
/// Exit code 0: every property holds, as far as was asked. 1: some property is violated. 2: bad input, or a property that
/// cannot be checked this way. 3: undecided within the budget.
#[derive(Args, Clone)]
#[command(after_help = "\
Examples:
  certus check zoo/toy/toy.certus
  certus check zoo/toy/toy.certus below_five -k 5
  certus check zoo/aurora/aurora.certus p2 p3 -k 4 --json
  For which thresholds of 'close to the minimum latency' and 'heavy loss' property 3 holds:
    certus check zoo/aurora/aurora.certus p3 -k 0 --region close=1..2,loss --picture p3.svg")]
pub struct Check {
    /// The system: a `.certus` file
    pub file: PathBuf,

    /// The properties; all of them if none is named
    #[arg(value_name = "PROPERTY")]
    pub properties: Vec<String>,

    /// How they are checked: `bmc` looks for violations by so many steps, `induction` for a proof for all time, `grid` cuts the
    /// state space into cells and decides for unbounded time, `explicit` visits every state of a finite system, `convergence` looks
    /// for runs that converge to an equilibrium, `imdp` bounds probabilities; `auto` lets all that support a property take turns
    #[arg(long, default_value_t, value_name = "ENGINE")]
    pub engine: EngineChoice,

    /// How many steps are looked at; if not given, 10, or as far as a property's own bounds reach
    #[arg(short = 'k', long = "steps", value_name = "N")]
    pub steps: Option<usize>,

    /// Takes for granted that no run leaves its ranges, has a deadlock or evaluates something undefined; the outcome and the
    /// certificate say so
    #[arg(long)]
    pub assume_no_model_errors: bool,

    /// Sets a `param` of the system; may be repeated
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = parse_setting)]
    pub settings: Vec<(String, f64)>,

    /// A network in place of one of the system's, named by the policy or action that applies it or as the file writes it;
    /// may be repeated
    #[arg(long = "network", value_name = "NAME=FILE", value_parser = parse_network)]
    pub networks: Vec<(String, PathBuf)>,

    /// Writes the proof of the one property that is named to a file for `certus audit`, if it holds; proofs on a grid have none, so `auto`
    /// leaves the grid out then
    #[arg(long, value_name = "FILE", conflicts_with = "region")]
    pub certificate: Option<PathBuf>,

    /// Compares with the verdicts that the file expects; what is not as expected is an error (exit code 1)
    #[arg(long)]
    pub expect: bool,

    /// Also writes the runs that violate properties to a file: a table for `.csv`, the document of `--json` for `.json`
    ///
    /// The file appears whole or not at all, and only if something is violated.
    #[arg(long, value_name = "FILE", conflicts_with = "region", value_parser = parse_trace)]
    pub trace: Option<PathBuf>,

    #[command(flatten)]
    pub grid: GridFlags,

    #[command(flatten)]
    pub regions: Regions,

    #[command(flatten)]
    pub common: Common,

    #[command(flatten)]
    pub effort: Effort,

    #[command(flatten)]
    pub memory: Memory,
}

/// Flags of `--engine grid`; `auto` takes widths and `--refine` for its turns on the grid, too.
#[derive(Args, Clone)]
pub struct GridFlags {
    /// The width of cells: of one state variable (`p=0.001`), or of all that are not named; may be repeated
    #[arg(long, value_name = "[NAME=]WIDTH", value_delimiter = ',', value_parser = parse_width, conflicts_with = "region")]
    pub width: Vec<(Option<String>, f64)>,

    /// The policy that the grid engine verifies: the network itself, or one action per cell extracted from it
    #[arg(long, value_enum, default_value_t = PolicyKind::Network, conflicts_with = "region")]
    pub policy: PolicyKind,

    /// How often the grid engine may split cells after a spurious counterexample; as often as the budget allows if not given
    #[arg(long, value_name = "N", conflicts_with = "region")]
    pub refine: Option<usize>,

    /// Draws the reachable cells as SVG, over the first two state variables or those of `--axes`
    #[arg(long, alias = "units", value_name = "FILE", conflicts_with = "region")]
    pub cells: Option<PathBuf>,

    /// The two axes of the drawing: state variables, or `step`, the number of steps from the initial states
    #[arg(long, value_name = "X,Y", requires = "cells", value_parser = parse_names)]
    pub axes: Option<(String, String)>,

    #[command(flatten)]
    pub sampling: Sampling,
}

/// How actions are extracted from a network.
#[derive(Args, Clone, Copy)]
pub struct Sampling {
    /// How many states of a cell are sampled to extract its action; 5 if not given
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub samples: Option<u16>,

    /// Significance level of the binomial test for the label of a cell; more states are sampled until it is met; 0.2 if not given
    #[arg(long, value_name = "P", value_parser = parse_significance)]
    pub significance: Option<f64>,
}

impl Sampling {
    /// How many states of a cell are sampled.
    pub fn samples(&self) -> usize {
        usize::from(self.samples.unwrap_or(5))
    }

    /// The significance level.
    pub fn significance(&self) -> f64 {
        self.significance.unwrap_or(0.2)
    }
}

/// Whose actions are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PolicyKind {
    /// The network itself: every action that it may take in a cell
    Network,
    /// One action per cell, extracted from the network
    Extracted,
}

/// Flags that map a property over parameters.
#[derive(Args, Clone)]
pub struct Regions {
    /// Maps the properties over the ranges of these `param`s instead: where they hold, where they are violated
    ///
    /// A range may be narrowed: `--region a,b=0..1`. Cells of a grid are settled from coarse to fine: `holds` for every
    /// value in the cell, `violated` at every value, violated at a value (a finest cell in which a violation was found, and
    /// nothing is known of its other values), or open. Exit code 0: it holds for all values. 1: it is violated at some. 3: something is open,
    /// and nothing violated.
    #[arg(long, value_name = "NAME[=A..B],…", value_delimiter = ',', value_parser = parse_region, conflicts_with = "expect")]
    pub region: Vec<(String, Option<(f64, f64)>)>,

    /// How many steps the grid has along each parameter
    #[arg(long, default_value_t = 32, value_name = "N")]
    pub resolution: usize,

    /// Draws the map of one property over one parameter or two, as SVG
    #[arg(long, value_name = "FILE", requires = "region")]
    pub picture: Option<PathBuf>,
}

/// Extracts a policy from a network on a grid, and compares the returns of both
///
/// Each cell of the state space gets one action: the mean of the network's answers at some of its states, or the label that most of
/// them choose. Episodes of both policies begin in the same states; the file of `-o` has every cell that an episode came
/// through, with its action. `certus check --engine grid --policy extracted` checks properties of the same policy.
#[derive(Args)]
#[command(after_help = "\
Examples:
  certus extract zoo/mountain_car/mountain_car.certus --width p=0.01,v=0.001 --episodes 500 --steps 200 -o policy.json")]
pub struct Extract {
    /// The system: a `.certus` file
    pub file: PathBuf,

    /// The width of cells: of one state variable (`p=0.001`), or of all that are not named; may be repeated
    #[arg(long, value_name = "[NAME=]WIDTH", value_delimiter = ',', value_parser = parse_width)]
    pub width: Vec<(Option<String>, f64)>,

    #[command(flatten)]
    pub sampling: Sampling,

    /// In how many episodes both policies are compared; at most a hundred million
    #[arg(long, default_value_t = 500, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000_000))]
    pub episodes: u32,

    /// How many steps an episode has at most
    #[arg(long, default_value_t = 200, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub steps: u32,

    /// Draws the returns as box plots, as SVG
    #[arg(long, value_name = "FILE")]
    pub picture: Option<PathBuf>,

    /// Sets a `param` of the system; may be repeated
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = parse_setting)]
    pub settings: Vec<(String, f64)>,

    /// A network in place of one of the system's; may be repeated
    #[arg(long = "network", value_name = "NAME=FILE", value_parser = parse_network)]
    pub networks: Vec<(String, PathBuf)>,

    /// Writes the policy to a file, as JSON
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,

    #[command(flatten)]
    pub effort: Effort,
}
