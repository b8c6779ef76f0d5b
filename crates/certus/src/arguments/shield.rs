//! What `shield` takes.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use super::common::{Common, Effort};
use super::values::{parse_monomial, parse_network, parse_setting, parse_steps, parse_target};

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
    #[arg(long, default_value_t = 1000, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub runs: u64,

    /// How many steps each run makes
    #[arg(long, default_value_t = 5000, value_name = "N", value_parser = parse_steps)]
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
