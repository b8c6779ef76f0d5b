//! The commands, one per file.

pub mod audit;
pub mod completions;
pub mod fmt;
pub mod inspect;
mod objective;
pub mod optimise;
mod question;
mod resume;
pub mod simulate;
pub mod verify;

use std::io::{IsTerminal, stderr};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use certus_lang::diagnostics::Diagnostics;
use certus_lang::system::System;
use certus_lang::{LowerOptions, load_file};

use crate::arguments::{Effort, Memory};
use crate::failure::Failure;

impl Effort {
    /// When to stop, if ever.
    pub fn deadline(&self) -> Result<Option<Instant>, Failure> {
        deadline_after(self.timeout)
    }

    /// How many threads, at least one.
    pub fn threads(&self) -> usize {
        match self.threads {
            0 => std::thread::available_parallelism().map_or(1, usize::from),
            threads => threads,
        }
    }
}

impl Memory {
    /// The ceiling in bytes.
    pub fn bytes(&self) -> usize {
        self.megabytes.saturating_mul(1 << 20)
    }
}

/// When `--timeout` ends, from now on.
pub fn deadline_after(timeout: Option<f64>) -> Result<Option<Instant>, Failure> {
    let Some(seconds) = timeout else { return Ok(None) };
    let limit = Duration::try_from_secs_f64(seconds)
        .map_err(|_| Failure::message(format!("--timeout {seconds}: expected a number of seconds")))?;
    Ok(Instant::now().checked_add(limit))
}

/// A flag that Ctrl-C sets: long work polls it and stops with what it has.
pub fn stop_on_interrupt() -> Result<Arc<AtomicBool>, Failure> {
    let stop = Arc::new(AtomicBool::new(false));
    let handler = Arc::clone(&stop);
    ctrlc::set_handler(move || handler.store(true, Ordering::Relaxed))
        .map_err(|error| Failure::message(format!("cannot listen for Ctrl-C: {error}")))?;
    Ok(stop)
}

/// Diagnostics as a person reads them, in colour where somebody can see it.
pub fn rendered(diagnostics: &Diagnostics) -> String {
    diagnostics.render(stderr().is_terminal())
}

/// Loads a system, shows its warnings unless told to be quiet.
pub fn load_system(path: &Path, settings: &[(String, f64)], quiet: bool) -> Result<System, Failure> {
    let options = LowerOptions { overrides: settings.to_vec(), ..LowerOptions::default() };
    let system = load_file(path, &options).map_err(|diagnostics| Failure::Diagnostics(rendered(&diagnostics)))?;
    if !quiet && !system.warnings.is_empty() {
        eprintln!("{}", rendered(&system.warnings).trim_end());
    }
    Ok(system)
}
