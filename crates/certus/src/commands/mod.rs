//! The commands, one per file.

pub mod audit;
pub mod check;
pub mod completions;
pub mod extract;
pub mod fmt;
pub mod gate;
pub mod inspect;
pub mod mdp;
pub mod mine;
pub mod new;
pub mod observe;
pub mod optimise;
pub mod prob;
pub mod region;
pub mod report;
pub mod shield;
pub mod simulate;
pub mod verify;

use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use certus_lang::LowerOptions;
use certus_lang::diagnostics::Diagnostics;
use certus_lang::system::System;
use certus_tasks::{Files, Loading, Provenance, deadline_after};

use crate::arguments::{Asked, Effort, Memory};
use crate::failure::Failure;
use crate::terminal::colourful_messages;

impl Asked {
    /// The files, without the flags.
    pub fn files(&self) -> certus_tasks::QuerySource {
        certus_tasks::QuerySource {
            file: self.file.clone(),
            specification: self.specification.clone(),
            networks: self.networks.clone(),
        }
    }
}

impl Asked {
    /// With the files that a question is read from.
    pub fn read_by(&self, files: Files) -> Files {
        let first = if self.specification.is_some() { "the network" } else { "the question" };
        let networks = self.networks.iter().map(|(_, path)| path);
        files.reads(first, [&self.file]).reads("the specification", &self.specification).reads("--network", networks)
    }
}

impl Effort {
    /// When to stop, if ever.
    pub fn deadline(&self) -> Result<Option<Instant>, Failure> {
        deadline_after(self.timeout, "--timeout")
    }

    /// The effort of a search that may grow; its time runs from now on.
    pub fn with_memory(&self, memory: &Memory) -> Result<certus_tasks::BudgetOptions, Failure> {
        let memory = memory.megabytes.saturating_mul(1 << 20);
        Ok(certus_tasks::BudgetOptions { memory, ..self.plain()? })
    }

    /// The same of work that does not grow.
    pub fn plain(&self) -> Result<certus_tasks::BudgetOptions, Failure> {
        Ok(certus_tasks::BudgetOptions {
            deadline: self.deadline()?,
            timeout: self.timeout,
            threads: self.threads,
            seed: self.seed,
            ..certus_tasks::BudgetOptions::default()
        })
    }
}

/// A flag that Ctrl-C sets: long work polls it and stops with what it has.
pub fn stop_on_interrupt() -> Result<Arc<AtomicBool>, Failure> {
    let stop = Arc::new(AtomicBool::new(false));
    let handler = Arc::clone(&stop);
    ctrlc::set_handler(move || handler.store(true, Ordering::Relaxed))
        .map_err(|error| Failure::message(format!("cannot listen for Ctrl-C: {error}")))?;
    Ok(stop)
}

/// Why work ended before it was done.
pub fn ended_by(stop: &AtomicBool) -> &'static str {
    if stop.load(Ordering::Relaxed) { "interrupted" } else { "out of time" }
}

/// Diagnostics as a person reads them, in colour where somebody can see it.
pub fn rendered(diagnostics: &Diagnostics) -> String {
    diagnostics.render(colourful_messages())
}

/// A system of a file with some of its parameters set.
pub fn loading(path: &Path, settings: &[(String, f64)]) -> Loading {
    Loading {
        path: path.to_owned(),
        options: LowerOptions { overrides: settings.to_vec(), ..LowerOptions::default() },
        colour: colourful_messages(),
        ..Loading::default()
    }
}

/// Shows the warnings of a system, unless told to be quiet.
pub fn show_warnings(system: &System, quiet: bool) {
    if !quiet && !system.warnings.is_empty() {
        eprintln!("{}", rendered(&system.warnings).trim_end());
    }
}

/// What a reader of verdicts has to know of where they come from, in one line; no line if there is nothing of the kind.
pub fn write_brief(provenance: &Provenance, output: &mut impl Write) -> Result<(), Failure> {
    if let Some(brief) = provenance.brief() {
        writeln!(output, "  {brief}")?;
    }
    Ok(())
}
