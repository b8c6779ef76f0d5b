//! What `audit` takes.

use std::path::PathBuf;

use clap::Args;

use super::common::Common;

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
