//! How much work a request is worth.

use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use certus_engine::Budget;
use certus_model::short;

use crate::Failure;

/// How much work a request is worth: what users say, from which the [`Budget`] of its engines follows.
#[derive(Clone, Copy, Debug)]
pub struct BudgetOptions {
    /// When to stop, if ever.
    pub deadline: Option<Instant>,
    /// The seconds that the deadline leaves from the beginning: what an outcome names, where the deadline is a moment of one day.
    pub timeout: Option<f64>,
    /// How many threads; 0 for one per processor.
    pub threads: usize,
    /// The seed of the random numbers.
    pub seed: u64,
    /// How many bytes the open subproblems of a search may take.
    pub memory: usize,
}

impl Default for BudgetOptions {
    fn default() -> Self {
        BudgetOptions { deadline: None, timeout: None, threads: 0, seed: 0, memory: 4096 << 20 }
    }
}

impl BudgetOptions {
    /// How many threads, at least one.
    pub fn threads(&self) -> usize {
        match self.threads {
            0 => std::thread::available_parallelism().map_or(1, usize::from),
            threads => threads,
        }
    }

    /// The budget of engines that work until a flag is set.
    pub fn budget<'a>(&self, cancel: &'a AtomicBool) -> Budget<'a> {
        Budget {
            deadline: self.deadline,
            stop: Some(cancel),
            threads: self.threads(),
            seed: self.seed,
            memory: self.memory,
            ..Budget::default()
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
