//! The arguments of every command, with the help texts that teach them.

use std::path::PathBuf;

use certus_tasks::check::Method;
use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;

/// Certus says what a trained network will do in the system around it.
///
/// A system is described in a `.certus` file: its state, the network that steers it, its environment, and what must
/// hold. Networks are ONNX or NNet files.
#[derive(Parser)]
#[command(
    name = "certus",
    version,
    propagate_version = true,
    max_term_width = 100,
    after_help = "\
Exit codes: 0 nothing is wrong; 1 a property is violated; 2 bad input or usage, or the model left
its own ranges; 3 undecided within the budget.

Examples:
  certus inspect zoo/pendulum/pendulum.certus
  certus check zoo/toy/toy.certus
  certus simulate zoo/pendulum/pendulum.certus --runs 1000 --steps 500
  certus fmt --check zoo/*/*.certus"
)]
pub struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Subcommand)]
pub enum Command {
    Check(Check),
    Simulate(Simulate),
    Gate(Gate),
    Verify(Verify),
    Optimise(Optimise),
    Extract(Extract),
    Prob(Prob),
    Mdp(Mdp),
    Shield(Shield),
    Audit(Audit),
    Observe(Observe),
    Mine(Mine),
    Inspect(Inspect),
    Report(Report),
    New(New),
    Fmt(Fmt),
    Completions(Completions),
}

/// Checks properties of a closed loop
///
/// Bounded model checking: the loop is unrolled for 0, 1, 2, … steps, and a query asks whether some run of that length
/// violates the property. A violation is a run, replayed by the system itself, with the environment's choices that it
/// needs; where only an infinite run can violate the property, it is one that returns to an earlier state. `holds up to k
/// steps` says that no prefix of k steps, and no loop within them, shows a violation; it is a proof over the reals about the model's
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

    /// How they are checked: `bmc` looks for violations by so many steps, `induction` for a proof for all time, `auto` for both
    /// in turns, `grid` cuts the state space into units and decides for all time, `imdp` bounds probabilities; `auto` takes it for
    /// properties about them
    #[arg(long, default_value_t, value_name = "ENGINE")]
    pub engine: Method,

    /// How many steps are looked at; if not given, 10, or as far as a property's own bounds reach
    #[arg(short = 'k', long = "steps", value_name = "N")]
    pub steps: Option<usize>,

    /// Sets a `param` of the system; may be repeated
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = parse_setting)]
    pub settings: Vec<(String, f64)>,

    /// A network in place of one of the system's, named by the policy or action that applies it or as the file writes it;
    /// may be repeated
    #[arg(long = "network", value_name = "NAME=FILE", value_parser = parse_network)]
    pub networks: Vec<(String, PathBuf)>,

    /// Writes the proof of the one property that is named to a file for `certus audit`, if it holds
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

/// Extracts a policy from a network on a grid of units, and compares what both earn
///
/// Each unit of the state space gets one action: the mean of the network's answers at some of its states, or the label that most of
/// them choose. Episodes of both policies begin in the same states; the file of `-o` has every unit that an episode came
/// through, with its action. `certus check --engine grid --policy extracted` checks properties of the same policy.
#[derive(Args)]
#[command(after_help = "\
Examples:
  certus extract zoo/mountain_car/mountain_car.certus --width p=0.01,v=0.001 --episodes 500 --steps 200 -o policy.json")]
pub struct Extract {
    /// The system: a `.certus` file
    pub file: PathBuf,

    /// The width of units: of one state variable (`p=0.001`), or of all that are not named; may be repeated
    #[arg(long, value_name = "[NAME=]WIDTH", value_delimiter = ',', value_parser = parse_width)]
    pub width: Vec<(Option<String>, f64)>,

    #[command(flatten)]
    pub sampling: Sampling,

    /// In how many episodes both policies are compared
    #[arg(long, default_value_t = 500, value_name = "N")]
    pub episodes: usize,

    /// How many steps an episode has at most
    #[arg(long, default_value_t = 200, value_name = "N")]
    pub steps: usize,

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

/// Flags of `--engine grid`.
#[derive(Args, Clone)]
pub struct GridFlags {
    /// The width of units: of one state variable (`p=0.001`), or of all that are not named; may be repeated
    #[arg(long, value_name = "[NAME=]WIDTH", value_delimiter = ',', value_parser = parse_width)]
    pub width: Vec<(Option<String>, f64)>,

    /// Whose actions the grid engine takes: all that the network can do in a unit, or one action per unit that is extracted from the network
    #[arg(long, value_enum, default_value_t = PolicyKind::Network)]
    pub policy: PolicyKind,

    /// How often the grid engine may cut units finer where an abstract run was no run; as often as the budget allows if not given
    #[arg(long, value_name = "N")]
    pub refine: Option<usize>,

    /// Draws the units that can be reached, as SVG; of a state with more than two numbers the first two, or those of `--axes`
    #[arg(long, value_name = "FILE")]
    pub units: Option<PathBuf>,

    /// The two state variables that `--units` draws; `step` is the number of steps from the initial states
    #[arg(long, value_name = "X,Y", value_delimiter = ',', num_args = 1..=2)]
    pub axes: Vec<String>,

    #[command(flatten)]
    pub sampling: Sampling,
}

/// How actions are extracted from a network.
#[derive(Args, Clone, Copy)]
pub struct Sampling {
    /// States of a unit at which the network is asked for an extracted policy
    #[arg(long, default_value_t = 5, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub samples: u16,

    /// A label is taken for a unit when an accident is at most this likely; otherwise more states are asked
    #[arg(long, default_value_t = 0.2, value_name = "P")]
    pub significance: f64,
}

/// Whose actions are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PolicyKind {
    /// Everything that the network can do in a unit
    Network,
    /// One action per unit
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
    #[arg(long, default_value_t = 100, value_name = "N")]
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
    #[arg(long, default_value_t = 500, value_name = "N")]
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

/// Decides a question about networks
///
/// Asks whether an input of the region exists whose output satisfies the assertion. The first line of the answer is
/// `sat`, `unsat`, `unknown` or `timeout`; after `sat` follows the assignment: in the form of VNN-COMP, or in that of VNN-LIB 2.0 for a
/// specification of that version. `unsat` is proved over the reals with bounds that account for rounding; a `sat` point
/// was replayed in single and double precision with no tolerance on the assertion.
#[derive(Args, Clone)]
#[command(after_help = "\
Examples:
  certus verify zoo/toy/toy.onnx zoo/toy/below_ten.vnnlib
  certus verify policy.onnx property.vnnlib.gz --timeout 60 --json
  A proof that others can check:
    certus verify zoo/toy/toy.onnx zoo/toy/below_ten.vnnlib --certificate below_ten.certificate
    certus audit below_ten.certificate
  Two networks (VNN-LIB 2.0):
    certus verify closer.vnnlib --network f=old.onnx --network g=new.onnx
  A long search in several sittings:
    certus verify policy.onnx property.vnnlib --timeout 3600 --resume state")]
pub struct Verify {
    #[command(flatten)]
    pub asked: Asked,

    /// Writes a proof of `unsat` that `certus audit` can check; nothing is written for other verdicts
    #[arg(long, value_name = "FILE")]
    pub certificate: Option<PathBuf>,

    /// Keeps the state of the search in a folder, and goes on from there if it has one
    ///
    /// The state is written every few seconds and when the search ends without an answer, and removed when the
    /// question is decided. What was closed is not searched again. A folder of another question is refused.
    #[arg(long, value_name = "FOLDER")]
    pub resume: Option<PathBuf>,

    /// Also writes the question to a `.query` file (`.query.gz` to compress it), one for each box of inputs
    #[arg(long, value_name = "FILE")]
    pub save_query: Option<PathBuf>,

    #[command(flatten)]
    pub common: Common,

    #[command(flatten)]
    pub effort: Effort,

    #[command(flatten)]
    pub memory: Memory,
}

/// Bounds the maximum or minimum of a linear expression
///
/// Over the inputs of the region at which the assertion holds. The result is an interval that contains the maximum
/// for certain (over the reals, rounding accounted for) and the best point that was found. The interval shrinks until it is
/// as narrow as `--gap` asks, or the budget ends.
#[derive(Args, Clone)]
#[command(
    group = clap::ArgGroup::new("direction").required(true).args(["maximise", "minimise"]),
    after_help = "\
Examples:
  certus optimise zoo/toy/toy.onnx zoo/toy/square.vnnlib --maximise Y_0
  certus optimise zoo/toy/toy.onnx zoo/toy/square.vnnlib --minimise 'Y_0 - 0.5*X_1' --gap 0.1"
)]
pub struct Optimise {
    #[command(flatten)]
    pub asked: Asked,

    /// The expression to make large: a sum of numbers, variables and products of a number and a variable
    ///
    /// Variables are `X_0`, `X_1`, … (inputs) and `Y_0`, `Y_1`, … (outputs), or elements of the declared tensors, as
    /// `Y[0,1]`, for a specification of VNN-LIB 2.0.
    #[arg(long, value_name = "EXPRESSION", allow_hyphen_values = true)]
    pub maximise: Option<String>,

    /// The expression to make small
    #[arg(long, value_name = "EXPRESSION", allow_hyphen_values = true)]
    pub minimise: Option<String>,

    /// How wide the interval may be in the end
    #[arg(long, default_value_t = 0.001, value_name = "WIDTH")]
    pub gap: f64,

    #[command(flatten)]
    pub common: Common,

    #[command(flatten)]
    pub effort: Effort,

    #[command(flatten)]
    pub memory: Memory,
}

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
    #[arg(long, default_value_t = 0.1, value_name = "WIDTH")]
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
    #[arg(long, default_value_t = 0.001, value_name = "WIDTH")]
    pub gap: f64,

    /// So is one whose width is this share of its lower end
    #[arg(long, default_value_t = 0.05, value_name = "SHARE")]
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

    /// Which two state variables the map shows, by number
    #[arg(long, value_name = "I,J", value_parser = parse_axes, default_value = "0,1")]
    pub axes: (usize, usize),

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

    /// The property; if there is none, the model is described
    pub property: Option<String>,

    /// Sets a constant of the model; may be repeated
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = parse_setting)]
    pub settings: Vec<(String, f64)>,

    /// How wide intervals may be for properties without a bound on the steps
    #[arg(long, default_value_t = 1e-9, value_name = "WIDTH")]
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

/// Synthesises a verified program beside a network
///
/// Finds a small program and an invariant for a property `G φ`: wherever the network would leave the invariant, the
/// program takes over, and stays inside, proved in exact arithmetic. The result is one file with the program, the
/// invariants and their certificate, which `certus audit` checks; `run` replays the system with and without it, `export` writes it as
/// code. Exit code 0: a shield was found and its certificate accepted. 3: none was found.
#[derive(Args, Clone)]
#[command(
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    after_help = "\
Examples:
  certus shield zoo/satellite/satellite.certus -o satellite.shield.json
  certus audit satellite.shield.json
  certus shield run satellite.shield.json --runs 1000 --steps 5000
  certus shield export satellite.shield.json --lang c -o satellite
  With a proof that the program brings the pendulum to rest:
    certus shield zoo/pendulum/pendulum.certus --converge eta=-0.1..0.1 --converge omega=-0.1..0.1 -o rest.shield.json
  A shield for the old network under changed physics:
    certus shield zoo/pendulum/pendulum.certus within_half --set mass=1.3 -o heavier.shield.json"
)]
pub struct Shield {
    /// Use a shield instead of making one
    #[command(subcommand)]
    pub action: Option<ShieldAction>,

    /// The system: a `.certus` file
    #[arg(required = true)]
    pub file: Option<PathBuf>,

    /// The property, of the form `G φ`; the first one of that form if none is named
    pub property: Option<String>,

    /// Sets a `param` of the system; may be repeated
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = parse_setting)]
    pub settings: Vec<(String, f64)>,

    /// A network in place of the system's, named by the policy that applies it or as the file writes it
    #[arg(long = "network", value_name = "NAME=FILE", value_parser = parse_network)]
    pub networks: Vec<(String, PathBuf)>,

    /// The kind of invariant
    #[arg(long, value_enum, default_value_t = Invariant::Auto)]
    pub invariant: Invariant,

    /// The highest degree of a polynomial invariant, even; half of it is tried where it is too much. 2 and then 4 if not given
    #[arg(long, value_name = "N")]
    pub degree: Option<usize>,

    /// The degree of the program; 1 is affine
    #[arg(long, default_value_t = 1, value_name = "N")]
    pub program_degree: usize,

    /// Proves also that the program leads to these states and stays there: a state's name with its range (`eta=-0.1..0.1`);
    /// may be repeated
    #[arg(long = "converge", value_name = "NAME=LOW..HIGH", value_parser = parse_target)]
    pub converge: Vec<(String, f64, f64)>,

    /// A monomial of the program, as exponents of the states (`1,0,2`); may be repeated, in place of --program-degree
    #[arg(long = "monomial", value_name = "E1,E2,…", value_parser = parse_monomial)]
    pub monomials: Vec<Exponents>,

    #[command(flatten)]
    pub common: Common,

    #[command(flatten)]
    pub effort: Effort,
}

/// A state's name with a range.
fn parse_target(text: &str) -> Result<(String, f64, f64), String> {
    let parts = text.split_once('=').and_then(|(name, range)| Some((name, range.split_once("..")?)));
    let Some((name, (low, high))) = parts else { return Err("expected NAME=LOW..HIGH".to_owned()) };
    let end = |text: &str| text.trim().parse::<f64>().ok().filter(|x| !x.is_nan());
    match (end(low), end(high)) {
        (Some(low), Some(high)) if low <= high => Ok((name.trim().to_owned(), low, high)),
        _ => Err("expected two numbers LOW..HIGH, the lower one first".to_owned()),
    }
}

/// The exponents of a monomial.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exponents(pub Vec<u8>);

/// Kinds of invariants.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Invariant {
    /// What is small enough and works
    Auto,
    /// Where a polynomial is not positive
    Polynomial,
    /// The maximal admissible set of a linear loop
    Polyhedron,
}

/// What is done with a shield.
#[derive(Subcommand, Clone)]
pub enum ShieldAction {
    Run(ShieldRun),
    Export(ShieldExport),
}

/// Replays the system with and without its shield
///
/// Every run begins at a random initial state. Exit code 0: no shielded run entered an unsafe state; 1: some did.
#[derive(Args, Clone)]
#[command(after_help = "\
Examples:
  certus shield run satellite.shield.json --runs 1000 --steps 5000")]
pub struct ShieldRun {
    /// The shield
    pub shield: PathBuf,

    /// How many runs
    #[arg(long, default_value_t = 1000, value_name = "N")]
    pub runs: u64,

    /// How many steps each run makes
    #[arg(long, default_value_t = 5000, value_name = "N")]
    pub steps: usize,

    /// Where the system is now, if not where the shield says
    #[arg(long, value_name = "FILE")]
    pub system: Option<PathBuf>,

    /// A network in place of the system's, named by the policy that applies it or as the file writes it
    #[arg(long = "network", value_name = "NAME=FILE", value_parser = parse_network)]
    pub networks: Vec<(String, PathBuf)>,

    #[command(flatten)]
    pub common: Common,

    #[command(flatten)]
    pub effort: Effort,
}

/// Writes a shield as source code
///
/// C99 (a header and a source), Rust (a module that implements `certus_shield_rt::Guard`) or Python (a module without
/// imports). All of them compute the same, to the last bit.
#[derive(Args, Clone)]
#[command(after_help = "\
Examples:
  certus shield export satellite.shield.json --lang c -o satellite
  certus shield export satellite.shield.json --lang python > satellite_shield.py")]
pub struct ShieldExport {
    /// The shield
    pub shield: PathBuf,

    /// The language
    #[arg(long, value_enum)]
    pub lang: Language,

    /// Where the system is now, if not where the shield says
    #[arg(long, value_name = "FILE")]
    pub system: Option<PathBuf>,

    /// The name of what is exported; the system's if not given
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,

    /// The file; for C, the two files without `.h` and `.c`. Standard output if not given (not for C)
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// Languages that shields are exported to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Language {
    /// C99
    C,
    /// Rust, with certus-shield-rt
    Rust,
    /// Python
    Python,
}

/// Checks a certificate
///
/// Reads the proof that `verify --certificate` wrote, or a shield with its certificate, compares the digests of the files that it is about, and checks
/// every step with code that shares nothing with the search. Exit code 0: the certificate proves `unsat`; 1: it is
/// rejected, and the line says where; 2: something could not be read.
#[derive(Args, Clone)]
#[command(after_help = "\
Examples:
  certus audit below_ten.certificate
  certus audit satellite.shield.json
  certus audit below_ten.certificate --network copy/toy.onnx --specification copy/below_ten.vnnlib")]
pub struct Audit {
    /// The certificate
    pub certificate: PathBuf,

    /// Where the network is now, if not where the certificate says
    #[arg(long, value_name = "FILE")]
    pub network: Option<PathBuf>,

    /// Where the specification (of a shield: the system) is now, if not where the certificate says
    #[arg(long, value_name = "FILE")]
    pub specification: Option<PathBuf>,

    /// Where the query is now, for a certificate about a `.query` file
    #[arg(long, value_name = "FILE", conflicts_with_all = ["network", "specification"])]
    pub query: Option<PathBuf>,

    /// Stops after this many seconds
    #[arg(long, value_name = "SECONDS")]
    pub timeout: Option<f64>,

    /// No progress
    #[arg(long, short)]
    pub quiet: bool,

    #[command(flatten)]
    pub common: Common,
}

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

/// What a question is read from.
#[derive(Args, Clone)]
pub struct Asked {
    /// The network (`.onnx`, `.nnet`); or a `.query` file; or, with `--network`, the specification
    #[arg(value_name = "FILE")]
    pub file: PathBuf,

    /// The specification: a `.vnnlib` file, also compressed as `.vnnlib.gz`
    pub specification: Option<PathBuf>,

    /// A network that the specification declares, and its file; may be repeated (VNN-LIB 2.0)
    #[arg(long = "network", value_name = "NAME=FILE", value_parser = parse_network)]
    pub networks: Vec<(String, PathBuf)>,
}

/// Tells what a network or a system is
///
/// For a network: its inputs, outputs, operators and number of parameters, and what its canonical form looks like. For
/// a system: its variables with their ranges, its policies, actions and parameters, and its properties with the
/// fragment that they belong to.
#[derive(Args)]
#[command(after_help = "\
Examples:
  certus inspect zoo/pendulum/pendulum.onnx
  certus inspect zoo/pendulum/pendulum.onnx --eval 0.1,-0.2
  certus inspect zoo/pendulum/pendulum.certus --set mass=1.3 --json")]
pub struct Inspect {
    /// A network (`.onnx`, `.nnet`) or a system (`.certus`)
    pub file: PathBuf,

    /// Evaluates the network at a point: all inputs one after the other, separated by commas
    #[arg(long, value_name = "X1,X2,…", allow_hyphen_values = true)]
    pub eval: Option<String>,

    /// Sets a `param` of the system; may be repeated
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = parse_setting)]
    pub settings: Vec<(String, f64)>,

    #[command(flatten)]
    pub common: Common,
}

/// Makes a page to look at from outcomes of any command
///
/// A result is what a command prints with `--json`, or a shield. The page is one HTML file that needs no other and no
/// network: a summary, the runs that violate properties (over time, as phase portraits, step by step), invariants, maps,
/// partitions, shields, specifications. Where data was thinned, it says so.
#[derive(Args)]
#[command(after_help = "\
Examples:
  certus check zoo/toy/toy.certus --json -o toy.json
  certus report toy.json -o toy.html
  certus check zoo/toy/toy.certus --json | certus report - -o toy.html
  certus report toy.json -o toy.html --figures pictures")]
pub struct Report {
    /// The results: JSON files; `-` is standard input
    #[arg(required = true, value_name = "RESULT")]
    pub results: Vec<PathBuf>,

    /// Writes the page to a file, whole or not at all; otherwise to standard output
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,

    /// Also writes each picture alone, as SVG and as PNG, into a folder
    #[arg(long, value_name = "FOLDER")]
    pub figures: Option<PathBuf>,
}

/// Starts a system file from a network, the spaces of an environment, or both
///
/// The file loads, simulates and checks as it stands: the environment moves what the network sees, slowly, and the outputs
/// stay in the range that interval arithmetic shows. Then put the plant and the requirements in.
#[derive(Args)]
#[command(after_help = "\
Examples:
  certus new zoo/toy/toy.onnx -o toy.certus
  certus new zoo/cartpole_gym/cartpole_gym.onnx --actions left,right
  The spaces of a Gymnasium environment, by the Python package:
    python -m certus.new CartPole-v1 > spaces.json
    certus new policy.onnx --spaces spaces.json -o cartpole.certus")]
pub struct New {
    /// The network (`.onnx`, `.nnet`)
    #[arg(value_name = "NETWORK")]
    pub network: Option<PathBuf>,

    /// What an environment shows and takes, as JSON
    #[arg(long, value_name = "FILE")]
    pub spaces: Option<PathBuf>,

    /// Names of actions, if the network scores them and the greatest score decides
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    pub actions: Vec<String>,

    /// What the system is called
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,

    /// Writes the system to a file, whole or not at all; otherwise to standard output
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,

    /// Writes over a file that exists
    #[arg(long)]
    pub force: bool,
}

/// Puts `.certus` files into canonical form
///
/// Files are rewritten in place, each whole or not at all; a file with errors is left alone. `-` reads standard input
/// and writes standard output.
#[derive(Args)]
#[command(after_help = "\
Examples:
  certus fmt system.certus
  certus fmt --check zoo/*/*.certus
  certus fmt - < system.certus")]
