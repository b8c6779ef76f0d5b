//! `certus fmt`: files in canonical form.

use std::io::{Read, Write, stdin, stdout};
use std::path::Path;

use certus_documents::Document;
use certus_tasks::commands::fmt::task;
use certus_tasks::fmt::{Done, Fmt, document, fmt, formatted};

use crate::Finding;
use crate::call::Call;
use crate::failure::Failure;
use crate::terminal::colourful_messages;

/// Formats the files; goes on after a file with errors, and fails at the end.
pub fn run(call: &Call) -> Result<Finding, Failure> {
    let task = task(&call.request);
    let json = call.request.flag("json");
    let mut done = Vec::new();
    for path in &task.files {
        done.extend(match path.as_path() == Path::new("-") {
            true => vec![standard(task.check).unwrap_or_else(Done::Failed)],
            false => fmt(&Fmt { files: vec![path.clone()], ..task }),
        });
    }
    if json {
        document(&task, &done).write_indented(stdout())?;
    }
    let mut finding = Finding::Good;
    for (path, done) in task.files.iter().zip(&done) {
        match done {
            Done::Changed if task.check => {
                finding = Finding::Violated;
                if !json {
                    writeln!(stdout(), "{} is not in canonical form", path.display())?;
                }
            }
            Done::Failed(failure) if !json => eprintln!("{failure}"),
            _ => {}
        }
    }
    let failed = done.iter().filter(|done| matches!(done, Done::Failed(_))).count();
    match failed {
        0 => Ok(finding),
        _ if json => Ok(Finding::ModelError),
        1 => Err(Failure::message("1 file could not be formatted and was left as it was")),
        _ => Err(Failure::message(format!("{failed} files could not be formatted and were left as they were"))),
    }
}

/// Formats standard input to standard output.
fn standard(check: bool) -> Result<Done, Failure> {
    let mut text = String::new();
    stdin().read_to_string(&mut text).map_err(|error| Failure::reading(Path::new("-"), &error))?;
    let formatted = formatted("<standard input>", &text, colourful_messages())?;
    if !check {
        stdout().write_all(formatted.as_bytes())?;
    }
    Ok(if formatted == text { Done::Unchanged } else { Done::Changed })
}
