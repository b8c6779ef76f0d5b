//! `certus report`: a page to look at.

use std::io::{Read, Write, stdin};
use std::path::Path;

use certus_report::page::report;
use certus_tasks::Files;
use serde_json::Value;

use crate::Finding;
use crate::arguments::Report;
use crate::failure::Failure;
use crate::output::Output;

/// Makes a page from outcomes, and their pictures.
pub fn run(command: &Report) -> Result<Finding, Failure> {
    let read_from = || command.results.iter().filter(|path| *path != Path::new("-"));
    Files::new().reads("a result", read_from()).writes("-o", &command.output).ready()?;
    let documents = command.results.iter().map(|path| read(path)).collect::<Result<Vec<_>, _>>()?;
    let made = report(documents).map_err(|error| Failure::message(error.to_string()))?;
    if made.results == 0 {
        return Err(Failure::message("there is no result in these documents, so there is nothing to show"));
    }
    if let Some(folder) = &command.figures {
        let names: Vec<String> =
            made.figures.iter().flat_map(|(name, _)| [format!("{name}.svg"), format!("{name}.png")]).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        Files::new()
            .reads("a result", read_from())
            .writes("-o", &command.output)
            .writes_into("--figures", Some(folder), &names)
            .ready()?;
        std::fs::create_dir_all(folder).map_err(|error| Failure::writing(folder, &error))?;
        for (name, picture) in &made.figures {
            write(Some(&folder.join(format!("{name}.svg"))), picture.standalone().as_bytes())?;
            write(Some(&folder.join(format!("{name}.png"))), &picture.png())?;
        }
    }
    write(command.output.as_deref(), made.html.as_bytes())?;
    if let Some(path) = &command.output {
        let plural = if made.results == 1 { "" } else { "s" };
        println!("wrote {}: {} result{plural}", path.display(), made.results);
    }
    if let Some(folder) = &command.figures {
        eprintln!("note: {} pictures, each as SVG and PNG, in {}", made.figures.len(), folder.display());
    }
    Ok(Finding::Good)
}

fn read(path: &Path) -> Result<(String, Value), Failure> {
    let mut text = String::new();
    match path == Path::new("-") {
        true => stdin().read_to_string(&mut text).map(|_| ()),
        false => std::fs::read_to_string(path).map(|read| text = read),
    }
    .map_err(|error| Failure::reading(path, &error))?;
    let name = if path == Path::new("-") { "standard input".to_owned() } else { path.display().to_string() };
    match serde_json::from_str(&text) {
        Ok(value) => Ok((name, value)),
        Err(error) => Err(Failure::message(format!("{name}: not a JSON document: {error}"))),
    }
}

fn write(path: Option<&Path>, bytes: &[u8]) -> Result<(), Failure> {
    let mut output = Output::open(path)?;
    match (output.write_all(bytes), path) {
        (Err(error), Some(path)) => return Err(Failure::writing(path, &error)),
        (written, _) => written?,
    }
    output.finish()
}