pub struct Fmt {
    /// The files; `-` for standard input
    #[arg(required = true)]
    pub files: Vec<PathBuf>,

    /// Changes nothing; names the files that are not in canonical form, and exits with 1 if there are any
    #[arg(long)]
    pub check: bool,

    /// One JSON document: a list of files with what was done
    #[arg(long)]
    pub json: bool,
}

/// Prints a completion script for a shell
#[derive(Args)]
#[command(after_help = "\
Examples:
  certus completions bash > ~/.local/share/bash-completion/completions/certus
  certus completions zsh > ~/.zfunc/_certus
  certus completions fish > ~/.config/fish/completions/certus.fish")]
pub struct Completions {
    /// The shell
    pub shell: Shell,
}

/// Flags that every command with a result has.
#[derive(Args, Clone)]
pub struct Common {
    /// One JSON document on standard output; progress goes to standard error
    #[arg(long)]
    pub json: bool,

    /// Writes the result to a file, whole or not at all
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// Flags that every command with long work has.
#[derive(Args, Clone)]
pub struct Effort {
    /// Stops after this many seconds, with what was done so far
    #[arg(long, value_name = "SECONDS")]
    pub timeout: Option<f64>,

    /// How many threads; 0 for one per processor. Results do not depend on it
    #[arg(long, default_value_t = 0, value_name = "N")]
    pub threads: usize,

