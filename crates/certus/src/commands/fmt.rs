//! `certus fmt`: files in canonical form.

use std::io::{Read, Write, stdin, stdout};
use std::path::Path;

use certus_lang::diagnostics::Source;
use serde_json::json;

use super::rendered;
use crate::Finding;
use crate::arguments::Fmt;
use crate::failure::Failure;
use crate::output::write_atomically;

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
                Done::Unchanged => ("canonical", None),
                Done::Changed if command.check => ("not canonical", None),
                Done::Changed => ("rewritten", None),
                Done::Failed(failure) => ("failed", Some(failure.to_string())),
            };
            json!({"file": path.display().to_string(), "status": status, "error": error})
        });
        let document = json!({"files": files.collect::<Vec<_>>()});
        writeln!(stdout(), "{document:#}")?;
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
        write_atomically(path, &formatted)?;
    }
    Ok(if changed { Done::Changed } else { Done::Unchanged })
}
