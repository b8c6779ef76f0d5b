//! Flags that several commands share.

use std::path::PathBuf;

use clap::Args;

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
    /// How many megabytes the open subproblems of the search may take
    #[arg(long = "memory", default_value_t = 4096, value_name = "MB")]
    pub megabytes: usize,
}