    /// Names the random numbers; the same seed gives the same result
    #[arg(long, default_value_t = 0, value_name = "N")]
    pub seed: u64,

    /// No progress, no warnings
    #[arg(long, short)]
    pub quiet: bool,
}

/// The flag of commands whose search may grow.
#[derive(Args, Clone)]
pub struct Memory {
    /// How many megabytes the open parts of the search may take
    #[arg(long = "memory", default_value_t = 4096, value_name = "MB")]
    pub megabytes: usize,
}

/// What judges checkpoints.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum GateEngine {
    /// Runs of the closed loop; finds violations, proves nothing
    Simulation,
    /// Bounded model checking
    Bmc,
}

/// Where inputs come from.
#[derive(Clone, Debug)]
pub enum Inputs {
    Uniform,
    Adversary,
    Table(PathBuf),
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

fn parse_setting(text: &str) -> Result<(String, f64), String> {
    let (name, value) = text.split_once('=').ok_or("expected NAME=VALUE, for example mass=1.3")?;
    let number: f64 = value.trim().parse().map_err(|_| format!("'{value}' is no number"))?;
    if !number.is_finite() {
        return Err(format!("'{value}' is not finite"));
    }
    Ok((name.trim().to_owned(), number))
}

fn parse_width(text: &str) -> Result<(Option<String>, f64), String> {
    let (name, width) = match text.split_once('=') {
        Some((name, width)) => (Some(name.trim().to_owned()), width),
        None => (None, text),
    };
    match width.trim().parse::<f64>() {
        Ok(number) if number.is_finite() && number > 0.0 => Ok((name, number)),
        _ => Err(format!("'{width}' is no positive number; expected 0.01 or NAME=0.01")),
    }
}

fn parse_trace(text: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("csv" | "json") => Ok(path),
        _ => Err("expected a name that ends in .csv or .json".to_owned()),
    }
}

