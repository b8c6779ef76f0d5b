//! `certus report`: a page to look at.

use std::io::{Read, stdin};
use std::path::Path;

use certus_tasks::commands::report::task;
use certus_tasks::report::{Outcome, parse, report};

use crate::Finding;
use crate::call::{Call, print_plain};
use crate::failure::Failure;

/// Makes a page from outcomes, and their pictures.
pub fn run(call: &Call) -> Result<Finding, Failure> {
    let mut task = task(&call.request);
    for outcome in &mut task.outcomes {
        if matches!(outcome, Outcome::File(path) if path == Path::new("-")) {
            *outcome = standard_input()?;
        }
    }
    let made = report(&task)?;
    match &task.output {
        Some(path) => {
            let plural = if made.results == 1 { "" } else { "s" };
            println!("wrote {}: {} result{plural}", path.display(), made.results);
        }
        None => print_plain(&made.html)?,
    }
    if let Some(folder) = &task.figures {
        let pictures = certus_model::counted(made.figures.len() as u64, "picture");
        eprintln!("note: {pictures}, each as SVG and PNG, in {}", folder.display());
    }
    Ok(Finding::Good)
}

/// What standard input holds.
fn standard_input() -> Result<Outcome, Failure> {
    let mut text = String::new();
    stdin().read_to_string(&mut text).map_err(|error| Failure::reading(Path::new("-"), &error))?;
    let name = "standard input";
    parse(name, &text).map(|document| Outcome::Here(name.to_owned(), document))
}
