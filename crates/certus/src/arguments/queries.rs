//! What `verify` and `optimise` take.

use std::path::PathBuf;

use clap::Args;

use super::common::{Common, Effort, Memory};
use super::values::parse_network;

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