fn parse_region(text: &str) -> Result<(String, Option<(f64, f64)>), String> {
    let wrong = || "expected NAME or NAME=A..B, for example mass=0.5..2".to_owned();
    let Some((name, range)) = text.split_once('=') else {
        return if text.trim().is_empty() { Err(wrong()) } else { Ok((text.trim().to_owned(), None)) };
    };
    let (low, high) = range.split_once("..").ok_or_else(wrong)?;
    let end = |text: &str| text.trim().parse::<f64>().ok().filter(|value| value.is_finite()).ok_or_else(wrong);
    Ok((name.trim().to_owned(), Some((end(low)?, end(high)?))))
}

fn parse_direction(text: &str) -> Result<Numbers, String> {
    let number = |part: &str| part.trim().parse::<f64>().ok().filter(|value| value.is_finite());
    let numbers: Option<Vec<f64>> = text.split(',').map(number).collect();
    numbers.map(Numbers).ok_or_else(|| "expected numbers, for example 0.22,1".to_owned())
}

fn parse_axes(text: &str) -> Result<(usize, usize), String> {
    let parts: Option<Vec<usize>> = text.split(',').map(|part| part.trim().parse().ok()).collect();
    match parts.as_deref() {
        Some(&[x, y]) if x != y => Ok((x, y)),
        _ => Err("expected two different numbers of state variables, for example 0,1".to_owned()),
    }
}

