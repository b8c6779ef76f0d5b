//! What `prob` and `mdp` take.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::common::{Common, Effort};
use super::values::{parse_axes, parse_direction, parse_network, parse_not_negative, parse_setting};

/// Bounds probabilities of a closed loop with random choices
///
/// For `P<=p`, `P>=p`, `Pmax=?` and `Pmin=?` of `F φ`, `ψ U φ` and `G φ`, with a bound on the steps or without: an interval that contains the worst probability over
/// all initial states for certain (over the reals, rounding accounted for). The upper end comes from an interval MDP over
/// polyhedra; the lower end from a concrete start state, whose moves were all followed. A property with a bound is decided where
/// the interval allows it. States beyond the declared ranges count against the property.
///
/// Exit code 0: properties hold, and intervals are as narrow as `--gap` and `--share` ask. 1: some property is violated. 3:
/// undecided, or wider.
#[derive(Args, Clone)]
#[command(after_help = "\
Examples:
  certus prob zoo/stopping_car/stopping_car.certus
  certus prob zoo/stopping_car/stopping_car.certus worst -k 21 --timeout 60
  One unfolding, as in the literature: octagons, cut where a probability varies by more than 0.33:
    certus prob zoo/stopping_car/stopping_car.certus worst --method unfold --domain octagon --spread 0.33 --merge
  A map of the start states:
    certus prob zoo/stopping_car/stopping_car.certus worst --grid 8 --map map.svg")]
pub struct Prob {
    /// The system: a `.certus` file
    pub file: PathBuf,

    /// The properties; all probabilities if none is named
    #[arg(value_name = "PROPERTY")]
    pub properties: Vec<String>,

    /// How many steps, in place of the formulas' own bounds
    #[arg(short = 'k', long = "steps", value_name = "N")]
    pub steps: Option<usize>,

    /// How the bound is found
    #[arg(long, value_enum, default_value_t = ProbMethod::Auto)]
    pub method: ProbMethod,

    /// Which polyhedra
    #[arg(long, value_enum, default_value_t = ProbDomain::Box)]
    pub domain: ProbDomain,

    /// A further direction of sides, one number per state variable; may be repeated. Its opposite is added
    #[arg(long = "direction", value_name = "A,B,…", allow_hyphen_values = true, value_parser = parse_direction)]
    pub directions: Vec<Numbers>,

    /// While unfolding, cuts regions in which some move's probability varies by more than this
    #[arg(long, value_name = "SPREAD", allow_hyphen_values = true)]
    pub spread: Option<f64>,

    /// Such cuts leave directions alone that are no wider than this
    #[arg(long, default_value_t = 0.1, value_name = "WIDTH", value_parser = parse_not_negative)]
    pub shortest: f64,

    /// How many samples choose such a cut
    #[arg(long, default_value_t = 40, value_name = "N")]
    pub samples: usize,

    /// While unfolding, merges regions that are inside others
    #[arg(long)]
    pub merge: bool,

    /// Cuts the initial set into so many slices per dimension first
    #[arg(long, default_value_t = 1, value_name = "N")]
    pub grid: usize,

    /// Where the linearised image of a region is loose, cuts the region into at most so many pieces for it; 1 for none
    #[arg(long, default_value_t = 8, value_name = "N")]
    pub pieces: usize,

    /// An interval of this width is narrow enough
    #[arg(long, default_value_t = 0.001, value_name = "WIDTH", value_parser = parse_not_negative)]
    pub gap: f64,

    /// So is one whose width is this share of its lower end
    #[arg(long, default_value_t = 0.05, value_name = "SHARE", value_parser = parse_not_negative)]
    pub share: f64,

    /// Makes at most so many regions or cells
    #[arg(long, default_value_t = 1_000_000, value_name = "N")]
    pub most: usize,

    /// Sets a `param` of the system; may be repeated
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = parse_setting)]
    pub settings: Vec<(String, f64)>,

    /// A network in place of one of the system's; may be repeated
    #[arg(long = "network", value_name = "NAME=FILE", value_parser = parse_network)]
    pub networks: Vec<(String, PathBuf)>,

    /// Draws the cells of the initial set with their bounds, for one property: as PNG if the name ends so, else as SVG
    #[arg(long, value_name = "FILE")]
    pub map: Option<PathBuf>,

    /// Which two state variables the map shows, by number; 0,1 if not given
    #[arg(long, value_name = "I,J", value_parser = parse_axes, requires = "map")]
    pub axes: Option<(usize, usize)>,

    /// Writes the interval MDP of one unfolding, for one property, as `.drn` (Storm) or `.tra`, `.lab` (PRISM)
    #[arg(long, value_name = "FILE")]
    pub model: Option<PathBuf>,

    #[command(flatten)]
    pub common: Common,

    #[command(flatten)]
    pub effort: Effort,
}

/// How `prob` finds bounds.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ProbMethod {
    /// The search if the tree of moves is small, else the partition
    Auto,
    /// One forward unfolding
    Unfold,
    /// Unfoldings of smaller and smaller cells of the initial set
    Search,
    /// A partition of the state space, backwards
    Partition,
}

/// Which polyhedra `prob` uses.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ProbDomain {
    /// Boxes
    Box,
    /// Octagons
    Octagon,
    /// Directions found from the network, the plant and sampled runs
    Auto,
}

/// Several numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct Numbers(pub Vec<f64>);

/// Computes a probability of an interval MDP
///
/// Both players are named in the property, the scheduler (who picks choices) first and nature (who picks probabilities within the
/// intervals) second: `Pmaxmin=? [ F \"goal\" ]`. Values are intervals that contain the exact ones for certain.
#[derive(Args, Clone)]
#[command(after_help = "\
Examples:
  certus mdp model.drn 'Pmaxmax=? [ F<=20 \"goal\" ]'
  certus mdp model.prism 'Pminmax=? [ \"safe\" U \"goal\" ]'
  certus mdp model.tra 'Pmaxmin=? [ F \"goal\" ]' --write model.drn --values values.csv")]
pub struct Mdp {
    /// The model: `.drn` (Storm), `.tra` with `.lab` beside it (PRISM, explicit), or `.prism`/`.nm` (PRISM's language)
    pub file: PathBuf,

    /// The property; without one the model is described, which is a result only if it is written too
    pub property: Option<String>,

    /// Sets a constant of the model; may be repeated
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = parse_setting)]
    pub settings: Vec<(String, f64)>,

    /// How wide intervals may be for properties without a bound on the steps
    #[arg(long, default_value_t = 1e-9, value_name = "WIDTH", value_parser = parse_not_negative)]
    pub gap: f64,

    /// Also writes the model, in the format that the file's name asks for
    #[arg(long, value_name = "FILE")]
    pub write: Option<PathBuf>,

    /// Also writes the values of all states, with the choices that attain them, as a table
    #[arg(long, value_name = "FILE")]
    pub values: Option<PathBuf>,

    #[command(flatten)]
    pub common: Common,

    #[command(flatten)]
    pub effort: Effort,
}
