//! The `.certus` language: syntax, types, diagnostics, lowering.
//!
//! A `.certus` file describes one closed loop: its state, its policy, its environment, and what must hold.
//! [`load_file`] turns it into a [`System`], whose heart is one step of the loop as a graph;
//! [`format`](fn@format) writes its canonical form.
//!
//! The crate depends on `certus-graph`. It never runs a system and knows nothing of engines.

#![forbid(unsafe_code)]

use std::path::{Path, PathBuf};
use std::sync::Arc;

mod check;
pub mod diagnostics;
mod lower;
mod networks;
mod open;
mod options;
mod property;
pub mod syntax;
pub mod system;

pub use diagnostics::{Diagnostic, Diagnostics, Severity, Source};
pub use networks::{FileNetworks, Networks};
pub use options::{LowerOptions, Open};
pub use system::System;

use diagnostics::Report;
use syntax::ast::File;

/// Longest source text, in bytes.
const MAX_SOURCE: usize = 16 << 20;

/// Reads a file into its tree.
pub fn parse(source: &Arc<Source>) -> Result<File, Diagnostics> {
    let mut report = Report::new();
    let file = read(source, &mut report);
    if report.has_errors() { Err(report.finish(source)) } else { Ok(file) }
}

fn read(source: &Arc<Source>, report: &mut Report) -> File {
    if source.text.len() > MAX_SOURCE {
        report.push(Diagnostic::error("size", format!("the file is longer than {MAX_SOURCE} bytes")));
        return File::default();
    }
    syntax::parser::parse_file(&source.text, report)
}

/// The canonical form of a source text.
pub fn format(source: &Arc<Source>) -> Result<String, Diagnostics> {
    let file = parse(source)?;
    Ok(syntax::printer::print_file(&file, Some(&source.text)))
}

/// Loads a system from a source text, with networks from anywhere.
pub fn load_source(
    source: &Arc<Source>,
    networks: &mut dyn Networks,
    options: &LowerOptions,
) -> Result<System, Diagnostics> {
    let mut report = Report::new();
    let file = read(source, &mut report);
    if report.has_errors() {
        return Err(report.finish(source));
    }
    let Some(model) = check::check(&file, &source.text, networks, options, &mut report) else {
        return Err(report.finish(source));
    };
    let warnings = report.finish(source);
    lower::lower(model, warnings).map_err(|error| {
        let mut report = Report::new();
        report.push(Diagnostic::error("graph", format!("the step cannot be built: {error}")));
        report.finish(source)
    })
}

/// Loads a system from a text without a file name.
pub fn load_str(text: &str, networks: &mut dyn Networks, options: &LowerOptions) -> Result<System, Diagnostics> {
    load_source(&Source::new("<text>", text), networks, options)
}

/// Loads a system from a file; its networks are found relative to it.
pub fn load_file(path: impl AsRef<Path>, options: &LowerOptions) -> Result<System, Diagnostics> {
    load_file_with(path, &[], options)
}

/// Loads a system from a file, with other files in place of some of the networks that it names.
pub fn load_file_with(
    path: impl AsRef<Path>,
    replaced: &[(String, PathBuf)],
    options: &LowerOptions,
) -> Result<System, Diagnostics> {
    let source = read_source(path.as_ref())?;
    let mut networks = FileNetworks::new(path.as_ref().parent().unwrap_or(Path::new(".")));
    replaced.iter().for_each(|(own, file)| networks.replace(own, file));
    load_source(&source, &mut networks, options)
}

/// The text of a file, read once: whoever wants its digest takes that of this text.
pub fn read_source(path: &Path) -> Result<Arc<Source>, Diagnostics> {
    let name = path.display().to_string();
    match std::fs::read_to_string(path) {
        Ok(text) => Ok(Source::new(name, text)),
        Err(error) => {
            let mut report = Report::new();
            report.push(Diagnostic::error("file", format!("the file cannot be read: {error}")));
            Err(report.finish(&Source::new(name, "")))
        }
    }
}

/// The policies and actions of a file, each with the paths of the networks that it applies, as written.
pub fn applied_networks(path: impl AsRef<Path>) -> Result<Vec<(String, Vec<String>)>, Diagnostics> {
    applied_networks_of(&read_source(path.as_ref())?)
}

/// The same of a text.
pub fn applied_networks_of(source: &Arc<Source>) -> Result<Vec<(String, Vec<String>)>, Diagnostics> {
    Ok(check::applied_networks(&parse(source)?))
}
