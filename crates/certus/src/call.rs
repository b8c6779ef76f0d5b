//! A call of a command: what was asked, and how its outcome reaches whoever asked.

use std::cell::RefCell;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use certus_documents::AnyDocument;
use certus_lang::system::System;
use certus_tasks::commands::{Request, Session};
use serde_json::Value;

use crate::failure::{Dialect, Failure};
use crate::output::Output;
use crate::progress::LiveLine;
use crate::terminal::colourful_messages;

/// A call of a command.
pub struct Call {
    /// Its options.
    pub request: Request,
    /// Set by Ctrl-C: long work polls it and stops with what it has.
    stop: Arc<AtomicBool>,
}

impl Call {
    /// A call with these options.
    pub fn new(request: Request) -> Call {
        Call { request, stop: Arc::default() }
    }

    /// Does long work, with a live line that says how far it is; Ctrl-C stops it.
    pub fn live<T>(&self, work: impl FnOnce(&mut Session<'_>) -> Result<T, Failure>) -> Result<T, Failure> {
        self.live_beside(|session, _| work(session))
    }

    /// The same for work that also prints: the live line is out of the way once the function that it is given was called.
    pub fn live_beside<T>(
        &self,
        work: impl FnOnce(&mut Session<'_>, &dyn Fn()) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let handler = Arc::clone(&self.stop);
        ctrlc::set_handler(move || handler.store(true, Ordering::Relaxed))
            .map_err(|error| Failure::message(format!("cannot listen for Ctrl-C: {error}")))?;
        let line = RefCell::new(LiveLine::new(self.request.flag("quiet")));
        let mut tell = |progress: &dyn Fn() -> Value| {
            line.borrow_mut().show(|| progress()["text"].as_str().unwrap_or_default().to_owned());
        };
        work(&mut Session { stop: Arc::clone(&self.stop), tell: &mut tell }, &|| line.borrow_mut().clear())
    }

    /// Why work ended before it was done.
    pub fn ended_by(&self) -> &'static str {
        if self.stop.load(Ordering::Relaxed) { "interrupted" } else { "out of time" }
    }

    /// Writes an outcome where it is wanted: as a document, or in words.
    pub fn print<D: Into<AnyDocument>>(
        &self,
        document: impl FnOnce() -> D,
        words: impl FnOnce(&mut Output) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        self.print_to(self.request.output().as_deref(), document, words)
    }

    /// The same to a file, or to standard output.
    pub fn print_to<D: Into<AnyDocument>>(
        &self,
        path: Option<&Path>,
        document: impl FnOnce() -> D,
        words: impl FnOnce(&mut Output) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let mut output = Output::open(path)?;
        match self.request.flag("json") {
            true => document().into().write_indented(&mut output)?,
            false => words(&mut output)?,
        }
        output.finish()
    }

    /// Says something beside the outcome, unless told to be quiet.
    pub fn note(&self, text: &str) {
        let is_quiet = self.request.knows("quiet") && self.request.flag("quiet");
        if !is_quiet {
            eprintln!("note: {}", Dialect::Flags.word(text));
        }
    }
}

/// Shows the warnings of a system, unless told to be quiet.
pub fn show_warnings(system: &System, quiet: bool) {
    if !quiet && !system.warnings.is_empty() {
        eprintln!("{}", system.warnings.render(colourful_messages()).trim_end());
    }
}

/// Writes a text as it is to standard output.
pub fn print_plain(text: &str) -> Result<(), Failure> {
    let mut standard = Output::open(None)?;
    std::io::Write::write_all(&mut standard, text.as_bytes())?;
    standard.finish()
}
