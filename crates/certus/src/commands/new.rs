//! `certus new`: starts a system file.

use std::io::Write;
use std::path::{Path, PathBuf};

use certus_lang::diagnostics::Source;
use certus_tasks::Files;
use certus_tasks::project_template::{Start, project_template, read_spaces};

use super::rendered;
use crate::Finding;
use crate::arguments::New;
use crate::failure::Failure;
use crate::output::{Output, write_atomically};

/// Starts a system file.
pub fn run(command: &New) -> Result<Finding, Failure> {
    Files::new()
        .reads("the network", &command.network)
        .reads("--spaces", &command.spaces)
        .writes("-o", &command.output)
        .ready()?;
    let spaces = match &command.spaces {
        None => None,
        Some(path) => {
            let text = std::fs::read_to_string(path).map_err(|error| Failure::reading(path, &error))?;
            let wrong = |error: String| Failure::message(format!("{}: {error}", path.display()));
            Some(read_spaces(&text).map_err(wrong)?)
        }
    };
    let folder = command.output.as_deref().and_then(Path::parent).filter(|own| !own.as_os_str().is_empty());
    let network = match &command.network {
        None => None,
        Some(path) => Some((seen_from(folder, path)?, path.as_path())),
    };
    let start = Start { network, spaces, labels: command.actions.clone(), name: command.name.clone() };
    let text = project_template(&start)?;
    let name = command.output.as_ref().map_or_else(|| "<new>".to_owned(), |path| path.display().to_string());
    let text = certus_lang::format(&Source::new(name, text))
        .map_err(|diagnostics| Failure::Diagnostics(rendered(&diagnostics)))?;
    let Some(path) = &command.output else {
        let mut standard = Output::open(None)?;
        standard.write_all(text.as_bytes())?;
        standard.finish()?;
        return Ok(Finding::Good);
    };
    if path.exists() && !command.force {
        let path = path.display();
        return Err(Failure::message(format!("{path} exists already; --force writes over it")));
    }
    write_atomically(path, &text)?;
    let shown = path.display();
    println!("wrote {shown}; next:\n  certus simulate {shown}\n  certus check {shown}");
    Ok(Finding::Good)
}

/// A file's path as a file in a folder names it: relative where one is below the other, else whole.
fn seen_from(folder: Option<&Path>, file: &Path) -> Result<String, Failure> {
    let whole = |path: &Path| path.canonicalize().map_err(|error| Failure::reading(path, &error));
    let file = whole(file)?;
    let folder = whole(folder.unwrap_or(Path::new(".")))?;
    let shared = folder.components().zip(file.components()).take_while(|(a, b)| a == b).count();
    let mut relative = PathBuf::new();
    for _ in folder.components().skip(shared) {
        relative.push("..");
    }
    relative.extend(file.components().skip(shared));
    match relative.to_str() {
        Some(text) => Ok(text.to_owned()),
        None => Err(Failure::message(format!("{} cannot be written in a system file", file.display()))),
    }
}
