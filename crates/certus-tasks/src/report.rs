//! Makes a page to look at from documents of any command.

use std::path::{Path, PathBuf};

use certus_report::page::{self, Report as Page};
use serde_json::Value;

use crate::Files;
use crate::failure::Failure;
use crate::output::write_atomically;

/// A document, and where it is.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// In a file.
    File(PathBuf),
    /// Here, with a name.
    Here(String, Value),
}

/// What is asked.
#[derive(Clone, Debug)]
pub struct Report {
    /// The documents.
    pub outcomes: Vec<Outcome>,
    /// Where the page is written.
    pub output: Option<PathBuf>,
    /// A folder for the pictures, each as SVG and as PNG.
    pub figures: Option<PathBuf>,
}

/// A document by its text.
pub fn parse(name: &str, text: &str) -> Result<Value, Failure> {
    serde_json::from_str(text).map_err(|error| Failure::message(format!("{name}: not a JSON document: {error}")))
}

fn read(outcome: &Outcome) -> Result<(String, Value), Failure> {
    match outcome {
        Outcome::Here(name, document) => Ok((name.clone(), document.clone())),
        Outcome::File(path) => {
            let text = std::fs::read_to_string(path).map_err(|error| Failure::reading(path, &error))?;
            let name = path.display().to_string();
            parse(&name, &text).map(|document| (name, document))
        }
    }
}

/// Makes a page, and writes it and its pictures where they are wanted.
pub fn report(task: &Report) -> Result<Page, Failure> {
    let read_from = || {
        let files =
            task.outcomes.iter().filter_map(|own| if let Outcome::File(path) = own { Some(path) } else { None });
        Files::new().reads("a result", files).writes("⟨output⟩", &task.output)
    };
    read_from().ready()?;
    let documents = task.outcomes.iter().map(read).collect::<Result<Vec<_>, _>>()?;
    let made = page::report(documents).map_err(|error| Failure::message(error.to_string()))?;
    if made.results == 0 {
        return Err(Failure::message("there is no result in these documents, so there is nothing to show"));
    }
    if let Some(folder) = &task.figures {
        let names: Vec<String> =
            made.figures.iter().flat_map(|(name, _)| [format!("{name}.svg"), format!("{name}.png")]).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        read_from().writes_into("⟨figures⟩", Some(folder), &names).ready()?;
        std::fs::create_dir_all(folder).map_err(|error| Failure::writing(folder, &error))?;
        let at = |name: &str, ending: &str| -> PathBuf { Path::new(folder).join(format!("{name}.{ending}")) };
        for (name, picture) in &made.figures {
            write_atomically(&at(name, "svg"), &picture.standalone())?;
            write_atomically(&at(name, "png"), &picture.png())?;
        }
    }
    if let Some(path) = &task.output {
        write_atomically(path, &made.html)?;
    }
    Ok(made)
}
