//! What the commands about files take.

use std::path::PathBuf;

use clap::Args;
use clap_complete::Shell;

use super::common::Common;
use super::values::parse_setting;

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
    python -m certus.spaces CartPole-v1 > spaces.json
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
