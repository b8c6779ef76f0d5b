//! How much work something is worth.

use std::time::{Duration, Instant};

use crate::Failure;
use crate::output::short;

/// How much work something is worth.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// When to stop, if ever.
    pub deadline: Option<Instant>,
    /// The seconds that the deadline leaves from the beginning: what an outcome names, where the deadline is a moment of one day.
    pub timeout: Option<f64>,
    /// How many threads; 0 for one per processor.
    pub threads: usize,
    /// Names the random numbers.
    pub seed: u64,
    /// How many bytes the open subproblems of a search may take.
    pub memory: usize,
}

impl Default for Effort {
    fn default() -> Self {
        Effort { deadline: None, timeout: None, threads: 0, seed: 0, memory: 4096 << 20 }
    }
}

impl Effort {
    /// How many threads, at least one.
    pub fn threads(&self) -> usize {
        match self.threads {
            0 => std::thread::available_parallelism().map_or(1, usize::from),
            threads => threads,
        }
    }
}

/// When a time limit ends, from now on; `name` is how whoever asked calls it.
pub fn deadline_after(timeout: Option<f64>, name: &str) -> Result<Option<Instant>, Failure> {
    let Some(seconds) = timeout else { return Ok(None) };
    let limit = Duration::try_from_secs_f64(seconds)
        .map_err(|_| Failure::message(format!("{name} {}: expected a number of seconds", short(seconds))))?;
    Ok(Instant::now().checked_add(limit))
}
