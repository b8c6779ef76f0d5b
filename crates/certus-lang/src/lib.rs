//! The `.certus` language: syntax, types, diagnostics, lowering.

use std::sync::Arc;

mod check;
pub mod diagnostics;
mod networks;
mod options;
pub mod syntax;
pub mod system;

use diagnostics::{Diagnostics, Report, Source};
use syntax::ast::File;

/// Reads a file into its tree.
pub fn parse(source: &Arc<Source>) -> Result<File, Diagnostics> {
    let mut report = Report::new();
    let file = syntax::parser::parse_file(&source.text, &mut report);
    if report.has_errors() { Err(report.finish(source)) } else { Ok(file) }
}

/// The canonical form of a source text.
pub fn format(source: &Arc<Source>) -> Result<String, Diagnostics> {
    let file = parse(source)?;
    Ok(syntax::printer::print_file(&file, Some(&source.text)))
}