fn parse_network(text: &str) -> Result<(String, PathBuf), String> {
    match text.split_once('=') {
        Some((name, file)) if !name.is_empty() && !file.is_empty() => Ok((name.to_owned(), file.into())),
        _ => Err("expected NAME=FILE, for example f=policy.onnx".to_owned()),
    }
}

fn parse_monomial(text: &str) -> Result<Exponents, String> {
    let exponents = text.split(',').map(|e| e.trim().parse::<u8>()).collect::<Result<Vec<u8>, _>>();
    exponents.map(Exponents).map_err(|_| "expected exponents, for example 1,0,2".to_owned())
}

fn parse_inputs(text: &str) -> Result<Inputs, String> {
    Ok(match text {
        "uniform" => Inputs::Uniform,
        "adversary" => Inputs::Adversary,
        path => Inputs::Table(path.into()),
    })
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn definitions_are_consistent() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn every_flag_has_a_help_text_and_every_command_an_example() {
        for command in Arguments::command().get_subcommands() {
            assert!(command.get_about().is_some(), "{} has no help", command.get_name());
            let after = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            assert!(after.contains("Examples:"), "{} has no example", command.get_name());
            for argument in command.get_arguments() {
                assert!(argument.get_help().is_some(), "{} {} has no help", command.get_name(), argument.get_id());
            }
        }
    }

    #[test]
    fn networks_have_a_name_and_a_file() {
        assert_eq!(parse_network("f=a=b.onnx"), Ok(("f".to_owned(), PathBuf::from("a=b.onnx"))));
        for wrong in ["f.onnx", "=f.onnx", "f="] {
            assert!(parse_network(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn regions_are_names_with_or_without_a_range() {
        assert_eq!(parse_region("a"), Ok(("a".to_owned(), None)));
        assert_eq!(parse_region("a=-1..2.5"), Ok(("a".to_owned(), Some((-1.0, 2.5)))));
        for wrong in ["", "a=1", "a=1..", "a=1..x", "a=0..inf"] {
            assert!(parse_region(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn settings_are_checked() {
        assert_eq!(parse_setting("m=1.5"), Ok(("m".to_owned(), 1.5)));
        assert!(parse_setting("m").is_err());
        assert!(parse_setting("m=x").is_err());
        assert!(parse_setting("m=inf").is_err());
    }
}
