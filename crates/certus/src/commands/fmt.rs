//! `certus fmt`: files in canonical form.

use std::io::{Read, Write, stdin, stdout};
use std::path::Path;

use certus_documents::fmt::{FormattedFile, Status};
use certus_documents::{Document, Schema};
use certus_lang::diagnostics::Source;

use super::rendered;
use crate::Finding;
use crate::arguments::Fmt;
use crate::failure::Failure;
use crate::output::write_whole;

/// What became of a file.
enum Done {
    Unchanged,
    Changed,
    Failed(Failure),
}

/// Formats the files; goes on after a file with errors, and fails at the end.
pub fn run(command: &Fmt) -> Result<Finding, Failure> {
    let done: Vec<(&Path, Done)> = command
        .files
        .iter()
        .map(|path| (path.as_path(), format(path, command.check).unwrap_or_else(Done::Failed)))
        .collect();
    if command.json {
        let files = done.iter().map(|(path, done)| {
            let (status, error) = match done {
                Done::Unchanged => (Status::Canonical, None),
                Done::Changed if command.check => (Status::NotCanonical, None),
                Done::Changed => (Status::Rewritten, None),
                Done::Failed(failure) => (Status::Failed, Some(failure.to_string())),
            };
            FormattedFile { file: path.display().to_string(), status, error }
        });
        let document = certus_documents::fmt::Fmt { schema: Schema::default(), files: files.collect() };
        document.write_indented(stdout())?;
    }
    let mut finding = Finding::Good;
    for (path, done) in &done {
        match done {
            Done::Changed if command.check => {
                finding = Finding::Violated;
                if !command.json {
                    writeln!(stdout(), "{} is not in canonical form", path.display())?;
                }
            }
            Done::Failed(failure) if !command.json => eprintln!("{failure}"),
            _ => {}
        }
    }
    let failed = done.iter().filter(|(_, done)| matches!(done, Done::Failed(_))).count();
    match failed {
        0 => Ok(finding),
        _ if command.json => Ok(Finding::ModelError),
        1 => Err(Failure::message("1 file could not be formatted and was left as it was")),
        _ => Err(Failure::message(format!("{failed} files could not be formatted and were left as they were"))),
    }
}

fn format(path: &Path, check: bool) -> Result<Done, Failure> {
    let standard = path == Path::new("-");
    let mut text = String::new();
    match standard {
        true => stdin().read_to_string(&mut text).map(|_| ()),
        false => std::fs::read_to_string(path).map(|read| text = read),
    }
    .map_err(|error| Failure::reading(path, &error))?;
    let name = if standard { "<standard input>".to_owned() } else { path.display().to_string() };
    let source = Source::new(name, text);
    let formatted = certus_lang::format(&source).map_err(|diagnostics| Failure::Diagnostics(rendered(&diagnostics)))?;
    let changed = formatted != source.text;
    if standard && !check {
        stdout().write_all(formatted.as_bytes())?;
    } else if changed && !check {
        write_whole(path, &formatted)?;
    }
    Ok(if changed { Done::Changed } else { Done::Unchanged })
}
