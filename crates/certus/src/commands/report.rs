//! `certus report`: a page to look at.

use std::io::{Read, Write, stdin};
use std::path::Path;

use certus_tasks::report::{self, Outcome, parse, report};

use crate::Finding;
use crate::arguments::Report;
use crate::failure::Failure;
use crate::output::Output;

/// Makes a page from outcomes, and their pictures.
pub fn run(command: &Report) -> Result<Finding, Failure> {
    let task = report::Report {
        outcomes: command.results.iter().map(|path| outcome(path)).collect::<Result<_, _>>()?,
        output: command.output.clone(),
        figures: command.figures.clone(),
    };
    let made = report(&task)?;
    match &command.output {
        Some(path) => {
            let plural = if made.results == 1 { "" } else { "s" };
            println!("wrote {}: {} result{plural}", path.display(), made.results);
        }
        None => {
            let mut standard = Output::open(None)?;
            standard.write_all(made.html.as_bytes())?;
            standard.finish()?;
        }
    }
    if let Some(folder) = &command.figures {
        eprintln!("note: {} pictures, each as SVG and PNG, in {}", made.figures.len(), folder.display());
    }
    Ok(Finding::Good)
}

/// A file, or what standard input holds.
fn outcome(path: &Path) -> Result<Outcome, Failure> {
    if path != Path::new("-") {
        return Ok(Outcome::File(path.to_owned()));
    }
    let mut text = String::new();
    stdin().read_to_string(&mut text).map_err(|error| Failure::reading(path, &error))?;
    let name = "standard input";
    parse(name, &text).map(|document| Outcome::Here(name.to_owned(), document))
}
